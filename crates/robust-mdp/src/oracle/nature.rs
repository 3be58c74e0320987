//! Nature's answer to a policy in one state, F_x(v)_s = max_{y ∈ P_s} Σ_a x_a (c_a + ⟨b_a, y_a⟩), by the
//! exact oracle from a cold start, for the oracles that have none of their own.

use super::exact::{Exact, ExactScratch, RowMemory};
use crate::model::Model;
use crate::rows::SweepValues;
use crate::sets::set::Priced;
use crate::sets::{DataSource, Enclosure, UncertaintySet};

/// The exact oracle at the values of a sweep.
pub(crate) struct Nature<'a> {
    exact: Exact<'a>,
    /// The values, with their differences λ(v − max v).
    pub(crate) values: SweepValues,
}

/// The multipliers of an answer, one a row, and the memory of the thread that found them.
#[derive(Debug, Default)]
pub(crate) struct Answered {
    t: Vec<f64>,
    nu: Vec<f64>,
    screen: Vec<f64>,
    x: Vec<f64>,
    worker: ExactScratch,
}

impl Answered {
    /// The point of row k.
    pub(crate) fn point(&self, k: usize) -> Priced {
        Priced { t: self.t[k], nu: self.nu[k], ..Priced::NOMINAL }
    }

    /// Row entries visited since the last call.
    pub(crate) fn take_entries(&mut self) -> u64 {
        self.worker.take_entries()
    }
}

impl<'a> Nature<'a> {
    pub(crate) fn new(model: &'a Model, set: &'a UncertaintySet) -> Nature<'a> {
        let exact = Exact::new(model, set);
        let mut values = exact.values();
        values.shared.resize(model.states(), 0.0);
        Nature { values, exact }
    }

    /// What the set is told of entries.
    pub(crate) fn data(&self) -> DataSource<'a> {
        self.exact.data
    }

    /// Moves to the values of the next sweep.
    pub(crate) fn set_values(&mut self, v: &[f64]) {
        self.values.set(v);
    }

    /// Encloses F_x(v)_s. Weights of x below 1e-18 count as zero, which costs less than rounding.
    pub(crate) fn respond(&self, s: usize, x: &[f64], answered: &mut Answered) -> Enclosure {
        let Answered { t, nu, screen, x: used, worker } = answered;
        for (array, cold) in [(&mut *t, 0.0), (&mut *nu, 0.0), (&mut *screen, f64::NEG_INFINITY)] {
            array.clear();
            array.resize(x.len(), cold);
        }
        used.clear();
        used.extend(x.iter().map(|&x| if x <= 1e-18 { 0.0 } else { x }));
        let memory = RowMemory { t, nu, screen };
        self.exact.respond(s, &self.values, 0.0, memory, used, worker)
    }
}
