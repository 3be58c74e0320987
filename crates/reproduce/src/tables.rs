//! One CSV file an experiment, in the order of the plan. Columns that depend on the clock come last
//! and end in `seconds`; all others are the same in every run.

use std::fmt::Write;

use robust_mdp::error::name_of;

use super::cell::{Counts, Record, Task};

/// The table of an experiment of solves or evaluations.
const RUNS: &str = "family,regime,set,states,actions,discount,radius,seed,method,epsilon,limit,\
                    status,own_sweeps,own_steps,own_oracle_calls,own_entries,certified_sweeps,\
                    certified_steps,certified_oracle_calls,certified_entries,gap,lower,upper,\
                    saturated,own_seconds,certified_seconds,total_seconds\n";

/// The table of traces, one line a checkpoint.
const TRACES: &str = "family,regime,states,actions,discount,radius,seed,setup,p,q,step_rule,\
                      steps,dg,gap\n";

pub(crate) fn runs(records: &[&Record]) -> String {
    let mut text = String::from(RUNS);
    for record in records {
        let method = match record.cell.task {
            Task::Solve(solver) => name_of(&solver),
            Task::Gap(evaluator) => name_of(&evaluator),
            Task::Trace(_) => continue,
        };
        let (cell, outcome, seconds) = (&record.cell, &record.outcome, record.seconds);
        let problem = cell.problem;
        let fields = [
            name_of(&problem.family),
            name_of(&problem.regime),
            name_of(&problem.set),
            problem.states.to_string(),
            problem.actions().to_string(),
            problem.discount.to_string(),
            outcome.radius.to_string(),
            problem.seed.to_string(),
            method,
            cell.epsilon.to_string(),
            cell.limit.to_string(),
            outcome.status.clone(),
            counts(outcome.own),
            counts(outcome.certified),
            outcome.gap.to_string(),
            outcome.lower.to_string(),
            outcome.upper.to_string(),
            optional(outcome.saturated),
            optional(seconds.own),
            optional(seconds.certified),
            seconds.total.to_string(),
        ];
        text += &fields.join(",");
        text.push('\n');
    }
    text
}

pub(crate) fn traces(records: &[&Record]) -> String {
    let mut text = String::from(TRACES);
    for record in records {
        let Task::Trace(course) = record.cell.task else { continue };
        let problem = record.cell.problem;
        let rule = if course.centred { "centred" } else { "paper" };
        for at in &record.outcome.trace {
            let _ = writeln!(
                text,
                "{},{},{},{},{},{},{},\"{}\",{},{},{rule},{},{},{}",
                name_of(&problem.family),
                name_of(&problem.regime),
                problem.states,
                problem.actions(),
                problem.discount,
                record.outcome.radius,
                problem.seed,
                name_of(&course.setup),
                course.p,
                course.q,
                at.steps,
                at.dg,
                at.gap
            );
        }
    }
    text
}

fn counts(counts: Option<Counts>) -> String {
    match counts {
        Some(c) => format!("{},{},{},{}", c.sweeps, c.steps, c.oracle_calls, c.entries),
        None => ",,,".into(),
    }
}

fn optional(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}
