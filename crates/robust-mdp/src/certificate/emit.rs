//! A certificate from a solution: two sweeps of the exact oracle tell the multipliers.
//!
//! The solution's upper bounds are a supersolution of T_x and its lower bounds a subsolution of F, up
//! to rounding, whatever method found them. Nothing here needs to be right: the verifier says what
//! follows, and that is claimed.

use super::objectives::Objectives;
use super::rejection::Rejection;
use super::verify::{Verified, prove};
use super::{Certificate, Claim, Lift, Weight};
use crate::algorithm::bellman::{Bellman, Player};
use crate::error::Error;
use crate::model::{Model, Objective};
use crate::pool::in_pool;
use crate::solution::Solution;
use crate::solve::check_scale;
use crate::uncertainty::{Distance, Rectangularity, UncertaintySet};

/// Makes a certificate for a solution of this model and set that claims what it proves, and says what
/// that is; the same on any number of `threads`.
pub fn certify(
    model: &Model,
    set: &UncertaintySet,
    solution: &Solution,
    threads: Option<usize>,
) -> Result<(Certificate, Verified), Error> {
    set.validate(model)?;
    check_scale(model)?;
    if solution.policy.len() != model.rows() || solution.values.len() != model.states() {
        return Err(Error::Input("the solution is one of another model".into()));
    }
    let (mut certificate, _) = in_pool(threads, || emit(model, set, solution))?;
    let proved = prove(model, &certificate, threads);
    let verified = proved.map_err(|e: Rejection| Error::Input(e.to_string()))?.verified;
    let (lower, upper) = verified.initial;
    certificate.claim = Claim { lower, upper, gap: verified.gap };
    Ok((certificate, verified))
}

/// The certificate, without a claim, and the row entries that making and verifying it visits.
pub(crate) fn emit(model: &Model, set: &UncertaintySet, solution: &Solution) -> (Certificate, u64) {
    let negated = |v: &[f64]| v.iter().map(|x| 0.0 - x).collect::<Vec<f64>>();
    let (lower, upper) = match model.objective() {
        Objective::MinCost => (solution.lower.clone(), solution.upper.clone()),
        Objective::MaxReward => (negated(&solution.upper), negated(&solution.lower)),
    };
    let mut certificate = Certificate {
        model: model.fingerprint(),
        discount: model.discount(),
        objective: model.objective(),
        set: set.clone(),
        method: solution.method,
        oracle: solution.oracle,
        claim: Claim { lower: f64::NEG_INFINITY, upper: f64::INFINITY, gap: f64::INFINITY },
        upper,
        lower,
        policy: Vec::new(),
        scale: Vec::new(),
        lifts: Vec::new(),
    };
    let mut bellman = Bellman::new(model, set);
    answer(model, set, &mut bellman, &solution.policy, &mut certificate);
    kernel(model, set, &mut bellman, &mut certificate);
    let read = |row: u32| model.span(row as usize).len();
    let answered: usize = certificate.policy.iter().map(|w| read(w.row)).sum();
    // Lifted rows are read to fit them and to verify them, all others to verify.
    let lifted: usize = certificate.lifts.iter().map(|l| read(l.row)).sum();
    let entries = bellman.take_entries() + (answered + lifted + model.transitions()) as u64;
    (certificate, entries)
}

/// Multipliers of nature's answer to the policy at v_U.
fn answer(
    model: &Model,
    set: &UncertaintySet,
    bellman: &mut Bellman<'_>,
    x: &[f64],
    certificate: &mut Certificate,
) {
    bellman.sweep(&certificate.upper, Player::Nature(x), 0.0, None);
    let shifted = set.distance == Distance::Ellipsoid;
    for s in 0..model.states() {
        let rows = model.rows_of(s);
        let Certificate { policy, scale, .. } = &mut *certificate;
        bellman.multipliers(s, |memory| {
            let (mut weight, mut total) = (0.0, 0.0);
            for (k, r) in rows.clone().enumerate().filter(|(_, r)| x[*r] > 0.0) {
                let (t, nu) = (memory.t[k].abs(), memory.nu[k]);
                let moved = t > 0.0 && t.is_finite() && set.radius_at(s, r) > 0.0;
                let shift = if shifted && moved && nu.is_finite() { nu } else { 0.0 };
                policy.push(Weight { row: r as u32, probability: x[r], shift });
                if t > 0.0 {
                    (weight, total) = (weight + x[r], total + t);
                }
                if set.rectangularity == Rectangularity::StateAction {
                    scale.push(if moved { usable(1.0 / t) } else { 0.0 });
                }
            }
            if set.rectangularity == Rectangularity::State {
                scale.push(if total > 0.0 { usable(weight / total) } else { 0.0 });
            }
        });
    }
}

/// A multiplier that a file may have; 0 proves something too.
fn usable(mu: f64) -> f64 {
    if mu.is_finite() && mu >= 0.0 { mu } else { 0.0 }
}

/// The kernel of the lower bound at v_L.
fn kernel(
    model: &Model,
    set: &UncertaintySet,
    bellman: &mut Bellman<'_>,
    certificate: &mut Certificate,
) {
    let Certificate { lifts, lower, .. } = certificate;
    bellman.sweep(lower, Player::Both, 0.0, None);
    let objectives = Objectives::new(model, set, lower);
    for s in 0..model.states() {
        let first = model.rows_of(s).start;
        let before = lifts.len();
        // No higher than needed: what is left of the budget makes up for rounding.
        let level = (0.5 * (bellman.lower[s] + lower[s])).min(bellman.lower[s]);
        bellman.lifts(s, level, |k, tilt, shift| {
            lifts.push(Lift { row: (first + k) as u32, tilt, shift, share: 1.0 });
        });
        objectives.settle(set, s, &mut lifts[before..]);
        let usable = |l: &Lift| l.tilt > 0.0 && l.tilt.is_finite() && l.shift.is_finite();
        let mut at = 0;
        lifts.retain(|lift| {
            at += 1;
            at <= before || usable(lift)
        });
    }
}
