//! The paper's findings, ruled on by explicit rules.
//!
//! Pairwise claims (“A reaches a smaller gap than B”) hold where at least [`MOST`] of the pairs agree
//! and fail where at most half do. The ruling is on the paper's own setting, its radius and its
//! steps; where other regimes contradict it, the claim holds only partly.

mod contests;
mod gap_cost;
mod kl;
mod overtaking;
#[cfg(test)]
pub(crate) mod tests;

use super::cell::{Experiment, Task};
use super::problem::{Family, Regime};
use super::select::{Records, Rule, case, seconds, sweeps};
use super::solver::Solver;
use super::statistics::{Sample, Summary, summary};
use crate::page::{Ruling, Verdict};
use contests::{epochs, geometry, weights};
use gap_cost::gap_cost;
use kl::kl;
use overtaking::overtaking;

/// The share of pairs that must agree.
const MOST: f64 = 0.9;

pub(crate) fn verdicts(records: &Records<'_>) -> Vec<Verdict> {
    let ruled = [
        (Experiment::Setups, geometry as fn(&Records<'_>) -> Verdict),
        (Experiment::Weights, weights),
        (Experiment::Epochs, epochs),
        (Experiment::Time, overtaking),
        (Experiment::GapCost, gap_cost),
        (Experiment::Kl, kl),
    ];
    let ran = |e: Experiment| !records.of(e).is_empty();
    ruled.into_iter().filter(|(e, _)| ran(*e)).map(|(_, rule)| rule(records)).collect()
}

/// How many of some pairs agree with a claim, and the median factor between the two.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Tally {
    pairs: usize,
    agree: usize,
    factor: f64,
}

impl Tally {
    fn of(ratios: &[f64], enough: f64) -> Tally {
        let samples: Vec<Sample> =
            ratios.iter().map(|&value| Sample { value, stopped: false }).collect();
        Tally {
            pairs: ratios.len(),
            agree: ratios.iter().filter(|&&r| r >= enough).count(),
            factor: summary(&samples).map_or(f64::NAN, |s| s.median),
        }
    }

    fn share(self) -> f64 {
        self.agree as f64 / self.pairs as f64
    }

    fn ruling(self) -> Ruling {
        match self.share() {
            _ if self.pairs == 0 => Ruling::Open,
            share if share >= MOST => Ruling::Holds,
            share if share <= 0.5 => Ruling::Fails,
            _ => Ruling::Partly,
        }
    }

    fn text(self) -> String {
        match self.pairs {
            0 => "no pairs".into(),
            _ => format!(
                "{} of {} pairs, median factor {}",
                self.agree,
                self.pairs,
                factor(self.factor)
            ),
        }
    }
}

/// The ruling on the paper's setting, tempered by the others.
fn tempered(paper: Tally, others: &[Tally]) -> Ruling {
    let against = others.iter().any(|t| t.pairs > 0 && t.share() <= 0.5);
    match paper.ruling() {
        Ruling::Holds if against => Ruling::Partly,
        ruling => ruling,
    }
}

const REGIMES: [Regime; 3] = [Regime::Paper, Regime::Tight, Regime::Hard];

/// Which share of the states is saturated, by regime.
fn saturation(records: &Records<'_>, experiment: Experiment, family: Family) -> String {
    let of = |regime| records.saturated(experiment, case(family, regime));
    let shares: Vec<String> = REGIMES
        .iter()
        .filter_map(|&r| Some(format!("{} at {}", percent(of(r)?), r.title())))
        .collect();
    match shares.is_empty() {
        true => String::new(),
        false => format!("States whose budget does not bind: {}.", shares.join(", ")),
    }
}

/// What the library's own choice does on the same instances.
fn auto(records: &Records<'_>, experiment: Experiment) -> String {
    let runs = records.runs(experiment, Task::Solve(Solver::Auto), |_| true);
    let times: Vec<Sample> = runs.iter().map(|r| seconds(r, Rule::Certified)).collect();
    let rounds: Vec<Sample> = runs.iter().map(|r| sweeps(r)).collect();
    match (summary(&times), summary(&rounds)) {
        (Some(times), Some(rounds)) => format!(
            "Auto certifies a gap of 0.1 on the same instances in {} sweeps and {} (medians over \
             all regimes; quartiles {} to {}).",
            rounds.median,
            clock_text(times.median),
            clock_text(times.low),
            clock_text(times.high)
        ),
        _ => "Auto was not run.".into(),
    }
}

/// A time with its unit; most runs here take less than a millisecond.
pub(crate) fn clock_text(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{} µs", factor(1e6 * s)),
        s if s < 1.0 => format!("{} ms", factor(1e3 * s)),
        s => format!("{} s", factor(s)),
    }
}

fn points(summaries: &[(f64, Summary)]) -> Vec<(f64, f64)> {
    summaries.iter().filter(|(_, s)| !s.stopped).map(|(x, s)| (*x, s.median)).collect()
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

fn factor(ratio: f64) -> String {
    match ratio {
        r if r >= 100.0 => format!("{r:.0}"),
        r if r >= 10.0 => format!("{r:.1}"),
        r => format!("{r:.2}"),
    }
}
