//! The Kullback–Leibler set of the paper: Σ_a KL(y_a‖y⁰_a) ≤ α, each y_a a distribution.
//!
//! Source: eq. (KL-uncertainty-set) of \[GCK21\]. Rows keep to the support of y⁰, so that every
//! nominal probability that a [`Block`] brings here is positive.

mod peak;
mod tilt;

use pulp::{Simd, WithSimd};

use super::block::{Block, Emit, Enclosure, Scratch, Warm, mix_with_nominal};
use super::omega::{self, Ball};
use crate::lanes::{dispatch, dot};

/// Budgets below this share of the saturated one use the tilt centred at the nominal mean, larger
/// ones the tilt referenced at the maximum: the first keeps its digits for small α, the second
/// near saturation.
const FAR_FROM_SATURATION: f64 = 0.02;

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
    let t = if block.radius > 0.0 {
        tilt::follow(block, Some(log_ratio), 1.0, warm.budget, scratch)
    } else {
        0.0
    };
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

/// max over the set of Σ_a x_a⟨b_a, y_a⟩: bounded above by weak duality and below by the value of
/// `y`, which lies in the set; both are tight up to rounding. Rows with x_a = 0 stay nominal.
///
/// For every t > 0, max ≤ [α + Σ_a ln Σ_i y⁰_i e^{t x_a b_i}]/t. Every row's objective must be
/// referenced at its maximum: max b_a = 0.
pub(crate) fn support(
    block: Block<'_>,
    x: &[f64],
    y: &mut [f64],
    warm: Warm<'_>,
    scratch: &mut Scratch,
) -> Enclosure {
    scratch.slope[..x.len()].copy_from_slice(x);
    scratch.entries += block.entries() as u64;
    let nominal: f64 = x.iter().zip(block.nominal_value).map(|(x, v)| x * v).sum();
    if block.radius <= 0.0 {
        y.copy_from_slice(block.nominal);
        return Enclosure { lower: nominal, upper: nominal };
    }
    let mut small = None;
    if block.radius <= FAR_FROM_SATURATION * peak::saturation(block, x) {
        for (k, &x) in x.iter().enumerate() {
            scratch.shift[k] = x * block.nominal_value[k];
        }
        let t = tilt::follow(block, None, f64::INFINITY, warm.budget, scratch);
        // w is at most −shift; beyond this its exponential is clamped and ψ is no longer ψ.
        let steepest = scratch.shift[..x.len()].iter().fold(0.0_f64, |m, s| m.max(-s));
        small = (t * steepest <= 600.0).then_some(t);
        if small.is_none() {
            *warm.budget = 0.0;
        }
    }
    let (t, psi, upper) = if let Some(t) = small {
        scratch.entries += block.entries() as u64;
        let (slope, mean) = (&scratch.slope, &scratch.shift);
        // ψ here is of the objective less its nominal mean.
        let psi = dispatch(tilt::Tail { block, slope, mean, t, y });
        (t, psi + t * nominal, nominal + (block.radius + psi) / t)
    } else {
        let Some(t) = peak::follow(block, x, warm.budget, scratch) else {
            peak::restrict_to_peaks(block, x, y);
            return Enclosure { lower: 0.0, upper: 0.0 };
        };
        scratch.entries += block.entries() as u64;
        let psi = dispatch(peak::Tail { block, slope: x, t, y });
        (t, psi, (block.radius + psi) / t)
    };
    scratch.entries += block.entries() as u64;
    let value = dispatch(Attained { block, x, y });
    // The tilted rows use t·value − ψ of the budget.
    let used = t * value - psi;
    if used <= block.radius {
        return Enclosure { lower: value, upper };
    }
    let share = block.radius / used;
    mix_with_nominal(share, block.nominal, y);
    Enclosure { lower: share * value + (1.0 - share) * nominal, upper }
}

/// Σ_a x_a⟨b_a, y_a⟩.
struct Attained<'a> {
    block: Block<'a>,
    x: &'a [f64],
    y: &'a [f64],
}

impl WithSimd for Attained<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let rows = (0..self.block.rows()).filter(|&k| self.x[k] > 0.0);
        let mut total = 0.0;
        for k in rows {
            total += self.x[k] * dot(simd, &self.y[self.block.span(k)], self.block.gain(k));
        }
        total
    }
}
