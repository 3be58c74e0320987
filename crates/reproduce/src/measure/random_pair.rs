//! A policy and a kernel that have nothing to do with each other.

use robust_mdp::instances::{Garnet, Xoshiro256};
use robust_mdp::sets::UncertaintySet;
use robust_mdp::{Error, Model, ModelBuilder};

use super::super::problem::Problem;

/// A random policy, and the model under a random kernel: rows of another Garnet model, mixed with
/// the nominal ones as far as the budget allows.
pub(super) fn random_pair(
    problem: &Problem,
    model: &Model,
    set: &UncertaintySet,
) -> Result<(Vec<f64>, Model), Error> {
    let mut random = Xoshiro256::new(problem.seed ^ 0x9e37_79b9);
    let mut policy = vec![0.0; model.rows()];
    for s in 0..model.states() {
        let weights = &mut policy[model.rows_of(s)];
        weights.iter_mut().for_each(|x| *x = -(1.0 - random.uniform()).ln());
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|x| *x /= total);
    }
    let states = model.states();
    let other = Garnet {
        states,
        actions: problem.actions(),
        discount: problem.discount,
        seed: problem.seed ^ 0x5851_f42d,
        ..Garnet::default()
    }
    .model()?;
    let mut builder = ModelBuilder::new(model.discount());
    for s in 0..states {
        builder.add_state(None);
        let rows = model.rows_of(s);
        let dense = |model: &Model, r: usize| {
            let mut row = vec![0.0; states];
            model.row(r).entries().for_each(|(next, p, _)| row[next] += p);
            row
        };
        let pairs: Vec<(Vec<f64>, Vec<f64>)> =
            rows.clone().map(|r| (dense(model, r), dense(&other, r))).collect();
        let far: f64 = pairs
            .iter()
            .map(|(y0, y)| y0.iter().zip(y).map(|(a, b)| 0.5 * (a - b) * (a - b)).sum::<f64>())
            .sum();
        let budget = set.radius_at(s, rows.start);
        let share = if far <= budget { 1.0 } else { (budget / far).sqrt() };
        for (r, (y0, y)) in rows.zip(&pairs) {
            builder.add_action(None, model.row(r).cost);
            let mixed: Vec<f64> =
                y0.iter().zip(y).map(|(a, b)| (1.0 - share) * a + share * b).collect();
            let total: f64 = mixed.iter().sum();
            for (next, p) in mixed.iter().enumerate().filter(|e| *e.1 > 0.0) {
                builder.add_transition(next, p / total, 0.0);
            }
        }
    }
    Ok((policy, builder.build()?))
}
