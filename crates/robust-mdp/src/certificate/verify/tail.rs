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

use super::rounding::{Ball, TINY, UNIT};

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

/// Of eight rows.
#[derive(Default)]
pub(super) struct Tails([[f64; 8]; 5]);

impl Tails {
    #[inline(always)]
    pub(super) fn at(&self, k: usize) -> Tail {
        let [a, b, c, d, e] = &self.0;
        let (mass, square) = (Ball { mid: a[k], rad: b[k] }, Ball { mid: c[k], rad: d[k] });
        Tail { mass, square, missed: e[k] }
    }
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

    /// The largest w of a state that is not among those `listed`.
    pub(super) fn highest_outside(&self, listed: impl Iterator<Item = f64>) -> Option<f64> {
        let mut listed: Vec<f64> = listed.collect();
        listed.sort_unstable_by(|a, b| b.total_cmp(a));
        let same = self.level.iter().zip(&listed).take_while(|(a, b)| a == b).count();
        self.level.get(same).copied()
    }

    /// For eight rows, with all states counted as if none were listed. States do not count where rounding leaves the
    /// sign of h open.
    #[inline(always)]
    pub(super) fn beyond(&self, t: &[f64; 8], nu: &[f64; 8], top: &[f64; 8]) -> Beyond<'_> {
        let first = self.first(|l, w| counts(t[l], nu[l], top[l], w));
        let (s1, s2, off1, off2) = ([0.0; 8], [0.0; 8], [0.0; 8], [0.0; 8]);
        Beyond { ranking: self, first, number: first.map(|k| k as f64), s1, s2, off1, off2 }
    }

    /// How many of the first states count, for each of eight rows: a search in all of them at once.
    #[inline(always)]
    fn first(&self, counts: impl Fn(usize, f64) -> bool) -> [usize; 8] {
        let (mut found, states) = ([0; 8], self.level.len());
        let mut step = states.next_power_of_two();
        while step > 0 {
            for (l, found) in found.iter_mut().enumerate() {
                let next = *found + step;
                let level = self.level[next.min(states) - 1];
                *found = if (next <= states) & counts(l, level) { next } else { *found };
            }
            step /= 2;
        }
        found
    }
}

/// Whether h > 0 for certain: three roundings, each of a number of size |ν| at most near the border.
#[inline(always)]
fn counts(t: f64, nu: f64, top: f64, w: f64) -> bool {
    t * (w - top) - nu > margin(nu)
}

#[inline(always)]
fn margin(nu: f64) -> f64 {
    4.0 * UNIT * nu.abs()
}

/// The states that count in eight rows: so many of the first, less listed ones.
pub(super) struct Beyond<'a> {
    ranking: &'a Ranking,
    first: [usize; 8],
    number: [f64; 8],
    /// −Σw and −Σw² of those listed in doubles, and what was rounded off these sums.
    s1: [f64; 8],
    s2: [f64; 8],
    off1: [f64; 8],
    off2: [f64; 8],
}

impl Beyond<'_> {
    /// Leaves out a block of listed states, where there are n.
    #[inline(always)]
    pub(super) fn leave_out(
        &mut self,
        t: &[f64; 8],
        nu: &[f64; 8],
        top: &[f64; 8],
        n: &[f64; 8],
        from: usize,
        listed: &[[f64; 8]],
    ) {
        let Beyond { mut number, mut s1, mut s2, mut off1, mut off2, .. } = *self;
        for (k, listed) in (from..).zip(listed) {
            for l in 0..8 {
                let own = ((k as f64) < n[l]) & counts(t[l], nu[l], top[l], listed[l]);
                let w = if own { listed[l] } else { 0.0 };
                number[l] -= if own { 1.0 } else { 0.0 };
                let square = Double::product(-w, w);
                let (one, two) = (Double::sum(s1[l], -w), Double::sum(s2[l], square.high));
                (s1[l], off1[l]) = (one.high, off1[l] + one.low);
                (s2[l], off2[l]) = (two.high, off2[l] + (two.low + square.low));
            }
        }
        (self.number, self.s1, self.s2, self.off1, self.off2) = (number, s1, s2, off1, off2);
    }

    #[inline(always)]
    pub(super) fn tails(self, t: &[f64; 8], nu: &[f64; 8], top: &[f64; 8]) -> Tails {
        let Beyond { ranking, first, number, s1, s2, off1, off2 } = self;
        let prefix = first.map(|k| ranking.prefix[k]);
        let mut tails = Tails::default();
        for l in 0..8 {
            let ([p1, p2], first) = (prefix[l], first[l] as f64);
            let s1 = p1.plus(Double::sum(s1[l], off1[l]));
            let s2 = p2.plus(Double::sum(s2[l], off2[l]));
            let sums = Sums { s1, s2, first, listed: first - number[l] };
            let (mass, square) = sums.about(t[l], nu[l], top[l]);
            let missed = 2.1 * margin(nu[l]) * margin(nu[l]) * ranking.level.len() as f64;
            let [a, b, c, d, e] = &mut tails.0;
            (a[l], b[l], c[l], d[l], e[l]) = (mass.mid, mass.rad, square.mid, square.rad, missed);
        }
        tails
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
    fn about(self, t: f64, nu: f64, top: f64) -> (Ball, Ball) {
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
