//! Generators.

use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use robust_mdp::instances::{self, Calibration, Costs, Garnet};

use crate::background::run_quietly;
use crate::errors::raised;
use crate::model::Model;
use crate::names::parse;

/// A random model.
#[pyfunction]
#[pyo3(signature = (states, actions, branching, costs, band, discount, seed))]
pub(crate) fn garnet(
    py: Python<'_>,
    states: usize,
    actions: usize,
    branching: f64,
    costs: &str,
    band: Option<usize>,
    discount: f64,
    seed: u64,
) -> PyResult<Model> {
    let costs = match costs {
        "iid" => Costs::Iid,
        "state-driven" => Costs::StateDriven,
        other => {
            let message = format!("costs {other:?}, expected \"iid\" or \"state-driven\"");
            return Err(PyValueError::new_err(message));
        }
    };
    let garnet = Garnet { states, actions, branching, costs, band, discount, seed };
    Ok(run_quietly(py, move || garnet.model())?.map_err(|e| raised(py, e))?.into())
}

/// Drug levels.
#[pyfunction]
pub(crate) fn healthcare(py: Python<'_>, states: usize, discount: f64) -> PyResult<Model> {
    Ok(run_quietly(py, move || instances::healthcare(states, discount))?
        .map_err(|e| raised(py, e))?
        .into())
}

/// Machine replacement.
#[pyfunction]
pub(crate) fn machine(py: Python<'_>, states: usize, discount: f64) -> PyResult<Model> {
    Ok(run_quietly(py, move || instances::machine_replacement(states, discount))?
        .map_err(|e| raised(py, e))?
        .into())
}

/// One radius a state from sampled kernels.
#[pyfunction]
pub(crate) fn calibrate<'py>(
    py: Python<'py>,
    model: &Model,
    set: &str,
    samples: usize,
    quantile: f64,
    mixing: f64,
    branching: f64,
    seed: u64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let distance = parse("set", set)?;
    let calibration = Calibration { distance, samples, quantile, mixing, branching, seed };
    let model = model.model.clone();
    let radii = run_quietly(py, move || calibration.radii(&model))?.map_err(|e| raised(py, e))?;
    Ok(PyArray1::from_vec(py, radii))
}
