//! Exponential moments of dense rows from shared Taylor bases.
//!
//! All rows of a dense model share w = λ(v − max v), so that e^{tw} for t near a grid point t_c is
//!   e^{tw_i} = Σ_j φ_j(i)·(t − t_c)^j,  φ_j(i) = e^{t_c·w_i}·w_i^j/j!,
//! with bases φ that serve every row of every state. The moments M_j = ⟨y⁰, φ_j⟩ of a row, one pass
//! of [`ORDER`] dot products, then give Σ y⁰e^{tw} and its derivatives at any t near t_c without
//! another look at the row. With cells of [`CELL`]/range, |(t − t_c)w| ≤ CELL/2: the series is
//! truncated at a relative error of (CELL/2)⁸/8! < 6e-15.

use pulp::{Simd, WithSimd};

use crate::lanes::{exp, last};

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
    /// Cells of the rows to be read, the first row of each and the next one after a row.
    used: Vec<u32>,
    first: Vec<u32>,
    next: Vec<u32>,
}

const NONE: u32 = u32::MAX;

/// The cell of t; `None` beyond the table.
#[inline(always)]
fn cell(t: f64, range: f64) -> Option<usize> {
    let at = (t * range / CELL).round();
    (at <= CELLS as f64).then_some(at as usize)
}

impl Table {
    /// Strings the rows of each cell together; those beyond the table stay in `stale`.
    fn sort(&mut self, stale: &mut Vec<u32>, t: &[f64], range: f64) {
        if self.bases.is_empty() {
            self.bases = vec![Vec::new(); CELLS + 1];
            self.filled = vec![0; CELLS + 1];
            self.first = vec![NONE; CELLS + 1];
        }
        if self.next.len() < t.len() {
            self.next.resize(t.len(), NONE);
        }
        self.used.clear();
        let Table { first, next, used, .. } = self;
        stale.retain(|&j| {
            let Some(cell) = cell(t[j as usize], range) else { return true };
            if first[cell] == NONE {
                used.push(cell as u32);
            }
            next[j as usize] = first[cell];
            first[cell] = j;
            false
        });
    }

    /// The bases of a cell at these w, computed on first use in a sweep.
    #[inline(always)]
    fn fill<S: Simd>(&mut self, simd: S, cell: usize, middle: f64, w: &[f64], stamp: u64) {
        if self.filled[cell] == stamp {
            return;
        }
        self.filled[cell] = stamp;
        let basis = &mut self.bases[cell];
        let lanes = size_of::<S::f64s>() / 8;
        basis.resize(w.len().div_ceil(lanes) * lanes * ORDER, 0.0);
        let t = simd.splat_f64s(middle);
        let blocks = S::as_mut_simd_f64s(basis).0.chunks_exact_mut(ORDER);
        for (i, block) in blocks.enumerate() {
            let w = match w.get(i * lanes..(i + 1) * lanes) {
                Some(w) => S::as_simd_f64s(w).0[0],
                None => last(simd, w),
            };
            let mut term = exp(simd, simd.mul_f64s(t, w));
            for (j, out) in block.iter_mut().enumerate() {
                *out = term;
                let factor = simd.mul_f64s(w, simd.splat_f64s(1.0 / (j + 1) as f64));
                term = simd.mul_f64s(term, factor);
            }
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
        table.sort(stale, t, range);
        for i in 0..table.used.len() {
            let cell = table.used[i] as usize;
            let middle = cell as f64 * CELL / range;
            table.fill(simd, cell, middle, w, stamp);
            let basis = &table.bases[cell];
            let y0 = |j: usize| &nominal[row[j] as usize * width..][..width];
            let mut keep = |j: usize, sums: [S::f64s; ORDER]| {
                centre[j] = middle;
                for (moment, sum) in moments.iter_mut().zip(sums) {
                    moment[j] = simd.reduce_sum_f64s(sum);
                }
            };
            let mut next = table.first[cell];
            while next != NONE {
                let j = next as usize;
                next = table.next[j];
                if next == NONE {
                    let [sums] = row_moments(simd, [y0(j)], basis);
                    keep(j, sums);
                } else {
                    let other = next as usize;
                    next = table.next[other];
                    let [sums, others] = row_moments(simd, [y0(j), y0(other)], basis);
                    keep(j, sums);
                    keep(other, others);
                }
            }
            table.first[cell] = NONE;
        }
    }
}

/// M_j of N rows, register by register.
#[inline(always)]
fn row_moments<S: Simd, const N: usize>(
    simd: S,
    nominal: [&[f64]; N],
    basis: &[f64],
) -> [[S::f64s; ORDER]; N] {
    let mut sums = [[simd.splat_f64s(0.0); ORDER]; N];
    let lanes = size_of::<S::f64s>() / 8;
    let full = nominal[0].len() / lanes;
    let rows = nominal.map(|y| &S::as_simd_f64s(y).0[..full]);
    let (blocks, _) = pulp::as_arrays::<ORDER, _>(S::as_simd_f64s(basis).0);
    for (i, block) in blocks[..full].iter().enumerate() {
        for k in 0..N {
            let y = rows[k][i];
            for j in 0..ORDER {
                sums[k][j] = simd.mul_add_e_f64s(y, block[j], sums[k][j]);
            }
        }
    }
    if full * lanes < nominal[0].len() {
        // The last block holds the last entries where `last` puts them.
        let block = &blocks[full];
        for k in 0..N {
            let y = last(simd, nominal[k]);
            for j in 0..ORDER {
                sums[k][j] = simd.mul_add_e_f64s(y, block[j], sums[k][j]);
            }
        }
    }
    sums
}
