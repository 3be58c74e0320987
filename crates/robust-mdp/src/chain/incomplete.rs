//! A ≈ LU on the pattern of A, A = I − λP cut into diagonal blocks of consecutive states: ILU(0)
//! (Meijerink & van der Vorst 1977, who show that it exists and is stable for M-matrices).
//!
//! On a chain that moves to states near by, in the order of states, it is nearly exact. Blocks do
//! not see each other, so that threads share them; their size depends on the chain alone.

use rayon::prelude::*;

use super::matrix::Matrix;
use super::scalar::Scalar;
use crate::pool;

/// States of a block, at least.
const LEAST: usize = 4096;
/// Blocks, at most.
const BLOCKS: usize = 32;
/// Moves by no more than this many states count as near ones.
const NEAR: usize = 1024;
/// The share of such moves that makes the factors worth their time.
const SHARE: f64 = 0.75;
/// A chain that hardly ever moves farther than this gets factors in one block: they are so close
/// to exact that a few products on one thread beat a hundred on many.
const NARROW: usize = 64;
const NARROW_SHARE: f64 = 0.999;
/// Rows looked at to find these shares.
const SAMPLE: usize = 1024;

/// The size of blocks if P moves to near states mostly, else `None`.
pub(super) fn block_size(a: &Matrix<'_>) -> Option<usize> {
    // Beside tails, stored entries are corrections only.
    let pointers = a.pointers.filter(|_| a.tails.is_none())?;
    let (mut narrow, mut near, mut all) = (0.0, 0.0, 0.0);
    for s in (0..a.states).step_by(a.states.div_ceil(SAMPLE).max(1)) {
        let row = pointers[s]..pointers[s + 1];
        for (p, &j) in row.clone().map(|q| a.entry(q)).zip(&a.columns[row]) {
            let far = s.abs_diff(j as usize);
            all += p;
            near += if far <= NEAR { p } else { 0.0 };
            narrow += if far <= NARROW { p } else { 0.0 };
        }
    }
    if narrow >= NARROW_SHARE * all {
        return Some(a.states);
    }
    (near >= SHARE * all).then(|| a.states.div_ceil(BLOCKS).max(LEAST))
}

/// The factors, block by block.
#[derive(Debug, Default)]
pub(super) struct Incomplete<T> {
    blocks: Vec<Block<T>>,
    size: usize,
}

/// Rows of one block: L without its unit diagonal, then U, by ascending columns.
#[derive(Debug, Default)]
struct Block<T> {
    starts: Vec<u32>,
    /// Where the diagonal entry of each row lies; it is kept inverted.
    diagonal: Vec<u32>,
    columns: Vec<u32>,
    entries: Vec<T>,
    row: Vec<(u32, f64)>,
    /// Where each column lies in the row at hand.
    place: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

impl<T: Scalar> Incomplete<T> {
    /// Factors blocks of `size` states.
    pub(super) fn factor(&mut self, a: &Matrix<'_>, size: usize) {
        self.size = size;
        self.blocks.resize_with(a.states.div_ceil(size), Block::default);
        let factor = |(i, block): (usize, &mut Block<T>)| {
            let first = i * size;
            block.load(a, first..(first + size).min(a.states));
            block.factor(1.0 - a.discount);
        };
        if self.blocks.len() == 1 || pool::alone() {
            self.blocks.iter_mut().enumerate().for_each(factor);
        } else {
            self.blocks.par_iter_mut().enumerate().for_each(factor);
        }
    }

    /// out = (LU)⁻¹x.
    pub(super) fn apply(&self, x: &[T], out: &mut [T]) {
        if self.blocks.len() == 1 || pool::alone() {
            let pieces = x.chunks(self.size).zip(out.chunks_mut(self.size));
            self.blocks.iter().zip(pieces).for_each(|(block, (x, out))| block.solve(x, out));
            return;
        }
        let pieces = x.par_chunks(self.size).zip(out.par_chunks_mut(self.size));
        self.blocks.par_iter().zip(pieces).for_each(|(block, (x, out))| block.solve(x, out));
    }

    /// Entries of all factors.
    pub(super) fn entries(&self) -> usize {
        self.blocks.iter().map(|block| block.entries.len()).sum()
    }
}

impl<T: Scalar> Block<T> {
    /// Copies the rows of I − λP within the block, sorted, repeated columns added up.
    fn load(&mut self, a: &Matrix<'_>, states: std::ops::Range<usize>) {
        let pointers = a.pointers.expect("sparse rows");
        self.starts.clear();
        self.diagonal.clear();
        self.columns.clear();
        self.entries.clear();
        self.starts.push(0);
        let room = pointers[states.end] - pointers[states.start] + states.len();
        self.columns.reserve_exact(room);
        self.entries.reserve_exact(room);
        for s in states.clone() {
            let own = (s - states.start) as u32;
            let row = pointers[s]..pointers[s + 1];
            self.row.clear();
            self.row.push((own, 1.0));
            for (p, &j) in row.clone().map(|q| a.entry(q)).zip(&a.columns[row]) {
                if p != 0.0 && states.contains(&(j as usize)) {
                    self.row.push((j - states.start as u32, -a.discount * p));
                }
            }
            // Stable: repeated columns add up in the order they were stored in.
            self.row.sort_by_key(|e| e.0);
            for &(j, p) in &self.row {
                if self.columns.len() > self.starts[own as usize] as usize
                    && self.columns.last() == Some(&j)
                {
                    let last = self.entries.last_mut().expect("as many entries as columns");
                    *last = T::of(last.wide() + p);
                    continue;
                }
                if j == own {
                    self.diagonal.push(self.columns.len() as u32);
                }
                self.columns.push(j);
                self.entries.push(T::of(p));
            }
            self.starts.push(self.columns.len() as u32);
        }
    }

    /// Rows of I − λP sum to 1 − λ at least, and so do pivots, which are `least` or more.
    fn factor(&mut self, least: f64) {
        let n = self.diagonal.len();
        self.place.clear();
        self.place.resize(n, NOWHERE);
        for s in 0..n {
            let row = self.starts[s] as usize..self.starts[s + 1] as usize;
            for q in row.clone() {
                self.place[self.columns[q] as usize] = q as u32;
            }
            let diagonal = self.diagonal[s] as usize;
            for q in row.start..diagonal {
                let k = self.columns[q] as usize;
                let pivot = self.diagonal[k] as usize;
                let factor = self.entries[q].wide() * self.entries[pivot].wide();
                self.entries[q] = T::of(factor);
                for z in pivot + 1..self.starts[k + 1] as usize {
                    let at = self.place[self.columns[z] as usize];
                    if at != NOWHERE {
                        let entry = &self.entries[at as usize];
                        let less = entry.wide() - factor * self.entries[z].wide();
                        self.entries[at as usize] = T::of(less);
                    }
                }
            }
            self.entries[diagonal] = T::of(1.0 / self.entries[diagonal].wide().max(least));
            for q in row {
                self.place[self.columns[q] as usize] = NOWHERE;
            }
        }
    }

    fn solve(&self, x: &[T], out: &mut [T]) {
        let n = self.diagonal.len();
        let known = |span: std::ops::Range<usize>, out: &[T]| -> f64 {
            let row = self.columns[span.clone()].iter().zip(&self.entries[span]);
            row.map(|(&j, e)| e.wide() * out[j as usize].wide()).sum()
        };
        for s in 0..n {
            let lower = self.starts[s] as usize..self.diagonal[s] as usize;
            out[s] = T::of(x[s].wide() - known(lower, out));
        }
        for s in (0..n).rev() {
            let diagonal = self.diagonal[s] as usize;
            let upper = diagonal + 1..self.starts[s + 1] as usize;
            let value = out[s].wide() - known(upper, out);
            out[s] = T::of(value * self.entries[diagonal].wide());
        }
    }
}
