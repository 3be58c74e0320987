//! One model under many radii.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::prelude::*;
use robust_mdp::sets;
use robust_mdp::{Error, Interrupt, evaluate};

use crate::background::{self, Patience};
use crate::errors::raised;
use crate::model::Model;
use crate::set::UncertaintySet;
use crate::solution::Solution;
use crate::solve::options;

/// Solves for every radius, in their order, and evaluates each policy under the nominal kernel.
#[pyfunction]
#[pyo3(signature = (model, set, radii, asked, warm, progress))]
pub(crate) fn sweep_radius<'py>(
    py: Python<'py>,
    model: &Model,
    set: &UncertaintySet,
    radii: Vec<f64>,
    asked: &str,
    warm: bool,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Vec<(Solution, (f64, f64))>> {
    let options = options(asked)?;
    let total = radii.len();
    let done = Arc::new(AtomicUsize::new(0));
    let counter = done.clone();
    let (model, set) = (model.model.clone(), set.set.clone());
    let job = move |interrupt: &Interrupt| {
        // The policy's value under the nominal kernel, at p₀.
        let each = |_: &sets::UncertaintySet, solution: robust_mdp::Solution, threads| {
            let none = sets::UncertaintySet::none();
            let (gap, threads) = (options.stop.gap, Some(threads));
            let valued = evaluate(&model, &none, &solution.policy, gap, threads, interrupt)?;
            counter.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Error>((solution, valued.nominal.initial))
        };
        robust_mdp::sweep_radius(&model, &set, &radii, &options, warm, interrupt, each)
    };
    let mut said = 0;
    let mut report = |_: Python<'_>| {
        let now = done.load(Ordering::Relaxed);
        match &progress {
            Some(callback) if now > said => {
                said = now;
                callback.call1((now, total)).map(|_| ())
            }
            _ => Ok(()),
        }
    };
    let solved = background::run(py, Patience::default(), &mut report, job)?;
    report(py)?;
    let wrap = |(solution, nominal)| (Solution { solution }, nominal);
    // An interrupt, the one thing that leaves radii out, has become an exception by now.
    Ok(solved.map_err(|e| raised(py, e))?.into_iter().flatten().map(wrap).collect())
}
