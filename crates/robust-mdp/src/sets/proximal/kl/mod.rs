//! The Kullback–Leibler set of the paper: Σ_a KL(y_a‖y⁰_a) ≤ α, each y_a a distribution.
//!
//! Source: eq. (KL-uncertainty-set) of \[GCK21\]. Rows keep to the support of y⁰, so that every
//! nominal probability that a [`Block`] brings here is positive.

mod tilt;

use super::block::{Block, Emit, Scratch, Warm};
use super::omega::{self, Ball};
use crate::lanes::dispatch;

/// Entropy proximal step: y ← argmax ⟨σ x_a b_a, y_a⟩ − KL(y‖y') over the set;
/// `log_ratio` holds u = ln(y/y⁰) and the row multipliers remember the means of u under y.
pub(crate) fn prox_entropy(
    block: Block<'_>,
    sigma: f64,
    x: &[f64],
    log_ratio: &mut [f64],
    warm: Warm<'_>,
    emit: Emit<'_>,
    scratch: &mut Scratch,
) {
    for (k, &x) in x.iter().enumerate() {
        scratch.slope[k] = sigma * x;
        scratch.shift[k] = warm.row[k] + sigma * x * block.nominal_value[k];
    }
    let t =
        if block.radius > 0.0 { tilt::follow(block, log_ratio, warm.budget, scratch) } else { 0.0 };
    scratch.entries += block.entries() as u64;
    let (slope, mean) = (&scratch.slope, &scratch.shift);
    dispatch(tilt::Write { block, log_ratio, slope, mean, t, emit, next_mean: warm.row });
}

/// Euclidean proximal step: y ← argmax ⟨σ x_a b_a, y_a⟩ − ½‖y − y'‖² over the set, in place.
pub(crate) fn prox_euclidean(
    block: Block<'_>,
    sigma: f64,
    x: &[f64],
    y: &mut [f64],
    warm: Warm<'_>,
    emit: Emit<'_>,
    scratch: &mut Scratch,
) {
    omega::prox(Ball::Kl, block, sigma, x, y, warm, emit, scratch);
}
