#![allow(missing_docs)]
use robust_mdp::instances::{Costs, Garnet};
use robust_mdp::uncertainty::UncertaintySet;
use robust_mdp::*;
fn rss(key: &str) -> f64 {
    let s = std::fs::read_to_string("/proc/self/status").unwrap();
    s.lines()
        .find(|l| l.starts_with(key))
        .unwrap()
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<f64>()
        .unwrap()
        * 1024.0
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let n: usize = a[1].parse().unwrap();
    let band = if a[2] == "band" { Some(8) } else { None };
    let branching = if band.is_some() { 8.0 / 17.0 } else { 8.0 / n as f64 };
    let m = Garnet {
        states: n,
        actions: 4,
        branching,
        costs: Costs::Iid,
        band,
        discount: a[3].parse().unwrap(),
        seed: 1,
    }
    .model()
    .unwrap();
    let model_bytes = rss("VmHWM") / m.transitions() as f64;
    for kl in [false, true] {
        let set = if kl {
            UncertaintySet::kl(0.1)
        } else {
            UncertaintySet::ellipsoid(0.1).on_nominal_support()
        };
        for method in [Method::Vi, Method::Newton, Method::Pi] {
            if a.len() > 4 && a[4] != format!("{method:?}") {
                continue;
            }
            for threads in [2, 1] {
                let o = Options {
                    method,
                    stop: Stop {
                        gap: Some(1e-4),
                        max_sweeps: 3000,
                        time_limit: Some(std::time::Duration::from_secs(100)),
                    },
                    threads: Some(threads),
                    ..Options::default()
                };
                let s = solve(&m, &set, &o).unwrap();
                println!(
                    "{} {method:?} {threads} threads {:.3} s {} sweeps ({} eval) {:.0} passes gap {:.1e} {:?}  bytes/transition: built {model_bytes:.1}, peak {:.1}",
                    if kl { "KL" } else { "L2" },
                    s.seconds,
                    s.work.sweeps,
                    s.work.evaluations,
                    s.work.kernel_passes(),
                    s.gap,
                    s.status,
                    rss("VmHWM") / m.transitions() as f64
                );
            }
        }
    }
}
