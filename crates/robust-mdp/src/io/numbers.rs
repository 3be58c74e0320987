//! One number for each state, or for each action of each state: radii, weights and policies as tables.

use super::names::Names;
use super::source::Source;
use super::table::Table;
use super::within;
use crate::error::Error;
use crate::model::Model;

/// Which finite numbers may stand in a column.
#[derive(Clone, Copy)]
pub(super) enum Range {
    Any,
    AtLeastZero,
    AboveZero,
}

impl Range {
    fn has(self, x: f64) -> bool {
        let least = match self {
            Range::Any => f64::NEG_INFINITY,
            Range::AtLeastZero => 0.0,
            Range::AboveZero => f64::from_bits(1),
        };
        x.is_finite() && x >= least
    }

    /// The number of a column, of what `place` says.
    pub(super) fn read(
        self,
        table: &Table<'_>,
        column: usize,
        noun: &str,
        place: impl Fn() -> String,
    ) -> Result<f64, Error> {
        let value = table.number(column).map_err(|e| within(e, &place()))?;
        if self.has(value) {
            return Ok(value + 0.0);
        }
        let which = match self {
            Range::Any => "",
            Range::AtLeastZero => " of at least 0",
            Range::AboveZero => " above 0",
        };
        let place = place();
        Err(table
            .error(format!("{place}: the {noun} is {value:?}, expected a finite number{which}")))
    }
}

/// What a table has one number of.
pub(super) struct NumberColumn {
    pub(super) columns: &'static [&'static str],
    pub(super) noun: &'static str,
    pub(super) range: Range,
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
        self.read_table(Table::open(source)?, model)
    }

    /// As [`NumberColumn::read`], of a table that is open.
    pub(super) fn read_table(
        &self,
        mut table: Table<'_>,
        model: &Model,
    ) -> Result<(Vec<f64>, bool), Error> {
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
            let value = self.range.read(&table, column, noun, place)?;
            if !found[at].is_nan() {
                return Err(table.error(format!("{}: a second {noun}, expected one", place())));
            }
            found[at] = value;
        }
        Ok((found, action.is_some()))
    }
}
