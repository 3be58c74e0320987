//! The verifier: what a certificate proves about a model, in outward-rounded arithmetic.
//!
//! It shares no numerical code with the solvers. Costs are minimised; terminal states are worth 0.
//! With T_x v(s) = max_{y ∈ P_s} Σ_a x_a Σ_i y_a(i)(c_a(i) + λv(i)):
//! - T_x v ≤ v + δ in every acting state gives v^x ≤ v + δ/(1 − λ);
//! - a kernel y of the set with min_a Σ_i y_a(i)(c_a(i) + λv(i)) ≥ v − ε gives v* ≥ v − ε/(1 − λ).
//!
//! `docs/certificates.md` has the proofs and the error analysis.

mod exponential;
mod interval;
mod kernels;
mod row;
mod sums;
mod tail;
#[cfg(test)]
mod tests;

use rayon::prelude::*;

use self::interval::{Interval, TINY, UNIT};
use self::row::{Ahead, Least, Row, Scratch, nominal_values};
use super::rejection::{Rejection, Shortfall};
use super::{Certificate, Lift, Weight};
use crate::error::Label;
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

/// Bounds and where they are widest.
pub(super) struct Proved {
    pub(super) verified: Verified,
    /// At least T_x v − v, and v − min_a Σ_i y_a(i)(c_a(i) + λv(i)) where that is positive, one a state.
    pub(super) excess: (Vec<f64>, Vec<f64>),
    /// δ and its state; ε with its state and action.
    upper_at: (f64, usize),
    lower_at: (f64, usize, usize),
}

/// What follows from a certificate that is complete, whatever it claims.
pub(super) fn prove(
    model: &Model,
    certificate: &Certificate,
    threads: Option<usize>,
) -> Result<Proved, Rejection> {
    let proof = Proof::new(model, certificate);
    let work = || (proof.upper_excess(), proof.lower_excess());
    let pooled = crate::pool::in_pool(threads, work);
    let (above, below) = pooled.map_err(|e| Rejection::Input(e.to_string()))?;
    let (mut upper_at, mut lower_at) = ((0.0, 0), (0.0, 0, 0));
    for (s, (&above, &(below, a))) in above.iter().zip(&below).enumerate() {
        for (x, what) in [(above, "upper"), (below, "lower")] {
            if !x.is_finite() {
                return Err(Rejection::Nothing { what, state: label(model, s) });
            }
        }
        upper_at = if above > upper_at.0 { (above, s) } else { upper_at };
        lower_at = if below > lower_at.0 { (below, s, a) } else { lower_at };
    }
    let rest = Interval::from(1.0) - model.discount();
    let wider = |x: f64| if x > 0.0 { (Interval::from(x) / rest).hi } else { 0.0 };
    let (up, down) = (wider(upper_at.0), wider(lower_at.0));
    let of = |v: &[f64], by: f64| -> Vec<Interval> {
        let at = |s: usize| match model.is_terminal(s) {
            true => Interval::ZERO,
            false => Interval::from(v[s]) + by,
        };
        (0..v.len()).map(at).collect()
    };
    let (lower, upper) = (of(&certificate.lower, -down), of(&certificate.upper, up));
    let widths = upper.iter().zip(&lower).map(|(u, l)| (Interval::from(u.hi) - l.lo).hi);
    let gap = widths.fold(0.0, f64::max);
    let (lower, upper): (Vec<f64>, Vec<f64>) =
        (lower.iter().map(|x| x.lo).collect(), upper.iter().map(|x| x.hi).collect());
    let (low, high) = (initial(model, &lower).lo, initial(model, &upper).hi);
    let negated = |v: &[f64]| v.iter().map(|x| 0.0 - x).collect();
    let verified = match model.objective() {
        Objective::MinCost => Verified { lower, upper, initial: (low, high), gap },
        Objective::MaxReward => Verified {
            lower: negated(&upper),
            upper: negated(&lower),
            initial: (0.0 - high, 0.0 - low),
            gap,
        },
    };
    let excess = (above, below.into_iter().map(|(below, _)| below).collect());
    Ok(Proved { verified, excess, upper_at, lower_at })
}

impl Proved {
    /// The bounds, if they are as narrow as the certificate claims.
    fn claimed(self, model: &Model, certificate: &Certificate) -> Result<Verified, Rejection> {
        let Proved { verified, upper_at, lower_at, .. } = self;
        let claim = &certificate.claim;
        let ((low, high), gap) = (verified.initial, verified.gap);
        // Comparisons that fail on what is not a number.
        let holds = low >= claim.lower && high <= claim.upper && gap <= claim.gap;
        if holds {
            return Ok(verified);
        }
        let (above, at) = upper_at;
        let (below, from, action) = lower_at;
        let action = model.action_name(from, model.rows_of(from).start + action);
        Err(Rejection::Claim(Box::new(Shortfall {
            claimed: (claim.lower, claim.upper, claim.gap),
            proved: (low, high, gap),
            above: (above, label(model, at)),
            below: (below, label(model, from), action.into()),
        })))
    }
}

fn label(model: &Model, s: usize) -> Label {
    let name = model.state_names.as_ref().map(|names| names[s].as_str().into());
    Label { index: s, name }
}

/// The mean under the initial distribution over its exact sum.
fn initial(model: &Model, v: &[f64]) -> Interval {
    let (mut mass, mut mean) = (Sum::default(), Sum::default());
    for (s, &v) in v.iter().enumerate() {
        let p = model.initial().map_or(1.0, |p| p[s]);
        mass.add(p);
        mean.add(p * v);
    }
    let mean = mean.interval() / mass.interval();
    match mean.lo.is_finite() {
        true => mean,
        false => Interval::from(f64::NAN), // the whole line
    }
}

/// A model and what is said about it.
struct Proof<'a> {
    model: &'a Model,
    certificate: &'a Certificate,
    /// Where the weights and the lifts of each state begin.
    weights: Vec<usize>,
    lifts: Vec<usize>,
}

impl<'a> Proof<'a> {
    fn new(model: &'a Model, certificate: &'a Certificate) -> Proof<'a> {
        let starts = |row: &dyn Fn(usize) -> Option<usize>| -> Vec<usize> {
            let mut at = 0;
            let mut before = |end: usize| {
                while row(at).is_some_and(|r| r < end) {
                    at += 1;
                }
                at
            };
            (0..=model.states()).map(|s| before(model.state_ptr[s])).collect()
        };
        let Certificate { policy, lifts, .. } = certificate;
        Proof {
            model,
            certificate,
            weights: starts(&|k| policy.get(k).map(|w: &Weight| w.row as usize)),
            lifts: starts(&|k| lifts.get(k).map(|l: &Lift| l.row as usize)),
        }
    }

    fn each_state<T: Send>(&self, at: impl Fn(usize, &mut Scratch) -> T + Sync) -> Vec<T> {
        let states = 0..self.model.states();
        if crate::pool::alone() {
            let mut scratch = Scratch::default();
            return states.map(|s| at(s, &mut scratch)).collect();
        }
        let states = states.into_par_iter().with_min_len(16);
        states.map_init(Scratch::default, |scratch, s| at(s, scratch)).collect()
    }

    /// At least T_x v − v in every state.
    fn upper_excess(&self) -> Vec<f64> {
        let ahead = Ahead::new(self.model, &self.certificate.set, &self.certificate.upper);
        self.each_state(|s, scratch| match self.model.is_terminal(s) {
            true => 0.0,
            false => self.policy_excess(s, &ahead, scratch),
        })
    }

    fn policy_excess(&self, s: usize, ahead: &Ahead, scratch: &mut Scratch) -> f64 {
        let Certificate { set, policy, scale, upper, .. } = self.certificate;
        let shared = set.rectangularity == Rectangularity::State;
        let (mut total, mut mass, mut gain) = (Sum::default(), Sum::default(), Sum::default());
        // What the rows gain over their tops, in units of the shared budget's multiplier.
        gain.add(set.radius_at(s, self.model.rows_of(s).start));
        for k in self.weights[s]..self.weights[s + 1] {
            let Weight { row: r, probability: x, shift } = policy[k];
            let r = r as usize;
            let row = Row::new(self.model, set, ahead, r, scratch);
            let radius = set.radius_at(s, r);
            let mu = if shared { scale[s] } else { scale[k] };
            let t = if shared { x } else { 1.0 } / mu;
            // From the top down, and what the objectives may be off.
            let (mut below, mut off) = (0.0, row.omega);
            if radius == 0.0 {
                below = row.nominal_above();
            } else if mu > 0.0 && t > 1e-280 && t.is_finite() {
                off += row.extra(t, shift);
                let dual = row.dual(t, shift);
                if shared {
                    gain.add(dual);
                } else {
                    below = ((Interval::from(radius) + dual) * mu).hi.min(0.0);
                }
            }
            let parts = [ahead.offset.hi, -upper[s], self.model.cost[r], row.top, below, off];
            total.add(x * sum_above(parts));
            mass.add(x);
        }
        let (mut total, gain) = (total.interval(), gain.interval());
        if shared && gain.hi < 0.0 {
            total = total + gain * scale[s];
        }
        (total / mass.interval()).hi
    }

    /// At least v − min_a Σ_i y_a(i)(c_a(i) + λv(i)) in every state, with the action of the minimum.
    fn lower_excess(&self) -> Vec<(f64, usize)> {
        let ahead = Ahead::new(self.model, &self.certificate.set, &self.certificate.lower);
        self.each_state(|s, scratch| match self.model.is_terminal(s) {
            true => (0.0, 0),
            false => self.kernel_excess(s, &ahead, scratch),
        })
    }

    fn kernel_excess(&self, s: usize, ahead: &Ahead, scratch: &mut Scratch) -> (f64, usize) {
        let Certificate { set, lifts, lower, .. } = self.certificate;
        let rows = self.model.rows_of(s);
        let lifts = &lifts[self.lifts[s]..self.lifts[s + 1]];
        let mut nominal = std::mem::take(&mut scratch.nominal);
        nominal_values(self.model, set, ahead, s, scratch, &mut nominal);
        let mut lifted = Vec::with_capacity(lifts.len());
        let mut total = Sum::default();
        for lift in lifts {
            let row = Row::new(self.model, set, ahead, lift.row as usize, scratch);
            let (least, distance) = row.lifted(lift.tilt, lift.shift);
            let way = distance * lift.share;
            let spent = if set.distance == Distance::Kl { way } else { 0.5 * (way * way) };
            total.add(spent);
            lifted.push((lift, spent, least));
        }
        let total = total.interval();
        let mut lifted = lifted.iter().peekable();
        let mut worst = (0.0, 0);
        for (k, r) in rows.enumerate() {
            let (from, cost) = (ahead.offset.lo, self.model.cost[r]);
            let excess = |Least { top, below, omega }| {
                sum_above([lower[s], -from, -cost, -top, -below, omega])
            };
            let mut found = excess(nominal[k]);
            if let Some(&(lift, own, least)) = lifted.next_if(|l| l.0.row as usize == r) {
                let used = match set.rectangularity {
                    Rectangularity::State => total.hi,
                    Rectangularity::StateAction => Interval::around(own, 4.0 * UNIT * own).hi,
                };
                // Any share below is a kernel of the set too; this one is a double.
                let share = allowed(set.distance, used, set.radius_at(s, r)) * lift.share;
                let lifted = excess(least);
                found = match share {
                    1.0 => lifted,
                    _ => {
                        let share = share.next_down().max(0.0);
                        let rest = Interval::from(1.0) - share;
                        (rest * found + Interval::from(lifted) * share).hi
                    }
                };
            }
            if found > worst.0 || found.is_nan() {
                worst = (found, k);
            }
        }
        scratch.nominal = nominal;
        worst
    }
}

/// At least the sum of a few numbers: every partial sum is rounded, and the last step.
fn sum_above<const N: usize>(parts: [f64; N]) -> f64 {
    let (mut sum, mut size) = (parts[0], 0.0);
    for x in &parts[1..] {
        sum += x;
        size += sum.abs();
    }
    sum + 1.1 * UNIT * (size + sum.abs())
}

/// A sum of numbers that may be off by three roundings each.
#[derive(Clone, Copy, Default)]
struct Sum {
    terms: f64,
    sum: f64,
    size: f64,
}

impl Sum {
    fn add(&mut self, x: f64) {
        (self.terms, self.sum, self.size) = (self.terms + 1.0, self.sum + x, self.size + x.abs());
    }

    fn interval(self) -> Interval {
        Interval::around(self.sum, 1.01 * UNIT * (self.terms + 2.0) * self.size + TINY)
    }
}

/// A share of the way from the nominal rows that the budget allows if the whole way spends `used`:
/// distances are convex, and that of the ellipsoid is a square.
fn allowed(distance: Distance, used: f64, radius: f64) -> f64 {
    if used <= radius {
        return 1.0;
    }
    let share = (Interval::from(radius) / used).lo.max(0.0);
    match distance {
        Distance::Kl => share,
        _ => share.sqrt().next_down().max(0.0),
    }
}
