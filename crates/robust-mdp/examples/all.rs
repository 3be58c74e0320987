#![allow(missing_docs)]
use robust_mdp::instances::{Costs, Garnet};
use robust_mdp::uncertainty::UncertaintySet;
use robust_mdp::*;
use std::time::Duration;
fn main() {
    let n: usize = std::env::args().nth(1).map_or(100, |a| a.parse().unwrap());
    let only = std::env::args().nth(2);
    for lambda in [0.8, 0.99, 0.999] {
        for (name, costs, kl, f, band) in [
            ("T", Costs::Iid, false, 0.05, None),
            ("H", Costs::StateDriven, false, 0.05, None),
            ("P", Costs::Iid, false, 1.0, None),
            ("KL", Costs::Iid, true, 1.0, None),
            ("KLH", Costs::StateDriven, true, 4.0, None),
            ("band-l2", Costs::StateDriven, false, 0.05, Some(4)),
            ("band-kl", Costs::StateDriven, true, 0.05, Some(4)),
        ] {
            if only.as_ref().is_some_and(|o| o != name) {
                continue;
            }
            let a = if band.is_some() { 6 } else { n };
            let m = Garnet {
                states: n,
                actions: a,
                branching: 0.5,
                costs,
                band,
                discount: lambda,
                seed: 1,
            }
            .model()
            .unwrap();
            let alpha = f * (0.5 * a as f64).sqrt();
            let set = if kl {
                UncertaintySet::kl(alpha)
            } else if band.is_some() {
                UncertaintySet::ellipsoid(alpha).on_nominal_support()
            } else {
                UncertaintySet::ellipsoid(alpha)
            };
            let go = |set: &UncertaintySet, method| {
                let o = Options {
                    method,
                    stop: Stop {
                        gap: Some(1e-6),
                        time_limit: Some(Duration::from_secs(5)),
                        max_sweeps: u64::MAX,
                    },
                    threads: Some(1),
                    ..Options::default()
                };
                let mut best = solve(&m, set, &o).unwrap();
                for _ in 0..if best.seconds < 0.1 { 20 } else { 2 } {
                    let s = solve(&m, set, &o).unwrap();
                    if s.seconds < best.seconds {
                        best = s
                    }
                }
                best
            };
            let none = UncertaintySet::none();
            let (nv, nn) = (go(&none, Method::Vi), go(&none, Method::Newton));
            let unit = nv.seconds.min(nn.seconds);
            println!(
                "{name} {lambda}: nominal vi {:.3} ms {} sweeps {:.1} passes, newton {:.3} ms {} sweeps {:.1} passes",
                nv.seconds * 1e3,
                nv.work.sweeps,
                nv.work.kernel_passes(),
                nn.seconds * 1e3,
                nn.work.sweeps,
                nn.work.kernel_passes()
            );
            for method in [
                Method::Newton,
                Method::Pi,
                Method::Vi,
                Method::Anderson,
                Method::Avi,
                Method::GsVi,
            ] {
                if n > 100 && matches!(method, Method::GsVi | Method::Avi | Method::Anderson) {
                    continue;
                }
                let s = go(&set, method);
                println!(
                    "   {:10} {:9.3} ms  x{:8.2}  {:4} sweeps ({} eval) {:6.1} passes gap {:.1e} {:?} value {:.8}",
                    format!("{method:?}"),
                    s.seconds * 1e3,
                    s.seconds / unit,
                    s.work.sweeps,
                    s.work.evaluations,
                    s.work.kernel_passes(),
                    s.gap,
                    s.status,
                    s.initial_value.0
                );
            }
        }
    }
}
