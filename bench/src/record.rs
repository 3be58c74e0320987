//! One result: what was asked, what ran, what it took.

use std::collections::BTreeMap;

use robust_mdp::error::name_of;
use robust_mdp::{Checks, FomSettings, Method, Oracle, Solution};
use robust_mdp_measure::journal::Entry;
use serde::{Deserialize, Serialize};

use crate::instance::Case;

/// Ends the oracle's name where its programs were whole.
pub(crate) const WHOLE: &str = "-whole";

/// What was asked of the library.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) method: Method,
    pub(crate) oracle: Option<Oracle>,
    /// The paper's steps, averages and start instead of the defaults of FOM-VI.
    pub(crate) paper_steps: bool,
    /// Whole programs for the interior-point solver instead of the rows that can matter.
    pub(crate) whole_programs: bool,
}

impl Choice {
    /// Leaves the choice to the library.
    pub(crate) const AUTO: Choice = Choice::of(Method::Auto, None);

    pub(crate) const fn of(method: Method, oracle: Option<Oracle>) -> Choice {
        Choice { method, oracle, paper_steps: false, whole_programs: false }
    }

    /// The paper's steps, its gap checked now and then, so that the time is that of the steps.
    pub(crate) fn fom(&self) -> Option<FomSettings> {
        let scheduled = FomSettings { checks: Checks::Scheduled, ..FomSettings::paper() };
        self.paper_steps.then_some(scheduled)
    }

    /// The method's name in results; FOM-VI with the paper's steps has one of its own.
    pub(crate) fn name(&self) -> String {
        let name = name_of(&self.method);
        if self.paper_steps { format!("{name}-paper") } else { name }
    }

    /// The oracle's name in results; whole programs have one of their own.
    pub(crate) fn oracle_name(&self) -> Option<String> {
        let name = name_of(&self.oracle?);
        Some(if self.whole_programs { name + WHOLE } else { name })
    }
}

/// What ran, and why if the library chose it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Ran {
    pub(crate) method: String,
    pub(crate) oracle: Option<String>,
    pub(crate) reason: Option<String>,
}

/// A line of results.jsonl. Fields that do not apply are left out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) suite: String,
    #[serde(flatten)]
    pub(crate) case: Case,
    /// Stored transitions of the model.
    pub(crate) transitions: u64,
    pub(crate) gap_asked: Option<f64>,
    pub(crate) gap: Option<f64>,
    /// certified, time-limit, …; `measured` for units of work; `failed` with a note.
    pub(crate) status: String,
    pub(crate) method: String,
    pub(crate) oracle: Option<String>,
    pub(crate) ran: Option<Ran>,
    pub(crate) threads: usize,
    /// The least of the repeats.
    pub(crate) seconds: f64,
    pub(crate) repeats: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sweeps: Option<u64>,
    /// Sweeps of nature alone among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) evaluations: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) first_order_steps: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kernel_passes: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) oracle_calls: Option<u64>,
    /// Convex programs of one sweep, and those of them that the solver gave up on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) programs: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unsolved_programs: Option<u64>,
    /// Midpoint of the bounds at the initial distribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<f64>,
    /// Share of the policy's probabilities that are positive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) active: Option<f64>,
    /// Seconds to draw and build the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) build_seconds: Option<f64>,
    /// Largest resident memory of the process while building.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) build_peak_bytes: Option<u64>,
    /// Largest resident memory of the process while solving, the model included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) solve_peak_bytes: Option<u64>,
    /// Largest resident memory of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) peak_bytes: Option<u64>,
    /// That, over the stored transitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bytes_per_transition: Option<f64>,
    /// Seconds were computed from a few sweeps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) extrapolated: bool,
    /// Quotients with other results of the same run, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) ratios: BTreeMap<String, f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

impl Record {
    /// A result of `method` with nothing measured yet.
    pub(crate) fn new(suite: &str, case: &Case, transitions: usize, method: &str) -> Record {
        Record {
            suite: suite.into(),
            case: case.clone(),
            transitions: transitions as u64,
            gap_asked: None,
            gap: None,
            status: "measured".into(),
            method: method.into(),
            oracle: None,
            ran: None,
            threads: 1,
            seconds: 0.0,
            repeats: 0,
            sweeps: None,
            evaluations: None,
            first_order_steps: None,
            kernel_passes: None,
            oracle_calls: None,
            programs: None,
            unsolved_programs: None,
            value: None,
            active: None,
            build_seconds: None,
            build_peak_bytes: None,
            solve_peak_bytes: None,
            peak_bytes: None,
            bytes_per_transition: None,
            extrapolated: false,
            ratios: BTreeMap::new(),
            note: None,
        }
    }

    /// Takes over what a solution says of its run.
    pub(crate) fn fill(&mut self, solution: &Solution) {
        self.status = name_of(&solution.status);
        self.gap = Some(solution.gap);
        self.ran = Some(Ran {
            method: name_of(&solution.method),
            oracle: Some(name_of(&solution.oracle)),
            reason: solution.reason.clone(),
        });
        self.sweeps = Some(solution.work.sweeps);
        self.evaluations = Some(solution.work.evaluations);
        self.first_order_steps = Some(solution.work.first_order_steps);
        self.kernel_passes = Some(solution.work.kernel_passes());
        self.oracle_calls = Some(solution.work.oracle_calls);
        self.value = Some(0.5 * (solution.initial_value.0 + solution.initial_value.1));
        self.active = Some(active_share(&solution.policy));
    }

    pub(crate) fn certified(&self) -> bool {
        self.status == "certified"
    }

    /// Sweeps of a certified run, at least one.
    pub(crate) fn certified_sweeps(&self) -> Option<u64> {
        self.sweeps.filter(|_| self.certified()).map(|n| n.max(1))
    }

    /// Whether something else ran than was asked for.
    pub(crate) fn replaced(&self) -> bool {
        let wanted = self.method.trim_end_matches("-paper");
        let method = |ran: &Ran| wanted != "auto" && ran.method != wanted;
        let asked = self.oracle.as_deref().map(|o| o.trim_end_matches(WHOLE));
        let oracle = |ran: &Ran| asked.is_some() && ran.oracle.as_deref() != asked;
        self.ran.as_ref().is_some_and(|ran| method(ran) || oracle(ran))
    }

    /// The method that ran; of a run that left the choice to the library, what it chose.
    pub(crate) fn single(&self) -> &str {
        match &self.ran {
            Some(ran) if self.method == "auto" => &ran.method,
            _ => &self.method,
        }
    }

    /// Whether it ran what this choice asks for.
    pub(crate) fn ran_as(&self, choice: &Choice) -> bool {
        let same = |ran: &Ran| ran.method == choice.name() && ran.oracle == choice.oracle_name();
        self.ran.as_ref().is_some_and(same)
    }

    /// Whether it asked for what `auto` ran on the same case: the same run once more.
    pub(crate) fn repeats(&self, auto: &Record) -> bool {
        let same = |ran: &Ran| ran.method == self.method && ran.oracle == self.oracle;
        self.case == auto.case
            && self.suite == auto.suite
            && auto.method == "auto"
            && self.method != "auto"
            && auto.ran.as_ref().is_some_and(same)
    }

    /// Notes seconds ÷ `unit` under a name.
    pub(crate) fn set_ratio(&mut self, name: &str, unit: f64) {
        let ratio = self.seconds / unit;
        if unit.is_finite() && ratio.is_finite() {
            self.ratios.insert(name.into(), ratio);
        }
    }
}

impl Entry for Record {
    fn key(&self) -> String {
        let case = serde_json::to_string(&self.case).unwrap_or_default();
        let asked = self.gap_asked.unwrap_or(0.0);
        let oracle = self.oracle.as_deref().unwrap_or("");
        format!("{} {case} {asked:e} {} {oracle} {}", self.suite, self.method, self.threads)
    }
}

/// The results without those that only repeat what the automatic choice ran: compared with it they
/// would tell the noise of the clock. Solves without uncertainty stay, the best of them is a unit.
pub(crate) fn once_each(records: Vec<Record>) -> Vec<Record> {
    let repeated: Vec<bool> = (records.iter())
        .map(|r| r.case.radius > 0.0 && records.iter().any(|auto| r.repeats(auto)))
        .collect();
    records.into_iter().zip(repeated).filter(|(_, repeated)| !repeated).map(|(r, _)| r).collect()
}

/// Share of the probabilities that are positive.
pub(crate) fn active_share(policy: &[f64]) -> f64 {
    let positive = policy.iter().filter(|&&x| x > 1e-9).count();
    positive as f64 / policy.len().max(1) as f64
}
