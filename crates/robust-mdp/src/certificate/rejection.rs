//! Why a certificate proves nothing, or not what it claims.

use crate::error::Label;

/// A certificate that does not hold.
#[derive(thiserror::Error, Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Rejection {
    /// It is about something else.
    #[error("the certificate is for another {what}: it has {found}, expected {expected}")]
    Other {
        /// Model, discount factor, objective or set.
        what: &'static str,
        /// What the certificate has.
        found: String,
        /// What the question has.
        expected: String,
    },
    /// Something in it cannot be.
    #[error("{0}")]
    Malformed(String),
    /// The question cannot be answered.
    #[error("{0}")]
    Input(String),
    /// Multipliers or values give no bound at all.
    #[error("state {state}: the {what} bound does not follow, expected multipliers that prove one")]
    Nothing {
        /// Upper or lower.
        what: &'static str,
        /// The state.
        state: Label,
    },
    /// The bounds that follow are wider than those claimed.
    #[error(
        "the certificate claims {:?} to {:?} and a gap of {:?}, but proves only {:?} to {:?} and {:?}; \
         in state {above_at} the policy's cost exceeds its bound by up to {above:e}, in state \
         {below_at} action {action} falls short of it by up to {below:e}, expected at most the \
         slack of the claim",
        claimed.0, claimed.1, claimed.2, proved.0, proved.1, proved.2
    )]
    Claim {
        /// (lower, upper, gap) as claimed.
        claimed: (f64, f64, f64),
        /// (lower, upper, gap) as proved.
        proved: (f64, f64, f64),
        /// Largest excess of T_x v_U over v_U, and its state.
        above: f64,
        /// Where that is.
        above_at: Label,
        /// Largest shortfall against v_L, its state and action.
        below: f64,
        /// Where that is.
        below_at: Label,
        /// The action.
        action: String,
    },
}
