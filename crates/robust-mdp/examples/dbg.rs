#![allow(missing_docs)]
use robust_mdp::instances::{Costs, Garnet};
use robust_mdp::measure::*;
use robust_mdp::uncertainty::UncertaintySet;
fn main() {
    let n = 100;
    let m = Garnet {
        states: n,
        actions: n,
        branching: 0.5,
        costs: Costs::Iid,
        band: None,
        discount: 0.8,
        seed: 1,
    }
    .model()
    .unwrap();
    let set = UncertaintySet::kl((0.5 * n as f64).sqrt());
    let v: Vec<f64> = (0..n).map(|s| (s * 37 % 101) as f64 / 100.0).collect();
    debug(&m, &set, &v);
    println!("band");
    let m = Garnet {
        states: n,
        actions: 6,
        branching: 0.5,
        costs: Costs::StateDriven,
        band: Some(4),
        discount: 0.999,
        seed: 1,
    }
    .model()
    .unwrap();
    let set = UncertaintySet::ellipsoid(0.05 * 3f64.sqrt()).on_nominal_support();
    debug(&m, &set, &v);
}
