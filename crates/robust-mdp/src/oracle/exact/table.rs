//! Exponential moments of dense rows from shared Taylor bases.
//!
//! All rows of a dense model share w = λ(v − max v), so that e^{tw} for t near a grid point t_c is
//!   e^{tw_i} = Σ_j φ_j(i)·(t − t_c)^j,  φ_j(i) = e^{t_c·w_i}·w_i^j/j!,
//! with bases φ that serve every row of every state. The moments M_j = ⟨y⁰, φ_j⟩ of a row, one pass
//! of [`ORDER`] dot products, then give Σ y⁰e^{tw} and its derivatives at any t in the cell without
//! another look at the row. With cells of [`CELL`]/range, |(t − t_c)w| ≤ CELL/2: the series of
//! positive terms is truncated at a relative error of (CELL/2)⁸/8! < 6e-15.

use pulp::{Simd, WithSimd};

use crate::lanes::{dispatch, exp};

/// Terms of the series.
pub(super) const ORDER: usize = 8;
/// Width of a cell in units of t·range.
const CELL: f64 = 0.125;
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
pub(super) fn cell(t: f64, range: f64) -> Option<usize> {
    let at = (t * range / CELL).round();
    (at <= CELLS as f64).then_some(at as usize)
}

/// The middle of a cell.
pub(super) fn centre(cell: usize, range: f64) -> f64 {
    cell as f64 * CELL / range
}

impl Table {
    /// The bases of a cell at these w, computed on first use in a sweep.
    pub(super) fn basis(&mut self, cell: usize, w: &[f64], range: f64, stamp: u64) -> &[f64] {
        if self.bases.is_empty() {
            self.bases = vec![Vec::new(); CELLS + 1];
            self.filled = vec![0; CELLS + 1];
        }
        let basis = &mut self.bases[cell];
        if self.filled[cell] != stamp {
            self.filled[cell] = stamp;
            dispatch(Fill { t: centre(cell, range), w, basis });
        }
        basis
    }
}

struct Fill<'a> {
    t: f64,
    w: &'a [f64],
    basis: &'a mut Vec<f64>,
}

impl WithSimd for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let lanes = size_of::<S::f64s>() / 8;
        self.basis.resize(self.w.len().div_ceil(lanes) * lanes * ORDER, 0.0);
        let t = simd.splat_f64s(self.t);
        let blocks = S::as_mut_simd_f64s(self.basis).0.chunks_exact_mut(ORDER);
        for (w, block) in self.w.chunks(lanes).zip(blocks) {
            let w = simd.partial_load_f64s(w);
            let mut term = exp(simd, simd.mul_f64s(t, w));
            for (j, out) in block.iter_mut().enumerate() {
                *out = term;
                let factor = simd.mul_f64s(w, simd.splat_f64s(1.0 / (j + 1) as f64));
                term = simd.mul_f64s(term, factor);
            }
        }
    }
}

/// M_j of one row.
pub(super) struct Moments<'a> {
    pub(super) nominal: &'a [f64],
    pub(super) basis: &'a [f64],
}

impl WithSimd for Moments<'_> {
    type Output = [f64; ORDER];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [f64; ORDER] {
        let mut sums = [simd.splat_f64s(0.0); ORDER];
        let (full, last) = S::as_simd_f64s(self.nominal);
        let (blocks, _) = pulp::as_arrays::<ORDER, _>(S::as_simd_f64s(self.basis).0);
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
}

/// ln Σ y⁰e^{tw}, and the mean and variance of w under y⁰e^{tw}, from a row's moments.
#[inline(always)]
pub(super) fn tilted(moments: &[f64; ORDER], cell: usize, delta: f64) -> [f64; 3] {
    let (mut s0, mut s1, mut s2) = (0.0, 0.0, 0.0);
    for j in (1..ORDER).rev() {
        s2 = s2 * delta + s1;
        s1 = s1 * delta + s0;
        s0 = s0 * delta + moments[j];
    }
    s2 = s2 * delta + s1;
    s1 = s1 * delta + s0;
    let rest = s0 * delta;
    // In the first cell the sum is one plus `rest`, whatever rounding made of Σy⁰.
    let (total, log) = if cell == 0 {
        (1.0 + rest, rest.ln_1p())
    } else {
        (moments[0] + rest, (moments[0] + rest).ln())
    };
    let mean = s1 / total;
    [log, mean, (2.0 * s2 / total - mean * mean).max(0.0)]
}
