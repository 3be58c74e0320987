#![allow(missing_docs)]
use robust_mdp::Oracle;
use robust_mdp::instances::{Costs, Garnet};
use robust_mdp::measure::*;
use robust_mdp::uncertainty::UncertaintySet;
use std::time::Instant;
fn main() {
    for (name, n, costs, kl, f) in [
        ("P100", 100, Costs::Iid, false, 1.0),
        ("T100", 100, Costs::Iid, false, 0.05),
        ("H100", 100, Costs::StateDriven, false, 0.05),
        ("H200", 200, Costs::StateDriven, false, 0.05),
        ("KL100", 100, Costs::Iid, true, 0.05),
        ("KL100x20", 100, Costs::Iid, true, 1.0),
        ("KLH100", 100, Costs::StateDriven, true, 0.05),
        ("KLH100x20", 100, Costs::StateDriven, true, 1.0),
        ("KLA100", 100, Costs::StateDriven, true, 4.0),
        ("KLH200", 200, Costs::StateDriven, true, 0.05),
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
        let mut v = vec![0.0; n];
        for _ in 0..60 {
            v = bellman(&m, &set, Oracle::Exact, &v).unwrap().1;
        }
        let (lo, up, x) = bellman(&m, &set, Oracle::Exact, &v).unwrap();
        let w = lo.iter().zip(&up).map(|(l, u)| u - l).fold(0.0, f64::max);
        let act = x.iter().filter(|x| **x > 0.0).count() as f64 / x.len() as f64;
        let mut out = vec![0.0; n];
        let nom = (0..300)
            .map(|_| {
                let t = Instant::now();
                nominal_sweep(&m, &v, &mut out);
                t.elapsed().as_secs_f64()
            })
            .fold(1.0, f64::min);
        let cold: Vec<_> = (0..20).map(|_| exact_cold_sweep(&m, &set, &v)).collect();
        let least =
            |f: fn(&(f64, f64, f64)) -> f64| cold.iter().map(f).fold(f64::INFINITY, f64::min);
        println!(
            "{name:10} cold ratio {:.2} passes {:.2}, warm with chain ratio {:.2}",
            least(|c| c.0) / nom,
            cold[0].1,
            least(|c| c.2) / nom
        );
        for (shift, tol) in [(1e-3, 0.0), (1e-6, 0.0), (1e-3, 1e-2)] {
            let (t, p) = exact_sweep_seconds(&m, &set, &v, shift, tol, 60, 1).unwrap();
            let best = t.iter().copied().fold(1.0, f64::min);
            println!(
                "{name:10} width {w:.1e} active {act:.3} nominal {:.3} ms  shift {shift:.0e} tol {tol:.0e}: sweep {:.3} ms ratio {:.2}  passes {p:.2}",
                nom * 1e3,
                best * 1e3,
                best / nom
            );
        }
    }
}
