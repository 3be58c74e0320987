//! Rows of a weighted L1 set, d(y, p) = Σ W|y − p|. At t the mass goes to the entries of
//!   N = max_j (t·z_j − W_j),
//! from those with t·z_j + W_j < N, which give all:
//!   ψ(t) = N + Σ p·max(tz − N, −W).
//! Entries within a band of these borders are tied; the second number of a point is the share of the way from
//! the maximiser of the lowest value to that of the highest.

use super::EntryData;
use super::set::Priced;
use crate::certificate::{Interval, ProofRow, Reading, UNIT};
use crate::rows::Row;

/// Numbers this near to a border, as a share of what makes them, lie on it.
const NEAR: f64 = 1e-12;

/// Multipliers this near to each other, as a share, are those of one edge.
const SAME: f64 = 1e-6;

/// A row with the weights W = scale·w.
#[derive(Clone, Copy)]
pub(super) struct Weighted<'a> {
    p: &'a [f64],
    w: &'a [f64],
    maximum: f64,
    data: EntryData<'a>,
    scale: f64,
}

/// A maximiser: who receives, and whether entries on the border give.
#[derive(Clone, Copy)]
struct Corner {
    receiver: usize,
    tied_give: bool,
}

/// The maximisers at t of the lowest and of the highest value.
struct Corners {
    ends: [Corner; 2],
    /// t, to the digit where it is that of an edge.
    t: f64,
    /// N.
    level: f64,
}

impl<'a> Weighted<'a> {
    pub(super) fn new(row: Row<'a>, scale: f64) -> Weighted<'a> {
        let Row { p, w, maximum, data, .. } = row;
        Weighted { p, w, maximum, data, scale }
    }

    fn z(&self, j: usize) -> f64 {
        self.w[j] - self.maximum
    }

    /// W.
    fn cost(&self, j: usize) -> f64 {
        self.scale * self.data.weight(j)
    }

    /// x − N, or 0 within the band.
    fn beyond(&self, j: usize, x: f64, t: f64, level: f64) -> f64 {
        let size = self.cost(j) - t * self.z(j) + level.abs();
        if (x - level).abs() <= NEAR * size { 0.0 } else { x - level }
    }

    fn corners(&self, t: f64) -> Corners {
        let entries = 0..self.p.len();
        let receives = |j: usize| t * self.z(j) - self.cost(j);
        let level = entries.clone().map(receives).fold(f64::NEG_INFINITY, f64::max);
        let tied = |j: &usize| self.beyond(*j, receives(*j), t, level) == 0.0;
        let order = |i: &usize, j: &usize| self.z(*i).total_cmp(&self.z(*j));
        let low = entries.clone().filter(tied).min_by(order).unwrap_or(0);
        let high = entries.clone().filter(tied).max_by(order).unwrap_or(0);
        let donors = entries.filter(|&j| self.p[j] > 0.0 && self.standing(j, t, level) == 0.0);
        let between = |j: usize, cost: f64| (self.cost(high) + cost) / (self.z(high) - self.z(j));
        let receivers = std::iter::once(between(low, -self.cost(low)));
        let edges = receivers.chain(donors.map(|j| between(j, self.cost(j))));
        // Equal weights and nearly equal objectives are tied at any t.
        let mut near = edges.filter(|edge| (edge - t).abs() <= SAME * t);
        let edge = near.next().unwrap_or(t);
        let ends = [(low, false), (high, true)];
        let ends = ends.map(|(receiver, tied_give)| Corner { receiver, tied_give });
        Corners { ends, t: edge, level }
    }

    /// Entry j as a donor: it gives all below 0, and none above.
    fn standing(&self, j: usize, t: f64, level: f64) -> f64 {
        self.beyond(j, t * self.z(j) + self.cost(j), t, level)
    }

    /// The entries that give at a corner.
    fn donors(&self, t: f64, level: f64, corner: Corner) -> impl Iterator<Item = usize> + '_ {
        let gives = move |&j: &usize| {
            let standing = self.standing(j, t, level);
            standing < 0.0 || standing == 0.0 && corner.tied_give
        };
        (0..self.p.len()).filter(gives).filter(move |&j| j != corner.receiver)
    }

    /// [`Curve::ends`](super::Curve::ends).
    pub(super) fn ends(&self, nominal: f64, t: f64) -> [Priced; 2] {
        let Corners { ends: [low, high], t: edge, level } = self.corners(t);
        let priced = |nu, corner: Corner| {
            let to = corner.receiver;
            let (mut gain, mut price) = (0.0, 0.0);
            for j in self.donors(t, level, corner) {
                gain += self.p[j] * (self.z(to) - self.z(j));
                price += self.p[j] * (self.cost(to) + self.cost(j));
            }
            Priced { t: edge, nu, value: (nominal + gain).min(0.0), price, slope: None }
        };
        let [from, to] = [priced(0.0, low), priced(1.0, high)];
        if from.price < to.price { [from, to] } else { [from; 2] }
    }

    /// The cheapest state of the largest objective.
    fn top(&self) -> Option<usize> {
        let tops = (0..self.p.len()).filter(|&j| self.z(j) == 0.0);
        tops.min_by(|&i, &j| self.cost(i).total_cmp(&self.cost(j)))
    }

    /// [`Curve::face`](super::Curve::face).
    pub(super) fn face(&self) -> f64 {
        let Some(top) = self.top() else { return f64::INFINITY };
        let below = (0..self.p.len()).filter(|&j| self.z(j) < 0.0);
        below.map(|j| self.p[j] * (self.cost(j) + self.cost(top))).sum()
    }

    /// [`Curve::kernel`](super::Curve::kernel).
    pub(super) fn write(&self, at: Priced, y: &mut [f64]) {
        y.copy_from_slice(self.p);
        if at.t.is_infinite() {
            let Some(top) = self.top() else { return };
            for j in (0..y.len()).filter(|&j| self.z(j) < 0.0) {
                y[top] += std::mem::take(&mut y[j]);
            }
            return;
        }
        let Corners { ends, level, .. } = self.corners(at.t);
        for (corner, share) in ends.into_iter().zip([1.0 - at.nu, at.nu]) {
            if share > 0.0 {
                for j in self.donors(at.t, level, corner) {
                    y[j] -= share * self.p[j];
                    y[corner.receiver] += share * self.p[j];
                }
            }
        }
        y.iter_mut().for_each(|y| *y = y.max(0.0));
    }

    /// [`Set::vacuous`](super::Set::vacuous), where entries with p = 0 may receive mass if `unused`.
    pub(super) fn vacuous(&self, unused: bool) -> f64 {
        let all: f64 = (0..self.p.len()).map(|j| self.cost(j) * self.p[j]).sum();
        let own = |j: usize| self.cost(j) * (1.0 - 2.0 * self.p[j]);
        let open = (0..self.p.len()).filter(|&j| unused || self.p[j] > 0.0);
        all + open.map(own).fold(f64::NEG_INFINITY, f64::max)
    }
}

/// Any N ≥ t·z − W in all entries bounds ψ ≤ N + Σp·max(tz − N, −W)/σ, σ = Σp. The row is a mixture of two, each
/// with the whole mass of its donors at its receiver.
pub(super) fn read(row: &ProofRow<'_>, scale: f64, t: f64, share: f64) -> Reading {
    if !(0.0..=1.0).contains(&share) {
        return Reading::NOTHING;
    }
    let ProofRow { p, w, maximum, depth, data, .. } = *row;
    let of = Weighted { p, w, maximum, data, scale };
    let size = |j: usize| of.cost(j) - t * of.z(j);
    let reached = |j: usize| (t * of.z(j) - of.cost(j)) + 4.0 * UNIT * size(j);
    let level = (0..p.len()).map(reached).fold(f64::NEG_INFINITY, f64::max);
    let mass = Interval::sum(p.iter().copied(), 0.0);
    let terms = (0..p.len()).map(|j| p[j] * (t * of.z(j) - level).max(-of.cost(j)));
    // Differences are rounded as what they are made of.
    let sizes = (0..p.len()).map(|j| p[j] * (level.abs() - t * of.z(j)));
    let off = 4.0 * UNIT * Interval::sum(sizes, 4.0).hi();
    let dual = Interval::sum(terms, 3.0).wider(off) / mass + level;
    let nominal = Interval::sum((0..p.len()).map(|j| p[j] * of.z(j)), 1.0) / mass;
    let corners = of.corners(t);
    let moved = corners.ends.map(|corner| {
        let (mut gain, mut price) = (Vec::new(), Vec::new());
        for j in of.donors(t, corners.level, corner) {
            gain.push(p[j] * (of.z(corner.receiver) - of.z(j)));
            price.push(p[j] * (of.cost(corner.receiver) + of.cost(j)));
        }
        [gain, price].map(|terms| Interval::sum(terms, 5.0) / mass)
    });
    let rest = Interval::from(1.0) + -share;
    let mixed = |k: usize| {
        let [low, high] = [moved[0][k], moved[1][k]];
        (low * rest.mid + high * share).wider(rest.rad * low.size())
    };
    // z is exact by definition, and differences of it are off by a rounding of the depth.
    let value = (nominal + mixed(0)).wider(4.0 * UNIT * depth);
    Reading { dual: dual.hi(), value, spent: mixed(1).hi() }
}
