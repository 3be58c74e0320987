//! e^{tw} for many t and one vector w ≤ 0: a table at multiples T of a step, and a short series for t − T.
//!
//! With |w| ≤ range and T·range ≤ 32, an entry of the table is off by 12u for the exponential and 32u for
//! the rounding of Tw. |t − T|·range is at most 1/32, so that Taylor's polynomial of degree 6 leaves less than 58u.

use pulp::{Simd, WithSimd};

use super::exponential::exp;
use super::lane::Lane;
use super::sums::Terms;
use crate::lanes::dispatch;

/// Rows of the table are so far apart in T·range.
pub(in crate::certificate) const STEP: f64 = 1.0 / 16.0;
/// T = 512·step is the last.
pub(in crate::certificate) const MOST_ROWS: u32 = 513;

pub(super) struct Powers {
    step: f64,
    states: usize,
    /// e^{Tw} for T = 0, step, 2·step, …
    table: Vec<f64>,
}

impl Powers {
    /// None where there is nothing to gain, or where powers of t could leave the doubles.
    pub(super) fn new(w: &[f64], range: f64, rows: u32) -> Option<Powers> {
        if rows == 0 || !(1e-30..=1e30).contains(&range) {
            return None;
        }
        let step = STEP / range;
        let mut table = vec![0.0; rows as usize * w.len()];
        dispatch(Fill { w, step, table: &mut table });
        Some(Powers { step, states: w.len(), table })
    }

    /// The powers at the nearest T, and what is left of t.
    #[inline(always)]
    pub(super) fn near(&self, t: f64) -> Option<(&[f64], Series)> {
        let k = (t / self.step + 0.5).floor();
        let from = (k as usize).checked_mul(self.states)?;
        let powers = self.table.get(from..)?.get(..self.states)?;
        let d = t - k * self.step;
        let (d2, d3) = (d * d, d * d * d);
        let [c3, c4, c5, c6] = [6.0, 24.0, 120.0, 720.0].map(|f| 1.0 / f);
        let series = [1.0, d, d2 * 0.5, d3 * c3, d2 * d2 * c4, d2 * d3 * c5, d3 * d3 * c6];
        Some((powers, Series(series)))
    }
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
        for (k, row) in self.table.chunks_exact_mut(self.w.len()).enumerate() {
            let t = k as f64 * self.step;
            for (to, w) in row.chunks_mut(8).zip(self.w.chunks(8)) {
                let mut eight = [0.0; 8];
                eight[..w.len()].copy_from_slice(w);
                for x in S::as_mut_simd_f64s(&mut eight).0 {
                    let w = Lane { simd, x: *x };
                    *x = exp(w * w.of(t)).1.x;
                }
                to.copy_from_slice(&eight[..w.len()]);
            }
        }
    }
}

/// Σp, Σpe^{tw} and Σpe^{tw}w, from (t − T)^m/m!.
#[derive(Clone, Copy)]
pub(super) struct Series([f64; 7]);

impl Terms<3> for Series {
    #[inline(always)]
    fn add<S: Simd>(&self, to: [Lane<S>; 3], p: Lane<S>, w: Lane<S>, e: Lane<S>) -> [Lane<S>; 3] {
        let mut near = p.of(self.0[6]);
        for m in (0..6).rev() {
            near = near.mul_add(w, p.of(self.0[m]));
        }
        let y = p * e * near;
        [to[0] + p, to[1] + y, y.mul_add(w, to[2])]
    }
}
