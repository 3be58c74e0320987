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
mod worst_case;

pub use self::settings::{Average, Checks, FomSettings};

use std::time::Instant;

use self::certification::{Answer, Checker, HeadStart, Sides};
use crate::codec::{Codec, Snapshot};
use crate::error::Error;
use crate::loops::course::{Rounds, repeat};
use crate::loops::operator::cheapest_costs;
use crate::loops::sweep::{Cuts, Fields, Workers, for_each_state};
use crate::model::Model;
use crate::oracle::first_order::{FirstOrder, Hand, Setup, StateSlot, StepRule};
use crate::oracle::nature::Nature;
use crate::rows::{ExplicitMemory, ExplicitRows, Layout};
use crate::saddle::{Iterate, Schedule};
use crate::sets::UncertaintySet;
use crate::signal::Signal;
use crate::solve::{Run, Status};

struct StepWorker {
    game: ExplicitMemory,
    hand: Hand,
}

/// Iterates, sums and multipliers of all states.
struct Iterates {
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
    nature: Nature<'a>,
    memory: Iterates,
    workers: Workers<StepWorker>,
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
    let mut start = None;
    if !run.checkpoints.has_found() {
        run.begin(model);
        // Before anything of the kernel's size is there.
        if settings.head_start {
            let started = Instant::now();
            let (found, status) = HeadStart::new(model, set, &layout, run);
            run.check_seconds += started.elapsed().as_secs_f64();
            if let Some(status) = status {
                return Ok(status);
            }
            start = Some(found);
        }
    }
    let jump = start.is_some() && settings.jump;
    let checker = Checker::new(Sides::new(model, set, &layout), start);
    let mut fom = FomVi::new(model, &layout, set, setup, settings)?;
    if jump {
        checker.middle(&mut fom.values);
    }
    if let Some(start) = run.start.take() {
        fom.values = start;
    }
    if !run.checkpoints.has_found() {
        fom.start();
    }
    repeat(&mut Epochs { run, fom, checker })
}

/// Epochs of FOM-VI, some of which are certified.
struct Epochs<'c, 'a, 'r> {
    run: &'c mut Run<'r>,
    fom: FomVi<'a>,
    checker: Checker<'a>,
}

impl<'r> Rounds<'r> for Epochs<'_, '_, 'r> {
    fn run(&mut self) -> &mut Run<'r> {
        self.run
    }

    fn round(&mut self) -> Option<Status> {
        let Epochs { run, fom, checker } = self;
        let FomSettings { checks, jump, weights, .. } = *fom.settings;
        let (steps, first) =
            (fom.settings.epoch_length(run.work.sweeps + 1), run.work.first_order_steps);
        fom.epoch(Schedule { steps, first, power: weights }, &run.signal);
        if let Some(status) = run.stopped() {
            return Some(status);
        }
        let residual = largest_change(&fom.values, &fom.next);
        std::mem::swap(&mut fom.values, &mut fom.next);
        run.work.sweeps += 1;
        run.work.first_order_steps += steps;
        run.work.oracle_calls += fom.values.len() as u64;
        run.work.entries += fom.take_entries();
        let mut status = None;
        if checker.due(checks, run) {
            let started = Instant::now();
            status = checker.check(fom.answer(), checks, run);
            run.check_seconds += started.elapsed().as_secs_f64();
            if jump {
                checker.middle(&mut fom.values);
            }
        }
        run.report(residual);
        status
    }
}

impl Snapshot for Epochs<'_, '_, '_> {
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        self.run.visit_fields(codec);
        self.fom.visit_fields(codec);
        self.checker.visit_fields(codec);
    }
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
            nature: Nature::new(model, set),
            oracle,
            settings,
            memory: Iterates {
                x: vec![0.0; rows],
                x_sum: vec![0.0; rows],
                x_epoch: vec![0.0; rows],
                gradient: vec![0.0; rows],
                budget: vec![0.0; rows],
                row: vec![0.0; rows],
                y: vec![0.0; entries],
                y_sum: vec![0.0; entries],
            },
            workers: Workers::new(|| StepWorker {
                game: ExplicitMemory::new(most_rows, most_entries),
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
        self.nature.set_values(&self.values);
        let (model, layout, oracle) = (self.model, self.layout, &self.oracle);
        let values = &self.nature.values;
        let fields = Fields::of(model, [], [&mut self.memory.x], [&mut self.memory.y]);
        let cuts = Cuts::of(model, layout);
        for_each_state(cuts, fields, &self.workers, &|at, worker: &mut StepWorker| {
            let s = at.states.start;
            if !model.is_terminal(s) {
                let game = ExplicitRows::load(
                    model,
                    layout,
                    s,
                    values,
                    self.nature.data(),
                    &mut worker.game,
                );
                let ([x], [y]) = (at.per_row, at.per_entry);
                oracle.start(&game, x, y);
            }
        });
    }

    /// One epoch: leaves v⁺ in `next`, sums and iterates in memory.
    fn epoch(&mut self, schedule: Schedule, signal: &Signal<'_>) {
        self.nature.set_values(&self.values);
        let (model, layout, oracle) = (self.model, self.layout, &self.oracle);
        let nature = &self.nature;
        let fresh = self.settings.average == Average::Epoch;
        let Iterates { x, x_sum, x_epoch, gradient, budget, row, y, y_sum } = &mut self.memory;
        let fields = Fields::of(
            model,
            [&mut self.next],
            [x, x_sum, x_epoch, gradient, budget, row],
            [y, y_sum],
        );
        let cuts = Cuts::of(model, layout);
        for_each_state(cuts, fields, &self.workers, &|at, worker: &mut StepWorker| {
            let s = at.states.start;
            let rows = model.rows_of(s);
            let [next] = at.per_state;
            next[0] = 0.0;
            if rows.is_empty() || signal.raised() {
                return;
            }
            let game = ExplicitRows::load(
                model,
                layout,
                s,
                &nature.values,
                nature.data(),
                &mut worker.game,
            );
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
        let Iterates { x, x_sum, budget, row, y, y_sum, .. } = &mut self.memory;
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
