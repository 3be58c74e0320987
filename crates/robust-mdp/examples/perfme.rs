#![allow(missing_docs)]
use robust_mdp::Oracle;
use robust_mdp::instances::{Costs, Garnet};
use robust_mdp::measure::*;
use robust_mdp::uncertainty::UncertaintySet;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let n: usize = a[2].parse().unwrap();
    let kl = a[1] == "kl";
    let costs = if a[3] == "s" { Costs::StateDriven } else { Costs::Iid };
    let f: f64 = a[4].parse().unwrap();
    let m =
        Garnet { states: n, actions: n, branching: 0.5, costs, band: None, discount: 0.8, seed: 1 }
            .model()
            .unwrap();
    let alpha = f * (0.5 * n as f64).sqrt();
    let set = if kl { UncertaintySet::kl(alpha) } else { UncertaintySet::ellipsoid(alpha) };
    let mut v = vec![0.0; n];
    for _ in 0..60 {
        v = bellman(&m, &set, Oracle::Exact, &v).unwrap().1;
    }
    let (t, p) = exact_sweep_seconds(&m, &set, &v, 1e-6, 0.0, 3000, 1).unwrap();
    println!("{} ms {p}", t.iter().copied().fold(1.0, f64::min) * 1e3);
}
