//! Where rows begin is a guess from one state, always the first: which state that is, and how little it
//! is like the others, must not show in what is proved.

use robust_mdp::measure::exact_sweeps;
use robust_mdp::uncertainty::UncertaintySet;
use robust_mdp::{Model, ModelBuilder, instances::Xoshiro256};

const STATES: usize = 24;
const ACTIONS: usize = 12;

/// Dense rows that most budgets lift, state `first` put before all others. One state has costs of
/// another size, one has rows nearly on single states.
fn model(seed: u64, first: usize) -> Model {
    let mut random = Xoshiro256::new(seed);
    let rows: Vec<(f64, Vec<f64>)> = (0..STATES * ACTIONS)
        .map(|r| {
            let s = r / ACTIONS;
            let size = if s == 3 { 500.0 } else { 0.5 };
            let cost = 8.0 * (s * 7 % STATES) as f64 / STATES as f64 + size * random.uniform();
            let power = if s == 5 { 60 } else { 1 };
            let weights: Vec<f64> = (0..STATES).map(|_| random.uniform().powi(power)).collect();
            let total: f64 = weights.iter().sum();
            (cost, weights.iter().map(|w| w / total).collect())
        })
        .collect();
    let old = |new: usize| (new + first) % STATES;
    let mut builder = ModelBuilder::new(0.9);
    for s in 0..STATES {
        builder.add_state(None);
        for (cost, weights) in &rows[old(s) * ACTIONS..(old(s) + 1) * ACTIONS] {
            builder.add_action(None, *cost);
            (0..STATES).for_each(|next| builder.add_transition(next, weights[old(next)], 0.0));
        }
    }
    builder.build().expect("a valid model")
}

#[test]
fn any_state_may_be_the_first() {
    for (seed, radius) in [0.01, 0.1, 0.5, 2.0, 20.0].into_iter().enumerate() {
        let set = UncertaintySet::ellipsoid(radius);
        let mut random = Xoshiro256::new(100 + seed as u64);
        let start: Vec<f64> = (0..STATES).map(|_| 10.0 * random.uniform()).collect();
        // A cold sweep, a far one, a near one and one with all values alike.
        let values: Vec<Vec<f64>> = vec![
            start.clone(),
            start.iter().enumerate().map(|(s, v)| 3.0 * v - (s % 5) as f64).collect(),
            start.iter().enumerate().map(|(s, v)| 3.0 * v - 1.01 * (s % 5) as f64).collect(),
            vec![4.0; STATES],
        ];
        let run = |first: usize| {
            let turned = |v: &Vec<f64>| (0..STATES).map(|s| v[(s + first) % STATES]).collect();
            let sweeps: Vec<_> = values.iter().map(|v| (turned(v), None)).collect();
            exact_sweeps(&model(seed as u64, first), &set, &sweeps).expect("a valid call")
        };
        let plain = run(0);
        for first in [1, 3, 5, 20] {
            for (one, other) in plain.iter().zip(run(first)) {
                for s in 0..STATES {
                    let turned = (s + STATES - first) % STATES;
                    let (l, u) = (other.lower[turned], other.upper[turned]);
                    let apart = (one.lower[s] - u).max(l - one.upper[s]);
                    let wide = (u - l).max(one.upper[s] - one.lower[s]);
                    assert!(apart <= 1e-10, "radius {radius}, first {first}, {s}: {apart}");
                    assert!(wide <= 1e-8, "radius {radius}, first {first}, {s}: {wide}");
                }
            }
        }
    }
}
