//! Why a certificate proves nothing, or not what it claims.

use std::fmt;

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
    #[error("{0}")]
    Claim(Box<Shortfall>),
}

/// What is claimed, what is proved, and where the difference lies.
#[derive(Clone, Debug, PartialEq)]
pub struct Shortfall {
    /// (lower, upper, gap) as claimed.
    pub claimed: (f64, f64, f64),
    /// (lower, upper, gap) as proved.
    pub proved: (f64, f64, f64),
    /// Largest excess of T_x v_U over v_U, and its state.
    pub above: (f64, Label),
    /// Largest shortfall against v_L, with its state and action.
    pub below: (f64, Label, String),
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((l, u, gap), (low, high, wide)) = (self.claimed, self.proved);
        let ((above, at), (below, from, action)) = (&self.above, &self.below);
        write!(
            f,
            "it claims {l:?} to {u:?} and a gap of {gap:?}, but proves only {low:?} to {high:?} and \
             {wide:?}; state {at}: the policy costs up to {above:e} more than v_U, state {from}, action \
             {action}: up to {below:e} less than v_L, expected no more than the claim has room for"
        )
    }
}
