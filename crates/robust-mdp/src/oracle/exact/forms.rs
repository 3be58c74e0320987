//! The closed forms of the ellipsoid across the rows under work, a register of rows at a time.

use pulp::{Simd, WithSimd};

use super::active::Active;
use super::ball::Assessed;
use super::sums::Sums;
use crate::uncertainty::Enclosure;

/// A determinant below this share of Sww is rounding.
const FLAT: f64 = 1e-13;
pub(super) const IOTA: [f64; 8] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];

/// Derives mean, rest, start and curve of every row; bounds at the present (t, ν) and the value
/// that the rows reach together.
pub(super) struct Assess<'a> {
    pub(super) active: &'a mut Active,
    pub(super) sums: &'a mut Sums,
    pub(super) radius: f64,
    pub(super) drift: f64,
    pub(super) fixed: bool,
}

impl WithSimd for Assess<'_> {
    type Output = Assessed;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Assessed {
        let Assess { active, sums, radius, drift, fixed } = self;
        let rows = active.len();
        let lanes = size_of::<S::f64s>() / 8;
        let splat = |x: f64| simd.splat_f64s(x);
        let (zero, one, half) = (splat(0.0), splat(1.0), splat(0.5));
        let infinity = splat(f64::INFINITY);
        let iota = S::as_simd_f64s(&IOTA[..lanes]).0[0];
        // All m are measured from that of the first row, so that large costs do not cancel.
        let r = 1.0 - sums.sy[0];
        let origin = active.base[0] + sums.syw[0] + r * sums.sw[0] / sums.n[0];
        let origin = if origin.is_finite() { origin } else { active.base[0] };
        let reference = splat(origin);
        let (mut sk, mut skm, mut skmm, mut constant) = (zero, zero, zero, zero);
        let (mut total, mut value, mut used, mut fitted) = (zero, zero, zero, zero);
        let (mut mean_value, mut mean_floor) = (zero, zero);
        let (mut least, mut least_floor) = (infinity, infinity);
        let mut at = 0;
        while at < rows {
            let live = simd.less_than_f64s(iota, splat((rows - at) as f64));
            let load = |x: &[f64]| S::as_simd_f64s(&x[at..at + lanes]).0[0];
            let store = |x: &mut [f64], y| S::as_mut_simd_f64s(&mut x[at..at + lanes]).0[0] = y;
            let keep = |x: S::f64s| simd.select_f64s(live, x, zero);
            let (n, sw, sww) = (load(&sums.n), load(&sums.sw), load(&sums.sww));
            let (syw, off) = (load(&sums.syw), load(&sums.off));
            let (t, base, bend) = (load(&active.t), load(&active.base), load(&sums.bend));
            let floor = load(&active.floor);
            let inverse = simd.div_f64s(one, n);
            let mean = simd.mul_f64s(sw, inverse);
            let det = simd.sub_f64s(sww, simd.mul_f64s(sw, mean));
            let flat = simd.less_than_f64s(det, simd.mul_f64s(splat(FLAT), sww));
            let det = simd.select_f64s(flat, zero, det);
            let curve = simd.div_f64s(one, det);
            let sy = load(&sums.sy);
            let r = simd.sub_f64s(one, sy);
            let rest = simd.neg_f64s(simd.mul_f64s(r, inverse));
            let inner = simd.sub_f64s(syw, simd.mul_f64s(rest, sw));
            let start = simd.add_f64s(base, inner);
            store(&mut sums.mean, mean);
            store(&mut sums.rest, rest);
            store(&mut sums.start, start);
            store(&mut sums.curve, curve);
            // The joint quadratic.
            let m = simd.sub_f64s(start, reference);
            let km = simd.mul_f64s(curve, m);
            sk = simd.add_f64s(sk, keep(curve));
            skm = simd.add_f64s(skm, keep(km));
            skmm = simd.add_f64s(skmm, keep(simd.mul_f64s(km, m)));
            let fixed_cost = simd.mul_add_e_f64s(simd.neg_f64s(r), rest, off);
            constant = simd.add_f64s(constant, keep(fixed_cost));
            // The bounds at (t, bend): y = y⁰ + t(w − mean) − bend on the active set.
            let own = simd.sub_f64s(load(&active.nu), simd.mul_f64s(t, mean));
            let bend = simd.select_f64s(simd.equal_f64s(bend, bend), bend, own);
            let lifted = simd.mul_f64s(t, det);
            let row = simd.sub_f64s(simd.add_f64s(syw, lifted), simd.mul_f64s(bend, sw));
            let nbend = simd.mul_f64s(n, bend);
            let mass = simd.sub_f64s(sy, nbend);
            let excess = simd.sub_f64s(mass, one);
            let twice = simd.mul_add_e_f64s(t, lifted, simd.mul_add_e_f64s(nbend, bend, off));
            let distance = simd.mul_f64s(half, twice);
            let nu = simd.mul_add_e_f64s(t, mean, bend);
            let row_value = simd.add_f64s(base, row);
            total = simd.add_f64s(total, keep(t));
            value =
                simd.add_f64s(value, keep(simd.mul_f64s(t, simd.sub_f64s(row_value, reference))));
            used = simd.add_f64s(used, keep(simd.mul_add_e_f64s(nu, excess, distance)));
            // Scaled to mass one: (1/mass − 1)·y is added.
            let scale = simd.neg_f64s(simd.div_f64s(excess, mass));
            let along = simd.sub_f64s(simd.mul_f64s(t, row), simd.mul_f64s(nu, mass));
            let square = simd.mul_f64s(half, simd.mul_f64s(excess, excess));
            let fit = simd.add_f64s(simd.mul_add_e_f64s(scale, along, distance), square);
            fitted = simd.add_f64s(fitted, keep(fit));
            let scaled = simd.add_f64s(base, simd.mul_add_e_f64s(scale, row, row));
            least = simd.min_f64s(least, simd.select_f64s(live, scaled, infinity));
            least_floor = simd.min_f64s(least_floor, simd.select_f64s(live, floor, infinity));
            if fixed {
                mean_value = simd.add_f64s(mean_value, keep(simd.mul_f64s(t, scaled)));
                mean_floor = simd.add_f64s(mean_floor, keep(simd.mul_f64s(t, floor)));
            }
            at += lanes;
        }
        let sum = |x: S::f64s| simd.reduce_sum_f64s(x);
        let (total, fitted) = (sum(total), sum(fitted));
        let share = if fitted <= radius { 1.0 } else { (radius / fitted).sqrt() };
        let (row, floor) = if fixed {
            (sum(mean_value) / total, sum(mean_floor) / total + drift)
        } else {
            (simd.reduce_min_f64s(least), simd.reduce_min_f64s(least_floor) + drift)
        };
        let lower = if share < 1.0 { share * row + (1.0 - share) * floor } else { row };
        let upper = origin + (sum(value) + (radius - sum(used))) / total;
        let sk = sum(sk);
        let mean = sum(skm) / sk;
        let room = 2.0 * radius - sum(constant) - (sum(skmm) - sk * mean * mean).max(0.0);
        let mu = origin + mean + (room / sk).sqrt(); // not a number without room
        let sound = fitted.is_finite();
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
    pub(super) sums: &'a mut Sums,
    pub(super) mu: f64,
    pub(super) range: f64,
}

impl WithSimd for Raise<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Raise { active, sums, mu, range } = self;
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
            let lift = simd.sub_f64s(mu, load(&sums.start));
            let t = simd.mul_f64s(lift, load(&sums.curve));
            let nu = simd.mul_add_e_f64s(t, load(&sums.mean), load(&sums.rest));
            let dt = simd.sub_f64s(t, load(&sums.read_t));
            let dnu = simd.sub_f64s(nu, load(&sums.read_nu));
            let other = simd.abs_f64s(simd.mul_add_e_f64s(dt, range, dnu));
            let change = simd.max_f64s(simd.abs_f64s(dnu), other);
            let safety = simd.sub_f64s(load(&sums.margin), change);
            store(&mut active.fresh, t);
            store(&mut active.fresh_nu, nu);
            store(&mut sums.fresh_safety, safety);
            least = simd.min_f64s(least, simd.select_f64s(live, t, infinity));
            sum = simd.add_f64s(sum, simd.select_f64s(live, t, simd.splat_f64s(0.0)));
            at += lanes;
        }
        let sum = simd.reduce_sum_f64s(sum);
        if sum.is_nan() { f64::NAN } else { simd.reduce_min_f64s(least) }
    }
}
