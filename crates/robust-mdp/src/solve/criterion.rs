//! What is optimised: how costs over time count, whether nature is against the decision maker or with them, and
//! whether policies may randomise.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How costs over time count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// Σ_t λ^t c_t over all time; the model's discount is below 1.
    #[default]
    Discounted,
    /// Σ_{t<T} λ^t c_t over T steps, at the model's discount, which may be 1. Policies depend on the time.
    Finite {
        /// T ≥ 1.
        horizon: u32,
    },
    /// Σ_t c_t until the model ends in a terminal state; the model's discount does not matter.
    Total,
    /// lim Σ_{t<T} c_t/T; the model's discount does not matter.
    Average,
}

impl Criterion {
    /// As files and the command line name it.
    pub fn name(self) -> &'static str {
        match self {
            Criterion::Discounted => "discounted",
            Criterion::Finite { .. } => "finite",
            Criterion::Total => "total",
            Criterion::Average => "average",
        }
    }

    /// How many steps of equal costs a value is worth, at this discount; of totals, which no one knows, 1.
    pub(crate) fn steps(self, discount: f64) -> f64 {
        match self {
            Criterion::Discounted => 1.0 / (1.0 - discount),
            Criterion::Finite { horizon } if discount == 1.0 => f64::from(horizon),
            Criterion::Finite { horizon } => {
                // (1 − λ^T)/(1 − λ), without cancellation where λ is next to 1.
                let rest = 1.0 - discount;
                -(f64::from(horizon) * (-rest).ln_1p()).exp_m1() / rest
            }
            Criterion::Total | Criterion::Average => 1.0,
        }
    }

    /// What steps of this cost sum up to.
    pub(crate) fn sum_of(self, cost: f64, discount: f64) -> f64 {
        match self {
            Criterion::Discounted => cost / (1.0 - discount),
            Criterion::Finite { .. } | Criterion::Total | Criterion::Average => {
                cost * self.steps(discount)
            }
        }
    }

    /// The discount factor that counts, of a model with this one.
    pub(crate) fn discount(self, own: f64) -> f64 {
        match self {
            Criterion::Discounted | Criterion::Finite { .. } => own,
            Criterion::Total | Criterion::Average => 1.0,
        }
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which kernel of the set counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The worst one: min over policies, max over kernels.
    #[default]
    Worst,
    /// The best one: min over policies and kernels.
    Best,
}

impl Direction {
    /// As files and the command line name it.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Worst => "worst",
            Direction::Best => "best",
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
