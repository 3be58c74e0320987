//! Exact updates on the ellipsoid Σ_a ½‖y_a − y⁰_a‖² ≤ α.
//!
//! A row with multiplier t is y = (y⁰ + t·w − ν)₊. Over its active set I = {y > 0}, with n = |I|,
//! sums Sy, Sw, Sww, Syw, Off = Σ_{i∉I}(y⁰_i)², r = 1 − Sy and det = Sww − Sw²/n,
//!   value = base + g0 + t·det,  g0 = Syw + r·Sw/n,  ν = (t·Sw − r)/n,
//!   distance = ½[t²·det + r²/n + Off].
//! With all active sets fixed, lifting every row to one value μ costs a quadratic in μ:
//!   μ = m̄ + √(2(α − Σ½[r²/n + Off] − ½Σk(m − m̄)²)/Σk),  k = 1/det, m = base + g0,
//! m̄ the k-weighted mean of m; a fixed policy has t_a = κ·x_a and one κ instead. A row keeps its
//! active set, and need not be read again, while t·w − ν moves by less than the least |y⁰ + tw − ν|
//! at its last reading. Bounds:
//!   F_x(v) ≤ Σx_a(base_a + ⟨w_a,y_a⟩) + (α − distance − Σν(Σy − 1))/Σt,  x = t/Σt,
//! whatever (t, ν) are (weak duality), and F(v) ≥ the least row value of y brought into the set.

use super::active::Active;
use super::ball::{Assessed, Ball, Lifted, Moved};
use super::centred::{Centred, OneRow};
use super::forms::{Assess, Raise};
use super::outlook::Outlook;
use super::pilot::Pilot;
use super::rows::Rows;
use super::sums::{Pass, Sums};
use crate::lanes::dispatch;

/// Newton steps on one row; each changes its active set.
const PROJECTIONS: usize = 200;

/// The ball around one state's rows.
pub(super) struct Ellipsoid<'a> {
    pub(super) rows: Rows<'a>,
    pub(super) ahead: &'a Outlook,
    pub(super) radius: f64,
    pub(super) active: &'a mut Active,
    pub(super) sums: &'a mut Sums,
    /// Row entries visited.
    pub(super) entries: &'a mut u64,
}

impl Ellipsoid<'_> {
    fn centred(&mut self, k: usize, t: f64, nu: f64, centre: f64) -> Centred {
        *self.entries += self.rows.span(k).len() as u64;
        dispatch(OneRow { rows: self.rows, ahead: self.ahead, k, t, nu, centre })
    }

    /// Row k at t exactly: Newton on the convex ν ↦ Σ(y⁰ + t(w − centre) − ν)₊, from all entries.
    fn project(&mut self, k: usize, t: f64, centre: f64) -> Centred {
        let (mut nu, mut n) = (f64::NEG_INFINITY, f64::INFINITY);
        for _ in 0..PROJECTIONS {
            let at = self.centred(k, t, nu, centre);
            if at.n == n || at.n <= 0.0 {
                return at;
            }
            n = at.n;
            nu = at.shift(t);
        }
        self.centred(k, t, nu, centre)
    }

    /// Row k at t, its sums about the mean of its own active set.
    fn settle(&mut self, k: usize, t: f64, near: f64) -> Centred {
        let first = self.project(k, t, near);
        self.project(k, t, near + first.mean())
    }

    /// Gives rows without an active set all of their entries, and those whose set tells no direction
    /// unless they may stay there; whether there are any.
    fn mend(&mut self, may_stay: bool) -> bool {
        let mut any = false;
        for j in 0..self.active.len() {
            let moves = may_stay || self.sums.curve[j] < f64::INFINITY;
            if !(self.sums.n[j] > 0.0 && moves) {
                let k = self.active.row[j] as usize;
                self.active.nominal[j] = self.nominal(k);
                self.all_entries(j);
                any = true;
            }
        }
        any
    }

    /// On all entries a row is its nominal one at t = 0.
    fn all_entries(&mut self, j: usize) {
        let k = self.active.row[j] as usize;
        let sums = if self.rows.shared() {
            let [sum, square] = self.ahead.sums;
            let entries = self.ahead.shared.len() as f64;
            [entries, 1.0, sum, square, self.active.nominal[j] - self.rows.base[k], 0.0, 0.0]
        } else {
            let all = self.centred(k, 0.0, f64::NEG_INFINITY, 0.0);
            [all.n, 1.0, all.sw, all.sww, all.syw, 0.0, 0.0]
        };
        (self.active.t[j], self.active.nu[j]) = (0.0, 0.0);
        self.sums.set(j, sums, 0.0, 0.0);
        self.sums.bend[j] = 0.0;
    }

    fn lifted(&self, k: usize, t: f64, at: &Centred) -> Lifted {
        Lifted {
            t,
            nu: at.shift(t) + t * at.centre,
            value: self.rows.base[k] + at.value(t),
            cost: at.cost(t),
        }
    }
}

impl Ball for Ellipsoid<'_> {
    fn rows(&self) -> &Rows<'_> {
        &self.rows
    }
    fn active(&mut self) -> &mut Active {
        self.active
    }
    fn radius(&self) -> f64 {
        self.radius
    }
    fn drift(&self) -> (f64, f64) {
        (self.ahead.drift, self.ahead.anchor)
    }

    fn visited(&mut self, entries: usize) {
        *self.entries += entries as u64;
    }

    fn begin(&mut self) {
        self.sums.clear();
    }

    fn move_along(&mut self) {
        if let Some(Pilot::Moves(lines)) = self.ahead.pilot {
            self.move_like(lines);
        }
    }

    fn guess(&mut self, ceiling: f64) -> bool {
        match self.ahead.pilot {
            Some(pilot @ (Pilot::Sums(_) | Pilot::Typical)) => self.begin_like(pilot, ceiling),
            _ => false,
        }
    }

    fn admit(&mut self, from: usize) {
        self.sums.resize(self.active.len());
        for j in from..self.active.len() {
            self.all_entries(j);
        }
    }

    fn peaks_are_bases(&self) -> bool {
        true
    }

    /// ½‖e_i − y⁰‖² ≤ 1.
    fn move_cost(&self, share: f64, _: f64) -> f64 {
        share * share
    }

    fn share(&self, cost: f64) -> f64 {
        if cost <= self.radius { 1.0 } else { (self.radius / cost).sqrt() }
    }

    fn read(&mut self) {
        self.sums.resize(self.active.len());
        let Active { row, t, nu, pending, .. } = &mut *self.active;
        self.sums.list_stale(pending);
        *self.entries += match self.rows.shared() {
            true => pending.len() * self.rows.span(0).len(),
            false => pending.iter().map(|&j| self.rows.span(row[j as usize] as usize).len()).sum(),
        } as u64;
        let (rows, ahead) = (self.rows, self.ahead);
        dispatch(Pass { rows, ahead, stale: pending, row, t, nu, out: self.sums });
    }

    fn assess(&mut self, fixed: bool) -> Assessed {
        let (drift, radius) = (self.ahead.drift, self.radius);
        let at = dispatch(Assess { active: self.active, sums: self.sums, radius, drift, fixed });
        // Mended rows have t = 0, which is another policy.
        if fixed || at.mu.is_finite() || !self.mend(false) {
            return at;
        }
        dispatch(Assess { active: self.active, sums: self.sums, radius, drift, fixed })
    }

    fn raise(&mut self, mu: f64) -> Moved {
        let range = self.rows.range;
        let least = dispatch(Raise { active: self.active, sums: self.sums, mu, range });
        if least > 0.0 {
            std::mem::swap(&mut self.active.t, &mut self.active.fresh);
            std::mem::swap(&mut self.active.nu, &mut self.active.fresh_nu);
            self.sums.settle();
            return if self.active.multipliers().iter().all(|t| *t < f64::INFINITY) {
                Moved::All
            } else {
                Moved::Stuck
            };
        }
        // The last rows take the places of those that go.
        let (mut kept, mut j) = (self.active.len(), 0);
        while j < kept {
            let t = self.active.fresh[j];
            if t.is_nan() {
                return Moved::Stuck;
            }
            if t > 0.0 {
                j += 1;
            } else {
                kept -= 1;
                self.active.swap(kept, j);
                self.sums.swap(kept, j);
            }
        }
        self.active.truncate(kept);
        self.sums.resize(kept);
        if kept > 0 { Moved::Dropped } else { Moved::Stuck }
    }

    fn scale(&mut self, x: &[f64]) -> bool {
        let before = self.active.multipliers().iter().sum::<f64>() / x.iter().sum::<f64>();
        if self.mend(true) {
            self.assess(true);
        }
        let sums = &mut *self.sums;
        let (mut quadratic, mut constant) = (0.0, 0.0);
        for (j, x) in x.iter().enumerate() {
            // A row on its peak stays there: it has a cost, which does not change.
            if sums.curve[j] < f64::INFINITY {
                quadratic += x * x / sums.curve[j];
            }
            let r = 1.0 - sums.sy[j];
            constant += r * r / sums.n[j] + sums.off[j];
        }
        let room = 2.0 * self.radius - constant;
        if room >= 0.0 && quadratic == 0.0 {
            return false; // all on their peaks, and the budget suffices
        }
        let kappa = (room / quadratic).sqrt();
        // Beyond the budget whatever moves: the rows went too far.
        let kappa = if kappa > 0.0 && kappa.is_finite() { kappa } else { 0.5 * before };
        if !(kappa > 0.0 && kappa.is_finite()) {
            return false;
        }
        for (j, x) in x.iter().enumerate() {
            let t = kappa * x;
            let nu = t * sums.mean[j] + sums.rest[j];
            sums.move_to(j, t, nu, self.rows.range);
            (self.active.t[j], self.active.nu[j]) = (t, nu);
        }
        true
    }

    fn summit(&mut self, k: usize) -> (f64, Option<f64>) {
        (self.rows.base[k], None)
    }

    fn peak(&mut self, k: usize) -> (f64, f64) {
        // Only entries at the maximum, w = 0, stay active at this t.
        let at = self.centred(k, 1e300 / (1.0 + self.rows.range), -1.0, 0.0);
        let r = 1.0 - at.sy;
        (self.rows.base[k], 0.5 * (r * r / at.n.max(1.0) + at.off))
    }

    fn lift(&mut self, k: usize, mu: f64, slack: f64, guess: f64) -> Lifted {
        let goal = mu - self.rows.base[k];
        let (mut low, mut high) = (0.0_f64, f64::INFINITY);
        let mut t = if guess > 0.0 && guess.is_finite() { guess } else { 1e-3 / self.rows.range };
        let mut at = self.settle(k, t, 0.0);
        for _ in 0..PROJECTIONS {
            let value = at.value(t);
            if value <= goal {
                low = t
            } else {
                high = t
            }
            // The value is concave in t: Newton from the left never overshoots.
            let fresh = t + (goal - value) / at.det();
            let fresh = if fresh > low && fresh < high {
                fresh
            } else if high.is_finite() {
                0.5 * (low + high)
            } else {
                4.0 * t
            };
            let there = (value - goal).abs() <= slack;
            if there || (fresh - t).abs() <= 2e-16 * t || t > 1e300 {
                break;
            }
            t = fresh;
            at = self.settle(k, t, at.centre);
        }
        self.lifted(k, t, &at)
    }

    fn at(&mut self, k: usize, t: f64) -> Lifted {
        let at = self.settle(k, t, 0.0);
        self.lifted(k, t, &at)
    }
}
