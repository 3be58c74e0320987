//! Uncertainty sets.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use robust_mdp::sets::{Distance, Radius, Rectangularity, Support};

use crate::background::run_quietly;
use crate::errors::raised;
use crate::model::Model;
use crate::names::parse;

/// Name, title, formula and whether kernels may leave the nominal support, of every set.
#[pyfunction]
pub(crate) fn sets() -> Vec<(&'static str, &'static str, &'static str, bool)> {
    let all = Distance::ALL.iter().filter_map(|distance| distance.set());
    all.map(|set| (set.name(), set.title(), set.formula(), set.leaves_support())).collect()
}

/// A set as the library has it.
#[pyclass(frozen, module = "robust_mdp._native")]
pub(crate) struct UncertaintySet {
    pub(crate) set: robust_mdp::sets::UncertaintySet,
}

#[pymethods]
impl UncertaintySet {
    /// `per` says what each radius is for: "all" (there is one), "state" or "row".
    #[new]
    #[pyo3(signature = (distance, radius, per, rectangular, support, weights))]
    fn new(
        distance: &str,
        radius: PyReadonlyArray1<'_, f64>,
        per: &str,
        rectangular: &str,
        support: &str,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<UncertaintySet> {
        let radii = radius.as_slice()?;
        let radius = match (per, radii) {
            ("all", &[radius]) => Radius::Uniform(radius),
            ("state", radii) => Radius::PerState(radii.to_vec()),
            ("row", radii) => Radius::PerRow(radii.to_vec()),
            _ => return Err(PyValueError::new_err("expected one radius for all")),
        };
        let distance: Distance = parse("set", distance)?;
        let rectangularity: Rectangularity = parse("rectangular", rectangular)?;
        let support: Support = parse("support", support)?;
        let weights = weights.map(|weights| weights.as_slice().map(<[f64]>::to_vec)).transpose()?;
        let base = robust_mdp::sets::UncertaintySet::new(distance, 0.0);
        let set =
            robust_mdp::sets::UncertaintySet { radius, rectangularity, support, weights, ..base };
        Ok(UncertaintySet { set })
    }

    /// Whether the set is one of this model; raises otherwise.
    fn check(&self, py: Python<'_>, model: &Model) -> PyResult<()> {
        self.set.validate(&model.model).map_err(|e| raised(py, e))
    }

    /// What makes the set one that says nothing about this model, if it is.
    fn vacuity(&self, py: Python<'_>, model: &Model) -> PyResult<Option<String>> {
        let (set, model) = (self.set.clone(), model.model.clone());
        run_quietly(py, move || set.vacuity(&model))
    }

    /// From which radius on every kernel is allowed.
    fn largest_useful_radius(&self, py: Python<'_>, model: &Model) -> PyResult<f64> {
        let (set, model) = (self.set.clone(), model.model.clone());
        run_quietly(py, move || set.largest_useful_radius(&model))
    }
}
