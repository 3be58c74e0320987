//! Exact updates on the KL ball Σ_a KL(y_a‖y⁰_a) ≤ α.
//!
//! A row with multiplier t is y ∝ y⁰e^{tw}. With ψ = ln Σ y⁰e^{tw}, its value is base + ψ' and it
//! costs tψ' − ψ. For any t ≥ 0, t ≠ 0, and x = t/Σt (weak duality),
//!   F_x(v) ≤ U(t) = [α + Σ(t_a·base_a + ψ_a)]/Σt,
//! which is at the same time Newton's step for the common value μ. Each row then takes a Newton
//! step on ln(distance below the maximum), t += (G/ψ'')·ln(G/g), G = −ψ', g = base − μ, both from the
//! row's own peak where that is known (see [`super::tops`]). A fixed policy has t = κx and Newton on
//! ln(cost) against ln κ. The error of U is of second order in t; the lower bound, from the tilted rows
//! mixed with y⁰ by α/ΣKL, of first.

use super::active::Active;
use super::ball::{Assessed, Ball, Lifted, Moved};
use super::cumulants::{Assess, Cumulants, Evaluate, HIDDEN, Step};
use super::outlook::Outlook;
use super::rows::{Rows, Spreads};
use super::table::{MomentPass, Table, left_out};
use super::tilt::Tilt;
use crate::lanes::dispatch;

/// Multipliers beyond this, in units of 1/range, are left to the nested search.
const STEEPEST: f64 = 500.0;
/// The same where steps are measured by the rows' own largest values.
const STEEPEST_PEAKED: f64 = 1e4;
/// The longest first step, in the same units.
pub(super) const LONGEST: f64 = 6.0;
const ROW_STEPS: usize = 200;
/// Readings of a state after which moments have not helped.
const READINGS: usize = 12;

/// The ball around one state's rows.
pub(super) struct Kl<'a> {
    pub(super) rows: Rows<'a>,
    pub(super) ahead: &'a Outlook,
    pub(super) radius: f64,
    pub(super) active: &'a mut Active,
    pub(super) cumulants: &'a mut Cumulants,
    pub(super) table: &'a mut Table,
    /// Row entries visited.
    pub(super) entries: &'a mut u64,
}

impl Kl<'_> {
    /// ψ, ψ' and ψ'' of row k at t by one pass of exponentials, for w less `top`.
    fn tilt(&mut self, k: usize, t: f64, top: f64) -> [f64; 3] {
        let (nominal, gain) = self.rows.row(k);
        *self.entries += nominal.len() as u64;
        let small = t * self.rows.range <= 0.5;
        dispatch(Tilt { nominal, gain, t, top, small })
    }

    pub(super) fn tabled(&self) -> bool {
        self.rows.tabled(self.ahead)
    }

    /// Rows whose moments reach the new multipliers need not be read again.
    pub(super) fn moved(&mut self) {
        if self.tabled() && self.cumulants.readings > 0 {
            let range = self.rows.range;
            dispatch(Evaluate { active: self.active, out: self.cumulants, range });
        } else {
            self.cumulants.off.fill(f64::INFINITY);
        }
    }

    /// The value that rows of normal distribution would reach together, before any reading.
    fn first_value(&self) -> f64 {
        let rows = self.active.len();
        let Cumulants { mean, variance, .. } = &*self.cumulants;
        let base = &self.active.base;
        let origin = base[0] + mean[0];
        let (mut sk, mut skm) = (0.0, 0.0);
        for j in 0..rows {
            let k = 1.0 / variance[j];
            sk += k;
            skm += k * (base[j] + mean[j] - origin);
        }
        let centre = origin + skm / sk;
        let spread: f64 =
            (0..rows).map(|j| (base[j] + mean[j] - centre).powi(2) / variance[j]).sum();
        let room = 2.0 * self.radius - spread;
        if room > 0.0 { centre + (room / sk).sqrt() } else { centre }
    }
}

impl Ball for Kl<'_> {
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

    fn nominals(&mut self, list: &[u32], out: &mut [f64]) {
        self.visited(list.iter().map(|&k| self.rows.span(k as usize).len()).sum());
        if self.cumulants.nominal.len() < self.rows.len() {
            self.cumulants.nominal.resize(self.rows.len(), [0.0; 2]);
        }
        dispatch(Spreads { rows: self.rows, list, out: &mut self.cumulants.nominal });
        for (&k, out) in list.iter().zip(out) {
            *out = self.rows.base[k as usize] + self.cumulants.nominal[k as usize][0];
        }
    }

    fn begin(&mut self) {
        self.cumulants.clear(self.ahead.reach);
    }

    fn ceiling(&mut self, known: f64, floor: &[f64]) -> f64 {
        self.lowest_peak(known, floor)
    }

    /// Where the lowest row nears its peak, what lifts cost grows like −ln(distance).
    fn stride(&self, step: f64, room: f64) -> f64 {
        let share = -(-step / room).exp_m1();
        if share.is_nan() { 0.75 } else { share.clamp(0.25, 0.99) }
    }

    fn admit(&mut self, from: usize) {
        let rows = self.active.len();
        self.active.t[from..rows].fill(0.0);
        self.cumulants.resize(rows);
        for j in from..rows {
            let [mean, square] = self.cumulants.nominal[self.active.row[j] as usize];
            self.cumulants.set(j, [0.0, mean, (square - mean * mean).max(0.0)]);
        }
        self.look_up_tops(from);
    }

    fn peaks_are_bases(&self) -> bool {
        false
    }

    /// KL((1 − θ)y⁰ + θe‖y⁰), e on the peak where y⁰ has the mass p = e^{−peak_cost}. Written so that
    /// the terms of first order in θ cancel before they are rounded, up to the last part.
    fn move_cost(&self, share: f64, peak_cost: f64) -> f64 {
        if share >= 1.0 {
            return peak_cost;
        }
        let rest = -(-peak_cost).exp_m1();
        let top = (-peak_cost).exp() + share * rest;
        let gain = (share * peak_cost.exp_m1()).ln_1p();
        let loss = (1.0 - share) * rest * (-share).ln_1p();
        let cost = loss + top * gain;
        if cost.is_nan() { peak_cost } else { cost.max(0.0) + 4.0 * f64::EPSILON * share }
    }

    fn share(&self, cost: f64) -> f64 {
        if cost <= self.radius { 1.0 } else { self.radius / cost }
    }

    fn read(&mut self) {
        self.cumulants.resize(self.active.len());
        self.cumulants.readings += 1;
        let by_moments = self.tabled() && self.cumulants.readings <= READINGS;
        if !by_moments {
            self.cumulants.reach = 0.0;
        }
        let mut stale = std::mem::take(&mut self.active.pending);
        self.cumulants.list_stale(&mut stale);
        if stale.is_empty() {
            self.active.pending = stale;
            return;
        }
        if by_moments {
            let Cumulants { moments, centre, .. } = &mut *self.cumulants;
            let Active { row, t, .. } = &*self.active;
            *self.entries += (stale.len() * self.ahead.shared.len()) as u64;
            dispatch(MomentPass {
                table: self.table,
                grid: self.ahead.grid(),
                nominal: self.rows.nominal(),
                stale: &mut stale,
                row,
                t,
                centre,
                moments,
            });
            let range = self.rows.range;
            dispatch(Evaluate { active: self.active, out: self.cumulants, range });
        }
        for &j in &stale {
            let (j, k) = (j as usize, self.active.row[j as usize] as usize);
            let top = if self.rows.shared() { self.top(k).0 } else { 0.0 };
            let t = self.active.t[j];
            let [log, mean, variance] = self.tilt(k, t, top);
            self.cumulants.set(j, [log + t * top, mean + top, variance]);
            // Moments that were read for a smaller t serve no more.
            self.cumulants.centre[j] = f64::INFINITY;
        }
        self.active.pending = stale;
    }

    fn assess(&mut self, fixed: bool) -> Assessed {
        let (active, cumulants) = (&*self.active, &*self.cumulants);
        let (radius, drift, range) = (self.radius, self.ahead.drift, self.rows.range);
        let mut at = dispatch(Assess { active, cumulants, radius, drift, range, fixed });
        if active.multipliers().iter().all(|t| *t == 0.0) {
            at.mu = self.first_value();
        }
        at
    }

    fn raise(&mut self, mu: f64) -> Moved {
        let longest = LONGEST / self.rows.range;
        let cumulants = &*self.cumulants;
        let least = dispatch(Step { active: self.active, cumulants, mu, longest });
        if least.is_nan() || least <= 0.0 {
            let mut kept = 0;
            for j in 0..self.active.len() {
                let (k, t) = (self.active.row[j] as usize, self.active.t[j]);
                let fresh = self.active.fresh[j];
                if fresh.is_nan() || fresh <= 0.0 {
                    // Either the row needs no lift, or the step was too long.
                    let known = self.active.nominal[j];
                    let nominal = if known.is_nan() { self.nominal(k) } else { known };
                    if nominal >= mu {
                        continue;
                    }
                    if t == 0.0 {
                        return Moved::Stuck;
                    }
                    self.active.fresh[j] = 0.25 * t;
                }
                self.active.swap(kept, j);
                self.cumulants.swap(kept, j);
                kept += 1;
            }
            let dropped = kept < self.active.len();
            self.active.truncate(kept);
            self.cumulants.resize(kept);
            if kept == 0 {
                return Moved::Stuck;
            }
            if dropped {
                return Moved::Dropped;
            }
        }
        std::mem::swap(&mut self.active.t, &mut self.active.fresh);
        self.moved();
        self.look_ahead();
        let steepest = if self.cumulants.tops.used { STEEPEST_PEAKED } else { STEEPEST };
        let steepest = steepest / self.rows.range;
        let within = self.active.multipliers().iter().map(|t| usize::from(*t <= steepest));
        if within.sum::<usize>() == self.active.len() { Moved::All } else { Moved::Stuck }
    }

    fn scale(&mut self, x: &[f64]) -> bool {
        let Cumulants { log, mean, variance, .. } = &*self.cumulants;
        let kappa = self.active.multipliers().iter().sum::<f64>() / x.iter().sum::<f64>();
        let bend: f64 = x.iter().zip(variance).map(|(x, v)| x * x * v).sum();
        let fresh = if kappa == 0.0 {
            (2.0 * self.radius / bend).sqrt().min(32.0 / self.rows.range)
        } else {
            let t = &self.active.t;
            let used: f64 = (0..x.len()).map(|j| t[j] * mean[j] - log[j]).sum();
            let slope = kappa * kappa * bend / used;
            kappa * ((self.radius / used).ln() / slope).clamp(-2.0, 2.0).exp()
        };
        for (t, x) in self.active.t.iter_mut().zip(x) {
            *t = fresh * x;
        }
        self.moved();
        fresh > 0.0 && fresh * self.rows.range <= STEEPEST
    }

    fn peak(&mut self, k: usize) -> (f64, f64) {
        let (top, mass) = self.top(k);
        (self.rows.base[k] + top, -mass.min(1.0).ln())
    }

    fn lift(&mut self, k: usize, mu: f64, slack: f64, guess: f64) -> Lifted {
        let top = self.top(k).0;
        let peak = self.rows.base[k] + top;
        let goal = peak - mu;
        let (mut low, mut high) = (0.0_f64, f64::INFINITY);
        let usable = |t: &f64| *t > 0.0 && t.is_finite();
        let from_nominal = || {
            let [mean, square] = *self.cumulants.nominal.get(k)?;
            let start = (top - mean) / (square - mean * mean) * ((top - mean) / goal).ln();
            Some(start).filter(usable)
        };
        let start = Some(guess).filter(usable).or_else(from_nominal);
        let mut t = start.unwrap_or(1.0 / self.rows.range);
        let mut last = Lifted { t, nu: 0.0, value: mu, cost: 0.0 };
        for _ in 0..ROW_STEPS {
            let [log, mean, variance] = self.tilt(k, t, top);
            let value = peak + mean;
            last = Lifted { t, nu: 0.0, value, cost: (t * mean - log).max(0.0) };
            let below = -mean;
            if below >= goal {
                low = t
            } else {
                high = t
            }
            if (below - goal).abs() <= slack {
                break;
            }
            let fresh = t + below / variance * (below / goal).ln();
            let fresh = if fresh > low && fresh < high {
                fresh
            } else if high.is_infinite() {
                4.0 * t
            } else if low > 0.0 && high < 4.0 * low {
                0.5 * (low + high)
            } else {
                (low.max(1e-3 * high) * high).sqrt()
            };
            if (fresh - t).abs() <= 4e-16 * t || t > 1e300 {
                break;
            }
            t = fresh;
        }
        last
    }

    fn summit(&mut self, k: usize) -> (f64, Option<f64>) {
        (self.rows.base[k] + self.top(k).0, None)
    }

    fn steepen(&mut self) -> bool {
        self.measure_by_peaks()
    }

    fn reads_at_multipliers(&self) -> bool {
        true
    }

    fn approach(&mut self, mu: f64) {
        let rows = self.active.len();
        if rows == 0 {
            return;
        }
        self.cumulants.resize(rows);
        for j in 0..rows {
            self.cumulants.top[j] = self.top(self.active.row[j] as usize).0;
        }
        self.read();
        let (active, cumulants) = (&mut *self.active, &*self.cumulants);
        let longest = LONGEST / self.rows.range;
        dispatch(Step { active, cumulants, mu, longest });
        for j in 0..rows {
            let (t, fresh) = (active.t[j], &mut active.fresh[j]);
            if active.base[j] + cumulants.top[j] <= mu {
                *fresh = t;
            } else if fresh.is_nan() || *fresh < 0.25 * t {
                *fresh = 0.25 * t;
            }
        }
        std::mem::swap(&mut active.t, &mut active.fresh);
        self.moved();
        self.read();
    }

    fn noted(&mut self, j: usize) -> Option<Lifted> {
        let k = *self.active.row.get(j)? as usize;
        let Cumulants { log, mean, off, reach, .. } = &*self.cumulants;
        let (t, off) = (self.active.t[j], *off.get(j)?);
        // Not where the last reading does not hold, nor where it is no number.
        if t.is_nan() || t <= 0.0 || off.is_nan() || off > *reach {
            return None;
        }
        let [mean_off, log_off] = left_out(off, self.rows.range);
        let value = self.rows.base[k] + mean[j] - mean_off;
        let hidden = HIDDEN * (t * mean[j]).abs();
        let cost = t * mean[j] - log[j] + (t * mean_off + log_off) + hidden;
        let known = value.is_finite() && cost.is_finite();
        known.then_some(Lifted { t, nu: 0.0, value, cost: cost.max(0.0) })
    }

    fn at(&mut self, k: usize, t: f64) -> Lifted {
        let top = self.top(k).0;
        let [log, mean, _] = self.tilt(k, t, top);
        let value = self.rows.base[k] + top + mean;
        Lifted { t, nu: 0.0, value, cost: (t * mean - log).max(0.0) }
    }
}
