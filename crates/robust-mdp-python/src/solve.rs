//! Solves: options, the trace of a run and progress on the way.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use robust_mdp::geometry::Geometry;
use robust_mdp::{
    Average, Criterion, Direction, FomSettings, Interrupt, Method, Observer, Options, Oracle,
    Progress, Setup, StepRule, Stop, certify, saddle, solve_checkpointed, solve_observed,
};
use serde::Deserialize;

use crate::background::{self, Patience};
use crate::checkpoint::CheckpointFile;
use crate::errors::raised;
use crate::model::Model;
use crate::set::UncertaintySet;
use crate::solution::Solution;

/// What Python asks for, by the names of the library.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    criterion: Criterion,
    direction: Direction,
    deterministic: bool,
    method: Method,
    oracle: Option<Oracle>,
    gap: Option<f64>,
    max_sweeps: Option<u64>,
    time_limit: Option<f64>,
    threads: Option<usize>,
    anderson: Option<usize>,
    first_order: Option<FirstOrder>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FirstOrder {
    setup: Option<(Geometry, Geometry)>,
    weights: Option<f64>,
    epochs: Option<f64>,
    steps: Option<StepRule>,
    method: Option<saddle::FirstOrderMethod>,
    average: Option<Average>,
}

impl FirstOrder {
    fn settings(&self) -> FomSettings {
        let base = FomSettings::of(self.steps.unwrap_or_default());
        FomSettings {
            setup: self.setup.map(|(x, y)| Setup { x, y }),
            weights: self.weights.unwrap_or(base.weights),
            epochs: self.epochs.unwrap_or(base.epochs),
            method: self.method.unwrap_or(base.method),
            average: self.average.unwrap_or(base.average),
            ..base
        }
    }
}

/// Options from JSON.
pub(crate) fn options(json: &str) -> PyResult<Options> {
    let asked: Asked = serde_json::from_str(json).map_err(|e| {
        let text = e.to_string();
        PyValueError::new_err(text.split(" at line").next().unwrap_or_default().to_owned())
    })?;
    // A limit too long for the clock is none.
    let limit = |s: f64| Duration::try_from_secs_f64(s).ok();
    Ok(Options {
        criterion: asked.criterion,
        direction: asked.direction,
        deterministic: asked.deterministic,
        method: asked.method,
        oracle: asked.oracle,
        stop: Stop {
            gap: asked.gap,
            max_sweeps: asked.max_sweeps.unwrap_or(u64::MAX),
            time_limit: asked.time_limit.and_then(limit),
        },
        threads: background::threads(asked.threads),
        fom: asked.first_order.map(|f| f.settings()),
        anderson: asked.anderson,
        ..Options::default()
    })
}

/// Sweeps, seconds, bounds at p₀, gap, residual, kernel passes, first-order steps; bounds at p₀ and gap
/// of FOM-VI's output, NaN where they were not computed.
const COLUMNS: usize = 11;
/// A trace that is longer keeps every other record.
const LONGEST: usize = 2048;

/// What is kept of a run.
#[derive(Default)]
pub(crate) struct Trace {
    records: Vec<Progress>,
    stride: u64,
    seen: u64,
    last: Option<Progress>,
}

impl Trace {
    fn record(&mut self, progress: &Progress) {
        self.stride = self.stride.max(1);
        if self.seen.is_multiple_of(self.stride) {
            self.records.push(*progress);
        }
        self.seen += 1;
        self.last = Some(*progress);
        if self.records.len() >= LONGEST {
            let mut at = 0;
            self.records.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.stride *= 2;
        }
    }

    fn table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        // The last record may have been skipped.
        let kept = self.seen == 0 || (self.seen - 1).is_multiple_of(self.stride);
        let last = self.last.as_ref().filter(|_| !kept);
        let all: Vec<f64> = self.records.iter().chain(last).flat_map(row).collect();
        let rows = all.len() / COLUMNS;
        PyArray1::from_vec(py, all).reshape([rows, COLUMNS])
    }
}

fn row(p: &Progress) -> [f64; COLUMNS] {
    let work = p.work;
    let (sweeps, steps) = (work.sweeps as f64, work.first_order_steps as f64);
    let output = p.output.map_or([f64::NAN; 3], |o| [o.lower, o.upper, o.gap]);
    let run = [sweeps, p.seconds, p.lower, p.upper, p.gap, p.residual, work.kernel_passes(), steps];
    std::array::from_fn(|k| run.get(k).copied().unwrap_or_else(|| output[k - run.len()]))
}

struct Recorder(Arc<Mutex<Trace>>);

impl Observer for Recorder {
    fn progress(&mut self, progress: &Progress) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).record(progress);
    }
}

type Solved<'py> =
    (Solution, Bound<'py, PyArray2<f64>>, Option<Bound<'py, PyBytes>>, Option<String>);

/// The solution, its trace, its certificate if one was asked for, and what is wrong with its checkpoint:
/// a path and the seconds from one to the next. `progress` is called now and then with
/// sweeps, seconds, lower, upper, gap and the gap asked for, and once at the end. With `keep` Ctrl-C ends
/// the run with what there is.
#[pyfunction]
#[pyo3(signature = (model, set, options, start, checkpoint, certified, keep, progress))]
pub(crate) fn solve<'py>(
    py: Python<'py>,
    model: &Model,
    set: &UncertaintySet,
    options: &str,
    start: Option<PyReadonlyArray1<'py, f64>>,
    checkpoint: Option<(PathBuf, f64)>,
    certified: bool,
    keep: bool,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Solved<'py>> {
    let start = start.map(|values| values.as_slice().map(<[f64]>::to_vec)).transpose()?;
    let options = Options { start, ..self::options(options)? };
    let mut file = checkpoint.map(|(path, seconds)| CheckpointFile::new(path, seconds));
    let finish = file.is_some();
    let trace = Arc::new(Mutex::new(Trace::default()));
    let report = |seen: &mut u64| -> PyResult<()> {
        let Some(callback) = &progress else { return Ok(()) };
        let (last, count) = {
            let trace = trace.lock().unwrap_or_else(PoisonError::into_inner);
            (trace.last, trace.seen)
        };
        match last {
            Some(p) if count > *seen => {
                *seen = count;
                callback.call1((p.work.sweeps, p.seconds, p.lower, p.upper, p.gap, p.target))?;
                Ok(())
            }
            _ => Ok(()),
        }
    };
    let mut seen = 0;
    let job = {
        let (model, set) = (model.model.clone(), set.set.clone());
        let mut recorder = Recorder(trace.clone());
        move |interrupt: &Interrupt| {
            let mut solution = match &mut file {
                None => solve_observed(&model, &set, &options, &mut recorder, interrupt)?,
                Some(to) => {
                    solve_checkpointed(&model, &set, &options, &mut recorder, interrupt, to)
                        .map_err(|error| to.explain(error))?
                }
            };
            let mut certificate = None;
            let status = solution.status;
            if certified && !interrupt.is_raised() {
                let (made, proved) = certify(&model, &set, &solution, options.threads)?;
                solution.adopt(proved);
                certificate = Some(made.to_bytes());
            }
            // Whoever has lost patience gets no answer, and may want to go on.
            let heard = keep || !interrupt.is_raised();
            let trouble = file.filter(|_| heard).and_then(|file| file.finish(status));
            Ok((solution, certificate, trouble.map(|error| error.to_string())))
        }
    };
    let patience = Patience { keep, finish };
    let solved = background::run(py, patience, |_| report(&mut seen), job)?;
    let (solution, certificate, trouble) = solved.map_err(|e| raised(py, e))?;
    report(&mut seen)?;
    let table = trace.lock().unwrap_or_else(PoisonError::into_inner).table(py)?;
    let certificate = certificate.map(|bytes| PyBytes::new(py, &bytes));
    Ok((Solution { solution }, table, certificate, trouble))
}

/// For measurements: seconds that the library's own call takes, on this thread.
#[pyfunction]
pub(crate) fn time_solve(
    py: Python<'_>,
    model: &Model,
    set: &UncertaintySet,
    options: &str,
) -> PyResult<f64> {
    let options = self::options(options)?;
    py.detach(|| {
        let start = Instant::now();
        let solved = robust_mdp::solve(&model.model, &set.set, &options);
        let seconds = start.elapsed().as_secs_f64();
        solved.map(|_| seconds)
    })
    .map_err(|e| raised(py, e))
}
