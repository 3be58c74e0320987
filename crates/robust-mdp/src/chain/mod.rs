//! (I − λP)w = c for a stochastic S × S matrix P: the value of a frozen pair (x, y).
//!
//! I − λP is an M-matrix, strictly diagonally dominant by rows, so that elimination needs no
//! pivoting ([`dense`]); BiCGSTAB from the last w ([`krylov`]) is the other way. Elimination is
//! the rule where it costs no more than [`EAGER`] products with P: dense rows up to S ≈ 330.
//! Elsewhere BiCGSTAB goes first, and up to [`DENSE_LIMIT`] it gives way when it has cost as much
//! as elimination would, so that a solve takes at most twice the time of the better of the two.
//! A large sparse P is kept in single precision, and one whose moves are all short as a band, which
//! is eliminated in place ([`band`]).
//! An inexact solution costs sweeps, never correctness: bounds come from sweeps.

mod band;
mod chunks;
mod dense;
mod incomplete;
mod krylov;
mod matrix;
mod rows;
mod scalar;
mod tail;
#[cfg(test)]
mod tests;

pub(crate) use self::rows::{ChainRows, ChainShape};
pub(crate) use self::tail::{Tail, Tails};

use self::dense::Dense;
use self::krylov::Krylov;
use self::matrix::Matrix;
use self::scalar::Scalar;
use crate::codec::{Codec, Snapshot};

/// Largest S that is solved by dense elimination: 200 MB of tiles, two seconds on one core.
const DENSE_LIMIT: usize = 5000;
/// From this S on rows with few entries are stored sparsely.
const SPARSE_FROM: usize = 128;
/// Products with P that elimination may cost to be chosen at once.
const EAGER: u64 = 20;
/// Products with P before BiCGSTAB gives up where elimination is out of reach.
const PRODUCTS: usize = 1000;

/// Entries from which on a sparse P is kept in single precision.
const COMPACT_FROM: usize = 1 << 17;
/// P by rows: dense, as a band, or as (columns, entries) where repeated columns add up, plus tails.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    pub(crate) states: usize,
    /// Row starts; `None`: dense rows of length `states`, or a band.
    pub(crate) pointers: Option<Vec<usize>>,
    pub(crate) columns: Vec<u32>,
    /// Entries in double precision.
    pub(crate) entries: Vec<f64>,
    /// Entries in single precision, in place of these.
    pub(crate) links: Vec<f32>,
    /// How many states on either side a band has.
    band: Option<usize>,
    /// Further parts of the rows, if any.
    pub(crate) tails: Option<Tails>,
    /// One-step cost c.
    pub(crate) cost: Vec<f64>,
    /// Work done so far, in row entries.
    pub(crate) work: u64,
    dense: Dense,
    krylov: Krylov<f64>,
    compact: Krylov<f32>,
    /// BiCGSTAB has lost to elimination here before.
    slow: bool,
}

impl Chain {
    /// `capacity(s)` bounds the entries of row s; rows are dense when they are not much sparser.
    pub(crate) fn new(states: usize, capacity: impl Fn(usize) -> usize) -> Chain {
        let mut chain = Chain::of_states(states);
        chain.reserve(capacity);
        chain
    }

    /// A chain without room for rows yet.
    pub(crate) fn of_states(states: usize) -> Chain {
        Chain { states, cost: vec![0.0; states], ..Chain::default() }
    }

    /// Gives the rows new capacities, in the memory at hand; what was in them is lost.
    pub(crate) fn reserve(&mut self, capacity: impl Fn(usize) -> usize) {
        let total: usize = (0..self.states).map(&capacity).sum();
        self.clear();
        match self.dense_is_better(total) {
            true => {
                (self.pointers, self.tails) = (None, None);
                self.entries.resize(self.states * self.states, 0.0);
            }
            false => {
                self.point(capacity);
                self.entries.resize(total, 0.0);
            }
        }
    }

    /// The same in as little memory as a linear system can do with, for chains that are filled anew
    /// for every system: single precision where rows are many, a band where `reach`, the longest
    /// move, is short. `None` says that rows may have tails.
    pub(crate) fn reserve_compact(
        &mut self,
        capacity: impl Fn(usize) -> usize,
        reach: Option<usize>,
    ) {
        let total: usize = (0..self.states).map(&capacity).sum();
        if self.dense_is_better(total) {
            return self.reserve(capacity);
        }
        match reach {
            Some(reach) if band::serves(self.states, total, reach) => {
                self.clear();
                self.pointers = None;
                self.band = Some(reach);
                self.links.resize(self.states * (2 * reach + 1), 0.0);
            }
            Some(_) if total >= COMPACT_FROM => {
                self.clear();
                self.point(capacity);
                refill(&mut self.links, total);
            }
            _ => self.reserve(capacity),
        }
    }

    /// Dense rows are read four times as fast, and elimination wants them.
    fn dense_is_better(&self, total: usize) -> bool {
        let n = self.states;
        n <= SPARSE_FROM || if n <= DENSE_LIMIT { 8 } else { 2 } * total >= n * n
    }

    fn clear(&mut self) {
        self.slow = false;
        self.band = None;
        self.entries.clear();
        self.links.clear();
        self.columns.clear();
    }

    /// Where sparse rows begin, and their columns.
    fn point(&mut self, capacity: impl Fn(usize) -> usize) {
        let n = self.states;
        let mut pointers = self.pointers.take().unwrap_or_default();
        pointers.clear();
        pointers.reserve_exact(n + 1);
        pointers.push(0);
        for s in 0..n {
            pointers.push(pointers[s] + capacity(s));
        }
        let total = pointers[n];
        refill(&mut self.columns, total);
        self.pointers = Some(pointers);
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

    /// The rows and how they are stored, for sweeps that fill them.
    pub(crate) fn rows(&mut self) -> (ChainRows<'_>, ChainShape<'_>) {
        let Chain { states, pointers, columns, entries, links, tails, band, .. } = self;
        let shape = match (pointers, *band) {
            (Some(pointers), _) => ChainShape::Sparse(pointers),
            (None, Some(reach)) => ChainShape::Band(reach),
            (None, None) => ChainShape::Dense(*states),
        };
        (ChainRows { entries, links, columns, tails: Tails::rows(tails) }, shape)
    }

    /// Whether solving a system takes the rows to pieces.
    pub(crate) fn is_used_up(&self) -> bool {
        self.band.is_some()
    }

    /// Solves (I − λP)w = c, starting from the w given, until max|c − (I − λP)w| ≤ `tolerance`;
    /// 0 asks for what rounding allows. A band is used up by that and gives single precision; else P
    /// stays as it is. BiCGSTAB ends with what it has once `stop` says so, elimination with the w given.
    pub(crate) fn solve(
        &mut self,
        discount: f64,
        w: &mut [f64],
        tolerance: f64,
        stop: &(dyn Fn() -> bool + Sync),
    ) {
        if let Some(reach) = self.band {
            w.copy_from_slice(&self.cost);
            band::solve(&mut self.links, reach, discount, w);
            self.work += band::price(self.states, reach);
            return;
        }
        let states = self.states;
        let Chain { pointers, columns, entries, links, tails, cost, dense, .. } = self;
        let (pointers, tails) = (pointers.as_deref(), tails.as_ref());
        let a = Matrix { states, pointers, columns, entries, links, tails, cost, discount, stop };
        let (elimination, product) = (a.elimination(), a.price() as u64);
        let direct = states <= DENSE_LIMIT && (self.slow || elimination <= EAGER * product);
        if !direct {
            let within_reach = states <= DENSE_LIMIT;
            let most = if within_reach { (elimination / product) as usize } else { PRODUCTS };
            let (done, work) = match links.is_empty() {
                true => iterate(&mut self.krylov, &a, w, tolerance, most),
                false => iterate(&mut self.compact, &a, w, tolerance, most),
            };
            self.work += work;
            if done || stop() || !within_reach {
                return;
            }
            self.slow = true;
        }
        dense.solve(cost, w, |s, row| a.expand(s, row), stop);
        self.work += elimination;
    }
}

impl Snapshot for Chain {
    /// Rows are filled anew before every system.
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        codec.flag(&mut self.slow);
        codec.count(&mut self.work);
    }
}

/// Zeros, with room for some more: the next system has about as many.
fn refill<T: Copy + Default>(array: &mut Vec<T>, len: usize) {
    array.clear();
    if array.capacity() < len {
        *array = Vec::new(); // not both the old and the new at once
        array.reserve_exact(len + len / 8);
    }
    array.resize(len, T::default());
}

/// BiCGSTAB, and plain sweeps after it where it fails and elimination is out of reach; whether the
/// system is solved, and the work.
fn iterate<T: Scalar>(
    krylov: &mut Krylov<T>,
    a: &Matrix<'_>,
    w: &mut [f64],
    tolerance: f64,
    most: usize,
) -> (bool, u64) {
    let outcome = krylov.solve(a, w, tolerance, most);
    let mut work = (outcome.products * krylov.price(a)) as u64;
    if !outcome.solved && !(a.stop)() && a.states > DENSE_LIMIT {
        let goal = tolerance.max(f64::EPSILON * outcome.residual);
        work += (krylov.sweeps(a, w, goal) * a.price()) as u64;
    }
    (outcome.solved, work)
}
