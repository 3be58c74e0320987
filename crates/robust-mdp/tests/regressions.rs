//! Inputs that once gave a wrong certificate, a panic, or a run without end or far too long.

mod ran;

use std::time::Duration;

use ran::assert_ran;
use robust_mdp::geometry::Geometry::{Entropy, Euclidean};
use robust_mdp::instances::{Costs, Garnet};
use robust_mdp::measure::bellman;
use robust_mdp::sets::{Distance, EntryWeights, Ground, UncertaintySet};
use robust_mdp::{
    Error, FomSettings, Interrupt, Method, Model, ModelBuilder, ModelError, Observer, Options,
    Oracle, Progress, Setup, Status, Stop, evaluate, saddle, solve, solve_observed,
};

fn sets(radius: f64) -> [UncertaintySet; 3] {
    let ellipsoid = UncertaintySet::ellipsoid(radius);
    [ellipsoid.clone(), ellipsoid.on_nominal_support(), UncertaintySet::kl(radius)]
}

/// A sound answer: finite bounds in order, a policy of distributions.
fn assert_sound(model: &Model, solution: &robust_mdp::Solution, what: &str) {
    for (l, u) in solution.lower.iter().zip(&solution.upper) {
        assert!(l.is_finite() && u.is_finite() && l <= u, "{what}: [{l}, {u}]");
    }
    for s in (0..model.states()).filter(|&s| !model.is_terminal(s)) {
        let total: f64 = solution.policy_at(s).iter().sum();
        assert!((total - 1.0).abs() < 1e-9, "{what}: policy of state {s} sums to {total}");
    }
}

/// A weighted L1 set took objectives that nearly tie, at equal weights, for an edge of multiplier 0: its bounds
/// were those of no row.
#[test]
fn receivers_that_nearly_tie_at_equal_weights() {
    let mut builder = ModelBuilder::new(0.5);
    builder.add_state(None);
    for (cost, p) in [(-5.0, 0.75), (-1.0, 0.875)] {
        builder.add_action(None, cost);
        builder.add_transition(1, p, 0.0);
        builder.add_transition(2, 1.0 - p, 0.0);
    }
    for _ in 1..5 {
        builder.add_state(None);
        builder.mark_terminal();
    }
    let model = builder.build().unwrap();
    let weights = EntryWeights::PerState(vec![1.0; 5]);
    let set = UncertaintySet::l1(1e-6).with_entry_weights(weights);
    let values = [0.0, 0.0, -2e7, 1e-8, 1.1e-8];
    // Half of the budget moves from the lowest value to the highest.
    let expected = -5.0 - 1e7 * (0.25 - 0.5e-6);
    for set in [set.clone(), set.per_action()] {
        let (lower, upper, policy) = bellman(&model, &set, Oracle::Exact, &values).unwrap();
        assert!(lower[0] <= upper[0] && upper[0] - lower[0] <= 1e-6, "{lower:?} {upper:?}");
        assert!((upper[0] - expected).abs() <= 1e-6, "{} for {expected}", upper[0]);
        assert_eq!(policy[..2], [1.0, 0.0]);
    }
}

/// The same of a Wasserstein set whose targets are as far as each other.
#[test]
fn targets_that_nearly_tie_at_equal_costs() {
    let model = ModelBuilder::new(0.5)
        .state("s")
        .action("go", 0.0, &[(1, 0.25), (2, 0.75)])
        .terminal("low")
        .terminal("high")
        .terminal("higher")
        .build()
        .unwrap();
    let costs = (0..16).map(|k| if k % 5 == 0 { 0.0 } else { 1.0 }).collect();
    let set = UncertaintySet::new(Distance::Wasserstein, 1e-6).with_ground(Ground::Matrix(costs));
    let values = [-2e7, -2e7, 1e-8, 1.1e-8];
    let expected = -1e7 * (0.25 - 1e-6);
    for set in [set.clone(), set.per_action()] {
        let (lower, upper, _) = bellman(&model, &set, Oracle::Exact, &values).unwrap();
        assert!(lower[0] <= upper[0] && upper[0] - lower[0] <= 1e-6, "{lower:?} {upper:?}");
        assert!((upper[0] - expected).abs() <= 1e-6, "{} for {expected}", upper[0]);
    }
}

/// Next values that differ by one bit made steps of 1e16 and a policy of NaN.
#[test]
fn next_values_that_differ_by_rounding_alone() {
    let model = ModelBuilder::new(0.9)
        .state("p")
        .action("stay", 0.3, &[(0, 1.0)])
        .state("q")
        .action("stay", 0.300_000_000_000_000_04, &[(1, 1.0)])
        .state("r")
        .action("a", 1.0, &[(0, 0.5), (1, 0.5)])
        .action("b", 1.1, &[(0, 0.9), (1, 0.1)])
        .state("s")
        .action("a", 1.0, &[(3, 0.5), (4, 0.5)])
        .action("b", 2.0, &[(2, 0.5), (4, 0.5)])
        .state("t")
        .action("a", 5.0, &[(3, 0.2), (2, 0.8)])
        .action("b", 2.0, &[(4, 0.7), (2, 0.3)])
        .build()
        .expect("a valid model");
    for set in sets(0.1) {
        for setup in [(Euclidean, Euclidean), (Euclidean, Entropy), (Entropy, Entropy)] {
            for method in [saddle::FirstOrderMethod::Pda, saddle::FirstOrderMethod::MirrorProx] {
                let setup = Some(Setup { x: setup.0, y: setup.1 });
                let fom = FomSettings { setup, method, ..FomSettings::default() };
                let options = Options {
                    method: Method::FomVi,
                    fom: Some(fom),
                    stop: Stop::at_gap(1e-4),
                    ..Options::default()
                };
                let solution = solve(&model, &set, &options).expect("a valid call");
                assert_ran(&solution, &options);
                assert!(solution.work.first_order_steps > 0);
                assert_sound(&model, &solution, "rounding");
                assert_eq!(solution.status, Status::Certified);
                if set.radius_at(0, 0) > 0.0 && set != sets(0.1)[0] {
                    // From r both next states cost 0.3 for ever: 1 + 0.9·3 = 3.7.
                    assert!((solution.values[2] - 3.7).abs() < 1e-3, "{}", solution.values[2]);
                }
            }
        }
    }
}

#[test]
fn costs_that_would_overflow_are_refused() {
    let model = ModelBuilder::new(0.99)
        .state("a")
        .action("x", 1e308, &[(0, 0.5), (1, 0.5)])
        .action("y", 1e307, &[(1, 1.0)])
        .state("b")
        .action("x", 1e300, &[(0, 1.0)])
        .build()
        .expect("finite costs");
    let error = solve(&model, &UncertaintySet::kl(0.1), &Options::default()).unwrap_err();
    assert!(matches!(error, Error::Input(_)), "{error}");
}

/// A row (1 − p, p) with a tiny p: the tilt that uses the budget is so steep that a clamped
/// exponential once passed for the dual bound.
#[test]
fn tiny_probabilities_keep_the_kl_bound_valid() {
    for p in [1e-20, 1e-100, 1e-150, 1e-200, 1e-250, 1e-300] {
        let model = ModelBuilder::new(0.5)
            .state("start")
            .action("go", 0.0, &[(1, 1.0), (2, p)])
            .state("calm")
            .action("stay", 0.0, &[(1, 1.0)])
            .state("storm")
            .action("stay", 10.0, &[(2, 1.0)])
            .build()
            .expect("a valid model");
        let set = UncertaintySet::kl(5.0);
        let policy = [1.0, 1.0, 1.0];
        let value = evaluate(&model, &set, &policy, Some(1e-9), Some(1), &Interrupt::new())
            .expect("a valid call");
        // Independent: q with kl(q‖p) = q ln(q/p) + (1 − q) ln(1 − q) = 5, by bisection; the storm is
        // worth 10/(1 − 0.5) = 20, so the start 0.5·20·q.
        let kl = |q: f64| q * (q.ln() - p.ln()) + (1.0 - q) * (-q).ln_1p();
        let (mut low, mut high) = (0.0, 1.0 - 1e-12);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if kl(middle) <= 5.0 { low = middle } else { high = middle }
        }
        let exact = 10.0 * low;
        let (lower, upper) = (value.worst.lower[0], value.worst.upper[0]);
        assert!(
            lower <= exact + 1e-9 && exact <= upper + 1e-9,
            "{p:e}: {exact} [{lower}, {upper}]"
        );
        // Closer to the smallest double the bounds still hold, but widen.
        assert!(p < 1e-250 || upper - lower <= 1e-8, "{p:e}: [{lower}, {upper}]");
    }
}

#[test]
fn subnormal_probabilities_are_refused() {
    let error = ModelBuilder::new(0.5)
        .state("a")
        .action("go", 0.0, &[(0, 1.0), (1, 1e-320)])
        .state("b")
        .action("go", 0.0, &[(1, 1.0)])
        .build()
        .unwrap_err();
    assert!(matches!(error, ModelError::Probability { .. }), "{error}");
}

/// The paper's steps must bound costs on next states too, down to λ = 0.
#[test]
fn the_papers_steps_with_costs_on_next_states() {
    for discount in [0.0, 0.01, 0.05, 0.5] {
        let mut builder = ModelBuilder::new(discount);
        for s in 0..4_usize {
            builder.add_state(None);
            for a in 0..4_usize {
                builder.add_action(None, 1.0);
                for i in 0..4_usize {
                    let p = 0.1 * (1 + (s + a + i) % 4) as f64;
                    builder.add_transition(i, p, ((7 * s + 5 * a + 3 * i) % 11) as f64);
                }
            }
        }
        let model = builder.build().expect("a valid model");
        for set in sets(0.1) {
            let mut bounds = Vec::new();
            for fom in [FomSettings::default(), FomSettings::paper()] {
                let time_limit = Some(Duration::from_secs(60));
                let options = Options {
                    method: Method::FomVi,
                    fom: Some(fom),
                    stop: Stop { time_limit, ..Stop::at_gap(1e-2) },
                    ..Options::default()
                };
                let solution = solve(&model, &set, &options).expect("a valid call");
                assert_ran(&solution, &options);
                assert!(solution.work.first_order_steps > 0);
                assert_sound(&model, &solution, "paper steps");
                assert_eq!(solution.status, Status::Certified, "{set:?} {discount}");
                bounds.push((solution.lower, solution.upper));
            }
            for s in 0..4 {
                assert!(bounds[0].0[s] <= bounds[1].1[s] && bounds[1].0[s] <= bounds[0].1[s]);
            }
        }
    }
}

/// A chain in which policy iteration switches about one state a round.
#[test]
fn a_long_chain_is_solved_by_policy_iteration() {
    let n = 200;
    let mut builder = ModelBuilder::new(0.999);
    for s in 0..n {
        builder.add_state(None);
        let cost = 1.0 + 0.05 * (n - s) as f64;
        for (further, next) in [(0.0, s), (1.0, s + 1)] {
            builder.add_action(None, cost + further);
            builder.add_transition(next, 1.0, 0.0);
        }
    }
    builder.add_state(None);
    builder.mark_terminal();
    let model = builder.build().expect("a valid model");
    for set in [UncertaintySet::none(), UncertaintySet::kl(0.01)] {
        let time_limit = Some(Duration::from_secs(60));
        let options =
            Options { stop: Stop { time_limit, ..Stop::at_gap(1e-3) }, ..Options::default() };
        let solution = solve(&model, &set, &options).expect("a valid call");
        assert_sound(&model, &solution, "chain");
        assert_eq!(solution.status, Status::Certified, "gap {}", solution.gap);
        // Advancing costs 1 more a step and ends: from the last state 1.05 + 1.
        assert!((solution.values[n - 1] - 2.05).abs() < 1e-3);
    }
}

/// A budget of 1e-18 moves a fair coin by √(2α·variance), which is less than the 1e-9 to the other
/// action: its price must not drown in rounding.
#[test]
fn tiny_kl_budgets_are_not_taken_for_saturation() {
    let mut builder = ModelBuilder::new(0.9);
    builder.add_state(None);
    builder.add_action(None, 0.45 + 1e-9);
    builder.add_transition(1, 1.0, 0.0);
    builder.add_action(None, 0.0);
    builder.add_transition(1, 0.5, 0.0);
    builder.add_transition(2, 0.5, 0.0);
    for _ in 0..2 {
        builder.add_state(None);
        builder.mark_terminal();
    }
    let model = builder.build().expect("a valid model");
    let set = UncertaintySet::kl(1e-18);
    let (lower, upper, _) =
        robust_mdp::measure::bellman(&model, &set, robust_mdp::Oracle::Exact, &[0.0, 0.0, 1.0])
            .expect("a valid call");
    let exact = 0.45 + (2e-18_f64 * 0.2025).sqrt();
    assert!(lower[0] <= exact + 1e-14 && upper[0] >= exact - 1e-14, "{lower:?} {upper:?}");
    assert!(upper[0] - lower[0] < 1e-13, "{lower:?} {upper:?}");
}

/// Rows of a mixed policy that came to rest on their maxima were begun anew again and again: hundreds
/// of kernels were read in a sweep.
#[test]
fn evaluations_near_saturation_read_few_kernels() {
    let states = 20;
    let garnet = Garnet {
        states,
        actions: states,
        branching: 0.5,
        costs: Costs::Iid,
        band: None,
        discount: 0.8,
        seed: 1,
    };
    let model = garnet.model().expect("a model");
    // Weights 1, 2, …, so that rows come to rest one after the other.
    let total = (states * (states + 1) / 2) as f64;
    let policy: Vec<f64> = (0..states * states).map(|r| (r % states + 1) as f64 / total).collect();
    for radius in [1.0, 3.0, 6.0, 8.0, 9.0] {
        for set in sets(radius) {
            let found = evaluate(&model, &set, &policy, Some(1e-6), Some(1), &Interrupt::new());
            let work = found.expect("an evaluation").work;
            let passes = work.kernel_passes() / work.sweeps as f64;
            assert!(passes < 10.0, "{set:?}: {passes} kernels a sweep");
        }
    }
}

/// The first sweep solved every row with a budget of its own, though one look at the nominal rows
/// tells which of them can be the least.
#[test]
fn first_sweeps_solve_few_rows_with_budgets_of_their_own() {
    let model = Garnet { states: 40, actions: 40, ..Garnet::default() }.model().expect("a model");
    let stop = Stop { max_sweeps: 1, ..Stop::at_gap(1e-6) };
    let options = Options { stop, threads: Some(1), ..Options::default() };
    for set in sets(0.01) {
        let solution = solve(&model, &set.clone().per_action(), &options).expect("a solution");
        let passes = solution.work.kernel_passes();
        assert!(passes < 2.0, "{set:?}: {passes} kernels");
    }
}

/// First-order answers as narrow as Newton's next span might be at best were worth a third more work
/// than they saved.
#[test]
fn first_order_answers_are_no_narrower_than_steps_can_tell() {
    let set = UncertaintySet::ellipsoid(0.1);
    let mut entries = 0;
    for discount in [0.9, 0.99] {
        for seed in 1..=3 {
            let (costs, branching, band) = (Costs::StateDriven, 0.5, None);
            let (states, actions) = (30, 10);
            let garnet = Garnet { states, actions, branching, costs, band, discount, seed };
            let options = Options {
                method: Method::Newton,
                oracle: Some(Oracle::FirstOrder),
                stop: Stop::at_gap(1e-7),
                threads: Some(1),
                ..Options::default()
            };
            let solution = solve(&garnet.model().unwrap(), &set, &options).unwrap();
            assert_ran(&solution, &options);
            assert_eq!(solution.status, Status::Certified);
            entries += solution.work.entries;
        }
    }
    // 23.8 million against 31.7.
    assert!(entries < 27_500_000, "{entries}");
}

/// The first bounds of FOM-VI once went through linear systems as large and dense as those of averaged
/// kernels: seconds with 3000 states.
#[test]
fn first_bounds_of_fom_vi_need_no_dense_systems() {
    let states = 1000;
    let band = Garnet { states, actions: 4, branching: 0.5, band: Some(4), ..Garnet::default() };
    let model = Garnet { discount: 0.9995, seed: 1, ..band }.model().expect("a model");
    let set = UncertaintySet::ellipsoid(0.05);
    let stop = Stop { max_sweeps: 0, ..Stop::at_gap(1e-5) };
    let options = Options { method: Method::FomVi, stop, threads: Some(1), ..Options::default() };
    let first = solve(&model, &set, &options).expect("bounds");
    assert_ran(&first, &options);
    // 64 million entries, most of them of linear systems; 640 million with dense ones.
    assert!(first.work.entries < 150_000_000, "{:?}", first.work);
    assert!(first.gap.is_finite() && first.policy.iter().all(|x| *x == 0.0 || *x == 1.0));
}

/// However early a run ends, its bounds are no worse than the cheapest and the dearest cost for ever.
#[test]
fn no_bound_is_worse_than_the_costs_tell() {
    const METHODS: [Method; 8] = [
        Method::Auto,
        Method::FomVi,
        Method::Vi,
        Method::GsVi,
        Method::Anderson,
        Method::Avi,
        Method::Pi,
        Method::Newton,
    ];
    // Costs of 5 to 15 a step and, with further ones on next states, 5 to 18.
    let garnet = Garnet { states: 30, actions: 3, branching: 0.2, seed: 7, ..Garnet::default() };
    let plain = Garnet { discount: 0.999, ..garnet }.model().expect("a model");
    let of = |toll: f64| {
        let mut builder = ModelBuilder::new(0.999);
        for s in 0..plain.states() {
            builder.add_state(None);
            for r in plain.rows_of(s) {
                let row = plain.row(r);
                builder.add_action(None, 5.0 + row.cost);
                for (next, p, _) in row.entries().filter(|e| e.1 > 0.0) {
                    builder.add_transition(next, p, toll * (next % 4) as f64);
                }
            }
        }
        builder.build().expect("a model")
    };
    for toll in [0.0, 1.0] {
        let model = of(toll);
        let costs = (0..model.rows()).flat_map(|r| {
            let row = model.row(r);
            row.entries().filter(|e| e.1 > 0.0).map(move |e| row.cost + e.2).collect::<Vec<_>>()
        });
        let (low, high) = costs.fold((f64::MAX, f64::MIN), |(l, h), c| (l.min(c), h.max(c)));
        let (low, high) = (low / 0.001 * (1.0 - 1e-12), high / 0.001 * (1.0 + 1e-12));
        for set in [UncertaintySet::kl(0.5), UncertaintySet::ellipsoid(0.2).on_nominal_support()] {
            for method in METHODS {
                for max_sweeps in [0, 1, 2, 5] {
                    let stop = Stop { max_sweeps, ..Stop::at_gap(1e-9) };
                    let options = Options { method, stop, ..Options::default() };
                    let cut = solve(&model, &set, &options).expect("a solution");
                    assert_ran(&cut, &options);
                    let worst = cut.lower.iter().fold(f64::MAX, |m, l| m.min(*l));
                    assert!(worst >= low, "{method} {max_sweeps}: {worst}, at least {low}");
                    let worst = cut.upper.iter().fold(f64::MIN, |m, u| m.max(*u));
                    assert!(worst <= high, "{method} {max_sweeps}: {worst}, at most {high}");
                }
                // No time at all, and interrupted before it begins.
                let none = Stop { time_limit: Some(Duration::ZERO), ..Stop::at_gap(1e-9) };
                let options = Options { method, stop: none, ..Options::default() };
                let interrupt = Interrupt::new();
                let late = solve(&model, &set, &options).expect("a solution");
                interrupt.raise();
                let options = Options { method, stop: Stop::at_gap(1e-9), ..Options::default() };
                let stopped = solve_observed(&model, &set, &options, &mut (), &interrupt);
                for cut in [late, stopped.expect("a solution")] {
                    assert!(cut.lower.iter().all(|l| *l >= low), "{method} {:?}", cut.status);
                    assert!(cut.upper.iter().all(|u| *u <= high), "{method} {:?}", cut.status);
                }
            }
            let policy: Vec<f64> = (0..model.rows()).map(|r| f64::from(r % 3 == 0)).collect();
            let interrupt = Interrupt::new();
            interrupt.raise();
            let value = evaluate(&model, &set, &policy, Some(1e-9), None, &interrupt);
            let worst = value.expect("an evaluation").worst;
            assert!(
                worst.lower.iter().all(|l| *l >= low) && worst.upper.iter().all(|u| *u <= high)
            );
        }
    }
}

/// The bounds before any sweep, by hand: λ = ½, so that a cost for ever counts twice.
#[test]
fn bounds_from_costs_alone_hold_what_can_happen() {
    let first = |model: &Model, set: &UncertaintySet| {
        let stop = Stop { max_sweeps: 0, ..Stop::at_gap(1e-9) };
        let options = Options { method: Method::Vi, stop, ..Options::default() };
        let cut = solve(model, set, &options).expect("a solution");
        let round = |v: f64| (v * 1e9).round() / 1e9;
        (round(cut.lower[0]), round(cut.upper[0]))
    };
    // An action at 10 whose listed next states take 9 back; a third state is not listed.
    let mut builder = ModelBuilder::new(0.5);
    for listed in [[0, 1], [0, 1], [1, 2]] {
        builder.add_state(None);
        builder.add_action(None, 10.0);
        listed.into_iter().for_each(|next| builder.add_transition(next, 0.5, -9.0));
    }
    let model = builder.build().expect("a model");
    let everywhere = UncertaintySet::ellipsoid(0.1);
    assert_eq!(first(&model, &UncertaintySet::kl(0.1)), (2.0, 2.0));
    assert_eq!(first(&model, &everywhere.clone().on_nominal_support()), (2.0, 2.0));
    assert_eq!(first(&model, &everywhere), (2.0, 20.0));
    // As many entries as states, but one state is listed at two costs and another is not listed.
    let mut builder = ModelBuilder::new(0.5);
    for _ in 0..3 {
        builder.add_state(None);
        builder.add_action(None, 10.0);
        for (next, further) in [(0, -9.0), (0, -8.0), (1, -9.0)] {
            builder.add_transition(next, 1.0 / 3.0, further);
        }
    }
    let model = builder.build().expect("a model");
    assert_eq!(first(&model, &UncertaintySet::kl(0.1)), (2.0, 4.0));
    assert_eq!(first(&model, &everywhere), (2.0, 20.0));
    // A model that may end has steps that cost nothing, whatever the sign of the others.
    for (cost, expected) in [(3.0, (0.0, 6.0)), (-3.0, (-6.0, 0.0))] {
        let model = ModelBuilder::new(0.5)
            .state("on")
            .action("go", cost, &[(0, 0.5), (1, 0.5)])
            .terminal("end")
            .build()
            .expect("a model");
        assert_eq!(first(&model, &UncertaintySet::kl(0.1)), expected);
    }
}

/// A check of the published algorithm that a deadline cuts off once took the answer's place.
#[test]
fn a_check_that_is_cut_off_does_not_replace_the_answer() {
    struct Last(Option<Progress>);
    impl Observer for Last {
        fn progress(&mut self, at: &Progress) {
            if let (Some(last), Some(output)) = (&self.0, at.output) {
                assert!(output.gap < 1.5 * last.gap, "{output:?} after {last:?}");
            }
            self.0 = Some(*at);
        }
    }
    let garnet = Garnet { states: 60, actions: 4, branching: 0.5, ..Garnet::default() };
    let model = Garnet { discount: 0.999, seed: 2, ..garnet }.model().expect("a model");
    let set = UncertaintySet::ellipsoid(0.1);
    for millis in 1..40 {
        let time_limit = Some(Duration::from_millis(millis));
        let options = Options {
            method: Method::FomVi,
            fom: Some(FomSettings::paper()),
            stop: Stop { time_limit, ..Stop::at_gap(1e-9) },
            threads: Some(1),
            ..Options::default()
        };
        let mut last = Last(None);
        let cut = solve_observed(&model, &set, &options, &mut last, &Interrupt::new()).unwrap();
        assert_eq!((cut.status, cut.method), (Status::TimeLimit, Method::FomVi));
        // What was reported last is what is returned, or better.
        if let Some(last) = last.0 {
            assert!(cut.gap <= last.gap, "{} after {last:?}", cut.gap);
        }
    }
}
