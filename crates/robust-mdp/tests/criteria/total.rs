//! Costs until the end, without a discount.

use super::plain::Plain;
use super::{asked, ending, every_set, reference, some_sets, with_intervals};
use robust_mdp::sets::{Radius, UncertaintySet};
use robust_mdp::{
    Criterion, Direction, Model, ModelBuilder, Objective, Options, Solution, Status, Stop, solve,
};

fn total(model: &Model, set: &UncertaintySet) -> Solution {
    let found = solve(model, set, &asked(Criterion::Total)).unwrap();
    assert_eq!(found.criterion, Criterion::Total);
    found
}

fn refused(model: &Model, set: &UncertaintySet) -> String {
    let text = solve(model, set, &asked(Criterion::Total)).unwrap_err().to_string();
    assert!(text.contains("the total cost may have no bounds"), "{text}");
    assert!(text.contains("expected a model that ends in a terminal state"), "{text}");
    text
}

fn holds(found: &Solution, s: usize, expected: f64) {
    assert_eq!(found.status, Status::Certified, "{found:?}");
    let (low, high) = (found.lower[s], found.upper[s]);
    assert!(low <= expected && expected <= high, "{low} to {high} without {expected}");
    assert!(high - low <= 1e-6 * expected.abs().max(1.0), "{low} to {high}");
}

/// Moves a tenth of the mass within the support.
fn tenth() -> UncertaintySet {
    UncertaintySet::total_variation(0.1).on_nominal_support()
}

/// A walk on a line that ends at 0: a step costs 1 and goes left with probability p, else right.
pub(super) fn walk(states: usize, options: &[f64]) -> Model {
    let mut model = ModelBuilder::new(1.0).terminal("0");
    for s in 1..states {
        model = model.state(&s.to_string());
        for (a, &p) in options.iter().enumerate() {
            let right = (s + 1).min(states - 1);
            model = model.action(&a.to_string(), 1.0, &[(s - 1, p), (right, 1.0 - p)]);
        }
    }
    model.build().unwrap()
}

#[test]
fn the_total_cost_of_a_walk_is_its_number_of_steps() {
    let model = walk(6, &[0.8]);
    let total = solve(&model, &UncertaintySet::none(), &asked(Criterion::Total)).unwrap();
    // With total variation 0.1 nature always goes right more often.
    let robust = UncertaintySet::total_variation(0.1).on_nominal_support();
    let robust = solve(&model, &robust, &asked(Criterion::Total)).unwrap();
    for (p, found) in [(0.8, total), (0.7, robust)] {
        // v_s = v_{s−1} + d_s, d_S = 1/p, d_s = (1 + (1 − p)d_{s+1})/p.
        let mut difference = [1.0 / p; 6];
        for s in (1..5).rev() {
            difference[s] = (1.0 + (1.0 - p) * difference[s + 1]) / p;
        }
        let mut value = 0.0;
        for s in 1..6 {
            value += difference[s];
            assert!(found.lower[s] <= value && value <= found.upper[s], "{s}: {value}, {found:?}");
            assert!(found.upper[s] - found.lower[s] < 1e-7);
        }
        assert_eq!(found.status, Status::Certified);
        assert!(found.ending.unwrap().surely);
    }
}

/// Gymnasium's FrozenLake 4×4: every step goes one of three ways with probability ⅓, holes and the goal end it, and the
/// goal brings 1. A policy may stay in the first row for ever. `side` is the probability of the ways to the side.
pub(super) fn frozen_lake(side: f64) -> Model {
    const MAP: &[u8; 16] = b"SFFFFHFHFFFHHFFG";
    let mut model = ModelBuilder::new(1.0);
    model.set_objective(Objective::MaxReward);
    for s in 0..16 {
        model.add_state(None);
        if matches!(MAP[s], b'H' | b'G') {
            model.mark_terminal();
            continue;
        }
        // Left, down, right, up.
        let to = |way: usize| match way % 4 {
            0 => s - usize::from(s % 4 > 0),
            1 => s + if s < 12 { 4 } else { 0 },
            2 => s + usize::from(s % 4 < 3),
            _ => s - if s > 3 { 4 } else { 0 },
        };
        for a in 0..4 {
            model.add_action(None, 0.0);
            for (way, p) in [(a + 3, side), (a, 1.0 / 3.0), (a + 1, side)] {
                let next = to(way);
                model.add_transition(next, p, if MAP[next] == b'G' { 1.0 } else { 0.0 });
            }
        }
    }
    model.build().unwrap()
}

#[test]
pub(super) fn frozen_lake_without_a_discount() {
    let model = frozen_lake(1.0 / 3.0);
    let nominal = solve(&model, &UncertaintySet::none(), &asked(Criterion::Total)).unwrap();
    assert_eq!(nominal.status, Status::Certified);
    // The best policy reaches the goal with probability 14/17.
    let (low, high) = (nominal.lower[0], nominal.upper[0]);
    assert!(low <= 14.0 / 17.0 && 14.0 / 17.0 <= high && high - low < 1e-7, "{low} {high}");
    let robust = solve(&model, &UncertaintySet::kl(0.02), &asked(Criterion::Total)).unwrap();
    assert_eq!(robust.status, Status::Certified);
    assert!(!robust.ending.unwrap().surely);
}

/// Every set, where each step ends the model with probability 0.3: values are a fixed point of the reference's
/// update, and there is one.
#[test]
fn the_reference_has_the_same_fixed_point() {
    for seed in 0..2 {
        let plain = ending(Plain::random(4, 3, 3, 20 + seed).tolls(seed).costs(|c| c - 4.0), 0.3);
        let (model, rewards) = (with_intervals(&plain, false), with_intervals(&plain, true));
        for set in every_set(&model, 1e-4) {
            let found = total(&model, &set);
            assert_eq!(found.status, Status::Certified, "{set:?}");
            let ending = found.ending.as_ref().unwrap();
            assert!(ending.surely && ending.steps[..4].iter().all(|t| (1.0..20.0).contains(t)));
            assert_eq!((found.lower[4], found.upper[4]), (0.0, 0.0));
            let after = reference::bellman(&model, &set, &found.values);
            for s in 0..4 {
                assert!((after[s] - found.values[s]).abs() <= found.target_gap, "{set:?}");
            }
            let earned = total(&rewards, &set);
            assert!((0..4).all(|s| earned.lower[s] == -found.upper[s]), "{set:?}");
        }
    }
}

/// A loop that costs something: who never leaves pays without end, so that everyone may be expected to leave.
#[test]
fn loops_that_cost() {
    for (wait, go) in [(1.0, 5.0), (1e-3, 5.0), (1.0, 1e4)] {
        let model = ModelBuilder::new(0.9)
            .terminal("end")
            .state("here")
            .action("wait", wait, &[(1, 1.0)])
            .action("go", go, &[(0, 0.5), (1, 0.5)])
            .build()
            .unwrap();
        for (set, chance) in [(UncertaintySet::none(), 0.5), (tenth().per_action(), 0.4)] {
            let found = total(&model, &set);
            holds(&found, 1, go / chance);
            assert!(!found.ending.unwrap().surely);
            assert_eq!(found.policy, [0.0, 1.0]);
        }
    }
}

/// A loop that costs nothing, where ending brings something.
#[test]
fn loops_of_no_cost() {
    let mut model = ModelBuilder::new(0.9).terminal("goal").terminal("hole").state("here");
    model.set_objective(Objective::MaxReward);
    model.add_action(None, 0.0);
    model.add_transition(2, 1.0, 0.0);
    model.add_action(None, 0.0);
    model.add_transition(0, 0.5, 1.0);
    model.add_transition(1, 0.5, 0.0);
    let model = model.build().unwrap();
    for (set, chance) in [(UncertaintySet::none(), 0.5), (tenth(), 0.4)] {
        let found = total(&model, &set);
        holds(&found, 2, chance);
        assert!(!found.ending.unwrap().surely);
    }
}

/// The best case of a walk goes left more often, with policies that may choose how.
#[test]
fn best_cases() {
    for (options, p) in [(&[0.8][..], 0.9), (&[0.6, 0.8], 0.9)] {
        let options_of = Options { direction: Direction::Best, ..asked(Criterion::Total) };
        let found = solve(&walk(2, options), &tenth(), &options_of).unwrap();
        // One step from the end, and a step to the right stays: v = 1/p.
        holds(&found, 1, 1.0 / p);
        assert_eq!(found.direction, Direction::Best);
    }
    let model = with_intervals(&ending(Plain::random(4, 3, 3, 33).tolls(3), 0.3), false);
    let nominal = total(&model, &UncertaintySet::none());
    for set in every_set(&model, 1e-4) {
        let options = Options { direction: Direction::Best, ..asked(Criterion::Total) };
        let found = solve(&model, &set, &options).unwrap();
        let worst = total(&model, &set);
        for s in 0..4 {
            assert!(
                found.upper[s] < nominal.lower[s] && nominal.upper[s] < worst.lower[s],
                "{set:?}"
            );
        }
    }
}

/// Whatever has no bounds is refused, and says why.
#[test]
fn what_may_never_end() {
    let endless = ModelBuilder::new(0.9).state("here").action("stay", 1.0, &[(0, 1.0)]);
    let set = tenth();
    assert!(refused(&endless.build().unwrap(), &set).contains("there are no terminal states"));
    // Costs of both signs, with policies that go round for ever.
    let round = |stay: f64, leave: f64| {
        let model = ModelBuilder::new(0.9).terminal("end").state("here");
        let model = model.action("stay", stay, &[(1, 1.0)]);
        model.action("leave", leave, &[(0, 1.0)]).build().unwrap()
    };
    let both = ModelBuilder::new(0.9)
        .terminal("end")
        .state("a")
        .action("on", -1.0, &[(2, 1.0)])
        .action("leave", 1.0, &[(0, 1.0)])
        .state("b")
        .action("back", 1.0, &[(1, 1.0)])
        .build()
        .unwrap();
    refused(&both, &set);
    // It pays to stay without end, or costs nothing.
    assert!(refused(&round(-1.0, 3.0), &set).contains("without end"));
    refused(&round(0.0, 3.0), &set);
    // Nature keeps the model from ending.
    let kept = ModelBuilder::new(0.9).terminal("end").state("here");
    let kept = kept.action("go", 1.0, &[(0, 0.3), (1, 0.7)]).build().unwrap();
    holds(&total(&kept, &UncertaintySet::total_variation(0.2)), 1, 10.0);
    refused(&kept, &UncertaintySet::total_variation(0.3));
    refused(&kept, &UncertaintySet::total_variation(0.9));
}

/// Costs of any size and of both signs: everything scales with them.
#[test]
fn costs_of_any_size() {
    let plain = ending(Plain::random(5, 3, 3, 50).costs(|c| c - 5.0), 0.25);
    for set in some_sets() {
        let set = set.with_radius(Radius::Uniform(0.01));
        let usual = total(&plain.model(), &set);
        for size in [1e8, 1e-8] {
            let found = total(&plain.clone().scaled(size).model(), &set);
            for s in 0..5 {
                let (low, high) = (found.lower[s] / size, found.upper[s] / size);
                assert!(low <= usual.upper[s] && usual.lower[s] <= high, "{size} {set:?}");
                assert!(high - low < 1e-5, "{size} {set:?}: {low} {high}");
            }
        }
    }
}

/// A state is not over where one action costs nothing and stays, but may lead elsewhere with a budget of its own.
#[test]
fn states_that_one_action_may_leave() {
    let model = ModelBuilder::new(1.0)
        .state("a")
        .action("stay", 0.0, &[(0, 1.0)])
        .action("risk", 0.0, &[(0, 1.0)])
        .state("b")
        .action("pay", 1.0, &[(2, 1.0)])
        .terminal("end")
        .build()
        .unwrap();
    let radii = |radii: [f64; 3]| {
        UncertaintySet::l1(0.0).per_action().with_radius(Radius::PerRow(radii.to_vec()))
    };
    for set in [radii([0.0, 1.0, 0.0]), radii([1.0, 0.0, 0.0])] {
        // The worst case of the action that may be left costs 1, of the other 0; neither ever ends in `a`.
        let text = refused(&model, &set);
        assert!(text.contains("may not end"), "{text}");
    }
    let none = radii([0.0; 3]);
    holds(&total(&model, &none), 0, 0.0);
}

/// States that only stay, at no cost, are worth 0 to the last bit: any other value would be its own image, and what leads
/// there would be worth it, at whatever gap.
#[test]
fn states_that_only_stay_are_worth_nothing() {
    let model = ModelBuilder::new(1.0)
        .state("start")
        .action("goal", 0.0, &[(1, 0.5), (2, 0.5)])
        .action("stay", 0.0, &[(1, 1.0)])
        .state("nowhere")
        .action("stay", 0.0, &[(1, 1.0)])
        .state("pay")
        .action("end", 1.0, &[(3, 1.0)])
        .terminal("end")
        .build()
        .unwrap();
    for direction in [Direction::Worst, Direction::Best] {
        let options = Options { stop: Stop::at_gap(1e-12), direction, ..asked(Criterion::Total) };
        let found = solve(&model, &UncertaintySet::kl(0.1).per_action(), &options).unwrap();
        assert_eq!(found.status, Status::Certified);
        assert!(found.upper[0] - found.lower[0] <= 1e-12 && found.ending.as_ref().unwrap().surely);
        holds(&found, 0, 0.0);
    }
}
