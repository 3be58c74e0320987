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

use crate::certificate::verify::double::Double;
use crate::certificate::verify::lane::Lane;
use crate::certificate::verify::sums::{Over, Terms, dispatch, steps};
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
        let row = ProofRow { maximum: b, depth: 0.0, ..ProofRow::new(listed, listed) };
        let [l1, l2, m] = Over { row: &row, t: 1.0, nu: 0.0, of: Apart }.with_simd(simd);
        let (n, rho) = (k - m, roundings(steps(listed.len()) + 4.0));
        let (unit, lost) = (TINIER * (k + 8.0), f64::MIN_POSITIVE * (k + m + 8.0));
        let e1 = 4.0 * (unit * k * b.abs() + lost);
        let e2 = 4.0 * (e1 * b.abs() + lost);
        let q1 = Interval { mid: a1 - l1, rad: rho * a1.abs() + e1 };
        let q2 = Interval { mid: a2 - l2, rad: rho * a2.abs() + e2 };
        let h = Double::sum(b, -maximum).times(t).plus(Double::sum(-nu, 0.0)).high;
        let h = Interval { mid: h, rad: 2.0 * UNIT * h.abs() + TINIER * size + TINY };
        // Of numbers ≥ 0, so that few roundings are a small share.
        let sums =
            |q1: f64, q2: f64, h: f64| [t * q1 + n * h, t * (t * q2) + (2.0 * t * q1 + n * h) * h];
        let low = sums(q1.lo().max(0.0), q2.lo().max(0.0), h.lo().max(0.0));
        let high = sums(q1.hi(), q2.hi(), h.hi());
        // What is NaN says no more than 0 and the most do.
        let between = |low: f64, high: f64, most: f64| {
            let most = (1.0 + 1e-9) * most;
            let low = ((1.0 - 2e-15) * low).max(0.0).min(most);
            let high = ((1.0 + 2e-15) * high).min(most).max(low);
            let mid = 0.5 * low + 0.5 * high;
            Interval { mid, rad: (high - mid).max(mid - low) + 2.0 * UNIT * mid + TINY }
        };
        let mass = between(low[0], high[0], n * size);
        UnlistedSums { mass, square: between(low[1], high[1], n * size * size), missed }
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
