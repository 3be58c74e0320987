//! Where the first sweep begins, and where the rows of any do: values without a sweep, and the state that
//! is updated before the others.

use super::super::row_store::remember;
use super::super::sweep::{ChainRows, ChainShape, Cuts, Fields, for_each_state};
use super::{Bellman, Hand};
use crate::oracle::exact::Pilot;

/// How narrow the enclosure of the state is, against the spread of the values, from which others learn
/// where to begin a draft.
const EFFORT: f64 = 1e-3;

impl Bellman<'_> {
    /// See [`Exact::foretell`].
    pub(crate) fn foretell(&self, v: &mut [f64]) -> bool {
        self.oracle.foretell(v)
    }

    /// Moves values of which little is known about as far as a sweep would, where most rows of a state are
    /// lifted alike ([`Pilot::Sums`]); whether it did.
    pub(crate) fn draft(&mut self, v: &mut [f64]) -> bool {
        if !self.oracle.drafts() {
            return false;
        }
        self.ahead.set(v);
        self.send_pilot(EFFORT * self.ahead.range);
        if !matches!(self.ahead.pilot, Some(Pilot::Sums(_))) {
            return false;
        }
        let (model, oracle, ahead) = (self.model, self.oracle, &self.ahead);
        let (per_row, halves) = self.memory.all();
        let fields = Fields {
            states: 0..model.states(),
            per_state: [&mut self.upper],
            per_row,
            per_entry: [],
            halves,
            chain: ChainRows::default(),
        };
        let cuts = Cuts { model, layout: &self.layout, chain: ChainShape::None };
        for_each_state(cuts, fields, &self.workers, &|at, hand: &mut Hand| {
            let s = at.states.start;
            let Hand { worker, rows } = hand;
            let value = remember((at.per_row, at.halves), rows, |memory| {
                if model.is_terminal(s) { None } else { oracle.draft(s, ahead, memory, worker) }
            });
            at.per_state[0][0] = value.unwrap_or(f64::NAN);
        });
        let told = || self.upper.iter().zip(&ahead.values).filter(|(u, _)| u.is_finite());
        let count = told().count();
        if count == 0 {
            return false;
        }
        let mean = told().map(|(u, v)| u - v).sum::<f64>() / count as f64;
        for (s, (v, u)) in v.iter_mut().zip(&self.upper).enumerate() {
            if u.is_finite() {
                *v = *u;
            } else if !model.is_terminal(s) {
                *v += mean; // as others move
            }
        }
        true
    }

    /// Updates one state before the others, always the same one, where these can learn from it.
    pub(super) fn send_pilot(&mut self, tolerance: f64) {
        let acting = (0..self.model.states()).find(|&s| !self.model.is_terminal(s));
        let Some(s) = acting else { return };
        let rows = self.model.rows_of(s);
        let Hand { worker, rows: scratch } = self.workers.first();
        let x = &mut self.policy[rows.clone()];
        self.ahead.pilot = self.memory.show(rows, scratch, |memory| {
            self.oracle.pilot(s, &mut self.ahead, tolerance, memory, x, worker)
        });
    }
}
