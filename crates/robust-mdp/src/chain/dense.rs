//! A w = c by elimination without pivoting, A strictly diagonally dominant by rows (Golub & Van Loan,
//! *Matrix Computations*, 4th ed., §3.2 and §4.1).
//!
//! The rows of [A c] are reduced one panel of [`PANEL`] pivot rows at a time, so that forward substitution
//! is part of the elimination:
//!   l_ik = (a_ik − Σ_{j<k} l_ij u_jk)/u_kk,   a_ij −= Σ_k l_ik u_kj   for pivots k of the panel.
//! Eight rows below the panel go together, so that u_kj is read once for all of them. A row depends on the
//! panel and itself alone: threads share rows without changing a bit.
//!
//! One core with AVX-512, least of many solves in µs, beside faer 0.24, which pivots, and tiles of 8 × 24 in
//! 425 lines, which made dense solves 4 % faster:
//!
//! ```text
//! S          30     50    100    200    400    700   1000
//! here      2.3    5.3     21     95    590   2700   7600
//! tiles     1.8    3.9     13     65    410   1950   5700
//! faer      3.1    7.1     40    280   1470   5400  12800
//! ```

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use crate::lanes::{self, dispatch};
use crate::pool;

/// Pivot rows of a panel.
const PANEL: usize = 16;
/// Rows that are reduced together.
const GROUP: usize = 8;
/// Rows are padded to pairs of registers, of up to this many numbers.
const LANES: usize = 16;
/// Order from which threads pay.
const PARALLEL_FROM: usize = 400;

/// The rows, kept between solves.
#[derive(Debug, Default)]
pub(super) struct Dense {
    rows: Vec<f64>,
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
        let stride = (n + 1).next_multiple_of(LANES);
        self.rows.clear();
        self.rows.resize(n * stride, 0.0);
        for (s, row) in self.rows.chunks_exact_mut(stride).enumerate() {
            fill(s, &mut row[..n]);
            row[n] = cost[s];
        }
        let mut rest = &mut self.rows[..];
        for first in (0..n).step_by(PANEL) {
            if stop() {
                return;
            }
            let (panel, below) = rest.split_at_mut(PANEL.min(n - first) * stride);
            dispatch(Pivots { panel, first, stride });
            let panel = &*panel;
            let reduce = |rows| dispatch(Below { rows, panel, first, stride });
            if n >= PARALLEL_FROM && !pool::alone() {
                below.par_chunks_mut(GROUP * stride).for_each(reduce);
            } else {
                reduce(below);
            }
            rest = below;
        }
        dispatch(Backward { rows: &self.rows, w });
    }
}

/// Reduces the rows of a panel, which begins with pivot `first`, by each other.
struct Pivots<'a> {
    panel: &'a mut [f64],
    first: usize,
    stride: usize,
}

impl WithSimd for Pivots<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Pivots { panel, first, stride } = self;
        for i in 1..panel.len() / stride {
            let (pivots, row) = panel.split_at_mut(i * stride);
            reduce::<S, 1>(simd, &mut row[..stride], pivots, first, stride);
        }
    }
}

/// Reduces rows below a panel by it.
struct Below<'a> {
    rows: &'a mut [f64],
    panel: &'a [f64],
    first: usize,
    stride: usize,
}

impl WithSimd for Below<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Below { rows, panel, first, stride } = self;
        let mut groups = rows.chunks_exact_mut(GROUP * stride);
        for group in &mut groups {
            reduce::<S, GROUP>(simd, group, panel, first, stride);
        }
        for row in groups.into_remainder().chunks_exact_mut(stride) {
            reduce::<S, 1>(simd, row, panel, first, stride);
        }
    }
}

/// Takes finished pivot rows out of G rows. Columns up to the end of the register that holds the last
/// pivot are done one by one, all others in registers.
#[inline(always)]
fn reduce<S: Simd, const G: usize>(
    simd: S,
    rows: &mut [f64],
    pivots: &[f64],
    first: usize,
    stride: usize,
) {
    let count = pivots.len() / stride;
    let from = (first + count).next_multiple_of(LANES).min(stride);
    let mut factors = [[0.0; G]; PANEL];
    // Rows side by side, since what a row waits for is its last factor.
    for (k, (pivot, factors)) in pivots.chunks_exact(stride).zip(&mut factors).enumerate() {
        let at = first + k;
        let inverse = -1.0 / pivot[at];
        for (row, factor) in rows.chunks_exact_mut(stride).zip(factors) {
            *factor = row[at] * inverse;
            for (a, u) in row[at + 1..from].iter_mut().zip(&pivot[at + 1..from]) {
                *a += *factor * u;
            }
        }
    }
    let lanes = size_of::<S::f64s>() / 8;
    let at = |row: &[f64], j: usize| -> [S::f64s; 2] {
        let pair = S::as_simd_f64s(&row[j..j + 2 * lanes]).0;
        [pair[0], pair[1]]
    };
    for j in (from..stride).step_by(2 * lanes) {
        let mut sums = [[simd.splat_f64s(0.0); 2]; G];
        for (sum, row) in sums.iter_mut().zip(rows.chunks_exact(stride)) {
            *sum = at(row, j);
        }
        for (factors, pivot) in factors.iter().zip(pivots.chunks_exact(stride)) {
            let u = at(pivot, j);
            for (sum, factor) in sums.iter_mut().zip(factors) {
                let factor = simd.splat_f64s(*factor);
                sum[0] = simd.mul_add_e_f64s(factor, u[0], sum[0]);
                sum[1] = simd.mul_add_e_f64s(factor, u[1], sum[1]);
            }
        }
        for (sum, row) in sums.iter().zip(rows.chunks_exact_mut(stride)) {
            S::as_mut_simd_f64s(&mut row[j..j + 2 * lanes]).0.copy_from_slice(sum);
        }
    }
}

/// U w = L⁻¹c.
struct Backward<'a> {
    rows: &'a [f64],
    w: &'a mut [f64],
}

impl WithSimd for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Backward { rows, w } = self;
        let n = w.len();
        for (s, row) in rows.chunks_exact(rows.len() / n).enumerate().rev() {
            let known = lanes::dot(simd, &row[s + 1..n], &w[s + 1..]);
            w[s] = (row[n] - known) / row[s];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One thread, one target: what [`Dense::solve`] does by dispatch.
    fn assert_solves<S: Simd>(simd: S, n: usize) {
        let p = |s: usize, j: usize| ((s * 7 + j * 13) % 11) as f64;
        let sum = |s: usize| 1.0 + (0..n).map(|j| p(s, j)).sum::<f64>();
        let a = |s: usize, j: usize| f64::from(s == j) - 0.99 * p(s, j) / sum(s);
        let stride = (n + 1).next_multiple_of(LANES);
        let mut rows = vec![0.0; n * stride];
        for (s, row) in rows.chunks_exact_mut(stride).enumerate() {
            (0..n).for_each(|j| row[j] = a(s, j));
            row[n] = 1.0;
        }
        let mut rest = &mut rows[..];
        for first in (0..n).step_by(PANEL) {
            let (panel, below) = rest.split_at_mut(PANEL.min(n - first) * stride);
            simd.vectorize(Pivots { panel, first, stride });
            simd.vectorize(Below { rows: below, panel, first, stride });
            rest = below;
        }
        let mut w = vec![0.0; n];
        simd.vectorize(Backward { rows: &rows, w: &mut w });
        for s in 0..n {
            let image: f64 = (0..n).map(|j| a(s, j) * w[j]).sum();
            assert!((image - 1.0).abs() < 1e-12 * w[s].abs().max(1.0), "{n} {s}: {image}");
        }
    }

    #[test]
    fn every_target_solves() {
        for n in [1, 7, 8, 24, 95, 96, 97, 130] {
            assert_solves(pulp::Scalar::new(), n);
            #[cfg(target_arch = "x86_64")]
            {
                pulp::x86::V3::try_new().into_iter().for_each(|simd| assert_solves(simd, n));
                pulp::x86::V4::try_new().into_iter().for_each(|simd| assert_solves(simd, n));
            }
        }
    }
}
