//! The rate of the paper's theorem: after T steps with epochs of ℓ^q the gap is O(T^(−q/(q+1))).

use super::{Tally, digits, tempered};
use crate::page::{Ruling, Verdict};
use crate::reproduce::cell::{Experiment, Record, Task, TracePoint};
use crate::reproduce::problem::{Problem, Regime};
use crate::reproduce::select::Records;
use crate::reproduce::solver::{Course, Geometries};
use crate::reproduce::statistics::growth;

/// The rate is fitted over the last of the steps, a decade of them.
const LAST: f64 = 10.0;
/// Below this, gaps are differences of rounding and of the tolerance.
const FLOOR: f64 = 1e-6;

const MISSING: &str = "Longer traces: the bound has a constant, so that a slower fall at first does \
                       not refute it. rmdp reproduce rate -o DIR --full follows ten times the steps.";

/// The epochs that the theorem gives a rate for.
const EPOCHS: [u32; 2] = [1, 2];

/// What the theorem promises for epochs of ℓ^q steps.
fn promised(q: u32) -> f64 {
    f64::from(q) / f64::from(q + 1)
}

/// k of the fit DG ≈ c·T^(−k) over the last decade of steps, where there are three points at least.
pub(super) fn fitted(trace: &[TracePoint]) -> Option<f64> {
    let last = trace.last()?.steps as f64;
    let points: Vec<(f64, f64)> = (trace.iter())
        .filter(|p| LAST * p.steps as f64 >= last && p.dg > FLOOR)
        .map(|p| (p.steps as f64, p.dg))
        .collect();
    (points.len() > 2).then(|| growth(&points).map(|k| -k))?
}

/// Fitted exponents over promised ones, of all traces of a setup with the paper's steps. A trace that
/// ends at the floor has no fit, and is not asked.
fn ratios(
    records: &Records<'_>,
    experiment: Experiment,
    setup: Geometries,
    regimes: &[Regime],
    q: u32,
) -> Vec<f64> {
    let wanted = |p: &Problem| regimes.contains(&p.regime);
    let of = |p| Task::Trace(Course { setup, p, q, centred: false });
    let runs = (0..=2).flat_map(|p| records.runs(experiment, of(p), wanted));
    let ratio = |r: &Record| Some(fitted(&r.outcome.trace)? / promised(q));
    runs.filter_map(ratio).collect()
}

pub(super) fn rate(records: &Records<'_>) -> Verdict {
    let all = |setup, regimes: &[Regime]| -> Vec<f64> {
        let of = |q| ratios(records, Experiment::Rate, setup, regimes, q);
        EPOCHS.into_iter().flat_map(of).collect()
    };
    let tally = |setup, regimes: &[Regime]| Tally::of(&all(setup, regimes), 1.0);
    let binding = [Regime::Tight, Regime::Hard];
    let setups = Geometries::ALL;
    let rulings = setups.map(|s| {
        // A slower fall over the steps at hand does not refute a bound up to a constant.
        match tempered(tally(s, &[Regime::Paper]), &[tally(s, &binding)], MISSING) {
            Ruling::Holds => Ruling::Holds,
            Ruling::Partly | Ruling::Fails | Ruling::Open(_) => Ruling::Open(MISSING),
        }
    });
    let held = rulings.iter().filter(|r| **r == Ruling::Holds).count();
    let range = |q| {
        let mut found: Vec<f64> = (setups.iter())
            .flat_map(|&s| ratios(records, Experiment::Rate, s, &[Regime::Paper], q))
            .map(|r| r * promised(q))
            .collect();
        found.sort_by(f64::total_cmp);
        match (found.first(), found.last()) {
            (Some(least), Some(most)) => format!("{} to {}", digits(*least), digits(*most)),
            _ => "?".into(),
        }
    };
    let line = |regimes: &[Regime]| {
        let of = |s: Geometries| {
            let tally = tally(s, regimes);
            format!("{} {} of {}", s.title(), tally.agree, tally.pairs)
        };
        setups.map(of).join(", ")
    };
    Verdict {
        claim: "After T steps with epochs of ℓ^q the gap is O(T^(−q/(q+1))).".into(),
        ruling: match held {
            0 => Ruling::Open(MISSING),
            n if n == setups.len() => Ruling::Holds,
            _ => Ruling::Partly,
        },
        short: format!(
            "Fitted exponents: {} for q = 1 (0.5 promised), {} for q = 2 (0.667).",
            range(1),
            range(2)
        ),
        measured: format!(
            "Exponents fitted over the last decade of the paper's steps, q = 1 and 2, at least as \
             large as promised: {} at the paper's radius; {} where the budget binds.",
            line(&[Regime::Paper]),
            line(&binding)
        ),
        why: format!(
            "On small models (S = A = 10), where steps of every setup come to their rate within the \
             limit. A bound with an unknown constant cannot be refuted by finitely many steps: a setup \
             whose traces fall more slowly is not decided. That the gap falls faster than promised is \
             no contradiction. {}q = 0 is promised nothing.",
            larger(records)
        ),
        ours: String::new(),
    }
}

/// The same of the traces of the other experiments.
fn larger(records: &Records<'_>) -> String {
    let of = |experiment: Experiment, setup: Geometries| {
        let tally = EPOCHS
            .into_iter()
            .flat_map(|q| ratios(records, experiment, setup, &[Regime::Paper], q))
            .collect::<Vec<f64>>();
        let tally = Tally::of(&tally, 1.0);
        (tally.pairs > 0).then(|| {
            format!("{} {}: {} of {}", experiment.name(), setup.title(), tally.agree, tally.pairs)
        })
    };
    let all: Vec<String> = [Experiment::Setups, Experiment::Epochs, Experiment::Weights]
        .into_iter()
        .flat_map(|e| Geometries::ALL.into_iter().filter_map(move |s| of(e, s)))
        .collect();
    match all.is_empty() {
        true => String::new(),
        false => format!("With S = A = 30, at least as fast as promised: {}. ", all.join(", ")),
    }
}
