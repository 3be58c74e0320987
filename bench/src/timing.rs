//! Time of a solve: the least over repeats, around the whole call.

use std::time::{Duration, Instant};

use robust_mdp::{Model, Options, Status, Stop, solve};

use crate::instance::Case;
use crate::record::{Choice, Record};

/// How long to repeat a measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// At most so often.
    pub(crate) repeats: usize,
    /// No further repeat after so many seconds in all.
    pub(crate) seconds: f64,
}

/// How a solve ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Until {
    pub(crate) gap: f64,
    pub(crate) limit: Duration,
    pub(crate) max_sweeps: u64,
}

impl Until {
    pub(crate) fn gap(gap: f64, limit: Duration) -> Until {
        Until { gap, limit, max_sweeps: u64::MAX }
    }
}

pub(crate) fn least(times: impl IntoIterator<Item = f64>) -> f64 {
    times.into_iter().fold(f64::INFINITY, f64::min)
}

/// Solves the case by the choice, repeatedly, and notes what it took. An error becomes a result of
/// status `failed`; a run that is not certified is not repeated.
pub(crate) fn solve_case(
    suite: &str,
    case: &Case,
    model: &Model,
    choice: Choice,
    threads: usize,
    until: Until,
    patience: Patience,
) -> Record {
    let options = Options {
        method: choice.method,
        oracle: choice.oracle,
        stop: Stop {
            gap: Some(until.gap),
            max_sweeps: until.max_sweeps,
            time_limit: Some(until.limit),
        },
        threads: Some(threads),
        fom: choice.fom(),
        whole_programs: choice.whole_programs,
        ..Options::default()
    };
    let set = case.uncertainty();
    let mut record = Record::new(suite, case, model.transitions(), &choice.name());
    record.oracle = choice.oracle_name();
    record.gap_asked = Some(until.gap);
    record.threads = threads;
    record.seconds = f64::INFINITY;
    let begun = Instant::now();
    loop {
        let started = Instant::now();
        let solution = match solve(model, &set, &options) {
            Ok(solution) => solution,
            Err(error) => {
                record.status = "failed".into();
                record.note = Some(error.to_string());
                record.seconds = started.elapsed().as_secs_f64();
                return record;
            }
        };
        record.seconds = record.seconds.min(started.elapsed().as_secs_f64());
        record.repeats += 1;
        if record.repeats == 1 {
            record.fill(&solution);
        }
        let spent = begun.elapsed().as_secs_f64();
        let over = record.repeats >= patience.repeats || spent >= patience.seconds;
        if over || solution.status != Status::Certified {
            return record;
        }
    }
}
