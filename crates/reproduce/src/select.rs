//! The records of a run, and the samples that figures and claims are made of.

use robust_mdp_measure::statistics::{Sample, Summary, median, summary};

use super::cell::{Evaluator, Experiment, Record, Task, TracePoint};
use super::problem::{Family, Problem, Regime};
use super::solver::{FomSetup, Solver};

/// When a run counts as over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// By the method's own rule, as in the paper.
    Own,
    /// By the same certified gap for all.
    Certified,
}

impl Rule {
    pub(crate) fn id(self) -> &'static str {
        match self {
            Rule::Own => "own",
            Rule::Certified => "certified",
        }
    }
}

/// The records of a plan, in its order.
pub(crate) struct Records<'r> {
    pub(crate) all: Vec<&'r Record>,
}

impl<'r> Records<'r> {
    pub(crate) fn of(&self, experiment: Experiment) -> Vec<&'r Record> {
        self.all.iter().copied().filter(|r| r.cell.experiment == experiment).collect()
    }

    /// Runs of a task on the problems that `wanted` picks.
    pub(crate) fn runs(
        &self,
        experiment: Experiment,
        task: Task,
        wanted: impl Fn(&Problem) -> bool,
    ) -> Vec<&'r Record> {
        let right = |r: &&Record| {
            r.cell.experiment == experiment && r.cell.task == task && wanted(&r.cell.problem)
        };
        self.all.iter().copied().filter(right).collect()
    }

    /// The share of saturated states, the median over the `auto` runs of a case.
    pub(crate) fn saturated(
        &self,
        experiment: Experiment,
        wanted: impl Fn(&Problem) -> bool,
    ) -> Option<f64> {
        let runs = self.runs(experiment, Task::Solve(Solver::Auto), wanted);
        median(runs.iter().filter_map(|r| r.outcome.saturated))
    }
}

/// Is it this case, whatever the size?
pub(crate) fn case(family: Family, regime: Regime) -> impl Fn(&Problem) -> bool {
    move |p| p.family == family && p.regime == regime
}

/// Seconds until the rule held.
pub(crate) fn seconds(record: &Record, rule: Rule) -> Sample {
    let at = match rule {
        Rule::Own => record.seconds.own,
        Rule::Certified => record.seconds.certified,
    };
    Sample { value: at.unwrap_or(record.seconds.total), stopped: at.is_none() }
}

/// State games solved until the rule held; a first-order step in a state counts as one.
pub(crate) fn games(record: &Record, rule: Rule) -> Sample {
    let at = match rule {
        Rule::Own => record.outcome.own,
        Rule::Certified => record.outcome.certified,
    };
    let counts = at.unwrap_or(record.outcome.work);
    let fom = matches!(record.cell.task, Task::Solve(s) if s.is_fom());
    let value = match fom {
        true => counts.steps * record.cell.problem.states as u64,
        false => counts.oracle_calls,
    };
    Sample { value: value as f64, stopped: at.is_none() }
}

/// Kernel entries read until the method's own rule held.
pub(crate) fn entries(record: &Record) -> Sample {
    let counts = record.outcome.own.unwrap_or(record.outcome.work);
    Sample { value: counts.entries as f64, stopped: record.outcome.own.is_none() }
}

pub(crate) fn sweeps(record: &Record) -> Sample {
    let counts = record.outcome.own.unwrap_or(record.outcome.work);
    Sample { value: counts.sweeps as f64, stopped: record.outcome.own.is_none() }
}

/// Summaries over seeds, by what `x` tells apart, in increasing order.
pub(crate) fn by<'r>(
    records: &[&'r Record],
    x: impl Fn(&Problem) -> f64,
    sample: impl Fn(&'r Record) -> Sample,
) -> Vec<(f64, Summary)> {
    let mut groups: Vec<(f64, Vec<Sample>)> = Vec::new();
    for record in records.iter().filter(|r| r.outcome.status != "failed") {
        let x = x(&record.cell.problem);
        match groups.iter_mut().find(|g| g.0 == x) {
            Some(group) => group.1.push(sample(record)),
            None => groups.push((x, vec![sample(record)])),
        }
    }
    groups.sort_by(|a, b| a.0.total_cmp(&b.0));
    groups.into_iter().filter_map(|(x, samples)| Some((x, summary(&samples)?))).collect()
}

pub(crate) fn states(problem: &Problem) -> f64 {
    problem.states as f64
}

/// The gap at p₀ after so many steps, interpolated in logarithms between checkpoints; no smaller than
/// `floor`.
pub(crate) fn gap_after(trace: &[TracePoint], steps: u64, floor: f64) -> Option<f64> {
    let after = trace.iter().position(|p| p.steps >= steps)?;
    let dg = |p: &TracePoint| p.dg.max(floor).ln();
    let b = &trace[after];
    if b.steps == steps {
        return Some(dg(b).exp());
    }
    let a = &trace[after.checked_sub(1)?];
    let ln = |steps: u64| (steps as f64).ln();
    let part = (ln(steps) - ln(a.steps)) / (ln(b.steps) - ln(a.steps));
    Some((dg(a) + part * (dg(b) - dg(a))).exp())
}

/// The traces of two courses on the same instance.
pub(crate) fn pairs<'r>(
    records: &Records<'r>,
    experiment: Experiment,
    regime: Regime,
    one: FomSetup,
    other: FomSetup,
) -> Vec<(&'r [TracePoint], &'r [TracePoint])> {
    let wanted = |p: &Problem| p.regime == regime;
    let ones = records.runs(experiment, Task::Trace(one), wanted);
    let others = records.runs(experiment, Task::Trace(other), wanted);
    let same = |a: &Record| {
        let found = others.iter().find(|b| b.cell.problem == a.cell.problem)?;
        Some(found.outcome.trace.as_slice())
    };
    ones.iter().filter_map(|a| Some((a.outcome.trace.as_slice(), same(a)?))).collect()
}

/// Summaries of an evaluator's runs.
pub(crate) fn evaluations<'r>(
    records: &Records<'r>,
    evaluator: Evaluator,
    regime: Regime,
    discount: f64,
) -> Vec<&'r Record> {
    let wanted = |p: &Problem| p.regime == regime && p.discount == discount;
    records.runs(Experiment::GapCost, Task::Gap(evaluator), wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_between_checkpoints() {
        let at = |steps, dg| TracePoint { steps, dg, gap: dg };
        let trace = [at(1, 1.0), at(100, 0.01), at(200, 0.0)];
        let close = |steps, dg: f64| (gap_after(&trace, steps, 1e-6).unwrap() - dg).abs() < 1e-12;
        assert!(close(100, 0.01) && close(10, 0.1) && close(200, 1e-6));
        assert_eq!(gap_after(&trace, 201, 1e-6), None);
        assert_eq!(gap_after(&trace[1..], 10, 1e-6), None);
    }
}
