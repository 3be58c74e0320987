//! What is optimised other than discounted worst cases, against calculations by hand, brute force and limits.

use robust_mdp::instances::{Costs, Garnet};
use robust_mdp::sets::UncertaintySet;
use robust_mdp::{Criterion, Direction, Model, ModelBuilder, Objective, Options, Status, solve};

fn asked(criterion: Criterion) -> Options {
    Options { criterion, ..Options::default() }
}

fn garnet(states: usize, actions: usize, discount: f64, seed: u64) -> Model {
    let costs = if seed.is_multiple_of(2) { Costs::Iid } else { Costs::StateDriven };
    let garnet = Garnet { states, actions, branching: 0.6, costs, band: None, discount, seed };
    garnet.model().expect("a model")
}

fn sets() -> Vec<UncertaintySet> {
    vec![
        UncertaintySet::kl(0.1),
        UncertaintySet::ellipsoid(0.05),
        UncertaintySet::l1(0.3).per_action(),
        UncertaintySet::hellinger(0.05),
        UncertaintySet::chi2(0.2).per_action(),
    ]
}

/// Σ_a κ_a d ≤ α: the least expected value of the next costs over one row, by a fine search over mixtures with
/// nothing but the definition of total variation.
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

#[test]
fn the_average_is_the_limit_of_discounted_costs() {
    for (seed, set) in sets().into_iter().enumerate() {
        let model = garnet(12, 4, 0.9, seed as u64);
        let average = solve(&model, &set, &asked(Criterion::Average)).unwrap();
        assert_eq!(average.status, Status::Certified, "{set:?}");
        let at = |discount: f64| {
            let model = model.clone().with_discount(discount).unwrap();
            let found = solve(&model, &set, &Options::default()).unwrap();
            (1.0 - discount) * found.values[0]
        };
        // (1 − λ)v_λ = g + (1 − λ)h + o(1 − λ): extrapolated.
        let (near, nearer) = (at(1.0 - 2e-4), at(1.0 - 1e-4));
        let limit = 2.0 * nearer - near;
        let (low, high) = average.initial_value;
        assert!(
            low - 1e-5 <= limit && limit <= high + 1e-5,
            "{set:?}: {low} to {high}, limit {limit}"
        );
        assert!(high - low <= average.target_gap);
        assert!(average.lower.iter().all(|l| *l == average.lower[0]));
        println!("{:?} {} sweeps", set.distance, average.work.sweeps);
    }
}

#[test]
fn the_best_case_is_that_of_one_row_with_the_whole_budget() {
    for (seed, set) in sets().into_iter().enumerate() {
        let model = garnet(8, 3, 0.9, seed as u64);
        let best = Options { direction: Direction::Best, ..Options::default() };
        let found = solve(&model, &set, &best).unwrap();
        let worst = solve(&model, &set, &Options::default()).unwrap();
        let nominal = solve(&model, &UncertaintySet::none(), &Options::default()).unwrap();
        assert_eq!(found.status, Status::Certified);
        for s in 0..model.states() {
            assert!(found.upper[s] < nominal.lower[s] && nominal.upper[s] < worst.lower[s]);
        }
        println!("{:?}: {} {} sweeps", set.distance, found.values[0], found.work.sweeps);
    }
}

/// A walk on a line that ends at 0: a step costs 1 and goes left with probability p, else right.
fn walk(states: usize, options: &[f64]) -> Model {
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
/// goal brings 1. A policy may stay in the first row for ever.
fn frozen_lake() -> Model {
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
            0 => {
                if s % 4 > 0 {
                    s - 1
                } else {
                    s
                }
            }
            1 => {
                if s < 12 {
                    s + 4
                } else {
                    s
                }
            }
            2 => {
                if s % 4 < 3 {
                    s + 1
                } else {
                    s
                }
            }
            _ => {
                if s > 3 {
                    s - 4
                } else {
                    s
                }
            }
        };
        for a in 0..4 {
            model.add_action(None, 0.0);
            for way in [a + 3, a, a + 1] {
                let next = to(way);
                model.add_transition(next, 1.0 / 3.0, if MAP[next] == b'G' { 1.0 } else { 0.0 });
            }
        }
    }
    model.build().unwrap()
}

#[test]
fn frozen_lake_without_a_discount() {
    let model = frozen_lake();
    let nominal = solve(&model, &UncertaintySet::none(), &asked(Criterion::Total)).unwrap();
    assert_eq!(nominal.status, Status::Certified);
    // The best policy reaches the goal with probability 14/17.
    let (low, high) = (nominal.lower[0], nominal.upper[0]);
    assert!(low <= 14.0 / 17.0 && 14.0 / 17.0 <= high && high - low < 1e-7, "{low} {high}");
    let robust = solve(&model, &UncertaintySet::kl(0.02), &asked(Criterion::Total)).unwrap();
    println!("{:?} {} {}", robust.status, robust.lower[0], robust.upper[0]);
    assert_eq!(robust.status, Status::Certified);
    assert!(!robust.ending.unwrap().surely);
}

/// Of a single kernel too the steps to the end are those of the policy that takes longest, and a policy that never ends is
/// one.
#[test]
fn every_policy_is_asked_how_long_it_takes() {
    let model = walk(3, &[0.5, 0.9]);
    let slow = solve(&walk(3, &[0.5]), &UncertaintySet::none(), &asked(Criterion::Total)).unwrap();
    let radius_0 = UncertaintySet::kl(0.0);
    for set in [UncertaintySet::none(), radius_0] {
        let found = solve(&model, &set, &asked(Criterion::Total)).unwrap();
        let ending = found.ending.unwrap();
        assert!(ending.surely);
        for s in 0..3 {
            assert!(ending.steps[s] >= slow.lower[s], "{:?}, {:?}", ending.steps, slow.lower);
        }
        let found = solve(&walk(3, &[0.0, 0.9]), &set, &asked(Criterion::Total)).unwrap();
        assert!(!found.ending.unwrap().surely);
    }
}
