//! What to ask of a run: the algorithm, when it ends, on how many threads; and how one may end.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Criterion, Direction};
use crate::loops::fom_vi::FomSettings;
use crate::signal::Reason;

/// The algorithm of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// `Newton`, or `FomVi` with the first-order oracle; the solution says which ran.
    #[default]
    Auto,
    /// First-order value iteration (Algorithm 1 of the paper).
    FomVi,
    /// Value iteration v ← F(v).
    Vi,
    /// Value iteration, each state using the values already updated in the same sweep.
    GsVi,
    /// Anderson-accelerated value iteration, safeguarded.
    Anderson,
    /// Accelerated value iteration (Nesterov's momentum), safeguarded.
    Avi,
    /// Policy iteration in the Hoffman–Karp form; its work hardly depends on the discount.
    Pi,
    /// Newton's method on v = F(v), safeguarded by Hoffman–Karp steps.
    Newton,
}

impl fmt::Display for Method {
    /// The name in files and on the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// What solves the game of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Oracle {
    /// Newton's method on the multipliers, to rounding.
    Exact,
    /// First-order steps on the saddle-point problem.
    FirstOrder,
    /// A conic interior-point solver, its answer repaired and bounded again.
    InteriorPoint,
}

impl fmt::Display for Oracle {
    /// The name in files and on the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// How a valid run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// upper − lower ≤ gap in every state.
    Certified,
    /// Out of sweeps; the bounds hold.
    SweepLimit,
    /// Out of time; the bounds hold.
    TimeLimit,
    /// Rounding does not allow a smaller gap; the bounds hold.
    PrecisionLimit,
    /// Stopped by the caller; the bounds hold.
    Interrupted,
}

impl From<Reason> for Status {
    fn from(reason: Reason) -> Status {
        match reason {
            Reason::Interrupted => Status::Interrupted,
            Reason::TimeLimit => Status::TimeLimit,
        }
    }
}

/// When a run ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    /// When upper − lower ≤ gap in every state; `None` means seven digits of the interval in which
    /// all values lie, 1e-7·(max c − min c)/(1 − λ), or what rounding allows where that is more.
    pub gap: Option<f64>,
    /// After so many epochs or sweeps.
    pub max_sweeps: u64,
    /// After so much wall-clock time.
    pub time_limit: Option<Duration>,
}

impl Stop {
    /// At this certified gap and no earlier.
    pub fn at_gap(gap: f64) -> Stop {
        Stop { gap: Some(gap), ..Stop::default() }
    }
}

impl Default for Stop {
    fn default() -> Self {
        Stop { gap: None, max_sweeps: u64::MAX, time_limit: None }
    }
}

/// What to ask of a run. All fields have defaults; settings that the run would not use are refused.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The algorithm.
    pub method: Method,
    /// What solves the game of a state; `None` means the best the set offers.
    pub oracle: Option<Oracle>,
    /// How costs over time count.
    pub criterion: Criterion,
    /// Which kernel of the set counts.
    pub direction: Direction,
    /// Deterministic policies only: the best of them. A set whose rows share budgets may have better ones
    /// that randomise.
    pub deterministic: bool,
    /// When it ends.
    pub stop: Stop,
    /// Threads; `None` means all cores. The answer does not depend on it.
    pub threads: Option<usize>,
    /// Settings of [`Method::FomVi`] or, in another loop, of [`Oracle::FirstOrder`], which has a setup,
    /// a step rule and a method alone; `None` means the defaults.
    pub fom: Option<FomSettings>,
    /// Differences that [`Method::Anderson`] combines; `None` means 5.
    pub anderson: Option<usize>,
    /// Values to start from, one a state in the model's own sign, such as those of the same model
    /// under a similar set; `None` starts from the costs. Good ones save sweeps; no bound rests on
    /// them.
    pub start: Option<Vec<f64>>,
    /// Value iteration as \[GCK21\] runs it, for comparison; see [`Published`].
    #[doc(hidden)]
    pub published: Option<Published>,
    /// Hands every state's convex program to the interior-point solver whole, as \[GCK21\] does,
    /// for comparison; otherwise it is spared the rows that cannot matter.
    #[doc(hidden)]
    pub whole_programs: bool,
    /// Has the exact oracle price rows one by one, whatever their kind, for comparison.
    #[doc(hidden)]
    pub bracketed: bool,
}

/// How \[GCK21\] runs value iteration and its relatives: from v = 0, until ‖v⁺ − v‖_∞ is small.
///
/// Not part of the public interface; it may change without notice.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// The run ends when ‖v⁺ − v‖_∞ is at most this and the asked gap is certified.
    pub residual: f64,
}
