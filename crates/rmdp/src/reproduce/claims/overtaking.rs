//! FOM-VI against value iteration by convex programs: whether it overtakes it as instances grow, and
//! whether it is faster.

use super::standing::{BySize, Standing, fastest};
use super::{Parts, SLACK, Tally, digits, points, saturation, tempered};
use crate::page::{Ruling, Verdict};
use crate::reproduce::cell::{Experiment, Task};
use crate::reproduce::plan::CASES;
use crate::reproduce::problem::{Family, Problem, Regime};
use crate::reproduce::select::{Records, Rule, by, seconds, states};
use crate::reproduce::solver::Solver;
use crate::reproduce::statistics::growth;

const MISSING: &str = "Runs of FOM-VI and of the four loops that end by their own rules, at two sizes \
                       or more of all four families: rmdp reproduce time -o DIR, or its --full plan.";

/// A family with the regime of its budget.
type Case = (Family, Regime);

/// Median times of the comparison, λ = 0.8.
struct Times<'r> {
    records: &'r Records<'r>,
}

impl Times<'_> {
    fn of(&self, solver: Solver, (family, regime): Case, rule: Rule) -> BySize {
        let wanted =
            move |p: &Problem| p.family == family && p.regime == regime && p.discount == 0.8;
        let runs = self.records.runs(Experiment::Time, Task::Solve(solver), wanted);
        by(&runs, states, |r| seconds(r, rule))
    }

    /// The fastest of the four loops by interior points at every size.
    fn programs(&self, case: Case, rule: Rule) -> BySize {
        fastest(&Solver::PROGRAMS.map(|solver| self.of(solver, case, rule)))
    }

    fn standing(&self, solver: Solver, case: Case, rule: Rule) -> Standing {
        Standing::of(&self.of(solver, case, rule), &self.programs(case, rule))
    }

    /// The time of the fastest loop over that of FOM-VI with the paper's steps, by size.
    fn factors(&self, case: Case, rule: Rule) -> Vec<f64> {
        let programs = self.programs(case, rule);
        let pair = |(size, fom): &(f64, _)| {
            let (_, program) = programs.iter().find(|(s, _)| s == size)?;
            super::quotient(super::sample(fom), super::sample(program))
        };
        self.of(Solver::FomPaper, case, rule).iter().filter_map(pair).collect()
    }
}

fn paper_cases() -> [Case; 4] {
    Family::ALL.map(|family| (family, Regime::Paper))
}

fn binding_cases() -> impl Iterator<Item = Case> {
    CASES.into_iter().filter(|case| case.1 != Regime::Paper)
}

pub(super) fn overtaking(records: &Records<'_>) -> Verdict {
    let times = Times { records };
    let paper = |rule| paper_cases().map(|case| times.standing(Solver::FomPaper, case, rule));
    let (own, certified) = (paper(Rule::Own), paper(Rule::Certified));
    let binding: Vec<(Case, Standing)> = binding_cases()
        .map(|case| (case, times.standing(Solver::FomPaper, case, Rule::Own)))
        .collect();
    let against = (certified.iter().chain(binding.iter().map(|b| &b.1)))
        .any(|standing| standing.overtakes() == Some(false));
    let parts = Parts::of(own.map(Standing::overtakes));
    let ruling = match parts.ruling(MISSING) {
        Ruling::Holds if against => Ruling::Partly,
        ruling => ruling,
    };
    let lines: Vec<String> = (Family::ALL.iter().zip(own.iter().zip(&certified)))
        .map(|(family, (own, certified))| {
            let name = family.name();
            format!("\n- {name}: {}; by the certified gap {}.", own.text(), certified.text())
        })
        .collect();
    let others: Vec<String> = (binding.iter())
        .map(|((family, regime), standing)| {
            format!("\n- {}, {}: {}.", family.name(), regime.title(), standing.text())
        })
        .collect();
    Verdict {
        claim: "FOM-VI overtakes value iteration by convex programs as S and A grow.".into(),
        ruling,
        short: in_short(&own, parts),
        measured: format!(
            "FOM-VI with the paper's steps against the fastest of VI, GS-VI, Anderson and AVI with \
             interior points, at the paper's radius, by the paper's rules:{}",
            lines.concat()
        ),
        why: format!(
            "To overtake is to be slower at first and faster from some size on, or to be faster by \
             a factor that grows, as S^{} at least. The paper sees FOM-VI ahead from S, A ≥ 50 on. {} \
             The rules are not comparable: ‖v⁺ − v‖ ≤ ε(1−λ)/(2λ) asks for more sweeps than a \
             certified gap of ε, and DG at p₀ says nothing of a single state. Where the budget \
             binds, by the paper's rules:{}",
            super::standing::GROWS,
            saturation(records, Experiment::Time, Family::Garnet50),
            others.concat()
        ),
        ours: ours(&times),
    }
}

/// “2 of 4 families: …”.
fn in_short(own: &[Standing; 4], parts: Parts) -> String {
    let faster = own.iter().filter(|s| matches!(s, Standing::Faster(_))).count();
    let crosses = own.iter().filter(|s| matches!(s, Standing::Crosses { .. })).count();
    let decided = parts.yes + parts.no;
    match decided {
        0 => "No family has enough runs.".into(),
        _ => format!(
            "In {} of {decided} families: {crosses} crossings, {} growing advantages. Faster at every \
             size in {faster}.",
            parts.yes,
            parts.yes - crosses
        ),
    }
}

fn ours(times: &Times<'_>) -> String {
    const CASE: Case = (Family::Garnet50, Regime::Tight);
    let growths = |solver| {
        growth(&points(&times.of(solver, CASE, Rule::Certified)))
            .map_or("?".into(), |k| format!("S^{}", digits(k)))
    };
    let ratio = |solver| {
        let (a, b) = (
            times.of(solver, CASE, Rule::Certified).last()?.1,
            times.of(Solver::Auto, CASE, Rule::Certified).last()?.1,
        );
        let least = if a.stopped { "more than " } else { "" };
        Some(format!("{least}{} times", digits(a.median / b.median)))
    };
    let ratio = |solver| ratio(solver).unwrap_or_else(|| "?".to_owned());
    format!(
        "Where the budget binds (Garnet 50 %, a twentieth of the radius), at the largest S, \
         FOM-VI with the paper's steps takes {} as long as auto to a certified gap of 0.1, VI \
         by interior points {}. Growth of the time: auto {}, FOM-VI with centred steps {}, VI \
         by interior points {}.",
        ratio(Solver::FomPaper),
        ratio(Solver::ViPrograms),
        growths(Solver::Auto),
        growths(Solver::FomCentred),
        growths(Solver::ViPrograms)
    )
}

pub(super) fn faster(records: &Records<'_>) -> Verdict {
    let times = Times { records };
    let factors = |cases: &[Case], rule| -> Vec<f64> {
        cases.iter().flat_map(|&case| times.factors(case, rule)).collect()
    };
    let binding: Vec<Case> = binding_cases().collect();
    let own = factors(&paper_cases(), Rule::Own);
    let [paper, certified, bound] =
        [&own, &factors(&paper_cases(), Rule::Certified), &factors(&binding, Rule::Own)]
            .map(|factors| Tally::of(factors, SLACK));
    let least = own.iter().copied().fold(f64::NAN, f64::min);
    let most = own.iter().copied().fold(f64::NAN, f64::max);
    Verdict {
        claim: "FOM-VI is faster than every form of value iteration by convex programs.".into(),
        ruling: tempered(paper, &[certified, bound], MISSING),
        short: format!(
            "At {} of {} sizes, {} to {} times.",
            paper.agree,
            paper.pairs,
            digits(least),
            digits(most)
        ),
        measured: format!(
            "A pair is a size of a family: FOM-VI with the paper's steps against the fastest of the \
             four loops. The paper's radius, by the paper's rules: {}; by the certified gap: {}. \
             Where the budget binds, by the paper's rules: {}.",
            paper.text(),
            certified.text(),
            bound.text()
        ),
        why: "Said of machine replacement and of large Garnet models; asked of all four families and \
              all sizes here. Faster is by more than a tenth. A first-order step reads the kernel a \
              few times, an interior point factors a system for every step; both are compiled code \
              here, the paper's steps were Python and its programs Gurobi's, so that factors do not \
              compare."
            .into(),
        ours: format!(
            "With the exact oracle in place of programs, VI takes {} of the time of FOM-VI with the \
             paper's steps to a certified gap (median over the same sizes).",
            against_exact(&times)
        ),
    }
}

/// The time of VI with exact updates over that of FOM-VI.
fn against_exact(times: &Times<'_>) -> String {
    let mut ratios = Vec::new();
    for case in paper_cases() {
        let exact = times.of(Solver::ViExact, case, Rule::Certified);
        for (size, fom) in times.of(Solver::FomPaper, case, Rule::Certified) {
            let Some((_, exact)) = exact.iter().find(|(s, _)| *s == size) else { continue };
            ratios.extend(super::quotient(super::sample(&fom), super::sample(exact)));
        }
    }
    digits(Tally::of(&ratios, 0.0).factor)
}
