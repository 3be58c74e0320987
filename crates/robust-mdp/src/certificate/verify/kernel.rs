//! (L): a kernel that is in the set by construction, and how much less than v_L any action may cost under it.

use std::ops::Range;

use pulp::Simd;

use super::reading::{Kind, Line, Proved};
use super::rounding::{Ball, Sum, above, or_infinite, sum_above};
use super::row::Ahead;
use super::state::{Hand, Proof};
use crate::certificate::{Certificate, Lift};
use crate::uncertainty::Distance;

/// At least v_L less the value of a row of the kernel, and what it takes of the budget.
#[derive(Clone, Copy)]
pub(super) struct Lifted {
    pub(super) below: f64,
    pub(super) spent: f64,
}

impl Lifted {
    pub(super) const NOMINAL: Lifted = Lifted { below: f64::NEG_INFINITY, spent: 0.0 };
}

/// The row of the kernel that is most in excess.
#[derive(Clone, Copy, Default)]
pub(super) struct Worst {
    pub(super) below: f64,
    pub(super) row: usize,
}

impl Worst {
    #[inline(always)]
    fn take(&mut self, below: f64, row: usize) {
        let worse = below > self.below;
        self.row = if worse { row } else { self.row };
        self.below = if worse { below } else { self.below };
    }
}

impl Proof<'_> {
    /// Rows of the kernel with multipliers of their own.
    pub(super) fn lifts<S: Simd>(&self, simd: S, states: Range<usize>, hand: &mut Hand) {
        let Certificate { lifts, lower, .. } = self.certificate;
        let ahead = self.lower.as_ref().unwrap_or(&self.upper);
        let mut lifts = &lifts[lifts.partition_point(|l| (l.row as usize) < hand.first)..];
        for s in self.acting(states.clone()) {
            let (state, back, rows) =
                (s - states.start, lower[s] - ahead.offset, self.model.rows_of(s));
            while let Some((&Lift { row, tilt: t, shift }, rest)) = lifts.split_first() {
                let row = row as usize;
                if row >= rows.end {
                    break;
                }
                lifts = rest;
                let cost = self.model.cost[row];
                let line = Line { row, state, cost, back, t, shift, ..Line::default() };
                if hand.columns[Kind::Tilted as usize].add(line, true) {
                    self.read_lifts(simd, ahead, hand);
                }
            }
        }
        self.read_lifts(simd, ahead, hand);
    }

    fn read_lifts<S: Simd>(&self, simd: S, ahead: &Ahead, hand: &mut Hand) {
        let Proved { below, spent, .. } = self.read(simd, ahead, Kind::Tilted, hand);
        let columns = &mut hand.columns[Kind::Tilted as usize];
        for j in 0..std::mem::take(&mut columns.len) {
            hand.kernel[columns.row[j] - hand.first] = Lifted { below: below[j], spent: spent[j] };
        }
    }

    /// (L): a kernel that is in the set by construction.
    pub(super) fn kernel<S: Simd>(&self, simd: S, states: Range<usize>, hand: &mut Hand) {
        let Certificate { set, lower, .. } = self.certificate;
        let ahead = self.lower.as_ref().unwrap_or(&self.upper);
        // How far two rows of mass one are apart, with room for the roundings.
        let range = if self.model.transition_cost.is_none() { ahead.range } else { f64::INFINITY };
        let spread = above(above(ahead.omega + range) + ahead.omega);
        for s in self.acting(states.clone()) {
            let (state, rows) = (s - states.start, self.model.rows_of(s));
            let (back, radius) = (lower[s] - ahead.offset, set.radius_at(s, rows.start));
            let lifted = &hand.kernel[rows.start - hand.first..rows.end - hand.first];
            // What the lifted rows take of the budget, and the worst of those that do not take too much.
            let (mut total, mut over, mut nominal) = (Sum::default(), false, false);
            let mut worst = Worst { below: f64::NEG_INFINITY, row: rows.start };
            for (row, l) in rows.clone().zip(lifted) {
                nominal |= l.below == f64::NEG_INFINITY;
                if self.shared || l.spent <= set.radius_at(s, row) {
                    total.add(l.spent);
                    worst.take(l.below, row);
                } else {
                    over = true;
                }
            }
            let mut common = None;
            if self.shared && !fits(total.ball().hi(), radius) {
                // Nominal rows make up for the rest, which may be too little to matter.
                let share = allowed(set.distance, total.ball().hi(), radius);
                over = !fits(mixed_above(worst.below, share, spread), 0.0);
                (worst.below, common) = (f64::NEG_INFINITY, Some(share));
            }
            worst.take(0.0, worst.row);
            hand.states[state].worst = worst;
            // What nominal rows cost less than v_L is known within limits before they are read: those that cost too
            // much for that to matter are not.
            let enough = above(sum_above([back, range, ahead.omega, 0.0, 0.0]) - worst.below);
            for row in if nominal { rows.clone() } else { 0..0 } {
                let (cost, below) = (self.model.cost[row], hand.kernel[row - hand.first].below);
                if enough <= cost {
                    continue;
                }
                let line = Line { row, state, cost, back, ..Line::default() };
                if hand.columns[Kind::Nominal as usize].add(line, below == f64::NEG_INFINITY) {
                    self.read_nominal(simd, ahead, hand);
                }
            }
            for row in if over { rows } else { 0..0 } {
                let Lifted { below, spent } = hand.kernel[row - hand.first];
                let own = || allowed(set.distance, spent, set.radius_at(s, row));
                let (x, worst) = (common.unwrap_or_else(own), hand.states[state].worst.below);
                let counted = below == f64::NEG_INFINITY || x == 1.0;
                if counted || fits(mixed_above(below, x, spread), worst) {
                    continue;
                }
                let cost = self.model.cost[row];
                let line = Line { row, state, cost, back, x, ..Line::default() };
                if hand.columns[Kind::Nominal as usize].add(line, true) {
                    self.read_nominal(simd, ahead, hand);
                }
            }
        }
        self.read_nominal(simd, ahead, hand);
    }

    fn read_nominal<S: Simd>(&self, simd: S, ahead: &Ahead, hand: &mut Hand) {
        let Proved { below, .. } = self.read(simd, ahead, Kind::Nominal, hand);
        let columns = &mut hand.columns[Kind::Nominal as usize];
        for j in 0..std::mem::take(&mut columns.len) {
            let (row, state, share) = (columns.row[j], columns.state[j], columns.x[j]);
            let lifted = hand.kernel[row - hand.first].below;
            let found = match share {
                0.0 => below[j],
                _ => (Ball::from(below[j]) + (Ball::from(lifted) + -below[j]) * share).hi(),
            };
            hand.states[state].worst.take(or_infinite(found), row);
        }
    }
}

/// Whether x ≤ limit; what is not a number is not.
#[inline(always)]
fn fits(x: f64, limit: f64) -> bool {
    x <= limit
}

/// At least what a row adds that goes so large a share of the way to one that adds `below`, if rows differ by no more
/// than `spread`.
fn mixed_above(below: f64, share: f64, spread: f64) -> f64 {
    above(below + above((1.0 - share) * spread))
}

/// A share of the way from the nominal rows that the budget allows if the whole way spends `used`:
/// distances are convex, and that of the ellipsoid is a square. None of it if that is not a number.
fn allowed(distance: Distance, used: f64, radius: f64) -> f64 {
    if used <= radius {
        return 1.0;
    }
    let share = (radius / used).next_down().max(0.0);
    match distance {
        Distance::Kl => share,
        _ => share.sqrt().next_down().max(0.0),
    }
}
