//! Policies that do not randomise, under budgets that the rows of a state share.

use super::plain::Plain;
use super::{asked, every_set, with_intervals};
use robust_mdp::{Criterion, Direction, Interrupt, Model, Options, Status, evaluate, solve};

fn deterministic(criterion: Criterion) -> Options {
    Options { deterministic: true, ..asked(criterion) }
}

/// All policies that take one action in every state.
fn policies(model: &Model) -> Vec<Vec<f64>> {
    let mut all = vec![vec![0.0; model.rows()]];
    for s in 0..model.states() {
        let choices = |x: &Vec<f64>| {
            let take = |r: usize| {
                let mut x = x.clone();
                x[r] = 1.0;
                x
            };
            model.rows_of(s).map(take).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(choices).collect();
    }
    all
}

#[test]
fn the_best_of_all_of_them() {
    let mut dearer = 0;
    for seed in 0..2 {
        let model = with_intervals(
            &Plain::random(3, 3, 3, 80 + seed).costs(|c| 0.1 * c).tolls(seed),
            false,
        );
        let all = policies(&model);
        assert_eq!(all.len(), 27);
        for set in every_set(&model, 0.1) {
            let worst = |x: &[f64]| {
                let found = evaluate(&model, &set, x, None, None, &Interrupt::new()).unwrap();
                assert_eq!(found.status, Status::Certified);
                found.worst
            };
            let found = solve(&model, &set, &deterministic(Criterion::Discounted)).unwrap();
            assert_eq!((found.status, found.deterministic), (Status::Certified, true));
            assert!(all.contains(&found.policy), "{:?}", found.policy);
            let values: Vec<_> = all.iter().map(|x| worst(x)).collect();
            let own = worst(&found.policy);
            let any = solve(&model, &set, &Options::default()).unwrap();
            for s in 0..3 {
                let least = |bound: fn(&robust_mdp::PolicyValue) -> &Vec<f64>| {
                    values.iter().map(|of| bound(of)[s]).fold(f64::INFINITY, f64::min)
                };
                let (low, high) = (least(|of| &of.lower), least(|of| &of.upper));
                assert!(found.lower[s] <= high && low <= found.upper[s], "{set:?}");
                assert!(
                    own.lower[s] <= found.upper[s] && found.lower[s] <= own.upper[s],
                    "{set:?}"
                );
                assert!(any.lower[s] <= found.upper[s], "{set:?}");
                dearer += usize::from(any.upper[s] < found.lower[s] - 1e-4);
            }
        }
    }
    // Where it helps to randomise, it helps.
    assert!(dearer > 20, "{dearer}");
}

/// For other criteria too the best policy of them costs no less than the best of all, and no more than nature's worst
/// does where she owns every row.
#[test]
fn at_least_the_best_of_all_policies() {
    for criterion in [Criterion::Finite { horizon: 4 }, Criterion::Average] {
        let model = with_intervals(&Plain::random(4, 3, 3, 90).tolls(9), false);
        for set in every_set(&model, 0.1) {
            let found = solve(&model, &set, &deterministic(criterion)).unwrap();
            let any = solve(&model, &set, &asked(criterion)).unwrap();
            let own = solve(&model, &set.clone().per_action(), &asked(criterion)).unwrap();
            assert_eq!(found.status, Status::Certified);
            assert!(found.policy.iter().all(|x| [0.0, 1.0].contains(x)));
            for s in 0..4 {
                assert!(any.lower[s] <= found.upper[s], "{criterion} {set:?}");
                assert!(
                    found.lower[s] <= own.upper[s] && own.lower[s] <= found.upper[s],
                    "{criterion} {set:?}"
                );
            }
        }
    }
}

/// Partners randomise for nothing.
#[test]
fn the_best_case_is_the_same() {
    let model = with_intervals(&Plain::random(4, 3, 3, 91), false);
    for set in every_set(&model, 0.1) {
        let direction = Direction::Best;
        let found = solve(&model, &set, &Options { direction, ..Options::default() }).unwrap();
        let sure = Options { direction, ..deterministic(Criterion::Discounted) };
        let sure = solve(&model, &set, &sure).unwrap();
        assert_eq!((found.lower, found.upper, found.policy), (sure.lower, sure.upper, sure.policy));
    }
}
