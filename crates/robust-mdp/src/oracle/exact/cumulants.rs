//! ψ, ψ' and ψ'' of the rows under work, ψ(t) = ln Σ y⁰e^{tw}, and what follows from them across
//! rows, a register of rows at a time.

use pulp::{Simd, WithSimd};

use super::active::{Active, PADDING};
use super::ball::Assessed;
use super::forms::IOTA;
use super::table::{ORDER, REACH, REST, block};
use super::tops::Tops;
use crate::lanes::{ln, ln_1p_small};
use crate::uncertainty::Enclosure;

/// What rounding may hide of a row's cost tψ' − ψ, as a share of t·|ψ'|: both terms grow with t, and what
/// is left of them does not. Steep multipliers, such as those of values that nearly agreed, would cost
/// nothing otherwise.
pub(super) const HIDDEN: f64 = 4.0 * f64::EPSILON;

/// What the last reading says of the rows under work: ψ, ψ' and ψ''.
#[derive(Debug, Default)]
pub(super) struct Cumulants {
    pub(super) log: Vec<f64>,
    pub(super) mean: Vec<f64>,
    pub(super) variance: Vec<f64>,
    /// Moments of rows that are read from the table, eight rows next to each other for each order,
    /// and the middle of their cell; ∞: never read.
    pub(super) moments: Vec<f64>,
    pub(super) centre: Vec<f64>,
    /// ⟨y⁰, w⟩ and ⟨y⁰, w²⟩ of the rows, by number, whose nominal values were read.
    pub(super) nominal: Vec<[f64; 2]>,
    /// |t − centre|·range; beyond `reach` the row is to be read.
    pub(super) off: Vec<f64>,
    pub(super) reach: f64,
    /// The largest w where it was looked up, else 0.
    pub(super) top: Vec<f64>,
    pub(super) tops: Tops,
    /// Readings of the state so far.
    pub(super) readings: usize,
    rows: usize,
}

impl Cumulants {
    /// Forgets the rows of the last state.
    pub(super) fn clear(&mut self, reach: f64) {
        (self.rows, self.readings, self.reach) = (0, 0, reach);
    }

    /// Room for this many rows; new ones have to be read.
    pub(super) fn resize(&mut self, rows: usize) {
        if self.log.len() < rows {
            let room = (2 * rows).next_multiple_of(PADDING);
            let Cumulants { log, mean, variance, centre, off, top, moments, .. } = self;
            for array in [log, mean, variance, centre, off, top] {
                array.resize(room, 0.0);
            }
            moments.resize(room * ORDER, 0.0);
        }
        if rows > self.rows {
            self.off[self.rows..rows].fill(f64::INFINITY);
            self.centre[self.rows..rows].fill(f64::INFINITY);
            self.top[self.rows..rows].fill(0.0);
        }
        self.rows = rows;
    }

    pub(super) fn swap(&mut self, i: usize, j: usize) {
        if i != j {
            for array in [
                &mut self.log,
                &mut self.mean,
                &mut self.variance,
                &mut self.centre,
                &mut self.off,
                &mut self.top,
            ] {
                array.swap(i, j);
            }
            let (left, right) = (block(i).start + i % PADDING, block(j).start + j % PADDING);
            for order in 0..ORDER {
                self.moments.swap(left + order * PADDING, right + order * PADDING);
            }
        }
    }

    pub(super) fn set(&mut self, j: usize, [log, mean, variance]: [f64; 3]) {
        (self.log[j], self.mean[j], self.variance[j]) = (log, mean, variance);
        self.off[j] = 0.0;
    }

    /// How many rows are to be read, and how many lie further than this from what was read.
    pub(super) fn unsafe_rows(&self, farthest: f64) -> (usize, usize) {
        let off = &self.off[..self.rows];
        let within = |bar: f64| off.iter().map(|off| usize::from(*off <= bar)).sum::<usize>();
        (self.rows - within(self.reach), self.rows - within(farthest))
    }

    pub(super) fn list_stale(&self, out: &mut Vec<u32>) {
        out.clear();
        let off = &self.off[..self.rows];
        let safe = |off: &f64| *off <= self.reach; // not where it is no number
        // Most often none is safe or all are.
        match off.iter().map(|off| usize::from(safe(off))).sum() {
            0 => out.extend(0..self.rows as u32),
            safe_rows if safe_rows == self.rows => {}
            _ => out.extend((0..).zip(off).filter(|(_, off)| !safe(off)).map(|(j, _)| j)),
        }
    }
}

/// ψ, ψ' and ψ'' at t from the moments of all rows, and whether these reach there.
pub(super) struct Evaluate<'a> {
    pub(super) active: &'a Active,
    pub(super) out: &'a mut Cumulants,
    pub(super) range: f64,
}

impl WithSimd for Evaluate<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Evaluate { active, out, range } = self;
        let lanes = size_of::<S::f64s>() / 8;
        let (zero, one) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0));
        let (half, eighth) = (simd.splat_f64s(0.5 * range), simd.splat_f64s(0.125));
        let range = simd.splat_f64s(range);
        let mut at = 0;
        while at < active.len() {
            let load = |x: &[f64]| S::as_simd_f64s(&x[at..at + lanes]).0[0];
            let store = |x: &mut [f64], y| S::as_mut_simd_f64s(&mut x[at..at + lanes]).0[0] = y;
            let centre = load(&out.centre);
            let delta = simd.sub_f64s(load(&active.t), centre);
            let moments = &out.moments[block(at)];
            let moment =
                |j: usize| S::as_simd_f64s(&moments[j * PADDING + at % PADDING..][..lanes]).0[0];
            let (mut s0, mut s1, mut s2) = (zero, zero, zero);
            for j in (1..ORDER).rev() {
                s2 = simd.mul_add_e_f64s(s2, delta, s1);
                s1 = simd.mul_add_e_f64s(s1, delta, s0);
                s0 = simd.mul_add_e_f64s(s0, delta, moment(j));
            }
            s2 = simd.mul_add_e_f64s(s2, delta, s1);
            s1 = simd.mul_add_e_f64s(s1, delta, s0);
            let rest = simd.mul_f64s(s0, delta);
            // In the first cell the sum is one plus `rest`, whatever rounding made of Σy⁰.
            let first = simd.equal_f64s(centre, zero);
            let begin = simd.select_f64s(first, one, moment(0));
            let total = simd.add_f64s(begin, rest);
            let mut log = ln(simd, total);
            let small = simd.less_than_or_equal_f64s(simd.abs_f64s(rest), eighth);
            let small = simd.and_m64s(first, small);
            if simd.first_true_m64s(small) < lanes {
                log = simd.select_f64s(small, ln_1p_small(simd, rest), log);
            }
            let inverse = simd.div_f64s(one, total);
            let mean = simd.mul_f64s(s1, inverse);
            let second = simd.mul_f64s(simd.add_f64s(s2, s2), inverse);
            let variance = simd.sub_f64s(second, simd.mul_f64s(mean, mean));
            let off = simd.mul_f64s(simd.abs_f64s(delta), range);
            // Moments are about −range/2.
            store(&mut out.log, simd.sub_f64s(log, simd.mul_f64s(delta, half)));
            store(&mut out.mean, simd.sub_f64s(mean, half));
            store(&mut out.variance, simd.max_f64s(variance, zero));
            store(&mut out.off, off);
            at += lanes;
        }
    }
}

/// Bounds from ψ and ψ', and Newton's value U(t).
pub(super) struct Assess<'a> {
    pub(super) active: &'a Active,
    pub(super) cumulants: &'a Cumulants,
    pub(super) radius: f64,
    pub(super) drift: f64,
    pub(super) range: f64,
    pub(super) fixed: bool,
}

impl WithSimd for Assess<'_> {
    type Output = Assessed;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Assessed {
        let Assess { active, cumulants, radius, drift, range, fixed } = self;
        let rows = active.len();
        let lanes = size_of::<S::f64s>() / 8;
        let (zero, infinity) = (simd.splat_f64s(0.0), simd.splat_f64s(f64::INFINITY));
        let iota = S::as_simd_f64s(&IOTA[..lanes]).0[0];
        let origin = active.base[0];
        let reference = simd.splat_f64s(origin);
        let (mut total, mut value, mut logs, mut used) = (zero, zero, zero, zero);
        let (mut mean_value, mut mean_floor, mut check) = (zero, zero, zero);
        let (mut least, mut least_floor) = (infinity, infinity);
        // What the series leave out, where it is more than rounding.
        let wide = cumulants.reach > REACH;
        let rest = simd.splat_f64s(if wide { REST } else { 0.0 });
        let (half, radial) = (simd.splat_f64s(0.5), simd.splat_f64s(0.5 * range));
        let (eighth, mut astray) = (simd.splat_f64s(0.125), zero);
        let hidden = simd.splat_f64s(HIDDEN);
        let mut at = 0;
        while at < rows {
            let live = simd.less_than_f64s(iota, simd.splat_f64s((rows - at) as f64));
            let load = |x: &[f64]| S::as_simd_f64s(&x[at..at + lanes]).0[0];
            let keep = |x: S::f64s| simd.select_f64s(live, x, zero);
            let (t, base, floor) = (load(&active.t), load(&active.base), load(&active.floor));
            let (log, mean) = (load(&cumulants.log), load(&cumulants.mean));
            let z = simd.mul_f64s(half, load(&cumulants.off));
            let z2 = simd.mul_f64s(z, z);
            let z3 = simd.mul_f64s(z2, z);
            let left_out = simd.mul_f64s(rest, simd.mul_f64s(simd.mul_f64s(z3, z3), z));
            let mean_off = simd.mul_f64s(radial, left_out);
            let log_off = simd.mul_f64s(eighth, simd.mul_f64s(left_out, z));
            let row_value = simd.add_f64s(base, simd.sub_f64s(mean, mean_off));
            let slope = simd.mul_f64s(t, mean);
            let cost = simd.mul_add_e_f64s(hidden, simd.abs_f64s(slope), simd.sub_f64s(slope, log));
            let cost = simd.add_f64s(cost, simd.mul_add_e_f64s(t, mean_off, log_off));
            astray = simd.add_f64s(astray, keep(log_off));
            let worth = simd.mul_f64s(t, simd.sub_f64s(base, reference));
            total = simd.add_f64s(total, keep(t));
            value = simd.add_f64s(value, keep(worth));
            logs = simd.add_f64s(logs, keep(log));
            used = simd.add_f64s(used, keep(simd.max_f64s(cost, zero)));
            check = simd.add_f64s(check, keep(cost));
            least = simd.min_f64s(least, simd.select_f64s(live, row_value, infinity));
            least_floor = simd.min_f64s(least_floor, simd.select_f64s(live, floor, infinity));
            if fixed {
                mean_value = simd.add_f64s(mean_value, keep(simd.mul_f64s(t, row_value)));
                mean_floor = simd.add_f64s(mean_floor, keep(simd.mul_f64s(t, floor)));
            }
            at += lanes;
        }
        let sum = |x: S::f64s| simd.reduce_sum_f64s(x);
        let (total, used) = (sum(total), sum(used));
        let share = if used <= radius { 1.0 } else { radius / used };
        let (row, floor) = if fixed {
            (sum(mean_value) / total, sum(mean_floor) / total + drift)
        } else {
            (simd.reduce_min_f64s(least), simd.reduce_min_f64s(least_floor) + drift)
        };
        let lower = if share < 1.0 { share * row + (1.0 - share) * floor } else { row };
        let upper = origin + (sum(value) + (radius + sum(logs))) / total;
        // Minima and maxima may lose a NaN, sums do not.
        let sound = !upper.is_nan() && sum(check).is_finite() && lower.is_finite();
        let bounds = Enclosure {
            lower: if sound { lower } else { f64::NEG_INFINITY },
            upper: if sound { upper + sum(astray) / total } else { f64::INFINITY },
        };
        Assessed { bounds, mu: upper }
    }
}

/// t + (G/ψ'')·ln(G/g), G = top − ψ' and g = base + top − μ; returns the least, NaN if there is one.
pub(super) struct Step<'a> {
    pub(super) active: &'a mut Active,
    pub(super) cumulants: &'a Cumulants,
    pub(super) mu: f64,
    pub(super) longest: f64,
}

impl WithSimd for Step<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Step { active, cumulants, mu, longest } = self;
        let rows = active.len();
        let lanes = size_of::<S::f64s>() / 8;
        let (mu, infinity) = (simd.splat_f64s(mu), simd.splat_f64s(f64::INFINITY));
        let (eight, longest) = (simd.splat_f64s(8.0), simd.splat_f64s(longest));
        let iota = S::as_simd_f64s(&IOTA[..lanes]).0[0];
        let tiny = simd.splat_f64s(1e-300);
        let (mut least, mut sum) = (infinity, simd.splat_f64s(0.0));
        let mut at = 0;
        while at < rows {
            let live = simd.less_than_f64s(iota, simd.splat_f64s((rows - at) as f64));
            let load = |x: &[f64]| S::as_simd_f64s(&x[at..at + lanes]).0[0];
            let store = |x: &mut [f64], y| S::as_mut_simd_f64s(&mut x[at..at + lanes]).0[0] = y;
            let (t, mean) = (load(&active.t), load(&cumulants.mean));
            let top = load(&cumulants.top);
            let goal = simd.sub_f64s(simd.add_f64s(load(&active.base), top), mu);
            let goal = simd.max_f64s(goal, tiny);
            let below = simd.max_f64s(simd.sub_f64s(top, mean), tiny);
            let ratio = simd.div_f64s(below, goal);
            let pace = simd.div_f64s(below, load(&cumulants.variance));
            let ratio = simd.min_f64s(simd.max_f64s(ratio, tiny), simd.splat_f64s(1e300));
            let fresh = simd.mul_add_e_f64s(pace, ln(simd, ratio), t);
            // Not many times as far as before; the first time a fixed distance.
            let most = simd.max_f64s(simd.mul_f64s(eight, t), longest);
            let fresh = simd.select_f64s(simd.less_than_f64s(most, fresh), most, fresh);
            store(&mut active.fresh, fresh);
            least = simd.min_f64s(least, simd.select_f64s(live, fresh, infinity));
            sum = simd.add_f64s(sum, simd.select_f64s(live, fresh, simd.splat_f64s(0.0)));
            at += lanes;
        }
        let sum = simd.reduce_sum_f64s(sum);
        if sum.is_nan() { f64::NAN } else { simd.reduce_min_f64s(least) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::{Grid, MomentPass, Table, left_out};
    use super::*;
    use crate::lanes::dispatch;

    /// Rows of all shapes at the edges of their cells, as far as moments ever serve.
    #[test]
    fn moments_are_as_near_as_bounds_take_them_to_be() {
        let (width, rows, range) = (23, 9, 3.0);
        let w: Vec<f64> = (0..width).map(|i| -range * (i * 7 % width) as f64 / 22.0).collect();
        let mut nominal = Vec::new();
        for r in 0..rows {
            // From masses at both ends alone to evenly spread ones.
            let weight = |w: &f64| (w / range + 0.5).abs().powi(2 * (rows - r) as i32) + 1e-12;
            let total: f64 = w.iter().map(weight).sum();
            nominal.extend(w.iter().map(|w| weight(w) / total));
        }
        let mut table = Table::default();
        let mut stamp = 0;
        for reach in [REACH, 0.3, 1.5] {
            for start in [0.0, 0.4, 3.0, 17.0] {
                stamp += 1;
                let (mut active, mut cumulants) = (Active::default(), Cumulants::default());
                active.clear(&vec![0.0; rows]);
                (0..rows).for_each(|k| active.push(k, 0.0, start, 0.0));
                cumulants.clear(reach);
                cumulants.resize(rows);
                let grid = Grid { w: &w, range, reach, stamp };
                let mut stale = Vec::new();
                cumulants.list_stale(&mut stale);
                assert_eq!(stale.len(), rows);
                let Cumulants { moments, centre, .. } = &mut cumulants;
                let Active { row, t, .. } = &active;
                let (table, nominal) = (&mut table, &nominal[..]);
                let stale = &mut stale;
                dispatch(MomentPass { table, grid, nominal, stale, row, t, centre, moments });
                assert!(stale.is_empty());
                for k in 0..rows {
                    let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
                    active.t[k] = (cumulants.centre[k] + sign * reach / range).max(0.0);
                }
                dispatch(Evaluate { active: &active, out: &mut cumulants, range });
                for k in 0..rows {
                    let (t, y0) = (active.t[k], &nominal[k * width..][..width]);
                    let sum = |power: i32| -> f64 {
                        y0.iter().zip(&w).map(|(y, w)| y * (t * w).exp() * w.powi(power)).sum()
                    };
                    let (log, mean) = (sum(0).ln(), sum(1) / sum(0));
                    let [mean_off, log_off] = left_out(cumulants.off[k], range);
                    let (log_off, mean_off) = (log_off + 1e-14, mean_off + 1e-13);
                    assert!((cumulants.log[k] - log).abs() <= log_off, "ψ: {reach} {start} {k}");
                    assert!(
                        (cumulants.mean[k] - mean).abs() <= mean_off,
                        "ψ': {reach} {start} {k}"
                    );
                }
            }
        }
    }
}
