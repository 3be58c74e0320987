//! FOM-VI, Algorithm 1 of \[GCK21\]: value iteration with a first-order oracle.
//!
//! Epoch ℓ runs T_ℓ = ⌈ℓ^q⌉ first-order steps on every state's game at the current v, from the last
//! iterates; the weighted averages x̄, ȳ of that epoch give v⁺ = F^{x̄,ȳ}(v). The answer is the
//! average over all epochs (`Average::All`, as published) or over the last one.
//!
//! The answer is certified: the worst case of x̄ over the set bounds v* from above, the best response
//! to ȳ bounds it from below, DG = upper − lower; after every epoch, as published, or now and then,
//! scheduled by counted work so that checks stay below a tenth of it, whatever the machine.

mod certification;
pub(crate) mod gap_trace;
pub(crate) mod response;
mod settings;

pub use self::settings::{Average, Checks, FomSettings};

use std::time::Instant;

use self::certification::{Answer, Checker};
use self::response::Response;
use crate::chain::{ChainRows, ChainShape};
use crate::checkpoint::does_not_fit;
use crate::codec::{Codec, Snapshot};
use crate::error::Error;
use crate::game::{Game, GameMemory, Layout, Lookahead};
use crate::loops::evaluation::Evaluation;
use crate::loops::sweep::{Cuts, Fields, Workers, for_each_state};
use crate::model::Model;
use crate::oracle::first_order::{FirstOrder, Hand, Setup, StateSlot, StepRule};
use crate::oracle::nature::Nature;
use crate::saddle::{Iterate, Schedule};
use crate::signal::Signal;
use crate::solve::{Run, Status};
use crate::uncertainty::UncertaintySet;

struct Worker {
    game: GameMemory,
    hand: Hand,
}

/// Iterates, sums and multipliers of all states.
struct Memory {
    x: Vec<f64>,
    x_sum: Vec<f64>,
    x_epoch: Vec<f64>,
    gradient: Vec<f64>,
    budget: Vec<f64>,
    row: Vec<f64>,
    y: Vec<f64>,
    y_sum: Vec<f64>,
}

/// The iterates of all states and what moves them.
pub(crate) struct FomVi<'a> {
    model: &'a Model,
    layout: &'a Layout,
    oracle: FirstOrder<'a>,
    settings: &'a FomSettings,
    ahead: Lookahead,
    nature: Nature<'a>,
    memory: Memory,
    workers: Workers<Worker>,
    pub(super) values: Vec<f64>,
    next: Vec<f64>,
}

/// Runs FOM-VI until the gap is certified or the run is stopped.
pub(crate) fn run(
    model: &Model,
    set: &UncertaintySet,
    setup: Setup,
    settings: &FomSettings,
    run: &mut Run<'_>,
) -> Result<Status, Error> {
    let layout = Layout::new(model, set);
    run.work.kernel_entries = layout.entries(model) as u64;
    run.width = layout.widest_row(model);
    let mut checker = Checker::new(model);
    let found = run.checkpoints.take_found()?;
    if found.is_none() {
        run.begin(model);
        if let Some(status) = head_start(model, set, settings, &mut checker, run) {
            return Ok(status);
        }
    }
    let mut evaluation = Evaluation::lending(model, set);
    let mut response = Response::without_chain(model, set, &layout);
    let mut fom = FomVi::new(model, &layout, set, setup, settings)?;
    if let Some(found) = found {
        let mut codec = found.reader(model);
        visit_fields(run, &mut fom, &mut checker, &mut evaluation, &mut codec);
        codec.finish().then_some(()).ok_or_else(does_not_fit)?;
    } else {
        if settings.head_start && settings.jump {
            checker.middle(&mut fom.values);
        }
        if let Some(start) = run.start.take() {
            fom.values = start;
        }
        fom.start();
    }
    let mut steps_before = run.work.first_order_steps;
    for epoch in run.work.sweeps + 1.. {
        if run.work.sweeps >= run.limits.max_sweeps {
            return Ok(Status::SweepLimit);
        }
        let from = Instant::now();
        if let Some(mut codec) = run.checkpoints.writer(model) {
            visit_fields(run, &mut fom, &mut checker, &mut evaluation, &mut codec);
            run.checkpoints.keep(codec, from);
        }
        let steps = settings.epoch_length(epoch);
        let schedule = Schedule { steps, first: steps_before, power: settings.weights };
        fom.epoch(schedule, &run.signal);
        if let Some(status) = run.stopped() {
            return Ok(status);
        }
        steps_before += steps;
        let residual = largest_change(&fom.values, &fom.next);
        std::mem::swap(&mut fom.values, &mut fom.next);
        run.work.sweeps += 1;
        run.work.first_order_steps = steps_before;
        run.work.oracle_calls += fom.values.len() as u64;
        run.work.entries += fom.take_entries();
        if checker.due(settings.checks, run) {
            let started = Instant::now();
            let answer = fom.answer();
            let verdict =
                checker.check(answer, settings.checks, run, &mut evaluation, &mut response);
            run.check_seconds += started.elapsed().as_secs_f64();
            if settings.jump {
                checker.middle(&mut fom.values);
            }
            run.report(residual);
            if let Some(status) = verdict {
                return Ok(status);
            }
        } else {
            run.report(residual);
        }
    }
    unreachable!("epochs are counted in 64 bits")
}

/// Certifies the nominal solution, before anything of the kernel's size is there.
fn head_start(
    model: &Model,
    set: &UncertaintySet,
    settings: &FomSettings,
    checker: &mut Checker,
    run: &mut Run<'_>,
) -> Option<Status> {
    if !settings.head_start {
        return None;
    }
    let started = Instant::now();
    let verdict = checker.first(model, set, run);
    run.check_seconds += started.elapsed().as_secs_f64();
    verdict
}

/// The state between two epochs.
fn visit_fields(
    run: &mut Run<'_>,
    fom: &mut FomVi<'_>,
    checker: &mut Checker,
    evaluation: &mut Evaluation<'_>,
    codec: &mut Codec<'_>,
) {
    run.visit_fields(codec);
    fom.visit_fields(codec);
    checker.visit_fields(codec);
    evaluation.visit_fields(codec);
}

fn largest_change(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

impl<'a> FomVi<'a> {
    pub(crate) fn new(
        model: &'a Model,
        layout: &'a Layout,
        set: &'a UncertaintySet,
        setup: Setup,
        settings: &'a FomSettings,
    ) -> Result<FomVi<'a>, Error> {
        let (states, rows, entries) = (model.states(), model.rows(), layout.entries(model));
        let oracle = FirstOrder::new(model, set, setup, settings.steps, settings.method)?;
        let (most_rows, most_entries) = layout.largest_state(model);
        let values = match settings.steps {
            StepRule::Paper => vec![0.0; states],
            StepRule::Centred => cheapest_costs(model),
        };
        Ok(FomVi {
            model,
            layout,
            ahead: Lookahead::new(oracle.reference(), model.discount(), states),
            nature: Nature::new(model, set),
            oracle,
            settings,
            memory: Memory {
                x: vec![0.0; rows],
                x_sum: vec![0.0; rows],
                x_epoch: vec![0.0; rows],
                gradient: vec![0.0; rows],
                budget: vec![0.0; rows],
                row: vec![0.0; rows],
                y: vec![0.0; entries],
                y_sum: vec![0.0; entries],
            },
            workers: Workers::new(|| Worker {
                game: GameMemory::new(most_rows, most_entries),
                hand: Hand::new(settings.method, most_rows, most_entries),
            }),
            values,
            next: vec![0.0; states],
        })
    }

    fn take_entries(&mut self) -> u64 {
        let mut total = 0;
        self.workers.visit(|w| total += w.hand.take_entries());
        total
    }

    /// Puts every state's iterates at their starting point.
    pub(super) fn start(&mut self) {
        self.ahead.set(&self.values);
        let (model, layout, oracle, ahead) = (self.model, self.layout, &self.oracle, &self.ahead);
        let fields = Fields {
            states: 0..model.states(),
            per_state: [],
            per_row: [&mut self.memory.x],
            per_entry: [&mut self.memory.y],
            halves: Default::default(),
            chain: ChainRows::default(),
        };
        let cuts = Cuts { model, layout, chain: ChainShape::None };
        for_each_state(cuts, fields, &self.workers, &|at, worker: &mut Worker| {
            let s = at.states.start;
            if !model.is_terminal(s) {
                let game = Game::load(model, layout, s, ahead, &mut worker.game);
                let ([x], [y]) = (at.per_row, at.per_entry);
                oracle.start(&game, x, y);
            }
        });
    }

    /// One epoch: leaves v⁺ in `next`, sums and iterates in memory.
    fn epoch(&mut self, schedule: Schedule, signal: &Signal<'_>) {
        self.ahead.set(&self.values);
        self.nature.set_values(&self.values);
        let (model, layout, oracle) = (self.model, self.layout, &self.oracle);
        let (ahead, nature) = (&self.ahead, &self.nature);
        let fresh = self.settings.average == Average::Epoch;
        let Memory { x, x_sum, x_epoch, gradient, budget, row, y, y_sum } = &mut self.memory;
        let fields = Fields {
            states: 0..model.states(),
            per_state: [&mut self.next],
            per_row: [x, x_sum, x_epoch, gradient, budget, row],
            per_entry: [y, y_sum],
            halves: Default::default(),
            chain: ChainRows::default(),
        };
        let cuts = Cuts { model, layout, chain: ChainShape::None };
        for_each_state(cuts, fields, &self.workers, &|at, worker: &mut Worker| {
            let s = at.states.start;
            let rows = model.rows_of(s);
            let [next] = at.per_state;
            next[0] = 0.0;
            if rows.is_empty() || signal.raised() {
                return;
            }
            let game = Game::load(model, layout, s, ahead, &mut worker.game);
            let [x, x_sum, x_epoch, gradient, budget, row] = at.per_row;
            let [y, y_sum] = at.per_entry;
            x_epoch.fill(0.0);
            gradient.fill(0.0);
            if fresh {
                y_sum.fill(0.0);
            }
            let slot = StateSlot {
                s,
                first_row: rows.start,
                iterate: Iterate { x, y, x_sum: x_epoch, y_sum, gradient_sum: gradient },
                budget,
                row,
            };
            let weight = oracle.epoch(&game, schedule, slot, nature, &mut worker.hand, signal);
            for (x, g) in x_epoch.iter().zip(&*gradient) {
                next[0] += x / weight * (g / weight);
            }
            for (sum, x) in x_sum.iter_mut().zip(&*x_epoch) {
                *sum = if fresh { *x } else { *sum + x };
            }
        });
    }

    /// One epoch and v ← v⁺.
    pub(super) fn advance(&mut self, schedule: Schedule, signal: &Signal<'_>) {
        self.epoch(schedule, signal);
        std::mem::swap(&mut self.values, &mut self.next);
    }

    /// Starts from these values, for measurements.
    pub(crate) fn begin_at(&mut self, values: &[f64]) {
        self.values.copy_from_slice(values);
        self.start();
    }

    /// An epoch that leaves the values as they are, for measurements.
    pub(crate) fn repeat_epoch(&mut self, steps: u64, first: u64, signal: &Signal<'_>) {
        let schedule = Schedule { steps, first, power: self.settings.weights };
        self.epoch(schedule, signal);
    }

    /// What a check certifies.
    pub(crate) fn answer(&self) -> Answer<'_> {
        Answer { policy: self.policy(), kernel: &self.memory.y_sum, values: &self.values }
    }

    /// The averaged policy.
    fn policy(&self) -> Vec<f64> {
        let mut x = self.memory.x_sum.clone();
        for s in 0..self.model.states() {
            let x = &mut x[self.model.rows_of(s)];
            let total: f64 = x.iter().sum();
            x.iter_mut().for_each(|x| *x /= total);
        }
        x
    }
}

impl Snapshot for FomVi<'_> {
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        codec.numbers(&mut self.values);
        let Memory { x, x_sum, budget, row, y, y_sum, .. } = &mut self.memory;
        for array in [x, budget, row, y] {
            codec.numbers(array);
        }
        // Sums that an epoch begins anew need not be kept.
        if self.settings.average == Average::All {
            codec.numbers(x_sum);
            codec.numbers(y_sum);
        }
    }
}

/// min_a c(s,a) in every state.
fn cheapest_costs(model: &Model) -> Vec<f64> {
    let least = |s| model.rows_of(s).map(|r| model.cost[r]).fold(f64::INFINITY, f64::min);
    (0..model.states()).map(|s| if model.is_terminal(s) { 0.0 } else { least(s) }).collect()
}
