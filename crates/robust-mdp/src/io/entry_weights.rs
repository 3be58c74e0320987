//! Weights of next states in a norm, from a table: `state,weight`, one a next state, or
//! `state,action,next,weight`, one a transition. They are no weights of actions: those are `radius::read_weights`.

use super::names::Names;
use super::numbers::Range;
use super::parse_error;
use super::source::Source;
use super::table::Table;
use crate::error::Error;
use crate::model::Model;
use crate::sets::{EntryWeights, Support};

/// Reads the weights of all next states, or of all transitions if the file has columns for them.
///
/// Each must be there exactly once, above 0 and finite. Where mass may go everywhere, so must those of next
/// states that a row does not list; a next state that is listed at several costs has one weight for all of them.
pub fn read_entry_weights<'a>(
    source: impl Into<Source<'a>>,
    model: &Model,
    support: Support,
) -> Result<EntryWeights, Error> {
    let source = source.into();
    let (path, mut table) = (source.path, Table::open(source)?);
    let state = table.require(&["state", "idstate"])?;
    let (action, next) =
        (table.column(&["action", "idaction"])?, table.column(&["next", "idstateto"])?);
    let weight = table.require(&["weight"])?;
    let transition = match (action, next) {
        (Some(action), Some(next)) => Some((action, next)),
        (None, None) => None,
        (Some(_), None) => {
            return Err(table.header().error(
                "a column “action” without “next”, expected state,weight or state,action,next,weight",
            ));
        }
        (None, Some(_)) => {
            return Err(table.header().error(
                "a column “next” without “action”, expected state,weight or state,action,next,weight",
            ));
        }
    };
    let names = Names::new(model);
    let length = if transition.is_some() { model.transitions() } else { model.states() };
    let mut found = vec![f64::NAN; length];
    while table.advance()? {
        let named = |column| names.state(table.field(column)?).map_err(|m| table.error(m));
        let s = named(state)?;
        let (places, place) = match transition {
            None => (s..s + 1, names.place(s, None)),
            Some((action, next)) => {
                let r = names.row(s, table.field(action)?).map_err(|m| table.error(m))?;
                let to = named(next)?;
                let place = format!("{}, next {}", names.place(s, Some(r)), names.place(to, None));
                let span = model.span(r);
                let places = match model.row(r).next {
                    None => span.start + to..span.start + to + 1,
                    Some(next) => {
                        let first = next.partition_point(|&n| (n as usize) < to);
                        let last = next.partition_point(|&n| n as usize <= to);
                        span.start + first..span.start + last
                    }
                };
                if places.is_empty() {
                    let message = format!("{place}: no such transition in the model");
                    return Err(table.error(message));
                }
                (places, place)
            }
        };
        let value = Range::AboveZero.read(&table, weight, "weight", || place.clone())?;
        if !found[places.start].is_nan() {
            return Err(table.error(format!("{place}: a second weight, expected one")));
        }
        found[places].fill(value);
    }
    let missing = match transition {
        None => found.iter().position(|w| w.is_nan()).map(|s| {
            format!("no weight for {}, expected one for every state", names.place(s, None))
        }),
        Some(_) => missing_transition(model, &names, &mut found, support),
    };
    match (missing, transition) {
        (Some(message), _) => Err(parse_error(path, None, message)),
        (None, None) => Ok(EntryWeights::PerState(found)),
        (None, Some(_)) => Ok(EntryWeights::PerTransition(found)),
    }
}

/// What to say of the first transition that needs a weight and has none; others get 1.
fn missing_transition(
    model: &Model,
    names: &Names<'_>,
    found: &mut [f64],
    support: Support,
) -> Option<String> {
    for s in 0..model.states() {
        for r in model.rows_of(s) {
            let (row, start) = (model.row(r), model.span(r).start);
            for (k, (to, prob, _)) in row.entries().enumerate() {
                let weight = &mut found[start + k];
                if weight.is_nan() && (prob > 0.0 || support == Support::All) {
                    let (row, next) = (names.place(s, Some(r)), names.place(to, None));
                    let every = match support {
                        Support::Nominal => "every transition of positive probability",
                        Support::All => "every next state, since mass may go to all of them",
                    };
                    return Some(format!(
                        "no weight for {row}, next {next}, expected one for {every}"
                    ));
                }
                if weight.is_nan() {
                    *weight = 1.0;
                }
            }
        }
    }
    None
}
