//! Where the entries of explicit rows lie: every row lists the states that the set lets it use.

use std::ops::Range;

use crate::model::{Model, NominalRow};
use crate::sets::{DataSource, Rectangularity, UncertaintySet};

/// Where each row's entries lie in the flat arrays of the kernel player.
#[derive(Clone, Debug)]
pub(crate) enum Layout {
    /// Every row has an entry for each of the S states.
    Full(usize),
    /// Rows have an entry for each of the S states, and one more where they list it again.
    Everywhere(Vec<usize>),
    /// Rows have entries where they may have probability, mostly where the nominal ones are positive.
    Positive(Vec<usize>),
}

/// Most entries that a row of the set may have.
pub(crate) fn widest_row(model: &Model, set: &UncertaintySet) -> usize {
    match (set.leaves_support(), model.repeated_transitions()) {
        (false, _) => model.width(),
        (true, 0) => model.states(),
        // Every state, and again what a row lists again.
        (true, _) => model.states() + model.width(),
    }
}

impl Layout {
    pub(crate) fn new(model: &Model, set: &UncertaintySet) -> Layout {
        let states = model.states();
        if set.leaves_support() && model.repeated_transitions() > 0 {
            let repeated =
                |row: NominalRow<'_>| (0..row.prob.len()).filter(|&k| row.is_repeated(k)).count();
            return Layout::Everywhere(pointers(model, |row| states + repeated(row)));
        }
        let data = DataSource::new(model, set);
        let full = || model.is_dense() && (0..model.rows()).all(|r| data.is_open(model.row(r)));
        if set.leaves_support() || full() {
            return Layout::Full(states);
        }
        let open =
            |row: NominalRow<'_>| (0..row.prob.len()).filter(|&j| data.opens(row, j)).count();
        Layout::Positive(pointers(model, open))
    }

    /// Where the rows `rows` lie.
    pub(crate) fn span(&self, rows: Range<usize>) -> Range<usize> {
        match self {
            Layout::Full(width) => rows.start * width..rows.end * width,
            Layout::Everywhere(pointers) | Layout::Positive(pointers) => {
                pointers[rows.start]..pointers[rows.end]
            }
        }
    }

    /// Entries of all rows of the model.
    pub(crate) fn entries(&self, model: &Model) -> usize {
        self.span(0..model.rows()).end
    }

    /// Entries of the widest row.
    pub(crate) fn widest_row(&self, model: &Model) -> usize {
        (0..model.rows()).map(|r| self.span(r..r + 1).len()).max().unwrap_or(0)
    }

    /// Most rows and most entries of one state.
    pub(crate) fn largest_state(&self, model: &Model) -> (usize, usize) {
        (0..model.states()).fold((0, 0), |(rows, entries), s| {
            let of = model.rows_of(s);
            (rows.max(of.len()), entries.max(self.span(of).len()))
        })
    }
}

/// Where rows of these lengths begin.
fn pointers(model: &Model, length: impl Fn(NominalRow<'_>) -> usize) -> Vec<usize> {
    let mut pointers = Vec::with_capacity(model.rows() + 1);
    pointers.push(0);
    (0..model.rows()).for_each(|r| pointers.push(pointers[r] + length(model.row(r))));
    pointers
}

/// Budgets of a state: one for all rows, or one a row.
pub(crate) fn shares_budget(set: &UncertaintySet) -> bool {
    set.rectangularity == Rectangularity::State
}
