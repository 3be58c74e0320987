//! One number for each state, or for each action of each state: radii, weights and policies as tables.

use super::names::Names;
use super::source::Source;
use super::table::Table;
use super::within;
use crate::error::Error;
use crate::model::Model;

/// What a table has one number of.
pub(super) struct NumberColumn {
    pub(super) columns: &'static [&'static str],
    pub(super) noun: &'static str,
    /// Whether it may be 0.
    pub(super) zero: bool,
    /// Whether there must be a column for actions; else there may be one.
    pub(super) actions: bool,
}

impl NumberColumn {
    /// The numbers, NaN where there is none, and whether they are those of actions.
    pub(super) fn read(
        &self,
        source: Source<'_>,
        model: &Model,
    ) -> Result<(Vec<f64>, bool), Error> {
        let mut table = Table::open(source)?;
        let (noun, state) = (self.noun, table.require(&["state", "idstate"])?);
        let action = match self.actions {
            true => Some(table.require(&["action", "idaction"])?),
            false => table.column(&["action", "idaction"])?,
        };
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
            let place = || names.place(s, action.map(|_| at));
            let value = table.number(column).map_err(|e| within(e, &place()))?;
            if !((value > 0.0 || self.zero && value == 0.0) && value.is_finite()) {
                let least = if self.zero { "of at least 0" } else { "above 0" };
                let place = place();
                return Err(table.error(format!(
                    "{place}: the {noun} is {value:?}, expected a finite number {least}"
                )));
            }
            if !found[at].is_nan() {
                return Err(table.error(format!("{}: a second {noun}, expected one", place())));
            }
            found[at] = value + 0.0;
        }
        Ok((found, action.is_some()))
    }
}
