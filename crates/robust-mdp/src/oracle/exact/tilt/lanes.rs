//! Passes over the active tilted rows, a register of them at a time.

use pulp::{Simd, WithSimd};

use super::super::active::{Active, PADDING};
use super::super::joint::Assessed;
use super::super::table::{ORDER, REACH, REST, block};
use super::{Cumulants, HIDDEN};
use crate::lanes::{IOTA, ln, ln_1p_small};
use crate::sets::Enclosure;
use crate::sets::set::root;

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
    pub(super) fall: f64,
    pub(super) range: f64,
    pub(super) degree: i32,
    pub(super) fixed: bool,
}

impl WithSimd for Assess<'_> {
    type Output = Assessed;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Assessed {
        let Assess { active, cumulants, radius, fall, range, degree, fixed } = self;
        let rows = active.len();
        let lanes = size_of::<S::f64s>() / 8;
        let (zero, infinity) = (simd.splat_f64s(0.0), simd.splat_f64s(f64::INFINITY));
        let iota = S::as_simd_f64s(&IOTA[..lanes]).0[0];
        let origin = active.base[0];
        let reference = simd.splat_f64s(origin);
        let (mut total, mut value, mut logs, mut used) = (zero, zero, zero, zero);
        let (mut mean_value, mut mean_bound, mut check) = (zero, zero, zero);
        let (mut least, mut least_bound) = (infinity, infinity);
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
            let (t, base, bound) = (load(&active.t), load(&active.base), load(&active.bound));
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
            astray = simd.add_f64s(astray, keep(simd.mul_f64s(load(&active.kappa), log_off)));
            let kappa = load(&active.kappa);
            let weight = simd.mul_f64s(kappa, t);
            let worth = simd.mul_f64s(weight, simd.sub_f64s(base, reference));
            total = simd.add_f64s(total, keep(weight));
            value = simd.add_f64s(value, keep(worth));
            logs = simd.add_f64s(logs, keep(simd.mul_f64s(kappa, log)));
            let spent = simd.mul_f64s(kappa, simd.max_f64s(cost, zero));
            used = simd.add_f64s(used, keep(spent));
            check = simd.add_f64s(check, keep(cost));
            least = simd.min_f64s(least, simd.select_f64s(live, row_value, infinity));
            least_bound = simd.min_f64s(least_bound, simd.select_f64s(live, bound, infinity));
            if fixed {
                mean_value = simd.add_f64s(mean_value, keep(simd.mul_f64s(weight, row_value)));
                mean_bound = simd.add_f64s(mean_bound, keep(simd.mul_f64s(weight, bound)));
            }
            at += lanes;
        }
        let sum = |x: S::f64s| simd.reduce_sum_f64s(x);
        let (total, used) = (sum(total), sum(used));
        let share = if used <= radius { 1.0 } else { root(radius / used, degree) };
        let (row, bound) = if fixed {
            (sum(mean_value) / total, sum(mean_bound) / total + fall)
        } else {
            (simd.reduce_min_f64s(least), simd.reduce_min_f64s(least_bound) + fall)
        };
        let lower = if share < 1.0 { share * row + (1.0 - share) * bound } else { row };
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

/// G/g of every row.
pub(super) struct Ratios<'a> {
    pub(super) active: &'a Active,
    pub(super) cumulants: &'a mut Cumulants,
    pub(super) mu: f64,
}

impl WithSimd for Ratios<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Ratios { active, cumulants, mu } = self;
        let Cumulants { mean, maximum, pace, .. } = cumulants;
        let rows = active.len();
        let (mean, maximum, base) = (&mean[..rows], &maximum[..rows], &active.base[..rows]);
        for (j, ratio) in pace[..rows].iter_mut().enumerate() {
            let goal = (base[j] + maximum[j] - mu).max(1e-300);
            let below = (maximum[j] - mean[j]).max(1e-300);
            *ratio = (below / goal).clamp(1e-300, 1e300);
        }
    }
}

/// t + (G/ψ'')·pace, not many times as far as before, the first time no more than `longest`; returns
/// the least, NaN if there is one.
pub(super) struct Step<'a> {
    pub(super) active: &'a mut Active,
    pub(super) cumulants: &'a Cumulants,
    pub(super) longest: f64,
}

impl WithSimd for Step<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let Step { active, cumulants, longest } = self;
        let rows = active.len();
        let Cumulants { mean, maximum, variance, pace, .. } = cumulants;
        let (mean, maximum, variance) = (&mean[..rows], &maximum[..rows], &variance[..rows]);
        let (t, pace) = (&active.t[..rows], &pace[..rows]);
        let (mut least, mut sum) = (f64::INFINITY, 0.0);
        for (j, fresh) in active.fresh[..rows].iter_mut().enumerate() {
            let below = (maximum[j] - mean[j]).max(1e-300);
            let next = t[j] + below / variance[j] * pace[j];
            let most = (8.0 * t[j]).max(longest);
            *fresh = if most < next { most } else { next };
            least = if *fresh < least { *fresh } else { least };
            sum += *fresh;
        }
        if sum.is_nan() { f64::NAN } else { least }
    }
}
