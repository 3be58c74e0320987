//! The passes over rows behind the omega steps: y and its sums at (θ, ν), and the final write.

use pulp::{Simd, WithSimd};

use super::Ball;
use crate::lanes::{exp, ln_omega};
use crate::sets::proximal::block::{Block, Emit, RowSums};

pub(super) const TOTAL: usize = 0;
pub(super) const H0: usize = 1;
pub(super) const H1: usize = 2;
pub(super) const H2: usize = 3;
pub(super) const D: usize = 4;

/// One pass over all rows at (θ, ν).
pub(super) struct Pass<'a> {
    pub(super) ball: Ball,
    pub(super) block: Block<'a>,
    pub(super) slope: &'a [f64],
    pub(super) centre: &'a [f64],
    pub(super) log_nominal: &'a [f64],
    pub(super) theta: f64,
    pub(super) nu: &'a [f64],
    pub(super) out: &'a mut [RowSums],
}

/// The row's p and r at a register of entries.
#[inline(always)]
fn terms<S: Simd>(
    simd: S,
    ball: Ball,
    slope: S::f64s,
    [c, y0, l0, b]: [S::f64s; 4],
) -> (S::f64s, S::f64s) {
    match ball {
        Ball::Ellipsoid => (y0, simd.mul_add_e_f64s(slope, b, c)),
        Ball::Kl => (simd.mul_add_e_f64s(slope, b, c), l0),
    }
}

/// ln y at (θ, ν).
#[inline(always)]
fn log_y<S: Simd>(
    simd: S,
    theta: S::f64s,
    ln_theta: S::f64s,
    nu: S::f64s,
    p: S::f64s,
    r: S::f64s,
) -> S::f64s {
    let z = simd.mul_add_e_f64s(theta, p, simd.sub_f64s(r, nu));
    simd.sub_f64s(ln_omega(simd, simd.add_f64s(z, ln_theta)), ln_theta)
}

impl WithSimd for Pass<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let lanes = size_of::<S::f64s>() / 8;
        let (zero, one) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0));
        let (theta, ln_theta) = (simd.splat_f64s(self.theta), simd.splat_f64s(self.theta.ln()));
        for k in 0..self.block.rows() {
            let span = self.block.span(k);
            let len = span.len();
            let gain = self.block.gain(k);
            let nominal = &self.block.nominal[span.clone()];
            let centre = &self.centre[span.clone()];
            let log_nominal = &self.log_nominal[span];
            let (slope, nu) = (simd.splat_f64s(self.slope[k]), simd.splat_f64s(self.nu[k]));
            let mut sums = [zero; 5];
            let mut at = 0;
            while at < len {
                let to = (at + lanes).min(len);
                let load = |x: &[f64]| simd.partial_load_f64s(&x[at..to]);
                let (y0, b) = (load(nominal), load(gain));
                let (p, r) =
                    terms(simd, self.ball, slope, [load(centre), y0, load(log_nominal), b]);
                let l = log_y(simd, theta, ln_theta, nu, p, r);
                // Lanes beyond the row must not count.
                let ghost = simd.partial_load_f64s(&ONES[..to - at]);
                let y = simd.mul_f64s(ghost, exp(simd, l));
                let h = simd.div_f64s(y, simd.mul_add_e_f64s(theta, y, one));
                let d = simd.sub_f64s(p, y);
                let hd = simd.mul_f64s(h, d);
                sums[TOTAL] = simd.add_f64s(sums[TOTAL], y);
                sums[H0] = simd.add_f64s(sums[H0], h);
                sums[H1] = simd.add_f64s(sums[H1], hd);
                sums[H2] = simd.mul_add_e_f64s(hd, d, sums[H2]);
                sums[D] = match self.ball {
                    Ball::Ellipsoid => {
                        let half = simd.mul_f64s(simd.splat_f64s(0.5), d);
                        simd.mul_add_e_f64s(half, d, sums[D])
                    }
                    Ball::Kl => simd.add_f64s(sums[D], kl_term(simd, y, y0, simd.sub_f64s(l, r))),
                };
                at = to;
            }
            self.out[k] = sums.map(|s| simd.reduce_sum_f64s(s));
        }
    }
}

/// y·ln(y/y⁰) − y + y⁰ from ρ = ln(y/y⁰): never negative, so that small budgets keep their digits.
#[inline(always)]
fn kl_term<S: Simd>(simd: S, y: S::f64s, y0: S::f64s, rho: S::f64s) -> S::f64s {
    let direct = simd.add_f64s(simd.mul_f64s(y, simd.sub_f64s(rho, simd.splat_f64s(1.0))), y0);
    // y⁰·(ρ²/2 + ρ³/3 + ρ⁴/8 + ρ⁵/30 + ρ⁶/144 + …) = y⁰·Σ ρᵏ(k−1)/k!
    let mut p = simd.splat_f64s(7.0 / 40_320.0);
    for c in [6.0 / 5_040.0, 5.0 / 720.0, 4.0 / 120.0, 3.0 / 24.0, 2.0 / 6.0, 0.5] {
        p = simd.mul_add_e_f64s(p, rho, simd.splat_f64s(c));
    }
    let series = simd.mul_f64s(simd.mul_f64s(y0, p), simd.mul_f64s(rho, rho));
    let small = simd.less_than_f64s(simd.abs_f64s(rho), simd.splat_f64s(0.03));
    simd.select_f64s(small, series, direct)
}

static ONES: [f64; 16] = [1.0; 16];

/// Writes the new iterate over its centre, with the row values and the running sum.
pub(super) struct Write<'a> {
    pub(super) ball: Ball,
    pub(super) block: Block<'a>,
    pub(super) slope: &'a [f64],
    pub(super) log_nominal: &'a [f64],
    /// `None`: the plain entropy step, θ = 0 with ν the log-normaliser.
    pub(super) theta: Option<f64>,
    pub(super) nu: &'a [f64],
    pub(super) iterate: &'a mut [f64],
    pub(super) emit: Emit<'a>,
}

impl WithSimd for Write<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let lanes = size_of::<S::f64s>() / 8;
        let theta = simd.splat_f64s(self.theta.unwrap_or(0.0));
        let ln_theta = simd.splat_f64s(self.theta.unwrap_or(1.0).ln());
        let weight = simd.splat_f64s(self.emit.weight);
        for k in 0..self.block.rows() {
            let span = self.block.span(k);
            let len = span.len();
            let gain = self.block.gain(k);
            let nominal = &self.block.nominal[span.clone()];
            let log_nominal = &self.log_nominal[span.clone()];
            let iterate = &mut self.iterate[span.clone()];
            let sum = &mut self.emit.sum[span];
            let (slope, nu) = (simd.splat_f64s(self.slope[k]), simd.splat_f64s(self.nu[k]));
            let mut value = simd.splat_f64s(0.0);
            let mut at = 0;
            while at < len {
                let to = (at + lanes).min(len);
                let load = |x: &[f64]| simd.partial_load_f64s(&x[at..to]);
                let b = load(gain);
                let (p, r) = terms(
                    simd,
                    self.ball,
                    slope,
                    [load(iterate), load(nominal), load(log_nominal), b],
                );
                let l = match self.theta {
                    Some(_) => log_y(simd, theta, ln_theta, nu, p, r),
                    None => simd.sub_f64s(r, nu),
                };
                let y = exp(simd, l);
                let keep = if self.ball == Ball::Kl { y } else { l };
                let total = simd.mul_add_e_f64s(weight, y, load(sum));
                simd.partial_store_f64s(&mut iterate[at..to], keep);
                simd.partial_store_f64s(&mut sum[at..to], total);
                value = simd.mul_add_e_f64s(y, b, value);
                at = to;
            }
            self.emit.value[k] = simd.reduce_sum_f64s(value);
        }
    }
}
