//! Sums over the states that a sparse row does not list, without visiting them.
//!
//! There h = t(w − top) − ν depends on the state through w = λ(v − max v) ≤ 0 alone, and counts
//! where it is positive: among the first states in falling order of w. Prefix sums of w and w² in
//! double-double, less the listed states, give Σh and Σh².
//!
//! Error: w > top + ν/t where h counts, so that |w| and |w − top| are at most
//! R = |top| + |ν|/t. An operation of double-double is off by 2⁻¹⁰² of the magnitudes in it; sums of
//! k such terms less m listed ones by (k + m + 8)·k·R·2⁻⁹⁸, and squares by R times that; underflow adds
//! less than 2⁻¹⁰²² a term. Steep t make much of this, but never more than what 0 ≤ h ≤ |ν| allows.

use super::rounding::{Ball, TINY, UNIT};

/// A number in two parts, |low| ≤ ulp(high).
#[derive(Clone, Copy, Debug, Default)]
struct Double {
    high: f64,
    low: f64,
}

impl Double {
    fn sum(a: f64, b: f64) -> Double {
        let high = a + b;
        let part = high - a;
        Double { high, low: (a - (high - part)) + (b - part) }
    }

    fn product(a: f64, b: f64) -> Double {
        let high = a * b;
        Double { high, low: a.mul_add(b, -high) }
    }

    fn plus(self, other: Double) -> Double {
        let (s, t) = (Double::sum(self.high, other.high), Double::sum(self.low, other.low));
        let s = Double::sum(s.high, s.low + t.high);
        Double::sum(s.high, s.low + t.low)
    }

    fn times(self, x: f64) -> Double {
        let p = Double::product(self.high, x);
        Double::sum(p.high, p.low + self.low * x)
    }

    /// Give or take `error`, for a number from 0 to `most`, which may be off by a few roundings itself.
    fn between(self, error: f64, most: f64) -> Ball {
        let all = Ball { mid: self.high, rad: self.low.abs() + error + TINY };
        let most = most * (1.0 + 1e-9);
        Ball::between(all.lo().max(0.0).min(most), all.hi().min(most).max(0.0))
    }
}

/// All states by falling w.
pub(super) struct Ranking {
    level: Vec<f64>,
    /// Σw and Σw² of the first k states.
    prefix: Vec<[Double; 2]>,
}

/// Sums over the states that count, all with h ≥ 0.
#[derive(Clone, Copy, Default)]
pub(super) struct Tail {
    /// Σh and Σh².
    pub(super) mass: Ball,
    pub(super) square: Ball,
    /// At least ½Σh² over the states with h > 0 that do not count.
    pub(super) missed: f64,
}

impl Ranking {
    pub(super) fn new(w: &[f64]) -> Ranking {
        let mut level = w.to_vec();
        level.sort_unstable_by(|a, b| b.total_cmp(a));
        let mut sums = [Double::default(); 2];
        let mut prefix = vec![sums];
        for &w in &level {
            let [one, two] = sums;
            sums = [one.plus(Double::sum(w, 0.0)), two.plus(Double::product(w, w))];
            prefix.push(sums);
        }
        Ranking { level, prefix }
    }

    /// The largest w of a state that is not among `listed`, which falls.
    pub(super) fn highest_outside(&self, listed: &mut [f64]) -> Option<f64> {
        listed.sort_unstable_by(|a, b| b.total_cmp(a));
        let same = self.level.iter().zip(&*listed).take_while(|(a, b)| a == b).count();
        self.level.get(same).copied()
    }

    /// The sums over all states but the `listed` ones. States do not count where rounding leaves the sign
    /// of h open.
    pub(super) fn tail(&self, t: f64, nu: f64, top: f64, listed: &[f64]) -> Tail {
        // Three roundings, each of a number of size |ν| at most near the border.
        let margin = 4.0 * UNIT * nu.abs();
        let counts = |w: f64| t * (w - top) - nu > margin;
        let first = self.level.partition_point(|&w| counts(w));
        let [mut s1, mut s2] = self.prefix[first];
        let mut n = first as f64;
        for &w in listed.iter().filter(|w| counts(**w)) {
            s1 = s1.plus(Double::sum(-w, 0.0));
            s2 = s2.plus(Double::product(-w, w));
            n -= 1.0;
        }
        let of = Double::product;
        // About the top: q1 = Σ(w − top), q2 = Σ(w − top)².
        let q1 = s1.plus(of(-n, top));
        let q2 = s2.plus(s1.times(-2.0 * top)).plus(of(top, top).times(n));
        let r = top.abs() + 1.01 * nu.abs() / t;
        let unit = 0.5f64.powi(98) * (first + listed.len() + 8) as f64;
        // Products of tiny numbers lose what lies below the least double, before they are multiplied by t.
        let lost = f64::MIN_POSITIVE * (first + listed.len() + 8) as f64;
        let (e0, e1) = (unit * n, unit * first as f64 * r + lost);
        let (e2, size) = (4.0 * e1 * r + lost, nu.abs());
        let mass = q1.times(t).plus(of(-n, nu));
        let square =
            q2.times(t).times(t).plus(q1.times(t).times(-2.0 * nu)).plus(of(nu, nu).times(n));
        let off = 4.0 * (t * e1 + e0 * size);
        let off_square = 4.0 * (t * t * e2 + 2.0 * t * size * e1 + e0 * size * size);
        Tail {
            mass: mass.between(off, n * size),
            square: square.between(off_square, n * size * size),
            missed: 2.1 * margin * margin * self.level.len() as f64,
        }
    }
}
