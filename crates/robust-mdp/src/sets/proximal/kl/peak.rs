//! Support function of the KL ball for budgets that may come near saturation.
//!
//! The tilt y(t) ∝ y⁰e^{t·x_a·b_a} with b_a ≤ 0 and b_a = 0 at the row's maximum. Let m_a be the
//! nominal mass of {b_a = 0} and R_a(t) = Σ_{b<0} y⁰e^{txb}. Then
//!   D(t) = Σ_a [t·κ1 − ln(m_a + R_a)] rises to D(∞) = −Σ_a ln m_a, and
//!   D(∞) − D(t) = Σ_a [ln(1 + R_a/m_a) − t·κ1],
//! a sum of non-negative terms that keeps its digits as t → ∞. A budget of D(∞) or more is
//! saturated. Below half of D(∞) Newton works on √D, which is nearly linear in t; above, on
//! ln(D(∞) − D), which is too.

use pulp::{Simd, WithSimd};

use crate::lanes::{dispatch, exp};
use crate::sets::proximal::block::{Block, RowSums, Scratch};

const REST: usize = 0;
const S1: usize = 1;
const S2: usize = 2;
const MASS: usize = 3;

const MAX_PASSES: usize = 200;

/// D(∞) = −Σ_a ln m_a over the rows that matter: the budget that saturates them.
pub(super) fn saturation(block: Block<'_>, x: &[f64]) -> f64 {
    dispatch(Saturation { block, x })
}

struct Saturation<'a> {
    block: Block<'a>,
    x: &'a [f64],
}

impl WithSimd for Saturation<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let zero = simd.splat_f64s(0.0);
        let mut total = 0.0;
        for k in (0..self.block.rows()).filter(|&k| self.x[k] > 0.0) {
            let (nominal, gain) = (&self.block.nominal[self.block.span(k)], self.block.gain(k));
            let mut mass = zero;
            crate::lanes::walk!(simd, [nominal, gain] => |y0, b| {
                let below = simd.less_than_f64s(b, zero);
                mass = simd.add_f64s(mass, simd.select_f64s(below, zero, y0));
            });
            total -= simd.reduce_sum_f64s(mass).min(1.0).ln();
        }
        total
    }
}

struct Moments<'a> {
    block: Block<'a>,
    slope: &'a [f64],
    t: f64,
    out: &'a mut [RowSums],
}

impl WithSimd for Moments<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let zero = simd.splat_f64s(0.0);
        let t = simd.splat_f64s(self.t);
        for k in 0..self.block.rows() {
            if self.slope[k] == 0.0 {
                self.out[k] = [0.0, 0.0, 0.0, 1.0, 0.0];
                continue;
            }
            let (nominal, gain) = (&self.block.nominal[self.block.span(k)], self.block.gain(k));
            let slope = simd.splat_f64s(self.slope[k]);
            let (mut rest, mut s1, mut s2, mut mass) = (zero, zero, zero, zero);
            crate::lanes::walk!(simd, [nominal, gain] => |y0, b| {
                let below = simd.less_than_f64s(b, zero);
                let w = simd.mul_f64s(slope, b);
                let e = simd.mul_f64s(y0, exp(simd, simd.mul_f64s(t, w)));
                let e = simd.select_f64s(below, e, zero);
                let ew = simd.mul_f64s(e, w);
                rest = simd.add_f64s(rest, e);
                s1 = simd.add_f64s(s1, ew);
                s2 = simd.mul_add_e_f64s(ew, w, s2);
                mass = simd.add_f64s(mass, simd.select_f64s(below, zero, y0));
            });
            self.out[k] = [
                simd.reduce_sum_f64s(rest),
                simd.reduce_sum_f64s(s1),
                simd.reduce_sum_f64s(s2),
                simd.reduce_sum_f64s(mass),
                0.0,
            ];
        }
    }
}

/// What the sums say at t: D, D(∞) − D, D', and Σψ.
struct Reading {
    used: f64,
    left: f64,
    slope: f64,
    psi: f64,
}

fn read(sums: &[RowSums], t: f64) -> Reading {
    let mut reading = Reading { used: 0.0, left: 0.0, slope: 0.0, psi: 0.0 };
    for s in sums {
        let total = s[MASS] + s[REST];
        let k1 = s[S1] / total;
        reading.used += t * k1 - total.ln();
        reading.left += (s[REST] / s[MASS]).ln_1p() - t * k1;
        reading.slope += t * (s[S2] / total - k1 * k1).max(0.0);
        reading.psi += total.ln();
    }
    reading
}

/// The t > 0 whose tilt uses the whole budget; `None` when the budget is saturated.
pub(super) fn follow(
    block: Block<'_>,
    x: &[f64],
    memory: &mut f64,
    scratch: &mut Scratch,
) -> Option<f64> {
    let rows = block.rows();
    let mut t = if *memory > 0.0 && memory.is_finite() { *memory } else { 0.0 };
    let (mut low, mut high) = (0.0_f64, f64::INFINITY);
    for pass in 0..MAX_PASSES {
        scratch.entries += block.entries() as u64;
        dispatch(Moments { block, slope: x, t, out: &mut scratch.sums });
        let sums = &scratch.sums[..rows];
        if pass == 0 {
            let ceiling: f64 = sums.iter().map(|s| -s[MASS].min(1.0).ln()).sum();
            if ceiling <= block.radius {
                *memory = 0.0;
                return None;
            }
        }
        if t == 0.0 {
            t = cold_start(sums, &block);
            continue;
        }
        let at = read(sums, t);
        if at.used <= block.radius {
            low = low.max(t)
        } else {
            high = high.min(t)
        }
        let fresh = step(&at, block.radius, t, low);
        let fresh = if fresh >= low && fresh <= high {
            fresh
        } else if high.is_finite() {
            0.5 * (low + high)
        } else {
            4.0 * t
        };
        // The bound is stationary at the root: an error of 1e-9 in t is one of 1e-18 in it.
        let settled = (fresh - t).abs() <= 1e-9 * fresh;
        t = fresh;
        if settled || !(1e-300..=1e300).contains(&t) {
            break;
        }
    }
    *memory = t;
    Some(t)
}

fn step(at: &Reading, radius: f64, t: f64, low: f64) -> f64 {
    if at.left < 1e-4 * (at.left + at.used - radius) {
        // So far out that exponentials are clamped: the slope is no guide.
        return if low > 0.0 { (low * t).sqrt() } else { 0.25 * t };
    }
    if at.used < at.left {
        let root = at.used.max(0.0).sqrt();
        t - 2.0 * root * (root - radius.sqrt()) / at.slope
    } else {
        let goal = at.left + at.used - radius;
        t + at.left * (at.left / goal).ln() / at.slope
    }
}

/// ½t²·Var = α at t = 0.
fn cold_start(sums: &[RowSums], block: &Block<'_>) -> f64 {
    let variance: f64 = sums.iter().map(|s| s[S2] - s[S1] * s[S1]).sum();
    let t = (2.0 * block.radius / variance).sqrt();
    if t.is_finite() && t > 0.0 { t } else { 1.0 }
}

/// y = y⁰ conditioned on the row's maximum, for rows that matter.
pub(super) fn restrict_to_peaks(block: Block<'_>, x: &[f64], y: &mut [f64]) {
    y.copy_from_slice(block.nominal);
    for k in (0..block.rows()).filter(|&k| x[k] > 0.0) {
        let y = &mut y[block.span(k)];
        for (y, _) in y.iter_mut().zip(block.gain(k)).filter(|&(_, &b)| b < 0.0) {
            *y = 0.0;
        }
        let mass: f64 = y.iter().sum();
        y.iter_mut().for_each(|y| *y /= mass);
    }
}

/// Writes y ∝ y⁰e^{txb} and returns Σψ.
pub(super) struct Tail<'a> {
    pub(super) block: Block<'a>,
    pub(super) slope: &'a [f64],
    pub(super) t: f64,
    pub(super) y: &'a mut [f64],
}

impl WithSimd for Tail<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let lanes = size_of::<S::f64s>() / 8;
        let mut psi = 0.0;
        for k in 0..self.block.rows() {
            let span = self.block.span(k);
            let (nominal, gain) = (&self.block.nominal[span.clone()], self.block.gain(k));
            let y = &mut self.y[span];
            if self.slope[k] == 0.0 {
                y.copy_from_slice(nominal);
                continue;
            }
            let tilt = simd.splat_f64s(self.t * self.slope[k]);
            let mut total = simd.splat_f64s(0.0);
            let len = nominal.len();
            let mut at = 0;
            while at < len {
                let to = (at + lanes).min(len);
                let load = |x: &[f64]| simd.partial_load_f64s(&x[at..to]);
                let e = simd.mul_f64s(load(nominal), exp(simd, simd.mul_f64s(tilt, load(gain))));
                total = simd.add_f64s(total, e);
                simd.partial_store_f64s(&mut y[at..to], e);
                at = to;
            }
            let total = simd.reduce_sum_f64s(total);
            y.iter_mut().for_each(|y| *y /= total);
            psi += total.ln();
        }
        psi
    }
}
