//! Joint steps: a driver of a kind of rows moves the multipliers of all active rows of a state at
//! once, where the bracketed driver would price row by row.

use super::problem::StateProblem;
use crate::sets::Enclosure;

/// Bounds at the present multipliers, and Newton's next value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assessed {
    pub(super) bounds: Enclosure,
    /// The value that the active rows reach together; NaN if that is unknown.
    pub(super) mu: f64,
}

/// What became of the multipliers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stepped {
    All,
    /// Nothing moved, but rows that need no multiplier are gone.
    Dropped,
    /// There is no way there.
    Stuck,
}

/// A driver of one kind of rows.
pub(super) trait Joint {
    /// Forgets other states; the active rows have multipliers of an earlier sweep.
    fn begin(&mut self, problem: &mut StateProblem<'_>);
    /// Prepares the active rows from the j-th on, which have no multiplier yet.
    fn admit(&mut self, problem: &mut StateProblem<'_>, from: usize);
    /// Reads the active rows where earlier readings do not hold.
    fn read(&mut self, problem: &mut StateProblem<'_>);
    /// Bounds and the next value. For a `fixed` policy the lower bound is the mean row value, else
    /// the least.
    fn assess(&mut self, problem: &mut StateProblem<'_>, fixed: bool) -> Assessed;
    /// Moves the multipliers towards the value μ.
    fn raise(&mut self, problem: &mut StateProblem<'_>, mu: f64) -> Stepped;
    /// Moves the multipliers κt = r·x to the budget; false if that is out of reach.
    fn scale(&mut self, problem: &mut StateProblem<'_>, x: &[f64]) -> bool;
    /// The least of the largest values of the active rows, as far as these are known.
    fn level(&self, problem: &StateProblem<'_>) -> f64;
    /// The share to go of the room up to the level, where Newton's step would lead beyond it.
    fn stride(&self, step: f64, room: f64) -> f64;
    /// Leaves the multipliers as they are remembered.
    fn finish(&mut self, problem: &mut StateProblem<'_>);
}
