//! craam's transitions as a table, one (s, a, s') a line, numbers from 0:
//! `idstatefrom,idaction,idstateto,probability,reward`, or `cost` for a model to minimise.
//!
//! Lines come in any order. A reward that is the same on all lines of (s, a) is the action's own;
//! otherwise each line's is a further reward on its transition, and the action's own is 0.

mod write;

pub(super) use write::{action_ids, refusal, unlisted_costs_changed, write};

use super::source::Source;
use super::table::Table;
use crate::error::{Error, ModelError, counted};
use crate::model::{Model, ModelBuilder, Objective};

/// One line, 32 bytes.
#[derive(Clone, Copy)]
struct Transition {
    from: u32,
    action: u32,
    to: u32,
    line: u32,
    prob: f64,
    cost: f64,
}

/// Reads a model; the discount factor can only come from the caller.
pub(super) fn read(
    source: Source<'_>,
    discount: Option<f64>,
) -> Result<(Model, Vec<String>), Error> {
    let (path, (objective, mut lines)) = (source.path, read_lines(source)?);
    let discount =
        discount.ok_or_else(|| super::model_error(path, None, ModelError::MissingDiscount))?;
    let states = lines.iter().map(|t| t.from.max(t.to) as usize + 1).max().unwrap_or(0);
    if states > 10 * lines.len() + 1_000_000 {
        let count = counted(lines.len(), "line", "lines");
        return Err(super::parse_error(
            path,
            lines.iter().find(|t| t.from.max(t.to) as usize + 1 == states).map(Transition::line),
            format!(
                "state {} among only {count}: the numbers look wrong, \
                 expected states counted from 0",
                states - 1
            ),
        ));
    }
    lines.sort_unstable_by_key(|t| (t.from, t.action, t.to, t.line));
    let mut builder = ModelBuilder::new(discount).objective(objective);
    let terminal = feed(&mut builder, states, &lines);
    let model = builder.build().map_err(|e| super::model_error(path, line_of(&lines, &e), e))?;
    let numbering = super::numbering_warning(&model);
    let warnings = numbering.into_iter().chain(super::terminal_warning(&terminal)).collect();
    Ok((model, warnings))
}

impl Transition {
    fn line(&self) -> u64 {
        self.line.into()
    }
}

fn read_lines(source: Source<'_>) -> Result<(Objective, Vec<Transition>), Error> {
    let mut table = Table::open(source)?;
    let columns = ["idstatefrom", "idaction", "idstateto"];
    let [from, action, to] = columns.map(|name| table.require(&[name]));
    let (from, action, to) = (from?, action?, to?);
    let prob = table.require(&["probability"])?;
    let (cost, objective) = match (table.column(&["reward"])?, table.column(&["cost"])?) {
        (Some(_), Some(_)) => {
            return Err(table.error("the header has “reward” and “cost”, expected one of them"));
        }
        (Some(column), None) => (column, Objective::MaxReward),
        (None, Some(column)) => (column, Objective::MinCost),
        (None, None) => (table.require(&["reward", "cost"])?, Objective::MinCost),
    };
    let outcome = table.column(&["idoutcome"])?;
    let mut first_outcome = None;
    let mut lines = Vec::new();
    while table.advance()? {
        if let Some(column) = outcome {
            let id = table.id(column)?;
            if *first_outcome.get_or_insert(id) != id {
                return Err(table.error(
                    "a second value of idoutcome: models with several outcomes \
                     are not supported, expected one",
                ));
            }
        }
        let (state, action) = (table.id(from)?, table.id(action)?);
        let at = |e| super::within(e, &format!("state {state}, action {action}"));
        lines.push(Transition {
            from: state,
            action,
            to: table.id(to).map_err(at)?,
            line: table.line().try_into().unwrap_or(u32::MAX),
            prob: table.number(prob).map_err(at)?,
            cost: table.number(cost).map_err(at)?,
        });
    }
    Ok((objective, lines))
}

/// Gives sorted lines to the builder; returns the states without lines.
fn feed(builder: &mut ModelBuilder, states: usize, lines: &[Transition]) -> Vec<usize> {
    let mut terminal = Vec::new();
    let mut rest = lines;
    for s in 0..states {
        builder.add_state(None);
        let (of_state, after) = rest.split_at(rest.partition_point(|t| t.from as usize <= s));
        rest = after;
        if of_state.is_empty() {
            builder.mark_terminal();
            terminal.push(s);
        }
        for (number, row) in of_state.chunk_by(|a, b| a.action == b.action).enumerate() {
            let id = row[0].action;
            let name = (id as usize != number).then(|| id.to_string());
            let same = row.iter().all(|t| t.cost == row[0].cost);
            builder.add_action(name.as_deref(), if same { row[0].cost } else { 0.0 });
            for t in row {
                builder.add_transition(t.to as usize, t.prob, if same { 0.0 } else { t.cost });
            }
        }
        if builder.error().is_some() {
            break;
        }
    }
    terminal
}

/// The line to blame for `error`: of the transition, or the first of the action or state.
fn line_of(lines: &[Transition], error: &ModelError) -> Option<u64> {
    let (state, action) = error.place()?;
    let of_state = lines.iter().filter(|t| t.from as usize == state);
    let of_state: Vec<&Transition> = of_state.collect();
    let row = of_state.chunk_by(|a, b| a.action == b.action).nth(action.unwrap_or(0))?;
    let at_fault = |t: &&&Transition| match error {
        ModelError::Probability { next, value, .. } => {
            (t.to as usize, t.prob.to_bits()) == (*next, value.to_bits())
        }
        ModelError::CostNotFinite { .. } => !t.cost.is_finite(),
        _ => true,
    };
    row.iter().filter(at_fault).map(|t| t.line()).min()
}

#[cfg(test)]
mod tests;
