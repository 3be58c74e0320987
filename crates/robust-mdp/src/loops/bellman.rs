//! Sweeps of the exact oracle over all states: F(v) or F_x(v), with bounds, policy and chain.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, Ordering};

use super::bounds::UNKNOWN;
use super::sweep::{Cuts, Fields, Workers, collect_states, for_each_state};
use crate::chain::{Chain, Tails};
use crate::codec::{Codec, Snapshot};
use crate::model::Model;
use crate::oracle::exact::{Exact, ExactScratch, Goal, Points, RowMemory};
use crate::rows::{Layout, SweepValues, widest_row};
use crate::sets::UncertaintySet;

/// States from one look at the signal to the next: a look costs as much as a short nominal row.
const ASKED_EVERY: usize = 16;
/// Entries of a kernel that are held at once, or about as many where states differ in their actions.
const AT_ONCE: usize = 1 << 20;
/// The exact Bellman operator of a model and a set; remembers multipliers between sweeps.
pub(crate) struct Bellman<'a> {
    pub(crate) model: &'a Model,
    oracle: Exact<'a>,
    layout: Layout,
    pub(crate) values: SweepValues,
    /// lower ≤ F(v) ≤ F_x(v) ≤ upper after a sweep.
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
    /// The policy x of the upper bound.
    pub(crate) policy: Vec<f64>,
    memory: SweepMemory,
    /// No row leads farther than this from its state; `None`: rows may have mass anywhere.
    reach: Option<usize>,
    /// Entries of the widest row.
    width: usize,
    workers: Workers<ExactScratch>,
}

/// What the rows of all states remember from sweep to sweep, see [`RowMemory`].
struct SweepMemory {
    t: Vec<f64>,
    nu: Vec<f64>,
    screen: Vec<f64>,
}

impl SweepMemory {
    fn of(&mut self, rows: Range<usize>) -> RowMemory<'_> {
        let SweepMemory { t, nu, screen } = self;
        let (t, nu) = (&mut t[rows.clone()], &mut nu[rows.clone()]);
        RowMemory { t, nu, screen: &mut screen[rows] }
    }
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
            values: oracle.values(),
            reach: (!model.is_dense() && !oracle.reaches_out()).then(|| model.reach()),
            oracle,
            layout: Layout::Full(0),
            lower: vec![0.0; states],
            upper: vec![0.0; states],
            policy: vec![0.0; rows],
            memory: SweepMemory {
                t: vec![0.0; rows],
                nu: vec![0.0; rows],
                screen: vec![f64::NEG_INFINITY; rows],
            },
            width: widest_row(model, set),
            workers: Workers::new(ExactScratch::default),
        }
    }

    /// The same, with rows priced one by one if so, whatever their kind.
    pub(crate) fn bracketed(mut self, bracketed: bool) -> Bellman<'a> {
        self.oracle.bracketed = bracketed;
        self
    }

    /// The same, with policies that maximise too if so.
    pub(crate) fn cooperative(mut self, cooperative: bool) -> Bellman<'a> {
        self.oracle.cooperative = cooperative;
        self
    }

    /// The same, at rows as the verifier of certificates makes them.
    pub(crate) fn referred(mut self) -> Bellman<'a> {
        self.values.refer();
        self
    }

    /// Entries of the widest row.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Visits nature's answer to `x` at the values of the last sweep, which was hers, as
    /// (row, next state, probability), rows in order; computed in parallel, some states at a time, until
    /// the visitor has enough.
    pub(crate) fn kernel(
        &self,
        x: &[f64],
        mut visit: impl FnMut(usize, usize, f64) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let states = self.model.states();
        let entries = self.model.rows().saturating_mul(self.width());
        let block = (AT_ONCE / entries.div_ceil(states.max(1)).max(1)).max(1);
        for start in (0..states).step_by(block) {
            let part = start..states.min(start + block);
            let found = self.collect(part, &|s, memory, worker, out| {
                let rows = self.model.rows_of(s);
                let (first, x) = (rows.start, &x[rows]);
                self.oracle.kernel(s, &self.values, memory, x, worker, |k, next, p| {
                    out.push((first + k, next, p));
                });
            });
            found.into_iter().try_for_each(|(row, next, p)| visit(row, next, p))?;
        }
        ControlFlow::Continue(())
    }

    /// What `visit` puts out for these states, in their order, from what their rows remember of the
    /// last sweep; in parallel.
    pub(crate) fn collect<T: Send>(
        &self,
        states: Range<usize>,
        visit: &(impl Fn(usize, RowMemory<'_>, &mut ExactScratch, &mut Vec<T>) + Sync),
    ) -> Vec<T> {
        let SweepMemory { t, nu, screen } = &self.memory;
        collect_states(states, &self.workers, &|s, worker, out| {
            let rows = self.model.rows_of(s);
            let [mut t, mut nu, mut screen] = [t, nu, screen].map(|all| all[rows.clone()].to_vec());
            let memory = RowMemory { t: &mut t, nu: &mut nu, screen: &mut screen };
            visit(s, memory, worker, out);
        })
    }

    /// The multipliers of each state's rows for its goal, at the values of the last sweep, which was of
    /// both players, as `visit` takes them: the state, (action, t, ν) for each of its rows, their price
    /// curves, and where to put them.
    pub(crate) fn multipliers<T: Send>(
        &self,
        goal: &(impl Fn(usize) -> Goal + Sync),
        visit: &(impl Fn(usize, &[(usize, f64, f64)], Points<'_, '_>, &mut Vec<T>) + Sync),
    ) -> Vec<T> {
        self.collect(0..self.model.states(), &|s, memory, worker, out| {
            let visit = |rows: &[(usize, f64, f64)], points: Points<'_, '_>| {
                visit(s, rows, points, out);
            };
            self.oracle.multipliers(s, &self.values, goal(s), memory, worker, visit);
        })
    }

    /// See [`Exact::second_numbers`]; in what rows remember of the last sweep, which was nature's.
    pub(crate) fn second_numbers(
        &self,
        s: usize,
        x: &[f64],
        memory: &mut RowMemory<'_>,
        worker: &mut ExactScratch,
    ) {
        self.oracle.second_numbers(s, &self.values, x, memory, worker);
    }

    /// Row entries visited since the last call.
    pub(crate) fn take_entries(&mut self) -> u64 {
        let mut total = 0;
        self.workers.visit(|worker| total += worker.take_entries());
        total
    }

    /// The chain of `x` (the policy, if none is given) and the multipliers that the last sweep left.
    pub(crate) fn chain_of(&mut self, x: Option<&[f64]>, chain: &mut Option<Chain>) {
        let (model, own) = (self.model, std::mem::take(&mut self.policy));
        let x = x.unwrap_or(&own);
        let used = |s: usize| -> usize {
            let rows = model.rows_of(s).filter(|&r| x[r] > 0.0);
            rows.map(|r| self.oracle.chain_entries(r)).sum()
        };
        let chain = chain.get_or_insert_with(|| Chain::of_states(model.states()));
        chain.reserve(used, self.reach);
        self.fill_chain(x, chain);
        self.policy = own;
    }

    /// The same, in a chain that has room for it.
    pub(crate) fn fill_chain(&mut self, x: &[f64], chain: &mut Chain) {
        let (model, oracle, values) = (self.model, &self.oracle, &self.values);
        if let (Some(ranking), true, Some(_)) = (&values.ranking, oracle.spreads(), &chain.pointers)
        {
            let new = || Tails::new(model.states(), |s| model.rows_of(s).len());
            let tails = chain.tails.get_or_insert_with(new);
            tails.order.copy_from_slice(&ranking.order);
            tails.level.copy_from_slice(&ranking.level);
        }
        let (rows, shape) = chain.rows();
        let SweepMemory { t, nu, screen } = &mut self.memory;
        let fields = Fields { chain: rows, ..Fields::of(model, [], [t, nu, screen], []) };
        let cuts = Cuts { model, layout: &self.layout, chain: shape };
        for_each_state(cuts, fields, &self.workers, &|mut at, worker| {
            let s = at.states.start;
            at.chain.clear();
            let (x, [t, nu, screen]) = (&x[model.rows_of(s)], at.per_row);
            if !x.is_empty() {
                let memory = RowMemory { t, nu, screen };
                oracle.chain_row(s, values, memory, x, worker, &mut at.chain);
            }
        });
    }

    /// A sweep of F in which every state sees the values of those before it, until `stop` says so.
    pub(crate) fn sweep_in_place(
        &mut self,
        v: &mut [f64],
        tolerance: f64,
        stop: &(dyn Fn() -> bool + Sync),
    ) {
        self.values.set(v);
        self.values.begin_in_place();
        let worker = self.workers.first();
        let mut stopped = false;
        for s in 0..v.len() {
            let rows = self.model.rows_of(s);
            (self.lower[s], self.upper[s]) = (0.0, 0.0);
            if rows.is_empty() {
                continue;
            }
            stopped |= s % ASKED_EVERY == 0 && stop();
            if stopped {
                (self.lower[s], self.upper[s]) = UNKNOWN;
                continue;
            }
            let x = &mut self.policy[rows.clone()];
            let memory = self.memory.of(rows);
            let value = self.oracle.update(s, &self.values, tolerance, memory, x, worker);
            (self.lower[s], self.upper[s]) = (value.lower, value.upper);
            v[s] = value.upper;
            self.values.set_one(s, v[s]);
        }
    }

    /// Encloses F(v) or F_x(v) state by state, each as narrow as `tolerance` if rounding allows.
    pub(crate) fn sweep(&mut self, v: &[f64], player: Player<'_>, tolerance: f64) {
        self.sweep_until(v, player, tolerance, &|| false);
    }

    /// The same, leaving the states that are still to come unknown once `stop` says so.
    pub(crate) fn sweep_until(
        &mut self,
        v: &[f64],
        player: Player<'_>,
        tolerance: f64,
        stop: &(dyn Fn() -> bool + Sync),
    ) {
        self.values.set(v);
        self.values.allow(tolerance);
        let (model, oracle, values) = (self.model, &self.oracle, &self.values);
        let SweepMemory { t, nu, screen } = &mut self.memory;
        let fields = Fields::of(
            model,
            [&mut self.lower, &mut self.upper],
            [&mut self.policy, t, nu, screen],
            [],
        );
        let cuts = Cuts::of(model, &self.layout);
        let stopped = AtomicBool::new(false);
        for_each_state(cuts, fields, &self.workers, &|at, worker| {
            let s = at.states.start;
            let rows = model.rows_of(s);
            let [lower, upper] = at.per_state;
            (lower[0], upper[0]) = (0.0, 0.0);
            if rows.is_empty() {
                return;
            }
            if s % ASKED_EVERY == 0 && stop() {
                stopped.store(true, Ordering::Relaxed);
            }
            if stopped.load(Ordering::Relaxed) {
                (lower[0], upper[0]) = UNKNOWN;
                return;
            }
            let [x, t, nu, screen] = at.per_row;
            let memory = RowMemory { t, nu, screen };
            let value = match player {
                Player::Both => oracle.update(s, values, tolerance, memory, x, worker),
                Player::Nature(policy) => {
                    oracle.respond(s, values, tolerance, memory, &policy[rows], worker)
                }
            };
            (lower[0], upper[0]) = (value.lower, value.upper);
        });
    }
}

impl Snapshot for Bellman<'_> {
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        self.values.visit_fields(codec);
        let SweepMemory { t, nu, screen } = &mut self.memory;
        [t, nu, screen].into_iter().for_each(|numbers| codec.numbers(numbers));
        codec.numbers(&mut self.policy);
        // Entries that no account has yet.
        let mut entries = self.take_entries();
        codec.count(&mut entries);
        self.workers.first().give_entries(entries);
    }
}

#[cfg(test)]
mod tests;
