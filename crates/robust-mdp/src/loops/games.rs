//! Sweeps of F by the oracles that play a state's game as such: interior point and first order.
//!
//! The interior-point oracle solves each game anew. The first-order oracle goes on from the last
//! iterates with twice the steps until its enclosure is as narrow as asked, or [`MOST_STEPS`].

use super::bounds::UNKNOWN;
use super::fom_vi::FomSettings;
use super::sweep::{Cuts, Fields, Workers, for_each_state, in_turn};
use crate::codec::{Codec, Snapshot};
use crate::error::Error;
use crate::model::Model;
use crate::oracle::first_order::{FirstOrder, Hand, Setup, StateSlot};
use crate::oracle::interior_point::{self, Programs};
use crate::oracle::nature::Nature;
use crate::rows::{ExplicitMemory, ExplicitRows, Layout, row_values};
use crate::saddle::{Iterate, Schedule};
use crate::sets::{Enclosure, UncertaintySet};
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
    nature: Nature<'a>,
    memory: WarmStart,
    workers: Workers<SolverWorker>,
    /// First-order steps taken in the state that took most.
    pub(crate) steps: u64,
}

/// What the first-order oracle keeps between sweeps: multipliers and iterates.
#[derive(Default)]
struct WarmStart {
    budget: Vec<f64>,
    row: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
    started: bool,
}

impl WarmStart {
    /// With what a sweep fills besides, and whether it is the first.
    fn fields<'a>(
        &'a mut self,
        model: &Model,
        lower: &'a mut [f64],
        upper: &'a mut [f64],
        policy: &'a mut [f64],
    ) -> (Fields<'a, 2, 4, 1>, bool) {
        let WarmStart { budget, row, x, y, started } = self;
        let fresh = !std::mem::replace(started, true);
        (Fields::of(model, [lower, upper], [policy, budget, row, x], [y]), fresh)
    }
}

struct SolverWorker {
    game: ExplicitMemory,
    hand: Hand,
    programs: Programs,
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
        let (play, settings) = (Play::InteriorPoint { whole }, FomSettings::default());
        Games::new(model, set, play, &settings)
    }

    pub(crate) fn first_order(
        model: &'a Model,
        set: &'a UncertaintySet,
        setup: Setup,
        settings: &FomSettings,
    ) -> Result<Games<'a>, Error> {
        let oracle = FirstOrder::new(model, set, setup, settings.steps, settings.method)?;
        let mut games = Games::new(model, set, Play::FirstOrder(oracle), settings);
        let numbers = |n: usize| vec![0.0; n];
        let (rows, entries) = (model.rows(), games.layout.entries(model));
        games.memory = WarmStart {
            budget: numbers(rows),
            row: numbers(rows),
            x: numbers(rows),
            y: numbers(entries),
            started: false,
        };
        Ok(games)
    }

    fn new(
        model: &'a Model,
        set: &'a UncertaintySet,
        play: Play<'a>,
        settings: &FomSettings,
    ) -> Games<'a> {
        let layout = Layout::new(model, set);
        let (rows, entries) = layout.largest_state(model);
        Games {
            model,
            set,
            play,
            nature: Nature::new(model, set),
            memory: WarmStart::default(),
            workers: Workers::new(|| SolverWorker {
                game: ExplicitMemory::new(rows, entries),
                hand: Hand::new(settings.method, rows, entries),
                programs: Programs::default(),
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
        self.workers.visit(|w| total += w.hand.take_entries() + w.programs.take_entries());
        total
    }

    /// Programs of the interior-point oracle since the last call, and those that failed.
    pub(crate) fn take_programs(&mut self) -> [u64; 2] {
        let mut total = [0; 2];
        self.workers.visit(|w| {
            let [asked, failed] = w.programs.take_counts();
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

    /// Encloses F(v); `policy` receives the policy of the upper bound.
    pub(crate) fn sweep(
        &mut self,
        v: &[f64],
        tolerance: f64,
        lower: &mut [f64],
        upper: &mut [f64],
        policy: &mut [f64],
        signal: &Signal<'_>,
    ) {
        self.nature.set_values(v);
        let Games { model, set, layout, play, nature, memory, workers, .. } = &mut *self;
        let (model, set, layout, play, nature) = (*model, *set, &*layout, &*play, &*nature);
        let (fields, fresh) = memory.fields(model, lower, upper, policy);
        for_each_state(Cuts::of(model, layout), fields, workers, &|at, worker| {
            let s = at.states.start;
            let one = One { model, set, layout, nature, s, tolerance, fresh, signal };
            one.enclose(play, at, worker);
        });
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
        let Games { model, set, layout, play, nature, memory, workers, .. } = &mut *self;
        let (model, set, layout) = (*model, *set, &*layout);
        let (fields, fresh) = memory.fields(model, lower, upper, policy);
        in_turn(Cuts::of(model, layout), fields, |at| {
            let s = at.states.start;
            nature.set_values(v);
            let one = One { model, set, layout, nature, s, tolerance, fresh, signal };
            if let Some(value) = one.enclose(play, at, workers.first()) {
                v[s] = value.upper;
            }
        });
        self.count_steps();
    }
}

impl Snapshot for Games<'_> {
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        let WarmStart { budget, row, x, y, started } = &mut self.memory;
        for array in [budget, row, x, y] {
            codec.numbers(array);
        }
        codec.flag(started);
        codec.count(&mut self.steps);
        let mut entries = self.take_entries();
        codec.count(&mut entries);
        self.workers.first().hand.give_entries(entries);
    }
}

/// One state's game.
struct One<'a> {
    model: &'a Model,
    set: &'a UncertaintySet,
    layout: &'a Layout,
    nature: &'a Nature<'a>,
    s: usize,
    tolerance: f64,
    /// Whether the iterates are to be put at their start.
    fresh: bool,
    signal: &'a Signal<'a>,
}

impl One<'_> {
    /// Fills the state's fields; what it found, if it has played.
    fn enclose(
        &self,
        play: &Play<'_>,
        at: Fields<'_, 2, 4, 1>,
        worker: &mut SolverWorker,
    ) -> Option<Enclosure> {
        let [lower, upper] = at.per_state;
        if self.model.is_terminal(self.s) {
            (lower[0], upper[0]) = (0.0, 0.0);
            return None;
        }
        if self.signal.raised() {
            (lower[0], upper[0]) = UNKNOWN;
            return None;
        }
        let ([policy, kept @ ..], [y]) = (at.per_row, at.per_entry);
        let value = match play {
            Play::InteriorPoint { whole } => self.interior_point(*whole, policy, worker),
            Play::FirstOrder(oracle) => self.first_order(oracle, policy, kept, y, worker),
        };
        (lower[0], upper[0]) = (value.lower, value.upper);
        Some(value)
    }

    fn interior_point(
        &self,
        whole: bool,
        policy: &mut [f64],
        worker: &mut SolverWorker,
    ) -> Enclosure {
        let SolverWorker { game, programs, y, .. } = worker;
        let game = ExplicitRows::load(
            self.model,
            self.layout,
            self.s,
            &self.nature.values,
            self.nature.data(),
            game,
        );
        let state = interior_point::ConicState {
            set: self.set,
            nature: self.nature,
            s: self.s,
            first_row: self.model.rows_of(self.s).start,
            game: &game,
            whole,
        };
        state.update(policy, y, programs)
    }

    /// Epochs of 16, 32, … steps, each bounded from both sides.
    fn first_order(
        &self,
        oracle: &FirstOrder<'_>,
        policy: &mut [f64],
        [budget, row, x]: [&mut [f64]; 3],
        y: &mut [f64],
        worker: &mut SolverWorker,
    ) -> Enclosure {
        let (s, rows) = (self.s, self.model.rows_of(self.s));
        let SolverWorker { game, hand, y: average, x_sum, gradient, most, .. } = worker;
        let game = ExplicitRows::load(
            self.model,
            self.layout,
            s,
            &self.nature.values,
            self.nature.data(),
            game,
        );
        let entries = game.nominal().len();
        let (average, x_sum) = (&mut average[..entries], &mut x_sum[..rows.len()]);
        let gradient = &mut gradient[..rows.len()];
        if self.fresh {
            oracle.start(&game, x, y);
            budget.fill(0.0);
            row.fill(0.0);
        }
        let mut best = Enclosure { lower: f64::NEG_INFINITY, upper: f64::INFINITY };
        let (mut steps, mut done) = (FIRST_STEPS, 0);
        loop {
            for sum in [&mut *x_sum, gradient, average] {
                sum.fill(0.0);
            }
            let iterate = Iterate { x, y, x_sum, y_sum: average, gradient_sum: gradient };
            let slot = StateSlot { s, first_row: rows.start, iterate, budget, row };
            let schedule = Schedule { steps, first: done, power: 2.0 };
            let weight = oracle.epoch(&game, schedule, slot, self.nature, hand, self.signal);
            done += steps;
            x_sum.iter_mut().for_each(|x| *x /= weight);
            best.lower = best.lower.max(self.least_value(&game, average, gradient));
            let upper = self.nature.respond(&game, s, x_sum, &mut hand.answered).upper;
            if upper < best.upper {
                best.upper = upper;
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

    /// min_a c_a + ⟨b_a, y_a⟩ of an averaged kernel, which is first brought into the set; `value` is
    /// scratch.
    fn least_value(&self, game: &ExplicitRows<'_>, y: &mut [f64], value: &mut [f64]) -> f64 {
        match self.set.distance.set() {
            Some(set) => {
                let first_row = self.model.rows_of(self.s).start;
                for budget in game.budgets(self.set, self.s, first_row) {
                    budget.block.bring_within(set, &mut y[budget.entries]);
                }
            }
            None => y.copy_from_slice(game.nominal()),
        }
        row_values(game.block(0.0), y, value);
        value.iter().zip(game.base).map(|(v, c)| v + c).fold(f64::INFINITY, f64::min)
    }
}
