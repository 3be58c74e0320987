//! The ellipsoidal set of the paper: Σ_a ½‖y_a − y⁰_a‖₂² ≤ α, each y_a a distribution.
//!
//! Source: eq. (uncertainty-norm-2) of \[GCK21\]. With `support = all` a row may put mass on any
//! state; with `support = nominal` only where y⁰ does.

mod ray;

use super::block::{Block, Emit, Scratch, Warm};
use super::omega::{self, Ball};
use crate::lanes::dispatch;

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
    for (slope, x) in scratch.slope.iter_mut().zip(x) {
        *slope = sigma * x;
    }
    let t = if block.radius > 0.0 {
        ray::follow(block, y, warm.budget, warm.row, scratch)
    } else {
        warm.row.fill(0.0);
        0.0
    };
    scratch.entries += block.entries() as u64;
    let Emit { weight, sum, value } = emit;
    let slope = &scratch.slope;
    dispatch(ray::Write { block, slope, t, nu: warm.row, y, weight, sum, value });
}

/// Entropy proximal step: y ← argmax ⟨σ x_a b_a, y_a⟩ − KL(y‖y') over the set; `log_y` holds ln y.
pub(crate) fn prox_entropy(
    block: Block<'_>,
    sigma: f64,
    x: &[f64],
    log_y: &mut [f64],
    warm: Warm<'_>,
    emit: Emit<'_>,
    scratch: &mut Scratch,
) {
    omega::prox(Ball::Ellipsoid, block, sigma, x, log_y, warm, emit, scratch);
}

/// Projects every row of y' + slope_a·b_a on the simplex, leaving the shifts in `nu`; returns the
/// KL divergence from y⁰ of the projections.
pub(super) fn project(
    block: Block<'_>,
    centre: &[f64],
    nu: &mut [f64],
    scratch: &mut Scratch,
) -> f64 {
    let free = Block { radius: f64::INFINITY, ..block };
    let mut cold = 0.0;
    ray::follow(free, centre, &mut cold, nu, scratch);
    scratch.entries += block.entries() as u64;
    let mut used = 0.0;
    for k in 0..block.rows() {
        for (i, &b) in block.span(k).zip(block.gain(k)) {
            let (y, y0) = (centre[i] + scratch.slope[k] * b - nu[k], block.nominal[i]);
            used += if y > 0.0 { y * (y / y0).ln() - y + y0 } else { y0 };
        }
    }
    used
}

/// Writes the projections that [`project`] found.
pub(super) fn write_projection(
    block: Block<'_>,
    slope: &[f64],
    nu: &[f64],
    y: &mut [f64],
    emit: Emit<'_>,
) {
    let Emit { weight, sum, value } = emit;
    dispatch(ray::Write { block, slope, t: 1.0, nu, y, weight, sum, value });
}
