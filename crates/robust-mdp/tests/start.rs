//! Runs that are given values to start from: good ones save work, bad ones cost some, and neither
//! changes what is proved. Many radii, each from its neighbours.

mod cases;
mod ran;
mod reference;

use std::sync::atomic::{AtomicUsize, Ordering};

use cases::Case;
use ran::assert_ran;
use reference::FAMILIES;
use robust_mdp::instances::{Garnet, Xoshiro256};
use robust_mdp::sets::{Radius, UncertaintySet};
use robust_mdp::{
    Error, Interrupt, Method, Model, Options, Solution, Status, Stop, solve, sweep_radius,
};

const LOOPS: [Method; 6] =
    [Method::Vi, Method::GsVi, Method::Anderson, Method::Avi, Method::Pi, Method::Newton];

fn garnet(discount: f64) -> Model {
    let sizes = Garnet { states: 30, actions: 4, branching: 0.3, ..Garnet::default() };
    Garnet { discount, seed: 3, ..sizes }.model().unwrap()
}

fn options(method: Method, gap: f64, start: Option<Vec<f64>>) -> Options {
    let stop = Stop { max_sweeps: 3000, ..Stop::at_gap(gap) };
    Options { method, stop, start, threads: Some(1), ..Options::default() }
}

fn bounds_meet(a: &Solution, b: &Solution, what: &str) {
    for s in 0..a.lower.len() {
        let meet = a.lower[s] <= b.upper[s] && b.lower[s] <= a.upper[s];
        assert!(
            meet,
            "{what}, state {s}: {:?} {:?}",
            (a.lower[s], a.upper[s]),
            (b.lower[s], b.upper[s])
        );
    }
}

#[test]
fn the_answer_is_found_again_at_once() {
    let model = garnet(0.95);
    for set in [UncertaintySet::kl(0.1), UncertaintySet::ellipsoid(0.05)] {
        let exact = solve(&model, &set, &options(Method::Newton, 1e-10, None)).unwrap();
        for method in LOOPS {
            let cold = solve(&model, &set, &options(method, 1e-6, None)).unwrap();
            let start = Some(exact.values.clone());
            let warm = solve(&model, &set, &options(method, 1e-6, start)).unwrap();
            assert_ran(&warm, &options(method, 1e-6, None));
            assert_eq!(warm.status, Status::Certified);
            assert!(cold.work.sweeps > 1 && warm.work.sweeps == 1, "{method:?} {:?}", warm.work);
            bounds_meet(&cold, &warm, &format!("{method:?}"));
        }
    }
}

#[test]
fn no_start_changes_what_is_proved() {
    for family in FAMILIES.iter().copied() {
        for seed in 0..family.share(60) {
            let Case { model, set, .. } = &Case::new(family, seed);
            let gap = 1e-6 * model.largest_cost().max(1e-3);
            let sound = solve(model, set, &options(Method::Newton, gap, None)).unwrap();
            let mut random = Xoshiro256::new(seed);
            let mut drawn = |size: f64| -> Vec<f64> {
                (0..model.states()).map(|_| size * (2.0 * random.uniform() - 1.0)).collect()
            };
            let scale = model.largest_cost() / (1.0 - model.discount());
            let starts = [drawn(scale), drawn(1e300), vec![-f64::MAX; model.states()]];
            for (start, method) in starts.into_iter().flat_map(|v| LOOPS.map(|m| (v.clone(), m))) {
                let limit = Stop { max_sweeps: 60, ..Stop::at_gap(gap) };
                let asked = Options { stop: limit, ..options(method, gap, Some(start)) };
                let run = solve(model, set, &asked).unwrap();
                assert_ran(&run, &asked);
                bounds_meet(&sound, &run, &format!("{family:?} {seed} {method:?}"));
            }
        }
    }
}

#[test]
fn fom_vi_takes_values_too() {
    let (model, set) = (garnet(0.8), UncertaintySet::kl(0.1));
    let exact = solve(&model, &set, &options(Method::Newton, 1e-9, None)).unwrap();
    for start in [exact.values.clone(), vec![1e9; 30]] {
        let asked = options(Method::FomVi, 1e-2, Some(start));
        let run = solve(&model, &set, &asked).unwrap();
        assert_ran(&run, &asked);
        assert!(run.work.first_order_steps > 0);
        assert_eq!(run.status, Status::Certified);
        bounds_meet(&exact, &run, "fom-vi");
    }
}

#[test]
fn wrong_values_are_refused() {
    let (model, set) = (garnet(0.9), UncertaintySet::kl(0.1));
    let mut holed = vec![0.0; 30];
    holed[7] = f64::NAN;
    for (start, words) in [
        (vec![0.0; 29], "29 starting values, expected one for each of 30 states"),
        (holed, "state 7: the starting value is NaN, expected a finite number"),
    ] {
        let told = solve(&model, &set, &options(Method::Vi, 1e-3, Some(start))).unwrap_err();
        assert_eq!(told.to_string(), words);
    }
}

fn swept(
    model: &Model,
    set: &UncertaintySet,
    radii: &[f64],
    options: &Options,
    warm: bool,
) -> Vec<Solution> {
    let each = |of: &UncertaintySet, solution: Solution, threads: usize| {
        assert!(threads >= 1 && matches!(of.radius, Radius::Uniform(_)));
        Ok(solution)
    };
    let all = sweep_radius(model, set, radii, options, warm, &Interrupt::new(), each).unwrap();
    all.into_iter().map(|solved| solved.expect("no interrupt")).collect()
}

#[test]
fn radii_come_back_in_their_order_and_save_sweeps() {
    let model = garnet(0.99);
    let radii = [0.1, 0.0, 0.3, 0.02, 0.2, 0.1, 0.05, 0.01, 0.15];
    for set in [UncertaintySet::kl(9.0), UncertaintySet::ellipsoid(9.0).per_action()] {
        let asked = options(Method::Auto, 1e-7, None);
        let (cold, warm) =
            (swept(&model, &set, &radii, &asked, false), swept(&model, &set, &radii, &asked, true));
        for (radius, (cold, warm)) in radii.iter().zip(cold.iter().zip(&warm)) {
            let of = UncertaintySet { radius: Radius::Uniform(*radius), ..set.clone() };
            let alone = solve(&model, &of, &asked).unwrap();
            assert_eq!((&alone.lower, &alone.policy), (&cold.lower, &cold.policy));
            assert_eq!(warm.status, Status::Certified);
            bounds_meet(cold, warm, &format!("{radius}"));
        }
        let sweeps = |all: &[Solution]| all.iter().map(|s| s.work.sweeps).sum::<u64>();
        assert!(sweeps(&warm) < sweeps(&cold), "{} {}", sweeps(&warm), sweeps(&cold));
        for threads in [2, 3, 16] {
            let again = Options { threads: Some(threads), ..asked.clone() };
            for (a, b) in warm.iter().zip(&swept(&model, &set, &radii, &again, true)) {
                assert_eq!((&a.lower, &a.upper, &a.policy), (&b.lower, &b.upper, &b.policy));
                assert_eq!(a.work, b.work);
            }
        }
    }
    assert!(swept(&model, &UncertaintySet::kl(0.0), &[], &Options::default(), true).is_empty());
}

#[test]
fn sweeps_end_with_the_first_error_or_an_interrupt() {
    let (model, set) = (garnet(0.9), UncertaintySet::kl(0.0));
    let told = |radii: &[f64], options: &Options| {
        let each = |_: &UncertaintySet, _: Solution, _: usize| Ok(());
        let interrupt = Interrupt::new();
        let ended = sweep_radius(&model, &set, radii, options, true, &interrupt, each);
        ended.unwrap_err().to_string()
    };
    let asked = options(Method::Auto, 1e-6, None);
    assert!(told(&[0.1, -1.0, 0.2], &asked).contains("-1"));
    assert!(told(&[0.1, f64::NAN, 0.2], &asked).contains("NaN"));
    let none = Options { threads: Some(0), ..asked.clone() };
    assert!(told(&[0.1], &none).contains("at least 1"));
    let calls = AtomicUsize::new(0);
    let each = |_: &UncertaintySet, _: Solution, _: usize| -> Result<(), Error> {
        calls.fetch_add(1, Ordering::Relaxed);
        Err(Error::Input("enough".into()))
    };
    let interrupt = Interrupt::new();
    let radii = [0.1, 0.2, 0.3, 0.4, 0.5];
    let ended = sweep_radius(&model, &set, &radii, &asked, true, &interrupt, each);
    assert_eq!(ended.unwrap_err().to_string(), "enough");
    assert!(calls.into_inner() <= 2);
    // An interrupt from within the second run: no further one is begun.
    let alone = Options { threads: Some(1), ..asked };
    let calls = AtomicUsize::new(0);
    let each = |_: &UncertaintySet, solution: Solution, _: usize| {
        if calls.fetch_add(1, Ordering::Relaxed) == 1 {
            interrupt.raise();
        }
        Ok(solution.status)
    };
    let ended = sweep_radius(&model, &set, &radii, &alone, true, &interrupt, each).unwrap();
    let certified = Some(Status::Certified);
    assert_eq!(ended, [certified, None, None, None, certified]);
    assert_eq!(calls.into_inner(), 2);
}
