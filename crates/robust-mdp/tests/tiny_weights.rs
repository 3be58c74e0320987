//! An action of negligible probability does not change a policy's worst case.

use robust_mdp::sets::UncertaintySet;
use robust_mdp::{Interrupt, ModelBuilder, evaluate};

#[test]
fn a_negligible_action_changes_nothing() {
    let model = ModelBuilder::new(0.9)
        .state("0")
        .action("a", 4.4, &[(2, 0.53), (0, 0.47)])
        .action("b", 3.0, &[(1, 0.46), (3, 0.54)])
        .state("1")
        .action("a", 6.5, &[(0, 0.51), (3, 0.49)])
        .state("2")
        .action("a", 2.6, &[(2, 0.69), (1, 0.31)])
        .state("3")
        .action("a", 3.9, &[(2, 0.08), (3, 0.92)])
        .action("b", 4.6, &[(3, 0.66), (1, 0.34)])
        .build()
        .unwrap();
    let set = UncertaintySet::kl(0.3647);
    let worst = |tiny: f64| {
        let policy = [0.865, 0.135, 1.0, 1.0, 1.0 - tiny, tiny];
        let value = evaluate(&model, &set, &policy, Some(1e-6), Some(1), &Interrupt::new());
        value.unwrap().worst
    };
    let without = worst(0.0);
    for tiny in [1e-20, 1e-60, 1e-100, 1e-120, 1e-150, 1e-200, 1e-250, 1e-297, 1e-310, 5e-324] {
        let with = worst(tiny);
        for s in 0..4 {
            let (low, high) = (with.lower[s], with.upper[s]);
            let meet = low <= without.upper[s] + 1e-9 && without.lower[s] - 1e-9 <= high;
            assert!(meet, "{tiny:e}, state {s}: [{low}, {high}]");
        }
    }
}
