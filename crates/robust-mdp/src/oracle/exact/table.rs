//! Exponential moments of dense rows from shared Taylor bases.
//!
//! All rows of a dense model share w = λ(v − max v), −range ≤ w ≤ 0, so that e^{tw} for t near a grid
//! point t_c is, with h = range/2,
//!   e^{tw_i} = e^{−(t − t_c)h}·Σ_j φ_j(i)·(t − t_c)^j,  φ_j(i) = e^{t_c·w_i}·(w_i + h)^j/j!,
//! with bases φ that serve every row of every state. The moments M_j = ⟨y⁰, φ_j⟩ of a row, one pass
//! of [`ORDER`] dot products, then give Σ y⁰e^{tw} and its derivatives at any t near t_c without
//! another look at the row. With |t − t_c|·range ≤ [`REACH`] the series is truncated at a relative
//! error of (REACH/2)⁸/8! < 1e-16, its derivative at (REACH/2)⁷/7! < 2e-14 of the range. Where answers
//! need not be as narrow as that, cells are wider, and bounds allow for the rest of the series: with
//! z = |t − t_c|·h it is at most z⁸/8!·e²ᶻ of the sum and, with the mean no larger than h in size,
//!   |error of ψ'| ≤ h·(z⁷/7! + z⁸/8!)·e²ᶻ/(1 − z⁸/8!·e²ᶻ),  |error of ψ| ≤ −ln(1 − z⁸/8!·e²ᶻ);
//! up to z = ¾ these are below h·[`REST`]·z⁷ and [`REST`]·z⁸/8.

use pulp::{Simd, WithSimd};

use super::active::PADDING;
use crate::lanes::exp;
use crate::rows::SweepValues;

/// Terms of the series.
pub(super) const ORDER: usize = 8;
/// Moments serve t this far from the middle of their cell, in units of t·range, at least and at most.
pub(super) const REACH: f64 = 0.0703125;
const FARTHEST_REACH: f64 = 1.5;
/// Width of a cell against that: rows that moved a little need not be read again.
const CELL: f64 = 1.0 / 0.5625;
/// Cells beyond this t·range are not tabulated.
const STEEPEST: f64 = 64.0;
const CELLS: usize = (STEEPEST / (CELL * REACH)) as usize;
/// See above.
pub(super) const REST: f64 = 1.1e-3;
/// The share of a tolerance that the rest of the series may take in one row's value; in a state's it
/// is a few times as much.
const SHARE: f64 = 1.0 / 8.0;

/// How far moments may serve where answers need be no narrower than this.
pub(super) fn reach(tolerance: f64, range: f64) -> f64 {
    let rest = |reach: f64| 0.5 * range * REST * (0.5 * reach).powi(7);
    let mut reach = REACH;
    while reach < FARTHEST_REACH && rest(1.25 * reach) <= SHARE * tolerance {
        reach = (1.25 * reach).min(FARTHEST_REACH);
    }
    reach
}

/// Bases of the cells used so far, for one value vector.
#[derive(Debug, Default)]
pub(super) struct MomentTable {
    /// By state, φ_0 to φ_7 next to each other; then φ_0 of all states.
    bases: Vec<Vec<f64>>,
    /// Sweep for which a cell was filled; 0: never.
    filled: Vec<u64>,
    /// By state, (w + h)^j/j! next to each other, and the sweep for which they were computed.
    powers: Vec<f64>,
    powers_filled: u64,
    /// Cells of the rows to be read, the first row of each and the next one after a row.
    used: Vec<u32>,
    first: Vec<u32>,
    next: Vec<u32>,
}

const NONE: u32 = u32::MAX;

/// What cells are made for: w with their spread, how far moments serve, and the number of the sweep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid<'a> {
    pub(super) w: &'a [f64],
    pub(super) range: f64,
    pub(super) reach: f64,
    pub(super) stamp: u64,
}

impl Grid<'_> {
    pub(super) fn of(values: &SweepValues) -> Grid<'_> {
        let reach = match values.tolerance > 0.0 {
            true => reach(values.tolerance, values.range),
            false => REACH,
        };
        Grid { w: &values.shared, range: values.range, reach, stamp: values.stamp }
    }

    /// The cell of t; `None` beyond the table.
    #[inline(always)]
    fn cell(&self, t: f64) -> Option<usize> {
        let steep = t * self.range;
        (steep <= STEEPEST).then(|| (steep * (1.0 / (CELL * self.reach)) + 0.5) as u32 as usize)
    }

    /// The t_c of a cell.
    #[inline(always)]
    fn middle_of(&self, cell: usize) -> f64 {
        cell as f64 * (CELL * self.reach) / self.range
    }
}

impl MomentTable {
    fn prepare(&mut self) {
        if self.bases.is_empty() {
            self.bases = vec![Vec::new(); CELLS + 1];
            self.filled = vec![0; CELLS + 1];
            self.first = vec![NONE; CELLS + 1];
        }
    }

    /// Strings the rows of each cell together; those beyond the table stay in `stale`.
    fn sort(&mut self, stale: &mut Vec<u32>, t: &[f64], grid: &Grid<'_>) {
        self.prepare();
        if self.next.len() < t.len() {
            self.next.resize(t.len(), NONE);
        }
        self.used.resize(stale.len() + 1, 0);
        let MomentTable { first, next, used, .. } = self;
        let (mut cells, mut left) = (0, 0);
        for i in 0..stale.len() {
            let j = stale[i];
            let Some(cell) = grid.cell(t[j as usize]) else {
                stale[left] = j;
                left += 1;
                continue;
            };
            used[cells] = cell as u32;
            cells += usize::from(first[cell] == NONE);
            next[j as usize] = first[cell];
            first[cell] = j;
        }
        used.truncate(cells);
        stale.truncate(left);
    }

    /// The bases of a cell at these w, computed on first use in a sweep.
    #[inline(always)]
    fn fill<S: Simd>(&mut self, simd: S, cell: usize, grid: &Grid<'_>) {
        let Grid { w, range, stamp, .. } = *grid;
        if self.filled[cell] == stamp {
            return;
        }
        self.filled[cell] = stamp;
        if self.powers_filled != stamp {
            self.powers_filled = stamp;
            self.powers.resize(w.len() * ORDER, 0.0);
            for (powers, &w) in self.powers.chunks_exact_mut(ORDER).zip(w) {
                let mut term = 1.0;
                for (j, power) in powers.iter_mut().enumerate() {
                    *power = term;
                    term *= (w + 0.5 * range) * (1.0 / (j + 1) as f64);
                }
            }
        }
        let basis = &mut self.bases[cell];
        basis.resize(w.len() * (ORDER + 1), 0.0);
        let (products, first) = basis.split_at_mut(w.len() * ORDER);
        let t = simd.splat_f64s(grid.middle_of(cell));
        let (full, rest) = S::as_simd_f64s(w);
        let (out, out_rest) = S::as_mut_simd_f64s(first);
        for (&w, out) in full.iter().zip(out) {
            *out = exp(simd, simd.mul_f64s(t, w));
        }
        if !rest.is_empty() {
            let last = exp(simd, simd.mul_f64s(t, simd.partial_load_f64s(rest)));
            simd.partial_store_f64s(out_rest, last);
        }
        let products = products.chunks_exact_mut(ORDER).zip(self.powers.chunks_exact(ORDER));
        for ((product, power), &e) in products.zip(&*first) {
            let e = simd.splat_f64s(e);
            let power = S::as_simd_f64s(power).0;
            for (product, &power) in S::as_mut_simd_f64s(product).0.iter_mut().zip(power) {
                *product = simd.mul_f64s(e, power);
            }
        }
    }
}

/// What the moments of rows are read from.
pub(super) struct MomentPass<'a> {
    pub(super) table: &'a mut MomentTable,
    pub(super) grid: Grid<'a>,
    /// y⁰ of all rows of the state.
    pub(super) nominal: &'a [f64],
    /// Places among the active rows that are to be read; those beyond the table are left.
    pub(super) stale: &'a mut Vec<u32>,
    pub(super) row: &'a [u32],
    pub(super) t: &'a [f64],
    pub(super) centre: &'a mut [f64],
    /// As in [`super::tilt::Cumulants`].
    pub(super) moments: &'a mut [f64],
}

impl WithSimd for MomentPass<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let MomentPass { table, grid, nominal, stale, row, t, centre, moments } = self;
        let width = grid.w.len();
        // As many sums as there are registers.
        let most = if size_of::<S::f64s>() == 8 * ORDER { GROUP } else { GROUP / 2 };
        table.sort(stale, t, &grid);
        for i in 0..table.used.len() {
            let cell = table.used[i] as usize;
            let middle = grid.middle_of(cell);
            table.fill(simd, cell, &grid);
            let basis = &table.bases[cell][..width * ORDER];
            let y0 = |j: u32| &nominal[row[j as usize] as usize * width..][..width];
            let mut next = table.first[cell];
            table.first[cell] = NONE;
            while next != NONE {
                let mut some = [next; GROUP];
                let mut count = 0;
                while count < most && next != NONE {
                    some[count] = next;
                    next = table.next[next as usize];
                    count += 1;
                }
                let mut keep = |j: u32, sums: [f64; ORDER]| {
                    centre[j as usize] = middle;
                    let moments = &mut moments[block(j as usize)];
                    for (order, sum) in sums.into_iter().enumerate() {
                        moments[order * PADDING + j as usize % PADDING] = sum;
                    }
                };
                macro_rules! read {
                    ($rows:literal, $chains:literal) => {{
                        let some: [u32; $rows] = std::array::from_fn(|k| some[k]);
                        let sums = row_moments::<S, $rows, $chains>(simd, some.map(y0), basis);
                        some.iter().zip(sums).for_each(|(&j, sums)| keep(j, sums));
                    }};
                }
                // Where a group is not full its first row is read again.
                match count {
                    1 => read!(1, 8),
                    2 => read!(2, 4),
                    3 => read!(3, 2),
                    4 => read!(4, 2),
                    5 | 6 => read!(6, 1),
                    _ => read!(8, 1),
                }
            }
        }
    }
}

/// Rows of a cell that are read together: the more, the better they come from memory.
const GROUP: usize = 8;

/// Where the moments of row j lie, interleaved with those of its neighbours.
#[inline(always)]
pub(super) fn block(j: usize) -> std::ops::Range<usize> {
    let start = j / PADDING * (PADDING * ORDER);
    start..start + PADDING * ORDER
}

/// M_j of N rows; lanes are the orders j, and C sums of each row run side by side.
#[inline(always)]
fn row_moments<S: Simd, const N: usize, const C: usize>(
    simd: S,
    nominal: [&[f64]; N],
    basis: &[f64],
) -> [[f64; ORDER]; N] {
    let registers = ORDER * 8 / size_of::<S::f64s>();
    // Short registers have enough chains of their own, and there are fewer of them.
    let chains = (C / registers).max(1);
    let mut sums = [[[simd.splat_f64s(0.0); ORDER]; C]; N];
    let width = nominal[0].len();
    let nominal = nominal.map(|y| &y[..width]);
    let basis = &S::as_simd_f64s(basis).0[..width * registers];
    let mut i = 0;
    while i + chains <= width {
        for c in 0..chains {
            for r in 0..registers {
                let phi = basis[(i + c) * registers + r];
                for k in 0..N {
                    let y = simd.splat_f64s(nominal[k][i + c]);
                    sums[k][c][r] = simd.mul_add_e_f64s(y, phi, sums[k][c][r]);
                }
            }
        }
        i += chains;
    }
    while i < width {
        for r in 0..registers {
            let phi = basis[i * registers + r];
            for k in 0..N {
                let y = simd.splat_f64s(nominal[k][i]);
                sums[k][0][r] = simd.mul_add_e_f64s(y, phi, sums[k][0][r]);
            }
        }
        i += 1;
    }
    let mut out = [[0.0; ORDER]; N];
    for k in 0..N {
        for (r, out) in S::as_mut_simd_f64s(&mut out[k]).0.iter_mut().enumerate() {
            *out = sums[k][0][r];
            for c in 1..chains {
                *out = simd.add_f64s(*out, sums[k][c][r]);
            }
        }
    }
    out
}
