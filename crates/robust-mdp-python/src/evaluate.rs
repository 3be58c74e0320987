//! Policies that the user brings, and the kernels that are worst and best for them.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use robust_mdp::error::name_of;
use robust_mdp::{
    Error, Interrupt, PolicyValue, SparseKernel, best_kernel_rows, evaluate_best, worst_kernel_rows,
};

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

/// Status, worst or best case, nominal value, seconds, the gap asked for.
type Evaluation<'py> = (String, Valued<'py>, Valued<'py>, f64, f64);

/// Worst-case and nominal value of a policy; with `best` its best case in place of the worst.
#[pyfunction]
#[pyo3(signature = (model, set, policy, best, gap, threads))]
pub(crate) fn evaluate<'py>(
    py: Python<'py>,
    model: &Model,
    set: &UncertaintySet,
    policy: PyReadonlyArray1<'py, f64>,
    best: bool,
    gap: Option<f64>,
    threads: Option<usize>,
) -> PyResult<Evaluation<'py>> {
    let (model, set, policy) = (model.model.clone(), set.set.clone(), policy.as_slice()?.to_vec());
    let threads = background::threads(threads);
    let job = move |interrupt: &Interrupt| {
        if best {
            let done = evaluate_best(&model, &set, &policy, gap, threads, interrupt)?;
            Ok((done.status, done.best, done.nominal, done.seconds, done.target_gap))
        } else {
            let done = robust_mdp::evaluate(&model, &set, &policy, gap, threads, interrupt)?;
            Ok((done.status, done.worst, done.nominal, done.seconds, done.target_gap))
        }
    };
    let done = background::run(py, Patience::default(), |_| Ok(()), job)?;
    let (status, case, nominal, seconds, gap) = done.map_err(|e: Error| raised(py, e))?;
    Ok((name_of(&status), valued(py, case), valued(py, nominal), seconds, gap))
}

/// Row starts, next states and probabilities.
type Rows<'py> = (Array<'py, i64>, Array<'py, i32>, Array<'py, f64>);

/// The kernel that is worst for a policy.
#[pyfunction]
#[pyo3(signature = (model, set, policy, values, threads))]
pub(crate) fn worst_kernel<'py>(
    py: Python<'py>,
    model: &Model,
    set: &UncertaintySet,
    policy: PyReadonlyArray1<'py, f64>,
    values: PyReadonlyArray1<'py, f64>,
    threads: Option<usize>,
) -> PyResult<Rows<'py>> {
    kernel(py, model, set, policy.as_slice()?, values.as_slice()?, threads, worst_kernel_rows)
}

/// The kernel that is best for a policy.
#[pyfunction]
#[pyo3(signature = (model, set, policy, values, threads))]
pub(crate) fn best_kernel<'py>(
    py: Python<'py>,
    model: &Model,
    set: &UncertaintySet,
    policy: PyReadonlyArray1<'py, f64>,
    values: PyReadonlyArray1<'py, f64>,
    threads: Option<usize>,
) -> PyResult<Rows<'py>> {
    kernel(py, model, set, policy.as_slice()?, values.as_slice()?, threads, best_kernel_rows)
}

/// Finds a kernel for a policy at its values; nothing if it was interrupted.
type Finder = fn(
    &robust_mdp::Model,
    &robust_mdp::sets::UncertaintySet,
    &[f64],
    &[f64],
    Option<usize>,
    &Interrupt,
) -> Result<Option<SparseKernel>, Error>;

fn kernel<'py>(
    py: Python<'py>,
    model: &Model,
    set: &UncertaintySet,
    policy: &[f64],
    values: &[f64],
    threads: Option<usize>,
    find: Finder,
) -> PyResult<Rows<'py>> {
    let (model, set) = (model.model.clone(), set.set.clone());
    let (policy, values) = (policy.to_vec(), values.to_vec());
    let threads = background::threads(threads);
    let job = move |interrupt: &Interrupt| find(&model, &set, &policy, &values, threads, interrupt);
    let kernel =
        background::run(py, Patience::default(), |_| Ok(()), job)?.map_err(|e| raised(py, e))?;
    // An interrupt has become an exception by now.
    let kernel = kernel.ok_or_else(|| PyKeyboardInterrupt::new_err(()))?;
    let starts = PyArray1::from_iter(py, kernel.starts.iter().map(|&start| start as i64));
    let next = PyArray1::from_iter(py, kernel.next.iter().map(|&next| next as i32));
    Ok((starts, next, PyArray1::from_vec(py, kernel.prob)))
}
