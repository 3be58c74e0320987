//! Joint steps for [quadratic](crate::sets::quadratic) rows.
//!
//! With all active sets fixed, raising every row to one value μ costs a quadratic in μ:
//!   μ = m̄ + √{[2α − Σκ(ρ²/R + L) − Σk(m − m̄)²]/Σk},  k = κ/det, m = base + Pw + ρ·Rw/R,
//! m̄ the k-weighted mean of m; a policy x has κt = r·x and one r instead. A row keeps its active set,
//! and need not be read again, while tw − ν moves by less than the margin of its last reading. Bounds:
//!   F_x ≤ [Σκt·(base + ⟨w,y⟩) + α − Σκ(d + ν(Σy − 1))]/Σκt,  x = κt/Σκt,
//! whatever (t, ν) are (weak duality), and F ≥ the least row value of y brought into the set.

mod lanes;

use self::lanes::{Assess, Raise};
use super::active::{Active, PADDING};
use super::joint::{Assessed, Joint, Stepped};
use super::problem::StateProblem;
use crate::lanes::dispatch;
use crate::sets::quadratic::{At, Quadratic, Sums};

/// Where t·mean is larger, roundings of tw − ν leave y of heavy entries open: there is no kernel to tell of.
const BLURRED: f64 = 1e6;
/// The share of a margin that roundings leave.
const SURE: f64 = 1.0 - 1e-14;
/// A determinant below this share of Rww is rounding.
const FLAT: f64 = 1e-13;

/// What the last readings say of the active rows, one array a number.
#[derive(Debug, Default)]
pub(super) struct Forms {
    r: Vec<f64>,
    p: Vec<f64>,
    rw: Vec<f64>,
    rww: Vec<f64>,
    pw: Vec<f64>,
    left: Vec<f64>,
    /// The margin of the last reading, and (t, ν) then.
    margin: Vec<f64>,
    read_t: Vec<f64>,
    read_nu: Vec<f64>,
    /// 1 where ν comes from the closed form, so that ν − t·mean = rest; else 0.
    closed: Vec<f64>,
    /// What is left of the margin at the present (t, ν): negative, the active set may be another.
    safety: Vec<f64>,
    fresh_safety: Vec<f64>,
    /// What w is measured from in a row: its base has grown by that, its ν is counted above t times that.
    centre: Vec<f64>,
    /// Rw/R, −ρ/R, m and 1/det (∞ where det = 0).
    mean: Vec<f64>,
    rest: Vec<f64>,
    start: Vec<f64>,
    curve: Vec<f64>,
    read: Vec<Sums>,
    rows: usize,
}

impl Forms {
    fn arrays(&mut self) -> [&mut Vec<f64>; 17] {
        [
            &mut self.r,
            &mut self.p,
            &mut self.rw,
            &mut self.rww,
            &mut self.pw,
            &mut self.left,
            &mut self.margin,
            &mut self.read_t,
            &mut self.read_nu,
            &mut self.closed,
            &mut self.safety,
            &mut self.fresh_safety,
            &mut self.centre,
            &mut self.mean,
            &mut self.rest,
            &mut self.start,
            &mut self.curve,
        ]
    }

    /// Room for this many rows; new ones have to be read.
    fn resize(&mut self, rows: usize) {
        if self.r.len() < rows {
            let room = (2 * rows).next_multiple_of(PADDING);
            self.arrays().into_iter().for_each(|array| array.resize(room, 0.0));
        }
        if rows > self.rows {
            self.safety[self.rows..rows].fill(-1.0);
            self.centre[self.rows..rows].fill(0.0);
        }
        self.rows = rows;
    }

    fn swap(&mut self, i: usize, j: usize) {
        if i != j {
            self.arrays().into_iter().for_each(|array| array.swap(i, j));
        }
    }

    /// What a reading at (t, ν) says of row j.
    fn set(&mut self, j: usize, sums: Sums, t: f64, nu: f64) {
        (self.r[j], self.p[j], self.rw[j]) = (sums.r, sums.p, sums.rw);
        (self.rww[j], self.pw[j], self.left[j]) = (sums.rww, sums.pw, sums.left);
        (self.margin[j], self.read_t[j], self.read_nu[j]) = (sums.margin, t, nu);
        (self.safety[j], self.closed[j]) = (sums.margin, 0.0);
    }

    /// Row j was read on all of its entries: it is the nominal one, at t = ν = 0.
    fn make_nominal(&mut self, j: usize) {
        (self.p[j], self.left[j], self.closed[j]) = (1.0, 0.0, 1.0);
        (self.margin[j], self.safety[j]) = (0.0, 0.0);
        (self.read_t[j], self.read_nu[j]) = (0.0, 0.0);
    }

    fn list_stale(&self, out: &mut Vec<u32>) {
        out.resize(self.rows, 0);
        let mut stale = 0;
        for (j, &safety) in self.safety[..self.rows].iter().enumerate() {
            out[stale] = j as u32;
            let safe = safety >= 0.0; // not where it is NaN
            stale += usize::from(!safe);
        }
        out.truncate(stale);
    }
}

/// The driver.
pub(super) struct QuadraticRows<'a> {
    pub(super) set: &'a dyn Quadratic,
    pub(super) forms: &'a mut Forms,
}

impl QuadraticRows<'_> {
    /// Gives rows without an active set all of their entries, and those whose set tells no direction
    /// unless they may stay there; whether there are any.
    fn mend(&mut self, problem: &mut StateProblem<'_>, may_stay: bool) -> bool {
        let mut any = false;
        for j in 0..problem.active.len() {
            let moves = may_stay || self.forms.curve[j] < f64::INFINITY;
            if !(self.forms.r[j] > 0.0 && moves) {
                let k = problem.active.row[j] as usize;
                problem.rows.visited += problem.rows.width(k) as u64;
                let centre = self.forms.centre[j];
                let all = self.set.sums(problem.rows.look_at(k), 0.0, f64::NEG_INFINITY, centre);
                (problem.active.t[j], problem.active.nu[j]) = (0.0, 0.0);
                self.forms.set(j, all, 0.0, 0.0);
                self.forms.make_nominal(j);
                any = true;
            }
        }
        any
    }

    fn assessed(&mut self, problem: &StateProblem<'_>, fixed: bool) -> Assessed {
        dispatch(Assess {
            active: problem.active,
            forms: self.forms,
            radius: problem.radius,
            fall: problem.values().fall,
            most: self.set.most(),
            fixed,
        })
    }
}

/// ν of memory is counted above t·max w, here above t·centre.
fn refer(problem: &mut StateProblem<'_>, centre: &[f64], sign: f64) {
    for j in 0..problem.active.len() {
        let maximum = match problem.rows.maxima_are_zero() {
            true => 0.0,
            false => problem.rows.maximum(problem.active.row[j] as usize).0,
        };
        if maximum != centre[j] && problem.active.t[j].is_finite() {
            problem.active.nu[j] += sign * problem.active.t[j] * (maximum - centre[j]);
        }
    }
}

impl Joint for QuadraticRows<'_> {
    fn begin(&mut self, problem: &mut StateProblem<'_>) {
        self.forms.rows = 0;
        self.forms.resize(problem.active.len());
        refer(problem, &self.forms.centre, 1.0);
    }

    fn finish(&mut self, problem: &mut StateProblem<'_>) {
        self.forms.resize(problem.active.len());
        refer(problem, &self.forms.centre, -1.0);
    }

    fn admit(&mut self, problem: &mut StateProblem<'_>, from: usize) {
        let rows = problem.active.len();
        self.forms.resize(rows);
        // On all entries a row is its nominal one at t = 0.
        problem.active.t[from..rows].fill(0.0);
        problem.active.nu[from..rows].fill(f64::NEG_INFINITY);
        self.forms.safety[from..rows].fill(-1.0);
        self.read(problem);
        problem.active.nu[from..rows].fill(0.0);
        (from..rows).for_each(|j| self.forms.make_nominal(j));
    }

    fn read(&mut self, problem: &mut StateProblem<'_>) {
        self.forms.resize(problem.active.len());
        let Active { row, t, nu, base, pending, .. } = &mut *problem.active;
        self.forms.list_stale(pending);
        let width = |&j: &u32| problem.rows.width(row[j as usize] as usize);
        let visited = match problem.rows.shared() {
            true => pending.first().map_or(0, width) * pending.len(),
            false => pending.iter().map(width).sum(),
        };
        problem.rows.visited += visited as u64;
        let mut read = std::mem::take(&mut self.forms.read);
        read.resize(pending.len(), Sums::default());
        let at = At { row, t, nu, centre: &self.forms.centre };
        self.set.read(&problem.rows, pending, at, &mut read);
        for (&j, sums) in pending.iter().zip(&mut read) {
            let j = j as usize;
            if sums.is_off_centre() {
                let (k, mean) = (row[j] as usize, sums.mean());
                let centre = self.forms.centre[j] + mean;
                (self.forms.centre[j], base[j], nu[j]) =
                    (centre, base[j] + mean, nu[j] - t[j] * mean);
                problem.rows.visited += problem.rows.width(k) as u64;
                *sums = self.set.sums(problem.rows.look_at(k), t[j], nu[j], centre);
            }
            self.forms.set(j, *sums, t[j], nu[j]);
        }
        self.forms.read = read;
    }

    fn assess(&mut self, problem: &mut StateProblem<'_>, fixed: bool) -> Assessed {
        let at = self.assessed(problem, fixed);
        // Mended rows have t = 0, which is another policy.
        if fixed || at.mu.is_finite() || !self.mend(problem, false) {
            return at;
        }
        self.assessed(problem, fixed)
    }

    fn raise(&mut self, problem: &mut StateProblem<'_>, mu: f64) -> Stepped {
        let (active, forms, range) = (&mut *problem.active, &mut *self.forms, problem.rows.range);
        let least = dispatch(Raise { active, forms, mu, range });
        if least > 0.0 {
            std::mem::swap(&mut active.t, &mut active.fresh);
            std::mem::swap(&mut active.nu, &mut active.fresh_nu);
            std::mem::swap(&mut forms.safety, &mut forms.fresh_safety);
            forms.closed[..forms.rows].fill(1.0);
            return match active.multipliers().iter().all(|t| *t < f64::INFINITY) {
                true => Stepped::All,
                false => Stepped::Stuck,
            };
        }
        // The last rows take the places of those that go.
        let (mut kept, mut j) = (active.len(), 0);
        while j < kept {
            let t = active.fresh[j];
            if t.is_nan() {
                return Stepped::Stuck;
            }
            if t > 0.0 {
                j += 1;
            } else {
                kept -= 1;
                active.swap(kept, j);
                forms.swap(kept, j);
            }
        }
        active.truncate(kept);
        forms.resize(kept);
        if kept > 0 { Stepped::Dropped } else { Stepped::Stuck }
    }

    fn scale(&mut self, problem: &mut StateProblem<'_>, x: &[f64]) -> bool {
        let weights = problem.active.t.iter().zip(&problem.active.kappa).take(x.len());
        let before = weights.map(|(t, kappa)| t * kappa).sum::<f64>() / x.iter().sum::<f64>();
        if self.mend(problem, true) {
            self.assess(problem, true);
        }
        let (forms, active) = (&mut *self.forms, &mut *problem.active);
        let (mut quadratic, mut constant) = (0.0, 0.0);
        for (j, x) in x.iter().enumerate() {
            // A row on its maximum stays there: it has a price, which does not change.
            if forms.curve[j] < f64::INFINITY {
                quadratic += x * x / (active.kappa[j] * forms.curve[j]);
            }
            let rho = 1.0 - forms.p[j];
            constant += active.kappa[j] * (rho * rho / forms.r[j] + forms.left[j]);
        }
        let room = 2.0 * problem.radius - constant;
        if room >= 0.0 && quadratic == 0.0 {
            return false; // all on their maxima, and the budget suffices
        }
        let r = (room / quadratic).sqrt();
        // Beyond the budget whatever moves: the rows went too far.
        let r = if r > 0.0 && r.is_finite() { r } else { 0.5 * before };
        if !(r > 0.0 && r.is_finite()) {
            return false;
        }
        for (j, x) in x.iter().enumerate() {
            let t = r * x / active.kappa[j];
            let nu = t * forms.mean[j] + forms.rest[j];
            let (dt, dnu) = (t - forms.read_t[j], nu - forms.read_nu[j]);
            // Of t(w − centre) − ν, at both ends of w.
            let first = dnu + dt * forms.centre[j];
            let moved = first.abs().max((first + dt * problem.rows.range).abs());
            (forms.safety[j], forms.closed[j]) = (SURE * forms.margin[j] - moved, 1.0);
            (active.t[j], active.nu[j]) = (t, nu);
        }
        true
    }

    fn level(&self, _: &StateProblem<'_>) -> f64 {
        f64::INFINITY
    }

    fn stride(&self, _: f64, _: f64) -> f64 {
        0.75
    }
}
