//! Worst case of a fixed policy over the whole set: v^x = F_x(v^x),
//!   F_x(w)_s = max_{y ∈ P_s} Σ_a x_a (c_a + ⟨b_a, y_a⟩).
//!
//! The adversary's policy iteration: a sweep finds nature's best response y to w exactly, one
//! linear system gives the value of (x, y), which only grows, and the sweep after that bounds
//! what is left ([`super::bounds`]). The number of sweeps hardly depends on λ.

use super::bounds::Bounds;
use super::fixed_point::{Operator, bound_fixed_point};
use super::linear::{Chain, Tails};
use super::sweep::{ChainRows, Cuts, Fields, Workers, for_each_state};
use crate::game::{Game, GameMemory, Layout, Lookahead, Reference};
use crate::model::Model;
use crate::oracle::worst_case::{Memory, worst_case};
use crate::solve::Signal;
use crate::uncertainty::{Scratch, UncertaintySet};

/// The evaluator of one model and set; remembers multipliers between sweeps.
pub(crate) struct Evaluation<'a> {
    model: &'a Model,
    set: &'a UncertaintySet,
    layout: &'a Layout,
    ahead: Lookahead,
    /// Lent to the best response between evaluations.
    pub(super) chain: Chain,
    budget: Vec<f64>,
    row: Vec<f64>,
    /// F_x(w) lies between these.
    below: Vec<f64>,
    above: Vec<f64>,
    workers: Workers<Worker>,
    /// Sweeps done so far.
    pub(crate) sweeps: u64,
}

struct Worker {
    game: GameMemory,
    scratch: Scratch,
    y: Vec<f64>,
}

impl Worker {
    fn new(model: &Model, layout: &Layout) -> Worker {
        let (rows, entries) = layout.largest_state(model);
        Worker {
            game: GameMemory::new(rows, entries),
            scratch: Scratch::new(rows, entries),
            y: vec![0.0; entries],
        }
    }
}

impl<'a> Evaluation<'a> {
    pub(crate) fn new(model: &'a Model, set: &'a UncertaintySet, layout: &'a Layout) -> Self {
        Evaluation {
            model,
            set,
            layout,
            ahead: Lookahead::new(Reference::Maximum, model.discount(), model.states()),
            chain: Chain::new(model.states(), |s| layout.span(model.rows_of(s)).len()),
            budget: vec![0.0; model.rows()],
            row: vec![0.0; model.rows()],
            below: vec![0.0; model.states()],
            above: vec![0.0; model.states()],
            workers: Workers::new(|| Worker::new(model, layout)),
            sweeps: 0,
        }
    }

    fn new_worker(&self) -> Worker {
        Worker::new(self.model, self.layout)
    }

    /// Entries visited by all sweeps and linear systems since the last call.
    pub(crate) fn take_entries(&mut self) -> u64 {
        let mut total = std::mem::take(&mut self.chain.work);
        self.workers.visit(|w| total += std::mem::take(&mut w.scratch.entries));
        total
    }

    /// Encloses F_x(w), with the chain of (x, y) for nature's best response y.
    fn sweep(&mut self, x: &[f64], w: &[f64]) {
        self.ahead.set(w);
        self.sweeps += 1;
        let Chain { states, pointers, columns, entries, tails, cost, .. } = &mut self.chain;
        let chain = Chain::shape(pointers, *states);
        let (model, set, layout, ahead) = (self.model, self.set, self.layout, &self.ahead);
        let cuts = Cuts { model, layout, chain };
        let fields = Fields {
            states: 0..*states,
            per_state: [&mut self.below, &mut self.above, cost],
            per_row: [&mut self.budget, &mut self.row],
            per_entry: [],
            chain: ChainRows { entries, columns, tails: Tails::rows(tails) },
        };
        for_each_state(cuts, fields, &self.workers, &|mut at, worker: &mut Worker| {
            let s = at.states.start;
            let rows = model.rows_of(s);
            let [below, above, cost] = at.per_state;
            at.chain.clear();
            (below[0], above[0], cost[0]) = (0.0, 0.0, 0.0);
            if rows.is_empty() {
                return;
            }
            let game = Game::load(model, layout, s, ahead, &mut worker.game);
            let [budget, row] = at.per_row;
            let x = &x[rows.clone()];
            let (y, memory) = (&mut worker.y, Memory { budget, row });
            let scratch = &mut worker.scratch;
            let value = worst_case(set, s, rows.start, &game, x, y, memory, scratch);
            (below[0], above[0]) = (value.lower, value.upper);
            let mut filled = 0;
            for (k, &x) in x.iter().enumerate().filter(|&(_, &x)| x > 0.0) {
                for (next_state, y) in game.entries_of(k, y).filter(|e| e.1 > 0.0) {
                    at.chain.add(&mut filled, next_state, x * y);
                }
            }
            cost[0] = game.expected_cost(model, rows, x, y);
        });
    }

    /// Bounds of v^x no wider than `tolerance` if rounding allows; `w` is a first guess and
    /// becomes a value near v^x.
    pub(crate) fn run(
        &mut self,
        x: &[f64],
        w: &mut [f64],
        tolerance: f64,
        signal: &Signal<'_>,
    ) -> Bounds {
        let x = without_negligible(x);
        bound_fixed_point(&mut OfPolicy { evaluation: self, x: &x }, w, tolerance, signal)
    }

    /// An upper bound of F_x(w), tight up to rounding.
    pub(crate) fn image_of(&mut self, x: &[f64], w: &[f64]) -> Vec<f64> {
        self.sweep(&without_negligible(x), w);
        self.above.clone()
    }

    /// The kernel that is worst for `x` at values `w`, row by row: `visit(row, entries)`.
    pub(crate) fn worst_kernel(
        &mut self,
        x: &[f64],
        w: &[f64],
        mut visit: impl FnMut(usize, &mut dyn Iterator<Item = (usize, f64)>),
    ) {
        let x = without_negligible(x);
        self.ahead.set(w);
        let mut worker = self.new_worker();
        for s in 0..self.model.states() {
            let rows = self.model.rows_of(s);
            if rows.is_empty() {
                continue;
            }
            let game = Game::load(self.model, self.layout, s, &self.ahead, &mut worker.game);
            let (budget, row) = (&mut self.budget[rows.clone()], &mut self.row[rows.clone()]);
            let (y, scratch) = (&mut worker.y, &mut worker.scratch);
            let memory = Memory { budget, row };
            worst_case(self.set, s, rows.start, &game, &x[rows.clone()], y, memory, scratch);
            for (k, r) in rows.enumerate() {
                visit(r, &mut game.entries_of(k, y));
            }
        }
    }
}

/// A policy whose weights below 1e-18 are zero. A row counts at most 0 against its maximum, so that
/// leaving it out keeps the upper bound, and costs less than rounding.
fn without_negligible(x: &[f64]) -> Vec<f64> {
    x.iter().map(|&x| if x <= 1e-18 { 0.0 } else { x }).collect()
}

/// F_x.
struct OfPolicy<'e, 'a> {
    evaluation: &'e mut Evaluation<'a>,
    x: &'e [f64],
}

impl Operator for OfPolicy<'_, '_> {
    fn model(&self) -> &Model {
        self.evaluation.model
    }
    fn sweep(&mut self, w: &[f64]) {
        self.evaluation.sweep(self.x, w);
    }
    fn image(&self) -> (&[f64], &[f64]) {
        (&self.evaluation.below, &self.evaluation.above)
    }
    fn chain(&mut self) -> &mut Chain {
        &mut self.evaluation.chain
    }
    fn width(&self) -> usize {
        self.evaluation.layout.widest_row(self.evaluation.model)
    }
}
