//! Radii from a table: `state,radius` or `state,action,radius`; craam's `idstate`, `idaction`
//! and `budget` are taken as other names of the same columns.

use std::path::Path;

use super::names::Names;
use super::source::Source;
use super::table::{Table, quoted};
use super::within;
use crate::error::Error;
use crate::model::Model;

/// Radii read from a file.
#[derive(Clone, Debug, PartialEq)]
pub enum RadiusTable {
    /// One a state; terminal states may be left out and get 0.
    PerState(Vec<f64>),
    /// One a row, that is, one for each action of each state.
    PerRow(Vec<f64>),
}

/// Reads the radii of all states, or of all actions if the file has a column for them.
///
/// Each must be there exactly once, at least 0 and finite.
pub fn read_radii(path: &Path, model: &Model) -> Result<RadiusTable, Error> {
    read_from(path.into(), model)
}

/// As [`read_radii`], from the bytes of a file; messages call it by `name`.
pub fn parse_radii(name: &Path, bytes: &[u8], model: &Model) -> Result<RadiusTable, Error> {
    read_from(Source::in_memory(name, bytes), model)
}

fn read_from(source: Source<'_>, model: &Model) -> Result<RadiusTable, Error> {
    let (path, mut table) = (source.path, Table::open(source)?);
    let state = table.require(&["state", "idstate"])?;
    let action = table.column(&["action", "idaction"])?;
    let radius = table.require(&["radius", "budget"])?;
    let names = Names::new(model);
    let length = if action.is_some() { model.rows() } else { model.states() };
    let mut radii = vec![f64::NAN; length];
    while table.advance()? {
        let s = names.state(table.field(state)?).map_err(|m| table.error(m))?;
        let at = match action {
            Some(column) => names.row(s, table.field(column)?).map_err(|m| table.error(m))?,
            None => s,
        };
        let row = action.map(|_| at);
        let value = table.number(radius).map_err(|e| within(e, &names.place(s, row)))?;
        if !(value >= 0.0 && value.is_finite()) {
            let place = names.place(s, row);
            return Err(table.error(format!(
                "{place}: the radius is {value:?}, expected a finite number of at least 0"
            )));
        }
        if !radii[at].is_nan() {
            let place = names.place(s, row);
            return Err(table.error(format!("{place}: a second radius, expected one")));
        }
        radii[at] = value + 0.0;
    }
    complete(path, model, &names, radii, action.is_some())
}

/// Writes the radii of all states.
pub fn write_radii(path: &Path, model: &Model, radii: &[f64]) -> Result<(), Error> {
    let names = Names::new(model);
    super::write_atomically(path, |w| {
        writeln!(w, "state,radius")?;
        let mut numbered = radii.iter().enumerate();
        numbered.try_for_each(|(s, r)| writeln!(w, "{},{r:?}", quoted(&names.state_text(s))))
    })
}

fn complete(
    path: &Path,
    model: &Model,
    names: &Names<'_>,
    mut radii: Vec<f64>,
    per_row: bool,
) -> Result<RadiusTable, Error> {
    for s in 0..model.states() {
        let rows = model.rows_of(s);
        if !per_row && rows.is_empty() && radii[s].is_nan() {
            radii[s] = 0.0;
        }
        let missing = match per_row {
            true => rows.clone().find(|&r| radii[r].is_nan()),
            false => radii[s].is_nan().then_some(rows.start),
        };
        if let Some(r) = missing {
            let place = names.place(s, per_row.then_some(r));
            let every = if per_row { "action" } else { "state" };
            let message = format!("no radius for {place}, expected one for every {every}");
            return Err(super::parse_error(path, None, message));
        }
    }
    Ok(if per_row { RadiusTable::PerRow(radii) } else { RadiusTable::PerState(radii) })
}
