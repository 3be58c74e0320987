//! Claims that one way of running FOM-VI leaves a smaller gap than another after as many steps.

use super::{REGIMES, Tally, auto, saturation, tempered};
use crate::page::Verdict;
use crate::reproduce::cell::{Experiment, TracePoint};
use crate::reproduce::problem::{Family, Regime};
use crate::reproduce::select::{Records, gap_after, pairs};
use crate::reproduce::solver::{Course, Geometries};

/// “No worse” allows for this much more.
pub(super) const SLACK: f64 = 1.1;

/// The gap of `other` over that of `one` after the same number of steps.
fn ratios(
    records: &Records<'_>,
    experiment: Experiment,
    regime: Regime,
    contests: &[(Course, Course)],
) -> Vec<f64> {
    // Below this, gaps are differences of rounding and of the tolerance.
    const FLOOR: f64 = 1e-6;
    let mut ratios = Vec::new();
    for &(one, other) in contests {
        for (a, b) in pairs(records, experiment, regime, one, other) {
            let steps = |t: &[TracePoint]| t.last().map_or(0, |p| p.steps);
            let common = steps(a).min(steps(b));
            if let (Some(a), Some(b)) = (gap_after(a, common, FLOOR), gap_after(b, common, FLOOR)) {
                ratios.push(b / a);
            }
        }
    }
    ratios
}

/// A claim that some courses leave a smaller gap than others.
fn contest(
    records: &Records<'_>,
    experiment: Experiment,
    claim: &str,
    enough: f64,
    reason: &str,
    contests: impl Fn(bool) -> Vec<(Course, Course)>,
) -> Verdict {
    let tally = |regime, centred| {
        Tally::of(&ratios(records, experiment, regime, &contests(centred)), enough)
    };
    let paper = tally(Regime::Paper, false);
    let others: Vec<Tally> = REGIMES[1..].iter().map(|&r| tally(r, false)).collect();
    let centred: Vec<String> =
        REGIMES.iter().map(|&r| format!("{}: {}", r.title(), tally(r, true).text())).collect();
    let measured = format!(
        "Gap at p₀ after equally many steps, the paper's steps. The paper's radius: {}. A twentieth \
         of it: {}; with costs driven by the state: {}.",
        paper.text(),
        others[0].text(),
        others[1].text()
    );
    let why = format!(
        "{reason} {} With centred steps: {}.",
        saturation(records, experiment, Family::Garnet50),
        centred.join("; ")
    );
    Verdict {
        claim: claim.into(),
        measured,
        ruling: tempered(paper, &others),
        why,
        ours: auto(records, experiment),
    }
}

pub(super) fn geometry(records: &Records<'_>) -> Verdict {
    let contests = |centred| {
        let of = |setup, p, q| Course { setup, p, q, centred };
        [(1, 1), (2, 2)]
            .map(|(p, q)| (of(Geometries::L2L2, p, q), of(Geometries::L1L1, p, q)))
            .to_vec()
    };
    let claim = "The (ℓ2,ℓ2) setup needs fewer iterations than (ℓ1,ℓ1).";
    let reason = "The paper's ℓ1 steps are bounded through A² ln S, its ℓ2 steps through A.";
    contest(records, Experiment::Setups, claim, 1.0 + 1e-9, reason, contests)
}

pub(super) fn weights(records: &Records<'_>) -> Verdict {
    let contests = |centred| {
        let of = |p| Course { setup: Geometries::L2L2, p, q: 2, centred };
        vec![(of(1), of(0)), (of(2), of(0))]
    };
    let claim = "Increasing weights (p = 1, 2) beat uniform ones (p = 0).";
    let reason = "Uniform weights keep the first, worst iterates in the average.";
    contest(records, Experiment::Weights, claim, 1.0 + 1e-9, reason, contests)
}

pub(super) fn epochs(records: &Records<'_>) -> Verdict {
    let contests = |centred| {
        let of = |q| Course { setup: Geometries::L2L2, p: 1, q, centred };
        vec![(of(2), of(0)), (of(2), of(1))]
    };
    let claim =
        "Epochs of ℓ² steps are no worse than constant or linear ones (q = 2 against 0, 1).";
    let reason = "A pair agrees where the gap with q = 2 is at most 1.1 times the other.";
    contest(records, Experiment::Epochs, claim, 1.0 / SLACK, reason, contests)
}
