//! The answer depends on neither the threads nor the day, and a run that is cut short says so.

mod cases;
mod ran;
mod reference;

use std::time::Duration;

use cases::{adds_up, told};
use ran::assert_ran;
use reference::FAMILIES;
use robust_mdp::instances::{Garnet, Xoshiro256};
use robust_mdp::sets::{Radius, UncertaintySet};
use robust_mdp::{
    Interrupt, Method, Model, ModelBuilder, Options, Oracle, Solution, Status, Stop, Work, solve,
    solve_observed,
};

fn garnet(branching: f64) -> Model {
    let (states, actions) = (41, 5);
    Garnet { states, actions, branching, seed: 3, ..Garnet::default() }.model().unwrap()
}

/// The model with an interval around every probability.
fn with_intervals(model: &Model) -> Model {
    let mut builder = ModelBuilder::new(model.discount());
    for s in 0..model.states() {
        builder.add_state(None);
        for r in model.rows_of(s) {
            builder.add_action(None, model.row(r).cost);
            for (next, p, cost) in model.row(r).entries().filter(|e| e.1 > 0.0) {
                builder.add_interval(next, Some(p), [0.5 * p, p + 0.5 * (1.0 - p)], cost);
            }
        }
    }
    builder.build().unwrap()
}

/// Every set of the registry, shared where it may be, and the loops that take it.
fn every_set(model: &Model) -> Vec<(UncertaintySet, Vec<Method>)> {
    let of = |(line, family): (usize, &reference::Family)| {
        let set = told((family.set)(), model, &mut Xoshiro256::new(line as u64));
        let set = set.with_radius(Radius::Uniform(0.1));
        let shared = adds_up(set.distance) && line.is_multiple_of(2);
        let set = if shared { set } else { set.per_action() };
        let takes = |method: &Method| *method != Method::FomVi || family.takes(Oracle::FirstOrder);
        (set, METHODS.into_iter().filter(takes).collect())
    };
    FAMILIES.iter().enumerate().map(of).collect()
}

fn sets() -> [UncertaintySet; 4] {
    let (ellipsoid, kl) = (UncertaintySet::ellipsoid(0.1), UncertaintySet::kl(0.1));
    let own = [ellipsoid.clone().on_nominal_support(), kl.clone()].map(UncertaintySet::per_action);
    let [near, own] = own;
    [ellipsoid, kl, near, own]
}

/// Newton with the exact oracle and FOM-VI: what is done by default, and the loop with most memory.
const METHODS: [Method; 2] = [Method::Newton, Method::FomVi];

fn options(method: Method, gap: f64, threads: usize) -> Options {
    Options {
        method,
        stop: Stop { time_limit: Some(Duration::from_secs(30)), ..Stop::at_gap(gap) },
        threads: Some(threads),
        ..Options::default()
    }
}

type Bits = (Vec<u64>, Vec<u64>, Vec<u64>, Work);

fn bits(solution: &Solution) -> Bits {
    let of = |v: &[f64]| v.iter().map(|v| v.to_bits()).collect();
    (of(&solution.policy), of(&solution.lower), of(&solution.upper), solution.work)
}

fn hold(solution: &Solution, inside: &Solution) {
    for s in 0..solution.lower.len() {
        assert!(solution.lower[s] <= inside.upper[s] && inside.lower[s] <= solution.upper[s]);
        assert!(solution.lower[s].is_finite() && solution.upper[s].is_finite());
    }
    assert!(solution.policy.iter().all(|x| (0.0..=1.0).contains(x)));
}

#[test]
fn threads_and_repetition_leave_every_bit_alone() {
    for branching in [0.1, 0.5] {
        let model = with_intervals(&garnet(branching));
        let own = sets().map(|set| (set, METHODS.to_vec()));
        for (set, methods) in own.into_iter().chain(every_set(&model)) {
            for method in methods {
                let run = |threads| {
                    let mut asked = options(method, 1e-4, threads);
                    // Bits are compared, not speed.
                    asked.stop = Stop { time_limit: None, max_sweeps: 40, ..asked.stop };
                    let solution = solve(&model, &set, &asked).unwrap();
                    assert_ran(&solution, &asked);
                    bits(&solution)
                };
                let one = run(1);
                assert!(one == run(1), "{method} {set:?}: two runs differ");
                assert!(one == run(2), "{method} {set:?}: two threads differ from one");
                assert!(one == run(3), "{method} {set:?}: three threads differ from one");
            }
        }
    }
}

/// Large sparse chains and bands: the same bits for any number of threads, and bounds that agree with
/// plain value iteration's.
#[test]
fn large_sparse_models_agree_to_the_last_bit_and_with_value_iteration() {
    for (band, branching) in [(None, 8.0 / 20_000.0), (Some(8), 8.0 / 17.0)] {
        let sizes = Garnet { states: 20_000, actions: 4, branching, ..Garnet::default() };
        let model = Garnet { band, discount: 0.9, seed: 4, ..sizes }.model().unwrap();
        let near = UncertaintySet::ellipsoid(0.07).on_nominal_support();
        for set in [near, UncertaintySet::kl(0.07)] {
            let run = |method, threads| {
                let solution = solve(&model, &set, &options(method, 1e-3, threads)).unwrap();
                assert_ran(&solution, &options(method, 1e-4, threads));
                solution
            };
            let one = run(Method::Newton, 1);
            assert_eq!(one.status, Status::Certified);
            assert!(bits(&one) == bits(&run(Method::Newton, 2)), "{set:?}: threads differ");
            hold(&one, &run(Method::Vi, 2));
        }
    }
}

#[test]
fn an_interrupt_leaves_valid_bounds() {
    let model = garnet(0.5);
    for set in sets() {
        let exact = solve(&model, &set, &options(Method::Newton, 1e-4, 2)).unwrap();
        for method in METHODS {
            let interrupt = Interrupt::new();
            interrupt.raise();
            let asked = options(method, 1e-6, 2);
            let cut = solve_observed(&model, &set, &asked, &mut (), &interrupt).unwrap();
            assert_eq!((cut.status, cut.method), (Status::Interrupted, method));
            hold(&cut, &exact);
        }
    }
}

#[test]
fn a_limit_on_sweeps_leaves_valid_bounds() {
    let model = garnet(0.5);
    for set in sets() {
        let exact = solve(&model, &set, &options(Method::Newton, 1e-4, 2)).unwrap();
        for (method, max_sweeps) in METHODS.into_iter().flat_map(|m| [(m, 0), (m, 1), (m, 3)]) {
            let stop = Stop { max_sweeps, ..Stop::at_gap(1e-9) };
            let cut = solve(&model, &set, &Options { stop, ..options(method, 1e-9, 2) }).unwrap();
            assert_eq!((cut.status, cut.work.sweeps), (Status::SweepLimit, max_sweeps));
            assert_ran(&cut, &options(method, 1e-9, 2));
            hold(&cut, &exact);
        }
    }
}

#[test]
fn a_limit_on_time_leaves_valid_bounds() {
    let model = garnet(0.5);
    for set in sets() {
        let exact = solve(&model, &set, &options(Method::Newton, 1e-4, 2)).unwrap();
        for method in METHODS {
            // No time at all: the clock is looked at before the answer is.
            let stop = Stop { time_limit: Some(Duration::ZERO), ..Stop::at_gap(1e-300) };
            let cut = solve(&model, &set, &Options { stop, ..options(method, 1e-4, 2) }).unwrap();
            assert_eq!((cut.status, cut.method), (Status::TimeLimit, method));
            hold(&cut, &exact);
        }
    }
}

#[test]
fn a_gap_below_rounding_ends_by_itself() {
    let model = Garnet { states: 4, actions: 3, seed: 5, ..Garnet::default() }.model().unwrap();
    for set in sets() {
        let exact = solve(&model, &set, &options(Method::Newton, 1e-6, 2)).unwrap();
        for method in METHODS {
            let end = solve(&model, &set, &options(method, 1e-300, 2)).unwrap();
            assert_ran(&end, &options(method, 1e-300, 2));
            assert_eq!(end.status, Status::PrecisionLimit, "{method} {set:?}");
            assert!(end.gap < 1e-6, "{method}: {:e}", end.gap);
            hold(&end, &exact);
        }
    }
}
