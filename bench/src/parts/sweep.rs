//! One warm robust sweep, exact to rounding, and a certificate, made and verified, in units of a
//! nominal sweep of the same model.

use std::hint::black_box;
use std::time::Instant;

use robust_mdp::error::name_of;
use robust_mdp::measure::{certificate_passes, exact_sweep_seconds, nominal_sweep};
use robust_mdp::{Model, Options, Oracle, Stop, certify, solve, verify};

use super::{Plan, product};
use crate::Failure;
use crate::instance::{self, Case};
use crate::record::{Record, active_share};
use crate::timing::least;

/// How far the values of consecutive sweeps are apart.
pub(super) const SHIFT: f64 = 1e-6;

/// Sweeps are as exact as rounding allows.
const TOLERANCE: f64 = 0.0;

/// No more repeats than fit in so many seconds.
const SECONDS: f64 = 2.0;

pub(super) fn cases(plan: &Plan) -> Vec<Case> {
    let mut cases = plan.square(&[0.8]);
    cases.extend(product(&instance::SPARSE, plan.choose(&[100], &[20_000]), &[0.8]));
    cases
}

pub(super) fn measure(plan: &Plan, case: &Case) -> Result<Vec<Record>, Failure> {
    let model = case.instance.model()?;
    let set = case.uncertainty();
    let stop = Stop { time_limit: Some(plan.limit()), ..Stop::at_gap(1e-6) };
    let near = solve(&model, &set, &Options { stop, ..Options::default() })?;
    let sweeps = |repeats, threads| {
        exact_sweep_seconds(&model, &set, &near.values, SHIFT, TOLERANCE, repeats, threads)
    };
    let most = plan.choose(10, 300);
    let mut nominal = Record::new("sweep", &case.nominal(), model.transitions(), "nominal-sweep");
    nominal.repeats = most;
    nominal.seconds = nominal_seconds(&model, &near.values, most);
    let mut records = Vec::new();
    for threads in [1, 2] {
        let fit = (SECONDS / least(sweeps(2, threads)?.0)).clamp(4.0, most as f64);
        let (times, passes) = sweeps(fit as usize, threads)?;
        let mut robust = Record::new("sweep", case, model.transitions(), "sweep");
        robust.oracle = Some(name_of(&Oracle::Exact));
        robust.threads = threads;
        robust.repeats = times.len();
        robust.active = Some(active_share(&near.policy));
        robust.kernel_passes = Some(passes);
        robust.seconds = least(times);
        robust.set_ratio("nominal_sweep", nominal.seconds);
        records.push(robust);
    }
    let (certificate, _) = certify(&model, &set, &near, Some(1))?;
    let certified = || certify(&model, &set, &near, Some(1)).is_ok();
    let verified = || verify(&model, &certificate, Some(1)).is_ok();
    for (method, run) in [("certify", &certified as &dyn Fn() -> bool), ("verify", &verified)] {
        let mut record = Record::new("sweep", case, model.transitions(), method);
        let times = repeated(run, most);
        (record.threads, record.repeats) = (1, times.len());
        record.seconds = least(times);
        record.kernel_passes = match method {
            "certify" => Some(certificate_passes(&model, &set, &near)?),
            _ => None,
        };
        record.set_ratio("nominal_sweep", nominal.seconds);
        records.push(record);
    }
    records.insert(0, nominal);
    Ok(records)
}

/// Seconds of each run that succeeds, after one to warm up, as many as there is time for.
fn repeated(run: &dyn Fn() -> bool, most: usize) -> Vec<f64> {
    let begun = Instant::now();
    let mut times = Vec::new();
    while times.len() <= most && (times.len() < 4 || begun.elapsed().as_secs_f64() < SECONDS) {
        let started = Instant::now();
        let succeeded = black_box(run());
        let seconds = started.elapsed().as_secs_f64();
        times.push(if succeeded { seconds } else { f64::INFINITY });
    }
    times.split_off(1)
}

pub(super) fn nominal_seconds(model: &Model, values: &[f64], repeats: usize) -> f64 {
    let mut out = vec![0.0; model.states()];
    let run = |_| {
        let started = Instant::now();
        nominal_sweep(model, black_box(values), &mut out);
        black_box(&out);
        started.elapsed().as_secs_f64()
    };
    least((0..repeats + 1).map(run).skip(1))
}
