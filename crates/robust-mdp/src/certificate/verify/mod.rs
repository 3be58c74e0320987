//! The verifier: what a certificate proves about a model, in outward-rounded arithmetic.
//!
//! It shares no numerical code with the solvers. Costs are minimised; terminal states are worth 0.
//! With T_x v(s) = max_{y ∈ P_s} Σ_a x_a Σ_i y_a(i)(c_a(i) + λv(i)):
//! - T_x v ≤ v + δ in every acting state gives v^x ≤ v + δ/(1 − λ);
//! - a kernel y of the set with min_a Σ_i y_a(i)(c_a(i) + λv(i)) ≥ v − ε gives v* ≥ v − ε/(1 − λ).
//!
//! What (t, ν) prove of one row is the set's to say ([`proof`]); this is all else:
//! - [`criteria`]: what excesses prove, by the criterion
//! - [`state`]: both halves, state by state; [`values`]: rows as the verifier sees them
//! - [`interval`], [`double`], [`lane`], [`sums`], [`tail`]: arithmetic that proofs share
//!
//! `docs/certificates.md` has the proofs and the error analysis.

mod criteria;
pub(crate) mod double;
pub(crate) mod interval;
pub(crate) mod lane;
pub(crate) mod proof;
mod state;
pub(crate) mod sums;
pub(crate) mod tail;
#[cfg(test)]
pub(crate) mod tests;
mod values;

use self::interval::or_infinite;
use self::state::Check;
pub(super) use self::state::Excess;
use super::claim::{Verified, label};
use super::rejection::Rejection;
use super::step::{Step, StepRef, Terms};
use super::{Certificate, check};
use crate::loops::bounds::Bounds;
use crate::model::{Model, Objective};
use crate::solve::{Criterion, model_of};

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
    own: &Model,
    certificate: &Certificate,
    threads: Option<usize>,
    told: bool,
) -> Result<(Proved, u128), Rejection> {
    let Certificate { criterion, direction, deterministic, set, .. } = certificate;
    let (model, cooperative) = model_of(own, set, *criterion, *direction);
    let model = &*model;
    let terms = Terms {
        alone: *deterministic || cooperative,
        cooperative,
        clipped: *criterion == Criterion::Discounted,
        flat: *criterion == Criterion::Total,
    };
    check::complete(model, certificate, terms)?;
    let excesses_of = |step: StepRef<'_>, told: Option<&Model>| {
        let check = Check::new(model, set, step, terms);
        let pooled = crate::pool::in_pool(threads, || check.excesses(told));
        let (excesses, pieces) = pooled.map_err(|e| Rejection::Input(e.to_string()))?;
        for (s, found) in excesses.iter().enumerate() {
            for (x, what) in [(found.above, "upper"), (found.below, "lower")] {
                if !x.is_finite() {
                    return Err(Rejection::Nothing { what, state: label(model, s) });
                }
            }
        }
        Ok((excesses, pieces))
    };
    let (excesses, pieces) = excesses_of(certificate.first(), told.then_some(own))?;
    let fingerprint = if told { own.whole_fingerprint(&pieces, model.discount()) } else { 0 };
    let unproved = |why: &str| Rejection::Input(format!("the total cost has no bounds: {why}"));
    // The last step first.
    let mut stages = Vec::new();
    let bounds = match criterion {
        Criterion::Discounted => criteria::discounted(model, certificate.first(), &excesses),
        Criterion::Average => criteria::average(&excesses),
        Criterion::Total => {
            if !criteria::ends(model, certificate, terms, threads) {
                return Err(unproved("it does not follow that the model ends"));
            }
            let steps = &certificate.further[0].upper;
            criteria::total(model, certificate, terms, &excesses, steps).map_err(unproved)?
        }
        Criterion::Finite { .. } => {
            let states = model.states();
            let mut bounds = Bounds { lower: vec![0.0; states], upper: vec![0.0; states] };
            for step in certificate.further.iter().rev().map(Step::as_ref) {
                let (excesses, _) = excesses_of(step, None)?;
                bounds = criteria::step_back(model, step, &excesses, &bounds);
                stages.push(bounds.clone());
            }
            criteria::step_back(model, certificate.first(), &excesses, &bounds)
        }
    };
    let apart = |bounds: &Bounds| {
        let pairs = bounds.upper.iter().zip(&bounds.lower);
        pairs.fold(0.0, |gap: f64, (u, l)| gap.max(or_infinite((u - l).next_up())))
    };
    let gap = stages.iter().map(apart).fold(apart(&bounds), f64::max);
    let stages = stages.into_iter().rev().map(|bounds| own_sign(model, bounds)).collect();
    let negated = |v: &[f64]| v.iter().map(|x| 0.0 - x).collect::<Vec<f64>>();
    let low = -criteria::mean_above(model, &negated(&bounds.lower));
    let high = criteria::mean_above(model, &bounds.upper);
    let initial = match model.objective() {
        Objective::MinCost => (low, high),
        Objective::MaxReward => (0.0 - high, 0.0 - low),
    };
    let (lower, upper) = own_sign(model, bounds);
    let verified = Verified { lower, upper, initial, gap, stages };
    let widest = |of: fn(&Excess) -> f64| {
        let most = excesses.iter().fold(0.0, |most: f64, x| most.max(of(x)));
        let at = excesses.iter().rposition(|x| of(x) == most).filter(|_| most > 0.0);
        at.map(|s| (s, excesses[s]))
    };
    let (above, below) = (widest(|x| x.above), widest(|x| x.below));
    Ok((Proved { verified, excesses, above, below }, fingerprint))
}

/// (lower, upper) in the sign of the model's objective.
fn own_sign(model: &Model, Bounds { lower, upper }: Bounds) -> (Vec<f64>, Vec<f64>) {
    let negated = |v: &[f64]| v.iter().map(|x| 0.0 - x).collect::<Vec<f64>>();
    match model.objective() {
        Objective::MinCost => (lower, upper),
        Objective::MaxReward => (negated(&upper), negated(&lower)),
    }
}
