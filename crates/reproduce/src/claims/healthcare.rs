//! The healthcare instances: FOM-VI and GS-VI against VI.

use robust_mdp_measure::statistics::{Sample, summary};
use robust_mdp_page::Verdict;

use super::tally::{Ratio, Tally, tempered, together};
use super::{SLACK, count, on_the_same, percent};
use crate::cell::{Experiment, Record};
use crate::problem::{Family, Problem, Regime};
use crate::select::{Records, Rule, case, seconds, sweeps};
use crate::solver::Solver;

const MISSING: &str = "Runs on healthcare instances that end by their own rules: rmdp reproduce time \
                       -o DIR, or its --full plan.";

/// “About one order of magnitude”: half an order to either side.
fn about_ten() -> (f64, f64) {
    (10f64.powf(0.5), 10f64.powf(1.5))
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
fn ratios(
    records: &Records<'_>,
    (one, other): (Solver, Solver),
    regime: Regime,
    rule: Rule,
) -> Vec<Ratio> {
    let pairs = pairs(records, one, other, regime);
    pairs.iter().map(|(a, b)| Ratio::of(seconds(a, rule), seconds(b, rule))).collect()
}

pub(super) fn order_of_magnitude(records: &Records<'_>) -> Verdict {
    let against = (Solver::FomPaper, Solver::ViPrograms);
    let ratios = |regime, rule| ratios(records, against, regime, rule);
    let (least, most) = about_ten();
    let tally = |regime, rule| Tally::within(&ratios(regime, rule), least, most);
    let own = ratios(Regime::Paper, Rule::Own);
    let paper = tally(Regime::Paper, Rule::Own);
    let others = [tally(Regime::Paper, Rule::Certified), tally(Regime::Calibrated, Rule::Own)];
    let spoken = match own.iter().filter(|r| r.ends().0 > most).count() {
        n if n > 0 && n == own.len() => " It is more.",
        _ => "",
    };
    let saturated = records.saturated(Experiment::Time, case(Family::Healthcare, Regime::Paper));
    Verdict {
        claim: "On healthcare FOM-VI outperforms VI by about one order of magnitude.".into(),
        ruling: tempered(paper, &others, MISSING),
        short: format!(
            "At {} of {} sizes{}; the median factor is {}.{spoken}",
            paper.agree,
            paper.pairs,
            paper.left_out(),
            paper.factor.text()
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
    let time = |regime| Tally::of(&ratios(records, against, regime, Rule::Own), SLACK);
    let counted = |regime| -> Vec<Ratio> {
        let pairs = pairs(records, against.0, against.1, regime);
        pairs.iter().map(|(a, b)| Ratio::of(sweeps(a), sweeps(b))).collect()
    };
    let rounds = |regime| Tally::of(&counted(regime), SLACK);
    let (in_time, in_sweeps) = (time(Regime::Paper), rounds(Regime::Paper));
    let median = |solver| {
        let runs = pairs(records, solver, solver, Regime::Paper);
        let sweeps: Vec<Sample> = runs.iter().map(|(r, _)| sweeps(r)).collect();
        summary(&sweeps).map_or("?".into(), |s| match s.stopped {
            true => format!("more than {}", count(s.median)),
            false => count(s.median),
        })
    };
    Verdict {
        claim: "On healthcare GS-VI performs better than VI.".into(),
        ruling: together(&[in_time, in_sweeps].map(|t| t.ruling(MISSING)), MISSING),
        short: format!(
            "By more than a tenth: faster at {} of {} sizes, fewer sweeps at {} of {} (median {} in \
             place of {}).",
            in_time.agree,
            in_time.pairs,
            in_sweeps.agree,
            in_sweeps.pairs,
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
