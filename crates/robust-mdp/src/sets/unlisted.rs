//! Sums over the states that a sparse row of a quadratic set does not list, for its proof, without visiting them.
//!
//! There h = t(w − maximum) − ν depends on the state through w = λ(v − max v) ≤ 0 alone, and counts
//! where it is positive: among the first states in falling order of w. Prefix sums of w and w² in
//! double-double, less the listed states, give Σh and Σh².
//!
//! With b the last w that counts, all sums are of numbers ≥ 0: q₁ = Σ(w − b), q₂ = Σ(w − b)², and with h(b) > 0
//!   Σh = t·q₁ + n·h(b),   Σh² = t²q₂ + 2t·h(b)·q₁ + n·h(b)².
//!
//! Error: |w| ≤ |b| where h counts. An operation of double-double is off by 2⁻¹⁰² of the magnitudes in it, sums
//! of k states by (k + 8)·k·|b|·2⁻⁹⁸, and squares by |b| times that; underflow adds less than 2⁻¹⁰²² a
//! term. Listed states are summed in doubles: m of them by (m + 4)u of what all states have. Steep t make much
//! of this, but never more than what 0 ≤ h ≤ |ν| allows.

use pulp::{Simd, WithSimd};

use crate::certificate::verify::lane::Lane;
use crate::certificate::verify::sums::{Over, Terms, dispatch, steps};
use crate::certificate::verify::tail::Double;
use crate::certificate::{Interval, ProofRow, TINY, UNIT, Unlisted, roundings};

/// 2⁻⁹⁸.
const TINIER: f64 = f64::from_bits((1023 - 98) << 52);

/// Sums over the unlisted states that count, all with h = t(w − maximum) − ν ≥ 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnlistedSums {
    /// Σh.
    pub(crate) mass: Interval,
    /// Σh².
    pub(crate) square: Interval,
    /// At least ½Σh² over the states with h > 0 that do not count.
    pub(crate) missed: f64,
}

impl UnlistedSums {
    /// Of a row that lists all states.
    pub(crate) const NONE: UnlistedSums = {
        let zero = Interval { mid: 0.0, rad: 0.0 };
        UnlistedSums { mass: zero, square: zero, missed: 0.0 }
    };

    /// Where h > 0. States do not count where rounding leaves the sign of h open.
    pub(crate) fn new(unlisted: Unlisted<'_>, t: f64, nu: f64) -> UnlistedSums {
        dispatch(Positive { unlisted, t, nu })
    }
}

/// The states with h > 0, in code that knows whether the machine fuses products and sums.
struct Positive<'a> {
    unlisted: Unlisted<'a>,
    t: f64,
    nu: f64,
}

impl WithSimd for Positive<'_> {
    type Output = UnlistedSums;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> UnlistedSums {
        let Positive { unlisted: Unlisted { ranking, listed, maximum }, t, nu } = self;
        let size = nu.abs();
        let margin = 4.0 * UNIT * size;
        // h > 0 for certain: three roundings, each of a number of size |ν| at most near the border.
        let counts = |w: &f64| t * (w - maximum) - nu > margin;
        let first = ranking.first(maximum + (nu + margin) / t, counts);
        let missed = 2.1 * margin * margin * ranking.level.len() as f64;
        let Some(&b) = ranking.level[..first].last() else {
            return UnlistedSums { missed, ..UnlistedSums::NONE };
        };
        let ([s1, s2], k) = (ranking.prefix[first], first as f64);
        // Of all states.
        let a1 = s1.plus(Double::product(-k, b)).high;
        let a2 = s2.plus(s1.times(-2.0 * b)).plus(Double::product(b, b).times(k)).high;
        let row = ProofRow { p: listed, w: listed, maximum: b, depth: 0.0, unlisted: None };
        let [l1, l2, m] = Over { row: &row, t: 1.0, nu: 0.0, of: Apart }.with_simd(simd);
        let (n, rho) = (k - m, roundings(steps(listed.len()) + 4.0));
        let (unit, lost) = (TINIER * (k + 8.0), f64::MIN_POSITIVE * (k + m + 8.0));
        let e1 = 4.0 * (unit * k * b.abs() + lost);
        let e2 = 4.0 * (e1 * b.abs() + lost);
        // NaN remains.
        let positive = |x: f64| if x < 0.0 { 0.0 } else { x };
        let (q1, r1) = (positive(a1 - l1), rho * a1.abs() + e1);
        let (q2, r2) = (positive(a2 - l2), rho * a2.abs() + e2);
        let h = Double::sum(b, -maximum).times(t).plus(Double::sum(-nu, 0.0));
        let h = positive(h.high);
        let rh = 2.0 * UNIT * h + TINIER * size + TINY;
        let (mass, cross) = (t * q1 + n * h, 2.0 * t * q1 + n * h);
        let square = t * (t * q2) + cross * h;
        // What q₁ ± r₁, q₂ ± r₂ and h ± r_h make of these, and few roundings of sums of numbers ≥ 0.
        let off = t * r1 + n * rh;
        let far = t * (t * r2) + cross * rh + (t * r1 + off) * (h + rh);
        let within = |mid: f64, rad: f64, most: f64| {
            let rad = 1.01 * rad + 2e-15 * mid;
            Interval { mid: mid.min(most), rad: rad.min(most) + TINY }
        };
        let most = (1.0 + 1e-9) * n * size;
        UnlistedSums {
            mass: within(mass, off, most),
            square: within(square, far, most * size),
            missed,
        }
    }
}

/// Σ(w − b), Σ(w − b)² and Σ1 where w ≥ b: x = b − w ≤ 0.
#[derive(Clone, Copy)]
struct Apart;

impl Terms<3> for Apart {
    #[inline(always)]
    fn add<S: Simd>(self, to: [Lane<S>; 3], _: Lane<S>, x: Lane<S>) -> [Lane<S>; 3] {
        let zero = x.of(0.0);
        let (own, one) = (x.at_most(zero), zero.if_below(x, zero, x.of(1.0)));
        [to[0] - own, own.mul_add(own, to[1]), to[2] + one]
    }
}
