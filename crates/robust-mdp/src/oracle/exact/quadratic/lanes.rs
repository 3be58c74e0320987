//! Passes over the active quadratic rows, a register of them at a time.

use pulp::{Simd, WithSimd};

use super::super::active::Active;
use super::super::joint::Assessed;
use super::{BLURRED, FLAT, Forms, SURE};
use crate::lanes::IOTA;
use crate::sets::Enclosure;

/// Derives mean, rest, start and curve of every row; bounds at the present (t, ν) and the value
/// that the rows reach together. A register of rows at a time.
pub(super) struct Assess<'a> {
    pub(super) active: &'a Active,
    pub(super) forms: &'a mut Forms,
    pub(super) radius: f64,
    pub(super) fall: f64,
    pub(super) most: f64,
    pub(super) fixed: bool,
}

impl WithSimd for Assess<'_> {
    type Output = Assessed;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Assessed {
        let Assess { active, forms, radius, fall, most, fixed } = self;
        let rows = active.len();
        let lanes = size_of::<S::f64s>() / 8;
        let splat = |x: f64| simd.splat_f64s(x);
        let (zero, one, half, two) = (splat(0.0), splat(1.0), splat(0.5), splat(2.0));
        let (infinity, most) = (splat(f64::INFINITY), splat(most));
        let iota = S::as_simd_f64s(&IOTA[..lanes]).0[0];
        // All m are measured from that of the first row, so that large costs do not cancel.
        let rho = 1.0 - forms.p[0];
        let origin = active.base[0] + forms.pw[0] + rho * forms.rw[0] / forms.r[0];
        let origin = if origin.is_finite() { origin } else { active.base[0] };
        let reference = splat(origin);
        let (mut sk, mut skm, mut skmm, mut constant) = (zero, zero, zero, zero);
        let (mut total, mut value, mut used, mut fitted) = (zero, zero, zero, zero);
        let (mut mean_value, mut mean_bound) = (zero, zero);
        let (mut least, mut least_bound) = (infinity, infinity);
        let mut blur = zero;
        let mut at = 0;
        while at < rows {
            let live = simd.less_than_f64s(iota, splat((rows - at) as f64));
            let load = |x: &[f64]| S::as_simd_f64s(&x[at..at + lanes]).0[0];
            let store = |x: &mut [f64], y| S::as_mut_simd_f64s(&mut x[at..at + lanes]).0[0] = y;
            let keep = |x: S::f64s| simd.select_f64s(live, x, zero);
            let (r, rw, rww) = (load(&forms.r), load(&forms.rw), load(&forms.rww));
            let (pw, left, p) = (load(&forms.pw), load(&forms.left), load(&forms.p));
            let (t, base, bound) = (load(&active.t), load(&active.base), load(&active.bound));
            let kappa = load(&active.kappa);
            let inverse = simd.div_f64s(one, r);
            let mean = simd.mul_f64s(rw, inverse);
            let det = simd.sub_f64s(rww, simd.mul_f64s(rw, mean));
            let flat = simd.less_than_f64s(det, simd.mul_f64s(splat(FLAT), rww));
            let det = simd.select_f64s(flat, zero, det);
            let curve = simd.div_f64s(one, det);
            let rho = simd.sub_f64s(one, p);
            let rest = simd.neg_f64s(simd.mul_f64s(rho, inverse));
            let inner = simd.sub_f64s(pw, simd.mul_f64s(rest, rw));
            let start = simd.add_f64s(base, inner);
            store(&mut forms.mean, mean);
            store(&mut forms.rest, rest);
            store(&mut forms.start, start);
            store(&mut forms.curve, curve);
            // The joint quadratic.
            let m = simd.sub_f64s(start, reference);
            let k = simd.mul_f64s(kappa, curve);
            let km = simd.mul_f64s(k, m);
            sk = simd.add_f64s(sk, keep(k));
            skm = simd.add_f64s(skm, keep(km));
            skmm = simd.add_f64s(skmm, keep(simd.mul_f64s(km, m)));
            let fixed_cost = simd.mul_add_e_f64s(simd.neg_f64s(rho), rest, left);
            constant = simd.add_f64s(constant, keep(simd.mul_f64s(kappa, fixed_cost)));
            // The bounds at (t, ν): y − p = r(t(w − mean) − bend) on the active set.
            let along_mean = simd.mul_f64s(t, mean);
            blur = simd.max_f64s(blur, keep(simd.abs_f64s(along_mean)));
            let own = simd.sub_f64s(load(&active.nu), along_mean);
            let closed = simd.less_than_f64s(half, load(&forms.closed));
            let bend = simd.select_f64s(closed, rest, own);
            let gain = simd.mul_f64s(t, det);
            let row = simd.sub_f64s(simd.add_f64s(pw, gain), simd.mul_f64s(bend, rw));
            let bent = simd.mul_f64s(r, bend);
            let mass = simd.sub_f64s(p, bent);
            let excess = simd.sub_f64s(mass, one);
            let square = simd.mul_add_e_f64s(t, gain, simd.mul_f64s(bent, bend));
            let distance = simd.mul_f64s(half, simd.add_f64s(square, left));
            let nu = simd.mul_add_e_f64s(t, mean, bend);
            let row_value = simd.add_f64s(base, row);
            let weight = simd.mul_f64s(kappa, t);
            total = simd.add_f64s(total, keep(weight));
            let worth = simd.mul_f64s(weight, simd.sub_f64s(row_value, reference));
            value = simd.add_f64s(value, keep(worth));
            let spent = simd.mul_add_e_f64s(nu, excess, distance);
            used = simd.add_f64s(used, keep(simd.mul_f64s(kappa, spent)));
            // Scaled to mass one: (1/mass − 1)·y is added, and Σy²/r ≤ MOST·Σp + 2Σph + Σrh², h = tw − ν.
            let scale = simd.neg_f64s(simd.div_f64s(excess, mass));
            let difference =
                |a, b| (simd.sub_f64s(a, b), simd.add_f64s(simd.abs_f64s(a), simd.abs_f64s(b)));
            let (along, along_size) = difference(simd.mul_f64s(t, row), simd.mul_f64s(nu, mass));
            let (ph, ph_size) = difference(simd.mul_f64s(t, pw), simd.mul_f64s(nu, p));
            let length =
                simd.add_f64s(simd.mul_add_e_f64s(two, ph, square), simd.mul_f64s(most, p));
            let more = simd.mul_f64s(half, simd.mul_f64s(simd.mul_f64s(scale, scale), length));
            let fit = simd.add_f64s(simd.mul_add_e_f64s(scale, along, distance), more);
            // Far from mass one these cancel.
            let far = simd.abs_f64s(scale);
            let size = simd.mul_f64s(far, simd.mul_add_e_f64s(far, ph_size, along_size));
            let fit = simd.mul_add_e_f64s(splat(16.0 * f64::EPSILON), size, fit);
            fitted = simd.add_f64s(fitted, keep(simd.mul_f64s(kappa, fit)));
            let scaled = simd.add_f64s(base, simd.mul_add_e_f64s(scale, row, row));
            least = simd.min_f64s(least, simd.select_f64s(live, scaled, infinity));
            least_bound = simd.min_f64s(least_bound, simd.select_f64s(live, bound, infinity));
            if fixed {
                mean_value = simd.add_f64s(mean_value, keep(simd.mul_f64s(weight, scaled)));
                mean_bound = simd.add_f64s(mean_bound, keep(simd.mul_f64s(weight, bound)));
            }
            at += lanes;
        }
        let sum = |x: S::f64s| simd.reduce_sum_f64s(x);
        let (total, fitted) = (sum(total), sum(fitted));
        let share = if fitted <= radius { 1.0 } else { (radius / fitted).sqrt() };
        let (row, bound) = if fixed {
            (sum(mean_value) / total, sum(mean_bound) / total + fall)
        } else {
            (simd.reduce_min_f64s(least), simd.reduce_min_f64s(least_bound) + fall)
        };
        let lower = if share < 1.0 { share * row + (1.0 - share) * bound } else { row };
        let upper = origin + (sum(value) + (radius - sum(used))) / total;
        let sk = sum(sk);
        let mean = sum(skm) / sk;
        let room = 2.0 * radius - sum(constant) - (sum(skmm) - sk * mean * mean).max(0.0);
        let mu = origin + mean + (room / sk).sqrt(); // NaN without room
        let sound = fitted.is_finite() && simd.reduce_max_f64s(blur) <= BLURRED;
        let bounds = Enclosure {
            lower: if lower.is_nan() || !sound { f64::NEG_INFINITY } else { lower },
            upper: if upper.is_nan() { f64::INFINITY } else { upper },
        };
        Assessed { bounds, mu }
    }
}

/// t, ν and their safety where every row has the value μ; returns the least t, NaN if there is one.
pub(super) struct Raise<'a> {
    pub(super) active: &'a mut Active,
    pub(super) forms: &'a mut Forms,
    pub(super) mu: f64,
    pub(super) range: f64,
}

impl WithSimd for Raise<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Raise { active, forms, mu, range } = self;
        let rows = active.len();
        let lanes = size_of::<S::f64s>() / 8;
        let (mu, range) = (simd.splat_f64s(mu), simd.splat_f64s(range));
        let infinity = simd.splat_f64s(f64::INFINITY);
        let iota = S::as_simd_f64s(&IOTA[..lanes]).0[0];
        let (mut least, mut sum) = (infinity, simd.splat_f64s(0.0));
        let mut at = 0;
        while at < rows {
            let live = simd.less_than_f64s(iota, simd.splat_f64s((rows - at) as f64));
            let load = |x: &[f64]| S::as_simd_f64s(&x[at..at + lanes]).0[0];
            let store = |x: &mut [f64], y| S::as_mut_simd_f64s(&mut x[at..at + lanes]).0[0] = y;
            let rise = simd.sub_f64s(mu, load(&forms.start));
            let t = simd.mul_f64s(rise, load(&forms.curve));
            let nu = simd.mul_add_e_f64s(t, load(&forms.mean), load(&forms.rest));
            let dt = simd.sub_f64s(t, load(&forms.read_t));
            let dnu = simd.sub_f64s(nu, load(&forms.read_nu));
            // Of t(w − centre) − ν, at both ends of w.
            let first = simd.mul_add_e_f64s(dt, load(&forms.centre), dnu);
            let other = simd.abs_f64s(simd.mul_add_e_f64s(dt, range, first));
            let change = simd.max_f64s(simd.abs_f64s(first), other);
            let margin = simd.mul_f64s(simd.splat_f64s(SURE), load(&forms.margin));
            let safety = simd.sub_f64s(margin, change);
            store(&mut active.fresh, t);
            store(&mut active.fresh_nu, nu);
            store(&mut forms.fresh_safety, safety);
            least = simd.min_f64s(least, simd.select_f64s(live, t, infinity));
            sum = simd.add_f64s(sum, simd.select_f64s(live, t, simd.splat_f64s(0.0)));
            at += lanes;
        }
        let sum = simd.reduce_sum_f64s(sum);
        if sum.is_nan() { f64::NAN } else { simd.reduce_min_f64s(least) }
    }
}
