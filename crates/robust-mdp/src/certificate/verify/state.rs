//! One state: how far the policy may cost more than v_U says, and any action less than v_L.

use std::ops::Range;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::bundle::Bundle;
use super::reading::{Columns, Kind, Line, Proved, Reads, Sure};
use super::rounding::{Ball, Sum, above, or_infinite, sum_above};
use super::row::Ahead;
use crate::certificate::{Certificate, Lift, Weight};
use crate::lanes::dispatch;
use crate::model::Model;
use crate::uncertainty::{Distance, Rectangularity};

/// What a state says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::certificate) struct Excess {
    /// At least T_x v − v.
    pub(in crate::certificate) above: f64,
    /// At least v − min_a Σ_i y_a(i)(c_a(i) + λv(i)), and the row of that minimum.
    pub(in crate::certificate) below: f64,
    pub(in crate::certificate) row: usize,
}

/// A model and what is said about it.
pub(super) struct Proof<'a> {
    model: &'a Model,
    certificate: &'a Certificate,
    kl: bool,
    /// All rows of a state share its budget.
    shared: bool,
    /// What rows need of v_U, and of v_L where they differ.
    upper: Ahead,
    lower: Option<Ahead>,
}

/// Memory of a thread: what is known about a run of states.
#[derive(Default)]
pub(super) struct Hand {
    bundle: Bundle,
    /// Rows to be read, by [`Kind`].
    columns: [Columns; 3],
    states: Vec<Found>,
    /// Of all rows of these states.
    kernel: Vec<Lifted>,
    /// The first of these rows.
    first: usize,
}

/// About a state: sums over the policy's rows, and the worst row of the kernel.
#[derive(Clone, Copy, Default)]
struct Found {
    total: Sum,
    mass: Sum,
    /// What the rows gain over their tops, in units of the shared budget's multiplier.
    gain: Sum,
    worst: Worst,
}

/// What a row of the kernel takes from v_L less its value, and of the budget.
#[derive(Clone, Copy)]
struct Lifted {
    below: f64,
    spent: f64,
}

impl Lifted {
    const NOMINAL: Lifted = Lifted { below: f64::NEG_INFINITY, spent: 0.0 };
}

/// The row of the kernel that is most in excess.
#[derive(Clone, Copy, Default)]
struct Worst {
    below: f64,
    row: usize,
}

impl Worst {
    #[inline(always)]
    fn take(&mut self, below: f64, row: usize) {
        let worse = below > self.below;
        self.row = if worse { row } else { self.row };
        self.below = if worse { below } else { self.below };
    }
}

impl<'a> Proof<'a> {
    pub(super) fn new(model: &'a Model, certificate: &'a Certificate) -> Proof<'a> {
        let Certificate { set, upper, lower, .. } = certificate;
        Proof {
            model,
            certificate,
            kl: set.distance == Distance::Kl,
            shared: set.rectangularity == Rectangularity::State,
            upper: Ahead::new(model, set, upper, certificate.table),
            lower: (upper != lower).then(|| Ahead::new(model, set, lower, 0)),
        }
    }

    /// Of every state, in parallel, and the fingerprints of the model's pieces if they are asked for.
    pub(super) fn excesses(&self, told: bool) -> (Vec<Excess>, Vec<u128>) {
        let piece = |hand: &mut Hand, states: Range<usize>| {
            let own = if told { self.model.fingerprint_of(states.clone()) } else { 0 };
            (dispatch(At { proof: self, states, hand }), own)
        };
        let pieces = self.model.pieces();
        let found: Vec<(Vec<Excess>, u128)> = if crate::pool::alone() {
            let mut hand = Hand::default();
            pieces.map(|states| piece(&mut hand, states)).collect()
        } else {
            let pieces: Vec<Range<usize>> = pieces.collect();
            pieces.into_par_iter().map_init(Hand::default, piece).collect()
        };
        let fingerprints = found.iter().map(|(_, own)| *own).collect();
        (found.into_iter().flat_map(|(excesses, _)| excesses).collect(), fingerprints)
    }

    /// Of some states.
    fn run<S: Simd>(&self, simd: S, states: Range<usize>, hand: &mut Hand) -> Vec<Excess> {
        let rows = self.model.state_ptr[states.start]..self.model.state_ptr[states.end];
        hand.states.clear();
        hand.states.resize(states.len(), Found::default());
        hand.kernel.clear();
        hand.kernel.resize(rows.len(), Lifted::NOMINAL);
        hand.first = rows.start;
        self.policy(simd, states.clone(), hand);
        self.lifts(simd, states.clone(), hand);
        self.kernel(simd, states.clone(), hand);
        let of = |s: usize| {
            if self.model.is_terminal(s) {
                return Excess::default();
            }
            let Found { total, mass, gain, worst } = hand.states[s - states.start];
            let (mut total, gain) = (total.ball(), gain.ball());
            if self.shared && gain.hi() < 0.0 {
                total = total + gain * self.certificate.scale[s];
            }
            Excess { above: (total / mass.ball()).hi(), below: worst.below, row: worst.row }
        };
        states.clone().map(of).collect()
    }

    /// (U): weak duality.
    fn policy<S: Simd>(&self, simd: S, states: Range<usize>, hand: &mut Hand) {
        let Certificate { set, policy, scale, upper, .. } = self.certificate;
        let mut k = policy.partition_point(|w| (w.row as usize) < hand.first);
        for s in self.acting(states.clone()) {
            let (state, rows) = (s - states.start, self.model.rows_of(s));
            let [from, back] = [self.upper.offset - upper[s], upper[s] - self.upper.offset];
            let mut mass = Sum::default();
            while let Some(&Weight { row, probability: x, shift }) = policy.get(k) {
                let row = row as usize;
                if row >= rows.end {
                    break;
                }
                let (radius, cost) = (set.radius_at(s, row), self.model.cost[row]);
                let scale = if self.shared { scale[s] } else { scale[k] };
                mass.add(x);
                k += 1;
                let kind = match (radius == 0.0, scale == 0.0) {
                    (true, _) => Kind::Nominal,
                    (_, true) => Kind::Highest,
                    _ => Kind::Tilted,
                };
                let t = if self.shared { x } else { 1.0 } / scale;
                let line = Line { row, state, x, cost, from, back, t, shift, radius, scale };
                if hand.columns[kind as usize].add(line) {
                    self.read_policy(simd, kind, hand);
                }
            }
            hand.states[state].mass = mass;
            hand.states[state].gain.add(set.radius_at(s, rows.start));
        }
        for kind in [Kind::Tilted, Kind::Nominal, Kind::Highest] {
            self.read_policy(simd, kind, hand);
        }
    }

    /// Where v_L = v_U, the policy's multipliers are the kernel's too.
    fn read_policy<S: Simd>(&self, simd: S, kind: Kind, hand: &mut Hand) {
        let Proved { above, gain, below, spent } = self.read(simd, &self.upper, kind, hand);
        let (columns, first) = (&mut hand.columns[kind as usize], hand.first);
        let rows = std::mem::take(&mut columns.len).min(8);
        let (row, state) = (&columns.row[..rows], &columns.state[..rows]);
        // All of a state at once, as there are sums of eight.
        if rows == 8 && state[0] == state[7] {
            let found = &mut hand.states[state[0]];
            found.total.add_eight(above);
            found.gain.add_eight(gain);
        } else {
            for (j, &state) in state.iter().enumerate() {
                hand.states[state].total.add(above[j]);
                hand.states[state].gain.add(gain[j]);
            }
        }
        if kind == Kind::Tilted && self.lower.is_none() {
            for (j, &row) in row.iter().enumerate() {
                hand.kernel[row - first] = Lifted { below: below[j], spent: spent[j] };
            }
        }
    }

    /// Rows of the kernel with multipliers of their own.
    fn lifts<S: Simd>(&self, simd: S, states: Range<usize>, hand: &mut Hand) {
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
                if hand.columns[0].add(line) {
                    self.read_lifts(simd, ahead, hand);
                }
            }
        }
        self.read_lifts(simd, ahead, hand);
    }

    fn read_lifts<S: Simd>(&self, simd: S, ahead: &Ahead, hand: &mut Hand) {
        let Proved { below, spent, .. } = self.read(simd, ahead, Kind::Tilted, hand);
        let columns = &mut hand.columns[0];
        for j in 0..std::mem::take(&mut columns.len) {
            hand.kernel[columns.row[j] - hand.first] = Lifted { below: below[j], spent: spent[j] };
        }
    }

    /// (L): a kernel that is in the set by construction.
    fn kernel<S: Simd>(&self, simd: S, states: Range<usize>, hand: &mut Hand) {
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
                let line = Sure { row, state, cost, back, x: 0.0 };
                if hand.columns[1].add_if(below == f64::NEG_INFINITY, line) {
                    self.read_nominal(simd, ahead, hand);
                }
            }
            for row in if over { rows } else { 0..0 } {
                let Lifted { below, spent } = hand.kernel[row - hand.first];
                let own = || allowed(set.distance, spent, set.radius_at(s, row));
                let x = if below == f64::NEG_INFINITY { 1.0 } else { common.unwrap_or_else(own) };
                let worst = hand.states[state].worst.below;
                if x == 1.0 || fits(mixed_above(below, x, spread), worst) {
                    continue;
                }
                let line = Sure { row, state, cost: self.model.cost[row], back, x };
                if hand.columns[1].add_if(true, line) {
                    self.read_nominal(simd, ahead, hand);
                }
            }
        }
        self.read_nominal(simd, ahead, hand);
    }

    fn read_nominal<S: Simd>(&self, simd: S, ahead: &Ahead, hand: &mut Hand) {
        let Proved { below, .. } = self.read(simd, ahead, Kind::Nominal, hand);
        let columns = &mut hand.columns[1];
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

    /// Reads what has gathered, and what that proves.
    #[inline(always)]
    fn read<S: Simd>(
        &self,
        simd: S,
        ahead: &Ahead,
        kind: Kind,
        Hand { bundle, columns, .. }: &mut Hand,
    ) -> Proved {
        let (model, columns, shared) = (self.model, &mut columns[kind as usize], self.shared);
        Reads { model, ahead, bundle, columns, shared }.prove(simd, self.kl, kind)
    }

    fn acting(&self, states: Range<usize>) -> impl Iterator<Item = usize> {
        states.filter(|&s| !self.model.is_terminal(s))
    }
}

/// Some states, with the widest registers that this machine has.
pub(super) struct At<'a> {
    pub(super) proof: &'a Proof<'a>,
    pub(super) states: Range<usize>,
    pub(super) hand: &'a mut Hand,
}

impl WithSimd for At<'_> {
    type Output = Vec<Excess>;
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<Excess> {
        self.proof.run(simd, self.states, self.hand)
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
