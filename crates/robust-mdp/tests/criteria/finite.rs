//! v_T = 0, v_t = F(v_{t+1}), with a policy for every t.

use super::plain::Plain;
use super::reference::{self, FAMILIES, PRECISION, State};
use super::{asked, every_set, with_intervals};
use crate::cases::Case;
use robust_mdp::sets::UncertaintySet;
use robust_mdp::{
    Criterion, Direction, Method, Model, ModelBuilder, Options, Oracle, Solution, Status, solve,
};

#[test]
fn two_steps_by_hand() {
    // One action a state; total variation 0.1 moves a tenth of the mass to the dearest state.
    let model = ModelBuilder::new(0.5)
        .state("a")
        .action("go", 1.0, &[(0, 0.5), (1, 0.5)])
        .state("b")
        .action("go", 3.0, &[(0, 1.0)])
        .build()
        .unwrap();
    let set = UncertaintySet::total_variation(0.1);
    let solution = solve(&model, &set, &asked(Criterion::Finite { horizon: 2 })).unwrap();
    // v_1 = c = (1, 3); v_0(a) = 1 + ½(0.4·1 + 0.6·3) = 2.1, v_0(b) = 3 + ½(0.9·1 + 0.1·3) = 3.6.
    assert_eq!(solution.stages.len(), 2);
    for (found, expected) in [(&solution.stages[1], [1.0, 3.0]), (&solution.stages[0], [2.1, 3.6])]
    {
        for s in 0..2 {
            assert!(found.lower[s] <= expected[s] && expected[s] <= found.upper[s], "{found:?}");
            assert!(found.upper[s] - found.lower[s] < 1e-13);
        }
    }
    assert_eq!(solution.status, Status::Certified);
    assert_eq!(solution.lower, solution.stages[0].lower);
}

/// Largest amount by which the reference's values leave the bounds, relative to all sizes, and the widest bounds.
fn outside(found: &Solution, expected: &[Vec<f64>], scale: f64) -> (f64, f64) {
    let (mut most, mut widest) = (0.0_f64, 0.0_f64);
    for (stage, expected) in found.stages.iter().zip(expected) {
        for ((l, u), v) in stage.lower.iter().zip(&stage.upper).zip(expected) {
            most = most.max(l - v).max(v - u);
            widest = widest.max(u - l);
        }
    }
    (most / scale, widest / scale)
}

/// v_0, …, v_{T−1} by the update of one state.
fn backward(model: &Model, horizon: usize, update: impl Fn(usize, &[f64]) -> f64) -> Vec<Vec<f64>> {
    let mut stages = vec![vec![0.0; model.states()]];
    for _ in 0..horizon {
        let v = stages.last().unwrap();
        let of = |s| if model.is_terminal(s) { 0.0 } else { update(s, v) };
        let next = (0..model.states()).map(of).collect();
        stages.push(next);
    }
    stages.reverse();
    stages.pop();
    stages
}

/// On degenerate models with and without a discount, every set: values are the reference's, and the policy of
/// each step has them.
#[test]
fn backward_induction_is_the_references() {
    const T: usize = 3;
    let mut tried = 0;
    for family in FAMILIES.iter().copied() {
        let cases = (9000..9000 + family.share(60)).map(|seed| Case::new(family, seed));
        for case in cases.filter(|case| case.model.states() <= 30) {
            let discount = if case.seed.is_multiple_of(2) { 1.0 } else { case.model.discount() };
            let model = case.model.clone().with_discount(discount).unwrap();
            let set = &case.set;
            let scale = T as f64 * model.largest_cost().max(f64::MIN_POSITIVE);
            let expected = backward(&model, T, |s, v| State::new(&model, set, s, v).update());
            let found =
                solve(&model, set, &asked(Criterion::Finite { horizon: T as u32 })).unwrap();
            assert_eq!((found.stages.len(), found.work.sweeps), (T, T as u64));
            assert_eq!((found.method, found.oracle), (Method::Vi, Oracle::Exact));
            let (out, widest) = outside(&found, &expected, scale);
            let of = format!("{family:?} {} {:?}", case.seed, case.traits);
            assert!(out <= 10.0 * PRECISION, "{out:e} outside: {of}");
            assert!(widest <= 1e-9, "{widest:e} wide: {of}");
            for (t, stage) in found.stages.iter().enumerate() {
                let after = expected.get(t + 1).cloned().unwrap_or(vec![0.0; model.states()]);
                for s in (0..model.states()).filter(|&s| !model.is_terminal(s)) {
                    let x = &stage.policy[model.rows_of(s)];
                    let worst = State::new(&model, set, s, &after).worst_case(x);
                    assert!(worst <= stage.upper[s] + 1e-9 * scale, "step {t}, state {s}: {of}");
                }
            }
            tried += 1;
        }
    }
    assert!(tried > 150, "{tried}");
}

/// Nature as partner, and policies that do not randomise: a row that is chosen has the whole budget.
#[test]
fn one_row_has_the_whole_budget() {
    const T: usize = 3;
    for (seed, discount) in [(1, 1.0), (2, 0.7)] {
        let plain = Plain::random(4, 3, 3, seed).tolls(seed).discount(discount);
        let model = with_intervals(&plain, false);
        let opposite = with_intervals(&plain.clone().scaled(-1.0), false);
        for set in every_set(&model, 0.05) {
            let alone = |s: usize, a: usize| -> Vec<f64> {
                (0..model.rows_of(s).len()).map(|k| f64::from(u8::from(k == a))).collect()
            };
            let least = |s: usize, of: &dyn Fn(&[f64]) -> f64| {
                (0..model.rows_of(s).len()).map(|a| of(&alone(s, a))).fold(f64::INFINITY, f64::min)
            };
            let worst = backward(&model, T, |s, v| {
                let state = State::new(&model, &set, s, v);
                least(s, &|x| state.worst_case(x))
            });
            let best = backward(&model, T, |s, v| {
                let v: Vec<f64> = v.iter().map(|v| -v).collect();
                let state = State::new(&opposite, &set, s, &v);
                least(s, &|x| -state.worst_case(x))
            });
            let any = backward(&model, T, |s, v| State::new(&model, &set, s, v).update());
            let options = asked(Criterion::Finite { horizon: T as u32 });
            for (direction, deterministic, expected) in [
                (Direction::Worst, true, &worst),
                (Direction::Best, false, &best),
                (Direction::Best, true, &best),
                (Direction::Worst, false, &any),
            ] {
                let options = Options { direction, deterministic, ..options.clone() };
                let found = solve(&model, &set, &options).unwrap();
                let (out, widest) = outside(&found, expected, 30.0);
                assert!(out <= 10.0 * PRECISION, "{direction} {deterministic} {out:e} {set:?}");
                assert!(widest <= 1e-9, "{direction} {deterministic} {widest:e} {set:?}");
                assert_eq!((found.direction, found.deterministic), (direction, deterministic));
                if deterministic {
                    let sure = |x: &f64| [0.0, 1.0].contains(x);
                    assert!(found.stages.iter().all(|stage| stage.policy.iter().all(sure)));
                }
            }
        }
    }
}

/// The first step waits where there is time left, the last one takes what there is.
#[test]
fn policies_depend_on_the_time() {
    let model = ModelBuilder::new(1.0)
        .terminal("end")
        .state("here")
        .action("take", 2.0, &[(0, 1.0)])
        .action("wait", 1.0, &[(2, 1.0)])
        .state("there")
        .action("take", 0.5, &[(0, 1.0)])
        .build()
        .unwrap();
    let set = UncertaintySet::kl(0.1);
    let found = solve(&model, &set, &asked(Criterion::Finite { horizon: 3 })).unwrap();
    // One step to go: waiting costs 1. Two: waiting costs 1 + 0.5.
    for (t, (cost, wait)) in [(1.5, 1.0), (1.5, 1.0), (1.0, 1.0)].into_iter().enumerate() {
        let stage = &found.stages[t];
        assert!(stage.lower[1] <= cost && cost <= stage.upper[1], "{t}: {stage:?}");
        assert_eq!(stage.policy[1], wait);
    }
    let dear = ModelBuilder::new(1.0)
        .state("a")
        .action("stay", 2.0, &[(0, 1.0)])
        .action("invest", 3.0, &[(1, 1.0)])
        .state("b")
        .action("rest", 0.0, &[(1, 1.0)])
        .build()
        .unwrap();
    let found = solve(&dear, &set, &asked(Criterion::Finite { horizon: 4 })).unwrap();
    // It pays to invest as long as two steps are left.
    let invested: Vec<f64> = found.stages.iter().map(|stage| stage.policy[1]).collect();
    assert_eq!(invested, [1.0, 1.0, 1.0, 0.0]);
    let value = found.initial_value;
    assert!(found.lower[0] <= 3.0 && 3.0 <= found.upper[0] && value.1 - value.0 < 1e-9);
}

/// Oracles that are not exact leave wider bounds, which hold too.
#[test]
fn other_oracles_bound_the_same_values() {
    let model = with_intervals(&Plain::random(5, 3, 5, 3).discount(1.0), false);
    for set in [UncertaintySet::ellipsoid(0.05), UncertaintySet::kl(0.05)] {
        let expected = backward(&model, 4, |s, v| State::new(&model, &set, s, v).update());
        let stop = robust_mdp::Stop::at_gap(1e-2);
        let asked = Options { stop, ..asked(Criterion::Finite { horizon: 4 }) };
        let oracle = Oracle::InteriorPoint;
        let options = Options { oracle: Some(oracle), ..asked.clone() };
        let found = solve(&model, &set, &options).unwrap();
        assert_eq!((found.oracle, found.status), (oracle, Status::Certified));
        assert!(outside(&found, &expected, 40.0).0 <= PRECISION, "{set:?}");
        let options = Options { oracle: Some(Oracle::FirstOrder), ..asked };
        let text = solve(&model, &set, &options).unwrap_err().to_string();
        assert!(text.contains("not first-order"), "{text}");
    }
}

#[test]
fn steps_that_were_not_reached_are_bounded_by_costs() {
    let plain = Plain::random(4, 2, 3, 7).discount(1.0);
    let (model, set) = (plain.model(), UncertaintySet::kl(0.05));
    let expected = backward(&model, 5, |s, v| State::new(&model, &set, s, v).update());
    let mut options = asked(Criterion::Finite { horizon: 5 });
    options.stop.max_sweeps = 2;
    let found = solve(&model, &set, &options).unwrap();
    assert_eq!((found.status, found.stages.len()), (Status::SweepLimit, 5));
    assert!(outside(&found, &expected, 50.0).0 <= PRECISION);
    assert!(found.stages[3].upper[0] - found.stages[3].lower[0] < 1e-9 && found.gap > 1.0);
}

#[test]
fn what_a_horizon_has_no_use_for_is_refused() {
    let (model, set) = (Plain::random(3, 2, 3, 1).model(), UncertaintySet::kl(0.05));
    let told = |options: Options| solve(&model, &set, &options).unwrap_err().to_string();
    let finite = |horizon| asked(Criterion::Finite { horizon });
    assert!(told(finite(0)).contains("a horizon of 0 steps, expected at least 1"));
    for method in [Method::Newton, Method::Pi, Method::FomVi, Method::Anderson] {
        let text = told(Options { method, ..finite(3) });
        assert!(text.contains("the objective is finite: expected auto"), "{text}");
    }
    assert!(told(Options { start: Some(vec![0.0; 3]), ..finite(3) }).contains("starting values"));
    assert!(told(finite(u32::MAX)).contains("a policy for each of 4294967295 steps"));
    // Without a discount there is no sum over all time.
    let endless = model.clone().with_discount(1.0).unwrap();
    let text = solve(&endless, &set, &Options::default()).unwrap_err().to_string();
    assert!(text.contains("expected a discount factor below 1"), "{text}");
    let v = reference::bellman(&endless, &set, &[0.0; 3]);
    let one = solve(&endless, &set, &finite(1)).unwrap();
    assert!((0..3).all(|s| one.lower[s] <= v[s] && v[s] <= one.upper[s]));
}
