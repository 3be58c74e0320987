//! One step of a proof: two vectors of values, a policy, and multipliers of both halves.

use super::{Multipliers, Weight};

/// One step of a proof; see [`Certificate`](super::Certificate), whose fields of these names are its first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// v_U, one a state.
    pub upper: Vec<f64>,
    /// v_L, one a state.
    pub lower: Vec<f64>,
    /// The policy, rows rising; rows left out have no weight.
    pub policy: Vec<Weight>,
    /// Multipliers μ ≥ 0 of the budgets at v_U, one a state or one a [`Weight`].
    pub scale: Vec<f64>,
    /// Kernel rows that are not nominal, rows rising.
    pub kernel: Vec<Multipliers>,
}

/// The same, borrowed.
#[derive(Clone, Copy)]
pub(super) struct StepRef<'a> {
    pub(super) upper: &'a [f64],
    pub(super) lower: &'a [f64],
    pub(super) policy: &'a [Weight],
    pub(super) scale: &'a [f64],
    pub(super) kernel: &'a [Multipliers],
}

impl Step {
    pub(super) fn as_ref(&self) -> StepRef<'_> {
        let Step { upper, lower, policy, scale, kernel } = self;
        StepRef { upper, lower, policy, scale, kernel }
    }
}

/// What a step is about.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Terms {
    /// Rows have budgets of their own, whatever they share in the set: only one of a state's is ever moved.
    pub(super) alone: bool,
    /// Policies maximise too: all rows are bounded from above, and the policy's own from below.
    pub(super) cooperative: bool,
    /// e⁻ ≥ 0 is enough: it does not matter how much more than v_L values are.
    pub(super) clipped: bool,
    /// Rows that cost nothing and lead to one value alone have it to the last digit.
    pub(super) flat: bool,
}

impl Terms {
    /// Of the step that proves the end of a total: about all policies where all end `surely`, else about the one at
    /// hand.
    pub(super) fn of_end(self, surely: bool) -> Terms {
        Terms { cooperative: surely, alone: surely || self.alone, clipped: true, ..self }
    }
}
