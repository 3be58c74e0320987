//! Multipliers of kernel rows that fit to the last digit: where they are steep, objectives that differ
//! by a rounding make another kernel, so that a budget is spent by what the set says of the rows as the
//! verifier sees them.

use super::Multipliers;
use crate::model::Model;
use crate::oracle::exact::{Points, largest_factor};
use crate::sets::{Rectangularity, UncertaintySet};

/// Multipliers that a rounding of the objectives moves by less than this are right as they are.
const FINE: f64 = 1e-11;
/// The share of a budget that steep multipliers leave to the verifier's roundings.
const SPARE: f64 = 1e-12;

/// Fits rows at some values.
pub(super) struct Fit<'a> {
    model: &'a Model,
    set: &'a UncertaintySet,
    /// Size of a rounding.
    grain: f64,
}

impl<'a> Fit<'a> {
    pub(super) fn new(model: &'a Model, set: &'a UncertaintySet, v: &[f64]) -> Fit<'a> {
        let largest = v.iter().fold(model.largest_term(), |m, v| m.max(v.abs()));
        Fit { model, set, grain: f64::EPSILON * largest }
    }

    /// Fits the rows of a state: maxima get multipliers, and steep multipliers are lowered until the
    /// budget suffices.
    pub(super) fn settle(&self, s: usize, rows: &mut [Multipliers], points: &mut Points<'_, '_>) {
        let together = match self.set.rectangularity {
            Rectangularity::State => rows.len().max(1),
            Rectangularity::StateAction => 1,
        };
        let first = self.model.rows_of(s).start;
        for rows in rows.chunks_mut(together) {
            if rows.iter().any(|row| self.steep(row)) {
                self.fit(rows, self.set.radius_at(s, rows[0].row as usize), first, points);
            }
        }
    }

    fn steep(&self, row: &Multipliers) -> bool {
        row.t.is_infinite() || row.t * self.grain > FINE
    }

    /// Lowers the steep multipliers of rows that share a budget, all by the same factor and no more than
    /// needed. A little less of the budget costs next to nothing, by as much as they are steep; a little
    /// more of it costs that share of the way from the nominal rows.
    fn fit(
        &self,
        rows: &mut [Multipliers],
        radius: f64,
        first: usize,
        points: &mut Points<'_, '_>,
    ) {
        let steep: Vec<bool> = rows.iter().map(|row| self.steep(row)).collect();
        let place = |row: &Multipliers| row.row as usize - first;
        let full: Vec<f64> =
            rows.iter().map(|row| row.t.min(points.steepest(place(row), radius))).collect();
        let left: Vec<f64> = rows.iter().map(|row| row.nu).collect();
        let mut suffices = |factor: f64| {
            let mut spent = 0.0;
            for (k, row) in rows.iter_mut().enumerate() {
                row.t = if steep[k] { factor * full[k] } else { full[k] };
                let (nu, price) = points.at(place(row), row.t, left[k]);
                (row.nu, spent) = (nu, spent + price);
            }
            spent <= radius * (1.0 - SPARE)
        };
        if suffices(1.0) {
            return;
        }
        let (low, _) = largest_factor(&mut suffices);
        suffices(low);
    }
}
