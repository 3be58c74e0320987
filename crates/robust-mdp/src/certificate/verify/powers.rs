//! e^{tw} for many t and one vector w ≤ 0: a table at multiples T of a step, and a short series for t − T.
//!
//! With R = −min w and T·R ≤ 32, an entry of the table is a product of two exponentials, each off by 12u and by as
//! many u as its argument, and rounded: 57u. For t near T, x = (t − T)(w + R/2) has |x| ≤ h = |t − T|R/2 ≤ 1/128.
//! x⁵ ≈ (5/4)h²x³ − (5/16)h⁴x, up to h⁵/16, brings Taylor's polynomial to degree 4: that and the rest of the series
//! leave h⁵/1920 + h⁶/720 or 141u.

use pulp::{Simd, WithSimd};

use super::exponential::exp_each;
use super::lane::Lane;
use super::sums::Terms;
use crate::lanes::dispatch;

/// Rows of the table are so far apart in T·range.
pub(in crate::certificate) const STEP: f64 = 1.0 / 32.0;
/// T = 1024·step is the last.
pub(in crate::certificate) const MOST_ROWS: u32 = 1025;
/// Rows with exponentials of their own; others are products.
const FINE: usize = 32;

pub(super) struct Powers {
    step: f64,
    /// −R/2.
    middle: f64,
    states: usize,
    /// e^{Tw} for T = 0, step, 2·step, …
    table: Vec<f64>,
}

impl Powers {
    /// An empty table where powers of t could leave the doubles.
    pub(super) fn new(w: &[f64], range: f64, rows: u32) -> Powers {
        let rows = if (1e-30..=1e30).contains(&range) { rows as usize } else { 0 };
        // Multiples of it are exact.
        let step = f64::from_bits((STEP / range).to_bits() & !0xfff);
        let mut table = vec![0.0; rows * w.len()];
        dispatch(Fill { w, step, table: &mut table });
        Powers { step, middle: -0.5 * range, states: w.len(), table }
    }

    /// The way from the nearest T to each of eight t.
    #[inline(always)]
    pub(super) fn near(&self, t: &[f64; 8]) -> Near {
        let (mut near, inverse) = (Near::default(), 1.0 / self.step);
        for j in 0..8 {
            let k = (t[j] * inverse + 0.5).floor();
            let d = t[j] - k * self.step;
            let (c, d2) = (d * self.middle, d * d);
            let h2 = c * c;
            // e^c, but for c⁷/7!.
            let even = h2 * (0.5 + h2 * (1.0 / 24.0 + h2 * (1.0 / 720.0)));
            let odd = h2 * (1.0 / 6.0 + h2 * (1.0 / 120.0));
            let whole = 1.0 + (c + (even + c * odd));
            let slope = whole * d;
            near.row[j] = k;
            near.terms[0][j] = whole;
            near.terms[1][j] = slope * (1.0 - h2 * h2 * (1.0 / 384.0));
            near.terms[2][j] = whole * d2 * 0.5;
            near.terms[3][j] = slope * d2 * (1.0 / 6.0 + h2 * (1.0 / 96.0));
            near.terms[4][j] = whole * d2 * d2 * (1.0 / 24.0);
        }
        near
    }

    /// The powers at T and the series from there to the j-th t, unless it is beyond the table.
    #[inline(always)]
    pub(super) fn at(&self, near: &Near, j: usize) -> Option<(&[f64], Series)> {
        let from = (near.row[j] as usize).checked_mul(self.states)?;
        let powers = self.table.get(from..)?.get(..self.states)?;
        let [c0, c1, c2, c3, c4] = &near.terms;
        let terms = [c0[j], c1[j], c2[j], c3[j], c4[j]];
        Some((powers, Series { terms, middle: self.middle }))
    }
}

/// Rows of a table, and terms of the series.
#[derive(Default)]
pub(super) struct Near {
    row: [f64; 8],
    terms: [[f64; 8]; 5],
}

struct Fill<'a> {
    w: &'a [f64],
    step: f64,
    table: &'a mut [f64],
}

impl WithSimd for Fill<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let states = self.w.len();
        let (fine, rest) = self.table.split_at_mut((FINE * states).min(self.table.len()));
        for (k, row) in fine.chunks_exact_mut(states).enumerate() {
            powers(simd, self.w, k as f64 * self.step, row);
        }
        for (k, rows) in rest.chunks_mut(FINE * states).enumerate() {
            let (first, others) = rows.split_at_mut(states);
            powers(simd, self.w, ((k + 1) * FINE) as f64 * self.step, first);
            for (row, fine) in
                others.chunks_exact_mut(states).zip(fine[states..].chunks_exact(states))
            {
                for ((to, x), y) in row.iter_mut().zip(&*first).zip(fine) {
                    *to = x * y;
                }
            }
        }
    }
}

/// e^{tw}.
#[inline(always)]
fn powers<S: Simd>(simd: S, w: &[f64], t: f64, out: &mut [f64]) {
    for (to, w) in out.chunks_mut(8).zip(w.chunks(8)) {
        let mut eight = [0.0; 8];
        eight[..w.len()].copy_from_slice(w);
        to.copy_from_slice(&exp_each(simd, eight.map(|w| w * t))[..w.len()]);
    }
}

/// Σp, Σpe^{tw} and Σpe^{tw}w: e^{(t − T)w} in powers of w + R/2.
#[derive(Clone, Copy)]
pub(super) struct Series {
    terms: [f64; 5],
    middle: f64,
}

impl<S: Simd> Terms<S, 3> for Series {
    #[inline(always)]
    fn add(&self, to: [Lane<S>; 3], p: Lane<S>, w: Lane<S>, e: Lane<S>) -> [Lane<S>; 3] {
        let (x, [c0, c1, c2, c3, c4]) = (w - w.of(self.middle), self.terms.map(|c| w.of(c)));
        let near = c4.mul_add(x, c3).mul_add(x, c2).mul_add(x, c1).mul_add(x, c0);
        let y = p * e * near;
        [to[0] + p, to[1] + y, y.mul_add(w, to[2])]
    }
}
