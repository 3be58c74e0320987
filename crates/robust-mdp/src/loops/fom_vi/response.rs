//! Best response to a fixed kernel: the nominal Markov decision process with kernel y,
//!   F^y(w)_s = min_a c_a + ⟨b_a, y_a⟩,
//! solved by policy iteration. For y in the set its value is a lower bound of v*.
//!
//! The kernel is an average of points of the set, so it lies in the set up to rounding; before
//! it is used every budget is checked, and a row block that exceeds its budget is mixed with y⁰
//! until it does not.

use crate::chain::Chain;
use crate::lanes::sum;
use crate::loops::bounds::Bounds;
use crate::loops::fixed_point::{FixedPointMap, bound_fixed_point};
use crate::loops::sweep::{Cuts, Fields, Workers, for_each_state};
use crate::model::Model;
use crate::rows::{Budget, ExplicitMemory, ExplicitRows, Layout, SweepValues, row_values};
use crate::sets::set::shrink;
use crate::sets::{DataSource, UncertaintySet};
use crate::signal::Signal;

/// Policy iteration for the best response.
pub(crate) struct Response<'a> {
    model: &'a Model,
    set: &'a UncertaintySet,
    layout: &'a Layout,
    values: SweepValues,
    pub(super) chain: Chain,
    next: Vec<f64>,
    /// Share of the kernel (against y⁰) that keeps each row within its budget.
    share: Vec<f64>,
    /// What turns each row of the sum into a distribution.
    scale: Vec<f64>,
    workers: Workers<ResponseWorker>,
    sweeps: u64,
    /// Entries of rows that were read.
    entries: u64,
}

struct ResponseWorker {
    game: ExplicitMemory,
    value: Vec<f64>,
    y: Vec<f64>,
}

impl<'a> Response<'a> {
    pub(crate) fn new(model: &'a Model, set: &'a UncertaintySet, layout: &'a Layout) -> Self {
        let widest = |s: usize| model.rows_of(s).map(|r| layout.span(r..r + 1).len()).max();
        let (rows, entries) = layout.largest_state(model);
        Response {
            model,
            set,
            layout,
            values: SweepValues::new(model.discount(), model.states(), true, false, false),
            chain: Chain::new(model.states(), |s| widest(s).unwrap_or(0)),
            next: vec![0.0; model.states()],
            share: vec![1.0; model.rows()],
            scale: vec![1.0; model.rows()],
            workers: Workers::new(|| ResponseWorker {
                game: ExplicitMemory::new(rows, entries),
                value: vec![0.0; rows],
                y: vec![0.0; entries],
            }),
            sweeps: 0,
            entries: 0,
        }
    }

    /// Sweeps since the last call, and entries visited by them and by the linear systems.
    pub(crate) fn take_work(&mut self) -> (u64, u64) {
        let entries = std::mem::take(&mut self.chain.work) + std::mem::take(&mut self.entries);
        (std::mem::take(&mut self.sweeps), entries)
    }

    /// Bounds of the best response's value to a weighted sum of kernels of the set, each row of which
    /// counts over its own total, no wider than `tolerance` if rounding allows; `w` is a first guess and
    /// becomes a value near it.
    pub(crate) fn run(
        &mut self,
        kernel: &[f64],
        w: &mut [f64],
        tolerance: f64,
        signal: &Signal<'_>,
    ) -> Bounds {
        self.fit(kernel);
        bound_fixed_point(&mut ToKernel { response: self, kernel }, w, tolerance, signal)
    }

    /// F^y(w).
    pub(crate) fn image_of(&mut self, kernel: &[f64], w: &[f64]) -> Vec<f64> {
        self.fit(kernel);
        self.sweep(kernel, w);
        self.next.clone()
    }

    /// Finds the share of the kernel that keeps every block of rows within its budget.
    fn fit(&mut self, sums: &[f64]) {
        self.entries += 2 * self.layout.entries(self.model) as u64;
        let (model, set, layout, values) = (self.model, self.set, self.layout, &self.values);
        let fields = Fields::of(model, [], [&mut self.share, &mut self.scale], []);
        let cuts = Cuts::of(model, layout);
        for_each_state(cuts, fields, &self.workers, &|at, worker: &mut ResponseWorker| {
            let s = at.states.start;
            let rows = model.rows_of(s);
            if rows.is_empty() {
                return;
            }
            let [share, scale] = at.per_row;
            let Some(distance) = set.distance.set() else { return share.fill(0.0) };
            let sums = &sums[layout.span(rows.clone())];
            let game = ExplicitRows::load(
                model,
                layout,
                s,
                values,
                DataSource::new(model, set),
                &mut worker.game,
            );
            for Budget { block, rows: own, entries } in game.budgets(set, s, rows.start) {
                let y = &mut worker.y[..entries.len()];
                y.copy_from_slice(&sums[entries]);
                for (k, scale) in scale[own.clone()].iter_mut().enumerate() {
                    let y = &mut y[block.span(k)];
                    *scale = 1.0 / sum(y);
                    y.iter_mut().for_each(|y| *y *= *scale);
                }
                share[own].fill(shrink(distance, block.spent(distance, y), block.radius));
            }
        });
    }

    /// next = F^y(w), with the chain of the greedy policy.
    fn sweep(&mut self, sums: &[f64], w: &[f64]) {
        self.values.set(w);
        self.sweeps += 1;
        // The nominal rows too.
        self.entries += 2 * self.layout.entries(self.model) as u64;
        let (links, chain) = self.chain.rows();
        let (model, layout, values) = (self.model, self.layout, &self.values);
        let (share, scale) = (&self.share, &self.scale);
        // It opens entries, as the layout does.
        let data = DataSource::new(model, self.set);
        let fields = Fields { chain: links, ..Fields::of(model, [&mut self.next], [], []) };
        let cuts = Cuts { model, layout, chain };
        for_each_state(cuts, fields, &self.workers, &|mut at, worker: &mut ResponseWorker| {
            let s = at.states.start;
            let rows = model.rows_of(s);
            let [next] = at.per_state;
            at.chain.clear();
            next[0] = 0.0;
            if rows.is_empty() {
                return;
            }
            let game = ExplicitRows::load(model, layout, s, values, data, &mut worker.game);
            let block = game.block(0.0);
            let value = &mut worker.value[..rows.len()];
            let sums = &sums[layout.span(rows.clone())];
            row_values(block, sums, value);
            for (k, value) in value.iter_mut().enumerate() {
                let r = rows.start + k;
                let mixed = share[r] * (game.base[k] + scale[r] * *value);
                *value = mixed + (1.0 - share[r]) * game.nominal_value(k);
            }
            let best = (0..rows.len())
                .min_by(|&a, &b| value[a].total_cmp(&value[b]))
                .expect("a state with actions");
            next[0] = value[best];
            // The greedy row of the kernel itself.
            let span = block.span(best);
            let (share, scale) = (share[rows.start + best], scale[rows.start + best]);
            let mix = sums[span.clone()].iter().zip(&block.nominal[span.clone()]);
            for (y, (sum, p)) in worker.y[span].iter_mut().zip(mix) {
                *y = share * scale * sum + (1.0 - share) * p;
            }
            let mut filled = 0;
            for (next_state, y) in game.entries_of(best, &worker.y).filter(|e| e.1 > 0.0) {
                at.chain.add(s, &mut filled, next_state, y);
            }
        });
    }
}

/// F^y.
struct ToKernel<'e, 'a> {
    response: &'e mut Response<'a>,
    kernel: &'e [f64],
}

impl FixedPointMap for ToKernel<'_, '_> {
    fn model(&self) -> &Model {
        self.response.model
    }
    fn set(&self) -> &UncertaintySet {
        self.response.set
    }
    fn sweep(&mut self, w: &[f64], _: &Signal<'_>) {
        self.response.sweep(self.kernel, w);
    }
    fn image(&self) -> (&[f64], &[f64]) {
        (&self.response.next, &self.response.next)
    }
    fn chain(&mut self) -> &mut Chain {
        &mut self.response.chain
    }
    fn width(&self) -> usize {
        self.response.layout.widest_row(self.response.model)
    }
}
