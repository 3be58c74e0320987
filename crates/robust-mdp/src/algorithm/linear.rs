//! (I − λP)w = c for a stochastic S × S matrix P: the value of a frozen pair (x, y).
//!
//! I − λP is strictly diagonally dominant by rows, so that elimination needs no pivoting; up to
//! [`DENSE_LIMIT`] states it is done densely, beyond that by BiCGSTAB (van der Vorst 1992) from
//! the last w. An inexact solution costs sweeps, never correctness: bounds come from sweeps.

use pulp::{Simd, WithSimd};

use super::sweep::ChainShape;
use crate::lanes::dispatch;

/// Largest S that is solved by dense elimination.
const DENSE_LIMIT: usize = 700;
/// From this S on a chain with few entries is solved by BiCGSTAB.
const SPARSE_FROM: usize = 128;

const KRYLOV_STEPS: usize = 400;
const KRYLOV_TOLERANCE: f64 = 1e-13;

/// P by rows: dense, or as (columns, entries) where repeated columns add up.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) states: usize,
    /// Row starts; `None`: dense rows of length `states`.
    pub(crate) pointers: Option<Vec<usize>>,
    pub(crate) columns: Vec<u32>,
    pub(crate) entries: Vec<f64>,
    /// One-step cost c.
    pub(crate) cost: Vec<f64>,
    /// Work done so far, in row entries.
    pub(crate) work: u64,
}

impl Chain {
    /// `capacity(s)` bounds the entries of row s; rows are dense when they are not much sparser.
    pub(crate) fn new(states: usize, capacity: impl Fn(usize) -> usize) -> Chain {
        let total: usize = (0..states).map(&capacity).sum();
        let cost = vec![0.0; states];
        let sparse = states > SPARSE_FROM && 8 * total < states * states;
        if !sparse && states <= DENSE_LIMIT || 2 * total >= states * states {
            let entries = vec![0.0; states * states];
            return Chain { states, pointers: None, columns: Vec::new(), entries, cost, work: 0 };
        }
        let mut pointers = vec![0];
        for s in 0..states {
            pointers.push(pointers[s] + capacity(s));
        }
        Chain {
            states,
            columns: vec![0; total],
            entries: vec![0.0; total],
            pointers: Some(pointers),
            cost,
            work: 0,
        }
    }

    /// No rows at all, for an operator that borrows another's chain.
    pub(crate) fn empty() -> Chain {
        Chain::new(0, |_| 0)
    }

    /// Where row `s` lies.
    pub(crate) fn span(&self, s: usize) -> std::ops::Range<usize> {
        match &self.pointers {
            None => s * self.states..(s + 1) * self.states,
            Some(pointers) => pointers[s]..pointers[s + 1],
        }
    }

    /// How the rows are stored, for sweeps that fill them.
    pub(crate) fn shape(pointers: &Option<Vec<usize>>, states: usize) -> ChainShape<'_> {
        match pointers {
            None => ChainShape::Dense(states),
            Some(pointers) => ChainShape::Sparse(pointers),
        }
    }

    /// Solves (I − λP)w = c, starting from the w given. Dense elimination overwrites P.
    pub(crate) fn solve(&mut self, discount: f64, w: &mut [f64]) {
        if self.pointers.is_none() && self.states <= DENSE_LIMIT {
            let Chain { states, entries, cost, .. } = self;
            dispatch(Elimination { states: *states, entries, cost, discount, w });
            // n³/3 multiply–adds on whole registers cost about a sixth of as many row entries.
            self.work += (self.states as u64).pow(3) / 18;
        } else {
            self.bicgstab(discount, w);
        }
    }

    /// out = (I − λP)w.
    fn apply(&self, discount: f64, w: &[f64], out: &mut [f64]) {
        for (s, out) in out.iter_mut().enumerate() {
            let row = &self.entries[self.span(s)];
            let expected: f64 = match &self.pointers {
                None => row.iter().zip(w).map(|(p, w)| p * w).sum(),
                Some(_) => {
                    let columns = &self.columns[self.span(s)];
                    row.iter().zip(columns).map(|(p, &j)| p * w[j as usize]).sum()
                }
            };
            *out = w[s] - discount * expected;
        }
    }

    fn bicgstab(&mut self, discount: f64, w: &mut [f64]) {
        let n = self.states;
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let largest = |a: &[f64]| a.iter().fold(0.0_f64, |m, a| m.max(a.abs()));
        let mut r = vec![0.0; n];
        self.apply(discount, w, &mut r);
        for (r, c) in r.iter_mut().zip(&self.cost) {
            *r = c - *r;
        }
        let goal = KRYLOV_TOLERANCE * largest(&self.cost).max(largest(w) * (1.0 - discount));
        let shadow = r.clone();
        let (mut p, mut q, mut t) = (r.clone(), vec![0.0; n], vec![0.0; n]);
        let mut rho = dot(&shadow, &r);
        let (mut best, mut best_residual) = (w.to_vec(), largest(&r));
        let mut products = 1;
        for _ in 0..KRYLOV_STEPS {
            if best_residual <= goal || rho == 0.0 {
                break;
            }
            products += 2;
            self.apply(discount, &p, &mut q);
            let alpha = rho / dot(&shadow, &q);
            for i in 0..n {
                r[i] -= alpha * q[i]; // r is now s
                w[i] += alpha * p[i];
            }
            self.apply(discount, &r, &mut t);
            let omega = dot(&t, &r) / dot(&t, &t).max(f64::MIN_POSITIVE);
            for i in 0..n {
                w[i] += omega * r[i];
                r[i] -= omega * t[i];
            }
            let residual = largest(&r);
            if !residual.is_finite() {
                break;
            }
            if residual < best_residual {
                best_residual = residual;
                best.copy_from_slice(w);
            }
            let next = dot(&shadow, &r);
            let beta = next / rho * alpha / omega;
            rho = next;
            for i in 0..n {
                p[i] = r[i] + beta * (p[i] - omega * q[i]);
            }
            if !beta.is_finite() {
                break;
            }
        }
        w.copy_from_slice(&best);
        self.work += products * (self.entries.len() + 6 * n) as u64;
    }
}

/// Gaussian elimination without pivoting, compiled for the best instruction set.
struct Elimination<'a> {
    states: usize,
    entries: &'a mut [f64],
    cost: &'a [f64],
    discount: f64,
    w: &'a mut [f64],
}

impl WithSimd for Elimination<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Elimination { states: n, entries: a, cost, discount, w } = self;
        for (i, row) in a.chunks_exact_mut(n).enumerate() {
            row.iter_mut().for_each(|p| *p *= -discount);
            row[i] += 1.0;
        }
        w.copy_from_slice(cost);
        for k in 0..n {
            let (upper, lower) = a.split_at_mut((k + 1) * n);
            let pivot = &upper[k * n..];
            let inverse = 1.0 / pivot[k];
            let pivot_w = w[k];
            for (i, row) in lower.chunks_exact_mut(n).enumerate() {
                let factor = row[k] * inverse;
                if factor != 0.0 {
                    for (r, p) in row[k + 1..].iter_mut().zip(&pivot[k + 1..]) {
                        *r -= factor * p;
                    }
                    w[k + 1 + i] -= factor * pivot_w;
                }
            }
        }
        for i in (0..n).rev() {
            let row = &a[i * n..(i + 1) * n];
            let known: f64 = row[i + 1..].iter().zip(&w[i + 1..]).map(|(a, w)| a * w).sum();
            w[i] = (w[i] - known) / row[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random_chain(states: usize, width: usize) -> Chain {
        let mut seed = states as u64 + 7;
        let mut uniform = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut chain = Chain::new(states, |_| width);
        for s in 0..states {
            let weights: Vec<f64> = (0..width).map(|_| uniform() + 0.01).collect();
            let total: f64 = weights.iter().sum();
            let start = chain.span(s).start;
            for (j, weight) in weights.iter().enumerate() {
                let next = (uniform() * states as f64) as usize;
                if chain.pointers.is_some() {
                    chain.columns[start + j] = next as u32;
                    chain.entries[start + j] = weight / total;
                } else {
                    chain.entries[start + next] += weight / total;
                }
            }
            chain.cost[s] = 10.0 * uniform() - 3.0;
        }
        chain
    }

    #[test]
    fn both_solvers_leave_a_small_residual() {
        for (states, width) in [(1, 1), (2, 2), (50, 7), (200, 5), (300, 40), (900, 5), (3000, 6)] {
            for discount in [0.0, 0.5, 0.99, 0.9999] {
                let mut chain = random_chain(states, width);
                let reference = random_chain(states, width);
                let mut w = vec![0.0; states];
                chain.solve(discount, &mut w);
                let mut applied = vec![0.0; states];
                reference.apply(discount, &w, &mut applied);
                let size = w.iter().fold(1.0_f64, |m, w| m.max(w.abs()));
                for (a, c) in applied.iter().zip(&reference.cost) {
                    assert!((a - c).abs() <= 1e-11 * size, "{states} {discount}: {a} {c}");
                }
            }
        }
    }
}
