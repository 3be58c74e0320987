//! What the driver asks of a set: to read the rows under work, to bound the value, to move the
//! multipliers.

use super::active::Active;
use super::rows::{Nominals, Rows};
use crate::lanes::dispatch;
use crate::uncertainty::Enclosure;

/// A row brought somewhere on its own: multiplier, shift, value and the budget that takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lifted {
    pub(super) t: f64,
    pub(super) nu: f64,
    pub(super) value: f64,
    pub(super) cost: f64,
}

/// What a reading says: lower ≤ the value, upper ≥ F_x for x = t/Σt, and where to go next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assessed {
    pub(super) bounds: Enclosure,
    /// The value that the rows under work reach together; not a number if that is unknown.
    pub(super) mu: f64,
}

/// What became of the multipliers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moved {
    All,
    /// Nothing moved, but rows that need no lift are gone.
    Dropped,
    /// There is no way there.
    Stuck,
}

/// A set around the rows of a state, with the multipliers of the rows under work.
pub(super) trait Ball {
    /// The state's rows.
    fn rows(&self) -> &Rows<'_>;
    /// The rows under work.
    fn active(&mut self) -> &mut Active;
    /// Their common budget.
    fn radius(&self) -> f64;
    /// Spread of the objectives.
    fn range(&self) -> f64 {
        self.rows().range
    }
    /// The drift of the values: now, and as of the start of the sweep.
    fn drift(&self) -> (f64, f64);
    /// Counts row entries that were read.
    fn visited(&mut self, entries: usize);
    /// The nominal values of the rows in `list`.
    fn nominals(&mut self, list: &[u32], out: &mut [f64]) {
        self.visited(list.iter().map(|&k| self.rows().span(k as usize).len()).sum());
        dispatch(Nominals { rows: *self.rows(), list, out });
    }
    /// The nominal value of row k.
    fn nominal(&mut self, k: usize) -> f64 {
        let mut out = [0.0];
        self.nominals(&[k as u32], &mut out);
        out[0]
    }
    /// Forgets what was read of other states.
    fn begin(&mut self);
    /// At least the lowest peak, and no more than that where it is soon found; `known` is no lower.
    /// `floor` as in [`RowMemory`].
    fn ceiling(&mut self, known: f64, _floor: &[f64]) -> f64 {
        known
    }
    /// The share to go of the room up to the ceiling, where Newton's step would lead beyond it.
    fn stride(&self, _step: f64, _room: f64) -> f64 {
        0.75
    }
    /// Moves the multipliers of the last sweep to where they are more likely to be.
    fn move_along(&mut self) {}
    /// Puts rows below the ceiling to work, unread, at multipliers that are likely for them; false
    /// where nothing is known.
    fn guess(&mut self, _ceiling: f64) -> bool {
        false
    }
    /// Prepares the rows under work from the j-th on, which have no multiplier yet and whose nominal
    /// values have been read in this sweep.
    fn admit(&mut self, j: usize);
    /// Whether every row can reach its base value, and moving there has a price that needs no reading.
    fn peaks_are_bases(&self) -> bool;
    /// At most what moving a row by this share of the way to its peak costs, where all of it costs
    /// `peak_cost` or less.
    fn move_cost(&self, share: f64, peak_cost: f64) -> f64;
    /// The share of the way from y⁰ that the budget allows where the whole way costs this much.
    fn share(&self, cost: f64) -> f64;
    /// Reads the rows under work where earlier readings do not hold.
    fn read(&mut self);
    /// Bounds and the next value. For a `fixed` policy the lower bound is the mean row value, else
    /// the least.
    fn assess(&mut self, fixed: bool) -> Assessed;
    /// Moves the multipliers towards the value μ.
    fn raise(&mut self, mu: f64) -> Moved;
    /// Moves the multipliers t = κ·x to the budget; false if that is out of reach.
    fn scale(&mut self, x: &[f64]) -> bool;
    /// The largest value of row k and the least budget that attains it.
    fn peak(&mut self, k: usize) -> (f64, f64);
    /// The largest value of row k, and the least budget that attains it where that comes with it.
    fn summit(&mut self, k: usize) -> (f64, Option<f64>) {
        let (peak, cost) = self.peak(k);
        (peak, Some(cost))
    }
    /// Row k lifted to the value μ, give or take `slack`, below its peak and above its nominal value,
    /// which was read before; `guess` is a multiplier that may be near, if positive.
    fn lift(&mut self, k: usize, mu: f64, slack: f64, guess: f64) -> Lifted;
    /// Goes beyond the multipliers that joint steps take at first; false where that is no way to go on.
    fn steepen(&mut self) -> bool {
        false
    }
    /// Whether multipliers tell all that it takes to read many rows at once.
    fn reads_at_multipliers(&self) -> bool {
        false
    }
    /// Reads the rows under work about where they reach μ, for [`noted`](Ball::noted), if their
    /// multipliers are near.
    fn approach(&mut self, _mu: f64) {}
    /// What the last reading says of the j-th row under work: a value that it reaches at least, at most
    /// at that cost.
    fn noted(&mut self, _j: usize) -> Option<Lifted> {
        None
    }
    /// Row k at the multiplier t.
    fn at(&mut self, k: usize, t: f64) -> Lifted;
}

/// What came out of an update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Outcome {
    /// The bounds have met, or rounding keeps them apart; the multipliers are the upper bound's.
    Met(Enclosure),
    /// The budget does not bind: the row under work ends on its peak, alone. The level is that of
    /// [`RowMemory::nu`].
    Peak { bounds: Enclosure, level: f64 },
}

impl Outcome {
    pub(super) fn bounds(self) -> Enclosure {
        match self {
            Outcome::Met(bounds) | Outcome::Peak { bounds, .. } => bounds,
        }
    }
}

/// What rounding alone leaves between bounds near `value`.
pub(super) fn noise(ball: &impl Ball, value: f64) -> f64 {
    32.0 * f64::EPSILON * (value.abs() + ball.range())
}

/// Rounding of a nominal value, and of its difference from the anchor.
pub(super) fn slack(ball: &impl Ball, nominal: f64) -> f64 {
    16.0 * f64::EPSILON * (nominal.abs() + ball.range() + ball.drift().1.abs())
}
