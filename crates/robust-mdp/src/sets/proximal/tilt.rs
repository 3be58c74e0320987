//! The exponential tilt y(t) ∝ y⁰·e^{t·w}, w = u + σ·x_a·b_a with u = ln(y'/y⁰), followed up to t = 1 or
//! until Σ_a KL(y_a‖y⁰_a) = α: the entropy proximal step, t = 1/(1 + m) with m the ball's multiplier
//! (t = 1 is the plain entropy step).
//!
//! With ψ = ln Σ y⁰e^{tw} and the cumulants κ1, κ2, κ3 of w under y(t):
//!   D = Σ_a (t·κ1 − ψ),   D' = t·Σκ2,   D'' = Σκ2 + t·Σκ3.
//! ln D is nearly linear in ln t, so that Halley's method on it needs one or two passes.
//! w is centred near its mean, so that every sum is of the size of t·w, and e^{tw} enters ψ as
//! e^{tw} − 1: D keeps ½ of the digits of α even at α = 1e-12, and all of them at 1e-4.

use pulp::{Simd, WithSimd};

use super::block::{Block, Emit, RowSums, Scratch};
use super::separable::{ProximalEntry, Separable};
use super::{Mirror, Prox, Step};
use crate::lanes::{dispatch, exp, exp_m1};
use crate::sets::kl::Kl;
use crate::sets::set::Set;

const Z0: usize = 0;
const S1: usize = 1;
const S2: usize = 2;
const S3: usize = 3;

const MAX_PASSES: usize = 100;

/// Entropy proximal steps of the KL set; row multipliers remember the means of u under y.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tilted;

impl Prox for Tilted {
    fn mirror(&self) -> Mirror {
        Mirror::LogRatio
    }

    fn diameter(&self, budget: f64, rows: f64, width: f64) -> f64 {
        budget.min(rows * width.ln())
    }

    fn step(&self, step: Step<'_>, scratch: &mut Scratch) {
        if step.block.kappa.is_some() {
            return Separable(Tilted).step(step, scratch);
        }
        let Step { block, sigma, x, y: log_ratio, warm, emit } = step;
        for (k, &x) in x.iter().enumerate() {
            scratch.slope[k] = sigma * x;
            scratch.shift[k] = warm.row[k] + sigma * x * block.nominal_value[k];
        }
        let t =
            if block.radius > 0.0 { follow(block, log_ratio, warm.budget, scratch) } else { 0.0 };
        scratch.entries += block.entries() as u64;
        let (slope, mean) = (&scratch.slope, &scratch.shift);
        dispatch(Write { block, log_ratio, slope, mean, t, emit, next_mean: warm.row });
    }
}

impl ProximalEntry for Tilted {
    fn set(&self) -> &dyn Set {
        &Kl
    }

    fn mirror(&self) -> Mirror {
        Mirror::LogRatio
    }

    fn at(&self, z: f64, p: f64, s: f64) -> (f64, f64) {
        let y = p * (z / (1.0 + s)).exp();
        (y, y / (1.0 + s))
    }

    fn normal(&self, y: f64, p: f64) -> f64 {
        (y / p).ln()
    }
}

/// One pass: centred moments of every row at t.
struct Moments<'a> {
    block: Block<'a>,
    /// u of the proximal centre.
    log_ratio: &'a [f64],
    slope: &'a [f64],
    /// A constant near the mean of u + slope·b, one a row.
    mean: &'a [f64],
    t: f64,
    out: &'a mut [RowSums],
}

impl WithSimd for Moments<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for k in 0..self.block.rows() {
            let span = self.block.span(k);
            let (nominal, gain) = (&self.block.nominal[span.clone()], self.block.gain(k));
            let (slope, mean) = (self.slope[k], self.mean[k]);
            self.out[k] = row(simd, &self.log_ratio[span], nominal, gain, slope, mean, self.t);
        }
    }
}

#[inline(always)]
fn row<S: Simd>(
    simd: S,
    u: &[f64],
    nominal: &[f64],
    gain: &[f64],
    slope: f64,
    mean: f64,
    t: f64,
) -> RowSums {
    let zero = simd.splat_f64s(0.0);
    let (slope, mean, t) = (simd.splat_f64s(slope), simd.splat_f64s(-mean), simd.splat_f64s(t));
    let (mut z0, mut s1, mut s2, mut s3) = (zero, zero, zero, zero);
    crate::lanes::walk!(simd, [u, nominal, gain] => |u, y0, b| {
        let w = simd.mul_add_e_f64s(slope, b, simd.add_f64s(u, mean));
        let q = simd.mul_f64s(y0, exp_m1(simd, simd.mul_f64s(t, w)));
        let w1 = simd.mul_f64s(simd.add_f64s(q, y0), w);
        let w2 = simd.mul_f64s(w1, w);
        z0 = simd.add_f64s(z0, q);
        s1 = simd.add_f64s(s1, w1);
        s2 = simd.add_f64s(s2, w2);
        s3 = simd.mul_add_e_f64s(w2, w, s3);
    });
    [
        simd.reduce_sum_f64s(z0),
        simd.reduce_sum_f64s(s1),
        simd.reduce_sum_f64s(s2),
        simd.reduce_sum_f64s(s3),
        0.0,
    ]
}

/// D and its first two derivatives at t.
fn divergence(sums: &[RowSums], t: f64) -> (f64, f64, f64) {
    let (mut d, mut k2_sum, mut k3_sum) = (0.0, 0.0, 0.0);
    for s in sums {
        let total = 1.0 + s[Z0];
        let k1 = s[S1] / total;
        let raw2 = s[S2] / total;
        let k2 = (raw2 - k1 * k1).max(0.0);
        k3_sum += s[S3] / total - 3.0 * k1 * raw2 + 2.0 * k1 * k1 * k1;
        k2_sum += k2;
        d += t * k1 - s[Z0].ln_1p();
    }
    (d, t * k2_sum, k2_sum + t * k3_sum)
}

/// Follows the tilt to t = 1 or the boundary of the ball. The scratch's slopes and shifts are those of w.
fn follow(block: Block<'_>, log_ratio: &[f64], t: &mut f64, scratch: &mut Scratch) -> f64 {
    let rows = block.rows();
    if !(*t > 0.0 && *t <= 1.0) {
        *t = 1.0;
    }
    let (mut low, mut high) = (0.0_f64, f64::INFINITY);
    for _ in 0..MAX_PASSES {
        moments(block, log_ratio, *t, scratch);
        if recentre(&scratch.sums[..rows], *t, &mut scratch.shift) {
            continue;
        }
        let (d, d1, d2) = divergence(&scratch.sums[..rows], *t);
        if d <= block.radius {
            low = *t;
            if *t >= 1.0 {
                return *t;
            }
        } else {
            high = *t; // also when d overflowed
        }
        let (step, exact) = log_step(*t, [d, d1, d2], block.radius, low, high);
        let fresh = *t * step.exp();
        let fresh = if fresh >= low && fresh <= high {
            fresh.min(1.0)
        } else if high.is_finite() {
            0.5 * (low + high)
        } else {
            (4.0 * *t).min(1.0)
        };
        let closed_in = high.is_finite() && high - low <= 4e-16 * high;
        let settled = exact && fresh < 1.0 || closed_in;
        *t = fresh;
        if settled {
            break;
        }
    }
    *t
}

/// Where Σ y⁰e^{tw} is so small that e^{tw} − 1 has lost its digits, brings it to about one.
fn recentre(sums: &[RowSums], t: f64, mean: &mut [f64]) -> bool {
    let mut moved = false;
    for (s, mean) in sums.iter().zip(mean).filter(|(s, _)| s[Z0] < -0.999) {
        *mean += (1.0 + s[Z0]).max(f64::EPSILON).ln() / t;
        moved = true;
    }
    moved
}

/// A step in ln t from D and its derivatives, and whether it solves D = α to 1e-13.
///
/// Halley on g(ln t) = ln D − ln α: linear where D is quadratic in t, and nearly so where a tiny
/// nominal probability makes D exponential. The error after a step is about the cube of the step.
fn log_step(t: f64, [d, d1, d2]: [f64; 3], radius: f64, low: f64, high: f64) -> (f64, bool) {
    let g = (d / radius).ln();
    let g1 = t * d1 / d;
    let g2 = g1 + t * t * d2 / d - g1 * g1;
    // D flattens towards a vertex; slopes mislead there unless the root is near.
    let flat = g1 < 0.5 && g.abs() > 1e-3;
    if g.abs() < 2.0 && !flat {
        let step = -2.0 * g * g1 / (2.0 * g1 * g1 - g * g2);
        let bend = (g2 / g1).powi(2).max((t * d2 / d1).powi(2));
        return (step, step.abs().powi(3) * (1.0 + bend) <= 1e-13);
    }
    let step = if !(d > 0.0 && g1 > 0.0) && d <= radius {
        2.0 // D is still below rounding
    } else if g < 0.0 && !flat {
        (-g / g1).min(5.0)
    } else if g < 0.0 {
        if high.is_finite() { 0.5 * (high / t).ln() } else { 1.0 }
    } else if low > 0.0 {
        0.5 * (low / t).ln()
    } else {
        // Far out, where exponentials are clamped, the slope is no guide: halve at least.
        -(g / g1).clamp(0.7, 2.0)
    };
    (step, false)
}

fn moments(block: Block<'_>, log_ratio: &[f64], t: f64, scratch: &mut Scratch) {
    scratch.entries += block.entries() as u64;
    dispatch(Moments {
        block,
        log_ratio,
        slope: &scratch.slope,
        mean: &scratch.shift,
        t,
        out: &mut scratch.sums,
    });
}

/// Writes u ← t·w − ψ over its centre; y = y⁰eᵘ goes to the running sum and the row values.
struct Write<'a> {
    block: Block<'a>,
    log_ratio: &'a mut [f64],
    slope: &'a [f64],
    mean: &'a [f64],
    t: f64,
    emit: Emit<'a>,
    /// Receives the mean of the new u under the new y, one a row.
    next_mean: &'a mut [f64],
}

impl WithSimd for Write<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let zero = simd.splat_f64s(0.0);
        let (t, weight) = (simd.splat_f64s(self.t), simd.splat_f64s(self.emit.weight));
        let mut kept = Aligned([zero; KEPT]);
        for k in 0..self.block.rows() {
            let span = self.block.span(k);
            let (nominal, gain) = (&self.block.nominal[span.clone()], self.block.gain(k));
            let (u, u_tail) = S::as_mut_simd_f64s(&mut self.log_ratio[span.clone()]);
            let (sum, sum_tail) = S::as_mut_simd_f64s(&mut self.emit.sum[span]);
            let (y0, y0_tail) = S::as_simd_f64s(nominal);
            let (b, b_tail) = S::as_simd_f64s(gain);
            let (y0_last, b_last) =
                (simd.partial_load_f64s(y0_tail), simd.partial_load_f64s(b_tail));
            let slope = simd.splat_f64s(self.t * self.slope[k]);
            let mean = simd.splat_f64s(-self.t * self.mean[k]);

            // First the total of y⁰e^{tw}; the exponentials are kept, and u is left alone: a store
            // that straddles cache lines costs more than doing the tilt again.
            macro_rules! tilted {
                ($u:expr, $b:expr) => {
                    simd.mul_add_e_f64s(slope, $b, simd.mul_add_e_f64s(t, $u, mean))
                };
            }
            let mut total = zero;
            for (j, ((&u, &y0), &b)) in u.iter().zip(y0).zip(b).enumerate() {
                let y = simd.mul_f64s(y0, exp(simd, tilted!(u, b)));
                total = simd.add_f64s(total, y);
                if j < KEPT {
                    kept.0[j] = y;
                }
            }
            let mut last = zero;
            if !u_tail.is_empty() {
                let u = simd.partial_load_f64s(u_tail);
                last = simd.mul_f64s(y0_last, exp(simd, tilted!(u, b_last)));
                total = simd.add_f64s(total, last);
            }

            // Then u ← t·w − ψ and y = y⁰e^{tw}/Σ.
            let total = simd.reduce_sum_f64s(total);
            let (psi, scale) = (simd.splat_f64s(-total.ln()), simd.splat_f64s(1.0 / total));
            let (mut value, mut next_mean) = (zero, zero);
            for (j, (((u, sum), &y0), &b)) in u.iter_mut().zip(sum).zip(y0).zip(b).enumerate() {
                let tw = tilted!(*u, b);
                let y = if j < KEPT { kept.0[j] } else { simd.mul_f64s(y0, exp(simd, tw)) };
                let y = simd.mul_f64s(scale, y);
                let fresh = simd.add_f64s(tw, psi);
                *u = fresh;
                *sum = simd.mul_add_e_f64s(weight, y, *sum);
                value = simd.mul_add_e_f64s(y, b, value);
                next_mean = simd.mul_add_e_f64s(y, fresh, next_mean);
            }
            if !u_tail.is_empty() {
                let y = simd.mul_f64s(scale, last);
                let fresh = simd.add_f64s(tilted!(simd.partial_load_f64s(u_tail), b_last), psi);
                let running = simd.mul_add_e_f64s(weight, y, simd.partial_load_f64s(sum_tail));
                simd.partial_store_f64s(u_tail, fresh);
                simd.partial_store_f64s(sum_tail, running);
                value = simd.mul_add_e_f64s(y, b_last, value);
                next_mean = simd.mul_add_e_f64s(y, fresh, next_mean);
            }
            self.emit.value[k] = simd.reduce_sum_f64s(value);
            self.next_mean[k] = simd.reduce_sum_f64s(next_mean);
        }
    }
}

/// The first registers of a row keep their exponentials between the two passes of [`Write`].
const KEPT: usize = 64;

/// Registers that do not straddle cache lines, wherever the stack happens to lie.
#[repr(align(64))]
struct Aligned<T>([T; KEPT]);
