//! The paper's findings, ruled on by explicit rules.
//!
//! Pairwise claims (“A reaches a smaller gap than B”) hold where at least [`MOST`] of the pairs agree
//! and fail where at most half do. The ruling is on the paper's own setting, its radius, its steps and
//! its rules to stop; where other regimes contradict it, the claim holds only partly. A pair whose side a
//! limit of work hides is left out and told of. A claim that the runs cannot decide is left open, with
//! what would decide it. docs/reproduce.md has all rules.

mod contests;
mod gap_cost;
mod healthcare;
mod kl;
mod outperforming;
mod overtaking;
mod rate;
mod setup_time;
mod small;
mod standing;
mod tally;
#[cfg(test)]
pub(crate) mod tests;

use robust_mdp_measure::statistics::{Sample, Summary, summary};
use robust_mdp_page::Verdict;

use super::cell::{Experiment, Record, Task};
use super::problem::{Family, Problem, Regime};
use super::select::{Records, Rule, case, seconds, sweeps};
use super::solver::Solver;
use contests::{epochs, geometry, weights};
use gap_cost::gap_cost;
use healthcare::{gauss_seidel, order_of_magnitude};
use kl::{kl, under_100_seconds};
use outperforming::outperforming;
use overtaking::overtaking;
use rate::rate;
use setup_time::setup_time;
use small::small;

/// The share of pairs that must agree.
const MOST: f64 = 0.9;
/// “No worse” allows for this much more, and “faster” asks for it.
const SLACK: f64 = 1.1;

pub(crate) fn verdicts(records: &Records<'_>) -> Vec<Verdict> {
    let ruled = [
        (Experiment::Setups, geometry as fn(&Records<'_>) -> Verdict),
        (Experiment::Setups, setup_time),
        (Experiment::Weights, weights),
        (Experiment::Epochs, epochs),
        (Experiment::Rate, rate),
        (Experiment::Time, overtaking),
        (Experiment::Time, outperforming),
        (Experiment::Time, small),
        (Experiment::Time, order_of_magnitude),
        (Experiment::Time, gauss_seidel),
        (Experiment::GapCost, gap_cost),
        (Experiment::Kl, kl),
        (Experiment::Kl, under_100_seconds),
    ];
    let ran = |e: Experiment| !records.of(e).is_empty();
    ruled.into_iter().filter(|(e, _)| ran(*e)).map(|(_, rule)| rule(records)).collect()
}

/// The median of several runs as one.
fn sample(summary: &Summary) -> Sample {
    Sample { value: summary.median, stopped: summary.stopped }
}

/// Runs of two solvers on the same problems of the comparison of times.
fn on_the_same<'r>(
    records: &Records<'r>,
    one: Solver,
    other: Solver,
    wanted: impl Fn(&Problem) -> bool + Copy,
) -> Vec<(&'r Record, &'r Record)> {
    let wanted = |p: &Problem| p.discount == 0.8 && wanted(p);
    let ones = records.runs(Experiment::Time, Task::Solve(one), wanted);
    let others = records.runs(Experiment::Time, Task::Solve(other), wanted);
    let same = |a: &&'r Record| {
        let b = others.iter().find(|b| b.cell.problem == a.cell.problem)?;
        Some((*a, *b))
    };
    ones.iter().filter_map(same).collect()
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
            count(rounds.median),
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
        s if s < 1e-3 => format!("{} µs", digits(1e6 * s)),
        s if s < 1.0 => format!("{} ms", digits(1e3 * s)),
        s => format!("{} s", digits(s)),
    }
}

fn points(summaries: &[(f64, Summary)]) -> Vec<(f64, f64)> {
    summaries.iter().filter(|(_, s)| !s.stopped).map(|(x, s)| (*x, s.median)).collect()
}

fn percent(share: f64) -> String {
    format!("{} %", count(100.0 * share))
}

/// Three significant digits: 0.980, 12.3, 1080.
fn digits(value: f64) -> String {
    if !value.is_finite() {
        return "?".into();
    }
    let scientific = format!("{value:.2e}");
    let power: i32 = scientific.split_once('e').map_or(0, |(_, p)| p.parse().unwrap_or(0));
    let rounded: f64 = scientific.parse().unwrap_or(value);
    format!("{rounded:.*}", (2 - power).max(0) as usize)
}

/// The median of counts: 3 rather than 3.00.
fn count(value: f64) -> String {
    match value.fract() == 0.0 && value.abs() < 1000.0 {
        true => value.to_string(),
        false => digits(value),
    }
}
