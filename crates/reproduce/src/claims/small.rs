//! Small instances: FOM-VI and value iteration alike?

use robust_mdp_page::Verdict;

use super::on_the_same;
use super::tally::{Ratio, Tally, tempered};
use crate::problem::{Problem, Regime};
use crate::select::{Records, Rule, seconds};
use crate::solver::Solver;

/// Instances of so many states are small. The paper sees FOM-VI ahead from 50 on.
const SMALL: usize = 10;
/// Times are similar within this factor.
const SIMILAR: f64 = 2.0;

const MISSING: &str = "Runs on Garnet models with at most 10 states that end by their own rules: rmdp \
                       reproduce time -o DIR.";

/// Times of the four loops over those of FOM-VI, instance by instance.
fn ratios(records: &Records<'_>, rule: Rule, is_paper: bool) -> Vec<Ratio> {
    let wanted = |p: &Problem| {
        p.family.is_garnet()
            && p.states <= SMALL
            && p.regime != Regime::Banded
            && (p.regime == Regime::Paper) == is_paper
    };
    let mut ratios = Vec::new();
    for program in Solver::PROGRAMS {
        for (fom, other) in on_the_same(records, Solver::FomPaper, program, wanted) {
            ratios.push(Ratio::of(seconds(fom, rule), seconds(other, rule)));
        }
    }
    ratios
}

pub(super) fn small(records: &Records<'_>) -> Verdict {
    let tally =
        |rule, is_paper| Tally::within(&ratios(records, rule, is_paper), 1.0 / SIMILAR, SIMILAR);
    let paper = tally(Rule::Own, true);
    let certified = tally(Rule::Certified, true);
    let binding = tally(Rule::Own, false);
    Verdict {
        claim: "On small Garnet instances FOM-VI performs like VI, AVI, GS-VI and Anderson.".into(),
        ruling: tempered(paper, &[certified, binding], MISSING),
        short: format!(
            "Within a factor of 2 in {} of {} pairs; the loops take {} times as long.",
            paper.agree,
            paper.pairs,
            paper.factor.text()
        ),
        measured: format!(
            "Garnet models with at most {SMALL} states, instance by instance, each of the four loops \
             by interior points against FOM-VI with the paper's steps. Within a factor of {SIMILAR} \
             at the paper's radius: {} by the paper's rules, {} by the certified gap; where the \
             budget binds {} by the paper's rules.",
            paper.text(),
            certified.text(),
            binding.text()
        ),
        why:
            "Factors are the loop's time over that of FOM-VI. Both are compiled code here; in the \
              paper FOM-VI was Python and the programs were Gurobi's."
                .into(),
        ours: String::new(),
    }
}
