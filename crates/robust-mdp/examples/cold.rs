#![allow(missing_docs)]
use robust_mdp::instances::{Costs, Garnet};
use robust_mdp::uncertainty::UncertaintySet;
use robust_mdp::*;
fn main() {
    let n = 100;
    for (name, costs, kl, f) in [
        ("T", Costs::Iid, false, 0.05),
        ("H", Costs::StateDriven, false, 0.05),
        ("KL", Costs::Iid, true, 1.0),
        ("KLH", Costs::StateDriven, true, 4.0),
    ] {
        let m = Garnet {
            states: n,
            actions: n,
            branching: 0.5,
            costs,
            band: None,
            discount: 0.8,
            seed: 1,
        }
        .model()
        .unwrap();
        let alpha = f * (0.5 * n as f64).sqrt();
        let set = if kl { UncertaintySet::kl(alpha) } else { UncertaintySet::ellipsoid(alpha) };
        let mut before = 0.0;
        for k in 1..6 {
            let o = Options {
                method: Method::Vi,
                stop: Stop { gap: Some(1e-6), max_sweeps: k, time_limit: None },
                threads: Some(1),
                ..Options::default()
            };
            let s = solve(&m, &set, &o).unwrap();
            print!(
                "{name} sweep {k}: {:.2} passes gap {:.1e};  ",
                s.work.kernel_passes() - before,
                s.gap
            );
            before = s.work.kernel_passes();
        }
        println!();
    }
}
