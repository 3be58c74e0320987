//! One row of an ellipsoid by sums about a centre c near its active set,
//!   y = (y⁰ + t(w − c) − ν)₊,  Sw = Σ_I(w − c), Sww = Σ_I(w − c)², Syw = Σ_I y⁰(w − c),
//! so that a set of nearly equal w far below the row's maximum keeps its digits; and the tail of a
//! row, the states outside its nominal support, from the ranking's prefix sums.

use pulp::{Simd, WithSimd};

use super::outlook::Outlook;
use super::rows::Rows;

/// Sums about `centre` over an active set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Centred {
    pub(super) centre: f64,
    pub(super) n: f64,
    pub(super) sy: f64,
    pub(super) sw: f64,
    pub(super) sww: f64,
    pub(super) syw: f64,
    pub(super) off: f64,
}

impl Centred {
    pub(super) fn mean(&self) -> f64 {
        if self.n > 0.0 { self.sw / self.n } else { 0.0 }
    }

    pub(super) fn det(&self) -> f64 {
        (self.sww - self.sw * self.mean()).max(0.0)
    }

    /// ν, about the centre, for which the active set has mass one at t.
    pub(super) fn shift(&self, t: f64) -> f64 {
        (t * self.sw - (1.0 - self.sy)) / self.n
    }

    /// ⟨w, y⟩ at t and that ν.
    pub(super) fn value(&self, t: f64) -> f64 {
        self.centre + (self.syw + (1.0 - self.sy) * self.mean() + t * self.det())
    }

    /// ½‖y − y⁰‖² at t and that ν.
    pub(super) fn cost(&self, t: f64) -> f64 {
        let r = 1.0 - self.sy;
        0.5 * (t * t * self.det() + r * r / self.n + self.off)
    }
}

/// The sums of row k over {y⁰ + t(w − centre) − ν > 0}.
pub(super) struct OneRow<'a> {
    pub(super) rows: Rows<'a>,
    pub(super) ahead: &'a Outlook,
    pub(super) k: usize,
    pub(super) t: f64,
    pub(super) nu: f64,
    pub(super) centre: f64,
}

impl WithSimd for OneRow<'_> {
    type Output = Centred;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Centred {
        let OneRow { rows, ahead, k, t, nu, centre } = self;
        let (nominal, gain) = rows.row(k);
        let zero = simd.splat_f64s(0.0);
        let one = simd.splat_f64s(1.0);
        let (tv, nuv, cv) = (simd.splat_f64s(t), simd.splat_f64s(nu), simd.splat_f64s(centre));
        let (mut n, mut sy, mut off) = (zero, zero, zero);
        let (mut sw, mut sww, mut syw) = (zero, zero, zero);
        let lanes = size_of::<S::f64s>() / 8;
        let iota = S::as_simd_f64s(&super::forms::IOTA[..lanes]).0[0];
        for (y0, w) in nominal.chunks(lanes).zip(gain.chunks(lanes)) {
            let live = simd.less_than_f64s(iota, simd.splat_f64s(y0.len() as f64));
            // Whole registers without a masked load, which costs a call.
            let load = |x: &[f64]| match S::as_simd_f64s(x).0 {
                [x] => *x,
                _ => simd.partial_load_f64s(x),
            };
            let (y0, w) = (load(y0), load(w));
            let w = simd.sub_f64s(w, cv);
            let p = simd.mul_add_e_f64s(tv, w, simd.sub_f64s(y0, nuv));
            let inside = simd.and_m64s(live, simd.less_than_f64s(zero, p));
            let wi = simd.select_f64s(inside, w, zero);
            let yi = simd.select_f64s(inside, y0, zero);
            let yo = simd.select_f64s(inside, zero, y0);
            n = simd.add_f64s(n, simd.select_f64s(inside, one, zero));
            sy = simd.add_f64s(sy, yi);
            sw = simd.add_f64s(sw, wi);
            sww = simd.mul_add_e_f64s(wi, wi, sww);
            syw = simd.mul_add_e_f64s(yi, wi, syw);
            off = simd.mul_add_e_f64s(yo, yo, off);
        }
        let mut sums = Centred {
            centre,
            n: simd.reduce_sum_f64s(n),
            sy: simd.reduce_sum_f64s(sy),
            sw: simd.reduce_sum_f64s(sw),
            sww: simd.reduce_sum_f64s(sww),
            syw: simd.reduce_sum_f64s(syw),
            off: simd.reduce_sum_f64s(off),
        };
        if !rows.level.is_empty() {
            let [n, sw, sww] = add_tail(&rows, ahead, k, t, nu, centre);
            (sums.n, sums.sw, sums.sww) = (sums.n + n, sums.sw + sw, sums.sww + sww);
        }
        sums
    }
}

/// How many states, by falling value, a row with multiplier t and shift ν lifts from zero; w is the
/// level less `origin`.
pub(super) fn tail_length(levels: &[f64], origin: f64, t: f64, nu: f64) -> usize {
    levels.partition_point(|&w| t * (w - origin) - nu > 0.0)
}

/// n, Σ(w − centre) and Σ(w − centre)² of the states outside the nominal support: a prefix of the
/// ranking, less the support's own.
pub(super) fn add_tail(
    rows: &Rows<'_>,
    ahead: &Outlook,
    k: usize,
    t: f64,
    nu: f64,
    centre: f64,
) -> [f64; 3] {
    let ranking = ahead.ranking.as_ref().expect("tails need a ranking");
    let origin = rows.shift[k] + centre;
    let length = tail_length(&ranking.level, origin, t, nu);
    let [mut sum, mut square] = ranking.sums_about(length, origin);
    let mut n = length;
    for &w in &rows.level[rows.span(k)] {
        let w = w - origin;
        if t * w - nu > 0.0 {
            n -= 1;
            sum -= w;
            square -= w * w;
        }
    }
    if n == 0 { [0.0; 3] } else { [n as f64, sum, square.max(0.0)] }
}

/// The least |t·w − ν| at the end of a row's tail.
pub(super) fn tail_margin(rows: &Rows<'_>, ahead: &Outlook, k: usize, t: f64, nu: f64) -> f64 {
    let ranking = ahead.ranking.as_ref().expect("tails need a ranking");
    let origin = rows.shift[k];
    let length = tail_length(&ranking.level, origin, t, nu);
    let ends = ranking.level[length.saturating_sub(1)..].iter().take(2);
    ends.fold(f64::INFINITY, |m, w| m.min((t * (w - origin) - nu).abs()))
}
