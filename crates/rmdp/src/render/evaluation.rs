//! The page of `rmdp evaluate`: bounds of the worst case and of the nominal value.

use robust_mdp::sets::Distance;
use robust_mdp::{Evaluated, Model, PolicyValue};
use robust_mdp_measure::table::Table;
use robust_mdp_page::number::{rounded_down, rounded_up, time_text};

use super::solution::{Asked, STATE_NAME, between, ending, gap_line, start, table_decimals};
use crate::question::Question;

use super::{SHOWN, facts, left_out, objective, shown_name, sizes};

/// What the header says beyond the model itself.
pub(crate) struct Heading {
    pub(crate) name: String,
    pub(crate) policy: String,
    pub(crate) set: String,
    pub(crate) distance: Distance,
    pub(crate) asked: Asked,
}

pub(crate) fn page(
    model: &Model,
    heading: Heading,
    evaluated: &Evaluated,
    all_states: bool,
) -> String {
    let header = facts(&[
        ("model", format!("{} ({})", heading.name, sizes(model))),
        ("policy", heading.policy),
        ("objective", objective(model, Question::default(), heading.distance)),
        ("set", heading.set),
    ]);
    let (worst, nominal) = (&evaluated.worst, &evaluated.nominal);
    let gap = widest(worst);
    let start = start(model);
    let digits = decimals_of(evaluated);
    let result = facts(&[
        ("status", ending(evaluated.status).into()),
        ("worst case", format!("{} {start}", between(worst.initial, digits))),
        ("nominal", format!("{} {start}", between(nominal.initial, digits))),
        ("gap", gap_line(gap, evaluated.target_gap, heading.asked)),
        ("time", time_text(evaluated.seconds)),
    ]);
    let shown = if all_states { model.states() } else { model.states().min(SHOWN) };
    let table = states_table(model, evaluated, shown);
    let rest = left_out(model.states(), shown, "--json writes all of them");
    format!("{header}\n{result}\n{table}{rest}")
}

/// Largest upper − lower.
pub(crate) fn widest(value: &PolicyValue) -> f64 {
    let pairs = value.lower.iter().zip(&value.upper);
    pairs.fold(0.0, |m, (l, u)| m.max(u - l))
}

fn decimals_of(evaluated: &Evaluated) -> usize {
    let (worst, nominal) = (&evaluated.worst, &evaluated.nominal);
    let bounds = [&worst.lower, &worst.upper, &nominal.lower, &nominal.upper];
    table_decimals(widest(worst).max(widest(nominal)), &bounds.map(Vec::as_slice))
}

fn states_table(model: &Model, evaluated: &Evaluated, shown: usize) -> String {
    let digits = decimals_of(evaluated);
    let head = ["state", "worst lower", "worst upper", "nominal lower", "nominal upper"];
    let mut table = Table::new(&head);
    for s in 0..shown {
        let mut cells = vec![shown_name(&model.state_name(s), STATE_NAME)];
        for value in [&evaluated.worst, &evaluated.nominal] {
            cells.push(rounded_down(value.lower[s], digits));
            cells.push(rounded_up(value.upper[s], digits));
        }
        table.row(cells);
    }
    table.text(1)
}
