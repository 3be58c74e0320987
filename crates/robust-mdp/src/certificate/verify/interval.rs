//! Numbers with a bound on their distance from the exact ones.
//!
//! A rounded operation is off by at most u of its result, or, where a product or quotient underflows,
//! by less than [`TINY`]. Radii are sums and products of positive numbers, rounded a few times: a
//! billionth more than the computed one is at least the exact one. NaN and infinities prove nothing.

use std::ops::{Add, Div, Mul};

use super::double::Double;

/// u, half the distance from 1 to the next double: a rounded operation is off by at most this share.
pub const UNIT: f64 = f64::EPSILON / 2.0;

/// More than an operation of double-double is off by, as a share of all terms of a sum.
const FINE: f64 = 16.0 * UNIT * UNIT;

/// More than all products of a pass can lose to underflow.
pub const TINY: f64 = 1e-300;

/// All numbers within `rad` of `mid`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interval {
    /// The middle.
    pub mid: f64,
    /// Half of the width, ≥ 0.
    pub rad: f64,
}

impl Interval {
    /// A computed sum of terms of one sign, none of which was rounded more than so many times.
    pub fn of_sum(sum: f64, steps: f64) -> Interval {
        Interval { mid: sum, rad: roundings(steps) * sum.abs() + TINY }
    }

    /// A sum of terms of any sign, each of them off by at most so many roundings of itself.
    pub fn sum(terms: impl IntoIterator<Item = f64>, each: f64) -> Interval {
        let add = |[n, sum, size]: [f64; 3], x: f64| [n + 1.0, sum + x, size + x.abs()];
        let [n, sum, size] = terms.into_iter().fold([0.0; 3], add);
        Interval { mid: sum, rad: roundings(n + each) * size + TINY }
    }

    /// The same, of exact terms, added up in twice the digits: off by a rounding of the sum and next to none of what cancels.
    pub fn fine_sum(terms: impl IntoIterator<Item = f64>) -> Interval {
        Interval::fine(terms.into_iter().map(|x| Double::sum(x, 0.0)))
    }

    /// Σxy in twice the digits.
    pub fn dot(pairs: impl IntoIterator<Item = (f64, f64)>) -> Interval {
        Interval::fine(pairs.into_iter().map(|(x, y)| Double::product(x, y)))
    }

    fn fine(terms: impl Iterator<Item = Double>) -> Interval {
        let add = |(n, sum, size): (f64, Double, f64), x: Double| {
            (n + 1.0, sum.plus(x), size + x.high.abs())
        };
        let (n, sum, size) = terms.fold((0.0, Double::default(), 0.0), add);
        let mid = sum.high;
        Interval { mid, rad: 1.01 * UNIT * mid.abs() + FINE * n * size + TINY }
    }

    /// No number in it is larger.
    pub fn hi(self) -> f64 {
        past(self.mid, self.rad)
    }

    /// No number in it is smaller.
    pub fn lo(self) -> f64 {
        -past(-self.mid, self.rad)
    }

    /// No number in it is larger, whatever its sign.
    pub fn size(self) -> f64 {
        past(self.mid.abs(), self.rad)
    }

    /// With numbers that are farther off by so much.
    pub fn wider(self, by: f64) -> Interval {
        Interval { rad: self.rad + by, ..self }
    }

    /// (x/self + ν)/t, and at least 1/self but for three roundings; NaN unless self is positive, and where the
    /// roundings of ν/t are as large as the numbers −depth to 0 that this is a mean of.
    pub(crate) fn tilted_mean(self, x: Interval, depth: f64, t: f64, nu: f64) -> (Interval, f64) {
        let (low, flat) = (self.mid - self.radius(), 1.0 / t);
        let sane = low > 1e-300 && 4.0 * UNIT * (depth + 1.01 * nu.abs() * flat) <= depth;
        let inverse = 1.0 / if sane { low } else { f64::NAN };
        let mean = x.mid * inverse;
        let off = (x.rad + 2.1 * mean.abs() * self.rad) * inverse;
        let off = off + 7.0 * UNIT * (mean.abs() + nu.abs());
        (Interval { mid: (mean + nu) * flat, rad: off * flat + TINY }, inverse)
    }

    /// At least the exact radius.
    pub(crate) fn radius(self) -> f64 {
        (1.0 + 1e-9) * self.rad
    }
}

/// At least the exact result of which x is the rounded one.
pub fn above(x: f64) -> f64 {
    past(x, 0.0)
}

/// At least the numbers within `off`, itself off by a few roundings, of the exact result of which x is the rounded one.
fn past(x: f64, off: f64) -> f64 {
    x + ((1.0 + 1e-9) * off + (2.5 * UNIT * x.abs() + f64::MIN_POSITIVE))
}

/// x, or ∞ if that is NaN.
pub(crate) fn or_infinite(x: f64) -> f64 {
    if x.is_nan() { f64::INFINITY } else { x }
}

/// Whether x is positive and keeps all its digits.
pub(crate) fn normal(x: f64) -> bool {
    (f64::MIN_POSITIVE..=f64::MAX).contains(&x)
}

/// The relative error of so many roundings: (1 + u)^k − 1 ≤ 1.01·ku for k < 10¹³.
pub fn roundings(k: f64) -> f64 {
    1.01 * UNIT * k
}

impl From<f64> for Interval {
    fn from(x: f64) -> Interval {
        Interval { mid: x, rad: 0.0 }
    }
}

impl<T: Into<Interval>> Add<T> for Interval {
    type Output = Interval;
    fn add(self, other: T) -> Interval {
        let other = other.into();
        let mid = self.mid + other.mid;
        Interval { mid, rad: self.rad + other.rad + 1.01 * UNIT * mid.abs() }
    }
}

impl Mul<f64> for Interval {
    type Output = Interval;
    fn mul(self, x: f64) -> Interval {
        let mid = self.mid * x;
        Interval { mid, rad: self.rad * x.abs() + 1.01 * UNIT * mid.abs() + TINY }
    }
}

/// By a positive number, at least b: |a'/b' − a/b| ≤ (|a' − a| + |a/b||b' − b|)/b.
impl<T: Into<Interval>> Div<T> for Interval {
    type Output = Interval;
    fn div(self, by: T) -> Interval {
        let by = by.into();
        let inverse = 1.0 / (by.mid - by.radius());
        // NaN where b is, where it is not positive, or too small or large for its inverse.
        let inverse = if normal(inverse) { inverse } else { f64::NAN };
        let mid = self.mid * inverse;
        let off = (self.rad + 2.1 * mid.abs() * by.rad) * inverse;
        Interval { mid, rad: off + 4.0 * UNIT * mid.abs() + TINY }
    }
}

/// from + cost + maximum, `from` off by a rounding: what a row is worth at most, less the value of its state.
#[derive(Clone, Copy)]
pub(super) struct Level {
    sum: f64,
    off: f64,
}

impl Level {
    pub(super) fn new(from: f64, cost: f64, maximum: f64) -> Level {
        let off = 4.0 * UNIT * (from.abs() + cost.abs() + maximum.abs());
        Level { sum: from + cost + maximum, off }
    }

    /// At least the level plus a number within `off` of x.
    pub(super) fn above(self, x: f64, off: f64) -> f64 {
        past(self.sum + x, self.off + off)
    }

    /// At least as much with the other sign.
    pub(super) fn below(self, x: f64, off: f64) -> f64 {
        past(-(self.sum + x), self.off + off)
    }
}
