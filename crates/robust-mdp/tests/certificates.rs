//! Every answer comes with a proof that holds: each method, oracle, set, rectangularity and support,
//! on random models with all that makes them degenerate. What is proved is checked again by plain
//! arithmetic that shares nothing with the library.

mod cases;
mod ran;
mod reference;

use cases::Case;
use ran::assert_ran;
use reference::{FAMILIES, Family, PRECISION};
use robust_mdp::instances::{Costs, Garnet};
use robust_mdp::sets::{Radius, UncertaintySet};
use robust_mdp::{
    Certificate, Method, Model, ModelBuilder, Objective, Options, Oracle, Solution, Status, Stop,
    Verified, certify, solve, verify,
};

fn run(case: &Case, method: Method, oracle: Option<Oracle>, max_sweeps: u64) -> Solution {
    let gap = Some(1e-6 * case.model.largest_cost().max(1e-3));
    let stop = Stop { gap, max_sweeps, time_limit: None };
    let options = Options { method, oracle, stop, threads: Some(1), ..Options::default() };
    let solution = solve(&case.model, &case.set, &options).expect("a valid case");
    assert_ran(&solution, &options);
    solution
}

/// Certifies, writes, reads and verifies; the bounds are no wider than twice what was asked for, if
/// that was reached, and four times what was reached where rounding or a limit ended the run.
fn proved(case: &Case, name: &str, solution: &Solution) {
    let (model, set) = (&case.model, &case.set);
    let of = || format!("{name}: Case::new({:?}, {}) {:?}", case.family, case.seed, case.traits);
    let (certificate, claimed) =
        certify(model, set, solution, Some(1)).unwrap_or_else(|e| panic!("{e}\n{}", of()));
    let bytes = certificate.to_bytes();
    let read = Certificate::from_bytes(&bytes, model).unwrap_or_else(|e| panic!("{e}\n{}", of()));
    assert_eq!(read, certificate);
    let proved = verify(model, &read, Some(1)).unwrap_or_else(|e| panic!("{e}\n{}", of()));
    assert_eq!(proved, claimed);
    let allowed = match solution.status {
        Status::Certified => 2.0 * solution.target_gap,
        _ => 4.0 * solution.gap,
    };
    assert!(
        proved.gap <= allowed,
        "{:?}: gap {:e} became {:e}, asked {:e}\n{}",
        solution.status,
        solution.gap,
        proved.gap,
        solution.target_gap,
        of()
    );
    assert!(read.expect_set(set).is_ok());
    stands(model, set, &solution.policy, &proved, &of);
}

/// T_x U ≤ U and F(L) ≥ L by sorting and bisection: that is what the bounds rest on.
fn stands(
    model: &Model,
    set: &UncertaintySet,
    policy: &[f64],
    proved: &Verified,
    of: &dyn Fn() -> String,
) {
    let sign = model.objective().sign();
    let costs = |v: &[f64]| -> Vec<f64> { v.iter().map(|v| sign * v).collect() };
    let (mut lower, mut upper) = (costs(&proved.lower), costs(&proved.upper));
    if model.objective() == Objective::MaxReward {
        std::mem::swap(&mut lower, &mut upper);
    }
    for s in (0..model.states()).filter(|&s| !model.is_terminal(s)) {
        let state = reference::State::new(model, set, s, &upper);
        let slack = PRECISION * state.scale.max(upper[s].abs());
        let worst = state.worst_case(&policy[model.rows_of(s)]);
        assert!(worst <= upper[s] + slack, "state {s}: {worst:e} above {:e}\n{}", upper[s], of());
        let state = reference::State::new(model, set, s, &lower);
        let slack = PRECISION * state.scale.max(lower[s].abs());
        let best = state.update();
        assert!(best >= lower[s] - slack, "state {s}: {best:e} below {:e}\n{}", lower[s], of());
    }
}

/// One case of this many in the usual run; `./check --full` takes all of them, optimised.
const USUAL: u64 = 10;
/// Of Newton's method on each set with a path in closed form.
const MANY: u64 = 1200;

fn newton(family: Family, cases: u64) {
    for seed in 0..cases {
        let case = Case::new(family, seed);
        proved(&case, "newton", &run(&case, Method::Newton, None, 500));
    }
}

#[test]
fn newton_on_everywhere_ellipsoids() {
    newton(FAMILIES[0], MANY / USUAL);
}

#[test]
fn newton_on_nominal_ellipsoids() {
    newton(FAMILIES[1], MANY / USUAL);
}

#[test]
fn newton_on_kl() {
    newton(FAMILIES[2], MANY / USUAL);
}

#[test]
fn rows_of_any_weight() {
    weighted(400 / USUAL);
}

fn weighted(cases: u64) {
    for &family in FAMILIES {
        let seeds = 6000..6000 + family.share(cases);
        let cases = seeds.filter_map(|seed| Case::new(family, seed).weighted());
        for case in cases.filter(|case| !case.is_slow()) {
            proved(&case, "newton", &run(&case, Method::Newton, None, 500));
            if case.seed % 20 == 0 {
                proved(&case, "vi", &run(&case, Method::Vi, None, 200));
            }
        }
    }
}

/// Budgets far below or far above what rows can spend within their intervals, and prices that rounding moves from one
/// edge to the next: certificates were many times as wide as what they were made of.
#[test]
fn nothing_is_lost_of_tiny_budgets_and_steep_multipliers() {
    let case = |title: &str, seed: u64| {
        let family = FAMILIES.iter().find(|family| family.name == title);
        Case::new(*family.unwrap_or_else(|| panic!("no family {title}")), seed)
    };
    let within = case("ellipsoid within intervals", 6043).weighted().expect("a shared budget");
    proved(&within, "newton", &run(&within, Method::Newton, None, 500));
    let linf = case("L∞, all states", 2006);
    for method in [Method::Auto, Method::Pi, Method::Vi, Method::Anderson] {
        proved(&linf, &format!("{method:?}"), &run(&linf, method, None, 200));
    }
}

#[test]
fn every_loop_with_the_exact_oracle() {
    loops(60 / USUAL);
}

fn loops(cases: u64) {
    for &family in FAMILIES {
        let cases = (2000..2000 + family.share(cases)).map(|seed| Case::new(family, seed));
        for case in cases.filter(|case| !case.is_slow()) {
            for method in
                [Method::Auto, Method::Pi, Method::Vi, Method::GsVi, Method::Anderson, Method::Avi]
            {
                proved(&case, &format!("{method:?}"), &run(&case, method, None, 200));
            }
        }
    }
}

#[test]
fn first_order_and_interior_point_oracles() {
    for &family in FAMILIES {
        let cases = (3000..3000 + family.share(25)).map(|seed| Case::new(family, seed));
        for case in cases.filter(|case| !case.is_slow()) {
            let oracles = [Oracle::FirstOrder, Oracle::InteriorPoint];
            if family.takes(Oracle::FirstOrder) {
                proved(&case, "FOM-VI", &run(&case, Method::FomVi, None, 6));
            }
            for oracle in oracles.into_iter().filter(|oracle| family.takes(*oracle)) {
                let solution = run(&case, Method::Pi, Some(oracle), 8);
                proved(&case, &format!("{oracle:?}"), &solution);
            }
        }
    }
}

/// The same for long: `./check --full` runs it, optimised.
#[test]
#[ignore = "takes minutes"]
fn all_cases() {
    FAMILIES[..3].iter().for_each(|family| newton(*family, MANY));
    weighted(400);
    loops(60);
}

/// Rewards are negated inside: proved bounds come out in their own sign.
#[test]
fn rewards_keep_their_sign() {
    for (sparse, set) in [
        (false, UncertaintySet::ellipsoid(0.02)),
        (false, UncertaintySet::kl(0.05).per_action()),
        (true, UncertaintySet::ellipsoid(0.3)),
    ] {
        let branching = if sparse { 0.1 } else { 0.6 };
        let garnet = Garnet { states: 40, actions: 5, branching, seed: 3, ..Garnet::default() };
        let garnet = Garnet { costs: Costs::StateDriven, ..garnet };
        let costs = garnet.model().expect("a model");
        let model = with_rewards(&costs);
        let solution = solve(&model, &set, &Options::default()).expect("a solution");
        let (certificate, _) = certify(&model, &set, &solution, None).expect("a certificate");
        let proved = verify(&model, &certificate, None).expect("a proof");
        assert!(proved.gap <= 2.0 * solution.target_gap);
        assert!(proved.initial.0 <= proved.initial.1);
        let slack = 1e-9;
        assert!(proved.initial.0 <= solution.initial_value.1 + slack);
        assert!(proved.initial.1 >= solution.initial_value.0 - slack);
        stands(&model, &set, &solution.policy, &proved, &|| "rewards".into());
        // The same numbers on any number of threads.
        assert_eq!(certify(&model, &set, &solution, Some(3)).unwrap().0, certificate);
        assert_eq!(verify(&model, &certificate, Some(1)).unwrap(), proved);
    }
}

/// States are worked on in parallel, and nothing of that is to be seen.
#[test]
fn threads_change_no_bit() {
    let small = Garnet { states: 37, actions: 6, seed: 5, ..Garnet::default() };
    let (dense, sparse) = (Garnet { branching: 0.6, ..small }, Garnet { branching: 0.1, ..small });
    let slow = Garnet { band: Some(2), discount: 0.9999, costs: Costs::StateDriven, ..sparse };
    for garnet in [dense, sparse, slow] {
        let model = garnet.model().expect("a model");
        for set in [
            UncertaintySet::ellipsoid(0.05),
            UncertaintySet::ellipsoid(3.0),
            UncertaintySet::ellipsoid(0.02).on_nominal_support().per_action(),
            UncertaintySet::kl(0.1),
            UncertaintySet::kl(0.05).per_action(),
            UncertaintySet::none(),
        ] {
            // The last gap is out of reach: all attempts are made.
            for gap in [1e-3, 1e-12] {
                let stop = Stop { max_sweeps: 50, ..Stop::at_gap(gap) };
                let options = Options { stop, threads: Some(1), ..Options::default() };
                let solution = solve(&model, &set, &options).expect("a solution");
                let made = |threads| certify(&model, &set, &solution, threads).unwrap();
                let (alone, proved) = made(Some(1));
                for threads in [Some(2), Some(3), None] {
                    let (certificate, verified) = made(threads);
                    assert_eq!(certificate.to_bytes(), alone.to_bytes(), "{set:?} {threads:?}");
                    assert_eq!(verified, proved);
                }
            }
        }
    }
}

fn with_rewards(costs: &Model) -> Model {
    use robust_mdp::ModelBuilder;
    let mut builder = ModelBuilder::new(costs.discount()).objective(Objective::MaxReward);
    for s in 0..costs.states() {
        builder.add_state(None);
        for r in costs.rows_of(s) {
            let row = costs.row(r);
            builder.add_action(None, row.cost);
            for (next, p, toll) in row.entries().filter(|e| e.1 > 0.0) {
                builder.add_transition(next, p, toll);
            }
        }
    }
    builder.build().expect("a model")
}

/// Whatever a solution says, what is proved about it holds: here state 1 costs 1 and ends.
#[test]
fn wrong_solutions_prove_nothing_wrong() {
    let builder = robust_mdp::ModelBuilder::new(0.5).terminal("end").state("work");
    let model = builder.action("go", 1.0, &[(0, 1.0)]).build().expect("a model");
    let set = UncertaintySet::ellipsoid(0.0);
    let right = solve(&model, &set, &Options::default()).expect("a solution");
    let (_, proved) = certify(&model, &set, &right, None).expect("a proof");
    assert!(proved.lower[1] <= 1.0 && proved.upper[1] >= 1.0 && proved.gap < 1e-6);
    let refusal = |change: fn(&mut Solution)| {
        let mut solution = right.clone();
        change(&mut solution);
        certify(&model, &set, &solution, None).expect_err("a false proof").to_string()
    };
    // Values that would follow if the end cost −100.
    let error = refusal(|s| (s.lower, s.upper) = (vec![-100.0, -49.0], vec![-100.0, -49.0]));
    assert!(error.contains("it is terminal"), "{error}");
    refusal(|s| s.upper = vec![0.0]);
    refusal(|s| s.lower[1] = f64::NAN);
    refusal(|s| s.policy[0] = 0.0);
}

#[test]
fn the_status_is_that_of_the_proved_bounds() {
    let case = Case::new(FAMILIES[2], 1);
    let solution = run(&case, Method::Newton, None, u64::MAX);
    assert_eq!(solution.status, Status::Certified);
    let (_, proved) = certify(&case.model, &case.set, &solution, Some(1)).expect("a certificate");
    let after = |status, target_gap| {
        let mut solution = solution.clone();
        (solution.status, solution.target_gap) = (status, target_gap);
        solution.adopt(proved.clone());
        assert_eq!(solution.gap, proved.gap);
        solution.status
    };
    let (enough, less) = (proved.gap, 0.5 * proved.gap);
    for status in [Status::Certified, Status::PrecisionLimit, Status::SweepLimit] {
        assert_eq!(after(status, enough), Status::Certified);
    }
    assert_eq!(after(Status::Certified, less), Status::PrecisionLimit);
    assert_eq!(after(Status::PrecisionLimit, less), Status::PrecisionLimit);
    assert_eq!(after(Status::SweepLimit, less), Status::SweepLimit);
}

#[test]
fn gaps_near_the_roundings_are_proved_for_many_rows_of_kl_sets() {
    let garnet = Garnet {
        states: 40,
        actions: 40,
        branching: 0.5,
        costs: Costs::StateDriven,
        band: None,
        discount: 0.9,
        seed: 5,
    };
    let model = garnet.model().expect("a model");
    let set = UncertaintySet::kl(15.0);
    for gap in [1e-6, 1e-9, 2e-11] {
        let stop = Stop { gap: Some(gap), ..Stop::default() };
        let options = Options { stop, threads: Some(1), ..Options::default() };
        let solution = solve(&model, &set, &options).expect("a solution");
        assert_eq!(solution.status, Status::Certified);
        let (_, proved) = certify(&model, &set, &solution, Some(1)).expect("a proof");
        assert!(proved.gap <= 1.01 * gap, "{:e}", proved.gap);
        stands(&model, &set, &solution.policy, &proved, &|| format!("{gap:e}"));
    }
}

/// A multiplier so steep that rounding moved most of a row's mass: the certificate was five times as wide as
/// the bounds of the run that a limit had stopped.
#[test]
fn steep_multipliers_of_vacuous_budgets_keep_their_mass() {
    let mut builder = ModelBuilder::new(0.3);
    builder.set_objective(Objective::MaxReward);
    type Row = (f64, &'static [(usize, f64, f64)]);
    let rows: [Row; 4] = [
        (
            0.6728238890790121,
            &[
                (0, 0.9167680027376813, 0.4637561112069847),
                (1, 0.08323199726231868, -0.3815905402593407),
            ],
        ),
        (
            0.0806838093818607,
            &[
                (0, 0.25346693680700305, 0.03255614774526572),
                (2, 0.3732665315964985, -0.29615131610092693),
                (2, 0.3732665315964985, 0.4394388107489907),
            ],
        ),
        (
            0.3132382571540302,
            &[
                (0, 0.8377893280666344, -0.03539158935086095),
                (1, 0.11752185093339594, 0.4202922600405741),
                (3, 0.044688820999969715, 0.49381675676878356),
            ],
        ),
        (
            -0.4290816323081166,
            &[
                (0, 0.24176246585606648, -0.49838836930341124),
                (1, 0.7582375341439335, -0.21813785765452942),
            ],
        ),
    ];
    for (reward, next) in rows {
        builder.add_state(None);
        builder.add_action(None, reward);
        next.iter().for_each(|&(to, p, further)| builder.add_transition(to, p, further));
    }
    let model = builder.build().expect("a model");
    let radii = vec![0.0, 3.6816247401697284, 7.322187147448646, 8.960972889984378];
    let set = UncertaintySet::ellipsoid(1.0).per_action().with_radius(Radius::PerState(radii));
    let stop = Stop { max_sweeps: 2, ..Stop::at_gap(1e-6) };
    let options = Options { method: Method::Vi, stop, threads: Some(1), ..Options::default() };
    let solution = solve(&model, &set, &options).expect("a solution");
    assert_eq!(solution.status, Status::SweepLimit);
    let (_, proved) = certify(&model, &set, &solution, Some(1)).expect("a proof");
    assert!(proved.gap <= solution.gap, "{:e} {:e}", proved.gap, solution.gap);
    stands(&model, &set, &solution.policy, &proved, &|| "vacuous budgets".into());
}
