//! Uncertainty sets.

use std::sync::Arc;

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use robust_mdp::sets::{
    Distance, EntryWeights, Ground, Needs, Radius, Rectangularity, Scenarios, Set, Support,
};

use crate::background::run_quietly;
use crate::errors::raised;
use crate::model::Model;
use crate::names::parse;

/// Name, title and formula, whether kernels may leave the nominal support and whether actions may share a
/// budget, and what it must be told of entries.
type About = (&'static str, &'static str, &'static str, bool, bool, &'static str);

/// What the library says of every set.
#[pyfunction]
pub(crate) fn sets() -> Vec<About> {
    Distance::ALL.iter().filter_map(|distance| distance.set()).map(about).collect()
}

fn about(set: &dyn Set) -> About {
    let needs = match set.needs() {
        Needs::Nothing => "nothing",
        Needs::Weights => "weights",
        Needs::Intervals => "intervals",
        Needs::Ground => "ground",
        Needs::Scenarios => "kernels",
    };
    (set.name(), set.title(), set.formula(), set.leaves_support(), set.adds_up(), needs)
}

type Numbers<'py> = PyReadonlyArray1<'py, f64>;
/// What numbers of entries are for, and the numbers.
type Told<'py> = (String, Numbers<'py>);

fn numbers(given: &Numbers<'_>) -> PyResult<Vec<f64>> {
    Ok(given.as_slice()?.to_vec())
}

fn unknown<T>(per: &str) -> PyResult<T> {
    Err(PyValueError::new_err(format!("numbers per {per:?} are not known")))
}

fn entry_weights((per, given): Told<'_>) -> PyResult<EntryWeights> {
    let weights = numbers(&given)?;
    match &per[..] {
        "state" => Ok(EntryWeights::PerState(weights)),
        "transition" => Ok(EntryWeights::PerTransition(weights)),
        other => unknown(other),
    }
}

fn ground((per, given): Told<'_>) -> PyResult<Ground> {
    let costs = numbers(&given)?;
    match &per[..] {
        "state" => Ok(Ground::line(costs)),
        "pair of states" => Ok(Ground::Matrix(costs)),
        other => unknown(other),
    }
}

/// A set as the library has it.
#[pyclass(frozen, module = "robust_mdp._native")]
pub(crate) struct UncertaintySet {
    pub(crate) set: robust_mdp::sets::UncertaintySet,
}

#[pymethods]
impl UncertaintySet {
    /// `per` says what each radius is for: "all" (there is one), "state" or "row". Weights of entries are for
    /// each "state" or "transition"; costs of moving mass for each "pair of states", or places of each "state";
    /// scenarios have one number a transition each.
    #[new]
    #[pyo3(signature = (distance, radius, per, rectangular, support, weights, entry_weights, ground, scenarios))]
    fn new(
        distance: &str,
        radius: Numbers<'_>,
        per: &str,
        rectangular: &str,
        support: &str,
        weights: Option<Numbers<'_>>,
        entry_weights: Option<Told<'_>>,
        ground: Option<Told<'_>>,
        scenarios: Option<Vec<Numbers<'_>>>,
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
        let kernels: Option<PyResult<Vec<Vec<f64>>>> =
            scenarios.map(|kernels| kernels.iter().map(numbers).collect());
        let scenarios = kernels.transpose()?.map(|kernels| Scenarios::from_kernels(&kernels));
        let set = robust_mdp::sets::UncertaintySet {
            distance,
            radius,
            rectangularity,
            support,
            weights: weights.as_ref().map(numbers).transpose()?,
            entry_weights: entry_weights.map(self::entry_weights).transpose()?.map(Arc::new),
            ground: ground.map(self::ground).transpose()?.map(Arc::new),
            scenarios: scenarios.map(Arc::new),
        };
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
