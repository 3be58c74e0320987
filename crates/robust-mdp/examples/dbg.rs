#![allow(missing_docs)]
use robust_mdp::Oracle;
use robust_mdp::instances::{Costs, Garnet};
use robust_mdp::measure::*;
use robust_mdp::uncertainty::UncertaintySet;
fn main() {
    let n = 100;
    let m = Garnet {
        states: n,
        actions: n,
        branching: 0.5,
        costs: Costs::StateDriven,
        band: None,
        discount: 0.8,
        seed: 1,
    }
    .model()
    .unwrap();
    let alpha = 0.05 * (0.5 * n as f64 * n as f64).sqrt();
    let set = UncertaintySet::ellipsoid(alpha);
    let mut v = vec![0.0; n];
    for _ in 0..3 {
        v = bellman(&m, &set, Oracle::Exact, &v).unwrap().1;
        eprintln!("-----");
    }
}
