//! Exact updates on the ellipsoid Σ_a ½‖y_a − y⁰_a‖² ≤ α.
//!
//! A row with multiplier t is y = (y⁰ + t·w − ν)₊. Over its active set I = {y > 0}, with n = |I|,
//! sums Sy, Sw, Sww, Syw, Off = Σ_{i∉I}(y⁰_i)², r = 1 − Sy and det = Sww − Sw²/n,
//!   value = base + g0 + t·det,  g0 = Syw + r·Sw/n,  ν = (t·Sw − r)/n,
//!   distance = ½[t²·det + r²/n + Off].
//! With all active sets fixed, lifting every row to one value μ costs a quadratic in μ:
//!   μ = m̄ + √(2(α − Σ½[r²/n + Off] − ½Σk(m − m̄)²)/Σk),  k = 1/det, m = base + g0,
//! m̄ the k-weighted mean of m; a fixed policy has t_a = κ·x_a and one κ instead. Passes alternate
//! with this closed form until the bounds meet:
//!   F_x(v) ≤ Σx_a(base_a + ⟨w_a,y_a⟩) + (α − distance − Σν(Σy − 1))/Σt,  x = t/Σt,
//! whatever (t, ν) are (weak duality), and F(v) ≥ the least row value of y brought into the set.

use pulp::{Simd, WithSimd};

use super::driver::{Active, Ball, Lifted};
use super::outlook::Outlook;
use super::rows::Rows;
use crate::lanes::{dispatch, padding, walk};
use crate::uncertainty::Enclosure;

const N: usize = 0;
const SY: usize = 1;
const SW: usize = 2;
const SWW: usize = 3;
const SYW: usize = 4;
const OFF: usize = 5;

/// Newton steps on one row; each changes its active set.
const PROJECTIONS: usize = 200;

/// Sums over the active sets of the rows under work, one array a sum.
#[derive(Debug, Default)]
pub(super) struct Sums {
    pub(super) n: Vec<f64>,
    pub(super) sy: Vec<f64>,
    pub(super) sw: Vec<f64>,
    pub(super) sww: Vec<f64>,
    pub(super) syw: Vec<f64>,
    pub(super) off: Vec<f64>,
}

impl Sums {
    fn resize(&mut self, rows: usize) {
        for array in
            [&mut self.n, &mut self.sy, &mut self.sw, &mut self.sww, &mut self.syw, &mut self.off]
        {
            array.resize(rows, 0.0);
        }
    }

    fn set(&mut self, j: usize, [n, sy, sw, sww, syw, off]: [f64; 6]) {
        (self.n[j], self.sy[j], self.sw[j]) = (n, sy, sw);
        (self.sww[j], self.syw[j], self.off[j]) = (sww, syw, off);
    }

    fn swap(&mut self, i: usize, j: usize) {
        for array in
            [&mut self.n, &mut self.sy, &mut self.sw, &mut self.sww, &mut self.syw, &mut self.off]
        {
            array.swap(i, j);
        }
    }

    /// Σ_I w² − (Σ_I w)²/n; 0 where the active set spans one value of w.
    #[inline(always)]
    fn det(&self, j: usize) -> f64 {
        let det = self.sww[j] - self.sw[j] * self.sw[j] / self.n[j];
        if det > 1e-15 * self.sww[j] { det } else { 0.0 }
    }

    /// g0: the row's value at t = 0 on its active set.
    #[inline(always)]
    fn start(&self, j: usize) -> f64 {
        self.syw[j] + (1.0 - self.sy[j]) * self.sw[j] / self.n[j]
    }

    /// ν at t on the active set.
    #[inline(always)]
    fn shift(&self, j: usize, t: f64) -> f64 {
        (t * self.sw[j] - (1.0 - self.sy[j])) / self.n[j]
    }
}

/// One pass over the active rows.
pub(super) struct Pass<'a> {
    pub(super) rows: Rows<'a>,
    pub(super) ahead: &'a Outlook,
    /// Row numbers, multipliers and shifts.
    pub(super) active: &'a [u32],
    pub(super) t: &'a [f64],
    pub(super) nu: &'a [f64],
    pub(super) out: &'a mut Sums,
}

impl WithSimd for Pass<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (j, &k) in self.active.iter().enumerate() {
            let (nominal, gain) = self.rows.row(k as usize);
            let mut sums = row_sums(simd, nominal, gain, self.t[j], self.nu[j]);
            if !self.rows.level.is_empty() {
                tail_sums(&self.rows, self.ahead, k as usize, self.t[j], self.nu[j], &mut sums);
            }
            self.out.set(j, sums);
        }
    }
}

#[inline(always)]
fn row_sums<S: Simd>(simd: S, nominal: &[f64], gain: &[f64], t: f64, nu: f64) -> [f64; 6] {
    let zero = simd.splat_f64s(0.0);
    let one = simd.splat_f64s(1.0);
    let (tv, nuv) = (simd.splat_f64s(t), simd.splat_f64s(nu));
    let (mut n, mut sy, mut sw, mut sww, mut syw, mut off) = (zero, zero, zero, zero, zero, zero);
    walk!(simd, [nominal, gain] => |y0, w| {
        let p = simd.mul_add_e_f64s(tv, w, simd.sub_f64s(y0, nuv));
        let inside = simd.less_than_f64s(zero, p);
        let wi = simd.select_f64s(inside, w, zero);
        let yi = simd.select_f64s(inside, y0, zero);
        let yo = simd.sub_f64s(y0, yi);
        n = simd.add_f64s(n, simd.select_f64s(inside, one, zero));
        sy = simd.add_f64s(sy, yi);
        sw = simd.add_f64s(sw, wi);
        sww = simd.mul_add_e_f64s(wi, wi, sww);
        syw = simd.mul_add_e_f64s(yi, wi, syw);
        off = simd.mul_add_e_f64s(yo, yo, off);
    });
    let spurious = if -nu > 0.0 { padding::<S>(nominal.len()) } else { 0.0 };
    [
        simd.reduce_sum_f64s(n) - spurious,
        simd.reduce_sum_f64s(sy),
        simd.reduce_sum_f64s(sw),
        simd.reduce_sum_f64s(sww),
        simd.reduce_sum_f64s(syw),
        simd.reduce_sum_f64s(off),
    ]
}

/// How many states, by falling value, a row with multiplier t and shift ν lifts from zero.
pub(super) fn tail_length(levels: &[f64], shift: f64, t: f64, nu: f64) -> usize {
    levels.partition_point(|&w| t * (w - shift) - nu > 0.0)
}

/// Adds the states outside the nominal support: a prefix of the ranking, less the support's own.
fn tail_sums(rows: &Rows<'_>, ahead: &Outlook, k: usize, t: f64, nu: f64, sums: &mut [f64; 6]) {
    let ranking = ahead.ranking.as_ref().expect("tails need a ranking");
    let shift = rows.shift[k];
    let length = tail_length(&ranking.level, shift, t, nu);
    let (mut n, mut own, mut squares) = (length, 0.0, 0.0);
    for &w in &rows.level[rows.span(k)] {
        if t * (w - shift) - nu > 0.0 {
            n -= 1;
            own += w;
            squares += w * w;
        }
    }
    if n == 0 {
        return;
    }
    // Σ(w − shift) and Σ(w − shift)² from the sums about zero.
    let count = n as f64;
    let [sum, square] = ranking.prefix[length];
    let (sum, square) = (sum - own, square - squares);
    sums[0] += count;
    sums[2] += sum - count * shift;
    sums[3] += (square - 2.0 * shift * sum + count * shift * shift).max(0.0);
}

/// What a row's sums say at (t, ν).
struct Point {
    value: f64,
    distance: f64,
    mass: f64,
}

#[inline(always)]
fn point(sums: &Sums, j: usize, t: f64, nu: f64) -> Point {
    let (n, sw, sww) = (sums.n[j], sums.sw[j], sums.sww[j]);
    let mean = if n > 0.0 { sw / n } else { 0.0 };
    let bend = nu - t * mean;
    let det = (sww - sw * mean).max(0.0);
    Point {
        value: sums.syw[j] + t * sww - nu * sw,
        distance: 0.5 * (t * t * det + n * bend * bend + sums.off[j]),
        mass: sums.sy[j] + t * sw - n * nu,
    }
}

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
    fn sums_of(&mut self, k: usize, t: f64, nu: f64) -> [f64; 6] {
        *self.entries += self.rows.span(k).len() as u64;
        dispatch(OneRow { rows: self.rows, ahead: self.ahead, k, t, nu })
    }

    /// Gives rows whose active set is useless all of their entries.
    fn mend(&mut self) {
        for j in 0..self.active.len() {
            if !(self.sums.n[j] > 0.0 && self.sums.det(j) > 0.0) {
                let nominal = self.nominal(self.active.row[j] as usize);
                self.admit(j, nominal);
            }
        }
    }

    /// ν, the value and the cost of row k at t, exactly: Newton on the convex ν ↦ Σ(y⁰ + tw − ν)₊.
    fn project(&mut self, k: usize, t: f64) -> (f64, [f64; 6]) {
        let (mut nu, mut n) = (f64::NEG_INFINITY, f64::INFINITY);
        for _ in 0..PROJECTIONS {
            let sums = self.sums_of(k, t, nu);
            if sums[N] == n || sums[N] <= 0.0 {
                return (nu, sums);
            }
            n = sums[N];
            nu = (t * sums[SW] - (1.0 - sums[SY])) / n;
        }
        (nu, self.sums_of(k, t, nu))
    }

    fn cost(sums: &[f64; 6], t: f64) -> f64 {
        let r = 1.0 - sums[SY];
        let det = (sums[SWW] - sums[SW] * sums[SW] / sums[N]).max(0.0);
        0.5 * (t * t * det + r * r / sums[N] + sums[OFF])
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
        let sums = if self.rows.shared() {
            let [sum, square] = self.ahead.sums;
            let entries = self.ahead.shared.len() as f64;
            [entries, 1.0, sum, square, nominal - self.rows.base[k], 0.0]
        } else {
            self.sums_of(k, 0.0, f64::NEG_INFINITY)
        };
        self.sums.resize(self.active.len());
        self.sums.set(j, sums);
    }

    /// ½‖e_i − y⁰‖² ≤ 1.
    fn move_cost(&self, share: f64) -> f64 {
        share * share
    }

    fn read(&mut self) {
        self.sums.resize(self.active.len());
        for &k in &self.active.row {
            *self.entries += self.rows.span(k as usize).len() as u64;
        }
        dispatch(Pass {
            rows: self.rows,
            ahead: self.ahead,
            active: &self.active.row,
            t: &self.active.t,
            nu: &self.active.nu,
            out: self.sums,
        });
    }

    fn bounds(&self, fixed: bool, floor: &dyn Fn(usize) -> f64) -> Enclosure {
        let Active { row, base, t, nu, .. } = &*self.active;
        let (mut total, mut value, mut used, mut fitted) = (0.0, 0.0, 0.0, 0.0);
        for j in 0..t.len() {
            let at = point(self.sums, j, t[j], nu[j]);
            total += t[j];
            value += t[j] * (base[j] + at.value);
            used += at.distance + nu[j] * (at.mass - 1.0);
            // Distance once the row is scaled to mass one.
            let scale = 1.0 / at.mass - 1.0;
            let along = t[j] * at.value - nu[j] * at.mass;
            fitted += at.distance + scale * along + 0.5 * (scale * at.mass).powi(2);
        }
        let share = if fitted <= self.radius { 1.0 } else { (self.radius / fitted).sqrt() };
        let (mut least, mut mean) = (f64::INFINITY, 0.0);
        for j in 0..t.len() {
            let at = point(self.sums, j, t[j], nu[j]);
            let mut row_value = base[j] + at.value / at.mass;
            if share < 1.0 {
                row_value = share * row_value + (1.0 - share) * floor(row[j] as usize);
            }
            least = if row_value >= least { least } else { row_value }; // keeps a NaN
            mean += t[j] / total * row_value;
        }
        let lower = if fixed { mean } else { least };
        let upper = value / total + (self.radius - used) / total;
        Enclosure {
            lower: if lower.is_nan() { f64::NEG_INFINITY } else { lower },
            upper: if upper.is_nan() { f64::INFINITY } else { upper },
        }
    }

    fn joint_value(&mut self) -> f64 {
        self.mend();
        loop {
            let (sums, base) = (&*self.sums, &self.active.base);
            let rows = self.active.len();
            let (mut sk, mut skm, mut constant, mut lowest) = (0.0, 0.0, 0.0, f64::INFINITY);
            for j in 0..rows {
                let (k, m) = (1.0 / sums.det(j), base[j] + sums.start(j));
                lowest = f64::min(lowest, m);
                sk += k;
                skm += k * m;
                let r = 1.0 - sums.sy[j];
                constant += r * r / sums.n[j] + sums.off[j];
            }
            if !(sk.is_finite() && sk > 0.0) {
                return f64::NAN;
            }
            // About the mean of m, so that large common costs do not cancel.
            let mean = skm / sk;
            let spread: f64 =
                (0..rows).map(|j| (base[j] + sums.start(j) - mean).powi(2) / sums.det(j)).sum();
            let room = 2.0 * self.radius - constant - spread;
            let mu = if room > 0.0 { mean + (room / sk).sqrt() } else { mean };
            let mut kept = 0;
            for j in 0..rows {
                if self.active.base[j] + self.sums.start(j) < mu {
                    self.active.swap(kept, j);
                    self.sums.swap(kept, j);
                    kept += 1;
                }
            }
            if kept == rows || kept == 0 {
                return if room > 0.0 { mu } else { f64::NAN };
            }
            self.active.truncate(kept);
        }
    }

    fn raise(&mut self, mu: f64) -> bool {
        let (mut kept, mut sound) = (0, true);
        for j in 0..self.active.len() {
            let t = (mu - self.active.base[j] - self.sums.start(j)) / self.sums.det(j);
            if t <= 0.0 {
                continue; // the row needs no lift
            }
            sound &= t.is_finite();
            (self.active.t[j], self.active.nu[j]) = (t, self.sums.shift(j, t));
            self.active.swap(kept, j);
            self.sums.swap(kept, j);
            kept += 1;
        }
        self.active.truncate(kept);
        sound && kept > 0
    }

    fn scale(&mut self, x: &[f64]) -> bool {
        self.mend();
        let (mut quadratic, mut constant) = (0.0, 0.0);
        for (j, x) in x.iter().enumerate() {
            quadratic += x * x * self.sums.det(j);
            let r = 1.0 - self.sums.sy[j];
            constant += r * r / self.sums.n[j] + self.sums.off[j];
        }
        let kappa = ((2.0 * self.radius - constant) / quadratic).sqrt();
        for (j, x) in x.iter().enumerate() {
            let t = kappa * x;
            (self.active.t[j], self.active.nu[j]) = (t, self.sums.shift(j, t));
        }
        kappa > 0.0 && kappa.is_finite()
    }

    fn peak(&mut self, k: usize) -> (f64, f64) {
        // Only entries at the maximum, w = 0, stay active at this t.
        let sums = self.sums_of(k, 1e300 / (1.0 + self.rows.range), -1.0);
        let r = 1.0 - sums[SY];
        (self.rows.base[k], 0.5 * (r * r / sums[N].max(1.0) + sums[OFF]))
    }

    fn lift(&mut self, k: usize, mu: f64, guess: f64) -> Lifted {
        let goal = mu - self.rows.base[k];
        let (mut low, mut high) = (0.0_f64, f64::INFINITY);
        let mut t = if guess > 0.0 && guess.is_finite() { guess } else { 1e-3 / self.rows.range };
        let mut last = Lifted { t, nu: 0.0, cost: 0.0 };
        for _ in 0..PROJECTIONS {
            let (nu, sums) = self.project(k, t);
            let det = (sums[SWW] - sums[SW] * sums[SW] / sums[N]).max(0.0);
            let value = sums[SYW] + (1.0 - sums[SY]) * sums[SW] / sums[N] + t * det;
            last = Lifted { t, nu, cost: Self::cost(&sums, t) };
            if value <= goal {
                low = t
            } else {
                high = t
            }
            // The value is concave in t: Newton from the left never overshoots.
            let fresh = t + (goal - value) / det;
            let fresh = if fresh > low && fresh < high {
                fresh
            } else if high.is_finite() {
                0.5 * (low + high)
            } else {
                4.0 * t
            };
            if (fresh - t).abs() <= 2e-16 * t || t > 1e300 {
                break;
            }
            t = fresh;
        }
        last
    }

    fn at(&mut self, k: usize, t: f64) -> Lifted {
        let (nu, sums) = self.project(k, t);
        Lifted { t, nu, cost: Self::cost(&sums, t) }
    }
}

struct OneRow<'a> {
    rows: Rows<'a>,
    ahead: &'a Outlook,
    k: usize,
    t: f64,
    nu: f64,
}

impl WithSimd for OneRow<'_> {
    type Output = [f64; 6];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [f64; 6] {
        let (nominal, gain) = self.rows.row(self.k);
        let mut sums = row_sums(simd, nominal, gain, self.t, self.nu);
        if !self.rows.level.is_empty() {
            tail_sums(&self.rows, self.ahead, self.k, self.t, self.nu, &mut sums);
        }
        sums
    }
}
