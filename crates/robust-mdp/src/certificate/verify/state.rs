//! One state: how far the policy may cost more than v_U says, and any action less than v_L.

use std::ops::Range;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::reading::{Columns, Line, Proved, Reads};
use super::rounding::{Ball, Sum, above, sum_above};
use super::row::{Ahead, Row, Scratch, Value};
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
    model: &'a Model,
    certificate: &'a Certificate,
    /// What rows need of v_U, and of v_L where they differ.
    upper: Ahead,
    lower: Option<Ahead>,
    /// Where the weights and the lifts of each state begin.
    weights: Vec<usize>,
    lifts: Vec<usize>,
}

/// Memory of a thread.
#[derive(Default)]
pub(super) struct Hand {
    scratch: Scratch,
    columns: Columns,
    /// Rows to be read.
    lines: Vec<Line>,
    /// Rows of the kernel that are not nominal.
    lifted: Vec<Lifted>,
}

struct Lifted {
    row: usize,
    /// At least v_L less its value, and what it takes of the budget.
    below: f64,
    spent: f64,
}

impl<'a> Proof<'a> {
    pub(super) fn new(model: &'a Model, certificate: &'a Certificate) -> Proof<'a> {
        let Certificate { set, upper, lower, policy, lifts, .. } = certificate;
        Proof {
            model,
            certificate,
            upper: Ahead::new(model, set, upper, certificate.table),
            lower: (upper != lower).then(|| Ahead::new(model, set, lower, 0)),
            weights: starts(model, policy.iter().map(|w| w.row)),
            lifts: starts(model, lifts.iter().map(|l| l.row)),
        }
    }

    /// Of every state, in parallel, and the fingerprints of the model's pieces if they are asked for.
    pub(super) fn excesses(&self, told: bool) -> (Vec<Excess>, Vec<u128>) {
        let piece = |hand: &mut Hand, states: Range<usize>| {
            let own = if told { self.model.fingerprint_of(states.clone()) } else { 0 };
            let of = |s| dispatch(At { proof: self, s, hand });
            (states.map(of).collect::<Vec<Excess>>(), own)
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

    fn excess<S: Simd>(&self, simd: S, s: usize, hand: &mut Hand) -> Excess {
        if self.model.is_terminal(s) {
            return Excess::default();
        }
        hand.lifted.clear();
        let above = self.policy_excess(simd, s, hand);
        let (below, row) = self.kernel_excess(simd, s, hand);
        Excess { above, below, row }
    }

    /// (U): weak duality. Where v_L = v_U, the multipliers of rows that list none for the kernel are the
    /// kernel's too.
    fn policy_excess<S: Simd>(&self, simd: S, s: usize, hand: &mut Hand) -> f64 {
        let Certificate { set, policy, scale, upper, lifts, .. } = self.certificate;
        let shared = set.rectangularity == Rectangularity::State;
        let lifts = &lifts[self.lifts[s]..self.lifts[s + 1]];
        let listed = |r: usize| lifts.binary_search_by_key(&r, |l| l.row as usize).is_ok();
        let (mut total, mut mass, mut gain) = (Sum::default(), Sum::default(), Sum::default());
        // What the rows gain over their tops, in units of the shared budget's multiplier.
        gain.add(set.radius_at(s, self.model.rows_of(s).start));
        let [from, back] = [self.upper.offset - upper[s], upper[s] - self.upper.offset];
        let kl = set.distance == Distance::Kl;
        let Hand { scratch, columns, lines, lifted } = hand;
        lines.clear();
        for k in self.weights[s]..self.weights[s + 1] {
            let Weight { row: r, probability: x, shift } = policy[k];
            let row = r as usize;
            let radius = set.radius_at(s, row);
            let scale = if shared { scale[s] } else { scale[k] };
            mass.add(x);
            if radius != 0.0 && scale != 0.0 {
                let t = if shared { x } else { 1.0 } / scale;
                lines.push(Line { row, t, shift, x, radius, scale });
                continue;
            }
            let mut read = Row::new(self.model, &self.upper, row, scratch);
            let value = if radius == 0.0 { read.nominal(simd) } else { read.highest() };
            let Value { top, below, off } = value;
            total.add(x * sum_above([from, self.model.cost[row], top, below, off]));
        }
        let (model, ahead) = (self.model, &self.upper);
        for lines in lines.chunks(8) {
            let reads = Reads { model, ahead, scratch, columns, lines, shared, from, back };
            let Proved { above, gain: more, below, spent } = reads.prove(simd, kl);
            for (j, &Line { row, .. }) in lines.iter().enumerate() {
                total.add(above[j]);
                gain.add(more[j]);
                if self.lower.is_none() && !spent[j].is_nan() && !listed(row) {
                    lifted.push(Lifted { row, below: below[j], spent: spent[j] });
                }
            }
        }
        let (mut total, gain) = (total.ball(), gain.ball());
        if shared && gain.hi() < 0.0 {
            total = total + gain * scale[s];
        }
        (total / mass.ball()).hi()
    }

    /// (L): a kernel that is in the set by construction.
    fn kernel_excess<S: Simd>(&self, simd: S, s: usize, hand: &mut Hand) -> (f64, usize) {
        let Certificate { set, lifts, lower, .. } = self.certificate;
        let shared = set.rectangularity == Rectangularity::State;
        let ahead = self.lower.as_ref().unwrap_or(&self.upper);
        let (kl, from) = (set.distance == Distance::Kl, lower[s] - ahead.offset);
        let Hand { scratch, columns, lines, lifted } = hand;
        lines.clear();
        lines.extend(lifts[self.lifts[s]..self.lifts[s + 1]].iter().map(|l| Line {
            row: l.row as usize,
            t: l.tilt,
            shift: l.shift,
            ..Line::default()
        }));
        let model = self.model;
        for lines in lines.chunks(8) {
            let (from, back) = (0.0, from);
            let reads = Reads { model, ahead, scratch, columns, lines, shared, from, back };
            let Proved { below, spent, .. } = reads.prove(simd, kl);
            for (j, line) in lines.iter().enumerate().filter(|(j, _)| !spent[*j].is_nan()) {
                lifted.push(Lifted { row: line.row, below: below[j], spent: spent[j] });
            }
        }
        lifted.sort_unstable_by_key(|l| l.row);
        let mut total = Sum::default();
        lifted.iter().for_each(|l| total.add(l.spent));
        let common =
            allowed(set.distance, total.ball().hi(), set.radius_at(s, self.model.rows_of(s).start));
        let mut lifted = lifted.iter().peekable();
        let (least, mut worst) = (ahead.least(self.model), (0.0, 0));
        let spread = above(above(least.off - least.below) + least.off);
        for r in self.model.rows_of(s) {
            let cost = self.model.cost[r];
            let excess = |Value { top, below, off }| sum_above([from, -cost, -top, -below, off]);
            let (share, mut found) = match lifted.next_if(|l| l.row == r) {
                None => (0.0, 0.0),
                Some(l) if shared => (common, l.below),
                Some(l) => (allowed(set.distance, l.spent, set.radius_at(s, r)), l.below),
            };
            if share != 1.0 {
                // Nominal rows make up for the rest. What that costs at most is known before they are read
                // (and `spread` has room for the roundings).
                let most = match share {
                    0.0 => excess(least),
                    _ => above(found + above((1.0 - share) * spread)),
                };
                if most <= worst.0 {
                    continue;
                }
                let nominal = Row::new(self.model, ahead, r, scratch).nominal(simd);
                let nominal = excess(nominal);
                found = match share {
                    0.0 => nominal,
                    _ => (Ball::from(nominal) + (Ball::from(found) + -nominal) * share).hi(),
                };
            }
            if found > worst.0 || found.is_nan() {
                worst = (found, r);
            }
        }
        worst
    }
}

/// One state, with the widest registers that this machine has.
pub(super) struct At<'a> {
    pub(super) proof: &'a Proof<'a>,
    pub(super) s: usize,
    pub(super) hand: &'a mut Hand,
}

impl WithSimd for At<'_> {
    type Output = Excess;
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Excess {
        self.proof.excess(simd, self.s, self.hand)
    }
}

/// Where the entries of each state begin in a list of rising rows.
fn starts(model: &Model, rows: impl Iterator<Item = u32>) -> Vec<usize> {
    let (mut rows, mut at) = (rows.peekable(), 0);
    let mut before = |&end: &usize| {
        while rows.next_if(|&r| (r as usize) < end).is_some() {
            at += 1;
        }
        at
    };
    model.state_ptr.iter().map(&mut before).collect()
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
