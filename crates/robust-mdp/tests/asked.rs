//! What a run is asked for when little is said: the default gap, and sets that ask for nothing.

use robust_mdp::sets::{Radius, UncertaintySet};
use robust_mdp::{
    Interrupt, Model, ModelBuilder, Options, Solution, Status, Stop, evaluate, solve,
};

fn solved(model: &Model, set: &UncertaintySet) -> Solution {
    solve(model, set, &Options::default()).unwrap()
}

/// Two states; in the first the second action is better by a tenth of `unit`. All costs are moved by
/// `shift`.
fn choice(discount: f64, unit: f64, shift: f64) -> Model {
    ModelBuilder::new(discount)
        .state("a")
        .action("dear", shift + unit, &[(0, 0.5), (1, 0.5)])
        .action("cheap", shift + 0.9 * unit, &[(0, 0.5), (1, 0.5)])
        .state("b")
        .action("stay", shift, &[(0, 0.25), (1, 0.75)])
        .build()
        .unwrap()
}

fn sets() -> [UncertaintySet; 3] {
    [UncertaintySet::ellipsoid(0.01), UncertaintySet::kl(0.01), UncertaintySet::none()]
}

/// In whatever unit costs are, the same digits are asked for and the same action is found.
#[test]
fn the_default_gap_goes_with_the_unit_of_costs() {
    for set in sets() {
        let base = solved(&choice(0.9, 1.0, 0.0), &set);
        assert_eq!(base.target_gap, 1e-7 * 1.0 / (1.0 - 0.9));
        for unit in [1e-9, 1e-30, 1e9] {
            let solution = solved(&choice(0.9, unit, 0.0), &set);
            assert_eq!(solution.status, Status::Certified, "{unit} {set:?}");
            let share = solution.target_gap / unit / base.target_gap;
            assert!((share - 1.0).abs() < 1e-12, "{unit}: {share}");
            // A gap of 1e-6, as costs of size 1 have it, would have been met by anything.
            let (found, expected) = (solution.policy_at(0)[1], base.policy_at(0)[1]);
            assert!(expected > 0.9 && (found - expected).abs() < 1e-3, "{unit} {set:?}: {found}");
            for s in 0..2 {
                let (scaled, plain) = (solution.values[s] / unit, base.values[s]);
                assert!((scaled - plain).abs() <= 2.0 * base.target_gap, "{unit} {s}");
            }
        }
    }
}

/// What is added to all costs is no reason to ask for less, as far as doubles go.
#[test]
fn the_default_gap_does_not_see_what_all_costs_share() {
    for shift in [-1e3, 7.0, 1e3] {
        let gap = solved(&choice(0.9, 1.0, shift), &UncertaintySet::kl(0.01)).target_gap;
        assert!((gap / 1e-6 - 1.0).abs() < 1e-9, "{shift}: {gap}");
    }
    let far = solved(&choice(0.9, 1.0, 1e12), &UncertaintySet::kl(0.01));
    assert_eq!(far.status, Status::Certified);
    assert!(far.target_gap >= 1.0, "{}", far.target_gap);
}

/// No more digits are asked for than doubles have.
#[test]
fn discounts_near_one_are_certified_by_default() {
    for discount in [0.999, 0.99999, 0.9999999, 1.0 - 1e-9] {
        for set in sets() {
            let model = choice(discount, 1.0, 3.0);
            let solution = solved(&model, &set);
            assert_eq!(solution.status, Status::Certified, "{discount} {set:?} {}", solution.gap);
            let interrupt = Interrupt::new();
            let again = evaluate(&model, &set, &solution.policy, None, Some(1), &interrupt);
            let again = again.unwrap();
            assert_eq!(again.status, Status::Certified, "{discount} {set:?}");
            assert_eq!(again.target_gap, solution.target_gap);
        }
    }
}

/// With nothing between the least and the largest cost, bounds are as near as rounding lets them.
#[test]
fn constant_costs_and_none() {
    for discount in [0.0, 0.3, 0.9, 0.999] {
        for set in sets() {
            for cost in [0.1, -1e7, 1e-9] {
                let model = choice(discount, 0.0, cost);
                let solution = solved(&model, &set);
                assert_eq!(solution.status, Status::Certified, "{discount} {cost} {set:?}");
                let value = cost / (1.0 - discount);
                assert!(solution.gap <= 1e-9 * value.abs() / (1.0 - discount));
                assert!((solution.values[0] - value).abs() <= solution.gap + 1e-15 * value.abs());
            }
            let nothing = solved(&choice(discount, 0.0, 0.0), &set);
            assert_eq!((nothing.status, nothing.gap), (Status::Certified, 0.0));
        }
    }
}

/// Costs that a step can have count, and no others; ends of the story cost 0.
#[test]
fn the_default_gap_looks_at_costs_that_can_occur() {
    let model = |terminal: bool| {
        let mut b = ModelBuilder::new(0.5);
        b.add_state(None);
        b.add_action(None, 0.0);
        b.add_transition(0, 0.5, 100.0);
        b.add_transition(1, 0.5, 101.0);
        b.add_state(None);
        if terminal {
            b.mark_terminal();
        } else {
            b.add_action(None, 100.5);
            b.add_transition(0, 1.0, 0.0);
        }
        // A state that nothing leads to.
        b.add_state(None);
        b.add_action(None, 100.5);
        b.add_transition(0, 1.0, 0.0);
        b.build().unwrap()
    };
    let gap = |terminal, set: &UncertaintySet| solved(&model(terminal), set).target_gap / 2e-7;
    let near =
        |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-9, "{found}");
    near(gap(false, &UncertaintySet::kl(0.1)), 1.0);
    near(gap(false, &UncertaintySet::ellipsoid(0.1).on_nominal_support()), 1.0);
    // Mass on the third state costs the action's own, which is 0.
    near(gap(false, &UncertaintySet::ellipsoid(0.1)), 101.0);
    near(gap(true, &UncertaintySet::kl(0.1)), 101.0);
}

fn deterministic() -> Model {
    ModelBuilder::new(0.9)
        .state("a")
        .action("go", 1.0, &[(1, 1.0)])
        .action("stay", 2.0, &[(0, 1.0)])
        .state("b")
        .action("back", 0.0, &[(0, 1.0)])
        .build()
        .unwrap()
}

#[test]
fn sets_that_change_nothing_are_told() {
    let model = deterministic();
    let told = |model: &Model, set: &UncertaintySet| {
        let warnings = solved(model, set).warnings;
        assert!(warnings.len() <= 1, "{warnings:?}");
        warnings.first().is_some_and(|w| w.starts_with("the set changes nothing"))
    };
    for set in [UncertaintySet::kl(0.5), UncertaintySet::ellipsoid(0.5).on_nominal_support()] {
        assert!(told(&model, &set) && told(&model, &set.clone().per_action()));
        // Radius 0 was asked for; elsewhere there is something to choose.
        assert!(!told(&model, &set.clone().with_radius(Radius::Uniform(0.0))));
        assert!(told(&model, &set.clone().with_radius(Radius::PerState(vec![0.0, 0.1]))));
        assert!(!told(&choice(0.9, 1.0, 0.0), &set));
    }
    assert!(!told(&model, &UncertaintySet::ellipsoid(0.1)));
    assert!(!told(&model, &UncertaintySet::none()));
    let alone = ModelBuilder::new(0.5).state("a").action("stay", 1.0, &[(0, 1.0)]).build().unwrap();
    assert!(told(&alone, &UncertaintySet::ellipsoid(0.1)));
}

/// A gap that is asked for is taken as it is.
#[test]
fn a_gap_that_is_given_is_kept() {
    let options = Options { stop: Stop::at_gap(0.5), ..Options::default() };
    let solution = solve(&choice(0.9, 1.0, 0.0), &UncertaintySet::kl(0.1), &options).unwrap();
    assert_eq!(solution.target_gap, 0.5);
}
