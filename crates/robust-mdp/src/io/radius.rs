//! Radii from a table: `state,radius` or `state,action,radius`; craam's `idstate`, `idaction`
//! and `budget` are taken as other names of the same columns. Weights of a shared budget from a table
//! `state,action,weight`.

use std::path::Path;

use super::names::Names;
use super::numbers::{NumberColumn, Range};
use super::source::Source;
use super::table::quoted;
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
pub fn read_radii<'a>(source: impl Into<Source<'a>>, model: &Model) -> Result<RadiusTable, Error> {
    let source = source.into();
    let columns = &["radius", "budget"];
    let what = NumberColumn { columns, noun: "radius", range: Range::AtLeastZero, actions: false };
    let (radii, per_row) = what.read(source, model)?;
    let radii = what.complete(source.path, model, radii, per_row)?;
    Ok(if per_row { RadiusTable::PerRow(radii) } else { RadiusTable::PerState(radii) })
}

/// Reads the weights of all actions.
///
/// Each must be there exactly once, above 0 and finite.
pub fn read_weights<'a>(source: impl Into<Source<'a>>, model: &Model) -> Result<Vec<f64>, Error> {
    let source = source.into();
    let range = Range::AboveZero;
    let what = NumberColumn { columns: &["weight"], noun: "weight", range, actions: true };
    let (weights, _) = what.read(source, model)?;
    what.complete(source.path, model, weights, true)
}

/// What tables of radii and weights must have.
impl NumberColumn {
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
