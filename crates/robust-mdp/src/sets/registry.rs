//! The sets, by name. This is the one place that lists them.

use serde::{Deserialize, Serialize};

use super::ellipsoid::Ellipsoid;
use super::kl::Kl;
use super::set::Set;

/// The distance that a budget bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distance {
    /// ½‖y − y⁰‖₂².
    Ellipsoid,
    /// KL(y‖y⁰) = Σ y ln(y/y⁰).
    Kl,
    /// No uncertainty: the nominal model.
    None,
}

impl Distance {
    /// What the set says of a row; `None`: the nominal model.
    pub(crate) fn set(self) -> Option<&'static dyn Set> {
        match self {
            Distance::Ellipsoid => Some(&Ellipsoid),
            Distance::Kl => Some(&Kl),
            Distance::None => None,
        }
    }
}
