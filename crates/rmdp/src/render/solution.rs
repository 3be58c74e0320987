//! The page of `rmdp solve`: what was asked, what was found, the policy state by state.

use robust_mdp::sets::Distance;
use robust_mdp::{Criterion, Ending, Model, Objective, Solution, Status, Work};
use robust_mdp_measure::table::Table;
use robust_mdp_page::number::{
    decimals, gap_text, grouped, plain, rounded_down, rounded_up, short, time_text,
};

use crate::randomised;
use crate::solve::Found;

use super::{SHOWN, facts, left_out, objective, policy, shown_name, sizes};

/// Characters of a state's name.
pub(crate) const STATE_NAME: usize = 32;

/// Digits of relative values, of which no bounds are known.
const RELATIVE_DIGITS: usize = 6;

/// What the header says beyond the model itself.
pub(crate) struct Heading {
    pub(crate) name: String,
    pub(crate) set: String,
    pub(crate) distance: Distance,
    pub(crate) method: String,
    pub(crate) settings: Option<String>,
    pub(crate) asked: Asked,
}

pub(crate) fn page(model: &Model, heading: Heading, found: Found<'_>, all_states: bool) -> String {
    let Found { question, solution, .. } = found;
    let mut header = vec![
        ("model", format!("{} ({})", heading.name, sizes(model))),
        ("objective", objective(model, question, heading.distance)),
        ("set", heading.set),
        ("method", heading.method),
    ];
    header.extend(heading.settings.map(|settings| ("", settings)));
    let shown = if all_states { model.states() } else { model.states().min(SHOWN) };
    let table = states_table(model, solution, shown);
    let rest = left_out(model.states(), shown, "--policy and --json write all of them");
    let result = result(model, found, heading.asked);
    let first = match question.horizon() {
        Some(horizon) if horizon > 1 => format!(
            "Shown is the first of {} steps; --policy and --json write all of them\n",
            grouped(horizon.into())
        ),
        _ => String::new(),
    };
    format!("{}\n{result}\n{table}{rest}{first}", facts(&header))
}

/// What the status means, in words.
pub(crate) fn ending(status: Status) -> &'static str {
    match status {
        Status::Certified => "certified",
        Status::SweepLimit => "stopped at the sweep limit; the bounds hold",
        Status::TimeLimit => "stopped at the time limit; the bounds hold",
        Status::PrecisionLimit => "no smaller gap could be certified; the bounds hold",
        Status::Interrupted => "interrupted; the bounds hold",
    }
}

/// Decimals that show the bounds of a whole table.
pub(crate) fn table_decimals(gap: f64, bounds: &[&[f64]]) -> usize {
    let values = bounds.iter().flat_map(|b| b.iter());
    let largest = values.filter(|v| v.is_finite()).fold(0.0_f64, |m, v| m.max(v.abs()));
    decimals(gap, largest)
}

/// Who has said how narrow bounds must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    ByUser,
    ByDefault,
}

impl Asked {
    pub(crate) fn by(gap: Option<f64>) -> Asked {
        if gap.is_some() { Asked::ByUser } else { Asked::ByDefault }
    }
}

/// “at most 1.2e-6 in every state (asked 1e-5)”.
pub(crate) fn gap_line(gap: f64, target: f64, asked: Asked) -> String {
    let (gap, target) = (gap_text(gap), short(target));
    let asked = match asked {
        Asked::ByUser => format!("asked {target}"),
        Asked::ByDefault => format!("asked {target} by default"),
    };
    format!("at most {gap} in every state ({asked})")
}

/// “between 1.2 and 1.3”.
pub(crate) fn between((lower, upper): (f64, f64), decimals: usize) -> String {
    format!("between {} and {}", rounded_down(lower, decimals), rounded_up(upper, decimals))
}

/// Where the value is taken.
pub(crate) fn start(model: &Model) -> &'static str {
    match model.initial() {
        Some(_) => "at the initial distribution",
        None => "from a uniform start",
    }
}

fn result(model: &Model, found: Found<'_>, asked: Asked) -> String {
    let Found { question, solution, randomised, verified } = found;
    let digits = table_decimals(solution.gap, &[&solution.lower, &solution.upper]);
    let value = between(solution.initial_value, digits);
    let place = match question.criterion {
        Criterion::Average => "per step, wherever it starts",
        Criterion::Discounted | Criterion::Finite { .. } | Criterion::Total => start(model),
    };
    let proof = if verified { "; the bounds are verified" } else { "" };
    let value = match solution.initial_value {
        (lower, upper) if lower.is_finite() && upper.is_finite() => format!("{value} {place}"),
        _ => "no bounds were found".into(),
    };
    let mut lines =
        vec![("status", format!("{}{proof}", ending(solution.status))), ("value", value)];
    if let Some(randomised) = randomised {
        lines.extend(randomising(model, solution, randomised, digits));
    }
    lines.extend(solution.ending.as_ref().map(|ending| ("ends", end_line(model, ending))));
    lines.push(("gap", gap_line(solution.gap, solution.target_gap, asked)));
    if question.criterion == Criterion::Average && solution.status == Status::PrecisionLimit {
        let told = "where an average depends on the state where the model begins, bounds for all states do not meet";
        lines.push(("", told.into()));
    }
    lines.push(("time", time_text(solution.seconds)));
    lines.push(("work", work_line(&solution.work)));
    facts(&lines)
}

/// What policies that randomise could save.
fn randomising(
    model: &Model,
    solution: &Solution,
    randomised: &Solution,
    digits: usize,
) -> Vec<(&'static str, String)> {
    let (lower, upper) = randomised.initial_value;
    if !(lower.is_finite() && upper.is_finite()) {
        return vec![("randomised", "no bounds were found in time".into())];
    }
    let saved = gap_text(randomised::saved(model, solution, randomised));
    let told = match model.objective() {
        Objective::MinCost => format!("randomising could save at most {saved}"),
        Objective::MaxReward => format!("randomising could gain at most {saved}"),
    };
    vec![
        ("randomised", format!("{} if policies may randomise", between((lower, upper), digits))),
        ("", told),
    ]
}

/// “after at most 12.5 steps on average from a uniform start, under every policy”.
pub(crate) fn end_line(model: &Model, ending: &Ending) -> String {
    let whose = match ending.surely {
        true => "under every policy",
        false => "under this policy; others may go on for ever",
    };
    let steps = gap_text(model.initial_mean(&ending.steps));
    format!("after at most {steps} steps on average {}, {whose}", start(model))
}

/// “12 sweeps (4 of them of nature alone), 30 kernel passes, 120 oracle calls”.
fn work_line(work: &Work) -> String {
    let mut parts = vec![counted(work.sweeps, "sweep")];
    if work.evaluations > 0 {
        parts[0] += &format!(" ({} of them of nature alone)", grouped(work.evaluations));
    }
    if work.first_order_steps > 0 {
        parts.push(counted(work.first_order_steps, "first-order step") + " a state");
    }
    let passes = work.kernel_passes().round() as u64;
    parts.push(format!("{} kernel pass{}", grouped(passes), if passes == 1 { "" } else { "es" }));
    parts.push(counted(work.oracle_calls, "oracle call"));
    parts.join(", ")
}

/// “1 sweep”, “12 sweeps”.
fn counted(n: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" })
}

fn states_table(model: &Model, solution: &Solution, shown: usize) -> String {
    let digits = table_decimals(solution.gap, &[&solution.lower, &solution.upper]);
    // The average is one number; what states differ in is the bias.
    let averages = !solution.bias.is_empty();
    let head: &[&str] = match averages {
        true => &["state", "policy", "relative value"],
        false => &["state", "policy", "lower", "upper"],
    };
    let mut table = Table::new(head);
    for s in 0..shown {
        let mut cells = vec![
            shown_name(&model.state_name(s), STATE_NAME),
            policy::in_words(model, s, solution.policy_at(s)),
        ];
        match averages {
            true => cells.push(plain(solution.bias[s], RELATIVE_DIGITS)),
            false => {
                cells.push(rounded_down(solution.lower[s], digits));
                cells.push(rounded_up(solution.upper[s], digits));
            }
        }
        table.row(cells);
    }
    table.text(2)
}
