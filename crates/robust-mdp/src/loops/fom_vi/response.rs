//! Best response to a fixed kernel: the nominal Markov decision process with kernel y,
//!   F^y(w)_s = min_a c_a + ⟨b_a, y_a⟩,
//! solved by policy iteration. For y in the set its value is a lower bound of v*.
//!
//! The kernel is an average of points of the set, so it lies in the set up to rounding; before
//! it is used every budget is checked, and a row block that exceeds its budget is mixed with y⁰
//! until it does not.

use crate::chain::Chain;
use crate::chain::{ChainRows, ChainShape};
use crate::lanes::{dispatch, sum};
use crate::loops::bounds::Bounds;
use crate::loops::fixed_point::{FixedPointMap, bound_fixed_point};
use crate::loops::sweep::{Cuts, Fields, Workers, for_each_state};
use crate::model::Model;
use crate::rows::{Budget, ExplicitMemory, ExplicitRows, Layout, RowValues, SweepValues};
use crate::sets::UncertaintySet;
use crate::sets::set::shrink;
use crate::signal::Signal;

/// The kernel that nature plays.
#[derive(Clone, Copy)]
pub(crate) enum Kernel<'a> {
    /// y⁰.
    Nominal,
    /// A weighted sum of kernels of the set; each row counts over its own total.
    Average(&'a [f64]),
}

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
    /// Greedy action of every state after a run, as a policy.
    pub(crate) policy: Vec<f64>,
    /// Sweeps done so far.
    pub(crate) sweeps: u64,
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
            policy: vec![0.0; model.rows()],
            sweeps: 0,
            entries: 0,
        }
    }

    /// Entries visited by all sweeps and by the linear systems since the last call.
    pub(crate) fn take_entries(&mut self) -> u64 {
        std::mem::take(&mut self.chain.work) + std::mem::take(&mut self.entries)
    }

    /// Bounds of the best response's value to `kernel`, no wider than `tolerance` if rounding
    /// allows; `w` is a first guess and becomes a value near it.
    pub(crate) fn run(
        &mut self,
        kernel: Kernel<'_>,
        w: &mut [f64],
        tolerance: f64,
        signal: &Signal<'_>,
    ) -> Bounds {
        self.fit(kernel);
        bound_fixed_point(&mut ToKernel { response: self, kernel }, w, tolerance, signal)
    }

    /// F^y(w) for the averaged kernel.
    pub(crate) fn image_of(&mut self, kernel: &[f64], w: &[f64]) -> Vec<f64> {
        let kernel = Kernel::Average(kernel);
        self.fit(kernel);
        self.sweep(kernel, w);
        self.next.clone()
    }

    /// Finds the share of the kernel that keeps every block of rows within its budget.
    fn fit(&mut self, kernel: Kernel<'_>) {
        let Kernel::Average(sums) = kernel else {
            return;
        };
        self.entries += 2 * self.layout.entries(self.model) as u64;
        let (model, set, layout, values) = (self.model, self.set, self.layout, &self.values);
        let fields = Fields {
            states: 0..model.states(),
            per_state: [],
            per_row: [&mut self.share, &mut self.scale],
            per_entry: [],
            chain: ChainRows::default(),
        };
        let cuts = Cuts { model, layout, chain: ChainShape::None };
        for_each_state(cuts, fields, &self.workers, &|at, worker: &mut ResponseWorker| {
            let s = at.states.start;
            let rows = model.rows_of(s);
            if rows.is_empty() {
                return;
            }
            let [share, scale] = at.per_row;
            let Some(distance) = set.distance.set() else { return share.fill(0.0) };
            let sums = &sums[layout.span(rows.clone())];
            let game = ExplicitRows::load(model, layout, s, values, &mut worker.game);
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
    fn sweep(&mut self, kernel: Kernel<'_>, w: &[f64]) {
        self.values.set(w);
        self.sweeps += 1;
        let rows_read = match kernel {
            Kernel::Nominal => 1,
            Kernel::Average(_) => 2, // and the nominal ones
        };
        self.entries += rows_read * self.layout.entries(self.model) as u64;
        let (links, chain) = self.chain.rows();
        let (model, layout, values) = (self.model, self.layout, &self.values);
        let (share, scale) = (&self.share, &self.scale);
        let fields = Fields {
            states: 0..self.model.states(),
            per_state: [&mut self.next],
            per_row: [&mut self.policy],
            per_entry: [],
            chain: links,
        };
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
            let game = ExplicitRows::load(model, layout, s, values, &mut worker.game);
            let block = game.block(0.0);
            let value = &mut worker.value[..rows.len()];
            let sums = match kernel {
                Kernel::Average(sums) => {
                    let sums = &sums[layout.span(rows.clone())];
                    dispatch(RowValues { block, y: sums, out: value });
                    for (k, value) in value.iter_mut().enumerate() {
                        let r = rows.start + k;
                        let mixed = share[r] * (game.base[k] + scale[r] * *value);
                        *value = mixed + (1.0 - share[r]) * game.nominal_value(k);
                    }
                    Some(sums)
                }
                Kernel::Nominal => {
                    for (k, value) in value.iter_mut().enumerate() {
                        *value = game.nominal_value(k);
                    }
                    None
                }
            };
            let best = (0..rows.len())
                .min_by(|&a, &b| value[a].total_cmp(&value[b]))
                .expect("a state with actions");
            let [policy] = at.per_row;
            policy.fill(0.0);
            policy[best] = 1.0;
            next[0] = value[best];
            // The greedy row of the kernel itself.
            let span = block.span(best);
            let row = &mut worker.y[span.clone()];
            row.copy_from_slice(&block.nominal[span.clone()]);
            if let Some(sums) = sums {
                let (share, scale) = (share[rows.start + best], scale[rows.start + best]);
                for (y, sum) in row.iter_mut().zip(&sums[span]) {
                    *y = share * scale * sum + (1.0 - share) * *y;
                }
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
    kernel: Kernel<'e>,
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
