//! Explicit rows: a state's rows with every state that they may use listed, as first-order steps and conic
//! programs need them. Its game is min_x max_y Σ_a x_a (c_a + ⟨b_a, y_a⟩), b_a(i) = c(s,a,i) + λv_i.
//!
//! Rows sum to one, so that a constant taken out of b_a and put into c_a changes nothing: b_a ≤ 0 counts from
//! its maximum, which keeps values exact near the vertices, whatever the sign and size of v.
//!
//! Dense models whose costs do not depend on the next state need no copy at all: all rows share λv and
//! borrow the model's own probabilities. Everything else is gathered into scratch memory once per state
//! and sweep.

use std::ops::Range;

use super::SweepValues;
use super::layout::{Layout, shares_budget};
use crate::lanes::{dot, kernels};
use crate::model::{Model, NominalRow, range};
use crate::sets::{Block, DataSource, EntryData, Gain, GatheredData, UncertaintySet};

/// Scratch memory for [`ExplicitRows::load`].
#[derive(Debug, Default)]
pub(crate) struct ExplicitMemory {
    offsets: Vec<usize>,
    nominal: Vec<f64>,
    gain: Vec<f64>,
    base: Vec<f64>,
    nominal_value: Vec<f64>,
    columns: Vec<u32>,
    data: GatheredData,
}

impl ExplicitMemory {
    pub(crate) fn new(rows: usize, entries: usize) -> ExplicitMemory {
        ExplicitMemory {
            offsets: Vec::with_capacity(rows + 1),
            nominal: Vec::with_capacity(entries),
            gain: Vec::with_capacity(entries),
            base: Vec::with_capacity(rows),
            nominal_value: Vec::with_capacity(rows),
            columns: Vec::with_capacity(entries),
            data: GatheredData::default(),
        }
    }
}

/// One state's game.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExplicitRows<'a> {
    offsets: &'a [usize],
    nominal: &'a [f64],
    gain: Gain<'a>,
    nominal_value: &'a [f64],
    /// c_a plus what was taken out of b_a.
    pub(crate) base: &'a [f64],
    /// Next states of the entries; `None`: each row lists all states in order.
    columns: Option<&'a [u32]>,
    data: EntryData<'a>,
}

impl<'a> ExplicitRows<'a> {
    /// Sets up the game of state `s` at the values of `values`, whose differences must be there.
    pub(crate) fn load(
        model: &'a Model,
        layout: &Layout,
        s: usize,
        values: &'a SweepValues,
        source: DataSource<'a>,
        memory: &'a mut ExplicitMemory,
    ) -> ExplicitRows<'a> {
        let rows = model.rows_of(s);
        memory.offsets.clear();
        memory.base.clear();
        memory.nominal_value.clear();
        let start = layout.span(rows.start..rows.start).start;
        memory.offsets.push(0);
        for r in rows.clone() {
            memory.offsets.push(layout.span(r..r + 1).end - start);
        }
        let full = matches!(layout, Layout::Full(_));
        let shared = full && !model.has_transition_costs();
        let borrow = full && model.is_dense();
        if !(shared && borrow) {
            gather(model, rows.clone(), layout, shared, values, source, memory);
        }
        if source.is_some() {
            memory.data.clear();
            rows.clone().for_each(|r| gather_data(model, r, layout, source, &mut memory.data));
        }
        if shared {
            memory.base.extend(rows.clone().map(|r| model.cost[r] + values.offset));
        } else {
            for (k, r) in rows.clone().enumerate() {
                let b = &mut memory.gain[memory.offsets[k]..memory.offsets[k + 1]];
                let (_, maximum) = range(b);
                b.iter_mut().for_each(|b| *b -= maximum);
                memory.base.push(model.cost[r] + maximum);
            }
        }
        memory.nominal_value.resize(rows.len(), 0.0);
        let ExplicitMemory { offsets, nominal, gain, base, nominal_value, columns, data } = memory;
        let nominal = if borrow {
            &model.prob[model.span(rows.start).start..][..offsets[rows.len()]]
        } else {
            nominal
        };
        let gain = if shared { Gain::Shared(&values.shared) } else { Gain::PerRow(gain) };
        let columns = if full { None } else { Some(&columns[..]) };
        let data = data.of(source, columns);
        let block =
            Block { offsets, nominal, gain, nominal_value: &[], radius: 0.0, kappa: None, data };
        row_values(block, nominal, nominal_value);
        ExplicitRows { offsets, nominal, gain, nominal_value, base, columns, data }
    }

    pub(crate) fn actions(&self) -> usize {
        self.base.len()
    }

    /// All rows, sharing one budget, without weights.
    pub(crate) fn block(&self, radius: f64) -> Block<'a> {
        Block {
            offsets: self.offsets,
            nominal: self.nominal,
            gain: self.gain,
            nominal_value: self.nominal_value,
            radius,
            kappa: None,
            data: self.data,
        }
    }

    /// The rows that share a budget, with where they and their entries lie: all rows of the state, or
    /// one after the other. `first_row` is the number of the first in the model.
    pub(crate) fn budgets(
        &self,
        set: &'a UncertaintySet,
        s: usize,
        first_row: usize,
    ) -> impl Iterator<Item = Budget<'a>> {
        let kappa = set.weights.as_ref().map(|kappa| &kappa[first_row..][..self.actions()]);
        let all = Block { kappa, ..self.block(set.radius_at(s, first_row)) };
        let shared = shares_budget(set);
        let count = if shared { 1 } else { all.rows() };
        (0..count).map(move |k| match shared {
            true => Budget { block: all, rows: 0..all.rows(), entries: 0..all.entries() },
            false => Budget {
                block: all.row(k, set.radius_at(s, first_row + k)),
                rows: k..k + 1,
                entries: all.span(k),
            },
        })
    }

    /// c_a + ⟨b_a, y⁰_a⟩.
    pub(crate) fn nominal_value(&self, k: usize) -> f64 {
        self.base[k] + self.nominal_value[k]
    }

    /// The action of least nominal cost.
    pub(crate) fn greedy(&self) -> usize {
        (0..self.actions())
            .min_by(|&a, &b| self.nominal_value(a).total_cmp(&self.nominal_value(b)))
            .expect("a state with actions")
    }

    pub(crate) fn nominal(&self) -> &'a [f64] {
        self.nominal
    }

    /// Visits row `k` of a kernel laid out like this game as (next state, entry).
    pub(crate) fn entries_of<'y>(
        &self,
        k: usize,
        y: &'y [f64],
    ) -> impl Iterator<Item = (usize, f64)> + use<'y, 'a> {
        let span = self.offsets[k]..self.offsets[k + 1];
        let columns = self.columns.map(|c| &c[span.clone()]);
        y[span].iter().enumerate().map(move |(i, &y)| (columns.map_or(i, |c| c[i] as usize), y))
    }
}

/// Rows of a state that share a budget.
pub(crate) struct Budget<'a> {
    pub(crate) block: Block<'a>,
    pub(crate) rows: Range<usize>,
    pub(crate) entries: Range<usize>,
}

/// Copies the rows of a state next to each other, with their objectives.
fn gather(
    model: &Model,
    rows: Range<usize>,
    layout: &Layout,
    shared: bool,
    values: &SweepValues,
    source: DataSource<'_>,
    memory: &mut ExplicitMemory,
) {
    memory.nominal.clear();
    memory.gain.clear();
    memory.columns.clear();
    for row in rows.map(|r| model.row(r)) {
        match layout {
            Layout::Full(_) => memory.spread(row, shared, values),
            Layout::Everywhere(_) => {
                let mut listed = row.entries().peekable();
                for i in 0..model.states() {
                    let mut own = listed.next_if(|e| e.0 == i).or(Some((i, 0.0, 0.0)));
                    while let Some(entry) = own {
                        memory.push(entry, values);
                        own = listed.next_if(|e| e.0 == i);
                    }
                }
            }
            Layout::Positive(_) => {
                let open = row.entries().enumerate().filter(|(j, _)| source.opens(row, *j));
                open.for_each(|(_, entry)| memory.push(entry, values));
            }
        }
    }
}

/// What the set is told of the entries of row r, in the same order.
fn gather_data(
    model: &Model,
    r: usize,
    layout: &Layout,
    source: DataSource<'_>,
    to: &mut GatheredData,
) {
    let (row, start) = (model.row(r), model.span(r).start);
    match layout {
        Layout::Full(_) | Layout::Everywhere(_) => row.visit_all(model.states(), |next, j| {
            to.push(source, next, j.map(|j| start + j));
        }),
        Layout::Positive(_) => {
            let open = row.entries().enumerate().filter(|(j, _)| source.opens(row, *j));
            open.for_each(|(j, (next, ..))| to.push(source, next, Some(start + j)));
        }
    }
}

impl ExplicitMemory {
    /// Takes in a row as one entry for every state; its objective, unless all rows share one.
    fn spread(&mut self, row: NominalRow<'_>, shared: bool, values: &SweepValues) {
        let start = self.nominal.len();
        self.nominal.resize(start + values.v.len(), 0.0);
        for (next, p, _) in row.entries() {
            self.nominal[start + next] = p;
        }
        if !shared {
            self.gain.extend(values.v.iter().map(|v| values.discount * v));
            for (next, _, extra) in row.entries() {
                self.gain[start + next] += extra;
            }
        }
    }

    /// Takes in an entry with its next state.
    fn push(&mut self, (next, p, extra): (usize, f64, f64), values: &SweepValues) {
        self.nominal.push(p);
        self.gain.push(values.discount * values.v[next] + extra);
        self.columns.push(next as u32);
    }
}

kernels! {
    /// ⟨b_a, y_a⟩ of every row.
    pub(crate) fn row_values<'a>(simd, block: Block<'a>, y: &'a [f64], out: &'a mut [f64]) -> () {
        for k in 0..block.rows() {
            out[k] = dot(simd, &y[block.span(k)], block.gain(k));
        }
    }
}
