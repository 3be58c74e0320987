//! What a run gives back: the policy, its bounds, how it ended and what it cost.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::certificate::Verified;
use crate::choice::Chosen;
use crate::loops::bounds::Bounds;
use crate::model::{Model, Objective};
use crate::oracle::first_order::Setup;
use crate::solve::{Criterion, Direction, Method, Options, Oracle, Run, Status, Work};

/// Kernel passes that a certificate takes to make and to verify, at most, on the models of the
/// benchmark suite.
const CERTIFICATE_PASSES: f64 = 15.0;

/// One step of a finite horizon: what is left to pay from here on, and what to do now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Lower bounds, one a state.
    pub lower: Vec<f64>,
    /// Upper bounds, one a state.
    pub upper: Vec<f64>,
    /// Action probabilities at this step, flat over state–action pairs.
    pub policy: Vec<f64>,
}

/// Why a total cost is finite: the model ends after `steps` on average at most, whatever nature does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    /// Under every policy; else under the one returned.
    pub surely: bool,
    /// At least the mean number of steps to the end, one a state.
    pub steps: Vec<f64>,
}

/// A policy with certified bounds. Values are in the model's own sign (rewards as rewards).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Solution {
    /// How the run ended.
    pub status: Status,
    /// How costs over time count.
    #[serde(default)]
    pub criterion: Criterion,
    /// Which kernel of the set counts.
    #[serde(default)]
    pub direction: Direction,
    /// Whether only deterministic policies were looked at.
    #[serde(default)]
    pub deterministic: bool,
    /// The gap that was asked for.
    pub target_gap: f64,
    /// The certified gap: the largest upper − lower over states.
    pub gap: f64,
    /// Lower bounds, one a state. They bound the optimal value and the policy's worst case alike
    /// (for rewards: the policy's worst case is at least this).
    pub lower: Vec<f64>,
    /// Upper bounds, one a state.
    pub upper: Vec<f64>,
    /// Midpoints of the bounds.
    pub values: Vec<f64>,
    /// Action probabilities, flat over state–action pairs.
    pub policy: Vec<f64>,
    /// Bounds of the value at the initial distribution: (lower, upper).
    pub initial_value: (f64, f64),
    /// The steps of a finite horizon, the first one's bounds and policy being those above; else none.
    #[serde(default)]
    pub stages: Vec<Stage>,
    /// Of an average: relative values h, with F(h) − h about the same in all states; else none.
    #[serde(default)]
    pub bias: Vec<f64>,
    /// Of a total: why it is finite.
    #[serde(default)]
    pub ending: Option<Ending>,
    /// Work counts.
    pub work: Work,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Seconds of these spent checking the gap of intermediate answers.
    pub check_seconds: f64,
    /// The algorithm that ran.
    pub method: Method,
    /// The oracle that it used.
    pub oracle: Oracle,
    /// By which rule the library chose them, where it did.
    pub reason: Option<String>,
    /// Geometries of the first-order oracle.
    pub setup: Setup,
    /// What the user should know about the input.
    pub warnings: Vec<String>,
    state_ptr: Vec<usize>,
}

impl Solution {
    pub(crate) fn new(
        model: &Model,
        status: Status,
        run: Run<'_>,
        seconds: f64,
        chosen: Chosen,
        setup: Setup,
        warnings: Vec<String>,
        options: &Options,
    ) -> Solution {
        let Run { limits, incumbent, work, check_seconds, stages, bias, ending, .. } = run;
        let own_sign = |Stage { lower, upper, policy }| {
            let PolicyValue { lower, upper, .. } = PolicyValue::new(model, Bounds { lower, upper });
            Stage { lower, upper, policy }
        };
        let sign = model.objective().sign();
        let gap = incumbent.gap();
        let bounds =
            PolicyValue::new(model, Bounds { lower: incumbent.lower, upper: incumbent.upper });
        Solution {
            status,
            criterion: options.criterion,
            direction: options.direction,
            deterministic: options.deterministic,
            stages: stages.into_iter().map(own_sign).collect(),
            bias: bias.into_iter().map(|h| sign * h + 0.0).collect(),
            ending,
            target_gap: limits.gap,
            gap,
            values: bounds.values,
            initial_value: bounds.initial,
            lower: bounds.lower,
            upper: bounds.upper,
            policy: incumbent.policy.to_vec(),
            work,
            seconds,
            check_seconds,
            method: chosen.method,
            oracle: chosen.oracle,
            reason: chosen.reason,
            setup,
            warnings,
            state_ptr: model.state_ptr.clone(),
        }
    }

    /// Action probabilities in state `s` (empty for a terminal state).
    pub fn policy_at(&self, s: usize) -> &[f64] {
        &self.policy[self.rows(s)]
    }

    /// Replaces the bounds by those that a certificate of this solution proves. The status says whether
    /// these are as narrow as asked, which may be more or less than the run has reached; where they are
    /// wider after a run that was certified, rounding is what keeps them apart.
    pub fn adopt(&mut self, verified: Verified) {
        self.status = match self.status {
            _ if verified.gap <= self.target_gap => Status::Certified,
            Status::Certified => Status::PrecisionLimit,
            stopped => stopped,
        };
        let Verified { lower, upper, initial, gap } = verified;
        self.values = lower.iter().zip(&upper).map(|(l, u)| 0.5 * (l + u)).collect();
        (self.lower, self.upper, self.initial_value, self.gap) = (lower, upper, initial, gap);
    }

    /// Whether a certificate costs less than a tenth of what the run has cost, by counted work.
    pub fn is_cheap_to_certify(&self) -> bool {
        self.work.kernel_passes() >= 10.0 * CERTIFICATE_PASSES
    }

    fn rows(&self, s: usize) -> Range<usize> {
        self.state_ptr[s]..self.state_ptr[s + 1]
    }
}

/// Bounds of a policy's worst-case and nominal values, in the model's own sign.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    /// Certified if the worst-case bounds are as narrow as asked.
    pub status: Status,
    /// The gap that was asked for.
    pub target_gap: f64,
    /// Worst case over the set.
    pub worst: PolicyValue,
    /// Under the nominal kernel.
    pub nominal: PolicyValue,
    /// Work counts of the worst case.
    pub work: Work,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// Bounds of a value vector.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyValue {
    /// Lower bounds, one a state.
    pub lower: Vec<f64>,
    /// Upper bounds, one a state.
    pub upper: Vec<f64>,
    /// Midpoints.
    pub values: Vec<f64>,
    /// (lower, upper) at the initial distribution.
    pub initial: (f64, f64),
}

impl PolicyValue {
    pub(crate) fn new(model: &Model, Bounds { lower, upper }: Bounds) -> PolicyValue {
        let negated = |v: &[f64]| v.iter().map(|x| 0.0 - x).collect::<Vec<f64>>();
        let (lower, upper) = match model.objective() {
            Objective::MinCost => (lower, upper),
            Objective::MaxReward => (negated(&upper), negated(&lower)),
        };
        let values = lower.iter().zip(&upper).map(|(l, u)| 0.5 * (l + u)).collect();
        let initial = (model.initial_mean(&lower), model.initial_mean(&upper));
        PolicyValue { lower, upper, values, initial }
    }
}
