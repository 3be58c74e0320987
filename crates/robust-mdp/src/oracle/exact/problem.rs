//! One state: its rows, their set, their common budget, and what follows for one row.

use super::active::Active;
use crate::rows::{Rows, SweepValues};
use crate::sets::Enclosure;
use crate::sets::set::{Curve, Priced, shrink};

/// max over kernels with Σ_a κ_a·d(y_a, p_a) ≤ α of the rows of a state.
pub(super) struct StateProblem<'a> {
    pub(super) set: &'a dyn Curve,
    pub(super) rows: Rows<'a>,
    pub(super) radius: f64,
    /// κ of the rows; `None`: 1.
    pub(super) kappa: Option<&'a [f64]>,
    pub(super) active: &'a mut Active,
}

/// A row with a value that it attains at a price, κ included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PricedRow {
    pub(super) at: Priced,
    pub(super) value: f64,
    pub(super) price: f64,
    /// κt: its weight in the policy.
    pub(super) weight: f64,
}

/// What came out of an update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StateOutcome {
    /// The bounds have met, or rounding keeps them apart; the multipliers are the upper bound's.
    Met(Enclosure),
    /// The budget does not bind: this row ends on its maximum, alone.
    Saturated { row: usize, bounds: Enclosure },
}

impl StateOutcome {
    pub(super) fn bounds(self) -> Enclosure {
        match self {
            StateOutcome::Met(bounds) | StateOutcome::Saturated { bounds, .. } => bounds,
        }
    }
}

impl StateProblem<'_> {
    pub(super) fn values(&self) -> &SweepValues {
        self.rows.values
    }

    pub(super) fn kappa(&self, k: usize) -> f64 {
        self.kappa.map_or(1.0, |kappa| kappa[k])
    }

    /// What rounding alone leaves between bounds near `value`.
    pub(super) fn noise(&self, value: f64) -> f64 {
        32.0 * f64::EPSILON * (value.abs() + self.rows.range)
    }

    /// Rounding of a nominal value of row k, and of what is subtracted to remember it.
    pub(super) fn slack(&self, k: usize, nominal: f64) -> f64 {
        let size = nominal.abs() + self.rows.range + self.rows.base(k).abs();
        16.0 * f64::EPSILON * (size + self.values().fall_before.abs())
    }

    pub(super) fn nominal(&mut self, k: usize) -> f64 {
        let mut out = [0.0];
        self.rows.nominals(&[k as u32], &mut out);
        out[0]
    }

    /// How far the nominal value of row k lies under its largest, as a number ≤ 0.
    pub(super) fn below_maximum(&mut self, k: usize) -> f64 {
        self.rows.visited += self.rows.width(k) as u64;
        self.rows.look_at(k).nominal()
    }

    /// The largest value of row k.
    pub(super) fn largest(&mut self, k: usize) -> f64 {
        self.rows.largest(k) + self.peak(k)
    }

    /// Whether rows may not come to the maxima of their objectives.
    pub(super) fn has_peaks(&self) -> bool {
        self.set.needs().open_entries()
    }

    /// How far the largest value of row k lies under the maximum of its objectives, as a number ≤ 0.
    fn peak(&mut self, k: usize) -> f64 {
        if !self.has_peaks() {
            return 0.0;
        }
        if let Some(peak) = self.rows.peak(k) {
            return peak;
        }
        self.rows.visited += self.rows.width(k) as u64;
        let peak = self.set.peak(self.rows.look_at(k));
        self.rows.set_peak(k, peak);
        peak
    }

    /// No row is farther from another than this.
    pub(super) fn diameter(&self) -> f64 {
        if self.rows.is_weighted() { f64::INFINITY } else { self.set.diameter() }
    }

    /// The price of the largest value of row k.
    pub(super) fn face(&mut self, k: usize) -> f64 {
        let (set, kappa) = (self.set, self.kappa(k));
        self.rows.visited += self.rows.width(k) as u64;
        kappa * set.face(self.rows.look_at(k))
    }

    fn in_state(&mut self, k: usize, at: Priced) -> PricedRow {
        let (kappa, value) = (self.kappa(k), self.rows.largest(k) + at.value);
        PricedRow { at, value, price: kappa * at.price, weight: kappa * at.t }
    }

    /// Row k at the value μ, between its nominal and its largest one, give or take `slack`.
    pub(super) fn price(
        &mut self,
        k: usize,
        mu: f64,
        slack: f64,
        near: Option<Priced>,
    ) -> PricedRow {
        let set = self.set;
        let u = mu - self.rows.largest(k);
        self.rows.visited += 2 * self.rows.width(k) as u64;
        let at = set.price(self.rows.look_at(k), u, slack, near);
        self.in_state(k, at)
    }

    /// Row k at the multiplier t of κ·d.
    pub(super) fn at(&mut self, k: usize, t: f64, near: Option<Priced>) -> PricedRow {
        let (set, kappa) = (self.set, self.kappa(k));
        self.rows.visited += 2 * self.rows.width(k) as u64;
        let at = set.at(self.rows.look_at(k), t / kappa, near);
        self.in_state(k, at)
    }

    /// The ends of row k at the multiplier t of κ·d.
    pub(super) fn ends(&mut self, k: usize, t: f64, near: Option<Priced>) -> [PricedRow; 2] {
        let (set, kappa) = (self.set, self.kappa(k));
        self.rows.visited += 2 * self.rows.width(k) as u64;
        let ends = set.ends(self.rows.look_at(k), t / kappa, near);
        ends.map(|at| self.in_state(k, at))
    }

    /// Row k on its maximum.
    pub(super) fn on_maximum(&mut self, k: usize) -> PricedRow {
        let (price, value, peak) = (self.face(k), self.largest(k), self.peak(k));
        let at = Priced { t: f64::INFINITY, value: peak, price, ..Priced::NOMINAL };
        PricedRow { at, value, price, weight: f64::INFINITY }
    }

    /// The share of the way from the nominal rows that the budget allows.
    pub(super) fn shrink(&self, spent: f64) -> f64 {
        shrink(self.set, spent, self.radius)
    }

    /// At most what a row spends that is moved by this share of a way that costs so much.
    pub(super) fn part(&self, share: f64, price: f64) -> f64 {
        share.powi(self.set.degree()) * price
    }
}
