//! Joint steps for [tilted](crate::sets::tilt) rows.
//!
//! A row with multiplier t has the value base + ψ' at the price κ(tψ' − ψ). For any t ≥ 0, t ≠ 0, and
//! x = κt/Σκt (weak duality),
//!   F_x ≤ U(t) = [α + Σκ(t·base + ψ)]/Σκt,
//! which is Newton's step for the common value μ. Each row then takes a Newton step on its distance G
//! below its maximum, t += (G/ψ'')·pace(G/g), g the distance at μ. A policy has κt = r·x and Newton on
//! ln(price) against ln r. The error of U is of second order in t; the lower bound, from the rows
//! mixed with p as the budget allows, of first.

mod lanes;

use self::lanes::{Assess, Evaluate, Ratios, Step};
use super::active::{Active, PADDING};
use super::joint::{Assessed, Joint, Stepped};
use super::problem::StateProblem;
use super::table::{Grid, MomentPass, MomentTable, ORDER, block};
use crate::lanes::dispatch;
use crate::sets::set::Set;
use crate::sets::tilt::Tilt;

/// Multipliers beyond this, in units of 1/range, are left to the bracketed driver.
const STEEPEST: f64 = 1e4;
/// The longest first step, in the same units.
const LONGEST: f64 = 6.0;
/// Readings of a state after which moments have not helped.
const READINGS: usize = 12;
/// What rounding may hide of a row's price tψ' − ψ, as a share of t·|ψ'|: both terms grow with t, and
/// what is left of them does not. Steep multipliers, such as those of values that nearly agreed, would
/// cost nothing otherwise.
const HIDDEN: f64 = 4.0 * f64::EPSILON;

/// What the last reading says of the active rows: ψ, ψ' and ψ'', for w.
#[derive(Debug, Default)]
pub(super) struct Cumulants {
    log: Vec<f64>,
    mean: Vec<f64>,
    variance: Vec<f64>,
    /// The largest w of each row, as far as rows were read.
    maximum: Vec<f64>,
    maxima: usize,
    /// Moments of rows that are read from the table, eight rows next to each other for each order,
    /// and the middle of their cell; ∞: never read.
    moments: Vec<f64>,
    centre: Vec<f64>,
    /// |t − centre|·range; beyond `reach` the row is to be read.
    off: Vec<f64>,
    reach: f64,
    pace: Vec<f64>,
    /// Readings of the state so far.
    readings: usize,
    rows: usize,
}

impl Cumulants {
    fn arrays(&mut self) -> [&mut Vec<f64>; 7] {
        let Cumulants { log, mean, variance, maximum, centre, off, pace, .. } = self;
        [log, mean, variance, maximum, centre, off, pace]
    }

    /// Room for this many rows; new ones have to be read.
    fn resize(&mut self, rows: usize) {
        if self.log.len() < rows {
            let room = (2 * rows).next_multiple_of(PADDING);
            self.arrays().into_iter().for_each(|array| array.resize(room, 0.0));
            self.moments.resize(room * ORDER, 0.0);
        }
        if rows > self.rows {
            self.off[self.rows..rows].fill(f64::INFINITY);
            self.centre[self.rows..rows].fill(f64::INFINITY);
        }
        self.rows = rows;
        self.maxima = self.maxima.min(rows);
    }

    fn swap(&mut self, i: usize, j: usize) {
        if i != j {
            self.arrays().into_iter().for_each(|array| array.swap(i, j));
            let (left, right) = (block(i).start + i % PADDING, block(j).start + j % PADDING);
            for order in 0..ORDER {
                self.moments.swap(left + order * PADDING, right + order * PADDING);
            }
        }
    }

    fn set(&mut self, j: usize, [log, mean, variance]: [f64; 3]) {
        (self.log[j], self.mean[j], self.variance[j]) = (log, mean, variance);
        self.off[j] = 0.0;
    }

    fn list_stale(&self, out: &mut Vec<u32>) {
        out.clear();
        let off = &self.off[..self.rows];
        let safe = |off: &f64| *off <= self.reach; // not where it is NaN
        // Most often none is safe or all are.
        match off.iter().map(|off| usize::from(safe(off))).sum() {
            0 => out.extend(0..self.rows as u32),
            safe_rows if safe_rows == self.rows => {}
            _ => out.extend((0..).zip(off).filter(|(_, off)| !safe(off)).map(|(j, _)| j)),
        }
    }
}

/// The driver.
pub(super) struct TiltedRows<'a> {
    pub(super) set: &'a dyn Tilt,
    pub(super) cumulants: &'a mut Cumulants,
    pub(super) table: &'a mut MomentTable,
}

impl TiltedRows<'_> {
    fn tabled(&self, problem: &StateProblem<'_>) -> bool {
        let values = problem.values();
        problem.rows.shared() && !values.in_place && values.range > 0.0 && self.set.is_exponential()
    }

    /// After rows have come from memory, so that looking for their maxima need not wait for it.
    fn find_maxima(&mut self, problem: &mut StateProblem<'_>) {
        for j in self.cumulants.maxima..problem.active.len() {
            let k = problem.active.row[j] as usize;
            self.cumulants.maximum[j] = problem.rows.maximum(k).0;
        }
        self.cumulants.maxima = problem.active.len();
    }

    /// Rows whose moments reach the new multipliers need not be read again.
    fn moved(&mut self, problem: &StateProblem<'_>) {
        if self.tabled(problem) && self.cumulants.readings > 0 {
            let (active, range) = (&*problem.active, problem.rows.range);
            dispatch(Evaluate { active, out: self.cumulants, range });
        } else {
            self.cumulants.off.fill(f64::INFINITY);
        }
    }

    /// The value that rows of normal distribution would reach together.
    fn first_value(&self, problem: &StateProblem<'_>) -> f64 {
        let Cumulants { mean, variance, .. } = &*self.cumulants;
        let Active { base, kappa, .. } = &*problem.active;
        let rows = 0..problem.active.len();
        let origin = base[0] + mean[0];
        let start = |j: usize| base[j] + mean[j] - origin;
        let (sk, skm) = rows.clone().fold((0.0, 0.0), |(sk, skm), j| {
            let k = kappa[j] / variance[j];
            (sk + k, skm + k * start(j))
        });
        let centre = skm / sk;
        let spread: f64 = rows.map(|j| kappa[j] * (start(j) - centre).powi(2) / variance[j]).sum();
        let room = 2.0 * problem.radius - spread;
        origin + if room > 0.0 { centre + (room / sk).sqrt() } else { centre }
    }
}

impl Joint for TiltedRows<'_> {
    fn begin(&mut self, problem: &mut StateProblem<'_>) {
        let reach = if self.tabled(problem) { Grid::of(problem.values()).reach } else { 0.0 };
        (self.cumulants.rows, self.cumulants.readings, self.cumulants.reach) = (0, 0, reach);
        self.cumulants.maxima = 0;
        self.cumulants.resize(problem.active.len());
    }

    fn finish(&mut self, _: &mut StateProblem<'_>) {}

    fn admit(&mut self, problem: &mut StateProblem<'_>, from: usize) {
        let rows = problem.active.len();
        problem.active.t[from..rows].fill(0.0);
        self.read(problem);
    }

    fn read(&mut self, problem: &mut StateProblem<'_>) {
        self.cumulants.resize(problem.active.len());
        self.cumulants.readings += 1;
        let by_moments = self.tabled(problem) && self.cumulants.readings <= READINGS;
        if !by_moments {
            self.cumulants.reach = 0.0;
        }
        let mut stale = std::mem::take(&mut problem.active.pending);
        self.cumulants.list_stale(&mut stale);
        if by_moments && !stale.is_empty() {
            problem.rows.visited += (stale.len() * problem.values().shared.len()) as u64;
            let Cumulants { moments, centre, .. } = &mut *self.cumulants;
            let Active { row, t, .. } = &*problem.active;
            dispatch(MomentPass {
                table: self.table,
                grid: Grid::of(problem.values()),
                nominal: problem.rows.all_nominal(),
                stale: &mut stale,
                row,
                t,
                centre,
                moments,
            });
            let (active, range) = (&*problem.active, problem.rows.range);
            dispatch(Evaluate { active, out: self.cumulants, range });
        }
        self.find_maxima(problem);
        for j in stale.iter().map(|&j| j as usize) {
            let (k, t) = (problem.active.row[j] as usize, problem.active.t[j]);
            problem.rows.visited += problem.rows.width(k) as u64;
            let [log, mean, variance] = self.set.read(problem.rows.row(k), t);
            let maximum = self.cumulants.maximum[j];
            self.cumulants.set(j, [log + t * maximum, mean + maximum, variance]);
            // Moments that were read for a smaller t serve no more.
            self.cumulants.centre[j] = f64::INFINITY;
        }
        problem.active.pending = stale;
    }

    fn assess(&mut self, problem: &mut StateProblem<'_>, fixed: bool) -> Assessed {
        let (active, cumulants) = (&*problem.active, &*self.cumulants);
        let (radius, fall) = (problem.radius, problem.values().fall);
        let (range, degree) = (problem.rows.range, Set::degree(problem.set));
        let mut at = dispatch(Assess { active, cumulants, radius, fall, range, degree, fixed });
        if active.multipliers().iter().all(|t| *t == 0.0) {
            at.mu = self.first_value(problem);
        }
        at
    }

    fn raise(&mut self, problem: &mut StateProblem<'_>, mu: f64) -> Stepped {
        let longest = LONGEST / problem.rows.range;
        let (active, cumulants) = (&mut *problem.active, &mut *self.cumulants);
        let rows = active.len();
        dispatch(Ratios { active, cumulants, mu });
        self.set.paces(&mut cumulants.pace[..rows]);
        let least = dispatch(Step { active, cumulants, longest });
        if least.is_nan() || least <= 0.0 {
            let mut kept = 0;
            for j in 0..rows {
                let (k, t) = (problem.active.row[j] as usize, problem.active.t[j]);
                let fresh = problem.active.fresh[j];
                if fresh.is_nan() || fresh <= 0.0 {
                    // Either the row needs no multiplier, or the step was too long.
                    let nominal = match problem.active.nominal[j] {
                        Some(nominal) => nominal,
                        None => problem.nominal(k),
                    };
                    if nominal >= mu {
                        continue;
                    }
                    if t == 0.0 {
                        return Stepped::Stuck;
                    }
                    problem.active.fresh[j] = 0.25 * t;
                }
                problem.active.swap(kept, j);
                self.cumulants.swap(kept, j);
                kept += 1;
            }
            let dropped = kept < rows;
            problem.active.truncate(kept);
            self.cumulants.resize(kept);
            if kept == 0 {
                return Stepped::Stuck;
            }
            if dropped {
                return Stepped::Dropped;
            }
        }
        std::mem::swap(&mut problem.active.t, &mut problem.active.fresh);
        self.moved(problem);
        let steepest = STEEPEST / problem.rows.range;
        match problem.active.multipliers().iter().all(|t| *t <= steepest) {
            true => Stepped::All,
            false => Stepped::Stuck,
        }
    }

    fn scale(&mut self, problem: &mut StateProblem<'_>, x: &[f64]) -> bool {
        let Cumulants { log, mean, variance, .. } = &*self.cumulants;
        let Active { t, kappa, .. } = &mut *problem.active;
        let (mut weight, mut bend, mut used) = (0.0, 0.0, 0.0);
        for (j, x) in x.iter().enumerate() {
            weight += kappa[j] * t[j];
            bend += x * x * variance[j] / kappa[j];
            used += kappa[j] * (t[j] * mean[j] - log[j]);
        }
        let r = weight / x.iter().sum::<f64>();
        let range = problem.rows.range;
        let fresh = if r == 0.0 {
            (2.0 * problem.radius / bend).sqrt().min(32.0 / range)
        } else {
            let slope = r * r * bend / used;
            r * ((problem.radius / used).ln() / slope).clamp(-2.0, 2.0).exp()
        };
        for ((t, kappa), x) in t.iter_mut().zip(kappa).zip(x) {
            *t = fresh * x / *kappa;
        }
        self.moved(problem);
        fresh > 0.0 && fresh * range <= STEEPEST
    }

    fn level(&self, problem: &StateProblem<'_>) -> f64 {
        let known = self.cumulants.maxima;
        let largest = problem.active.base[..known].iter().zip(&self.cumulants.maximum);
        largest.fold(f64::INFINITY, |least, (base, maximum)| least.min(base + maximum))
    }

    /// Where the lowest row nears its maximum, prices may grow like −ln(distance).
    fn stride(&self, step: f64, room: f64) -> f64 {
        let share = -(-step / room).exp_m1();
        if share.is_nan() { 0.75 } else { share.clamp(0.25, 0.99) }
    }
}
