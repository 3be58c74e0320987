//! What a run gave, and its way through pickle.

use numpy::PyArray1;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use robust_mdp::error::name_of;
use robust_mdp::{Criterion, certify};

use crate::background::{run_quietly, threads as allowed};
use crate::errors::raised;
use crate::model::Model;
use crate::set::UncertaintySet;

/// A solution as the library has it.
#[pyclass(frozen, module = "robust_mdp._native")]
pub(crate) struct Solution {
    pub(crate) solution: robust_mdp::Solution,
}

type Array<'py> = Bound<'py, PyArray1<f64>>;

#[pymethods]
impl Solution {
    #[getter]
    fn lower<'py>(&self, py: Python<'py>) -> Array<'py> {
        PyArray1::from_slice(py, &self.solution.lower)
    }

    #[getter]
    fn upper<'py>(&self, py: Python<'py>) -> Array<'py> {
        PyArray1::from_slice(py, &self.solution.upper)
    }

    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> Array<'py> {
        PyArray1::from_slice(py, &self.solution.values)
    }

    /// One probability a row.
    #[getter]
    fn policy<'py>(&self, py: Python<'py>) -> Array<'py> {
        PyArray1::from_slice(py, &self.solution.policy)
    }

    #[getter]
    fn status(&self) -> String {
        name_of(&self.solution.status)
    }

    #[getter]
    fn criterion(&self) -> &'static str {
        self.solution.criterion.name()
    }

    #[getter]
    fn horizon(&self) -> Option<u32> {
        match self.solution.criterion {
            Criterion::Finite { horizon } => Some(horizon),
            Criterion::Discounted | Criterion::Total | Criterion::Average => None,
        }
    }

    #[getter]
    fn direction(&self) -> &'static str {
        self.solution.direction.name()
    }

    #[getter]
    fn deterministic(&self) -> bool {
        self.solution.deterministic
    }

    /// Lower bounds, upper bounds and policy of a step of a finite horizon.
    fn stage<'py>(&self, py: Python<'py>, step: usize) -> PyResult<[Array<'py>; 3]> {
        let Some(stage) = self.solution.stages.get(step) else {
            return Err(PyIndexError::new_err(format!("there is no step {step}")));
        };
        Ok([&stage.lower, &stage.upper, &stage.policy].map(|v| PyArray1::from_slice(py, v)))
    }

    /// Relative values of an average.
    #[getter]
    fn bias<'py>(&self, py: Python<'py>) -> Option<Array<'py>> {
        let bias = &self.solution.bias;
        (self.solution.criterion == Criterion::Average).then(|| PyArray1::from_slice(py, bias))
    }

    /// Of a total: whether every policy ends, and how many steps that takes on average at most.
    #[getter]
    fn ending<'py>(&self, py: Python<'py>) -> Option<(bool, Array<'py>)> {
        let ending = self.solution.ending.as_ref();
        ending.map(|ending| (ending.surely, PyArray1::from_slice(py, &ending.steps)))
    }

    #[getter]
    fn gap(&self) -> f64 {
        self.solution.gap
    }

    #[getter]
    fn target_gap(&self) -> f64 {
        self.solution.target_gap
    }

    #[getter]
    fn initial_value(&self) -> (f64, f64) {
        self.solution.initial_value
    }

    #[getter]
    fn method(&self) -> String {
        name_of(&self.solution.method)
    }

    #[getter]
    fn oracle(&self) -> String {
        name_of(&self.solution.oracle)
    }

    #[getter]
    fn reason(&self) -> Option<&str> {
        self.solution.reason.as_deref()
    }

    #[getter]
    fn seconds(&self) -> f64 {
        self.solution.seconds
    }

    /// Sweeps, evaluations, oracle calls, first-order steps, kernel passes.
    #[getter]
    fn work(&self) -> (u64, u64, u64, u64, f64) {
        let work = self.solution.work;
        let passes = work.kernel_passes();
        (work.sweeps, work.evaluations, work.oracle_calls, work.first_order_steps, passes)
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.solution.warnings.clone()
    }

    /// The bytes of a certificate.
    #[pyo3(signature = (model, set, threads))]
    fn certify<'py>(
        &self,
        py: Python<'py>,
        model: &Model,
        set: &UncertaintySet,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (model, set, threads) = (model.model.clone(), set.set.clone(), allowed(threads));
        let solution = self.solution.clone();
        let job = move || certify(&model, &set, &solution, threads).map(|made| made.0.to_bytes());
        let bytes = run_quietly(py, job)?.map_err(|e| raised(py, e))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Everything, as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let solution = self.solution.clone();
        let bytes = run_quietly(py, move || serde_json::to_vec(&solution))?;
        Ok(PyBytes::new(py, &bytes.map_err(|e| PyValueError::new_err(e.to_string()))?))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Solution> {
        let bytes = bytes.to_vec();
        let solution = run_quietly(py, move || serde_json::from_slice(&bytes))?;
        Ok(Solution { solution: solution.map_err(|e| PyValueError::new_err(e.to_string()))? })
    }
}
