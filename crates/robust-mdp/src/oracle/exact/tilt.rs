//! One row tilted: ψ = ln Σ y⁰e^{tw} and its derivatives by a pass of exponentials.

use pulp::{Simd, WithSimd};

use crate::lanes::{exp, exp_m1, walk};

/// ψ, ψ' and ψ'' of one row for w less `top`, the largest w where y⁰ is positive.
pub(super) struct Tilt<'a> {
    pub(super) nominal: &'a [f64],
    pub(super) gain: &'a [f64],
    pub(super) t: f64,
    pub(super) top: f64,
    /// Exponents are small: Σ y⁰(e^{tw} − 1) keeps the digits of ψ.
    pub(super) small: bool,
}

impl WithSimd for Tilt<'_> {
    type Output = [f64; 3];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [f64; 3] {
        let Tilt { nominal, gain, t, top, small } = self;
        let zero = simd.splat_f64s(0.0);
        let (tv, topv) = (simd.splat_f64s(t), simd.splat_f64s(top));
        let (mut s0, mut s1, mut s2) = (zero, zero, zero);
        if small {
            walk!(simd, [nominal, gain] => |y0, w| {
                let w = simd.sub_f64s(w, topv);
                let q = simd.mul_f64s(y0, exp_m1(simd, simd.mul_f64s(tv, w)));
                let yw = simd.mul_f64s(simd.add_f64s(q, y0), w);
                s0 = simd.add_f64s(s0, q);
                s1 = simd.add_f64s(s1, yw);
                s2 = simd.mul_add_e_f64s(yw, w, s2);
            });
        } else {
            walk!(simd, [nominal, gain] => |y0, w| {
                let w = simd.sub_f64s(w, topv);
                let y = simd.mul_f64s(y0, exp(simd, simd.mul_f64s(tv, w)));
                let yw = simd.mul_f64s(y, w);
                s0 = simd.add_f64s(s0, y);
                s1 = simd.add_f64s(s1, yw);
                s2 = simd.mul_add_e_f64s(yw, w, s2);
            });
        }
        let sum = simd.reduce_sum_f64s(s0);
        let (total, log) = if small { (1.0 + sum, sum.ln_1p()) } else { (sum, sum.ln()) };
        let mean = simd.reduce_sum_f64s(s1) / total;
        let variance = (simd.reduce_sum_f64s(s2) / total - mean * mean).max(0.0);
        [log, mean, variance]
    }
}

/// The largest w where y⁰ is positive, and the mass there.
pub(super) struct Top<'a> {
    pub(super) nominal: &'a [f64],
    pub(super) gain: &'a [f64],
}

impl WithSimd for Top<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> (f64, f64) {
        let Top { nominal, gain } = self;
        let zero = simd.splat_f64s(0.0);
        let lowest = simd.splat_f64s(f64::NEG_INFINITY);
        let mut top = lowest;
        walk!(simd, [nominal, gain] => |y0, w| {
            let usable = simd.less_than_f64s(zero, y0);
            top = simd.max_f64s(top, simd.select_f64s(usable, w, lowest));
        });
        let top = simd.reduce_max_f64s(top);
        let level = simd.splat_f64s(top);
        let mut mass = zero;
        walk!(simd, [nominal, gain] => |y0, w| {
            mass = simd.add_f64s(mass, simd.select_f64s(simd.equal_f64s(w, level), y0, zero));
        });
        (top, simd.reduce_sum_f64s(mass))
    }
}
