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
    /// Largest excess of T_x v_U over v_U and its state, if there is one.
    pub above: Option<(f64, Label)>,
    /// Largest shortfall against v_L with its state and action, if there is one.
    pub below: Option<(f64, Label, String)>,
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((l, u, gap), (low, high, wide)) = (self.claimed, self.proved);
        write!(
            f,
            "it claims {l:?} to {u:?} and a gap of {gap:?}, but proves only {low:?} to {high:?} and \
             {wide:?}; "
        )?;
        if let Some((above, at)) = &self.above {
            write!(f, "state {at}: the policy costs up to {above:e} more than v_U, ")?;
        }
        if let Some((below, from, action)) = &self.below {
            write!(f, "state {from}, action {action}: up to {below:e} less than v_L, ")?;
        }
        write!(f, "expected no more than the claim has room for")
    }
}
