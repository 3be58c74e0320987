//! The verifier: what a certificate proves about a model, in outward-rounded arithmetic.
//!
//! It shares no numerical code with the solvers. Costs are minimised; terminal states are worth 0.
//! With T_x v(s) = max_{y ∈ P_s} Σ_a x_a Σ_i y_a(i)(c_a(i) + λv(i)):
//! - T_x v ≤ v + δ in every acting state gives v^x ≤ v + δ/(1 − λ);
//! - a kernel y of the set with min_a Σ_i y_a(i)(c_a(i) + λv(i)) ≥ v − ε gives v* ≥ v − ε/(1 − λ).
//!
//! `docs/certificates.md` has the proofs and the error analysis.

mod exponential;
mod lane;
mod rounding;
mod row;
mod sums;
mod tail;
#[cfg(test)]
mod tests;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use self::rounding::{Ball, Sum, UNIT, sum_above};
use self::row::{Ahead, Row, Scratch, Value};
use super::rejection::{Rejection, Shortfall};
use super::{Certificate, Weight};
use crate::error::Label;
use crate::lanes::dispatch;
use crate::model::{Model, Objective};
use crate::uncertainty::{Distance, Rectangularity};

/// What a certificate proves: lower ≤ v* ≤ v^x ≤ upper, in the model's own sign (for rewards, the
/// policy's worst case is at least `lower` and no policy's is above `upper`).
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// Lower bounds, one a state.
    pub lower: Vec<f64>,
    /// Upper bounds, one a state.
    pub upper: Vec<f64>,
    /// Bounds at the initial distribution: (lower, upper).
    pub initial: (f64, f64),
    /// At least the largest upper − lower over states.
    pub gap: f64,
}

/// Checks a certificate against a model; the answer does not depend on the number of `threads`.
///
/// Nothing that the certificate says is trusted: the bounds are computed again from its values and
/// multipliers, with every rounding counted, and those it claims must not be narrower.
pub fn verify(
    model: &Model,
    certificate: &Certificate,
    threads: Option<usize>,
) -> Result<Verified, Rejection> {
    super::check::check(model, certificate)?;
    prove(model, certificate, threads)?.claimed(model, certificate)
}

/// Bounds, and what they are wide by.
pub(super) struct Proved {
    pub(super) verified: Verified,
    /// Where δ and ε lie, unless they are 0.
    above: Option<(usize, Excess)>,
    below: Option<(usize, Excess)>,
}

/// What a state says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Excess {
    /// At least T_x v − v.
    above: f64,
    /// At least v − min_a Σ_i y_a(i)(c_a(i) + λv(i)), and the row of that minimum.
    below: f64,
    row: usize,
}

/// What follows from a certificate that is complete, whatever it claims.
pub(super) fn prove(
    model: &Model,
    certificate: &Certificate,
    threads: Option<usize>,
) -> Result<Proved, Rejection> {
    let proof = Proof::new(model, certificate);
    let pooled = crate::pool::in_pool(threads, || proof.excesses());
    let excesses = pooled.map_err(|e| Rejection::Input(e.to_string()))?;
    for (s, found) in excesses.iter().enumerate() {
        for (x, what) in [(found.above, "upper"), (found.below, "lower")] {
            if !x.is_finite() {
                return Err(Rejection::Nothing { what, state: label(model, s) });
            }
        }
    }
    let widest = |of: fn(&Excess) -> f64| {
        let wide = excesses.iter().copied().enumerate().filter(|(_, x)| of(x) > 0.0);
        wide.max_by(|(_, x), (_, y)| of(x).total_cmp(&of(y)))
    };
    let (above, below) = (widest(|x| x.above), widest(|x| x.below));
    let rest = (1.0 - model.discount()).next_down();
    let wider = |x: Option<f64>| x.map_or(0.0, |x| (x / rest).next_up());
    let (up, down) = (wider(above.map(|x| x.1.above)), wider(below.map(|x| x.1.below)));
    let acting = |s: usize, x: f64| if model.is_terminal(s) { 0.0 } else { x };
    let states = 0..model.states();
    let upper = states.clone().map(|s| acting(s, (certificate.upper[s] + up).next_up()));
    let lower = states.map(|s| acting(s, (certificate.lower[s] - down).next_down()));
    let (upper, lower): (Vec<f64>, Vec<f64>) = (upper.collect(), lower.collect());
    let negated = |v: &[f64]| v.iter().map(|x| 0.0 - x).collect::<Vec<f64>>();
    let (low, high) = (-mean_above(model, &negated(&lower)), mean_above(model, &upper));
    let gap = upper.iter().zip(&lower).fold(0.0, |gap: f64, (u, l)| gap.max((u - l).next_up()));
    let verified = match model.objective() {
        Objective::MinCost => Verified { lower, upper, initial: (low, high), gap },
        Objective::MaxReward => Verified {
            lower: negated(&upper),
            upper: negated(&lower),
            initial: (0.0 - high, 0.0 - low),
            gap,
        },
    };
    Ok(Proved { verified, above, below })
}

impl Proved {
    /// The bounds, if they are as narrow as the certificate claims.
    fn claimed(self, model: &Model, certificate: &Certificate) -> Result<Verified, Rejection> {
        let Proved { verified, above, below } = self;
        let claim = &certificate.claim;
        let ((low, high), gap) = (verified.initial, verified.gap);
        // Comparisons that fail on what is not a number.
        if low >= claim.lower && high <= claim.upper && gap <= claim.gap {
            return Ok(verified);
        }
        Err(Rejection::Claim(Box::new(Shortfall {
            claimed: (claim.lower, claim.upper, claim.gap),
            proved: (low, high, gap),
            above: above.map(|(s, x)| (x.above, label(model, s))),
            below: below
                .map(|(s, x)| (x.below, label(model, s), model.action_name(s, x.row).into())),
        })))
    }
}

fn label(model: &Model, s: usize) -> Label {
    let name = model.state_names.as_ref().map(|names| names[s].as_str().into());
    Label { index: s, name }
}

/// At least the mean under the initial distribution over its exact sum.
fn mean_above(model: &Model, v: &[f64]) -> f64 {
    let (mut mass, mut mean) = (Sum::default(), Sum::default());
    for (s, &v) in v.iter().enumerate() {
        let p = model.initial().map_or(1.0, |p| p[s]);
        mass.add(p);
        mean.add(p * v);
    }
    let mean = (mean.ball() / mass.ball()).hi();
    if mean.is_nan() { f64::INFINITY } else { mean }
}

/// A model and what is said about it.
struct Proof<'a> {
    model: &'a Model,
    certificate: &'a Certificate,
    /// What rows need of v_U and of v_L.
    upper: Ahead,
    lower: Ahead,
    /// Where the weights and the lifts of each state begin.
    weights: Vec<usize>,
    lifts: Vec<usize>,
}

impl<'a> Proof<'a> {
    fn new(model: &'a Model, certificate: &'a Certificate) -> Proof<'a> {
        let Certificate { set, upper, lower, policy, lifts, .. } = certificate;
        Proof {
            model,
            certificate,
            upper: Ahead::new(model, set, upper),
            lower: Ahead::new(model, set, lower),
            weights: starts(model, policy.iter().map(|w| w.row)),
            lifts: starts(model, lifts.iter().map(|l| l.row)),
        }
    }

    fn excesses(&self) -> Vec<Excess> {
        let at = |scratch: &mut Scratch, s| dispatch(At { proof: self, s, scratch });
        let states = 0..self.model.states();
        if crate::pool::alone() {
            let mut scratch = Scratch::default();
            return states.map(|s| at(&mut scratch, s)).collect();
        }
        states.into_par_iter().with_min_len(16).map_init(Scratch::default, at).collect()
    }

    #[inline(always)]
    fn excess<S: Simd>(&self, simd: S, s: usize, scratch: &mut Scratch) -> Excess {
        if self.model.is_terminal(s) {
            return Excess::default();
        }
        let above = self.policy_excess(simd, s, scratch);
        let (below, row) = self.kernel_excess(simd, s, scratch);
        Excess { above, below, row }
    }

    /// (U): weak duality.
    #[inline(always)]
    fn policy_excess<S: Simd>(&self, simd: S, s: usize, scratch: &mut Scratch) -> f64 {
        let Certificate { set, policy, scale, upper, .. } = self.certificate;
        let shared = set.rectangularity == Rectangularity::State;
        let (mut total, mut mass, mut gain) = (Sum::default(), Sum::default(), Sum::default());
        // What the rows gain over their tops, in units of the shared budget's multiplier.
        gain.add(set.radius_at(s, self.model.rows_of(s).start));
        let from = self.upper.offset - upper[s];
        for k in self.weights[s]..self.weights[s + 1] {
            let Weight { row: r, probability: x, shift } = policy[k];
            let r = r as usize;
            let row = Row::new(self.model, set, &self.upper, r, scratch);
            let radius = set.radius_at(s, r);
            let mu = if shared { scale[s] } else { scale[k] };
            let t = if shared { x } else { 1.0 } / mu;
            let mut value = row.value(0.0.into());
            if radius == 0.0 {
                value = row.nominal(simd);
            } else if t.is_normal() {
                let dual = row.dual(simd, t, shift);
                let mut below = Ball { mid: 0.0, rad: row.extra(t, shift) };
                if shared {
                    gain.add(dual);
                } else {
                    below.mid = ((Ball::from(radius) + dual) * mu).hi().min(0.0);
                }
                value = row.value(below);
            }
            let Value { top, below, off } = value;
            let cost = self.model.cost[r];
            total.add(x * sum_above([from, cost, top, below, off]));
            mass.add(x);
        }
        let (mut total, gain) = (total.ball(), gain.ball());
        if shared && gain.hi() < 0.0 {
            total = total + gain * scale[s];
        }
        (total / mass.ball()).hi()
    }

    /// (L): a kernel that is in the set by construction.
    #[inline(always)]
    fn kernel_excess<S: Simd>(&self, simd: S, s: usize, scratch: &mut Scratch) -> (f64, usize) {
        let Certificate { set, lifts, lower, .. } = self.certificate;
        let shared = set.rectangularity == Rectangularity::State;
        let lifts = &lifts[self.lifts[s]..self.lifts[s + 1]];
        let mut lifted = Vec::with_capacity(lifts.len());
        let mut total = Sum::default();
        for lift in lifts {
            let row = Row::new(self.model, set, &self.lower, lift.row as usize, scratch);
            let (value, distance) = row.lifted(simd, lift.tilt, lift.shift);
            let way = distance * lift.share;
            let spent = if set.distance == Distance::Kl { way } else { 0.5 * (way * way) };
            total.add(spent);
            lifted.push((lift, spent, value));
        }
        let total = total.ball().hi();
        let mut lifted = lifted.into_iter().peekable();
        let from = lower[s] - self.lower.offset;
        let mut worst = (0.0, 0);
        for r in self.model.rows_of(s) {
            let cost = self.model.cost[r];
            let excess = |Value { top, below, off }| sum_above([from, -cost, -top, -below, off]);
            let (mut share, mut found) = (0.0, 0.0);
            if let Some((lift, own, value)) = lifted.next_if(|l| l.0.row as usize == r) {
                let used = if shared { total } else { own * (1.0 + 4.0 * UNIT) };
                share = allowed(set.distance, used, set.radius_at(s, r)) * lift.share;
                found = excess(value);
            }
            if share != 1.0 {
                let row = Row::new(self.model, set, &self.lower, r, scratch);
                let nominal = excess(row.nominal(simd));
                // Any share below is a kernel of the set too; this one is a double.
                share = share.next_down().max(0.0);
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
struct At<'a> {
    proof: &'a Proof<'a>,
    s: usize,
    scratch: &'a mut Scratch,
}

impl WithSimd for At<'_> {
    type Output = Excess;
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Excess {
        self.proof.excess(simd, self.s, self.scratch)
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
/// distances are convex, and that of the ellipsoid is a square.
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
