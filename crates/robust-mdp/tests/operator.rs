//! The robust Bellman operator F through its first-order enclosures lower ≤ F(v) ≤ upper:
//! monotone, shift-equivariant, a λ-contraction, and tighter with more steps.

use robust_mdp::geometry::Geometry::{Entropy, Euclidean};
use robust_mdp::instances::{Garnet, Xoshiro256};
use robust_mdp::measure::bellman_enclosure;
use robust_mdp::sets::UncertaintySet;
use robust_mdp::{Model, Setup};

const DISCOUNT: f64 = 0.9;

struct Enclosed {
    lower: Vec<f64>,
    upper: Vec<f64>,
}

fn apply(model: &Model, set: &UncertaintySet, v: &[f64], steps: u64) -> Enclosed {
    let setup =
        Setup { x: Euclidean, y: if set.radius_at(0, 0) > 0.2 { Entropy } else { Euclidean } };
    let (lower, upper) = bellman_enclosure(model, set, setup, v, steps).expect("a valid call");
    Enclosed { lower, upper }
}

/// Models, sets and a few value vectors of both signs.
fn cases() -> Vec<(Model, UncertaintySet, Vec<f64>)> {
    let mut rng = Xoshiro256::new(17);
    let mut all = Vec::new();
    for seed in 0..4 {
        let (states, actions) = (9 + seed as usize, 5);
        let garnet = Garnet {
            states,
            actions,
            branching: 0.6,
            discount: DISCOUNT,
            seed,
            ..Garnet::default()
        };
        let model = garnet.model().expect("a valid instance");
        let v: Vec<f64> = (0..states).map(|_| 40.0 * rng.uniform() - 15.0).collect();
        for set in [
            UncertaintySet::ellipsoid(0.08),
            UncertaintySet::ellipsoid(0.05).per_action(),
            UncertaintySet::ellipsoid(0.1).on_nominal_support(),
            UncertaintySet::kl(0.3),
            UncertaintySet::kl(0.1).per_action(),
            UncertaintySet::none(),
        ] {
            all.push((model.clone(), set, v.clone()));
        }
    }
    all
}

#[test]
fn enclosures_tighten_to_a_point() {
    for (model, set, v) in cases() {
        let widths: Vec<f64> = [10, 100, 1000]
            .map(|steps| {
                let f = apply(&model, &set, &v, steps);
                f.lower.iter().zip(&f.upper).fold(0.0_f64, |m, (l, u)| {
                    assert!(l <= &(u + 1e-11), "{set:?}: {l} > {u}");
                    m.max(u - l)
                })
            })
            .to_vec();
        // O(1/T): a hundred times the steps, well under a tenth of the width.
        assert!(widths[2] <= 0.1 * widths[0] + 1e-10, "{set:?}: {widths:?}");
    }
}

#[test]
fn adding_a_constant_adds_its_discounted_value() {
    for (model, set, v) in cases() {
        let f = apply(&model, &set, &v, 400);
        for k in [-1000.0, -1.0, 0.5, 1e6] {
            let shifted: Vec<f64> = v.iter().map(|v| v + k).collect();
            let g = apply(&model, &set, &shifted, 400);
            for s in 0..v.len() {
                // F(v + k) = F(v) + λk: the enclosures agree to rounding, not only overlap.
                let slack = 1e-9 * (1.0 + k.abs());
                let (low, high) = (f.lower[s] + DISCOUNT * k, f.upper[s] + DISCOUNT * k);
                assert!(g.upper[s] >= low - slack && g.lower[s] <= high + slack, "{set:?} {k}");
                let width = f.upper[s] - f.lower[s];
                assert!((g.upper[s] - high).abs() <= width + slack, "{set:?} {k}");
            }
        }
    }
}

#[test]
fn monotone_and_contracting() {
    let mut rng = Xoshiro256::new(23);
    for (model, set, v) in cases() {
        let above: Vec<f64> = v.iter().map(|v| v + 3.0 * rng.uniform()).collect();
        let other: Vec<f64> = v.iter().map(|v| v + 8.0 * rng.uniform() - 4.0).collect();
        let (f, g, h) = (
            apply(&model, &set, &v, 1000),
            apply(&model, &set, &above, 1000),
            apply(&model, &set, &other, 1000),
        );
        let distance = v.iter().zip(&other).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
        for s in 0..v.len() {
            // v ≤ w implies F(v) ≤ F(w).
            assert!(f.lower[s] <= g.upper[s] + 1e-9, "{set:?}: not monotone at {s}");
            // |F(v) − F(w)| ≤ λ‖v − w‖: what the enclosures prove apart must fit under it.
            let apart = (f.lower[s] - h.upper[s]).max(h.lower[s] - f.upper[s]);
            assert!(apart <= DISCOUNT * distance + 1e-9, "{set:?}: {apart} at {s}");
        }
        // And not vacuously: the enclosures are far narrower than the bound they test.
        let width = f.lower.iter().zip(&f.upper).fold(0.0_f64, |m, (l, u)| m.max(u - l));
        assert!(width < 0.02 * distance, "{set:?}: width {width}");
    }
}
