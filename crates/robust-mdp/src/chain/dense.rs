//! A w = c by elimination without pivoting, A = LU strictly diagonally dominant by rows
//! (Golub & Van Loan, *Matrix Computations*, 4th ed., §3.2 and §4.1).
//!
//! The matrix [A c; 0 1] is kept in tiles of 8 × 24, row block by row block, so that forward
//! substitution is part of the elimination. Eight rows at a time:
//!
//! ```text
//! factors     −L_IK = −(A_IK − Σ_{J<K} L_IJ U_JK) U_KK⁻¹       K = the pivot blocks of a panel
//! update      A_IJ += Σ_K (−L_IK) U_KJ                         J right of the panel
//! ```
//!
//! Pivot rows are finished one panel at a time; the rows below a panel depend on it alone, so
//! that threads share them without changing a bit. Inverting the 8 × 8 blocks U_KK is harmless:
//! A is an M-matrix, hence U_KK has positive diagonal, nothing positive beside it, and neither
//! its inverse nor the product with it sees a cancellation.
//!
//! One Zen 4 core with AVX-512, minimum of many solves, beside faer 0.24 (which pivots):
//!
//! ```text
//! S               50     100     200     400     700    1000    2000
//! here, µs       6.4      23     134     940    4800   15000  127000
//! Gflop/s         13      28      40      45      47      45      42
//! faer, µs        12      47     221    1290    7400   21000  130000
//! ```

#[cfg(test)]
mod tests;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use crate::lanes::dispatch;
use crate::pool;

/// Rows of a tile, and order of a pivot block.
const BLOCK: usize = 8;
/// Pivot blocks across a tile.
const ACROSS: usize = 3;
/// Columns of a tile.
const STRIP: usize = ACROSS * BLOCK;
/// Pivot blocks of a panel: U_KJ of one strip (18 KiB) stays in the first-level cache.
const PANEL: usize = 4 * ACROSS;
/// Row blocks that a task takes.
const GRAIN: usize = 4;
/// Order from which threads pay.
const PARALLEL_FROM: usize = 400;

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Tile([[f64; STRIP]; BLOCK]);

/// Factors −L_IK (row of I, column of K) or inverses −U_KK⁻¹.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Square([[f64; BLOCK]; BLOCK]);

const ZERO: Square = Square([[0.0; BLOCK]; BLOCK]);

/// The tiles, kept between solves.
#[derive(Debug, Default)]
pub(super) struct Dense {
    tiles: Vec<Tile>,
    inverses: Vec<Square>,
    w: Vec<f64>,
}

impl Dense {
    /// Solves A w = c; `fill(s, row)` writes row s of A over zeros. Once `stop` says so, w stays as it
    /// was.
    pub(super) fn solve(
        &mut self,
        cost: &[f64],
        w: &mut [f64],
        fill: impl Fn(usize, &mut [f64]),
        stop: &(dyn Fn() -> bool + Sync),
    ) {
        let n = cost.len();
        let shape = Shape::new(n);
        self.tiles.resize(shape.blocks * shape.stride, Tile([[0.0; STRIP]; BLOCK]));
        self.inverses.resize(shape.blocks, ZERO);
        self.w.resize(shape.stride * STRIP, 0.0);
        self.load(shape, cost, fill);
        let mut rest = &mut self.tiles[..];
        for (panel, inverses) in self.inverses.chunks_mut(PANEL).enumerate() {
            if stop() {
                return;
            }
            let (rows, below) = rest.split_at_mut(inverses.len() * shape.stride);
            let first = panel * PANEL;
            dispatch(Pivots { shape, first, rows, inverses });
            let (pivots, inverses) = (&*rows, &*inverses);
            let reduce = |rows| dispatch(Below { shape, first, rows, pivots, inverses });
            if n >= PARALLEL_FROM && !pool::alone() {
                below.par_chunks_mut(GRAIN * shape.stride).for_each(reduce);
            } else {
                reduce(below);
            }
            rest = below;
        }
        let (tiles, inverses) = (&self.tiles, &self.inverses);
        dispatch(Backward { shape, n, tiles, inverses, w: &mut self.w });
        w.copy_from_slice(&self.w[..n]);
    }

    /// Writes [A c; 0 1] into the tiles.
    fn load(&mut self, shape: Shape, cost: &[f64], fill: impl Fn(usize, &mut [f64])) {
        let n = cost.len();
        let row = &mut self.w;
        for s in 0..shape.blocks * BLOCK {
            row.fill(0.0);
            match cost.get(s) {
                Some(&c) => {
                    fill(s, &mut row[..n]);
                    row[n] = c;
                }
                None => row[s] = 1.0,
            }
            let tiles = &mut self.tiles[s / BLOCK * shape.stride..];
            for (tile, part) in tiles.iter_mut().zip(row.chunks_exact(STRIP)) {
                tile.0[s % BLOCK].copy_from_slice(part);
            }
        }
    }
}

/// How many pivot blocks, and tiles from one row block to the next.
#[derive(Clone, Copy)]
struct Shape {
    blocks: usize,
    stride: usize,
}

impl Shape {
    fn new(n: usize) -> Shape {
        let blocks = (n + 1).div_ceil(BLOCK);
        // An odd stride spreads the tiles of a strip over all sets of a cache.
        Shape { blocks, stride: blocks.div_ceil(ACROSS) | 1 }
    }

    /// Column blocks in use in strip j.
    #[inline(always)]
    fn across(self, j: usize) -> usize {
        (self.blocks - (j * ACROSS).min(self.blocks)).min(ACROSS)
    }
}

/// Finishes the pivot rows of a panel that begins at pivot block `first`.
struct Pivots<'a> {
    shape: Shape,
    first: usize,
    rows: &'a mut [Tile],
    inverses: &'a mut [Square],
}

impl WithSimd for Pivots<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Pivots { shape, first, rows, inverses } = self;
        for q in 0..inverses.len() {
            let (pivots, row) = rows.split_at_mut(q * shape.stride);
            let row = &mut row[..shape.stride];
            reduce::<S, 1>(simd, shape, first, row, pivots, &inverses[..q]);
            finish(simd, shape, first + q, row, &mut inverses[q]);
        }
    }
}

/// Takes the pivot rows of a panel out of rows below it.
struct Below<'a> {
    shape: Shape,
    first: usize,
    rows: &'a mut [Tile],
    pivots: &'a [Tile],
    inverses: &'a [Square],
}

impl WithSimd for Below<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Below { shape, first, rows, pivots, inverses } = self;
        for group in rows.chunks_mut(GRAIN * shape.stride) {
            reduce::<S, GRAIN>(simd, shape, first, group, pivots, inverses);
        }
    }
}

/// Takes pivot blocks `first..` out of up to G row blocks, strip by strip, so that U_KJ is read
/// once for all of them.
#[inline(always)]
fn reduce<S: Simd, const G: usize>(
    simd: S,
    shape: Shape,
    first: usize,
    rows: &mut [Tile],
    pivots: &[Tile],
    inverses: &[Square],
) {
    let mut factors = [[ZERO; PANEL]; G];
    for j in first / ACROSS..shape.blocks.div_ceil(ACROSS) {
        let across = shape.across(j);
        let done = (j * ACROSS - first).min(inverses.len());
        for (row, factors) in rows.chunks_exact_mut(shape.stride).zip(&mut factors) {
            let tile = &mut row[j];
            update(simd, tile, 0..across, &factors[..done], pivots, shape.stride, j);
            for t in 0..ACROSS.min(inverses.len() - done) {
                let q = done + t;
                factors[q] = factor(simd, tile, t, &inverses[q]);
                let (known, pivot) = (&factors[q..=q], &pivots[q * shape.stride..]);
                update(simd, tile, t + 1..across, known, pivot, shape.stride, j);
            }
        }
    }
}

/// −L_IK = A_IK (−U_KK⁻¹) for column block `t` of a tile.
#[inline(always)]
fn factor<S: Simd>(simd: S, tile: &Tile, t: usize, inverse: &Square) -> Square {
    let lanes = size_of::<S::f64s>() / 8;
    let mut out = ZERO;
    for (out, row) in out.0.iter_mut().zip(&tile.0) {
        for v in 0..BLOCK / lanes {
            let mut sum = [simd.splat_f64s(0.0); 2];
            for k in 0..BLOCK {
                let u = S::as_simd_f64s(&inverse.0[k]).0[v];
                sum[k % 2] =
                    simd.mul_add_e_f64s(simd.splat_f64s(row[t * BLOCK + k]), u, sum[k % 2]);
            }
            S::as_mut_simd_f64s(out).0[v] = simd.add_f64s(sum[0], sum[1]);
        }
    }
    out
}

/// A_IJ += Σ_K (−L_IK) U_KJ in some column blocks of one tile, in registers.
#[inline(always)]
fn update<S: Simd>(
    simd: S,
    tile: &mut Tile,
    blocks: std::ops::Range<usize>,
    factors: &[Square],
    pivots: &[Tile],
    stride: usize,
    j: usize,
) {
    let of = |b: usize| b * BLOCK;
    match (size_of::<S::f64s>() / 8, blocks.len()) {
        (8, 3) => part::<S, 8, 3>(simd, tile, 0, of(blocks.start), factors, pivots, stride, j),
        (8, 2) => part::<S, 8, 2>(simd, tile, 0, of(blocks.start), factors, pivots, stride, j),
        (lanes, _) => {
            for b in blocks {
                if lanes == 8 {
                    part::<S, 8, 1>(simd, tile, 0, of(b), factors, pivots, stride, j);
                    continue;
                }
                for r in [0, 4] {
                    match lanes {
                        4 => part::<S, 4, 2>(simd, tile, r, of(b), factors, pivots, stride, j),
                        2 => part::<S, 4, 4>(simd, tile, r, of(b), factors, pivots, stride, j),
                        _ => part::<S, 4, 8>(simd, tile, r, of(b), factors, pivots, stride, j),
                    }
                }
            }
        }
    }
}

/// [`update`] of R rows from `top` on and V registers from column `left` on.
#[inline(always)]
fn part<S: Simd, const R: usize, const V: usize>(
    simd: S,
    tile: &mut Tile,
    top: usize,
    left: usize,
    factors: &[Square],
    pivots: &[Tile],
    stride: usize,
    j: usize,
) {
    let at = left / (size_of::<S::f64s>() / 8);
    let mut sum = [[simd.splat_f64s(0.0); V]; R];
    for (r, sum) in sum.iter_mut().enumerate() {
        let row = S::as_simd_f64s(&tile.0[top + r]).0;
        sum.copy_from_slice(&row[at..at + V]);
    }
    for (factor, pivot) in factors.iter().zip(pivots.chunks(stride)) {
        let pivot = &pivot[j].0;
        for k in 0..BLOCK {
            let u = &S::as_simd_f64s(&pivot[k]).0[at..at + V];
            for (r, sum) in sum.iter_mut().enumerate() {
                let l = simd.splat_f64s(factor.0[top + r][k]);
                for (sum, &u) in sum.iter_mut().zip(u) {
                    *sum = simd.mul_add_e_f64s(l, u, *sum);
                }
            }
        }
    }
    for (r, sum) in sum.iter().enumerate() {
        let row = S::as_mut_simd_f64s(&mut tile.0[top + r]).0;
        row[at..at + V].copy_from_slice(sum);
    }
}

/// A_II = L_II U_II, then U_IJ = L_II⁻¹ A_IJ to its right.
#[inline(always)]
fn finish<S: Simd>(simd: S, shape: Shape, i: usize, row: &mut [Tile], inverse: &mut Square) {
    let (j, t) = (i / ACROSS, i % ACROSS);
    let own = t * BLOCK..(t + 1) * BLOCK;
    let mut u = ZERO;
    for (u, row) in u.0.iter_mut().zip(&row[j].0) {
        u.copy_from_slice(&row[own.clone()]);
    }
    let l = split(&mut u, inverse);
    for (u, row) in u.0.iter().zip(&mut row[j].0) {
        row[own.clone()].copy_from_slice(u);
    }
    for b in t + 1..shape.across(j) {
        forward(simd, &mut row[j], b, &l);
    }
    for j in j + 1..shape.blocks.div_ceil(ACROSS) {
        for b in 0..shape.across(j) {
            forward(simd, &mut row[j], b, &l);
        }
    }
}

/// A pivot block becomes its U; returns −L below the diagonal, and sets −U⁻¹.
#[inline(always)]
fn split(u: &mut Square, inverse: &mut Square) -> Square {
    let mut l = ZERO;
    for k in 0..BLOCK {
        let pivot = u.0[k];
        let reciprocal = 1.0 / pivot[k];
        for r in k + 1..BLOCK {
            let f = -u.0[r][k] * reciprocal;
            l.0[r][k] = f;
            for c in 0..BLOCK {
                u.0[r][c] += f * pivot[c];
            }
            u.0[r][k] = 0.0;
        }
        // −1/u_kk waits here for the rows below it.
        inverse.0[k] = [0.0; BLOCK];
        inverse.0[k][k] = -reciprocal;
    }
    for k in (0..BLOCK).rev() {
        let scale = inverse.0[k][k];
        let mut sum = [0.0; BLOCK];
        for r in k + 1..BLOCK {
            for c in 0..BLOCK {
                sum[c] += u.0[k][r] * inverse.0[r][c];
            }
        }
        sum[k] = 1.0;
        inverse.0[k] = sum.map(|sum| sum * scale);
    }
    l
}

/// U_IJ = L_II⁻¹ A_IJ for one column block.
#[inline(always)]
fn forward<S: Simd>(simd: S, tile: &mut Tile, b: usize, l: &Square) {
    let lanes = size_of::<S::f64s>() / 8;
    for v in b * BLOCK / lanes..(b + 1) * BLOCK / lanes {
        let mut u = [simd.splat_f64s(0.0); BLOCK];
        for (u, row) in u.iter_mut().zip(&tile.0) {
            *u = S::as_simd_f64s(row).0[v];
        }
        for k in 0..BLOCK {
            for r in k + 1..BLOCK {
                u[r] = simd.mul_add_e_f64s(simd.splat_f64s(l.0[r][k]), u[k], u[r]);
            }
        }
        for (&u, row) in u.iter().zip(&mut tile.0) {
            S::as_mut_simd_f64s(row).0[v] = u;
        }
    }
}

/// U w = L⁻¹c: with w_n = −1 the right-hand side is one more column of U.
struct Backward<'a> {
    shape: Shape,
    n: usize,
    tiles: &'a [Tile],
    inverses: &'a [Square],
    w: &'a mut [f64],
}

impl WithSimd for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Backward { shape, n, tiles, inverses, w } = self;
        w.fill(0.0);
        w[n] = -1.0;
        for i in (0..shape.blocks).rev() {
            let (j, t) = (i / ACROSS, i % ACROSS);
            let row = &tiles[i * shape.stride..];
            let after = (i + 1) * BLOCK;
            for r in (0..BLOCK).rev().filter(|r| i * BLOCK + r < n) {
                let mut sum = [simd.splat_f64s(0.0); ACROSS];
                for (tile, w) in row.iter().zip(w.chunks_exact(STRIP)).skip(j + 1) {
                    for (v, (&u, &w)) in
                        S::as_simd_f64s(&tile.0[r]).0.iter().zip(S::as_simd_f64s(w).0).enumerate()
                    {
                        sum[v % ACROSS] = simd.mul_add_e_f64s(u, w, sum[v % ACROSS]);
                    }
                }
                let mut known =
                    simd.reduce_sum_f64s(simd.add_f64s(simd.add_f64s(sum[0], sum[1]), sum[2]));
                for (u, w) in
                    row[j].0[r][t * BLOCK + r + 1..].iter().zip(&w[after - BLOCK + r + 1..])
                {
                    known += u * w;
                }
                // inverse holds −1/u_rr.
                w[i * BLOCK + r] = known * inverses[i].0[r][r];
            }
        }
    }
}
