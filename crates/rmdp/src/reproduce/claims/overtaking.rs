//! From which size on FOM-VI is faster than value iteration by convex programs.

use super::{factor, points, saturation};
use crate::page::{Ruling, Verdict};
use crate::reproduce::cell::{Experiment, Task};
use crate::reproduce::plan::CASES;
use crate::reproduce::problem::{Family, Problem, Regime};
use crate::reproduce::select::{Records, Rule, by, seconds, states};
use crate::reproduce::solver::Solver;
use crate::reproduce::statistics::{Summary, growth};

/// From which size on `one` is faster than `other` at all larger sizes.
///
/// A stopped run is known to have taken longer than its time: it loses against a finished one that
/// took less, and nothing is known where both were stopped.
pub(super) fn crossing(one: &[(f64, Summary)], other: &[(f64, Summary)]) -> Option<f64> {
    let mut from = None;
    for (size, a) in one {
        let Some((_, b)) = other.iter().find(|(s, _)| s == size) else { continue };
        let faster = !a.stopped && a.median < b.median;
        from = if faster { from.or(Some(*size)) } else { None };
    }
    from
}

/// The best of several methods at every size.
pub(super) fn fastest(all: &[Vec<(f64, Summary)>]) -> Vec<(f64, Summary)> {
    let mut best: Vec<(f64, Summary)> = Vec::new();
    for (size, summary) in all.iter().flatten() {
        let rank = |s: &Summary| (s.stopped, s.median);
        match best.iter_mut().find(|(s, _)| s == size) {
            Some((_, least)) if rank(summary) < rank(least) => *least = *summary,
            Some(_) => {}
            None => best.push((*size, *summary)),
        }
    }
    best.sort_by(|a, b| a.0.total_cmp(&b.0));
    best
}

pub(super) fn overtaking(records: &Records<'_>) -> Verdict {
    let times = |solver, family, regime, rule| {
        let wanted =
            move |p: &Problem| p.family == family && p.regime == regime && p.discount == 0.8;
        let runs = records.runs(Experiment::Time, Task::Solve(solver), wanted);
        by(&runs, states, |r| seconds(r, rule))
    };
    let programs = |family, regime, rule| {
        fastest(&Solver::PROGRAMS.map(|solver| times(solver, family, regime, rule)))
    };
    let from = |solver, family, regime, rule| {
        let times = times(solver, family, regime, rule);
        let sizes = times.first().zip(times.last()).map(|(a, b)| (a.0, b.0));
        (crossing(&times, &programs(family, regime, rule)), sizes)
    };
    let spoken = |(at, sizes): (Option<f64>, Option<(f64, f64)>)| match (at, sizes) {
        (Some(at), Some((least, _))) if at == least => format!("at every size, from S = {at}"),
        (Some(at), _) => format!("from S = {at}"),
        (None, Some((_, most))) => format!("not up to S = {most}"),
        (None, None) => "not run".into(),
    };
    let (mut crossed, mut crossed_certified) = (0, 0);
    let mut lines = Vec::new();
    for family in Family::ALL {
        let own = from(Solver::FomPaper, family, Regime::Paper, Rule::Own);
        let certified = from(Solver::FomPaper, family, Regime::Paper, Rule::Certified);
        crossed += usize::from(own.0.is_some());
        crossed_certified += usize::from(certified.0.is_some());
        lines.push(format!(
            "{}: {} by the paper's rules, {} by the certified gap",
            family.title(),
            spoken(own),
            spoken(certified)
        ));
    }
    let other_cases = CASES.iter().filter(|c| c.1 != Regime::Paper);
    let others: Vec<String> = other_cases
        .map(|&(family, regime)| {
            let paper = from(Solver::FomPaper, family, regime, Rule::Own);
            let centred = from(Solver::FomCentred, family, regime, Rule::Own);
            format!(
                "{}, {}: {}, with centred steps {}",
                family.title(),
                regime.title(),
                spoken(paper),
                spoken(centred)
            )
        })
        .collect();
    let growths = |solver| {
        growth(&points(&times(solver, Family::Garnet50, Regime::Tight, Rule::Certified)))
            .map_or("?".into(), |k| format!("S^{k:.1}"))
    };
    let ratio = |solver| {
        let (a, b) = (
            fastest(&[times(solver, Family::Garnet50, Regime::Tight, Rule::Certified)]),
            fastest(&[times(Solver::Auto, Family::Garnet50, Regime::Tight, Rule::Certified)]),
        );
        let (a, b) = (a.last()?.1, b.last()?.1);
        Some(format!(
            "{}{} times",
            if a.stopped { "more than " } else { "" },
            factor(a.median / b.median)
        ))
    };
    let unknown = || "?".to_owned();
    Verdict {
        claim: "FOM-VI overtakes value iteration by convex programs as S and A grow.".into(),
        measured: format!(
            "FOM-VI with the paper's steps is faster than the fastest of VI, GS-VI, Anderson and \
             AVI with interior points, at the paper's radius: {}.",
            lines.join("; ")
        ),
        ruling: match (crossed, crossed_certified) {
            (4, 4) => Ruling::Holds,
            (0, 0) => Ruling::Fails,
            _ => Ruling::Partly,
        },
        why: format!(
            "{} The rules are not comparable: ‖v⁺ − v‖ ≤ ε(1−λ)/(2λ) asks for more sweeps than a \
             certified gap of ε, and DG at p₀ says nothing of a single state. Where the budget \
             binds: {}.",
            saturation(records, Experiment::Time, Family::Garnet50),
            others.join("; ")
        ),
        ours: format!(
            "Where the budget binds (Garnet 50 %, a twentieth of the radius), at the largest S, \
             FOM-VI with the paper's steps takes {} as long as auto to a certified gap of 0.1, VI \
             by interior points {}. Growth of the time: auto {}, FOM-VI with centred steps {}, VI \
             by interior points {}.",
            ratio(Solver::FomPaper).unwrap_or_else(unknown),
            ratio(Solver::ViPrograms).unwrap_or_else(unknown),
            growths(Solver::Auto),
            growths(Solver::FomCentred),
            growths(Solver::ViPrograms)
        ),
    }
}
