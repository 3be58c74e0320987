//! The worst case of a policy, for the upper side of the gap: by exact updates, or by proximal steps where
//! the set has none. Either way it is the adversary's policy iteration, F_x(w) and the value of nature's
//! answer in turn.

use crate::chain::Chain;
use crate::codec::{Codec, Snapshot};
use crate::loops::bounds::{Bounds, UNKNOWN};
use crate::loops::evaluation::Evaluation;
use crate::loops::fixed_point::{FixedPointMap, bound_fixed_point};
use crate::loops::sweep::{Cuts, Fields, Workers, for_each_state};
use crate::model::Model;
use crate::oracle::nature::Steps;
use crate::rows::{ExplicitMemory, ExplicitRows, Layout, SweepValues};
use crate::sets::proximal::SupportMemory;
use crate::sets::{DataSource, UncertaintySet};
use crate::signal::Signal;

/// What bounds F_x.
pub(super) enum WorstCase<'a> {
    Exact(Box<Evaluation<'a>>),
    Steps(Box<ByStepsOf<'a>>),
}

impl<'a> WorstCase<'a> {
    pub(super) fn new(model: &'a Model, set: &'a UncertaintySet, layout: &'a Layout) -> Self {
        match Steps::of(model, set) {
            None => WorstCase::Exact(Box::new(Evaluation::new(model, set))),
            Some(steps) => WorstCase::Steps(Box::new(ByStepsOf::new(steps, model, set, layout))),
        }
    }

    /// See [`Evaluation::run`].
    pub(super) fn run(
        &mut self,
        x: &[f64],
        w: &mut [f64],
        tolerance: f64,
        signal: &Signal<'_>,
    ) -> Bounds {
        match self {
            WorstCase::Exact(evaluation) => evaluation.run(x, w, tolerance, signal),
            WorstCase::Steps(steps) => {
                bound_fixed_point(&mut OfPolicy { steps, x }, w, tolerance, signal)
            }
        }
    }

    /// See [`Evaluation::take_work`].
    pub(super) fn take_work(&mut self) -> (u64, u64) {
        match self {
            WorstCase::Exact(evaluation) => evaluation.take_work(),
            WorstCase::Steps(steps) => steps.take_work(),
        }
    }
}

impl Snapshot for WorstCase<'_> {
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        match self {
            WorstCase::Exact(evaluation) => evaluation.visit_fields(codec),
            WorstCase::Steps(steps) => {
                codec.numbers(&mut steps.y);
                codec.flag(&mut steps.started);
                steps.chain.visit_fields(codec);
            }
        }
    }
}

/// Nature's answers by proximal steps, each from the one before.
pub(super) struct ByStepsOf<'a> {
    steps: Steps<'a>,
    model: &'a Model,
    set: &'a UncertaintySet,
    layout: &'a Layout,
    values: SweepValues,
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// Nature's last answers.
    y: Vec<f64>,
    started: bool,
    chain: Chain,
    workers: Workers<Worker>,
    sweeps: u64,
}

#[derive(Default)]
struct Worker {
    game: ExplicitMemory,
    support: SupportMemory,
}

impl<'a> ByStepsOf<'a> {
    fn new(
        steps: Steps<'a>,
        model: &'a Model,
        set: &'a UncertaintySet,
        layout: &'a Layout,
    ) -> ByStepsOf<'a> {
        let states = model.states();
        ByStepsOf {
            values: steps.values(),
            steps,
            model,
            set,
            layout,
            lower: vec![0.0; states],
            upper: vec![0.0; states],
            y: vec![0.0; layout.entries(model)],
            started: false,
            chain: Chain::new(states, |s| layout.span(model.rows_of(s)).len()),
            workers: Workers::new(Worker::default),
            sweeps: 0,
        }
    }

    fn take_work(&mut self) -> (u64, u64) {
        let mut entries = std::mem::take(&mut self.chain.work);
        self.workers.visit(|worker| entries += worker.support.take_entries());
        (std::mem::take(&mut self.sweeps), entries)
    }
}

/// F_x.
struct OfPolicy<'e, 'a> {
    steps: &'e mut ByStepsOf<'a>,
    x: &'e [f64],
}

impl FixedPointMap for OfPolicy<'_, '_> {
    fn model(&self) -> &Model {
        self.steps.model
    }
    fn set(&self) -> &UncertaintySet {
        self.steps.set
    }
    fn sweep(&mut self, w: &[f64], signal: &Signal<'_>) {
        let ByStepsOf {
            steps,
            model,
            set,
            layout,
            values,
            lower,
            upper,
            y,
            started,
            chain,
            workers,
            sweeps,
        } = &mut *self.steps;
        let (steps, model, layout, x) = (*steps, *model, *layout, self.x);
        let data = DataSource::new(model, set);
        let fresh = !std::mem::replace(started, true);
        *sweeps += 1;
        values.set(w);
        let values = &*values;
        chain.work += layout.entries(model) as u64;
        let (links, shape) = chain.rows();
        let fields = Fields { chain: links, ..Fields::of(model, [lower, upper], [], [y]) };
        let cuts = Cuts { model, layout, chain: shape };
        for_each_state(cuts, fields, workers, &|mut at, worker: &mut Worker| {
            let (s, rows) = (at.states.start, model.rows_of(at.states.start));
            at.chain.clear();
            let [lower, upper] = at.per_state;
            if rows.is_empty() || signal.raised() {
                let nothing = if rows.is_empty() { (0.0, 0.0) } else { UNKNOWN };
                (lower[0], upper[0]) = nothing;
                return;
            }
            let game = ExplicitRows::load(model, layout, s, values, data, &mut worker.game);
            let ([y], x) = (at.per_entry, &x[rows]);
            if fresh {
                y.copy_from_slice(game.nominal());
            }
            let found = steps.respond(&game, s, x, y, &mut worker.support);
            (lower[0], upper[0]) = (found.lower, found.upper);
            let mut filled = 0;
            for (k, &x) in x.iter().enumerate().filter(|(_, x)| **x > 0.0) {
                for (next, y) in game.entries_of(k, y).filter(|entry| entry.1 > 0.0) {
                    at.chain.add(s, &mut filled, next, x * y);
                }
            }
        });
    }
    fn image(&self) -> (&[f64], &[f64]) {
        (&self.steps.lower, &self.steps.upper)
    }
    fn chain(&mut self) -> &mut Chain {
        &mut self.steps.chain
    }
    fn width(&self) -> usize {
        self.steps.layout.widest_row(self.steps.model)
    }
}
