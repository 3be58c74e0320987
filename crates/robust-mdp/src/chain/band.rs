//! (I − λP)w = c for a chain that only moves to states near by: elimination within the band.
//!
//! The matrix is an M-matrix, given by what lies off its diagonal (q = λp ≥ 0, meant with a minus)
//! and by its row sums e (1 − λ, or 1 in a state that leads nowhere). Eliminating column k from row
//! i adds f = q_ik / d_k times row k to row i: q_ij += f·q_kj and e_i += f·e_k, with pivots
//! d_k = e_k + Σ_{j>k} q_kj. Nothing is ever subtracted (Grassmann, Taksar and Heyman 1985; Alfa, Xue
//! and Ye 2002), so that factors have full relative accuracy whatever λ is.
//!
//! Half of the states are eliminated downwards and half upwards, which two threads share; the few
//! states where they meet are solved last. Rows are stored in 2b + 1 places, those of the lower half
//! back to front: one walk serves both.

use crate::pool;

/// Places of a band against the entries that a sparse chain, its factors and vectors would take.
const PLACES: usize = 6;
/// A row's mass that is nearer to 1 than this is 1.
const MASS: f64 = 1e-4;

/// Whether rows of `total` entries in all are better stored as a band of this reach.
pub(super) fn serves(states: usize, total: usize, reach: usize) -> bool {
    states >= 8 * (reach + 1) && (2 * reach + 1) * states <= PLACES * (total + states)
}

/// What elimination costs, in row entries.
pub(super) fn price(states: usize, reach: usize) -> u64 {
    (states * (4 * reach + 2 + reach * reach / 8)) as u64
}

/// w = (I − λP)⁻¹w; the factors take the place of P.
pub(super) fn solve(p: &mut [f64], reach: usize, discount: f64, w: &mut [f64]) {
    let width = 2 * reach + 1;
    // Each half ends with `reach` rows that the other one sees.
    let cut = w.len() / 2;
    let (upper, lower) = p.split_at_mut(cut * width);
    let (upper_w, lower_w) = w.split_at_mut(cut);
    let eliminate = |p: &mut [f64], w: &mut [f64]| {
        let mut half = Half { p, reach };
        half.load(discount);
        let excess = half.eliminate();
        half.forward(w);
        excess
    };
    let (upper_excess, lower_excess) = pool::join(
        || eliminate(upper, upper_w),
        || {
            lower.reverse();
            lower_w.reverse();
            eliminate(lower, lower_w)
        },
    );
    let halves = [Half { p: upper, reach }, Half { p: lower, reach }];
    let mut middle = Middle::new(&halves, [upper_excess, lower_excess]);
    middle.solve([upper_w, lower_w]);
    let [upper, lower] = halves;
    pool::join(
        || upper.backward(upper_w),
        || {
            lower.backward(lower_w);
            lower_w.reverse();
        },
    );
}

/// Half of the rows, from the border to the middle. The last `reach` of them are not eliminated.
struct Half<'p> {
    p: &'p mut [f64],
    reach: usize,
}

impl Half<'_> {
    fn len(&self) -> usize {
        self.p.len() / (2 * self.reach + 1)
    }

    /// Rows that are eliminated.
    fn pivots(&self) -> usize {
        self.len() - self.reach
    }

    fn row(&self, i: usize) -> &[f64] {
        let width = 2 * self.reach + 1;
        &self.p[i * width..(i + 1) * width]
    }

    /// Turns P into q off the diagonal and row sums on it.
    fn load(&mut self, discount: f64) {
        let reach = self.reach;
        for row in self.p.chunks_exact_mut(2 * reach + 1) {
            let mass: f64 = row.iter().sum();
            let sum =
                if (1.0 - mass).abs() <= MASS { 1.0 - discount } else { 1.0 - discount * mass };
            row.iter_mut().for_each(|p| *p *= discount);
            row[reach] = sum;
        }
    }

    /// Eliminates all columns of pivots: factors f before the diagonal, q after it, 1/d on it.
    /// Returns the row sums of the last rows.
    fn eliminate(&mut self) -> Vec<f64> {
        let (reach, pivots) = (self.reach, self.pivots());
        let width = 2 * reach + 1;
        // The row sums of the last rows that were pivots.
        let mut sums = vec![0.0_f64; reach.max(1)];
        let mut last = Vec::with_capacity(reach);
        for i in 0..self.len() {
            let (before, rest) = self.p.split_at_mut(i * width);
            let row = &mut rest[..width];
            let mut sum = row[reach];
            for k in i.saturating_sub(reach)..i.min(pivots) {
                let pivot = &before[k * width..(k + 1) * width];
                let at = k + reach - i;
                let factor = row[at] * pivot[reach];
                row[at] = factor;
                if factor == 0.0 {
                    continue;
                }
                // The diagonal takes its part too, but is made of the row sum alone.
                for (q, more) in row[at + 1..].iter_mut().zip(&pivot[reach + 1..]) {
                    *q += factor * more;
                }
                sum += factor * sums[k % reach.max(1)];
            }
            row[reach] = sum;
            if i < pivots {
                let after: f64 = row[reach + 1..].iter().sum();
                row[reach] = 1.0 / (sum + after);
                sums[i % reach.max(1)] = sum;
            } else {
                last.push(sum);
            }
        }
        last
    }

    /// w ← L⁻¹w.
    fn forward(&self, w: &mut [f64]) {
        let (reach, pivots) = (self.reach, self.pivots());
        for i in 1..self.len() {
            let (from, to) = (i.saturating_sub(reach), i.min(pivots));
            let factors = &self.row(i)[from + reach - i..to.max(from) + reach - i];
            w[i] += dot(factors, &w[from..]);
        }
    }

    /// w ← U⁻¹w, from the last rows on.
    fn backward(&self, w: &mut [f64]) {
        let reach = self.reach;
        for i in (0..self.pivots()).rev() {
            let row = self.row(i);
            w[i] = (w[i] + dot(&row[reach + 1..], &w[i + 1..])) * row[reach];
        }
    }
}

/// Σ a_j b_j over a.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (full, last) = a.as_chunks::<4>();
    let (full_b, last_b) = b[..a.len()].as_chunks::<4>();
    for (a, b) in full.iter().zip(full_b) {
        (0..4).for_each(|j| sums[j] += a[j] * b[j]);
    }
    for (a, b) in last.iter().zip(last_b) {
        sums[0] += a * b;
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// The states where the halves meet, those of the lower half back to front: a dense system of the
/// same kind.
struct Middle {
    q: Vec<f64>,
    sums: Vec<f64>,
    reach: usize,
}

impl Middle {
    fn new(halves: &[Half<'_>; 2], sums: [Vec<f64>; 2]) -> Middle {
        let reach = halves[0].reach;
        let n = 2 * reach;
        let mut q = vec![0.0; n * n];
        for (h, half) in halves.iter().enumerate() {
            for i in 0..reach {
                let row = half.row(half.pivots() + i);
                for j in (0..n).filter(|&j| j != i && i + reach >= j) {
                    // The other half counts on beyond the last row of this one, backwards.
                    let column =
                        if j < reach { h * reach + j } else { (1 - h) * reach + n - 1 - j };
                    q[(h * reach + i) * n + column] = row[j + reach - i];
                }
            }
        }
        let sums = sums.concat();
        Middle { q, sums, reach }
    }

    /// Solves for the last `reach` values of both halves.
    fn solve(&mut self, w: [&mut [f64]; 2]) {
        let (reach, n) = (self.reach, 2 * self.reach);
        let [upper, lower] = w.map(|w| {
            let pivots = w.len() - reach;
            &mut w[pivots..]
        });
        let mut x: Vec<f64> = upper.iter().chain(&*lower).copied().collect();
        for k in 0..n {
            let (above, below) = self.q.split_at_mut((k + 1) * n);
            let pivot = &above[k * n..];
            let inverse = 1.0 / (self.sums[k] + pivot[k + 1..].iter().sum::<f64>());
            for (i, row) in (k + 1..).zip(below.chunks_exact_mut(n)) {
                let factor = row[k] * inverse;
                row[k + 1..]
                    .iter_mut()
                    .zip(&pivot[k + 1..])
                    .for_each(|(q, more)| *q += factor * more);
                self.sums[i] += factor * self.sums[k];
                x[i] += factor * x[k];
            }
        }
        for k in (0..n).rev() {
            let after = &self.q[k * n + k + 1..(k + 1) * n];
            let known: f64 = after.iter().zip(&x[k + 1..]).map(|(q, x)| q * x).sum();
            x[k] = (x[k] + known) / (self.sums[k] + after.iter().sum::<f64>());
        }
        upper.copy_from_slice(&x[..reach]);
        lower.copy_from_slice(&x[reach..]);
    }
}
