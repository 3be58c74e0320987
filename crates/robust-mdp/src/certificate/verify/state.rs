//! Runs of states: how far the policy may cost more than v_U says, and any action less than v_L.

use std::ops::Range;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::bundle::Bundle;
use super::kernel::{Lifted, Worst};
use super::reading::{Columns, Kind, Line, Proved, Reads};
use super::rounding::Sum;
use super::row::Ahead;
use crate::certificate::{Certificate, Weight};
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
    pub(super) model: &'a Model,
    pub(super) certificate: &'a Certificate,
    kl: bool,
    /// All rows of a state share its budget.
    pub(super) shared: bool,
    /// What rows need of v_U, and of v_L where they differ.
    pub(super) upper: Ahead,
    pub(super) lower: Option<Ahead>,
}

/// Memory of a thread: what is known about a run of states.
#[derive(Default)]
pub(super) struct Hand {
    bundle: Bundle,
    /// Rows to be read, by [`Kind`].
    pub(super) columns: [Columns; 3],
    pub(super) states: Vec<Found>,
    /// Of all rows of these states.
    pub(super) kernel: Vec<Lifted>,
    /// The first of these rows.
    pub(super) first: usize,
}

/// About a state: sums over the policy's rows, and the worst row of the kernel.
#[derive(Clone, Copy, Default)]
pub(super) struct Found {
    total: Sum,
    mass: Sum,
    /// What the rows gain over their tops, in units of the shared budget's multiplier.
    gain: Sum,
    pub(super) worst: Worst,
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
                if hand.columns[kind as usize].add(line, true) {
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
        // Where a state has many rows, eight at once: one after the other they wait for memory.
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

    /// Reads what has gathered, and what that proves.
    #[inline(always)]
    pub(super) fn read<S: Simd>(
        &self,
        simd: S,
        ahead: &Ahead,
        kind: Kind,
        Hand { bundle, columns, .. }: &mut Hand,
    ) -> Proved {
        let (model, columns, shared) = (self.model, &mut columns[kind as usize], self.shared);
        Reads { model, ahead, bundle, columns, shared }.prove(simd, self.kl, kind)
    }

    pub(super) fn acting(&self, states: Range<usize>) -> impl Iterator<Item = usize> {
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
