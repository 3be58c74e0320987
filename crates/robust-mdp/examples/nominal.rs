#![allow(missing_docs)]
use robust_mdp::instances::{Costs, Garnet};
use robust_mdp::uncertainty::UncertaintySet;
use robust_mdp::*;
fn main() {
    let n: usize = std::env::args().nth(1).map_or(100, |a| a.parse().unwrap());
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
    for method in [Method::Vi, Method::Newton] {
        let o =
            Options { method, stop: Stop::at_gap(1e-6), threads: Some(1), ..Options::default() };
        let mut best = f64::INFINITY;
        let mut wall = f64::INFINITY;
        for _ in 0..1000 {
            let t = std::time::Instant::now();
            let s = solve(&m, &UncertaintySet::none(), &o).unwrap();
            wall = wall.min(t.elapsed().as_secs_f64());
            best = best.min(s.seconds);
        }
        println!("{method:?} {:.3} ms, wall {:.3}", best * 1e3, wall * 1e3);
    }
}
