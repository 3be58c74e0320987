//! A cell: one run that an experiment asks for, and the record of what came of it.
//!
//! What depends on the clock is kept apart, in `seconds`; everything else is the same in every run.

use robust_mdp::Work;
use robust_mdp_measure::journal::Entry;
use serde::{Deserialize, Serialize};

use super::problem::Problem;
use super::solver::{FomSetup, Solver};

/// The version of the records; records of another are not taken up.
pub(crate) const FORMAT: u32 = 1;

/// The paper's experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Experiment {
    /// Time to ε against the number of states.
    Time,
    /// What the duality gap of a given pair costs.
    GapCost,
    /// Proximal setups.
    Setups,
    /// Epochs of ℓ^q steps.
    Epochs,
    /// Weights t^p.
    Weights,
    /// How fast the gap falls.
    Rate,
    /// Kullback–Leibler sets.
    Kl,
}

impl Experiment {
    /// In the paper's order.
    pub const ALL: [Experiment; 7] = [
        Experiment::Time,
        Experiment::GapCost,
        Experiment::Setups,
        Experiment::Epochs,
        Experiment::Weights,
        Experiment::Rate,
        Experiment::Kl,
    ];

    /// As commands and files spell it.
    pub fn name(self) -> &'static str {
        match self {
            Experiment::Time => "time",
            Experiment::GapCost => "gap-cost",
            Experiment::Setups => "setups",
            Experiment::Epochs => "epochs",
            Experiment::Weights => "weights",
            Experiment::Rate => "rate",
            Experiment::Kl => "kl",
        }
    }

    /// As the page spells it.
    pub fn title(self) -> &'static str {
        match self {
            Experiment::Time => "Time to ε = 0.1 against the number of states",
            Experiment::GapCost => "What the duality gap of a given pair costs",
            Experiment::Setups => "Proximal setups",
            Experiment::Epochs => "Epoch schemes",
            Experiment::Weights => "Weight schemes",
            Experiment::Rate => "Rate of convergence",
            Experiment::Kl => "Kullback–Leibler sets",
        }
    }

    pub(crate) fn is_trace(self) -> bool {
        match self {
            Experiment::Setups | Experiment::Epochs | Experiment::Weights | Experiment::Rate => {
                true
            }
            Experiment::Time | Experiment::GapCost | Experiment::Kl => false,
        }
    }
}

/// How the duality gap of a given policy and kernel is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Evaluator {
    Vi,
    Avi,
    /// Policy iteration of either player, as every check of this library does it.
    Exact,
}

impl Evaluator {
    pub(crate) const ALL: [Evaluator; 3] = [Evaluator::Vi, Evaluator::Avi, Evaluator::Exact];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Evaluator::Vi => "VI",
            Evaluator::Avi => "AVI",
            Evaluator::Exact => "policy iteration (ours)",
        }
    }
}

/// What a cell runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Task {
    /// Solve to ε.
    Solve(Solver),
    /// Compute the duality gap of a random pair to ε.
    Gap(Evaluator),
    /// Follow the duality gap of FOM-VI over its steps.
    Trace(FomSetup),
}

/// One run, and everything that its result depends on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub(crate) format: u32,
    pub(crate) experiment: Experiment,
    pub(crate) problem: Problem,
    pub(crate) task: Task,
    pub(crate) epsilon: f64,
    /// Sweeps (epochs of FOM-VI), or first-order steps of a trace.
    pub(crate) limit: u64,
}

impl Cell {
    /// Whether only counts are taken from it, so that it may run beside others.
    pub(crate) fn is_counted(&self) -> bool {
        matches!(self.task, Task::Trace(_))
    }

    /// What identifies the cell in a journal.
    pub(crate) fn key(&self) -> String {
        format!("{:?}", self)
    }
}

/// Counted work, the same on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts {
    /// Sweeps, or epochs of FOM-VI.
    pub(crate) sweeps: u64,
    /// First-order steps in each state.
    pub(crate) steps: u64,
    /// State games solved.
    pub(crate) oracle_calls: u64,
    /// Kernel entries read.
    pub(crate) entries: u64,
}

impl From<Work> for Counts {
    fn from(work: Work) -> Counts {
        Counts {
            sweeps: work.sweeps,
            steps: work.first_order_steps,
            oracle_calls: work.oracle_calls,
            entries: work.entries,
        }
    }
}

impl std::ops::Add for Counts {
    type Output = Counts;

    fn add(self, other: Counts) -> Counts {
        Counts {
            sweeps: self.sweeps + other.sweeps,
            steps: self.steps + other.steps,
            oracle_calls: self.oracle_calls + other.oracle_calls,
            entries: self.entries + other.entries,
        }
    }
}

/// The duality gap of FOM-VI's answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TracePoint {
    pub(crate) steps: u64,
    /// At p₀, as the paper measures it.
    pub(crate) dg: f64,
    /// In the worst state.
    pub(crate) gap: f64,
}

/// What came of a cell, apart from times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// `done`, `work-limit` or `failed`.
    pub(crate) status: String,
    pub(crate) radius: f64,
    /// The share of states whose budget does not bind at the solution; known from `auto` runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) saturated: Option<f64>,
    /// The work until the method's own rule held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) own: Option<Counts>,
    /// The work until a gap of ε was certified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) certified: Option<Counts>,
    /// All work.
    pub(crate) work: Counts,
    /// upper − lower in the worst state at the end.
    pub(crate) gap: f64,
    /// Bounds at p₀ at the end; of a duality gap where that is what was computed.
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) trace: Vec<TracePoint>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

/// What the clock said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Seconds {
    /// Until the method's own rule held; of a trace, all first-order steps without the gaps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) own: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) certified: Option<f64>,
    pub(crate) total: f64,
}

/// A line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) cell: Cell,
    pub(crate) outcome: Outcome,
    pub(crate) seconds: Seconds,
}

impl Entry for Record {
    fn key(&self) -> String {
        self.cell.key()
    }

    fn is_known(line: &serde_json::Value) -> bool {
        line["cell"]["format"] == FORMAT
    }
}
