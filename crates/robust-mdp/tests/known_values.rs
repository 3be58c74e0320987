//! Models small enough to solve by hand; every expected number is derived beside its test.

mod ran;

use std::time::Duration;

use ran::assert_ran;
use robust_mdp::saddle::FirstOrderMethod;
use robust_mdp::sets::UncertaintySet;
use robust_mdp::{
    Average, FomSettings, Method, Model, ModelBuilder, Objective, Options, Solution, Status, Stop,
    solve,
};

/// The default method, and FOM-VI with every first-order method and average; mirror descent, at O(1/√T),
/// is asked for less.
fn settings() -> Vec<(Option<FomSettings>, f64)> {
    let of = |method, average| {
        Some(FomSettings { method, average, head_start: false, ..FomSettings::default() })
    };
    vec![
        (None, 1e-7),
        (of(FirstOrderMethod::Pda, Average::Epoch), 1e-7),
        (of(FirstOrderMethod::Pda, Average::All), 1e-4),
        (of(FirstOrderMethod::MirrorProx, Average::Epoch), 1e-7),
        (of(FirstOrderMethod::MirrorDescent, Average::Epoch), 1e-2),
    ]
}

fn options(fom: Option<FomSettings>, gap: f64) -> Options {
    Options {
        method: if fom.is_some() { Method::FomVi } else { Method::Auto },
        stop: Stop { time_limit: Some(Duration::from_secs(20)), ..Stop::at_gap(gap) },
        threads: Some(1),
        fom,
        ..Options::default()
    }
}

fn inside(solution: &Solution, exact: &[f64], gap: f64) {
    assert_eq!(solution.status, Status::Certified, "{solution:?}");
    for (s, exact) in exact.iter().enumerate() {
        let (lower, upper) = (solution.lower[s], solution.upper[s]);
        let slack = 1e-12 * exact.abs();
        assert!(lower - slack <= *exact && *exact <= upper + slack, "{s}: {lower} {exact} {upper}");
        assert!(upper - lower <= gap);
    }
}

/// Solves with every method, checks the bounds and returns the solutions.
fn check(model: &Model, set: &UncertaintySet, exact: &[f64]) -> Vec<Solution> {
    let solved = settings().into_iter().map(|(fom, gap)| {
        let options = options(fom, gap);
        let solution = solve(model, set, &options).unwrap();
        assert_ran(&solution, &options);
        assert!(solution.work.sweeps > 0);
        inside(&solution, exact, gap);
        solution
    });
    solved.collect()
}

/// The solutions whose gap is 1e-7.
fn precise(solutions: Vec<Solution>) -> impl Iterator<Item = Solution> {
    solutions.into_iter().filter(|s| s.target_gap == 1e-7)
}

/// KL of the Bernoulli distribution q from p.
fn kl(q: f64, p: f64) -> f64 {
    q * (q / p).ln() + (1.0 - q) * ((1.0 - q) / (1.0 - p)).ln()
}

/// "up" costs 1 and breaks down with probability 0.2; "down" costs 10 for ever. λ = ½.
fn breakdown() -> Model {
    ModelBuilder::new(0.5)
        .state("up")
        .action("run", 1.0, &[(0, 0.8), (1, 0.2)])
        .state("down")
        .action("wait", 10.0, &[(1, 1.0)])
        .build()
        .unwrap()
}

/// v_down = 10/(1 − ½) = 20; with probability q of breaking down
/// v_up = 1 + ½((1−q)v_up + 20q), so v_up = (1 + 10q)/(½ + ½q).
fn breakdown_value(q: f64) -> [f64; 2] {
    [(1.0 + 10.0 * q) / (0.5 + 0.5 * q), 20.0]
}

#[test]
fn one_action_in_an_ellipsoid() {
    // ½‖(−d, d)‖² = d² ≤ 0.01: q = 0.2 + 0.1. "down" is the worst state already: its row, at a
    // vertex, has nothing to gain.
    let exact = breakdown_value(0.3);
    assert!((exact[0] - 4.0 / 0.65).abs() < 1e-14);
    let set = UncertaintySet::ellipsoid(0.01);
    check(&breakdown(), &set, &exact);
    check(&breakdown(), &set.clone().on_nominal_support(), &exact);
    // One action: a budget a row is a budget a state.
    check(&breakdown(), &set.per_action(), &exact);
}

#[test]
fn one_action_in_a_kl_ball() {
    // The tilted distribution of two points is any q ≥ p; the budget is chosen to give q = 0.3.
    let set = UncertaintySet::kl(kl(0.3, 0.2));
    check(&breakdown(), &set, &breakdown_value(0.3));
    check(&breakdown(), &set.per_action(), &breakdown_value(0.3));
    // A budget that no neat q spends: bisection on kl(q‖0.2) = 0.1.
    let (mut low, mut high) = (0.2, 1.0);
    for _ in 0..60 {
        let q = 0.5 * (low + high);
        if kl(q, 0.2) < 0.1 { low = q } else { high = q }
    }
    check(&breakdown(), &UncertaintySet::kl(0.1), &breakdown_value(low));
}

#[test]
fn no_radius_is_the_nominal_model() {
    for set in [UncertaintySet::none(), UncertaintySet::ellipsoid(0.0), UncertaintySet::kl(0.0)] {
        check(&breakdown(), &set, &breakdown_value(0.2)); // (1 + 2)/0.6 = 5
        check(&breakdown(), &set.per_action(), &[5.0, 20.0]);
    }
}

/// Two ways out of "choose": to the end (value 0) or to "down" (10 for ever, λ = ½, value 20).
/// The cheap one risks 0.2, the careful one costs 2 and risks 0.1. With ½·20 = 10 for each unit
/// of probability of "down", Q = (0 + 2, 2 + 1).
fn choice(objective: Objective) -> Model {
    let sign = objective.sign();
    ModelBuilder::new(0.5)
        .objective(objective)
        .state("choose")
        .action("cheap", 0.0, &[(1, 0.8), (2, 0.2)])
        .action("careful", sign * 2.0, &[(1, 0.9), (2, 0.1)])
        .terminal("end")
        .state("down")
        .action("wait", sign * 10.0, &[(2, 1.0)])
        .build()
        .unwrap()
}

/// Nature plays q_a = p_a + δ_a, δ₁² + δ₂² ≤ 0.05. Against x it maximises 10(x₁δ₁ + x₂δ₂), so
/// δ ∝ x. Both actions must cost the same or x moves: 10(0.2 + δ₁) = 2 + 10(0.1 + δ₂), i.e.
/// δ₁ = δ₂ + 0.1, and δ₁² + δ₂² = 0.05 gives δ = (0.2, 0.1). Hence x = (2/3, 1/3), value 4.
#[test]
fn a_shared_ellipsoid_makes_the_policy_random() {
    let set = UncertaintySet::ellipsoid(0.05).on_nominal_support();
    // The value is flat in x at its optimum: a gap of 1e-7 leaves about its root.
    for solution in precise(check(&choice(Objective::MinCost), &set, &[4.0, 0.0, 20.0])) {
        let x = solution.policy_at(0);
        assert!((x[0] - 2.0 / 3.0).abs() < 1e-3 && (x[1] - 1.0 / 3.0).abs() < 1e-3, "{x:?}");
    }
}

/// The same equaliser q = (0.4, 0.2) with the KL budget that it spends. The tilt of a row is
/// t_a·10 = logit q_a − logit p_a: ln(⅔·4) = ln(8/3) and ln(¼·9) = ln(9/4); nature tilts by
/// r·x_a, so x ∝ (ln 8/3, ln 9/4).
#[test]
fn a_shared_kl_ball_makes_the_policy_random() {
    let set = UncertaintySet::kl(kl(0.4, 0.2) + kl(0.2, 0.1));
    let tilt = [(8.0_f64 / 3.0).ln(), (9.0_f64 / 4.0).ln()];
    for solution in precise(check(&choice(Objective::MinCost), &set, &[4.0, 0.0, 20.0])) {
        let x = solution.policy_at(0);
        assert!((x[0] - tilt[0] / (tilt[0] + tilt[1])).abs() < 1e-3, "{x:?}");
    }
}

#[test]
fn a_budget_a_row_is_worse_than_a_shared_one() {
    // Each row moves by √0.05 alone: min(10(0.2 + √0.05), 2 + 10(0.1 + √0.05)) = 2 + √5 > 4.
    let set = UncertaintySet::ellipsoid(0.05).on_nominal_support().per_action();
    let model = choice(Objective::MinCost);
    for solution in check(&model, &set, &[2.0 + 5.0_f64.sqrt(), 0.0, 20.0]) {
        assert!(solution.lower[0] > 4.0);
    }
    // kl(0.4‖0.2) in each row: the first reaches q = 0.4, value 4; the second, at p = 0.1, would
    // need q = 0.2 for the same and kl(0.2‖0.1) is less: only the first is worth playing.
    assert!(kl(0.2, 0.1) < kl(0.4, 0.2));
    let set = UncertaintySet::kl(kl(0.4, 0.2)).per_action();
    for solution in precise(check(&model, &set, &[4.0, 0.0, 20.0])) {
        assert!(solution.policy_at(0)[0] > 1.0 - 1e-6);
    }
}

#[test]
fn a_vacuous_budget_leaves_the_worst_next_state() {
    // All mass goes to "down": min(0, 2) + ½·20 = 10, by the cheap action. On the nominal
    // support that takes (0.8² + 0.9²) < 2 of budget, or −ln 0.2 − ln 0.1 = ln 50 < 4 of KL.
    let model = choice(Objective::MinCost);
    let exact = [10.0, 0.0, 20.0];
    for set in [UncertaintySet::ellipsoid(2.0).on_nominal_support(), UncertaintySet::kl(4.0)] {
        for solution in precise(check(&model, &set, &exact)) {
            assert!(solution.policy_at(0)[0] > 1.0 - 1e-6);
            assert_eq!(solution.warnings.len(), 1);
        }
        check(&model, &set.per_action(), &exact);
    }
    check(&model, &UncertaintySet::ellipsoid(2.0), &exact);
}

#[test]
fn a_chain_to_a_terminal_state() {
    // λ = ½, one action a state: "far" costs 1 and moves on with ½, "near" costs 2 and ends with
    // ½. Radius 0.01 moves 0.1 of probability, to staying in "near": v = 2 + 0.3v = 2/0.7. Moving
    // on is worse than staying in "far" (v_far < v_near), so v = 1 + 0.2v + 0.3·2/0.7 = 13/5.6.
    let model = ModelBuilder::new(0.5)
        .state("far")
        .action("walk", 1.0, &[(0, 0.5), (1, 0.5)])
        .state("near")
        .action("walk", 2.0, &[(1, 0.5), (2, 0.5)])
        .terminal("there")
        .build()
        .unwrap();
    let exact = [13.0 / 5.6, 2.0 / 0.7, 0.0];
    assert!(exact[0] < exact[1]);
    check(&model, &UncertaintySet::ellipsoid(0.01).on_nominal_support(), &exact);
    // kl(q‖½) is even around ½: the same moves spend the same budget.
    check(&model, &UncertaintySet::kl(kl(0.6, 0.5)), &exact);
}

#[test]
fn a_cost_of_the_next_state_cannot_be_averaged() {
    // A toll of 8 with probability 0.25, moved to 0.35 by radius 0.01: 2.8, not the average 2.
    let mut builder = ModelBuilder::new(0.5);
    builder.add_state(None);
    builder.add_action(None, 0.0);
    builder.add_transition(1, 0.75, 0.0);
    builder.add_transition(2, 0.25, 8.0);
    let model = builder.terminal("free").terminal("tolled").build().unwrap();
    let exact = [8.0 * 0.35, 0.0, 0.0];
    check(&model, &UncertaintySet::ellipsoid(0.01).on_nominal_support(), &exact);
    check(&model, &UncertaintySet::kl(kl(0.35, 0.25)), &exact);
    check(&model, &UncertaintySet::none(), &[2.0, 0.0, 0.0]);
}

#[test]
fn costs_that_cancel_round_as_much_as_their_parts() {
    // 10¹⁵ less nearly as much leaves 1.25 a step, 41.67 in all, but sums on the way lie on a grid of 0.125.
    let mut builder = ModelBuilder::new(0.97);
    builder.add_state(None);
    builder.add_action(None, 1e15);
    builder.add_transition(0, 1.0, 1.25 - 1e15);
    // At the discount as a double, to whose last digits the dearest cost for ever bounds the value.
    let (model, exact) = (builder.build().unwrap(), 1.25 / (1.0 - 0.97));
    for set in [UncertaintySet::none(), UncertaintySet::kl(0.1), UncertaintySet::ellipsoid(0.1)] {
        for method in [Method::Auto, Method::Vi, Method::GsVi, Method::Pi, Method::FomVi] {
            if method == Method::FomVi && set == UncertaintySet::none() {
                continue;
            }
            let options = Options { method, ..Options::default() };
            let found = solve(&model, &set, &options).unwrap();
            assert_ran(&found, &options);
            let (lower, upper) = (found.lower[0], found.upper[0]);
            assert!(lower <= exact && exact <= upper, "{method:?}, {set:?}: {lower} to {upper}");
            // Some roundings of 10¹⁵ over 33 steps, no more.
            assert!(upper - lower < 1000.0, "{method:?}, {set:?}: {lower} to {upper}");
        }
    }
}

#[test]
fn support_decides_whether_the_impossible_may_happen() {
    // "safe" surely ends, "down" has value 20 and b = ½v = (½v_safe, 0, 10). The projection of
    // e_end + t·b lowers all entries by ν = 5t, so "safe" gets nothing while ½v_safe < 5; d = 0.1
    // of the mass moves to "down" by radius d² = 0.01: v_safe = ½·0.1·20 = 1.
    let model = ModelBuilder::new(0.5)
        .state("safe")
        .action("rest", 0.0, &[(1, 1.0)])
        .terminal("end")
        .state("down")
        .action("wait", 10.0, &[(2, 1.0)])
        .build()
        .unwrap();
    let set = UncertaintySet::ellipsoid(0.01);
    check(&model, &set, &[1.0, 0.0, 20.0]);
    check(&model, &set.on_nominal_support(), &[0.0, 0.0, 20.0]);
    check(&model, &UncertaintySet::kl(5.0), &[0.0, 0.0, 20.0]);
}

#[test]
fn rewards_are_negated_costs() {
    let (costs, rewards) = (choice(Objective::MinCost), choice(Objective::MaxReward));
    for set in [UncertaintySet::ellipsoid(0.05).on_nominal_support(), UncertaintySet::kl(0.2)] {
        for (fom, gap) in settings() {
            let options = options(fom, gap);
            let (a, b) =
                (solve(&costs, &set, &options).unwrap(), solve(&rewards, &set, &options).unwrap());
            assert_ran(&a, &options);
            assert_ran(&b, &options);
            let negated = |v: &[f64]| v.iter().map(|v| 0.0 - v).collect::<Vec<_>>();
            assert_eq!(a.lower, negated(&b.upper));
            assert_eq!(a.upper, negated(&b.lower));
            assert_eq!((a.policy, a.gap), (b.policy, b.gap));
            assert_eq!(a.initial_value, (0.0 - b.initial_value.1, 0.0 - b.initial_value.0));
        }
    }
}
