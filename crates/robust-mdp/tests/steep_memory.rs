//! Multipliers of values that nearly agree say nothing of values far apart: they are steeper than
//! any kernel, so that what they cost is all rounding.

use robust_mdp::instances::Xoshiro256;
use robust_mdp::measure::exact_sweeps;
use robust_mdp::sets::UncertaintySet;
use robust_mdp::{Model, ModelBuilder};

fn model(states: usize, actions: usize, random: &mut Xoshiro256) -> Model {
    let mut builder = ModelBuilder::new(0.9);
    for _ in 0..states {
        builder.add_state(None);
        for _ in 0..actions {
            // Rows differ in their largest values: some states are out of reach.
            let reach = (0..states).map(|_| random.below(2) as f64 * (0.1 + random.uniform()));
            let mut weight: Vec<f64> = reach.collect();
            weight[random.below(states as u64) as usize] += 0.1;
            let total: f64 = weight.iter().sum();
            builder.add_action(None, 0.0);
            for (next, w) in weight.iter().enumerate() {
                builder.add_transition(next, w / total, 0.0);
            }
        }
    }
    builder.build().expect("a valid model")
}

/// Sweeps at values that nearly agree and then at others, against sweeps at the latter alone.
#[test]
fn bounds_hold_after_a_leap_of_the_spread() {
    let mut random = Xoshiro256::new(1);
    for case in 0..2000 {
        let random = &mut random;
        let (states, actions) = (2 + case % 7, 1 + case / 7 % 5);
        let model = model(states, actions, random);
        let radius = 10f64.powf(2.0 * random.uniform() - 1.5);
        let set = match case % 4 {
            0 => UncertaintySet::ellipsoid(0.1 * radius),
            1 => UncertaintySet::kl(radius).per_action(),
            _ => UncertaintySet::kl(radius),
        };
        let mut values =
            |scale: f64| (0..states).map(|_| scale * random.uniform()).collect::<Vec<f64>>();
        let (near, far) = (values([1e-20, 1e-14, 1e-9][case % 3]), values(100.0));
        let uniform = vec![1.0 / actions as f64; model.rows()];
        let policy = (case % 8 > 5).then_some(uniform);
        let sweep = |at: &[&Vec<f64>]| {
            let sweeps: Vec<_> = at.iter().map(|v| (v.to_vec(), policy.clone())).collect();
            exact_sweeps(&model, &set, &sweeps, false)
                .expect("a valid call")
                .pop()
                .expect("a sweep")
        };
        let (warm, cold) = (sweep(&[&near, &far]), sweep(&[&far]));
        for s in 0..states {
            let (low, high) = (warm.lower[s], warm.upper[s]);
            let (lower, upper) = (cold.lower[s], cold.upper[s]);
            let meet = low <= upper + 1e-10 && lower <= high + 1e-10;
            assert!(
                meet,
                "case {case}, state {s}: [{low}, {high}] and [{lower}, {upper}], {set:?}"
            );
            assert!(high - low <= 1e-10, "case {case}, state {s}: [{low}, {high}], {set:?}");
        }
    }
}
