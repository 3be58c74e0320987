//! The two pieces of every interval, l to p and p to u, in the order in which a row fills them.

use super::bounds;
use crate::certificate::UNIT;
use crate::model::Bounds;
use crate::rows::Row;
use crate::sets::set::Priced;

/// Worths this near to each other, as a share of what makes them, are tied.
const NEAR: f64 = 1e-12;
/// Multipliers this near to each other, as a share, are those of one edge.
const SAME: f64 = 1e-6;

/// In what moves are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Mass.
    Mass,
    /// Shares of the room that there is.
    Room,
}

/// From l to p or from p to u.
#[derive(Clone, Copy, Debug)]
struct Piece {
    entry: usize,
    /// Above p.
    up: bool,
    room: f64,
    z: f64,
    /// c⁺ or −c⁻: what filling it costs a unit of mass.
    cost: f64,
    /// tz less that.
    worth: f64,
}

impl Piece {
    /// y − p where so much of it is filled.
    fn moved(&self, filled: f64) -> f64 {
        if self.up { filled } else { filled - self.room }
    }

    /// The largest of the numbers that its worth is made of.
    fn size(&self) -> f64 {
        self.cost.abs() + (self.worth + self.cost).abs()
    }

    fn is_tied(&self, other: &Piece) -> bool {
        (self.worth - other.worth).abs() <= NEAR * (self.size() + other.size())
    }
}

/// The pieces of a row by falling worth, those that are filled before the tied ones.
pub(super) struct Filled {
    pieces: Vec<Piece>,
    tied: std::ops::Range<usize>,
    /// What the tied ones hold together.
    rest: f64,
    /// The worth of these, ν.
    pub(super) level: f64,
}

/// Which of the tied pieces come first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    LowestValue,
    HighestValue,
}

impl Unit {
    /// c of a direction with so much room.
    pub(super) fn cost(self, room: f64) -> f64 {
        match self {
            Unit::Mass => 1.0,
            Unit::Room => 1.0 / room,
        }
    }

    /// Of all entries, at a multiplier or at ∞, where z alone counts and cheap ones come first.
    pub(super) fn fill(
        self,
        p: &[f64],
        w: &[f64],
        maximum: f64,
        bounds: Bounds<'_>,
        t: f64,
    ) -> Filled {
        let mut pieces = Vec::with_capacity(2 * p.len());
        let mut rest = 0.0;
        for (entry, (&p, &w)) in p.iter().zip(w).enumerate() {
            // No negative zero: equal objectives are sorted by cost.
            let z = (w - maximum) + 0.0;
            for up in [false, true] {
                let room = if up { bounds.upper[entry] - p } else { p - bounds.lower[entry] };
                let cost = if up { self.cost(room) } else { -self.cost(room) };
                // As if there were none, where its inverse is no number.
                if room > 0.0 && cost.is_finite() {
                    rest += if up { 0.0 } else { room };
                    let worth = if t.is_finite() { t * z - cost } else { z };
                    pieces.push(Piece { entry, up, room, z, cost, worth });
                }
            }
        }
        pieces.sort_unstable_by(|a, b| {
            let by_entry = || a.entry.cmp(&b.entry);
            b.worth.total_cmp(&a.worth).then(a.cost.total_cmp(&b.cost)).then_with(by_entry)
        });
        // What rounding makes of nothing.
        let none = 4.0 * UNIT * rest;
        let mut last = 0;
        while last + 1 < pieces.len() && rest > pieces[last].room + none {
            rest -= pieces[last].room;
            last += 1;
        }
        let level = pieces.get(last).map_or(0.0, |piece| piece.worth);
        let mut tied = last..pieces.len().min(last + 1);
        if t.is_finite() {
            let is_tied = |k: usize| pieces[k].is_tied(&pieces[last]);
            while tied.start > 0 && is_tied(tied.start - 1) {
                tied.start -= 1;
                rest += pieces[tied.start].room;
            }
            while tied.end < pieces.len() && is_tied(tied.end) {
                tied.end += 1;
            }
        }
        Filled { pieces, tied, rest, level }
    }

    pub(super) fn of(self, row: &Row<'_>, t: f64) -> Filled {
        self.fill(row.p, row.w, row.maximum, bounds(row.data), t)
    }

    /// The same at the multiplier of the edge that t is meant to be on, and that.
    pub(super) fn snapped(self, row: &Row<'_>, t: f64) -> (Filled, f64) {
        let at = self.of(row, t);
        match at.edge().filter(|edge| *edge != t && (edge - t).abs() <= SAME * t) {
            Some(edge) => (self.of(row, edge), edge),
            None => (at, t),
        }
    }
}

impl Filled {
    /// The multiplier at which the tied pieces of the lowest and the highest objective are tied.
    fn edge(&self) -> Option<f64> {
        let tied = &self.pieces[self.tied.clone()];
        let order = |a: &&Piece, b: &&Piece| a.z.total_cmp(&b.z);
        let (low, high) = (tied.iter().min_by(order)?, tied.iter().max_by(order)?);
        (high.z > low.z).then(|| (high.cost - low.cost) / (high.z - low.z))
    }

    /// Hands over what is filled of every piece, where the tied ones are filled from an end.
    fn visit(&self, end: End, mut take: impl FnMut(&Piece, f64)) {
        let Filled { pieces, tied, rest, .. } = self;
        pieces[..tied.start].iter().for_each(|piece| take(piece, piece.room));
        let mut group = pieces[tied.clone()].to_vec();
        // The lower piece of an entry comes first in any case.
        group.sort_unstable_by(|a, b| {
            let by_value = match end {
                End::LowestValue => a.z.total_cmp(&b.z),
                End::HighestValue => b.z.total_cmp(&a.z),
            };
            by_value.then(a.cost.total_cmp(&b.cost)).then(a.entry.cmp(&b.entry))
        });
        let mut rest = *rest;
        for (k, piece) in group.iter().enumerate() {
            let last = k + 1 == group.len() || rest <= piece.room;
            let part = if last { rest.clamp(0.0, piece.room) } else { piece.room };
            rest -= part;
            take(piece, part);
        }
        pieces[tied.end..].iter().for_each(|piece| take(piece, 0.0));
    }

    /// The row of an end, for a nominal ⟨z, p⟩.
    pub(super) fn priced(&self, end: End, nominal: f64, t: f64) -> Priced {
        let reference = self.pieces.get(self.tied.start).map_or(0.0, |piece| piece.z);
        let (mut gain, mut price) = (0.0, 0.0);
        self.visit(end, |piece, filled| {
            let moved = piece.moved(filled);
            gain += moved * (piece.z - reference);
            price += moved * piece.cost;
        });
        let nu = f64::from(u8::from(end == End::HighestValue));
        let value = (nominal + gain.max(0.0)).min(0.0);
        Priced { t, nu, value, price: price.max(0.0), slope: None }
    }

    /// Adds a share of the way to an end to y, which begins at p.
    fn write(&self, end: End, share: f64, y: &mut [f64]) {
        self.visit(end, |piece, filled| y[piece.entry] += share * piece.moved(filled));
    }
}

/// The row at (t, share), within its bounds.
pub(super) fn mixture(
    at: &Filled,
    share: f64,
    p: &[f64],
    Bounds { lower, upper }: Bounds<'_>,
    y: &mut [f64],
) {
    y.copy_from_slice(p);
    at.write(End::LowestValue, 1.0 - share, y);
    at.write(End::HighestValue, share, y);
    for (j, y) in y.iter_mut().enumerate() {
        *y = y.max(lower[j]).min(upper[j]);
    }
}
