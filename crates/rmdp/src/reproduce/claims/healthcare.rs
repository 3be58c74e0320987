//! The healthcare instances: FOM-VI and GS-VI against VI.

use super::{Parts, SLACK, Tally, count, digits, on_the_same, percent, quotient, tempered};
use crate::page::{Ruling, Verdict};
use crate::reproduce::cell::{Experiment, Record};
use crate::reproduce::problem::{Family, Problem, Regime};
use crate::reproduce::select::{Records, Rule, case, seconds, sweeps};
use crate::reproduce::solver::Solver;

const MISSING: &str = "Runs on healthcare instances that end by their own rules: rmdp reproduce time \
                       -o DIR, or its --full plan.";

/// “About one order of magnitude”: half an order to either side.
fn is_about_ten(factor: f64) -> bool {
    (0.5..=1.5).contains(&factor.log10())
}

/// Pairs of runs on healthcare models, in a regime.
fn pairs<'r>(
    records: &Records<'r>,
    one: Solver,
    other: Solver,
    regime: Regime,
) -> Vec<(&'r Record, &'r Record)> {
    let wanted = case(Family::Healthcare, regime);
    on_the_same(records, one, other, |p: &Problem| wanted(p))
}

/// The time of `other` over that of `one`, instance by instance.
fn factors(
    records: &Records<'_>,
    (one, other): (Solver, Solver),
    regime: Regime,
    rule: Rule,
) -> Vec<f64> {
    let pairs = pairs(records, one, other, regime);
    pairs.iter().filter_map(|(a, b)| quotient(seconds(a, rule), seconds(b, rule))).collect()
}

pub(super) fn order_of_magnitude(records: &Records<'_>) -> Verdict {
    let against = (Solver::FomPaper, Solver::ViPrograms);
    let factors = |regime, rule| factors(records, against, regime, rule);
    let tally = |regime, rule| Tally::where_(&factors(regime, rule), is_about_ten);
    let own = factors(Regime::Paper, Rule::Own);
    let paper = tally(Regime::Paper, Rule::Own);
    let others = [tally(Regime::Paper, Rule::Certified), tally(Regime::Calibrated, Rule::Own)];
    let spoken = match own.iter().filter(|&&f| f.log10() > 1.5).count() {
        n if n > 0 && n == own.len() => " It is more.",
        _ => "",
    };
    let saturated = records.saturated(Experiment::Time, case(Family::Healthcare, Regime::Paper));
    Verdict {
        claim: "On healthcare FOM-VI outperforms VI by about one order of magnitude.".into(),
        ruling: tempered(paper, &others, MISSING),
        short: format!(
            "At {} of {} sizes; the median factor is {}.{spoken}",
            paper.agree,
            paper.pairs,
            digits(paper.factor)
        ),
        measured: format!(
            "The time of VI by interior points over that of FOM-VI with the paper's steps is between \
             10^0.5 and 10^1.5 in {} at the paper's radius by the paper's rules, {} by the certified \
             gap, {} with the calibrated radius by the paper's rules.",
            paper.text(),
            others[0].text(),
            others[1].text()
        ),
        why: format!(
            "About one order is half an order to either side. States in which the paper's radius \
             √(S·A) does not bind: {}. Both methods are compiled code here; in the paper FOM-VI was \
             Python and the programs were Gurobi's. The instance is a reconstruction.",
            saturated.map_or("unknown".into(), percent)
        ),
        ours: String::new(),
    }
}

/// Better in time and in sweeps, each by more than a tenth.
pub(super) fn gauss_seidel(records: &Records<'_>) -> Verdict {
    let against = (Solver::GsPrograms, Solver::ViPrograms);
    let time = |regime| Tally::of(&factors(records, against, regime, Rule::Own), SLACK);
    let counted = |regime| -> Vec<f64> {
        let pairs = pairs(records, against.0, against.1, regime);
        pairs.iter().filter_map(|(a, b)| quotient(sweeps(a), sweeps(b))).collect()
    };
    let rounds = |regime| Tally::of(&counted(regime), SLACK);
    let part = |tally: Tally| match tally.ruling(MISSING) {
        Ruling::Holds => Some(true),
        Ruling::Partly | Ruling::Fails => Some(false),
        Ruling::Open(_) => None,
    };
    let (in_time, in_sweeps) = (time(Regime::Paper), rounds(Regime::Paper));
    let median = |solver| {
        let runs = pairs(records, solver, solver, Regime::Paper);
        let sweeps: Vec<f64> = runs.iter().map(|(r, _)| sweeps(r).value).collect();
        count(Tally::of(&sweeps, 0.0).factor)
    };
    Verdict {
        claim: "On healthcare GS-VI performs better than VI.".into(),
        ruling: Parts::of([part(in_time), part(in_sweeps)]).ruling(MISSING),
        short: format!(
            "Faster at {} of {} sizes, fewer sweeps at {}: {} in place of {}.",
            in_time.agree,
            in_time.pairs,
            in_sweeps.agree,
            median(Solver::GsPrograms),
            median(Solver::ViPrograms)
        ),
        measured: format!(
            "VI over GS-VI, both by interior points, by the paper's rule; better is by more than a \
             tenth. The paper's radius: time {}, sweeps {}. The calibrated radius: time {}, sweeps {}.",
            in_time.text(),
            in_sweeps.text(),
            time(Regime::Calibrated).text(),
            rounds(Regime::Calibrated).text()
        ),
        why:
            "Both are asked for, and either alone is a part of the claim: sweeps are counted, and \
              clocks are rough. A sweep of either is one program a state. The instance is a \
              reconstruction."
                .into(),
        ours: String::new(),
    }
}
