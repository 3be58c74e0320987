//! (I − λP)w = c for a stochastic S × S matrix P: the value of a frozen pair (x, y).
//!
//! I − λP is an M-matrix, strictly diagonally dominant by rows, so that elimination needs no
//! pivoting ([`dense`]); BiCGSTAB from the last w ([`krylov`]) is the other way. Elimination is
//! the rule where it costs no more than [`EAGER`] products with P: dense rows up to S ≈ 330.
//! Elsewhere BiCGSTAB goes first, and up to [`DENSE_LIMIT`] it gives way when it has cost as much
//! as elimination would, so that a solve takes at most twice the time of the better of the two.
//! An inexact solution costs sweeps, never correctness: bounds come from sweeps.

mod chunks;
mod dense;
mod incomplete;
mod krylov;
mod tail;
#[cfg(test)]
mod tests;

use super::sweep::ChainShape;
use crate::lanes::{self, dispatch};
use chunks::{Totals, for_each_chunk, gather};
use dense::Dense;
use krylov::Krylov;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use tail::Prefix;
pub(crate) use tail::{Tail, Tails};

/// Largest S that is solved by dense elimination: 200 MB of tiles, two seconds on one core.
const DENSE_LIMIT: usize = 5000;
/// From this S on rows with few entries are stored sparsely.
const SPARSE_FROM: usize = 128;
/// Products with P that elimination may cost to be chosen at once.
const EAGER: u64 = 20;
/// Entries of dense rows that make a task.
const DENSE_TASK: usize = 1 << 17;
/// Products with P before BiCGSTAB gives up where elimination is out of reach.
const PRODUCTS: usize = 1000;

/// P by rows: dense, or as (columns, entries) where repeated columns add up, plus tails.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    pub(crate) states: usize,
    /// Row starts; `None`: dense rows of length `states`.
    pub(crate) pointers: Option<Vec<usize>>,
    pub(crate) columns: Vec<u32>,
    pub(crate) entries: Vec<f64>,
    /// Further parts of the rows, if any.
    pub(crate) tails: Option<Tails>,
    /// One-step cost c.
    pub(crate) cost: Vec<f64>,
    /// Work done so far, in row entries.
    pub(crate) work: u64,
    dense: Dense,
    krylov: Krylov,
    /// BiCGSTAB has lost to elimination here before.
    slow: bool,
}

impl Chain {
    /// `capacity(s)` bounds the entries of row s; rows are dense when they are not much sparser.
    pub(crate) fn new(states: usize, capacity: impl Fn(usize) -> usize) -> Chain {
        let mut chain = Chain { states, cost: vec![0.0; states], ..Chain::default() };
        chain.reserve(capacity);
        chain
    }

    /// Gives the rows new capacities, in the memory at hand; what was in them is lost.
    pub(crate) fn reserve(&mut self, capacity: impl Fn(usize) -> usize) {
        let n = self.states;
        self.slow = false;
        let total: usize = (0..n).map(&capacity).sum();
        // Dense rows are read four times as fast, and elimination wants them.
        let dense = n <= SPARSE_FROM || if n <= DENSE_LIMIT { 8 } else { 2 } * total >= n * n;
        self.entries.clear();
        self.columns.clear();
        if dense {
            self.pointers = None;
            self.entries.resize(n * n, 0.0);
            return;
        }
        let mut pointers = self.pointers.take().unwrap_or_default();
        pointers.clear();
        pointers.push(0);
        for s in 0..n {
            pointers.push(pointers[s] + capacity(s));
        }
        self.pointers = Some(pointers);
        self.entries.resize(total, 0.0);
        self.columns.resize(total, 0);
    }

    /// No rows at all, for an operator that borrows another's chain.
    pub(crate) fn empty() -> Chain {
        Chain::default()
    }

    /// Where row `s` lies.
    #[cfg_attr(not(test), expect(dead_code, reason = "sweeps cut rows by their shape"))]
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

    /// Solves (I − λP)w = c, starting from the w given, until max|c − (I − λP)w| ≤ `tolerance`;
    /// 0 asks for what rounding allows. P stays as it is. BiCGSTAB ends with what it
    /// has once `stop` says so.
    pub(crate) fn solve(
        &mut self,
        discount: f64,
        w: &mut [f64],
        tolerance: f64,
        stop: &(dyn Fn() -> bool + Sync),
    ) {
        let Chain { states, pointers, columns, entries, tails, cost, dense, krylov, .. } = self;
        let pointers = pointers.as_deref();
        let tails = tails.as_ref();
        let states = *states;
        let a = Matrix { states, pointers, columns, entries, tails, cost, discount, stop };
        let (elimination, product) = (a.elimination(), a.price() as u64);
        let direct = states <= DENSE_LIMIT && (self.slow || elimination <= EAGER * product);
        if !direct {
            let within_reach = states <= DENSE_LIMIT;
            let most = if within_reach { (elimination / product) as usize } else { PRODUCTS };
            let outcome = krylov.solve(&a, w, tolerance, most);
            self.work += (outcome.products * krylov.price(&a)) as u64;
            if outcome.solved || stop() {
                return;
            }
            if !within_reach {
                let goal = tolerance.max(f64::EPSILON * outcome.residual);
                self.work += krylov.sweeps(&a, w, goal) as u64 * product;
                return;
            }
            self.slow = true;
        }
        dense.solve(cost, w, |s, row| a.expand(s, row));
        self.work += elimination;
    }
}

/// I − λP and c, read only.
#[derive(Clone, Copy)]
struct Matrix<'a> {
    states: usize,
    pointers: Option<&'a [usize]>,
    columns: &'a [u32],
    entries: &'a [f64],
    tails: Option<&'a Tails>,
    cost: &'a [f64],
    discount: f64,
    stop: &'a (dyn Fn() -> bool + Sync),
}

impl Matrix<'_> {
    /// What a product costs with the vector arithmetic around it, in sparse row entries.
    fn price(&self) -> usize {
        let stored =
            if self.pointers.is_some() { self.entries.len() } else { self.entries.len() / 4 };
        stored + self.tails.map_or(0, |t| t.tails.len() + 4 * self.states) + 6 * self.states
    }

    /// What elimination costs, in the same unit: n³/3 multiply–adds, some twenty an entry.
    fn elimination(&self) -> u64 {
        (self.states as u64).pow(3) / 64 + (self.states as u64).pow(2)
    }

    /// Adds row s to zeros.
    fn expand(&self, s: usize, row: &mut [f64]) {
        match self.pointers {
            None => {
                let from = s * self.states;
                for (a, p) in row.iter_mut().zip(&self.entries[from..]) {
                    *a = -self.discount * p;
                }
            }
            Some(pointers) => {
                let span = pointers[s]..pointers[s + 1];
                for (p, &j) in self.entries[span.clone()].iter().zip(&self.columns[span]) {
                    row[j as usize] -= self.discount * p;
                }
            }
        }
        if let Some(tails) = self.tails {
            tails.expand(s, self.discount, row);
        }
        row[s] += 1.0;
    }

    /// out = (I − λP)u, with ⟨out, against⟩, ⟨out, out⟩ and max |outᵢ|.
    fn apply(
        &self,
        u: &[f64],
        out: &mut [f64],
        against: &[f64],
        prefix: &mut Prefix,
        totals: &mut [Totals],
    ) -> Totals {
        if let Some(tails) = self.tails {
            prefix.set(tails, u);
        }
        let prefix = &*prefix;
        if self.pointers.is_none() {
            self.dense_rows(u, out);
        }
        for_each_chunk([out], totals, &|start, [out]| {
            if let Some(pointers) = self.pointers {
                self.sparse_rows(pointers, start, u, out);
            }
            for (i, out) in out.iter_mut().enumerate() {
                let tail = self.tails.map_or(0.0, |tails| tails.expected(start + i, prefix));
                *out = u[start + i] - self.discount * (*out + tail);
            }
            chunks::products(out, &against[start..start + out.len()])
        });
        gather(totals)
    }

    /// out = Pu for dense rows, which are worth smaller tasks than sparse ones.
    fn dense_rows(&self, u: &[f64], out: &mut [f64]) {
        let group = DENSE_TASK.div_ceil(self.states);
        let rows = |(p, out)| dispatch(DenseRows { p, u, out });
        if self.states <= group {
            return rows((self.entries, out));
        }
        let groups = self.entries.par_chunks(group * self.states);
        groups.zip(out.par_chunks_mut(group)).for_each(rows);
    }

    /// out = Pu for rows of one chunk.
    fn sparse_rows(&self, pointers: &[usize], start: usize, u: &[f64], out: &mut [f64]) {
        for (out, ends) in out.iter_mut().zip(pointers[start..].windows(2)) {
            let row = self.entries[ends[0]..ends[1]].iter().zip(&self.columns[ends[0]..ends[1]]);
            *out = row.map(|(p, &j)| p * u[j as usize]).sum();
        }
    }
}

/// out = Pu for dense rows.
struct DenseRows<'a> {
    p: &'a [f64],
    u: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for DenseRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (out, row) in self.out.iter_mut().zip(self.p.chunks_exact(self.u.len())) {
            *out = lanes::dot(simd, row, self.u);
        }
    }
}
