//! The machine-readable results of `solve`, `evaluate` and `verify`.

use robust_mdp::sets::{Distance, Radius, Rectangularity, Support, UncertaintySet};
use robust_mdp::{
    Certificate, Evaluated, Method, Model, Oracle, PolicyValue, Solution, Status, Verified,
};
use serde::Serialize;

use crate::set_data::SetData;

/// Bounds of one value.
#[derive(Debug, Serialize)]
struct ValueBounds {
    lower: f64,
    upper: f64,
}

impl From<(f64, f64)> for ValueBounds {
    fn from((lower, upper): (f64, f64)) -> ValueBounds {
        ValueBounds { lower, upper }
    }
}

/// A budget: one number, or one a state or row.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Budget<'a> {
    Uniform(f64),
    Each(&'a [f64]),
}

impl<'a> From<&'a UncertaintySet> for Budget<'a> {
    fn from(set: &'a UncertaintySet) -> Budget<'a> {
        match &set.radius {
            Radius::Uniform(radius) => Budget::Uniform(*radius),
            Radius::PerState(radii) | Radius::PerRow(radii) => Budget::Each(radii),
        }
    }
}

/// What `solve --json` writes.
#[derive(Debug, Serialize)]
pub(crate) struct SolveReport<'a> {
    status: Status,
    objective: &'static str,
    discount: f64,
    set: Distance,
    radius: Budget<'a>,
    rectangular: Rectangularity,
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<&'a [f64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    set_data: Option<SetData<'a>>,
    support: Support,
    method: Method,
    oracle: Oracle,
    reason: Option<&'a str>,
    value: ValueBounds,
    lower: &'a [f64],
    upper: &'a [f64],
    values: &'a [f64],
    gap: f64,
    verified: bool,
    policy: Vec<&'a [f64]>,
    sweeps: u64,
    evaluations: u64,
    oracle_calls: u64,
    first_order_steps: u64,
    kernel_passes: f64,
    seconds: f64,
    warnings: &'a [String],
}

impl<'a> SolveReport<'a> {
    pub(crate) fn new(
        model: &Model,
        set: &'a UncertaintySet,
        solution: &'a Solution,
        verified: bool,
        warnings: &'a [String],
    ) -> SolveReport<'a> {
        let work = solution.work;
        SolveReport {
            status: solution.status,
            objective: model.objective().name(),
            discount: model.discount(),
            set: set.distance,
            radius: set.into(),
            rectangular: set.rectangularity,
            weights: set.weights.as_deref(),
            set_data: SetData::of(set),
            support: set.support,
            method: solution.method,
            oracle: solution.oracle,
            reason: solution.reason.as_deref(),
            value: solution.initial_value.into(),
            lower: &solution.lower,
            upper: &solution.upper,
            values: &solution.values,
            gap: solution.gap,
            verified,
            policy: (0..model.states()).map(|s| solution.policy_at(s)).collect(),
            sweeps: work.sweeps,
            evaluations: work.evaluations,
            oracle_calls: work.oracle_calls,
            first_order_steps: work.first_order_steps,
            kernel_passes: work.kernel_passes(),
            seconds: solution.seconds,
            warnings,
        }
    }
}

/// Bounds of a policy's value, at p₀ and in every state.
#[derive(Debug, Serialize)]
struct Values<'a> {
    value: ValueBounds,
    lower: &'a [f64],
    upper: &'a [f64],
    values: &'a [f64],
}

impl<'a> From<&'a PolicyValue> for Values<'a> {
    fn from(value: &'a PolicyValue) -> Values<'a> {
        Values {
            value: value.initial.into(),
            lower: &value.lower,
            upper: &value.upper,
            values: &value.values,
        }
    }
}

/// What `evaluate --json` writes.
#[derive(Debug, Serialize)]
pub(crate) struct EvaluateReport<'a> {
    status: Status,
    objective: &'static str,
    discount: f64,
    set: Distance,
    radius: Budget<'a>,
    rectangular: Rectangularity,
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<&'a [f64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    set_data: Option<SetData<'a>>,
    worst: Values<'a>,
    nominal: Values<'a>,
    gap: f64,
    seconds: f64,
    warnings: &'a [String],
}

impl<'a> EvaluateReport<'a> {
    pub(crate) fn new(
        model: &Model,
        set: &'a UncertaintySet,
        evaluated: &'a Evaluated,
        warnings: &'a [String],
    ) -> EvaluateReport<'a> {
        EvaluateReport {
            status: evaluated.status,
            objective: model.objective().name(),
            discount: model.discount(),
            set: set.distance,
            radius: set.into(),
            rectangular: set.rectangularity,
            weights: set.weights.as_deref(),
            set_data: SetData::of(set),
            worst: (&evaluated.worst).into(),
            nominal: (&evaluated.nominal).into(),
            gap: crate::render::evaluation::widest(&evaluated.worst),
            seconds: evaluated.seconds,
            warnings,
        }
    }
}

/// What `verify --json` writes.
#[derive(Debug, Serialize)]
pub(crate) struct VerifyReport<'a> {
    verified: bool,
    objective: &'static str,
    discount: f64,
    set: Distance,
    radius: Budget<'a>,
    rectangular: Rectangularity,
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<&'a [f64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    set_data: Option<SetData<'a>>,
    support: Support,
    method: Method,
    oracle: Oracle,
    value: ValueBounds,
    lower: &'a [f64],
    upper: &'a [f64],
    gap: f64,
}

impl<'a> VerifyReport<'a> {
    pub(crate) fn new(
        model: &Model,
        certificate: &'a Certificate,
        proved: &'a Verified,
    ) -> VerifyReport<'a> {
        let set = &certificate.set;
        VerifyReport {
            verified: true,
            objective: model.objective().name(),
            discount: model.discount(),
            set: set.distance,
            radius: set.into(),
            rectangular: set.rectangularity,
            weights: set.weights.as_deref(),
            set_data: SetData::of(set),
            support: set.support,
            method: certificate.method,
            oracle: certificate.oracle,
            value: proved.initial.into(),
            lower: &proved.lower,
            upper: &proved.upper,
            gap: proved.gap,
        }
    }
}
