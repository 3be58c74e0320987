//! What it costs to move mass between states, from a table: `state,x`, places on a line, or
//! `from,to,distance`, one number a pair.

use super::names::Names;
use super::numbers::{NumberColumn, Range};
use super::parse_error;
use super::source::Source;
use super::table::Table;
use crate::error::{Error, MEMORY};
use crate::model::Model;
use crate::sets::Ground;

/// Reads the places of all states, or the distances of all pairs if the file has columns for them.
///
/// Each must be there exactly once. Distances are above 0, but that of a state to itself is 0 and may be left
/// out; from one state to another and back they may differ.
pub fn read_ground<'a>(source: impl Into<Source<'a>>, model: &Model) -> Result<Ground, Error> {
    let source = source.into();
    let path = source.path;
    let mut table = Table::open(source)?;
    if table.column(&["from"])?.is_none() && table.column(&["to"])?.is_none() {
        let columns = &["x", "place"];
        let what = NumberColumn { columns, noun: "place", range: Range::Any, actions: false };
        let (places, per_row) = what.read_table(table, model)?;
        if per_row {
            let message =
                "a column “action”, expected state,x: states have places, actions have none";
            return Err(parse_error(path, Some(1), message));
        }
        let missing = places.iter().position(|x| x.is_nan());
        if let Some(s) = missing {
            let place = Names::new(model).place(s, None);
            let message = format!("no place for {place}, expected one for every state");
            return Err(parse_error(path, None, message));
        }
        let ground = Ground::line(places);
        if let Some([one, other]) = ground.same_place() {
            let names = Names::new(model);
            let [one, other] = [one, other].map(|s| names.place(s, None));
            let message = format!(
                "{one} and {other} are at the same place, expected a distance above 0: mass would move between \
                 them for nothing"
            );
            return Err(parse_error(path, None, message));
        }
        return Ok(ground);
    }
    let columns = [table.require(&["from"])?, table.require(&["to"])?];
    let distance = table.require(&["distance"])?;
    let states = model.states();
    let needed = 8 * (states as u64).saturating_mul(states as u64);
    if needed > MEMORY {
        let what = format!("a distance for each pair of {states} states");
        return Err(Error::Memory { what, needed, allowed: MEMORY });
    }
    let names = Names::new(model);
    let mut found = vec![f64::NAN; states * states];
    while table.advance()? {
        let named = |column| names.state(table.field(column)?).map_err(|m| table.error(m));
        let (from, to) = (named(columns[0])?, named(columns[1])?);
        let place = || format!("from {} to {}", names.place(from, None), names.place(to, None));
        let range = if from == to { Range::AtLeastZero } else { Range::AboveZero };
        let value = range.read(&table, distance, "distance", place)?;
        if from == to && value > 0.0 {
            let message = format!("{}: the distance is {value:?}, expected 0", place());
            return Err(table.error(message));
        }
        let at = from * states + to;
        if !found[at].is_nan() {
            return Err(table.error(format!("{}: a second distance, expected one", place())));
        }
        found[at] = value;
    }
    (0..states).map(|s| s * (states + 1)).for_each(|at| found[at] = 0.0);
    match found.iter().position(|x| x.is_nan()) {
        None => Ok(Ground::Matrix(found)),
        Some(at) => {
            let [from, to] = [at / states, at % states].map(|s| names.place(s, None));
            let message =
                format!("no distance from {from} to {to}, expected one for every pair of states");
            Err(parse_error(path, None, message))
        }
    }
}
