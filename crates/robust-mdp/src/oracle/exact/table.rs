//! Exponential moments of dense rows from shared Taylor bases.
//!
//! All rows of a dense model share w = λ(v − max v), so that e^{tw} for t near a grid point t_c is
//!   e^{tw_i} = Σ_j φ_j(i)·(t − t_c)^j,  φ_j(i) = e^{t_c·w_i}·w_i^j/j!,
//! with bases φ that serve every row of every state. The moments M_j = ⟨y⁰, φ_j⟩ of a row, one pass
//! of [`ORDER`] dot products, then give Σ y⁰e^{tw} and its derivatives at any t near t_c without
//! another look at the row. With cells of [`CELL`]/range, |(t − t_c)w| ≤ CELL/2: the series is
//! truncated at a relative error of (CELL/2)⁸/8! < 6e-15.

use pulp::{Simd, WithSimd};

use crate::lanes::exp;

/// Terms of the series.
pub(super) const ORDER: usize = 8;
/// Width of a cell in units of t·range.
const CELL: f64 = 0.125;
/// Moments serve t this far from the middle of their cell, in the same units.
pub(super) const REACH: f64 = 0.5625 * CELL;
/// Cells beyond this are not tabulated: t·range ≤ 64.
const CELLS: usize = 512;

/// Bases of the cells used so far, for one value vector.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// Interleaved by register: for each register of states, one register for each φ_j.
    bases: Vec<Vec<f64>>,
    /// Sweep for which a cell was filled; 0: never.
    filled: Vec<u64>,
}

/// The cell of t; `None` beyond the table.
#[inline(always)]
fn cell(t: f64, range: f64) -> Option<usize> {
    let at = (t * range / CELL).round();
    (at <= CELLS as f64).then_some(at as usize)
}

impl Table {
    /// The bases of a cell at these w, computed on first use in a sweep.
    #[inline(always)]
    fn basis<S: Simd>(
        &mut self,
        simd: S,
        cell: usize,
        centre: f64,
        w: &[f64],
        stamp: u64,
    ) -> &[f64] {
        if self.bases.is_empty() {
            self.bases = vec![Vec::new(); CELLS + 1];
            self.filled = vec![0; CELLS + 1];
        }
        let basis = &mut self.bases[cell];
        if self.filled[cell] != stamp {
            self.filled[cell] = stamp;
            fill(simd, centre, w, basis);
        }
        basis
    }
}

#[inline(always)]
fn fill<S: Simd>(simd: S, t: f64, w: &[f64], basis: &mut Vec<f64>) {
    let lanes = size_of::<S::f64s>() / 8;
    basis.resize(w.len().div_ceil(lanes) * lanes * ORDER, 0.0);
    let t = simd.splat_f64s(t);
    let blocks = S::as_mut_simd_f64s(basis).0.chunks_exact_mut(ORDER);
    for (w, block) in w.chunks(lanes).zip(blocks) {
        let w = simd.partial_load_f64s(w);
        let mut term = exp(simd, simd.mul_f64s(t, w));
        for (j, out) in block.iter_mut().enumerate() {
            *out = term;
            let factor = simd.mul_f64s(w, simd.splat_f64s(1.0 / (j + 1) as f64));
            term = simd.mul_f64s(term, factor);
        }
    }
}

/// What the moments of rows are read from.
pub(super) struct MomentPass<'a> {
    pub(super) table: &'a mut Table,
    /// The w of all rows, their spread and the number of the sweep.
    pub(super) w: &'a [f64],
    pub(super) range: f64,
    pub(super) stamp: u64,
    /// y⁰ of all rows of the state.
    pub(super) nominal: &'a [f64],
    /// Places among the rows under work that are to be read; those beyond the table are left.
    pub(super) stale: &'a mut Vec<u32>,
    pub(super) row: &'a [u32],
    pub(super) t: &'a [f64],
    pub(super) centre: &'a mut [f64],
    pub(super) moments: &'a mut [Vec<f64>; ORDER],
}

impl WithSimd for MomentPass<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let MomentPass { table, w, range, stamp, nominal, stale, row, t, centre, moments } = self;
        let width = w.len();
        let mut left = 0;
        for i in 0..stale.len() {
            let j = stale[i] as usize;
            let Some(cell) = cell(t[j], range) else {
                stale[left] = stale[i];
                left += 1;
                continue;
            };
            centre[j] = cell as f64 * CELL / range;
            let basis = table.basis(simd, cell, centre[j], w, stamp);
            let start = row[j] as usize * width;
            let sums = row_moments(simd, &nominal[start..start + width], basis);
            for (moment, sum) in moments.iter_mut().zip(sums) {
                moment[j] = sum;
            }
        }
        stale.truncate(left);
    }
}

/// M_j of one row.
#[inline(always)]
fn row_moments<S: Simd>(simd: S, nominal: &[f64], basis: &[f64]) -> [f64; ORDER] {
    let mut sums = [simd.splat_f64s(0.0); ORDER];
    let (full, last) = S::as_simd_f64s(nominal);
    let (blocks, _) = pulp::as_arrays::<ORDER, _>(S::as_simd_f64s(basis).0);
    for (&y, block) in full.iter().zip(blocks) {
        for j in 0..ORDER {
            sums[j] = simd.mul_add_e_f64s(y, block[j], sums[j]);
        }
    }
    if !last.is_empty() {
        let (y, block) = (simd.partial_load_f64s(last), &blocks[full.len()]);
        for j in 0..ORDER {
            sums[j] = simd.mul_add_e_f64s(y, block[j], sums[j]);
        }
    }
    sums.map(|s| simd.reduce_sum_f64s(s))
}
