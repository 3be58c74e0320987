//! Sweeps of F by the oracles that play a state's game as such: interior point and first order.
//!
//! The interior-point oracle solves each game anew. The first-order oracle goes on from the last
//! iterates with twice the steps until its enclosure is as narrow as asked, or [`MOST_STEPS`].

use super::bounds::UNKNOWN;
use super::fom_vi::FomSettings;
use super::sweep::{Cuts, Fields, Workers, for_each_state};
use crate::chain::Chain;
use crate::chain::{ChainRows, ChainShape};
use crate::codec::{Codec, Snapshot};
use crate::game::{Game, GameMemory, Layout, Lookahead, Reference, Values, shares_budget};
use crate::lanes::dispatch;
use crate::model::Model;
use crate::oracle::first_order::{FirstOrder, Setup, StateSlot};
use crate::oracle::interior_point;
use crate::oracle::worst_case::{Memory, worst_case};
use crate::saddle::{Iterate, Schedule, Workspace};
use crate::sets::proximal::mix_with_nominal;
use crate::sets::{Distance, Enclosure, Scratch, UncertaintySet};
use crate::signal::Signal;

/// First-order steps on one game in one sweep.
const MOST_STEPS: u64 = 1 << 14;
const FIRST_STEPS: u64 = 16;

/// Which oracle.
enum Play<'a> {
    /// With every program solved whole, or spared what cannot matter.
    InteriorPoint {
        whole: bool,
    },
    FirstOrder(FirstOrder<'a>),
}

/// The games of all states.
pub(crate) struct Games<'a> {
    model: &'a Model,
    set: &'a UncertaintySet,
    layout: Layout,
    play: Play<'a>,
    /// Referenced at the maximum, and as the first-order oracle wants it.
    ahead: [Lookahead; 2],
    budget: Vec<f64>,
    row: Vec<f64>,
    /// Iterates of the first-order oracle.
    x: Vec<f64>,
    y: Vec<f64>,
    started: bool,
    workers: Workers<Worker>,
    /// First-order steps taken in the state that took most.
    pub(crate) steps: u64,
}

struct Worker {
    game: GameMemory,
    scratch: Scratch,
    workspace: Workspace,
    y: Vec<f64>,
    x_sum: Vec<f64>,
    gradient: Vec<f64>,
    most: u64,
}

impl<'a> Games<'a> {
    pub(crate) fn interior_point(
        model: &'a Model,
        set: &'a UncertaintySet,
        whole: bool,
    ) -> Games<'a> {
        let play = Play::InteriorPoint { whole };
        Games::new(model, set, play, Reference::Maximum, &FomSettings::default())
    }

    pub(crate) fn first_order(
        model: &'a Model,
        set: &'a UncertaintySet,
        setup: Setup,
        settings: &FomSettings,
    ) -> Games<'a> {
        let oracle = FirstOrder::new(model, set, setup, settings.steps, settings.method);
        let reference = oracle.reference();
        Games::new(model, set, Play::FirstOrder(oracle), reference, settings)
    }

    fn new(
        model: &'a Model,
        set: &'a UncertaintySet,
        play: Play<'a>,
        reference: Reference,
        settings: &FomSettings,
    ) -> Games<'a> {
        let layout = Layout::new(model, set);
        let (rows, entries) = layout.largest_state(model);
        let iterates = matches!(play, Play::FirstOrder(_));
        let size = |n: usize| vec![0.0; if iterates { n } else { 0 }];
        let ahead = |r| Lookahead::new(r, model.discount(), model.states());
        Games {
            model,
            set,
            play,
            ahead: [ahead(Reference::Maximum), ahead(reference)],
            budget: vec![0.0; model.rows()],
            row: vec![0.0; model.rows()],
            x: size(model.rows()),
            y: size(layout.entries(model)),
            started: false,
            workers: Workers::new(|| Worker {
                game: GameMemory::new(rows, entries),
                scratch: Scratch::new(rows, entries),
                workspace: Workspace::new(settings.method, rows, entries),
                y: vec![0.0; entries],
                x_sum: vec![0.0; rows],
                gradient: vec![0.0; rows],
                most: 0,
            }),
            layout,
            steps: 0,
        }
    }

    pub(crate) fn take_entries(&mut self) -> u64 {
        let mut total = 0;
        self.workers.visit(|w| total += std::mem::take(&mut w.scratch.entries));
        total
    }

    /// Programs of the interior-point oracle since the last call, and those that failed.
    pub(crate) fn take_programs(&mut self) -> [u64; 2] {
        let mut total = [0; 2];
        self.workers.visit(|w| {
            let [asked, failed] = std::mem::take(&mut w.scratch.programs);
            total = [total[0] + asked, total[1] + failed];
        });
        total
    }

    /// Adds the steps of the state that took most in this sweep, whichever thread it was on.
    fn count_steps(&mut self) {
        let mut most = 0;
        self.workers.visit(|w| most = most.max(std::mem::take(&mut w.most)));
        self.steps += most;
    }

    fn set_values(&mut self, v: &[f64]) {
        for ahead in &mut self.ahead {
            ahead.set(v);
        }
    }

    /// Encloses F(v); `policy` receives the policy of the upper bound.
    pub(crate) fn sweep(
        &mut self,
        v: &[f64],
        tolerance: f64,
        lower: &mut [f64],
        upper: &mut [f64],
        policy: &mut [f64],
        chain: Option<&mut Chain>,
        signal: &Signal<'_>,
    ) {
        self.set_values(v);
        let with_chain = chain.is_some();
        let (rows, shape) = match chain {
            Some(chain) => chain.rows(),
            None => (ChainRows::default(), ChainShape::None),
        };
        let (model, set, layout, play) = (self.model, self.set, &self.layout, &self.play);
        let (ahead, started) = (&self.ahead, self.started);
        let fields = Fields {
            states: 0..model.states(),
            per_state: [lower, upper],
            per_row: [policy, &mut self.budget, &mut self.row, &mut self.x],
            per_entry: [&mut self.y],
            halves: Default::default(),
            chain: rows,
        };
        let cuts = Cuts { model, layout, chain: shape };
        for_each_state(cuts, fields, &self.workers, &|mut at, worker: &mut Worker| {
            let s = at.states.start;
            let [lower, upper] = at.per_state;
            (lower[0], upper[0]) = (0.0, 0.0);
            if with_chain {
                at.chain.clear();
            }
            if model.is_terminal(s) || signal.raised() {
                (lower[0], upper[0]) = if model.is_terminal(s) { (0.0, 0.0) } else { UNKNOWN };
                return;
            }
            let [policy, budget, row, x] = at.per_row;
            let [y] = at.per_entry;
            let one = One { model, set, layout, ahead, s, tolerance, fresh: !started, signal };
            let memory = Memory { budget, row };
            let value = one.update(play, policy, memory, x, y, worker);
            (lower[0], upper[0]) = (value.lower, value.upper);
            if with_chain {
                one.emit(policy, worker, &mut at.chain);
            }
        });
        self.started = true;
        self.count_steps();
    }

    /// The same, every state seeing the values of those before it.
    pub(crate) fn sweep_in_place(
        &mut self,
        v: &mut [f64],
        tolerance: f64,
        lower: &mut [f64],
        upper: &mut [f64],
        policy: &mut [f64],
        signal: &Signal<'_>,
    ) {
        for s in 0..v.len() {
            (lower[s], upper[s]) = (0.0, 0.0);
            let rows = self.model.rows_of(s);
            if rows.is_empty() {
                continue;
            }
            if signal.raised() {
                (lower[s], upper[s]) = UNKNOWN;
                continue;
            }
            self.set_values(v);
            let (model, set, layout, play) = (self.model, self.set, &self.layout, &self.play);
            let (ahead, fresh) = (&self.ahead, !self.started);
            let one = One { model, set, layout, ahead, s, tolerance, fresh, signal };
            let memory =
                Memory { budget: &mut self.budget[rows.clone()], row: &mut self.row[rows.clone()] };
            let (x, y) = match play {
                Play::InteriorPoint { .. } => (&mut self.x[..], &mut self.y[..]),
                Play::FirstOrder(_) => {
                    (&mut self.x[rows.clone()], &mut self.y[layout.span(rows.clone())])
                }
            };
            let value = one.update(play, &mut policy[rows], memory, x, y, self.workers.first());
            (lower[s], upper[s]) = (value.lower, value.upper);
            v[s] = value.upper;
        }
        self.started = true;
        self.count_steps();
    }
}

impl Snapshot for Games<'_> {
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        for array in [&mut self.budget, &mut self.row, &mut self.x, &mut self.y] {
            codec.numbers(array);
        }
        codec.flag(&mut self.started);
        codec.count(&mut self.steps);
        let mut entries = self.take_entries();
        codec.count(&mut entries);
        self.workers.first().scratch.entries += entries;
    }
}

/// One state's game.
struct One<'a> {
    model: &'a Model,
    set: &'a UncertaintySet,
    layout: &'a Layout,
    ahead: &'a [Lookahead; 2],
    s: usize,
    tolerance: f64,
    /// Whether the iterates are to be put at their start.
    fresh: bool,
    signal: &'a Signal<'a>,
}

impl One<'_> {
    fn update(
        &self,
        play: &Play<'_>,
        policy: &mut [f64],
        memory: Memory<'_>,
        x: &mut [f64],
        y: &mut [f64],
        worker: &mut Worker,
    ) -> Enclosure {
        match play {
            Play::InteriorPoint { whole } => self.interior_point(*whole, policy, memory, worker),
            Play::FirstOrder(oracle) => self.first_order(oracle, policy, memory, x, y, worker),
        }
    }

    fn interior_point(
        &self,
        whole: bool,
        policy: &mut [f64],
        memory: Memory<'_>,
        worker: &mut Worker,
    ) -> Enclosure {
        let Worker { game, scratch, y, .. } = worker;
        let game = Game::load(self.model, self.layout, self.s, &self.ahead[0], game);
        let first_row = self.model.rows_of(self.s).start;
        scratch.entries += game.nominal().len() as u64;
        let (set, s) = (self.set, self.s);
        interior_point::update(set, s, first_row, &game, whole, policy, y, memory, scratch)
    }

    /// Epochs of 16, 32, … steps, each bounded from both sides.
    fn first_order(
        &self,
        oracle: &FirstOrder<'_>,
        policy: &mut [f64],
        memory: Memory<'_>,
        x: &mut [f64],
        y: &mut [f64],
        worker: &mut Worker,
    ) -> Enclosure {
        let (s, rows) = (self.s, self.model.rows_of(self.s));
        let Worker { game, scratch, workspace, y: average, x_sum, gradient, most } = worker;
        let Memory { budget, row } = memory;
        let entries = self.layout.span(rows.clone()).len();
        let (average, x_sum) = (&mut average[..entries], &mut x_sum[..rows.len()]);
        let gradient = &mut gradient[..rows.len()];
        let mut best = Enclosure { lower: f64::NEG_INFINITY, upper: f64::INFINITY };
        let (mut steps, mut done) = (FIRST_STEPS, 0);
        loop {
            let single = rows.len() == 1;
            let ahead = &self.ahead[if single { 0 } else { 1 }];
            let played = Game::load(self.model, self.layout, s, ahead, game);
            if self.fresh && done == 0 {
                oracle.start(&played, x, y);
                budget.fill(0.0);
                row.fill(0.0);
            }
            x_sum.fill(0.0);
            gradient.fill(0.0);
            average.fill(0.0);
            let iterate = Iterate { x, y, x_sum, y_sum: average, gradient_sum: gradient };
            let slot = StateSlot { s, first_row: rows.start, iterate, budget, row };
            let schedule = Schedule { steps, first: done, power: 2.0 };
            let weight = oracle.epoch(&played, schedule, slot, scratch, workspace, self.signal);
            done += steps;
            x_sum.iter_mut().for_each(|x| *x /= weight);
            average.iter_mut().for_each(|y| *y /= weight);
            let lower = self.best_answer(&played, average);
            let game = Game::load(self.model, self.layout, s, &self.ahead[0], game);
            let mut cold = (vec![0.0; rows.len()], vec![0.0; rows.len()]);
            let memory = Memory { budget: &mut cold.0, row: &mut cold.1 };
            let mut response = std::mem::take(&mut scratch.buffer);
            let worst =
                worst_case(self.set, s, rows.start, &game, x_sum, &mut response, memory, scratch);
            scratch.buffer = response;
            best.lower = best.lower.max(lower);
            if worst.upper < best.upper {
                best.upper = worst.upper;
                policy.copy_from_slice(x_sum);
            }
            let enough = best.upper - best.lower <= self.tolerance;
            if enough || done >= MOST_STEPS || self.signal.raised() {
                break;
            }
            steps *= 2;
        }
        *most = (*most).max(done);
        Enclosure { lower: best.lower.min(best.upper), upper: best.upper }
    }

    /// The least row value of an averaged kernel, which is first brought into the set.
    fn best_answer(&self, game: &Game<'_>, y: &mut [f64]) -> f64 {
        let (first_row, rows) = (self.model.rows_of(self.s).start, game.actions());
        let block = game.block(0.0);
        let mut used = vec![0.0; rows];
        for k in 0..rows {
            let (nominal, y) = (&block.nominal[block.span(k)], &mut y[block.span(k)]);
            let total: f64 = y.iter().sum();
            y.iter_mut().for_each(|y| *y /= total);
            used[k] = distance(self.set.distance, y, nominal);
        }
        let fit = |used: f64, radius: f64| match self.set.distance {
            _ if used <= radius => 1.0,
            Distance::Kl => radius / used,
            _ => (radius / used).sqrt(),
        };
        let total: f64 = used.iter().sum();
        for k in 0..rows {
            let radius = self.set.radius_at(self.s, first_row + k);
            let share = fit(if shares_budget(self.set) { total } else { used[k] }, radius);
            if share < 1.0 {
                mix_with_nominal(share, &block.nominal[block.span(k)], &mut y[block.span(k)]);
            }
        }
        dispatch(Values { block, y, out: &mut used });
        used.iter().zip(game.base).map(|(v, c)| v + c).fold(f64::INFINITY, f64::min)
    }

    /// Adds Σ_a x_a·y_a for the kernel in the worker's memory.
    fn emit(&self, policy: &[f64], worker: &mut Worker, chain: &mut ChainRows<'_>) {
        let Worker { game, y, .. } = worker;
        let game = Game::load(self.model, self.layout, self.s, &self.ahead[0], game);
        let mut filled = 0;
        for (k, &x) in policy.iter().enumerate().filter(|(_, x)| **x > 0.0) {
            for (next, y) in game.entries_of(k, y).filter(|e| e.1 > 0.0) {
                chain.add(self.s, &mut filled, next, x * y);
            }
        }
    }
}

fn distance(distance: Distance, y: &[f64], nominal: &[f64]) -> f64 {
    let pairs = y.iter().zip(nominal);
    match distance {
        Distance::Kl => pairs.filter(|e| *e.0 > 0.0).map(|(y, p)| y * (y / p).ln()).sum::<f64>(),
        _ => pairs.map(|(y, p)| 0.5 * (y - p) * (y - p)).sum(),
    }
    .max(0.0)
}
