//! The verifier: what a certificate proves about a model, in outward-rounded arithmetic.
//!
//! It shares no numerical code with the solvers. Costs are minimised; terminal states are worth 0.
//! With T_x v(s) = max_{y ∈ P_s} Σ_a x_a Σ_i y_a(i)(c_a(i) + λv(i)):
//! - T_x v ≤ v + δ in every acting state gives v^x ≤ v + δ/(1 − λ);
//! - a kernel y of the set with min_a Σ_i y_a(i)(c_a(i) + λv(i)) ≥ v − ε gives v* ≥ v − ε/(1 − λ).
//!
//! What (t, ν) prove of one row is the set's to say ([`proof`]); this is all else:
//! - [`state`]: both halves, state by state; [`values`]: rows as the verifier sees them
//! - [`interval`], [`lane`], [`sums`], [`tail`]: arithmetic that proofs share
//!
//! `docs/certificates.md` has the proofs and the error analysis.

pub(crate) mod interval;
pub(crate) mod lane;
pub(crate) mod proof;
mod state;
pub(crate) mod sums;
pub(crate) mod tail;
#[cfg(test)]
pub(crate) mod tests;
mod values;

use self::interval::{Interval, or_infinite};
use self::state::Check;
pub(super) use self::state::Excess;
use super::claim::{Verified, label};
use super::rejection::Rejection;
use super::{Certificate, check};
use crate::model::{Model, Objective};

/// Bounds, and what they are wide by.
pub(super) struct Proved {
    pub(super) verified: Verified,
    /// Of every state.
    pub(super) excesses: Vec<Excess>,
    /// Where δ and ε lie, unless they are 0.
    pub(super) above: Option<(usize, Excess)>,
    pub(super) below: Option<(usize, Excess)>,
}

/// What follows from a certificate about this model, whatever it claims; and the model's fingerprint if it is `told`,
/// else 0: who reads the model for one has it at hand for the other.
pub(super) fn prove(
    model: &Model,
    certificate: &Certificate,
    threads: Option<usize>,
    told: bool,
) -> Result<(Proved, u128), Rejection> {
    check::complete(model, certificate)?;
    let check = Check::new(model, certificate);
    let pooled = crate::pool::in_pool(threads, || check.excesses(told));
    let (excesses, pieces) = pooled.map_err(|e| Rejection::Input(e.to_string()))?;
    let fingerprint = if told { model.whole_fingerprint(&pieces) } else { 0 };
    for (s, found) in excesses.iter().enumerate() {
        for (x, what) in [(found.above, "upper"), (found.below, "lower")] {
            if !x.is_finite() {
                return Err(Rejection::Nothing { what, state: label(model, s) });
            }
        }
    }
    let widest = |of: fn(&Excess) -> f64| {
        let most = excesses.iter().fold(0.0, |most: f64, x| most.max(of(x)));
        let at = excesses.iter().rposition(|x| of(x) == most).filter(|_| most > 0.0);
        at.map(|s| (s, excesses[s]))
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
    Ok((Proved { verified, excesses, above, below }, fingerprint))
}

/// At least the mean under the initial distribution over its exact sum.
fn mean_above(model: &Model, v: &[f64]) -> f64 {
    let p = |s: usize| model.initial().map_or(1.0, |p| p[s]);
    let mass = Interval::sum((0..v.len()).map(p), 0.0);
    or_infinite((Interval::sum((0..v.len()).map(|s| p(s) * v[s]), 1.0) / mass).hi())
}
