//! (I − λP)w = c for a stochastic S × S matrix P: the value of a frozen pair (x, y).
//!
//! I − λP is an M-matrix, strictly diagonally dominant by rows, so that elimination needs no
//! pivoting ([`dense`]); BiCGSTAB from the last w ([`krylov`]) is the other way. Elimination is
//! the rule where it costs no more than [`EAGER`] products with P: dense rows up to S ≈ 330.
//! Elsewhere BiCGSTAB goes first, and up to [`DENSE_LIMIT`] it gives way when it has cost as much
//! as elimination would, so that a solve takes at most twice the time of the better of the two.
//! A sparse P whose moves are all short is kept as a band, which is eliminated in place ([`band`]).
//! An inexact solution costs sweeps, never correctness: bounds come from sweeps.

mod band;
mod chunks;
mod dense;
mod incomplete;
mod krylov;
mod matrix;
mod rows;
mod tail;
#[cfg(test)]
mod tests;

pub(crate) use self::rows::{ChainRows, ChainShape};
pub(crate) use self::tail::{Tail, Tails};

use self::dense::Dense;
use self::krylov::Krylov;
use self::matrix::Matrix;
use crate::codec::{Codec, Snapshot};

/// Largest S that is solved by dense elimination: 200 MB of tiles, two seconds on one core.
const DENSE_LIMIT: usize = 5000;
/// From this S on rows with few entries are stored sparsely.
const SPARSE_FROM: usize = 128;
/// Products with P that elimination may cost to be chosen at once.
const EAGER: u64 = 20;
/// Products with P before BiCGSTAB gives up where elimination is out of reach.
const PRODUCTS: usize = 1000;

/// P by rows: dense, as a band, or as (columns, entries) where repeated columns add up, plus tails.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    pub(crate) states: usize,
    /// Row starts; `None`: dense rows of length `states`, or a band.
    pub(crate) pointers: Option<Vec<usize>>,
    pub(crate) columns: Vec<u32>,
    pub(crate) entries: Vec<f64>,
    /// How many states on either side a band has.
    band: Option<usize>,
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
        let mut chain = Chain::of_states(states);
        chain.reserve(capacity, None);
        chain
    }

    /// A chain without room for rows yet.
    pub(crate) fn of_states(states: usize) -> Chain {
        Chain { states, cost: vec![0.0; states], ..Chain::default() }
    }

    /// Gives the rows new capacities, in the memory at hand; what was in them is lost. Rows whose longest
    /// move `reach` is short are kept as a band; `None` says that rows may have tails, or are solved for
    /// more than once.
    pub(crate) fn reserve(&mut self, capacity: impl Fn(usize) -> usize, reach: Option<usize>) {
        let total: usize = (0..self.states).map(&capacity).sum();
        self.band = None;
        self.columns.clear();
        if self.dense_is_better(total) {
            (self.pointers, self.tails) = (None, None);
            return refill(&mut self.entries, self.states * self.states);
        }
        self.slow = false;
        self.band = reach.filter(|&reach| band::serves(self.states, total, reach));
        match self.band {
            Some(reach) => {
                self.pointers = None;
                refill(&mut self.entries, self.states * (2 * reach + 1));
            }
            None => {
                self.point(capacity);
                refill(&mut self.entries, total);
            }
        }
    }

    /// Dense rows are read four times as fast, and elimination wants them.
    fn dense_is_better(&self, total: usize) -> bool {
        let n = self.states;
        n <= SPARSE_FROM || if n <= DENSE_LIMIT { 8 } else { 2 } * total >= n * n
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
        let Chain { states, pointers, columns, entries, tails, band, .. } = self;
        let shape = match (pointers, *band) {
            (Some(pointers), _) => ChainShape::Sparse(pointers),
            (None, Some(reach)) => ChainShape::Band(reach),
            (None, None) => ChainShape::Dense(*states),
        };
        (ChainRows { entries, columns, tails: Tails::rows(tails), band: *band }, shape)
    }

    /// Whether solving a system takes the rows to pieces.
    pub(crate) fn is_used_up(&self) -> bool {
        self.band.is_some()
    }

    /// Solves (I − λP)w = c, starting from the w given, until max|c − (I − λP)w| ≤ `tolerance`;
    /// 0 asks for what rounding allows. A band is used up by that; else P stays as it is. BiCGSTAB ends with what it has once `stop` says so, elimination with the w given.
    pub(crate) fn solve(
        &mut self,
        discount: f64,
        w: &mut [f64],
        tolerance: f64,
        stop: &(dyn Fn() -> bool + Sync),
    ) {
        if let Some(reach) = self.band {
            w.copy_from_slice(&self.cost);
            band::solve(&mut self.entries, reach, discount, w);
            self.work += band::price(self.states, reach);
            return;
        }
        let states = self.states;
        let Chain { pointers, columns, entries, tails, cost, dense, krylov, .. } = self;
        let (pointers, tails) = (pointers.as_deref(), tails.as_ref());
        let a = Matrix { states, pointers, columns, entries, tails, cost, discount, stop };
        let (elimination, product) = (a.elimination(), a.price() as u64);
        let direct = states <= DENSE_LIMIT && (self.slow || elimination <= EAGER * product);
        if !direct {
            let within_reach = states <= DENSE_LIMIT;
            let most = if within_reach { (elimination / product) as usize } else { PRODUCTS };
            let mut outcome = krylov.solve(&a, w, tolerance, most);
            if !outcome.solved && !stop() && !within_reach {
                let goal = tolerance.max(f64::EPSILON * outcome.residual);
                outcome.products += krylov.sweeps(&a, w, goal);
            }
            self.work += outcome.products as u64 * (product + krylov.price());
            if outcome.solved || stop() || !within_reach {
                return;
            }
            self.slow = true;
        }
        dense.solve(cost, w, |s, row| a.expand(s, row), stop);
        self.work += elimination;
    }
}

/// A chain that may not be there yet.
impl Snapshot for Option<Chain> {
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        let (mut made, states) = (self.is_some(), codec.states);
        codec.flag(&mut made);
        if made {
            self.get_or_insert_with(|| Chain::of_states(states)).visit_fields(codec);
        }
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
