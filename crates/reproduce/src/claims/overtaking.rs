//! FOM-VI against value iteration by convex programs: whether it overtakes it as instances grow.

use robust_mdp_measure::statistics::growth;
use robust_mdp_page::{Ruling, Verdict};

use super::standing::{BySize, Standing, fastest};
use super::tally::{Ratio, together};
use super::{digits, points, sample, saturation};
use crate::cell::{Experiment, Task};
use crate::plan::CASES;
use crate::problem::{Family, Problem, Regime};
use crate::select::{Records, Rule, by, seconds, states};
use crate::solver::Solver;

const MISSING: &str = "Runs of FOM-VI and of the four loops that end by their own rules, at three sizes \
                       or more of Garnet and healthcare models: rmdp reproduce time -o DIR, or its \
                       --full plan.";

/// A family with the regime of its budget.
pub(super) type Case = (Family, Regime);

/// Median times of the comparison, λ = 0.8.
pub(super) struct Times<'r> {
    pub(super) records: &'r Records<'r>,
}

impl Times<'_> {
    pub(super) fn of(&self, solver: Solver, (family, regime): Case, rule: Rule) -> BySize {
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
    pub(super) fn ratios(&self, case: Case, rule: Rule) -> Vec<Ratio> {
        let programs = self.programs(case, rule);
        let pair = |(size, fom): &(f64, _)| {
            let (_, program) = programs.iter().find(|(s, _)| s == size)?;
            Some(Ratio::of(sample(fom), sample(program)))
        };
        self.of(Solver::FomPaper, case, rule).iter().filter_map(pair).collect()
    }
}

/// Where the paper says it; of machine replacement it says something else.
const FAMILIES: [Family; 3] = [Family::Garnet50, Family::Garnet20, Family::Healthcare];

/// States and actions of Garnet models from which on the paper sees FOM-VI ahead.
pub(super) const PAPER_SEES_IT_FROM: f64 = 50.0;

/// Where the Garnet models that were run are smaller than those that the paper speaks of.
pub(super) fn below_the_papers_sizes(times: &Times<'_>) -> String {
    let largest = [Family::Garnet50, Family::Garnet20]
        .into_iter()
        .filter_map(|family| times.programs((family, Regime::Paper), Rule::Own).last().map(|l| l.0))
        .fold(0.0, f64::max);
    match largest < PAPER_SEES_IT_FROM {
        true if largest > 0.0 => {
            format!(
                " The largest Garnet models here have S = A = {largest}: its sizes were not run."
            )
        }
        _ => String::new(),
    }
}

/// What crosses or grows, what does not, and what is not decided.
struct Found {
    all: [(Family, Standing); 3],
}

impl Found {
    fn names(&self, overtakes: Option<bool>) -> Vec<&'static str> {
        let wanted = self.all.iter().filter(|(_, s)| s.overtakes() == overtakes);
        wanted.map(|(family, _)| family.name()).collect()
    }

    fn ruling(&self) -> Ruling {
        let of = |(_, standing): (Family, Standing)| match standing.overtakes() {
            Some(true) => Ruling::Holds,
            Some(false) => Ruling::Fails,
            None => Ruling::Open(MISSING),
        };
        together(&self.all.map(of), MISSING)
    }

    /// “Crosses or grows: healthcare. Not decided: …”.
    fn in_short(&self) -> String {
        let faster = self.all.iter().filter(|(_, s)| matches!(s, Standing::Faster(_))).count();
        let group = |(title, overtakes)| {
            let names = self.names(overtakes);
            (!names.is_empty()).then(|| format!("{title}: {}. ", names.join(", ")))
        };
        let groups =
            [("Crosses or grows", Some(true)), ("Does not", Some(false)), ("Not decided", None)];
        let groups: String = groups.into_iter().filter_map(group).collect();
        format!("{groups}Faster at every size in {faster} of {}.", self.all.len())
    }
}

pub(super) fn overtaking(records: &Records<'_>) -> Verdict {
    let times = Times { records };
    let standing = |case, rule| times.standing(Solver::FomPaper, case, rule);
    let paper = |rule| FAMILIES.map(|family| (family, standing((family, Regime::Paper), rule)));
    let (own, certified) = (Found { all: paper(Rule::Own) }, paper(Rule::Certified));
    let binding: Vec<(Case, Standing)> = (CASES.into_iter())
        .filter(|(family, regime)| FAMILIES.contains(family) && *regime != Regime::Paper)
        .map(|case| (case, standing(case, Rule::Own)))
        .collect();
    let against = (certified.iter().map(|c| c.1).chain(binding.iter().map(|b| b.1)))
        .any(|standing| standing.overtakes() == Some(false));
    let ruling = match own.ruling() {
        Ruling::Holds if against => Ruling::Partly,
        ruling => ruling,
    };
    let lines: Vec<String> = (own.all.iter().zip(&certified))
        .map(|((family, own), (_, certified))| {
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
        claim:
            "FOM-VI overtakes value iteration by convex programs as Garnet and healthcare models \
                grow."
                .into(),
        ruling,
        short: own.in_short(),
        measured: format!(
            "FOM-VI with the paper's steps against the fastest of VI, GS-VI, Anderson and AVI with \
             interior points, at the paper's radius, by the paper's rules (S^k ± two standard errors \
             of the fit):{}",
            lines.concat()
        ),
        why: format!(
            "To overtake is to be slower at first and faster from some size on, or to be faster by \
             a factor that grows, as S^{} at least; what two standard errors do not tell from no growth, \
             or from so much of it, is not decided. The paper says it of Garnet models, where it sees \
             FOM-VI ahead from S, A ≥ {PAPER_SEES_IT_FROM} on, and of healthcare (“scales much \
             better”).{} {} The rules are not comparable: ‖v⁺ − v‖ ≤ ε(1−λ)/(2λ) asks for more sweeps \
             than a certified gap of ε, and DG at p₀ says nothing of a single state. Where the budget \
             binds, by the paper's rules:{}",
            super::standing::GROWS,
            below_the_papers_sizes(&times),
            saturation(records, Experiment::Time, Family::Garnet50),
            others.concat()
        ),
        ours: ours(&times),
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
