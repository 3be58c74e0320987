//! Radii from a table: `state,radius` or `state,action,radius`; craam's `idstate`, `idaction`
//! and `budget` are taken as other names of the same columns. Weights of a shared budget from a table
//! `state,action,weight`.

use std::io::BufRead;
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

/// Reads the weights of all actions.
///
/// Each must be there exactly once, above 0 and finite.
pub fn read_weights(path: &Path, model: &Model) -> Result<Vec<f64>, Error> {
    let source = Source::from(path);
    let mut table = Table::open(source)?;
    let action = Some(table.require(&["action", "idaction"])?);
    let what = Wanted { columns: &["weight"], noun: "weight", zero: false };
    let weights = what.read(&mut table, action, model)?;
    what.complete(path, model, weights, true)
}

fn read_from(source: Source<'_>, model: &Model) -> Result<RadiusTable, Error> {
    let (path, mut table) = (source.path, Table::open(source)?);
    let action = table.column(&["action", "idaction"])?;
    let what = Wanted { columns: &["radius", "budget"], noun: "radius", zero: true };
    let radii = what.read(&mut table, action, model)?;
    let radii = what.complete(path, model, radii, action.is_some())?;
    Ok(match action {
        Some(_) => RadiusTable::PerRow(radii),
        None => RadiusTable::PerState(radii),
    })
}

/// What a table has one number of for each state, or for each action if it has a column for them.
struct Wanted {
    columns: &'static [&'static str],
    noun: &'static str,
    /// Whether it may be 0.
    zero: bool,
}

impl Wanted {
    /// NaN where there is none.
    fn read(
        &self,
        table: &mut Table<impl BufRead>,
        action: Option<usize>,
        model: &Model,
    ) -> Result<Vec<f64>, Error> {
        let (noun, state) = (self.noun, table.require(&["state", "idstate"])?);
        let column = table.require(self.columns)?;
        let names = Names::new(model);
        let length = if action.is_some() { model.rows() } else { model.states() };
        let mut found = vec![f64::NAN; length];
        while table.advance()? {
            let s = names.state(table.field(state)?).map_err(|m| table.error(m))?;
            let at = match action {
                Some(column) => names.row(s, table.field(column)?).map_err(|m| table.error(m))?,
                None => s,
            };
            let row = action.map(|_| at);
            let value = table.number(column).map_err(|e| within(e, &names.place(s, row)))?;
            if !((value > 0.0 || self.zero && value == 0.0) && value.is_finite()) {
                let place = names.place(s, row);
                let least = if self.zero { "of at least 0" } else { "above 0" };
                return Err(table.error(format!(
                    "{place}: the {noun} is {value:?}, expected a finite number {least}"
                )));
            }
            if !found[at].is_nan() {
                let place = names.place(s, row);
                return Err(table.error(format!("{place}: a second {noun}, expected one")));
            }
            found[at] = value + 0.0;
        }
        Ok(found)
    }

    /// Refuses what is missing; terminal states may be left out.
    fn complete(
        &self,
        path: &Path,
        model: &Model,
        mut found: Vec<f64>,
        per_row: bool,
    ) -> Result<Vec<f64>, Error> {
        let names = Names::new(model);
        for s in 0..model.states() {
            let rows = model.rows_of(s);
            if !per_row && rows.is_empty() && found[s].is_nan() {
                found[s] = 0.0;
            }
            let missing = match per_row {
                true => rows.clone().find(|&r| found[r].is_nan()),
                false => found[s].is_nan().then_some(rows.start),
            };
            if let Some(r) = missing {
                let place = names.place(s, per_row.then_some(r));
                let (noun, every) = (self.noun, if per_row { "action" } else { "state" });
                let message = format!("no {noun} for {place}, expected one for every {every}");
                return Err(super::parse_error(path, None, message));
            }
        }
        Ok(found)
    }
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
