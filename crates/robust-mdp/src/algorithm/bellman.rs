//! Sweeps of the exact oracle over all states: F(v) or F_x(v), with bounds, policy and chain.

use super::linear::{Chain, Tails};
use super::sweep::{ChainRows, ChainShape, Cuts, Fields, Workers, for_each_state};
use crate::game::Layout;
use crate::model::Model;
use crate::oracle::exact::outlook::Outlook;
use crate::oracle::exact::{Exact, RowMemory, Worker};
use crate::uncertainty::{Distance, UncertaintySet};

/// How far values may move, in their spread as they were, for multipliers to be worth keeping.
const FAR: f64 = 0.3;
/// The same where rows see a few states alone, whose values are closer to each other.
const FAR_IF_SPARSE: f64 = 0.1;

/// The exact Bellman operator of a model and a set; remembers multipliers between sweeps.
pub(crate) struct Bellman<'a> {
    pub(crate) model: &'a Model,
    oracle: Exact<'a>,
    layout: Layout,
    pub(crate) ahead: Outlook,
    /// lower ≤ F(v) ≤ F_x(v) ≤ upper after a sweep.
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
    /// The policy x of the upper bound.
    pub(crate) policy: Vec<f64>,
    t: Vec<f64>,
    nu: Vec<f64>,
    floor: Vec<f64>,
    workers: Workers<Worker>,
}

/// Whose choice a sweep makes.
#[derive(Clone, Copy)]
pub(crate) enum Player<'x> {
    /// Both players': F(v).
    Both,
    /// Nature's alone, against this policy: F_x(v).
    Nature(&'x [f64]),
}

impl<'a> Bellman<'a> {
    pub(crate) fn new(model: &'a Model, set: &'a UncertaintySet) -> Bellman<'a> {
        let oracle = Exact::new(model, set);
        let (states, rows) = (model.states(), model.rows());
        Bellman {
            model,
            ahead: oracle.outlook(),
            oracle,
            layout: Layout::Full(0),
            lower: vec![0.0; states],
            upper: vec![0.0; states],
            policy: vec![0.0; rows],
            t: vec![0.0; rows],
            nu: vec![0.0; rows],
            floor: vec![f64::NEG_INFINITY; rows],
            workers: Workers::new(Worker::default),
        }
    }

    /// Entries of the widest row.
    pub(crate) fn width(&self) -> usize {
        if self.oracle.spreads() {
            return self.model.states();
        }
        (0..self.model.rows()).map(|r| self.model.span(r).len()).max().unwrap_or(0)
    }

    /// Visits nature's answer to `x` at the values of the last sweep, which was hers, as
    /// (row, next state, probability).
    pub(crate) fn kernel(&mut self, x: &[f64], mut visit: impl FnMut(usize, usize, f64)) {
        let worker = self.workers.first();
        for s in 0..self.model.states() {
            let rows = self.model.rows_of(s);
            let memory = RowMemory {
                t: &mut self.t[rows.clone()],
                nu: &mut self.nu[rows.clone()],
                floor: &mut self.floor[rows.clone()],
            };
            let (first, x) = (rows.start, &x[rows]);
            self.oracle.kernel(s, &self.ahead, memory, x, worker, |k, next, p| {
                visit(first + k, next, p);
            });
        }
    }

    /// Row entries visited since the last call.
    pub(crate) fn take_entries(&mut self) -> u64 {
        let mut total = 0;
        self.workers.visit(|w| total += w.take_entries());
        total
    }

    /// Makes a chain with room for whatever a sweep may put into it.
    pub(crate) fn make_room(&self, chain: &mut Option<Chain>) {
        if chain.is_none() {
            let everywhere = self.oracle.spreads();
            let states = self.model.states();
            let entries = |s: usize| -> usize {
                self.model.rows_of(s).map(|r| self.model.span(r).len()).sum()
            };
            *chain = Some(Chain::new(states, |s| if everywhere { states } else { entries(s) }));
        }
    }

    /// Whether chains are better made after a sweep, with room for the rows that `x` uses alone.
    pub(crate) fn chains_apart(&self) -> bool {
        !self.model.is_dense()
    }

    /// The chain of `x` (the policy, if none is given) and the multipliers that the last sweep left;
    /// `fitted` gives it just the room it needs.
    pub(crate) fn chain_of(&mut self, x: Option<&[f64]>, fitted: bool, chain: &mut Option<Chain>) {
        let (model, oracle, ahead) = (self.model, self.oracle, &self.ahead);
        let x = x.unwrap_or(&self.policy);
        // One more entry a row for a peak outside of its support.
        let more = usize::from(oracle.spreads());
        let used = |s: usize| -> usize {
            let rows = model.rows_of(s).filter(|&r| x[r] > 0.0);
            rows.map(|r| model.span(r).len() + more).sum()
        };
        match chain {
            Some(_) if !fitted => (),
            Some(chain) => chain.reserve(used),
            None => *chain = Some(Chain::new(model.states(), used)),
        }
        let Some(Chain { states, pointers, columns, entries, tails, .. }) = chain else { return };
        if let (Some(ranking), Some(_)) = (&ahead.ranking, &*pointers) {
            let tails =
                tails.get_or_insert_with(|| Tails::new(model.states(), |s| model.rows_of(s).len()));
            tails.order.copy_from_slice(&ranking.order);
            tails.level.copy_from_slice(&ranking.level);
        }
        let fields = Fields {
            states: 0..*states,
            per_state: [],
            per_row: [&mut self.t, &mut self.nu, &mut self.floor],
            per_entry: [],
            chain: ChainRows { entries, columns, tails: Tails::rows(tails) },
        };
        let shape = Chain::shape(pointers, *states);
        let cuts = Cuts { model, layout: &self.layout, chain: shape };
        for_each_state(cuts, fields, &self.workers, &|mut at, worker: &mut Worker| {
            let s = at.states.start;
            at.chain.clear();
            let [t, nu, floor] = at.per_row;
            let memory = RowMemory { t, nu, floor };
            let x = &x[model.rows_of(s)];
            if !x.is_empty() {
                oracle.chain_row(s, ahead, memory, x, worker, &mut at.chain);
            }
        });
    }

    /// A sweep of F in which every state sees the values of those before it.
    pub(crate) fn sweep_in_place(&mut self, v: &mut [f64], tolerance: f64) {
        self.ahead.set(v);
        self.ahead.begin_in_place();
        let worker = self.workers.first();
        for s in 0..v.len() {
            let rows = self.model.rows_of(s);
            (self.lower[s], self.upper[s]) = (0.0, 0.0);
            if rows.is_empty() {
                continue;
            }
            let memory = RowMemory {
                t: &mut self.t[rows.clone()],
                nu: &mut self.nu[rows.clone()],
                floor: &mut self.floor[rows.clone()],
            };
            let x = &mut self.policy[rows];
            let value = self.oracle.update(s, &self.ahead, tolerance, memory, x, worker, None);
            (self.lower[s], self.upper[s]) = (value.lower, value.upper);
            v[s] = value.upper;
            self.ahead.set_one(s, v[s]);
        }
    }

    /// Drops the multipliers if a step of the values since the last sweep makes them worse than none,
    /// as with ellipsoids: steps on the multipliers of a budget fall short while the support of a row
    /// is the wrong one. Floors of nominal values stay.
    pub(crate) fn forget_after(&mut self, step: &[f64]) {
        if self.oracle.set.distance != Distance::Ellipsoid {
            return;
        }
        let (low, high) = (step.iter())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &d| (l.min(d), h.max(d)));
        let far = if self.model.is_dense() { FAR } else { FAR_IF_SPARSE };
        if high - low > far * self.ahead.range {
            self.t.fill(0.0);
            self.nu.fill(0.0);
        }
    }

    /// Encloses F(v) or F_x(v) state by state, each as narrow as `tolerance` if rounding allows.
    pub(crate) fn sweep(
        &mut self,
        v: &[f64],
        player: Player<'_>,
        tolerance: f64,
        chain: Option<&mut Chain>,
    ) {
        self.ahead.set(v);
        let (model, oracle, ahead) = (self.model, self.oracle, &self.ahead);
        let with_chain = chain.is_some();
        let (rows, shape) = match chain {
            Some(Chain { states, pointers, columns, entries, tails, .. }) => {
                let tails = Tails::rows(tails);
                (ChainRows { entries, columns, tails }, Chain::shape(pointers, *states))
            }
            None => (ChainRows::default(), ChainShape::None),
        };
        let fields = Fields {
            states: 0..model.states(),
            per_state: [&mut self.lower, &mut self.upper],
            per_row: [&mut self.policy, &mut self.t, &mut self.nu, &mut self.floor],
            per_entry: [],
            chain: rows,
        };
        let cuts = Cuts { model, layout: &self.layout, chain: shape };
        for_each_state(cuts, fields, &self.workers, &|mut at, worker: &mut Worker| {
            let s = at.states.start;
            let rows = model.rows_of(s);
            let [lower, upper] = at.per_state;
            (lower[0], upper[0]) = (0.0, 0.0);
            if with_chain {
                at.chain.clear();
            }
            if rows.is_empty() {
                return;
            }
            let [x, t, nu, floor] = at.per_row;
            let memory = RowMemory { t, nu, floor };
            let chain = with_chain.then_some(&mut at.chain);
            let value = match player {
                Player::Both => oracle.update(s, ahead, tolerance, memory, x, worker, chain),
                Player::Nature(policy) => {
                    oracle.respond(s, ahead, tolerance, memory, &policy[rows], worker, chain)
                }
            };
            (lower[0], upper[0]) = (value.lower, value.upper);
        });
    }
}
