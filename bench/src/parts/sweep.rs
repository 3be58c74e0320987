//! One warm robust sweep in units of a nominal sweep of the same model, one thread.

use std::hint::black_box;
use std::time::Instant;

use robust_mdp::measure::nominal_sweep;
use robust_mdp::{Model, Options, Stop, solve};

use super::Plan;
use crate::instance::Case;
use crate::record::{Record, active_share, word};
use crate::timing::least;
use crate::{Failure, exact_sweep};

pub(super) fn cases(plan: &Plan) -> Vec<Case> {
    plan.cases(&[0.8])
}

pub(super) fn measure(plan: &Plan, case: &Case) -> Result<Vec<Record>, Failure> {
    let model = case.instance.model()?;
    let set = case.uncertainty();
    let stop = Stop { time_limit: Some(plan.limit()), ..Stop::at_gap(1e-3) };
    let near = solve(&model, &set, &Options { stop, ..Options::default() })?;
    let repeats = plan.choose(10, 200);
    let mut nominal = Record::new("sweep", &case.nominal(), model.transitions(), "nominal-sweep");
    nominal.repeats = repeats;
    nominal.seconds = nominal_seconds(&model, &near.values, repeats);
    let mut records = Vec::new();
    for threads in [1, 2] {
        let mut robust = Record::new("sweep", case, model.transitions(), "sweep");
        robust.oracle = Some(word(&exact_sweep::ORACLE));
        robust.threads = threads;
        robust.repeats = repeats;
        robust.active = Some(active_share(&near.policy));
        robust.seconds = least(exact_sweep::seconds(&model, &set, &near.values, repeats, threads)?);
        robust.set_ratio("nominal_sweep", nominal.seconds);
        records.push(robust);
    }
    records.insert(0, nominal);
    Ok(records)
}

fn nominal_seconds(model: &Model, values: &[f64], repeats: usize) -> f64 {
    let mut out = vec![0.0; model.states()];
    let sweep = if model.is_dense() { nominal_sweep } else { sparse_sweep };
    let run = |_| {
        let started = Instant::now();
        sweep(model, black_box(values), &mut out);
        black_box(&out);
        started.elapsed().as_secs_f64()
    };
    least((0..repeats.max(1) + 1).map(run).skip(1))
}

/// The same operator on compressed rows.
fn sparse_sweep(model: &Model, values: &[f64], out: &mut [f64]) {
    for (s, out) in out.iter_mut().enumerate() {
        let mut best = f64::INFINITY;
        for r in model.rows_of(s) {
            let row = model.row(r);
            let next = row.next.unwrap_or_default();
            let mean: f64 = row.prob.iter().zip(next).map(|(p, &to)| p * values[to as usize]).sum();
            best = best.min(row.cost + model.discount() * mean);
        }
        *out = best;
    }
}
