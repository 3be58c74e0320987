//! Exact updates on the KL ball Σ_a KL(y_a‖y⁰_a) ≤ α.
//!
//! A row with multiplier t is y ∝ y⁰e^{tw}. With ψ = ln Σ y⁰e^{tw}, its value is base + ψ' and it
//! costs tψ' − ψ. For any t ≥ 0, t ≠ 0, and x = t/Σt (weak duality),
//!   F_x(v) ≤ U(t) = [α + Σ(t_a·base_a + ψ_a)]/Σt,
//! which is at the same time Newton's step for the common value μ. Each row then takes a Newton
//! step on ln(distance below the maximum), t += (G/ψ'')·ln(G/g), G = −ψ', g = base − μ. A fixed
//! policy has t = κx and Newton on ln(cost) against ln κ. The error of U is of second order in t;
//! the lower bound, from the tilted rows mixed with y⁰ by α/ΣKL, of first.

use pulp::{Simd, WithSimd};

use super::driver::{Active, Ball, Lifted};
use super::outlook::Outlook;
use super::rows::Rows;
use super::table::{self, Moments, ORDER, Table};
use crate::lanes::{dispatch, exp, exp_m1, walk};
use crate::uncertainty::Enclosure;

/// Multipliers beyond this, in units of 1/range, are left to the nested search.
const STEEPEST: f64 = 500.0;
const ROW_STEPS: usize = 200;

/// What the last reading says of the rows under work: ψ, ψ' and ψ''.
#[derive(Debug, Default)]
pub(super) struct Cumulants {
    pub(super) log: Vec<f64>,
    mean: Vec<f64>,
    variance: Vec<f64>,
    moments: Vec<[f64; ORDER]>,
    /// The row and the cell that `moments` belong to.
    cell: Vec<Option<(u32, u32)>>,
}

impl Cumulants {
    /// Forgets the rows of the last state.
    pub(super) fn clear(&mut self) {
        self.cell.clear();
    }

    fn resize(&mut self, rows: usize) {
        self.log.resize(rows, 0.0);
        self.mean.resize(rows, 0.0);
        self.variance.resize(rows, 0.0);
        self.moments.resize(rows, [0.0; ORDER]);
        self.cell.resize(rows, None);
    }

    fn swap(&mut self, i: usize, j: usize) {
        self.log.swap(i, j);
        self.mean.swap(i, j);
        self.variance.swap(i, j);
        self.moments.swap(i, j);
        self.cell.swap(i, j);
    }

    fn set(&mut self, j: usize, [log, mean, variance]: [f64; 3]) {
        (self.log[j], self.mean[j], self.variance[j]) = (log, mean, variance);
    }
}

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
    /// ψ, ψ' and ψ'' of row k at t by one pass of exponentials.
    fn tilt(&mut self, k: usize, t: f64, top: f64) -> [f64; 3] {
        let (nominal, gain) = self.rows.row(k);
        *self.entries += nominal.len() as u64;
        let small = t * self.rows.range <= 0.5;
        dispatch(Tilt { nominal, gain, t, top, small })
    }

    /// The largest w of row k where y⁰ is positive, and the mass there.
    fn top(&self, k: usize) -> (f64, f64) {
        let (nominal, gain) = self.rows.row(k);
        let (mut top, mut mass) = (f64::NEG_INFINITY, 0.0);
        for (&y, &w) in nominal.iter().zip(gain).filter(|(y, _)| **y > 0.0) {
            if w > top {
                (top, mass) = (w, y);
            } else if w == top {
                mass += y;
            }
        }
        (top, mass)
    }

    /// Reads row j from the table, unless it lies beyond.
    fn look_up(&mut self, j: usize) -> bool {
        let (k, t, range) = (self.active.row[j] as usize, self.active.t[j], self.ahead.range);
        if !self.rows.shared() || self.ahead.in_place {
            return false;
        }
        let Some(cell) = table::cell(t, range) else { return false };
        let cumulants = &mut *self.cumulants;
        let owner = Some((k as u32, cell as u32));
        if cumulants.cell[j] != owner {
            cumulants.cell[j] = owner;
            let nominal = self.rows.row(k).0;
            *self.entries += nominal.len() as u64;
            let basis = self.table.basis(cell, &self.ahead.shared, range, self.ahead.stamp);
            cumulants.moments[j] = dispatch(Moments { nominal, basis });
        }
        let delta = t - table::centre(cell, range);
        let tilted = table::tilted(&cumulants.moments[j], cell, delta);
        cumulants.set(j, tilted);
        true
    }

    /// The value that rows of normal distribution would reach together, before any reading.
    fn first_value(&mut self) -> f64 {
        loop {
            let (base, mean) = (&self.active.base, &self.cumulants.mean);
            let variance = &self.cumulants.variance;
            let rows = self.active.len();
            let (mut sk, mut skm) = (0.0, 0.0);
            for j in 0..rows {
                let k = 1.0 / variance[j];
                sk += k;
                skm += k * (base[j] + mean[j]);
            }
            let centre = skm / sk;
            let spread: f64 =
                (0..rows).map(|j| (base[j] + mean[j] - centre).powi(2) / variance[j]).sum();
            let room = 2.0 * self.radius - spread;
            let mu = if room > 0.0 { centre + (room / sk).sqrt() } else { centre };
            if !mu.is_finite() {
                return f64::NAN;
            }
            let mut kept = 0;
            for j in 0..rows {
                if self.active.base[j] + self.cumulants.mean[j] < mu {
                    self.active.swap(kept, j);
                    self.cumulants.swap(kept, j);
                    kept += 1;
                }
            }
            if kept == rows || kept == 0 {
                return if room > 0.0 { mu } else { f64::NAN };
            }
            self.active.truncate(kept);
        }
    }

    /// A Newton step of row j towards the value μ.
    fn stepped(&self, j: usize, mu: f64) -> f64 {
        let (t, mean, variance) =
            (self.active.t[j], self.cumulants.mean[j], self.cumulants.variance[j]);
        let goal = self.active.base[j] - mu;
        if t == 0.0 {
            return ((mu - self.active.base[j] - mean) / variance).min(32.0 / self.rows.range);
        }
        let fresh = t + -mean / variance * (-mean / goal).ln();
        fresh.min(8.0 * t)
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
    fn range(&self) -> f64 {
        self.rows.range
    }
    fn drift(&self) -> (f64, f64) {
        (self.ahead.drift, self.ahead.anchor)
    }

    fn visited(&mut self, entries: usize) {
        *self.entries += entries as u64;
    }

    fn admit(&mut self, j: usize, nominal: f64) {
        let k = self.active.row[j] as usize;
        self.cumulants.resize(self.active.len());
        let [.., variance] = self.tilt(k, 0.0, 0.0);
        self.cumulants.set(j, [0.0, nominal - self.rows.base[k], variance]);
        self.cumulants.cell[j] = None;
        self.active.t[j] = 0.0;
    }

    /// No bound that is worth its price.
    fn move_cost(&self, _: f64) -> f64 {
        f64::INFINITY
    }

    fn read(&mut self) {
        self.cumulants.resize(self.active.len());
        for j in 0..self.active.len() {
            if !self.look_up(j) {
                let k = self.active.row[j] as usize;
                let top = if self.rows.shared() { self.top(k).0 } else { 0.0 };
                let tilted = self.tilt(k, self.active.t[j], top);
                self.cumulants.set(j, tilted);
            }
        }
    }

    fn bounds(&self, fixed: bool, floor: &dyn Fn(usize) -> f64) -> Enclosure {
        let Active { row, base, t, .. } = &*self.active;
        let Cumulants { log, mean, .. } = &*self.cumulants;
        let (mut total, mut value, mut logs, mut used) = (0.0, 0.0, 0.0, 0.0);
        for j in 0..t.len() {
            total += t[j];
            value += t[j] * base[j];
            logs += log[j];
            used += (t[j] * mean[j] - log[j]).max(0.0);
        }
        let share = if used <= self.radius { 1.0 } else { self.radius / used };
        let (mut least, mut average) = (f64::INFINITY, 0.0);
        for j in 0..t.len() {
            let mut row_value = base[j] + mean[j];
            if share < 1.0 {
                row_value = share * row_value + (1.0 - share) * floor(row[j] as usize);
            }
            least = if row_value >= least { least } else { row_value }; // keeps a NaN
            average += t[j] / total * row_value;
        }
        let lower = if fixed { average } else { least };
        let upper = value / total + (self.radius + logs) / total;
        Enclosure {
            lower: if lower.is_nan() { f64::NEG_INFINITY } else { lower },
            upper: if upper.is_nan() { f64::INFINITY } else { upper },
        }
    }

    fn joint_value(&mut self) -> f64 {
        let total: f64 = self.active.t.iter().sum();
        if total == 0.0 {
            return self.first_value();
        }
        let (mut value, mut logs) = (0.0, 0.0);
        for j in (0..self.active.len()).filter(|&j| self.active.t[j] > 0.0) {
            value += self.active.t[j] * self.active.base[j];
            logs += self.cumulants.log[j];
        }
        value / total + (self.radius + logs) / total
    }

    fn raise(&mut self, mu: f64) -> bool {
        let (mut kept, mut sound) = (0, true);
        for j in 0..self.active.len() {
            let (k, t) = (self.active.row[j] as usize, self.active.t[j]);
            let mut fresh = self.stepped(j, mu);
            if !(fresh > 0.0) {
                // Either the row needs no lift, or the step was too long.
                if self.nominal(k) >= mu {
                    continue;
                }
                fresh = 0.25 * t;
            }
            sound &= fresh * self.rows.range <= STEEPEST && fresh > 0.0;
            self.active.t[j] = fresh;
            self.active.swap(kept, j);
            self.cumulants.swap(kept, j);
            kept += 1;
        }
        self.active.truncate(kept);
        sound && kept > 0
    }

    fn scale(&mut self, x: &[f64]) -> bool {
        let Cumulants { log, mean, variance, .. } = &*self.cumulants;
        let kappa: f64 = self.active.t.iter().sum::<f64>() / x.iter().sum::<f64>();
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
        fresh > 0.0 && fresh * self.rows.range <= STEEPEST
    }

    fn peak(&mut self, k: usize) -> (f64, f64) {
        let (top, mass) = self.top(k);
        (self.rows.base[k] + top, -mass.min(1.0).ln())
    }

    fn lift(&mut self, k: usize, mu: f64, guess: f64) -> Lifted {
        let top = self.top(k).0;
        let goal = top - (mu - self.rows.base[k]);
        let (mut low, mut high) = (0.0_f64, f64::INFINITY);
        let mut t = if guess > 0.0 && guess.is_finite() { guess } else { 1.0 / self.rows.range };
        let mut last = Lifted { t, nu: 0.0, cost: 0.0 };
        for _ in 0..ROW_STEPS {
            let [log, mean, variance] = self.tilt(k, t, top);
            last = Lifted { t, nu: 0.0, cost: (t * mean - log).max(0.0) };
            let below = top - mean;
            if below >= goal {
                low = t
            } else {
                high = t
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

    fn at(&mut self, k: usize, t: f64) -> Lifted {
        let top = if self.rows.shared() { self.top(k).0 } else { 0.0 };
        let [log, mean, _] = self.tilt(k, t, top);
        Lifted { t, nu: 0.0, cost: (t * mean - log).max(0.0) }
    }
}

/// ψ, ψ' and ψ'' of one row; `top` is the largest w where y⁰ is positive.
struct Tilt<'a> {
    nominal: &'a [f64],
    gain: &'a [f64],
    t: f64,
    top: f64,
    /// Exponents are small: Σ y⁰(e^{tw} − 1) keeps the digits of ψ.
    small: bool,
}

impl WithSimd for Tilt<'_> {
    type Output = [f64; 3];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [f64; 3] {
        let Tilt { nominal, gain, t, top, small } = self;
        let zero = simd.splat_f64s(0.0);
        let (tv, topv) = (simd.splat_f64s(t), simd.splat_f64s(top));
        let (mut s0, mut s1, mut s2) = (zero, zero, zero);
        if small {
            walk!(simd, [nominal, gain] => |y0, w| {
                let w = simd.sub_f64s(w, topv);
                let q = simd.mul_f64s(y0, exp_m1(simd, simd.mul_f64s(tv, w)));
                let yw = simd.mul_f64s(simd.add_f64s(q, y0), w);
                s0 = simd.add_f64s(s0, q);
                s1 = simd.add_f64s(s1, yw);
                s2 = simd.mul_add_e_f64s(yw, w, s2);
            });
        } else {
            walk!(simd, [nominal, gain] => |y0, w| {
                let w = simd.sub_f64s(w, topv);
                let y = simd.mul_f64s(y0, exp(simd, simd.mul_f64s(tv, w)));
                let yw = simd.mul_f64s(y, w);
                s0 = simd.add_f64s(s0, y);
                s1 = simd.add_f64s(s1, yw);
                s2 = simd.mul_add_e_f64s(yw, w, s2);
            });
        }
        let sum = simd.reduce_sum_f64s(s0);
        let (total, log) = if small { (1.0 + sum, sum.ln_1p()) } else { (sum, sum.ln()) };
        let mean = simd.reduce_sum_f64s(s1) / total;
        let variance = (simd.reduce_sum_f64s(s2) / total - mean * mean).max(0.0);
        [log + t * top, mean + top, variance]
    }
}
