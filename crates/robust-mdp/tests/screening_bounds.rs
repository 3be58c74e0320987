//! Rows that are left unread because of their costs change nothing: the same model with part of every
//! cost paid on the transitions, where no screening bound is known in advance, has the same values.

use robust_mdp::instances::Xoshiro256;
use robust_mdp::measure::{bellman, exact_in_place};
use robust_mdp::sets::{Rectangularity, UncertaintySet};
use robust_mdp::{Model, ModelBuilder, Options, Oracle, Status, Stop, solve};

const STATES: usize = 9;
const ACTIONS: usize = 7;

/// Random rows at a scale of costs; `paid` of every cost is paid on the transitions. The first state is
/// terminal.
fn model(seed: u64, discount: f64, scale: f64, spread: f64, paid: f64) -> Model {
    let mut random = Xoshiro256::new(seed);
    let mut builder = ModelBuilder::new(discount);
    builder.add_state(None);
    builder.mark_terminal();
    for _ in 1..STATES {
        builder.add_state(None);
        for _ in 0..ACTIONS {
            let cost = scale * (1.0 + spread * (2.0 * random.uniform() - 1.0));
            builder.add_action(None, cost - paid * scale);
            let weights: Vec<f64> = (0..STATES).map(|_| random.uniform().powi(4)).collect();
            let total: f64 = weights.iter().sum();
            for (next, w) in weights.iter().enumerate() {
                builder.add_transition(next, w / total, paid * scale);
            }
        }
    }
    builder.build().expect("a valid model")
}

fn sets() -> Vec<UncertaintySet> {
    let alone = |set| UncertaintySet { rectangularity: Rectangularity::StateAction, ..set };
    vec![
        UncertaintySet::none(),
        UncertaintySet::ellipsoid(0.05),
        UncertaintySet::ellipsoid(3.0),
        UncertaintySet::ellipsoid(0.05).on_nominal_support(),
        UncertaintySet::kl(0.2),
        alone(UncertaintySet::ellipsoid(0.02)),
        alone(UncertaintySet::kl(0.1)),
    ]
}

/// Discounts, scales of costs and their relative spreads.
fn extremes() -> Vec<(f64, f64, f64)> {
    let mut all = Vec::new();
    for discount in [0.5, 0.99, 0.9999] {
        for scale in [1e8, 1e-8, -1e8, -1.0, 1.0] {
            for spread in [0.0, 1e-9, 0.5, 30.0] {
                all.push((discount, scale, spread));
            }
        }
    }
    all
}

#[test]
fn updates_are_those_of_models_without_screening() {
    for (seed, (discount, scale, spread)) in extremes().into_iter().enumerate() {
        let seed = seed as u64;
        let plain = model(seed, discount, scale, spread, 0.0);
        let paid = model(seed, discount, scale, spread, 0.25);
        assert!(!plain.has_transition_costs() && paid.has_transition_costs());
        let mut random = Xoshiro256::new(1000 + seed);
        for reach in [0.0, 1.0, 1e3] {
            let level = 2.0 * random.uniform() - 1.0;
            let values: Vec<f64> = (0..STATES)
                .map(|s| if s == 0 { 0.0 } else { reach * scale * (level + random.uniform()) })
                .collect();
            let size = scale.abs() * (1.0 + spread) + 2.0 * reach * scale.abs();
            for set in sets() {
                let of =
                    |model| bellman(model, &set, Oracle::Exact, &values).expect("a valid call");
                let ((l, u, _), (pl, pu, _)) = (of(&plain), of(&paid));
                for s in 1..STATES {
                    let apart = (l[s] - pu[s]).max(pl[s] - u[s]);
                    assert!(apart <= 1e-12 * size, "{set:?}, seed {seed}, state {s}: {apart}");
                    assert!(u[s] - l[s] <= 1e-11 * size, "{set:?}: {} .. {}", l[s], u[s]);
                }
            }
        }
    }
}

#[test]
fn sweeps_in_place_begin_alike() {
    for (seed, (discount, scale, spread)) in extremes().into_iter().enumerate() {
        let plain = model(seed as u64, discount, scale, spread, 0.0);
        let paid = model(seed as u64, discount, scale, spread, 0.25);
        let values = vec![0.0; STATES];
        for set in sets() {
            let run = |model| {
                let mut seen = Vec::new();
                exact_in_place(model, &set, &values, 3, &mut |_, _, l, u| seen.push((l, u)))
                    .expect("a valid call");
                seen
            };
            let size = 4.0 * scale.abs() * (1.0 + spread);
            for ((l, u), (pl, pu)) in run(&plain).into_iter().zip(run(&paid)) {
                let apart = (l - pu).max(pl - u);
                assert!(apart <= 1e-11 * size, "{set:?}, seed {seed}: {apart}");
            }
        }
    }
}

#[test]
fn answers_are_those_of_models_without_screening() {
    for (seed, (discount, scale, spread)) in extremes().into_iter().enumerate() {
        let plain = model(seed as u64, discount, scale, spread, 0.0);
        let paid = model(seed as u64, discount, scale, spread, 0.25);
        let gap = 1e-6 * scale.abs() * (1.0 + spread) / (1.0 - discount);
        let options = Options { stop: Stop::at_gap(gap), ..Options::default() };
        for set in sets() {
            let of = |model| solve(model, &set, &options).expect("a valid call");
            let (one, other) = (of(&plain), of(&paid));
            assert_eq!((one.status, other.status), (Status::Certified, Status::Certified));
            for s in 0..STATES {
                let apart = (one.lower[s] - other.upper[s]).max(other.lower[s] - one.upper[s]);
                assert!(apart <= 0.0, "{set:?}, seed {seed}, state {s}: {apart}");
            }
        }
    }
}
