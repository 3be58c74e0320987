//! What the two interwoven searches of (ℓ1,ℓ1) cost on an ellipsoid.

use robust_mdp_measure::statistics::median;
use robust_mdp_page::Verdict;

use super::clock_text;
use super::tally::{Tally, tempered};
use crate::cell::{Experiment, Record, Task};
use crate::problem::{Problem, Regime};
use crate::select::Records;
use crate::solver::{FomSetup, Geometries};

/// A day against a quarter of an hour.
const DAY_TO_MINUTES: f64 = 100.0;

const MISSING: &str = "Traces of both setups on the same instances whose records have the time of the \
                       steps alone: rmdp reproduce setups -o DIR, in a new folder.";

/// The paper's two settings of (p,q).
const SETTINGS: [(u32, u32); 2] = [(1, 1), (2, 2)];

/// The first-order steps of (ℓ2,ℓ2) and of (ℓ1,ℓ1) on the same instance.
struct Pair {
    steps: u64,
    /// Seconds of the steps alone. The whole time has the gaps in it, which are the same for both.
    quick: f64,
    slow: f64,
}

/// Traces of both with the paper's steps, over as many of them. Older records do not have the time of
/// the steps alone, and are left out.
fn pairs(records: &Records<'_>, regimes: &[Regime]) -> Vec<Pair> {
    let wanted = |p: &Problem| regimes.contains(&p.regime);
    let mut pairs = Vec::new();
    for (p, q) in SETTINGS {
        let of = |setup| {
            let course = FomSetup { setup, p, q, centred: false };
            records.runs(Experiment::Setups, Task::Trace(course), wanted)
        };
        let slow = of(Geometries::L1L1);
        for quick in of(Geometries::L2L2) {
            let same = |r: &&&Record| {
                r.cell.problem == quick.cell.problem
                    && r.outcome.work.steps == quick.outcome.work.steps
            };
            let times = |slow: &&Record| {
                let steps = quick.outcome.work.steps;
                Some(Pair { steps, quick: quick.seconds.own?, slow: slow.seconds.own? })
            };
            pairs.extend(slow.iter().find(same).and_then(times));
        }
    }
    pairs
}

pub(super) fn setup_time(records: &Records<'_>) -> Verdict {
    let tally = |regimes: &[Regime]| {
        let ratios: Vec<f64> = pairs(records, regimes).iter().map(|p| p.slow / p.quick).collect();
        Tally::of(&ratios, DAY_TO_MINUTES)
    };
    let paper = tally(&[Regime::Paper]);
    let binding = tally(&[Regime::Tight, Regime::Hard]);
    let found = pairs(records, &[Regime::Paper]);
    let typical = |seconds: fn(&Pair) -> f64| {
        median(found.iter().map(seconds)).map_or("?".into(), clock_text)
    };
    let steps = found.first().map_or(0, |pair| pair.steps);
    Verdict {
        claim: "On one instance with S = A = 30, (ℓ1,ℓ1) takes almost a day, (ℓ2,ℓ2) minutes.".into(),
        ruling: tempered(paper, &[binding], MISSING),
        short: match paper.pairs {
            0 => "No records of the time of the steps alone.".into(),
            _ => format!("The steps take {} times as long.", paper.factor.text()),
        },
        measured: match paper.pairs {
            0 => "No two traces on the same instance have the time of their steps alone.".into(),
            _ => format!(
                "The time of the steps of (ℓ1,ℓ1) over that of equally many of (ℓ2,ℓ2), the paper's \
                 steps, is at least {DAY_TO_MINUTES} in {} at the paper's radius, {} where the budget \
                 binds. Medians of some {steps} steps at the paper's radius: {} against {}.",
                paper.text(),
                binding.text(),
                typical(|p| p.slow),
                typical(|p| p.quick)
            ),
        },
        why: "A day against at most a quarter of an hour is a factor of 100. Here the two interwoven \
              searches of the entropy step are Newton's method on the Wright omega function, side by \
              side on vector registers. What the gaps of a trace take is left out. Traces run side by \
              side on the cores, so that their times are rougher than those of runs alone."
            .into(),
        ours: String::new(),
    }
}
