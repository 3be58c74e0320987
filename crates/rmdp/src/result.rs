//! The machine-readable results of `solve`, `evaluate` and `verify`.

use robust_mdp::sets::{Distance, Radius, Rectangularity, Support, UncertaintySet};
use robust_mdp::{
    Certificate, Direction, Evaluated, Method, Model, Oracle, PolicyValue, Solution, Stage, Status,
    Verified,
};
use serde::Serialize;

use crate::set_data::SetData;
use crate::solve::Found;

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

/// One step of a finite horizon.
#[derive(Debug, Serialize)]
struct StageReport<'a> {
    lower: &'a [f64],
    upper: &'a [f64],
    values: Vec<f64>,
    policy: Vec<&'a [f64]>,
}

impl<'a> StageReport<'a> {
    fn new(model: &Model, stage: &'a Stage) -> StageReport<'a> {
        let Stage { lower, upper, policy } = stage;
        let values = lower.iter().zip(upper).map(|(l, u)| 0.5 * (l + u)).collect();
        let policy = (0..model.states()).map(|s| &policy[model.rows_of(s)]).collect();
        StageReport { lower, upper, values, policy }
    }
}

/// Bounds of the best value of all policies, where deterministic ones were asked for.
#[derive(Debug, Serialize)]
struct RandomisedReport<'a> {
    value: ValueBounds,
    lower: &'a [f64],
    upper: &'a [f64],
}

impl<'a> From<&'a Solution> for RandomisedReport<'a> {
    fn from(solution: &'a Solution) -> RandomisedReport<'a> {
        let Solution { lower, upper, initial_value, .. } = solution;
        RandomisedReport { value: (*initial_value).into(), lower, upper }
    }
}

/// What `solve --json` writes.
#[derive(Debug, Serialize)]
pub(crate) struct SolveReport<'a> {
    status: Status,
    objective: &'static str,
    criterion: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    horizon: Option<u32>,
    direction: Direction,
    deterministic: bool,
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stages: Vec<StageReport<'a>>,
    #[serde(skip_serializing_if = "<[f64]>::is_empty")]
    bias: &'a [f64],
    #[serde(skip_serializing_if = "Option::is_none")]
    steps_to_end: Option<&'a [f64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ends_surely: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    randomised: Option<RandomisedReport<'a>>,
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
        found: Found<'a>,
        warnings: &'a [String],
    ) -> SolveReport<'a> {
        let Found { question, solution, randomised, verified } = found;
        let (work, ending) = (solution.work, solution.ending.as_ref());
        SolveReport {
            status: solution.status,
            objective: model.objective().name(),
            criterion: question.criterion.name(),
            horizon: question.horizon(),
            direction: question.direction,
            deterministic: question.deterministic,
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
            stages: solution.stages.iter().map(|stage| StageReport::new(model, stage)).collect(),
            bias: &solution.bias,
            steps_to_end: ending.map(|ending| &ending.steps[..]),
            ends_surely: ending.map(|ending| ending.surely),
            randomised: randomised.map(RandomisedReport::from),
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
