//! craam's transitions as a table, one (s, a, s') a line, numbers from 0:
//! `idstatefrom,idaction,idstateto,probability,reward`, or `cost` for a model to minimise. With a column
//! `idoutcome` an action may have several outcomes, each a row of probabilities of its own; with columns
//! `lower` and `upper` probabilities have intervals.
//!
//! Lines come in any order. A reward that is the same on all lines of (s, a) is the action's own;
//! otherwise each line's is a further reward on its transition, and the action's own is 0. `lines` makes
//! a model of them, for other files of the same columns too.

mod lines;
mod outcomes;
mod write;

pub(super) use lines::{Columns, Lines, Transition};
pub use outcomes::Outcomes;
#[cfg(feature = "parquet")]
pub(super) use write::{Line, each_line};
pub(super) use write::{action_ids, refusal, unlisted_costs_changed, write};

use super::ModelFile;
use super::source::Source;
use super::table::Table;
use crate::error::Error;

/// Reads a model; the discount factor can only come from the caller.
pub(super) fn read(source: Source<'_>, discount: Option<f64>) -> Result<ModelFile, Error> {
    read_lines(source)?.into_model(source.path, discount)
}

fn read_lines(source: Source<'_>) -> Result<Lines, Error> {
    let mut table = Table::open(source)?;
    let columns = Columns::find(table.header())?;
    let mut lines = Lines::new(&columns);
    while table.advance()? {
        let outcome = columns.outcome.map(|column| table.id(column)).transpose()?;
        let (from, action) = (table.id(columns.from)?, table.id(columns.action)?);
        let at = |e| super::within(e, &format!("state {from}, action {action}"));
        let transition = Transition {
            from,
            action,
            to: table.id(columns.to).map_err(at)?,
            line: table.line().try_into().unwrap_or(u32::MAX),
            prob: table.number(columns.prob).map_err(at)?,
            cost: table.number(columns.cost).map_err(at)?,
        };
        let bound = |column| table.number(column).map_err(at);
        let bounds = match columns.bounds {
            Some([lower, upper]) => Some([bound(lower)?, bound(upper)?]),
            None => None,
        };
        lines.add(transition, outcome, bounds);
    }
    Ok(lines)
}

#[cfg(test)]
mod tests;
