//! One state: how far the policy may cost more than v_U says, and any action less than v_L.

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::reading::{Passes, Reading};
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
    /// Rows that were read at multipliers.
    read: Passes<Read>,
    /// Rows of the kernel that are not nominal.
    lifted: Vec<Lifted>,
}

/// A row that was read, and for one of the policy its place there.
#[derive(Clone, Copy, Default)]
struct Read {
    row: usize,
    top: f64,
    omega: f64,
    weight: usize,
    extra: f64,
}

struct Lifted {
    row: usize,
    value: Value,
    /// At least what it takes of the budget.
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

    /// Of every state, in parallel.
    pub(super) fn excesses(&self) -> Vec<Excess> {
        let at = |hand: &mut Hand, s| dispatch(At { proof: self, s, hand });
        let states = 0..self.model.states();
        if crate::pool::alone() {
            let mut hand = Hand::default();
            return states.map(|s| at(&mut hand, s)).collect();
        }
        states.into_par_iter().with_min_len(16).map_init(Hand::default, at).collect()
    }

    #[inline(always)]
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
    #[inline(always)]
    fn policy_excess<S: Simd>(&self, simd: S, s: usize, hand: &mut Hand) -> f64 {
        let Certificate { set, policy, scale, upper, lifts, .. } = self.certificate;
        let shared = set.rectangularity == Rectangularity::State;
        let lifts = &lifts[self.lifts[s]..self.lifts[s + 1]];
        let listed = |r: usize| lifts.binary_search_by_key(&r, |l| l.row as usize).is_ok();
        let (mut total, mut mass, mut gain) = (Sum::default(), Sum::default(), Sum::default());
        // What the rows gain over their tops, in units of the shared budget's multiplier.
        gain.add(set.radius_at(s, self.model.rows_of(s).start));
        let from = self.upper.offset - upper[s];
        let cost_above = |r: usize, Value { top, below, off }: Value| {
            sum_above([from, self.model.cost[r], top, below, off])
        };
        let Hand { scratch, read, lifted } = hand;
        let scale_of = |k: usize| if shared { scale[s] } else { scale[k] };
        read.clear();
        for k in self.weights[s]..self.weights[s + 1] {
            let Weight { row: r, probability: x, shift } = policy[k];
            let r = r as usize;
            let row = Row::new(self.model, set, &self.upper, r, scratch);
            let t = if shared { x } else { 1.0 } / scale_of(k);
            mass.add(x);
            let value = if set.radius_at(s, r) == 0.0 {
                row.nominal(simd)
            } else if let Some(extra) = row.extra(t, shift) {
                let about =
                    Read { row: r, top: row.entries.top, omega: row.omega, weight: k, extra };
                read.push(about, row.pass(simd, t, shift));
                continue;
            } else {
                row.value(0.0.into())
            };
            total.add(x * cost_above(r, value));
        }
        read.each(set.distance == Distance::Kl, |about, reading| {
            let Read { row: r, top, omega, weight: k, extra } = about;
            let mut below = Ball { mid: 0.0, rad: extra };
            if shared {
                gain.add(reading.dual);
            } else {
                let radius = Ball::from(set.radius_at(s, r));
                below.mid = ((radius + reading.dual) * scale[k]).hi().min(0.0);
            }
            total.add(policy[k].probability * cost_above(r, Value::new(top, omega, below)));
            if self.lower.is_none() && !listed(r) {
                lifted.push(self.lifted(about, reading));
            }
        });
        let (mut total, gain) = (total.ball(), gain.ball());
        if shared && gain.hi() < 0.0 {
            total = total + gain * scale[s];
        }
        (total / mass.ball()).hi()
    }

    /// A kernel row, and what it takes of the budget.
    #[inline(always)]
    fn lifted(&self, read: Read, Reading { below, distance, .. }: Reading) -> Lifted {
        let kl = self.certificate.set.distance == Distance::Kl;
        let value = Value::new(read.top, read.omega, below);
        Lifted {
            row: read.row,
            value,
            spent: if kl { distance } else { above(0.5 * (distance * distance)) },
        }
    }

    /// (L): a kernel that is in the set by construction.
    #[inline(always)]
    fn kernel_excess<S: Simd>(&self, simd: S, s: usize, hand: &mut Hand) -> (f64, usize) {
        let Certificate { set, lifts, lower, .. } = self.certificate;
        let shared = set.rectangularity == Rectangularity::State;
        let ahead = self.lower.as_ref().unwrap_or(&self.upper);
        let Hand { scratch, read, lifted } = hand;
        read.clear();
        for lift in &lifts[self.lifts[s]..self.lifts[s + 1]] {
            let r = lift.row as usize;
            let row = Row::new(self.model, set, ahead, r, scratch);
            if row.extra(lift.tilt, lift.shift).is_some() {
                let (top, omega) = (row.entries.top, row.omega);
                let about = Read { row: r, top, omega, weight: 0, extra: 0.0 };
                read.push(about, row.pass(simd, lift.tilt, lift.shift));
            }
        }
        read.each(set.distance == Distance::Kl, |about, reading| {
            lifted.push(self.lifted(about, reading));
        });
        lifted.sort_unstable_by_key(|l| l.row);
        let mut total = Sum::default();
        lifted.iter().for_each(|l| total.add(l.spent));
        let common =
            allowed(set.distance, total.ball().hi(), set.radius_at(s, self.model.rows_of(s).start));
        let mut lifted = lifted.iter().peekable();
        let from = lower[s] - ahead.offset;
        let (least, mut worst) = (ahead.least(self.model), (0.0, 0));
        let spread = above(above(least.off - least.below) + least.off);
        for r in self.model.rows_of(s) {
            let cost = self.model.cost[r];
            let excess = |Value { top, below, off }| sum_above([from, -cost, -top, -below, off]);
            let (share, mut found) = match lifted.next_if(|l| l.row == r) {
                None => (0.0, 0.0),
                Some(l) if shared => (common, excess(l.value)),
                Some(l) => (allowed(set.distance, l.spent, set.radius_at(s, r)), excess(l.value)),
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
                let nominal = excess(Row::new(self.model, set, ahead, r, scratch).nominal(simd));
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
