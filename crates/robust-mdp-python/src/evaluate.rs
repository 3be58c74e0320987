//! Policies that the user brings, and the kernels that are worst for them.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use robust_mdp::error::name_of;
use robust_mdp::{Interrupt, PolicyValue};

use crate::background::{self, Patience};
use crate::errors::raised;
use crate::model::Model;
use crate::set::UncertaintySet;

type Array<'py, T> = Bound<'py, PyArray1<T>>;
/// Lower and upper bounds, and those at p₀.
type Valued<'py> = (Array<'py, f64>, Array<'py, f64>, (f64, f64));

fn valued<'py>(py: Python<'py>, value: PolicyValue) -> Valued<'py> {
    let PolicyValue { lower, upper, initial, .. } = value;
    (PyArray1::from_vec(py, lower), PyArray1::from_vec(py, upper), initial)
}

/// Status, worst case, nominal value, seconds, the gap asked for.
type Evaluation<'py> = (String, Valued<'py>, Valued<'py>, f64, f64);

/// Worst-case and nominal value of a policy.
#[pyfunction]
#[pyo3(signature = (model, set, policy, gap, threads))]
pub(crate) fn evaluate<'py>(
    py: Python<'py>,
    model: &Model,
    set: &UncertaintySet,
    policy: PyReadonlyArray1<'py, f64>,
    gap: Option<f64>,
    threads: Option<usize>,
) -> PyResult<Evaluation<'py>> {
    let (model, set, policy) = (model.model.clone(), set.set.clone(), policy.as_slice()?.to_vec());
    let threads = background::threads(threads);
    let job = move |interrupt: &Interrupt| {
        robust_mdp::evaluate(&model, &set, &policy, gap, threads, interrupt)
    };
    let done =
        background::run(py, Patience::default(), |_| Ok(()), job)?.map_err(|e| raised(py, e))?;
    let worst = valued(py, done.worst);
    let nominal = valued(py, done.nominal);
    Ok((name_of(&done.status), worst, nominal, done.seconds, done.target_gap))
}

/// Row starts, next states and probabilities of the kernel that is worst for a policy.
#[pyfunction]
#[pyo3(signature = (model, set, policy, values, threads))]
#[allow(clippy::type_complexity)] // three arrays
pub(crate) fn worst_kernel<'py>(
    py: Python<'py>,
    model: &Model,
    set: &UncertaintySet,
    policy: PyReadonlyArray1<'py, f64>,
    values: PyReadonlyArray1<'py, f64>,
    threads: Option<usize>,
) -> PyResult<(Array<'py, i64>, Array<'py, i32>, Array<'py, f64>)> {
    let (model, set) = (model.model.clone(), set.set.clone());
    let (policy, values) = (policy.as_slice()?.to_vec(), values.as_slice()?.to_vec());
    let threads = background::threads(threads);
    let job = move |interrupt: &Interrupt| {
        robust_mdp::worst_kernel_rows(&model, &set, &policy, &values, threads, interrupt)
    };
    let kernel =
        background::run(py, Patience::default(), |_| Ok(()), job)?.map_err(|e| raised(py, e))?;
    // An interrupt has become an exception by now.
    let kernel = kernel.ok_or_else(|| PyKeyboardInterrupt::new_err(()))?;
    let starts = PyArray1::from_iter(py, kernel.starts.iter().map(|&start| start as i64));
    let next = PyArray1::from_iter(py, kernel.next.iter().map(|&next| next as i32));
    Ok((starts, next, PyArray1::from_vec(py, kernel.prob)))
}
