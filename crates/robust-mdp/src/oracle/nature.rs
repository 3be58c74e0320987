//! Nature's answer to a policy in one state, F_x(v)_s = max_{y ∈ P_s} Σ_a x_a (c_a + ⟨b_a, y_a⟩), from a cold
//! start, for the oracles that have none of their own: by the exact oracle, or by proximal steps where the set
//! has no exact update.

use super::exact::{Exact, ExactScratch, RowMemory};
use crate::geometry::Geometry;
use crate::model::Model;
use crate::rows::{ExplicitRows, SweepValues};
use crate::sets::proximal::{SupportMemory, nearest, support};
use crate::sets::set::Priced;
use crate::sets::{Block, Curve, DataSource, Enclosure, Prox, UncertaintySet};

/// Nature's answers at the values of a sweep.
pub(crate) struct Nature<'a> {
    model: &'a Model,
    set: &'a UncertaintySet,
    answers: Answers<'a>,
    /// The values, with their differences λ(v − max v).
    pub(crate) values: SweepValues,
}

/// Where answers come from.
enum Answers<'a> {
    Exact(Exact<'a>),
    Steps(Steps<'a>),
}

/// An answer, and the memory of the thread that found it.
#[derive(Debug, Default)]
pub(crate) struct Answered {
    /// Multipliers of the exact oracle, one a row.
    t: Vec<f64>,
    nu: Vec<f64>,
    screen: Vec<f64>,
    x: Vec<f64>,
    worker: ExactScratch,
    /// The kernel that steps end at.
    y: Vec<f64>,
    support: SupportMemory,
}

impl Answered {
    /// Row k of the answer, with mass one, of a game of one budget; `curve` if there is one.
    pub(crate) fn write(
        &self,
        curve: Option<&dyn Curve>,
        block: Block<'_>,
        k: usize,
        y: &mut [f64],
    ) {
        match curve {
            Some(curve) => {
                let at = Priced { t: self.t[k], nu: self.nu[k], ..Priced::NOMINAL };
                block.write(curve, k, at, y);
            }
            None => y.copy_from_slice(&self.y[block.span(k)]),
        }
    }

    /// Memory for steps.
    pub(crate) fn support_memory(&mut self) -> &mut SupportMemory {
        &mut self.support
    }

    /// Row entries visited since the last call.
    pub(crate) fn take_entries(&mut self) -> u64 {
        self.worker.take_entries() + self.support.take_entries()
    }
}

/// Answers by proximal steps, for a set without exact updates.
#[derive(Clone, Copy)]
pub(crate) struct Steps<'a> {
    model: &'a Model,
    set: &'a UncertaintySet,
    prox: &'static dyn Prox,
}

impl<'a> Steps<'a> {
    /// `None`: the set has exact updates.
    pub(crate) fn of(model: &'a Model, set: &'a UncertaintySet) -> Option<Steps<'a>> {
        let found = set.distance.set().filter(|set| set.curve().is_none())?;
        let prox = found.prox(Geometry::Euclidean).expect("a set with exact updates or steps");
        Some(Steps { model, set, prox })
    }

    /// Values of sweeps at which explicit rows are read.
    pub(crate) fn values(&self) -> SweepValues {
        SweepValues::new(self.model.discount(), self.model.states(), true, false, false)
    }

    /// Puts y at the nearest kernel of the set.
    pub(crate) fn bring_within(&self, block: Block<'_>, y: &mut [f64], memory: &mut SupportMemory) {
        nearest(self.prox, block, y, memory);
    }

    /// Encloses F_x(v)_s from the kernel `y` of the set, which becomes nature's answer.
    pub(crate) fn respond(
        &self,
        game: &ExplicitRows<'_>,
        s: usize,
        x: &[f64],
        y: &mut [f64],
        memory: &mut SupportMemory,
    ) -> Enclosure {
        let base: f64 = x.iter().zip(game.base).map(|(x, c)| x * c).sum();
        let mut value = Enclosure { lower: base, upper: base };
        for budget in game.budgets(self.set, s, self.model.rows_of(s).start) {
            let (x, y) = (&x[budget.rows], &mut y[budget.entries]);
            let part = support(self.prox, budget.block, x, y, memory);
            value.lower += part.lower;
            value.upper += part.upper;
        }
        value
    }
}

impl<'a> Nature<'a> {
    pub(crate) fn new(model: &'a Model, set: &'a UncertaintySet) -> Nature<'a> {
        let answers = match Steps::of(model, set) {
            Some(steps) => Answers::Steps(steps),
            None => Answers::Exact(Exact::new(model, set)),
        };
        let mut values = match &answers {
            Answers::Exact(exact) => exact.values(),
            Answers::Steps(steps) => steps.values(),
        };
        values.shared.resize(model.states(), 0.0);
        Nature { model, set, answers, values }
    }

    /// The set's steps, if it has no exact updates.
    pub(crate) fn steps(&self) -> Option<&Steps<'a>> {
        match &self.answers {
            Answers::Exact(_) => None,
            Answers::Steps(steps) => Some(steps),
        }
    }

    /// What the set is told of entries.
    pub(crate) fn data(&self) -> DataSource<'a> {
        DataSource::new(self.model, self.set)
    }

    /// Moves to the values of the next sweep.
    pub(crate) fn set_values(&mut self, v: &[f64]) {
        self.values.set(v);
    }

    /// Encloses F_x(v)_s for the game of state s. Weights of x below 1e-18 count as zero, which costs less than
    /// rounding.
    pub(crate) fn respond(
        &self,
        game: &ExplicitRows<'_>,
        s: usize,
        x: &[f64],
        answered: &mut Answered,
    ) -> Enclosure {
        let Answered { t, nu, screen, x: used, worker, y, support } = answered;
        used.clear();
        used.extend(x.iter().map(|&x| if x <= 1e-18 { 0.0 } else { x }));
        match &self.answers {
            Answers::Exact(exact) => {
                for (array, cold) in
                    [(&mut *t, 0.0), (&mut *nu, 0.0), (&mut *screen, f64::NEG_INFINITY)]
                {
                    array.clear();
                    array.resize(x.len(), cold);
                }
                exact.respond(s, &self.values, 0.0, RowMemory { t, nu, screen }, used, worker)
            }
            Answers::Steps(steps) => {
                y.clear();
                y.extend_from_slice(game.nominal());
                steps.respond(game, s, used, y, support)
            }
        }
    }
}
