//! Sums over the active sets of an ellipsoid's rows: one pass over the rows that have to be read.

use pulp::{Simd, WithSimd};

use super::active::PADDING;
use super::centred::{add_tail, tail_margin};
use super::outlook::Outlook;
use super::rows::Rows;
use crate::lanes::{padding, walk};

/// Sums over the active sets of the rows under work, one array a sum, with what follows from them.
#[derive(Debug, Default)]
pub(super) struct Sums {
    pub(super) n: Vec<f64>,
    pub(super) sy: Vec<f64>,
    pub(super) sw: Vec<f64>,
    pub(super) sww: Vec<f64>,
    pub(super) syw: Vec<f64>,
    pub(super) off: Vec<f64>,
    /// The least |y⁰ + tw − ν| at the last reading, and (t, ν) then.
    pub(super) margin: Vec<f64>,
    pub(super) read_t: Vec<f64>,
    pub(super) read_nu: Vec<f64>,
    /// ν − t·mean where ν comes from the closed form; not a number at a reading.
    pub(super) bend: Vec<f64>,
    /// Negative: the active set may be another one at the present (t, ν).
    safety: Vec<f64>,
    rows: usize,
    /// Derived: Sw/n, −r/n, base + g0 and 1/det (∞ where det = 0).
    pub(super) mean: Vec<f64>,
    pub(super) rest: Vec<f64>,
    pub(super) start: Vec<f64>,
    pub(super) curve: Vec<f64>,
    /// `safety` to come.
    pub(super) fresh_safety: Vec<f64>,
}

impl Sums {
    fn arrays(&mut self) -> [&mut Vec<f64>; 16] {
        [
            &mut self.n,
            &mut self.sy,
            &mut self.sw,
            &mut self.sww,
            &mut self.syw,
            &mut self.off,
            &mut self.margin,
            &mut self.read_t,
            &mut self.read_nu,
            &mut self.bend,
            &mut self.safety,
            &mut self.mean,
            &mut self.rest,
            &mut self.start,
            &mut self.curve,
            &mut self.fresh_safety,
        ]
    }

    pub(super) fn clear(&mut self) {
        self.rows = 0;
    }

    pub(super) fn len(&self) -> usize {
        self.rows
    }

    /// Room for this many rows; new ones have to be read.
    pub(super) fn resize(&mut self, rows: usize) {
        if self.n.len() < rows {
            let room = (2 * rows).next_multiple_of(PADDING);
            self.arrays().into_iter().for_each(|array| array.resize(room, 0.0));
        }
        if rows > self.rows {
            self.safety[self.rows..rows].fill(-1.0);
        }
        self.rows = rows;
    }

    pub(super) fn swap(&mut self, i: usize, j: usize) {
        if i != j {
            self.arrays().into_iter().for_each(|array| array.swap(i, j));
        }
    }

    /// What a reading at (t, ν) says of row j.
    #[inline(always)]
    pub(super) fn set(&mut self, j: usize, sums: [f64; 7], t: f64, nu: f64) {
        let [n, sy, sw, sww, syw, off, margin] = sums;
        (self.n[j], self.sy[j], self.sw[j]) = (n, sy, sw);
        (self.sww[j], self.syw[j], self.off[j]) = (sww, syw, off);
        (self.margin[j], self.read_t[j], self.read_nu[j]) = (margin, t, nu);
        self.safety[j] = margin;
        self.bend[j] = f64::NAN;
    }

    /// Row j goes to the closed form's (t, ν) on its active set.
    pub(super) fn move_to(&mut self, j: usize, t: f64, nu: f64, range: f64) {
        let (dt, dnu) = (t - self.read_t[j], nu - self.read_nu[j]);
        self.safety[j] = self.margin[j] - dnu.abs().max((dnu + dt * range).abs());
        self.bend[j] = self.rest[j];
    }

    /// All rows have gone where `fresh_safety` was computed for.
    pub(super) fn settle(&mut self) {
        std::mem::swap(&mut self.safety, &mut self.fresh_safety);
        self.bend[..self.rows].copy_from_slice(&self.rest[..self.rows]);
    }

    pub(super) fn list_stale(&self, out: &mut Vec<u32>) {
        out.resize(self.rows, 0);
        let mut stale = 0;
        for (j, &safety) in self.safety[..self.rows].iter().enumerate() {
            out[stale] = j as u32;
            let safe = safety >= 0.0; // not where it is no number
            stale += usize::from(!safe);
        }
        out.truncate(stale);
    }
}

/// One pass over the rows that are out of date.
pub(super) struct Pass<'a> {
    pub(super) rows: Rows<'a>,
    pub(super) ahead: &'a Outlook,
    /// Places among the rows under work.
    pub(super) stale: &'a [u32],
    pub(super) row: &'a [u32],
    pub(super) t: &'a [f64],
    pub(super) nu: &'a [f64],
    pub(super) out: &'a mut Sums,
}

impl WithSimd for Pass<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if self.rows.level.is_empty() { self.plain(simd) } else { self.with_tails(simd) }
    }
}

impl Pass<'_> {
    /// Without calls, for which registers would be put aside.
    #[inline(always)]
    fn plain<S: Simd>(self, simd: S) {
        for &j in self.stale {
            let j = j as usize;
            let (t, nu) = (self.t[j], self.nu[j]);
            let (nominal, gain) = self.rows.row(self.row[j] as usize);
            let sums = row_sums(simd, nominal, gain, t, nu);
            self.out.set(j, sums, t, nu);
        }
    }

    #[inline(always)]
    fn with_tails<S: Simd>(self, simd: S) {
        for &j in self.stale {
            let j = j as usize;
            let (k, t, nu) = (self.row[j] as usize, self.t[j], self.nu[j]);
            let (nominal, gain) = self.rows.row(k);
            let mut sums = row_sums(simd, nominal, gain, t, nu);
            let tail = add_tail(&self.rows, self.ahead, k, t, nu, 0.0);
            sums[0] += tail[0];
            sums[2] += tail[1];
            sums[3] += tail[2];
            sums[6] = sums[6].min(tail_margin(&self.rows, self.ahead, k, t, nu));
            self.out.set(j, sums, t, nu);
        }
    }
}

/// n, Sy, Sw, Sww, Syw, Off and the margin of one row.
#[inline(always)]
fn row_sums<S: Simd>(simd: S, nominal: &[f64], gain: &[f64], t: f64, nu: f64) -> [f64; 7] {
    let zero = simd.splat_f64s(0.0);
    let one = simd.splat_f64s(1.0);
    let (tv, nuv) = (simd.splat_f64s(t), simd.splat_f64s(nu));
    let (mut n, mut sy, mut sw, mut sww, mut syw, mut off) = (zero, zero, zero, zero, zero, zero);
    let mut margin = simd.splat_f64s(f64::INFINITY);
    walk!(simd, [nominal, gain] => |y0, w| {
        let height = simd.mul_add_e_f64s(tv, w, y0);
        let inside = simd.less_than_f64s(nuv, height);
        // Written so that each of these is one masked operation where there are masks.
        let if_inside = |yes, no| simd.select_f64s(inside, yes, no);
        margin = simd.min_f64s(margin, simd.abs_f64s(simd.sub_f64s(height, nuv)));
        n = if_inside(simd.add_f64s(n, one), n);
        sy = if_inside(simd.add_f64s(sy, y0), sy);
        sw = if_inside(simd.add_f64s(sw, w), sw);
        sww = if_inside(simd.mul_add_e_f64s(w, w, sww), sww);
        syw = if_inside(simd.mul_add_e_f64s(y0, w, syw), syw);
        // The other way round a mask would lengthen the chain of sums.
        let outside = if_inside(zero, y0);
        off = simd.mul_add_e_f64s(outside, outside, off);
    });
    let spurious = if nu < 0.0 { padding::<S>(nominal.len()) } else { 0.0 };
    [
        simd.reduce_sum_f64s(n) - spurious,
        simd.reduce_sum_f64s(sy),
        simd.reduce_sum_f64s(sw),
        simd.reduce_sum_f64s(sww),
        simd.reduce_sum_f64s(syw),
        simd.reduce_sum_f64s(off),
        simd.reduce_min_f64s(margin),
    ]
}
