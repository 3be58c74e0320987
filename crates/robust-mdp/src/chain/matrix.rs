//! I − λP by rows: its products, one row as it is eliminated, and what either costs.

use rayon::prelude::*;

use super::chunks::{Totals, for_each_chunk, gather, products};
use super::tail::{Prefix, Tails};
use crate::lanes::{self, kernels};
use crate::pool;

/// Entries of dense rows that make a task.
const DENSE_TASK: usize = 1 << 17;

/// I − λP and c, read only.
#[derive(Clone, Copy)]
pub(super) struct Matrix<'a> {
    pub(super) states: usize,
    pub(super) pointers: Option<&'a [usize]>,
    pub(super) columns: &'a [u32],
    pub(super) entries: &'a [f64],
    pub(super) tails: Option<&'a Tails>,
    pub(super) cost: &'a [f64],
    pub(super) discount: f64,
    pub(super) stop: &'a (dyn Fn() -> bool + Sync),
}

impl Matrix<'_> {
    /// What a product costs with the vector arithmetic around it, in sparse row entries.
    pub(super) fn price(&self) -> usize {
        let stored =
            if self.pointers.is_some() { self.columns.len() } else { self.entries.len() / 4 };
        stored + self.tails.map_or(0, |t| t.tails.len() + 4 * self.states) + 6 * self.states
    }

    /// What elimination costs, in the same unit: n³/3 multiply–adds, some twenty an entry.
    pub(super) fn elimination(&self) -> u64 {
        (self.states as u64).pow(3) / 64 + (self.states as u64).pow(2)
    }

    /// Adds row s to zeros.
    pub(super) fn expand(&self, s: usize, row: &mut [f64]) {
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

    /// out = `finish`((I − λP)u), with ⟨out, against⟩ (itself, if nothing is given), ⟨out, out⟩ and
    /// max |outᵢ|.
    pub(super) fn apply(
        &self,
        u: &[f64],
        out: &mut [f64],
        against: Option<&[f64]>,
        prefix: &mut Prefix,
        totals: &mut [Totals],
        finish: &(impl Fn(usize, f64) -> f64 + Sync),
    ) -> Totals {
        if let Some(tails) = self.tails {
            prefix.set(tails, u);
        }
        let prefix = &*prefix;
        if self.pointers.is_none() {
            self.dense_rows(u, out);
        }
        for_each_chunk([out], totals, &|start, [out]| {
            for (i, out) in out.iter_mut().enumerate() {
                let s = start + i;
                let tail = self.tails.map_or(0.0, |tails| tails.expected(s, prefix));
                let stored = match self.pointers {
                    None => *out,
                    Some(pointers) => self.sparse_row(pointers, s, u),
                };
                *out = finish(s, u[s] - self.discount * (stored + tail));
            }
            let against = against.map_or(&*out, |against| &against[start..start + out.len()]);
            products(out, against)
        });
        gather(totals)
    }

    /// out = Pu for dense rows, which are worth smaller tasks than sparse ones.
    fn dense_rows(&self, u: &[f64], out: &mut [f64]) {
        let group = DENSE_TASK.div_ceil(self.states);
        let rows = |(p, out)| dense_rows(p, u, out);
        if self.states <= group {
            return rows((self.entries, out));
        }
        if pool::alone() {
            let groups = self.entries.chunks(group * self.states);
            return groups.zip(out.chunks_mut(group)).for_each(rows);
        }
        let groups = self.entries.par_chunks(group * self.states);
        groups.zip(out.par_chunks_mut(group)).for_each(rows);
    }

    /// (Pu)_s.
    fn sparse_row(&self, pointers: &[usize], s: usize, u: &[f64]) -> f64 {
        let span = pointers[s]..pointers[s + 1];
        let row = self.entries[span.clone()].iter().zip(&self.columns[span]);
        row.map(|(p, &j)| p * u[j as usize]).sum()
    }
}

kernels! {
    /// out = Pu for dense rows.
    fn dense_rows<'a>(simd, p: &'a [f64], u: &'a [f64], out: &'a mut [f64]) -> () {
        for (out, row) in out.iter_mut().zip(p.chunks_exact(u.len())) {
            *out = lanes::dot(simd, row, u);
        }
    }
}
