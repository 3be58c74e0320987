//! Passes over a row of the Burg, Hellinger and Neyman sets.

use std::marker::PhantomData;

use pulp::{Simd, WithSimd};

use super::CressieRead;
use crate::lanes::{dispatch, kernels, walk};
use crate::rows::Row;

/// Sums of p times s^{−e−1}, the same by bx and by (bx)², and 1 − s^{−e}, s = a + bx.
#[derive(Clone, Copy)]
pub(super) struct Sums {
    pub(super) a: f64,
    pub(super) b: f64,
    /// Whether a = 1 and bx is small.
    pub(super) near: bool,
    pub(super) by: [f64; 3],
    pub(super) lost: f64,
}

impl Sums {
    /// Σps^{−e}.
    pub(super) fn mass(&self) -> f64 {
        self.a * self.by[0] + self.by[1]
    }

    /// Σps^{−e}bx.
    pub(super) fn fall(&self) -> f64 {
        self.a * self.by[1] + self.by[2]
    }

    /// G.
    pub(super) fn gap(&self) -> f64 {
        self.fall() / self.mass() / self.b
    }

    /// (Σps^{−e})^{−1/e} and its slope in η where s = scale·(a + bx).
    pub(super) fn level<C: CressieRead>(&self, scale: f64) -> (f64, f64) {
        let level = scale / C::root(self.mass());
        (level, level / scale * (self.by[0] / self.mass()))
    }

    /// −d ln ρ/d ln G.
    pub(super) fn pace(&self, e: f64) -> f64 {
        let [zero, one, two] = self.by;
        self.fall() * self.mass() / (e * self.a * (zero * two - one * one))
    }
}

kernels! {
    /// Σp on the maximum and below.
    pub(in crate::sets) fn masses<'a>(simd, row: Row<'a>) -> [f64; 2] {
        let Row { p, w, maximum, .. } = row;
        let (zero, maximum) = (simd.splat_f64s(0.0), simd.splat_f64s(maximum));
        let (mut on, mut below) = (zero, zero);
        walk!(simd, [p, w] => |p, w| {
            let lower = simd.less_than_f64s(w, maximum);
            below = simd.add_f64s(below, simd.select_f64s(lower, p, zero));
            on = simd.add_f64s(on, simd.select_f64s(lower, zero, p));
        });
        [simd.reduce_sum_f64s(on), simd.reduce_sum_f64s(below)]
    }
}

/// [`Sums`] of a row.
pub(super) fn sums<C: CressieRead>(row: Row<'_>, a: f64, b: f64, near: bool) -> Sums {
    dispatch(Pass { row, a, b, near, of: PhantomData::<C> })
}

/// Writes p(η + tx)^{−e} and sums it.
pub(super) fn write<C: CressieRead>(row: Row<'_>, t: f64, eta: f64, y: &mut [f64]) -> f64 {
    dispatch(Write { row, eta, t, y, of: PhantomData::<C> })
}

struct Pass<'a, C> {
    row: Row<'a>,
    a: f64,
    b: f64,
    near: bool,
    of: PhantomData<C>,
}

impl<C: CressieRead> WithSimd for Pass<'_, C> {
    type Output = Sums;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Sums {
        let Pass { row: Row { p, w, maximum, .. }, a, b, near, .. } = self;
        let (zero, one) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0));
        let (by_a, by_b, maximum) =
            (simd.splat_f64s(a), simd.splat_f64s(b), simd.splat_f64s(maximum));
        let (mut s0, mut s1, mut s2, mut lost) = (zero, zero, zero, zero);
        walk!(simd, [p, w] => |p, w| {
            let r = simd.mul_f64s(by_b, simd.max_f64s(simd.sub_f64s(maximum, w), zero));
            // What has no nominal mass does not count, nor does the maximum where s = 0 there.
            let s = simd.add_f64s(by_a, r);
            let counts = simd.less_than_f64s(zero, simd.min_f64s(p, s));
            let (p, s) = (simd.select_f64s(counts, p, zero), simd.select_f64s(counts, s, one));
            let inverse = simd.div_f64s(one, s);
            let f = C::power(simd, inverse);
            if near {
                lost = simd.mul_add_e_f64s(p, C::lost(simd, r, s, f), lost);
            }
            let g = simd.mul_f64s(simd.mul_f64s(p, f), inverse);
            let gr = simd.mul_f64s(g, r);
            s0 = simd.add_f64s(s0, g);
            s1 = simd.add_f64s(s1, gr);
            s2 = simd.mul_add_e_f64s(gr, r, s2);
        });
        let by = [s0, s1, s2].map(|sum| simd.reduce_sum_f64s(sum));
        Sums { a, b, near, by, lost: simd.reduce_sum_f64s(lost) }
    }
}

struct Write<'a, C> {
    row: Row<'a>,
    eta: f64,
    t: f64,
    y: &'a mut [f64],
    of: PhantomData<C>,
}

impl<C: CressieRead> WithSimd for Write<'_, C> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Write { row: Row { p, w, maximum, .. }, eta, t, y, .. } = self;
        let (zero, one) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0));
        let (eta, t, maximum) =
            (simd.splat_f64s(eta), simd.splat_f64s(t), simd.splat_f64s(maximum));
        let mut mass = zero;
        // A macro: closures may not be inlined, which costs all registers.
        macro_rules! one {
            ($p:expr, $w:expr) => {{
                let x = simd.max_f64s(simd.sub_f64s(maximum, $w), zero);
                let counts = simd.less_than_f64s(zero, $p);
                let s = simd.select_f64s(counts, simd.mul_add_e_f64s(t, x, eta), one);
                let y = simd.mul_f64s($p, C::power(simd, simd.div_f64s(one, s)));
                mass = simd.add_f64s(mass, y);
                y
            }};
        }
        let (full_p, last_p) = S::as_simd_f64s(p);
        let (full_w, last_w) = S::as_simd_f64s(w);
        let (full_y, last_y) = S::as_mut_simd_f64s(y);
        for ((&p, &w), y) in full_p.iter().zip(full_w).zip(full_y) {
            *y = one!(p, w);
        }
        if !last_p.is_empty() {
            // Lanes beyond the row have p = 0.
            let y = one!(simd.partial_load_f64s(last_p), simd.partial_load_f64s(last_w));
            simd.partial_store_f64s(last_y, y);
        }
        simd.reduce_sum_f64s(mass)
    }
}
