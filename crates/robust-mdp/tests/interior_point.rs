//! The interior-point oracle's enclosures hold a plain reference whatever the solver says, and are
//! narrow where nothing is degenerate.

mod cases;
#[allow(dead_code)] // other tests use more of these
mod plain;
mod reference;

use cases::{adds_up, told};
use plain::{Plain, Row};
use reference::{FAMILIES, Family};
use robust_mdp::instances::{Costs, Garnet, Xoshiro256};
use robust_mdp::measure::bellman;
use robust_mdp::sets::{Needs, Radius, UncertaintySet};
use robust_mdp::{Model, Oracle};

/// Every set with this budget, shared, shared with large weights and a budget to match, and of every row.
fn sets(model: &Model, radius: f64) -> Vec<UncertaintySet> {
    let of = |family: &Family| {
        let set = told((family.set)(), model, &mut Xoshiro256::new(model.rows() as u64));
        let set = set.with_radius(Radius::Uniform(radius));
        let weights = (0..model.rows()).map(|r| 1e8 * (1.0 + (r % 3) as f64)).collect();
        let weighted = set.clone().with_weights(weights).with_radius(Radius::Uniform(1e8 * radius));
        match adds_up(set.distance) {
            true => vec![set.clone().per_action(), set, weighted],
            false => vec![set.per_action()],
        }
    };
    let fits = |family: &&Family| {
        let told = (family.set)().distance.needs() != Needs::Intervals || model.has_intervals();
        told && family.takes(Oracle::InteriorPoint)
    };
    FAMILIES.iter().filter(fits).flat_map(of).collect()
}

fn random_values(states: usize, seed: u64) -> Vec<f64> {
    let mut random = Xoshiro256::new(seed);
    (0..states).map(|_| 20.0 * random.uniform() - 5.0).collect()
}

/// Widest enclosure over the span of the objectives, after checking all of them.
fn checked(model: &Model, set: &UncertaintySet, v: &[f64]) -> f64 {
    let (lower, upper, policy) = bellman(model, set, Oracle::InteriorPoint, v).unwrap();
    let exact = reference::bellman(model, set, v);
    let size = v.iter().fold(model.largest_cost(), |m, v| m.max(v.abs()));
    let mut widest = 0.0_f64;
    for s in (0..model.states()).filter(|&s| !model.is_terminal(s)) {
        let (low, high) = (lower[s], upper[s]);
        assert!(low <= high, "state {s}: [{low:e}, {high:e}]\n{set:?}\n{model:?}");
        let slack = 1e-9 * size;
        assert!(
            low <= exact[s] + slack && exact[s] - slack <= high,
            "state {s}: [{low:e}, {high:e}] without {:e}\n{set:?} {v:?}\n{model:?}",
            exact[s]
        );
        let x = &policy[model.rows_of(s)];
        assert!(x.iter().all(|x| *x >= 0.0) && (x.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        widest = widest.max(high - low);
    }
    if size > 0.0 { widest / size } else { widest }
}

fn holds(plain: &Plain, radius: f64, v: &[f64]) -> f64 {
    let model = plain.model();
    sets(&model, radius).iter().map(|set| checked(&model, set, v)).fold(0.0, f64::max)
}

/// Bounds are numbers in order, where the reference cannot follow.
fn finite(plain: &Plain, radius: f64, v: &[f64]) {
    let model = plain.model();
    for set in sets(&model, radius) {
        let (lower, upper, _) = bellman(&model, &set, Oracle::InteriorPoint, v).unwrap();
        let ordered = |(l, u): (&f64, &f64)| l <= u && l.is_finite() && u.is_finite();
        assert!(lower.iter().zip(&upper).all(ordered), "{set:?} {lower:?} {upper:?}");
    }
}

const RADII: [f64; 6] = [0.0, 1e-12, 1e-4, 0.05, 0.6, 100.0];

#[test]
fn random_updates() {
    for (k, radius) in RADII.into_iter().enumerate() {
        let seed = k as u64;
        // Every radius meets two of these shapes, and every shape three of the radii.
        let shapes = [(6, 3, 6), (8, 4, 2), (7, 3, 4), (4, 9, 3)];
        for (states, actions, successors) in shapes.into_iter().skip(k % 2).step_by(2) {
            let plain = Plain::random(states, actions, successors, seed + 10 * actions as u64);
            let v = random_values(states, seed);
            for plain in [plain.clone(), plain.tolls(seed)] {
                let widest = holds(&plain, radius, &v);
                assert!(widest <= 1e-5, "radius {radius}: {widest:e}");
            }
        }
    }
}

#[test]
fn corners() {
    for radius in RADII {
        let v = random_values(6, 4);
        holds(&Plain::random(6, 1, 3, 1), radius, &v); // one action
        holds(&Plain::random(1, 3, 1, 2), radius, &[3.0]); // one state
        holds(&Plain::random(1, 1, 1, 3).tolls(3), radius, &[-3.0]);
        holds(&Plain::random(6, 3, 1, 4), radius, &v); // deterministic
        holds(&Plain::random(6, 3, 3, 5), radius, &[7.0; 6]); // nothing at stake
        holds(&Plain::random(6, 3, 3, 6).costs(|_| 0.0), radius, &[0.0; 6]);
        holds(&Plain::random(6, 3, 3, 7), radius, &[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
        let mut ties = Plain::random(6, 3, 3, 8);
        ties.states[2].clear(); // terminal
        let copy = ties.states[0][0].clone();
        ties.states[0].extend([copy.clone(), copy]);
        holds(&ties, radius, &v);
    }
}

#[test]
fn values_that_differ_by_rounding() {
    for radius in RADII {
        for size in [1.0, 1e8] {
            let v: Vec<f64> =
                (0..6).map(|i| size * (1.0 + f64::EPSILON * f64::from(i % 3))).collect();
            holds(&Plain::random(6, 3, 4, 9), radius, &v);
        }
    }
}

#[test]
fn zero_and_tiny_probabilities() {
    for (j, radius) in RADII.into_iter().enumerate() {
        for (k, tiny) in [0.0, 1e-300, 1e-100, 1e-14, 1e-9, 1e-4].into_iter().enumerate() {
            let row = |cost: f64, to: [usize; 3]| Row {
                cost,
                next: vec![(to[0], 0.6, 0.0), (to[1], 0.4 - tiny, 0.0), (to[2], tiny, 0.0)],
            };
            let rows = vec![row(1.0, [0, 1, 2]), row(1.5, [1, 2, 0]), row(0.5, [2, 3, 1])];
            let plain = Plain { discount: 0.9, states: vec![rows; 4] };
            let vectors = [[1.0, 2.0, 9.0, -4.0], [9.0, 2.0, 1.0, 5.0]];
            // One for each radius and probability, in turn.
            let v = vectors[(j + k) % 2];
            // The reference by conjugates knows forty decades of multipliers.
            let model = plain.model();
            let known = |set: &&UncertaintySet| {
                tiny == 0.0 || tiny > 1e-20 || !reference::known(set).is_slow()
            };
            for set in sets(&model, radius).iter().filter(known) {
                checked(&model, set, &v);
            }
            finite(&plain, radius, &v);
        }
    }
}

#[test]
fn costs_of_any_size() {
    for radius in [1e-12, 1e-4, 0.05, 0.6] {
        for size in [1e-306, 1e-300, 1e-8, 1e8, 1e300] {
            let plain = Plain::random(6, 3, 4, 11).tolls(2).scaled(size);
            let v: Vec<f64> = random_values(6, 5).iter().map(|v| size * v).collect();
            // The reference multiplies values of this size.
            if (1e-100..1e100).contains(&size) {
                assert!(holds(&plain, radius, &v) <= 1e-5);
            }
            finite(&plain, radius, &v);
        }
        // A large offset leaves the digits of the differences alone.
        let plain = Plain::random(6, 3, 4, 12).costs(|c| 1e8 + c);
        holds(&plain, radius, &random_values(6, 6));
    }
}

#[test]
fn narrow_on_larger_models() {
    for (n, costs) in [(10, Costs::Iid), (20, Costs::StateDriven), (30, Costs::StateDriven)] {
        let garnet = Garnet { states: n, actions: n, costs, seed: 7, ..Garnet::default() };
        let model = garnet.model().unwrap();
        let v = random_values(n, 8);
        let ball = [0.01, 0.3].map(UncertaintySet::ellipsoid);
        let kl = [0.03, 0.3, 3.0].map(UncertaintySet::kl);
        for set in ball.iter().chain(&kl) {
            let (lower, upper, _) = bellman(&model, set, Oracle::InteriorPoint, &v).unwrap();
            let widest = lower.iter().zip(&upper).fold(0.0_f64, |m, (l, u)| m.max(u - l));
            assert!(widest <= 1e-5 * 20.0, "{n} states, {set:?}: {widest:e}");
        }
    }
}
