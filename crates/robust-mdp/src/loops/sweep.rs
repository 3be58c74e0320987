//! A sweep over states: plain slices in and out, in parallel, the same bits for any thread count.
//!
//! Arrays come in three shapes: one value a state, one a row, one an entry of the kernel player.
//! [`for_each_state`] cuts them at state boundaries and hands every state its own pieces; what a
//! state computes depends on these alone, never on which thread did it.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use crate::chain::{ChainRows, ChainShape};
use crate::model::Model;
use crate::pool;
use crate::rows::Layout;

/// Mutable arrays of a contiguous range of states.
pub(crate) struct Fields<'a, const K: usize, const N: usize, const M: usize> {
    pub(crate) states: Range<usize>,
    pub(crate) per_state: [&'a mut [f64]; K],
    pub(crate) per_row: [&'a mut [f64]; N],
    pub(crate) per_entry: [&'a mut [f64]; M],
    pub(crate) chain: ChainRows<'a>,
}

/// Where ranges of states begin in arrays over rows and entries.
#[derive(Clone, Copy)]
pub(crate) struct Cuts<'a> {
    pub(crate) model: &'a Model,
    pub(crate) layout: &'a Layout,
    pub(crate) chain: ChainShape<'a>,
}

impl<'a> Cuts<'a> {
    /// Of sweeps that fill no chain.
    pub(crate) fn of(model: &'a Model, layout: &'a Layout) -> Cuts<'a> {
        Cuts { model, layout, chain: ChainShape::None }
    }
}

impl<'a, const K: usize, const N: usize, const M: usize> Fields<'a, K, N, M> {
    /// Of all states, without a chain.
    pub(crate) fn of(
        model: &Model,
        per_state: [&'a mut [f64]; K],
        per_row: [&'a mut [f64]; N],
        per_entry: [&'a mut [f64]; M],
    ) -> Self {
        let (states, chain) = (0..model.states(), ChainRows::default());
        Fields { states, per_state, per_row, per_entry, chain }
    }

    fn split(self, cuts: Cuts<'_>, at: usize) -> (Self, Self) {
        let Fields { states, per_state, per_row, per_entry, chain } = self;
        let rows = cuts.model.state_ptr[at] - cuts.model.state_ptr[states.start];
        let row_range = cuts.model.state_ptr[states.start]..cuts.model.state_ptr[at];
        let entries = cuts.layout.span(row_range).len();
        let (state_left, state_right) = split_all(per_state, at - states.start);
        let (row_left, row_right) = split_all(per_row, rows);
        let (entry_left, entry_right) = split_all(per_entry, entries);
        let links = cuts.chain.entries(states.start..at);
        let (chain_left, chain_right) = chain.split(links, rows);
        (
            Fields {
                states: states.start..at,
                per_state: state_left,
                per_row: row_left,
                per_entry: entry_left,
                chain: chain_left,
            },
            Fields {
                states: at..states.end,
                per_state: state_right,
                per_row: row_right,
                per_entry: entry_right,
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
    fields: Fields<'_, K, N, M>,
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
    in_turn(cuts, fields, |state| visit(state, &mut worker));
}

/// Calls `visit` once for every state of `fields`, one after the other.
pub(crate) fn in_turn<const K: usize, const N: usize, const M: usize>(
    cuts: Cuts<'_>,
    mut fields: Fields<'_, K, N, M>,
    mut visit: impl FnMut(Fields<'_, K, N, M>),
) {
    while !fields.states.is_empty() {
        let next = fields.states.start + 1;
        let (state, rest) = fields.split(cuts, next);
        visit(state);
        fields = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::{Chain, Tail, Tails};
    use crate::instances::machine_replacement;

    #[test]
    fn a_sweep_fills_the_tails_of_every_state() {
        let model = machine_replacement(50, 0.9).expect("a model");
        let layout = Layout::Full(model.states());
        let mut chain = Chain::new(model.states(), |_| 3);
        chain.tails = Some(Tails::new(model.states(), |s| model.rows_of(s).len()));
        let (rows, shape) = chain.rows();
        let cuts = Cuts { model: &model, layout: &layout, chain: shape };
        let fields = Fields { chain: rows, ..Fields::of(&model, [], [], []) };
        for_each_state(cuts, fields, &Workers::new(|| ()), &|mut at: Fields<'_, 0, 0, 0>, ()| {
            at.chain.clear();
            let s = at.states.start;
            assert_eq!(at.chain.tails.len(), model.rows_of(s).len());
            for (tail, r) in at.chain.tails.iter_mut().zip(model.rows_of(s)) {
                *tail = Tail { slope: r as f64, shift: s as f64, length: 1 };
            }
        });
        let tails = chain.tails.expect("tails");
        for s in 0..model.states() {
            for r in model.rows_of(s) {
                assert_eq!(tails.tails[r], Tail { slope: r as f64, shift: s as f64, length: 1 });
            }
        }
    }
}
