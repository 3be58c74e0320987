//! A sweep over states: plain slices in and out, in parallel, the same bits for any thread count.
//!
//! Arrays come in three shapes: one value a state, one a row, one an entry of the kernel player.
//! [`for_each_state`] cuts them at state boundaries and hands every state its own pieces; what a
//! state computes depends on these alone, never on which thread did it.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use super::linear::Tail;
use super::row_store::Halves;
use crate::game::Layout;
use crate::model::Model;
use crate::pool;

/// Mutable arrays of a contiguous range of states.
pub(crate) struct Fields<'a, const K: usize, const N: usize, const M: usize> {
    pub(crate) states: Range<usize>,
    pub(crate) per_state: [&'a mut [f64]; K],
    pub(crate) per_row: [&'a mut [f64]; N],
    pub(crate) per_entry: [&'a mut [f64]; M],
    /// What rows remember in halves of doubles, where they do.
    pub(crate) halves: Halves<'a>,
    pub(crate) chain: ChainRows<'a>,
}

/// Rows of the collapsed chain P^{x,y}; empty in sweeps that build none.
#[derive(Default)]
pub(crate) struct ChainRows<'a> {
    /// Where rows are in double precision.
    pub(crate) entries: &'a mut [f64],
    /// Where they are in single precision.
    pub(crate) links: &'a mut [f32],
    /// Where they are neither dense nor a band.
    pub(crate) columns: &'a mut [u32],
    /// Room for one tail a row of the state; empty in chains without tails.
    pub(crate) tails: &'a mut [Tail],
}

impl ChainRows<'_> {
    /// Starts one state's row anew.
    pub(crate) fn clear(&mut self) {
        self.entries.fill(0.0);
        self.links.fill(0.0);
        self.tails.fill(Tail::default());
    }

    /// Whether rows have an entry for every state.
    pub(crate) fn is_dense(&self) -> bool {
        self.columns.is_empty() && self.links.is_empty()
    }

    /// Adds p to the row of `s`: in place when dense or a band, else as its `at`-th entry.
    pub(crate) fn add(&mut self, s: usize, at: &mut usize, next: usize, p: f64) {
        if self.is_dense() {
            self.entries[next] += p;
            return;
        }
        if self.columns.is_empty() {
            let reach = self.links.len() / 2;
            self.links[next + reach - s] += p as f32;
            return;
        }
        match self.links.get_mut(*at) {
            Some(link) => *link = p as f32,
            None => self.entries[*at] = p,
        }
        self.columns[*at] = next as u32;
        *at += 1;
    }
}

impl<'a> ChainRows<'a> {
    /// Rows by where their entries lie, tails left out.
    #[cfg(test)]
    pub(crate) fn part(&mut self, entries: Range<usize>) -> ChainRows<'_> {
        fn of<T>(array: &mut [T], part: Range<usize>) -> &mut [T] {
            if array.is_empty() { array } else { &mut array[part] }
        }
        ChainRows {
            entries: of(self.entries, entries.clone()),
            links: of(self.links, entries.clone()),
            columns: of(self.columns, entries),
            tails: &mut [],
        }
    }

    /// Cut after so many entries and tails; arrays that the chain does without are empty.
    fn split(self, entries: usize, tails: usize) -> (ChainRows<'a>, ChainRows<'a>) {
        fn cut<T>(array: &mut [T], at: usize) -> (&mut [T], &mut [T]) {
            array.split_at_mut(at.min(array.len()))
        }
        let (wide, links) = (cut(self.entries, entries), cut(self.links, entries));
        let (columns, tails) = (cut(self.columns, entries), cut(self.tails, tails));
        (
            ChainRows { entries: wide.0, links: links.0, columns: columns.0, tails: tails.0 },
            ChainRows { entries: wide.1, links: links.1, columns: columns.1, tails: tails.1 },
        )
    }
}

/// Where ranges of states begin in arrays over rows and entries.
#[derive(Clone, Copy)]
pub(crate) struct Cuts<'a> {
    pub(crate) model: &'a Model,
    pub(crate) layout: &'a Layout,
    pub(crate) chain: ChainShape<'a>,
}

/// How the rows of the chain are stored.
#[derive(Clone, Copy)]
pub(crate) enum ChainShape<'a> {
    None,
    Dense(usize),
    Sparse(&'a [usize]),
    /// As many states on either side.
    Band(usize),
}

impl ChainShape<'_> {
    fn entries(self, states: Range<usize>) -> usize {
        match self {
            ChainShape::None => 0,
            ChainShape::Dense(width) => states.len() * width,
            ChainShape::Sparse(pointers) => pointers[states.end] - pointers[states.start],
            ChainShape::Band(reach) => states.len() * (2 * reach + 1),
        }
    }
}

impl<'a, const K: usize, const N: usize, const M: usize> Fields<'a, K, N, M> {
    fn split(self, cuts: Cuts<'_>, at: usize) -> (Self, Self) {
        let Fields { states, per_state, per_row, per_entry, halves, chain } = self;
        let rows = cuts.model.state_ptr[at] - cuts.model.state_ptr[states.start];
        let row_range = cuts.model.state_ptr[states.start]..cuts.model.state_ptr[at];
        let entries = cuts.layout.span(row_range).len();
        let (state_left, state_right) = split_all(per_state, at - states.start);
        let (row_left, row_right) = split_all(per_row, rows);
        let (entry_left, entry_right) = split_all(per_entry, entries);
        let (half_left, half_right) = split_all(halves, rows);
        let links = cuts.chain.entries(states.start..at);
        let (chain_left, chain_right) = chain.split(links, rows);
        (
            Fields {
                states: states.start..at,
                per_state: state_left,
                per_row: row_left,
                per_entry: entry_left,
                halves: half_left,
                chain: chain_left,
            },
            Fields {
                states: at..states.end,
                per_state: state_right,
                per_row: row_right,
                per_entry: entry_right,
                halves: half_right,
                chain: chain_right,
            },
        )
    }
}

fn split_all<T, const N: usize>(
    arrays: [&mut [T]; N],
    at: usize,
) -> ([&mut [T]; N], [&mut [T]; N]) {
    let mut right = [const { None }; N];
    let mut i = 0;
    let left = arrays.map(|a| {
        let (l, r) = a.split_at_mut(at.min(a.len())); // an array that a sweep leaves out is empty
        right[i] = Some(r);
        i += 1;
        l
    });
    (left, right.map(|r| r.expect("one right half for each array")))
}

/// One working memory a thread.
pub(crate) struct Workers<W>(Vec<Mutex<W>>);

impl<W> Workers<W> {
    pub(crate) fn new(make: impl Fn() -> W) -> Workers<W> {
        Workers((0..pool::threads()).map(|_| Mutex::new(make())).collect())
    }

    /// The memory of the first thread, for work that is done in order.
    pub(crate) fn first(&mut self) -> &mut W {
        self.0[0].get_mut().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The memory of this thread. No other task runs on it while the lock is held: leaves do not fork.
    fn mine(&self) -> MutexGuard<'_, W> {
        let thread = pool::this_thread() % self.0.len();
        self.0[thread].lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Folds over the memories of all threads.
    pub(crate) fn visit(&mut self, mut visit: impl FnMut(&mut W)) {
        for worker in &mut self.0 {
            visit(worker.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()));
        }
    }
}

/// Calls `visit` once for every state of `fields`, in parallel.
pub(crate) fn for_each_state<W: Send, const K: usize, const N: usize, const M: usize>(
    cuts: Cuts<'_>,
    fields: Fields<'_, K, N, M>,
    workers: &Workers<W>,
    visit: &(impl Fn(Fields<'_, K, N, M>, &mut W) + Sync),
) {
    let grain = fields.states.len().div_ceil(16 * workers.0.len()).max(1);
    divide(cuts, fields, grain, workers, visit);
}

/// What `visit` puts out for each of the states, in their order, computed in parallel.
pub(crate) fn collect_states<W: Send, T: Send>(
    states: Range<usize>,
    workers: &Workers<W>,
    visit: &(impl Fn(usize, &mut W, &mut Vec<T>) + Sync),
) -> Vec<T> {
    let grain = states.len().div_ceil(16 * workers.0.len()).max(1);
    collect(states, grain, workers, visit)
}

fn collect<W: Send, T: Send>(
    states: Range<usize>,
    grain: usize,
    workers: &Workers<W>,
    visit: &(impl Fn(usize, &mut W, &mut Vec<T>) + Sync),
) -> Vec<T> {
    if states.len() > grain && workers.0.len() > 1 {
        let middle = states.start + states.len() / 2;
        let (mut left, right) = pool::join(
            || collect(states.start..middle, grain, workers, visit),
            || collect(middle..states.end, grain, workers, visit),
        );
        left.extend(right);
        return left;
    }
    let mut out = Vec::new();
    let mut worker = workers.mine();
    states.for_each(|s| visit(s, &mut worker, &mut out));
    out
}

fn divide<W: Send, const K: usize, const N: usize, const M: usize>(
    cuts: Cuts<'_>,
    mut fields: Fields<'_, K, N, M>,
    grain: usize,
    workers: &Workers<W>,
    visit: &(impl Fn(Fields<'_, K, N, M>, &mut W) + Sync),
) {
    if fields.states.len() > grain && workers.0.len() > 1 {
        let middle = fields.states.start + fields.states.len() / 2;
        let (left, right) = fields.split(cuts, middle);
        pool::join(
            || divide(cuts, left, grain, workers, visit),
            || divide(cuts, right, grain, workers, visit),
        );
        return;
    }
    let mut worker = workers.mine();
    while !fields.states.is_empty() {
        let next = fields.states.start + 1;
        let (state, rest) = fields.split(cuts, next);
        visit(state, &mut worker);
        fields = rest;
    }
}
