//! Sums over the states that a sparse row does not list, without visiting them.
//!
//! There h = t(w − top) − ν depends on the state through w = λ(v − max v) ≤ 0 alone, and counts
//! where it is positive: among the first states in falling order of w. Prefix sums of w and w² in
//! double-double, less the listed states, give Σh and Σh².
//!
//! Error: w > top + ν/t where h counts, so that |w| and |w − top| are at most
//! R = |top| + |ν|/t. An operation of double-double is off by 2⁻¹⁰² of the magnitudes in it; sums of
//! k such terms less m listed ones by (k + m + m²/256 + 8)·k·R·2⁻⁹⁸, and squares by R times that; underflow adds
//! less than 2⁻¹⁰²² a term. Steep t make much of this, but never more than what 0 ≤ h ≤ |ν| allows.

use pulp::{Simd, WithSimd};

use super::interval::{Interval, TINY, UNIT};
use super::sums::dispatch;

/// 2⁻⁹⁸.
const TINIER: f64 = f64::from_bits((1023 - 98) << 52);

/// A number in two parts, |low| ≤ ulp(high).
#[derive(Clone, Copy, Debug, Default)]
struct Double {
    high: f64,
    low: f64,
}

impl Double {
    #[inline(always)]
    fn sum(a: f64, b: f64) -> Double {
        let high = a + b;
        let part = high - a;
        Double { high, low: (a - (high - part)) + (b - part) }
    }

    #[inline(always)]
    fn product(a: f64, b: f64) -> Double {
        let high = a * b;
        Double { high, low: a.mul_add(b, -high) }
    }

    #[inline(always)]
    fn plus(self, other: Double) -> Double {
        let (s, t) = (Double::sum(self.high, other.high), Double::sum(self.low, other.low));
        let s = Double::sum(s.high, s.low + t.high);
        Double::sum(s.high, s.low + t.low)
    }

    #[inline(always)]
    fn times(self, x: f64) -> Double {
        let p = Double::product(self.high, x);
        Double::sum(p.high, p.low + self.low * x)
    }

    /// Give or take `error`, for a number from 0 to `most`, which may be off by a few roundings itself.
    #[inline(always)]
    fn between(self, error: f64, most: f64) -> Interval {
        let all = Interval { mid: self.high, rad: self.low.abs() + error + TINY };
        let most = most * (1.0 + 1e-9);
        Interval::between(all.lo().max(0.0).min(most), all.hi().min(most).max(0.0))
    }
}

/// All states by falling w = λ(v − max v).
pub(crate) struct Ranking {
    order: Vec<u32>,
    level: Vec<f64>,
    /// Σw and Σw² of the first k states.
    prefix: Vec<[Double; 2]>,
}

impl Ranking {
    pub(super) fn new(w: &[f64]) -> Ranking {
        let mut order: Vec<u32> = (0..w.len() as u32).collect();
        order.sort_by(|&a, &b| w[b as usize].total_cmp(&w[a as usize]));
        let level: Vec<f64> = order.iter().map(|&i| w[i as usize]).collect();
        let mut sums = [Double::default(); 2];
        let mut prefix = vec![sums];
        for &w in &level {
            let [one, two] = sums;
            sums = [one.plus(Double::sum(w, 0.0)), two.plus(Double::product(w, w))];
            prefix.push(sums);
        }
        Ranking { order, level, prefix }
    }

    /// The largest w of a state that is not among those `listed`, which are in order.
    pub(super) fn best_outside(&self, listed: &[u32]) -> Option<f64> {
        let rank = self.order.iter().position(|i| listed.binary_search(i).is_err())?;
        Some(self.level[rank])
    }
}

/// The states that a row does not list.
#[derive(Clone, Copy)]
pub struct Unlisted<'a> {
    pub(super) ranking: &'a Ranking,
    /// w of those that it does; −∞ where one is listed again.
    pub(super) listed: &'a [f64],
    pub(super) top: f64,
}

/// Sums over the unlisted states that count, all with h = t(w − top) − ν ≥ 0.
#[derive(Clone, Copy, Debug)]
pub struct Tail {
    /// Σh.
    pub mass: Interval,
    /// Σh².
    pub square: Interval,
    /// At least ½Σh² over the states with h > 0 that do not count.
    pub missed: f64,
}

impl Tail {
    /// Of a row that lists all states.
    pub const NONE: Tail = {
        let zero = Interval { mid: 0.0, rad: 0.0 };
        Tail { mass: zero, square: zero, missed: 0.0 }
    };
}

impl Unlisted<'_> {
    /// Where h > 0. States do not count where rounding leaves the sign of h open.
    pub fn sums(self, t: f64, nu: f64) -> Tail {
        dispatch(Pass { of: self, t, nu })
    }
}

struct Pass<'a> {
    of: Unlisted<'a>,
    t: f64,
    nu: f64,
}

impl WithSimd for Pass<'_> {
    type Output = Tail;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Tail {
        let Pass { of: Unlisted { ranking, listed, top }, t, nu } = self;
        let margin = 4.0 * UNIT * nu.abs();
        // h > 0 for certain: three roundings, each of a number of size |ν| at most near the border.
        let counts = |w: f64| t * (w - top) - nu > margin;
        let first = ranking.level.partition_point(|w| counts(*w));
        // −Σw and −Σw² of those listed in doubles, and what was rounded off these sums.
        let [mut s1, mut s2, mut off1, mut off2, mut own] = [0.0; 5];
        for &w in listed {
            // Without a branch, which would be a guess.
            let inside = counts(w);
            let w = if inside { w } else { 0.0 };
            let square = Double::product(-w, w);
            let (one, two) = (Double::sum(s1, -w), Double::sum(s2, square.high));
            (s1, off1) = (one.high, off1 + one.low);
            (s2, off2) = (two.high, off2 + (two.low + square.low));
            own += if inside { 1.0 } else { 0.0 };
        }
        let [p1, p2] = ranking.prefix[first];
        let (s1, s2) = (p1.plus(Double::sum(s1, off1)), p2.plus(Double::sum(s2, off2)));
        let sums = Sums { s1, s2, first: first as f64, listed: own };
        let (mass, square) = sums.about(t, nu, top);
        let missed = 2.1 * margin * margin * ranking.level.len() as f64;
        Tail { mass, square, missed }
    }
}

/// Σw and Σw² over the states that count: so many of the `first` less so many `listed` ones.
struct Sums {
    s1: Double,
    s2: Double,
    first: f64,
    listed: f64,
}

impl Sums {
    /// Σh and Σh².
    #[inline(always)]
    fn about(self, t: f64, nu: f64, top: f64) -> (Interval, Interval) {
        let Sums { s1, s2, first, listed } = self;
        let (n, of) = (first - listed, Double::product);
        // About the top: q1 = Σ(w − top), q2 = Σ(w − top)².
        let q1 = s1.plus(of(-n, top));
        let q2 = s2.plus(s1.times(-2.0 * top)).plus(of(top, top).times(n));
        let r = top.abs() + 1.01 * nu.abs() / t;
        let terms = first + listed * (1.0 + listed / 256.0) + 8.0;
        let unit = TINIER * terms;
        // Products of tiny numbers lose what lies below the least double, before they are multiplied by t.
        let lost = f64::MIN_POSITIVE * terms;
        let (e0, e1) = (unit * n, unit * first * r + lost);
        let (e2, size) = (4.0 * e1 * r + lost, nu.abs());
        let mass = q1.times(t).plus(of(-n, nu));
        let square =
            q2.times(t).times(t).plus(q1.times(t).times(-2.0 * nu)).plus(of(nu, nu).times(n));
        let off = 4.0 * (t * e1 + e0 * size);
        let off_square = 4.0 * (t * t * e2 + 2.0 * t * size * e1 + e0 * size * size);
        (mass.between(off, n * size), square.between(off_square, n * size * size))
    }
}
