//! Numbers with a bound on their distance from the exact ones.
//!
//! A rounded operation is off by at most u of its result, or, where a product or quotient underflows,
//! by less than [`TINY`]. Radii are sums and products of positive numbers, rounded a few times: a
//! billionth more than the computed one is at least the exact one. What is not a number, or infinite,
//! proves nothing.

use std::ops::{Add, Div, Mul};

/// Half the distance from 1 to the next double: a rounded operation is off by at most this share.
pub(super) const UNIT: f64 = f64::EPSILON / 2.0;

/// More than all products of a pass can lose to underflow.
pub(super) const TINY: f64 = 1e-300;

/// A number in mid ± rad.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ball {
    pub(super) mid: f64,
    pub(super) rad: f64,
}

impl Ball {
    /// A computed sum over a row, of terms of one sign, none of which went through more than so many `steps`.
    #[inline(always)]
    pub(super) fn of_sum(sum: f64, steps: f64) -> Ball {
        Ball { mid: sum, rad: roundings(steps) * sum.abs() + TINY }
    }

    /// All numbers from lo to hi.
    #[inline(always)]
    pub(super) fn between(lo: f64, hi: f64) -> Ball {
        let mid = 0.5 * lo + 0.5 * hi;
        Ball { mid, rad: 0.5 * hi - 0.5 * lo + 2.0 * UNIT * mid.abs() + TINY }
    }

    #[inline(always)]
    pub(super) fn hi(self) -> f64 {
        above(self.mid + self.radius())
    }

    #[inline(always)]
    pub(super) fn lo(self) -> f64 {
        -above(self.radius() - self.mid)
    }

    /// At least the exact radius.
    #[inline(always)]
    pub(super) fn radius(self) -> f64 {
        (1.0 + 1e-9) * self.rad
    }
}

/// At least the exact result of which x is the rounded one.
#[inline(always)]
pub(super) fn above(x: f64) -> f64 {
    x + (2.5 * UNIT * x.abs() + f64::MIN_POSITIVE)
}

/// x, or ∞ if that is not a number.
#[inline(always)]
pub(super) fn or_infinite(x: f64) -> f64 {
    if x.is_nan() { f64::INFINITY } else { x }
}

/// The relative error of so many roundings: (1 + u)^k − 1 ≤ 1.01·ku for k < 10¹³.
#[inline(always)]
pub(super) fn roundings(k: f64) -> f64 {
    1.01 * UNIT * k
}

impl From<f64> for Ball {
    #[inline(always)]
    fn from(x: f64) -> Ball {
        Ball { mid: x, rad: 0.0 }
    }
}

impl<T: Into<Ball>> Add<T> for Ball {
    type Output = Ball;
    #[inline(always)]
    fn add(self, other: T) -> Ball {
        let other = other.into();
        let mid = self.mid + other.mid;
        Ball { mid, rad: self.rad + other.rad + 1.01 * UNIT * mid.abs() }
    }
}

impl Mul<f64> for Ball {
    type Output = Ball;
    #[inline(always)]
    fn mul(self, x: f64) -> Ball {
        let mid = self.mid * x;
        Ball { mid, rad: self.rad * x.abs() + 1.01 * UNIT * mid.abs() + TINY }
    }
}

/// By a positive number, at least b: |a'/b' − a/b| ≤ (|a' − a| + |a/b||b' − b|)/b.
impl Div for Ball {
    type Output = Ball;
    #[inline(always)]
    fn div(self, by: Ball) -> Ball {
        let b = by.mid - by.radius();
        let inverse = 1.0 / b;
        // Not a number where b is none, not positive, or too small or large for its inverse.
        let usable = (f64::MIN_POSITIVE..=f64::MAX).contains(&inverse);
        let inverse = if usable { inverse } else { f64::NAN };
        let mid = self.mid * inverse;
        let off = (self.rad + 2.1 * mid.abs() * by.rad) * inverse;
        Ball { mid, rad: off + 4.0 * UNIT * mid.abs() + TINY }
    }
}

/// At least the sum of numbers of which the first may be off by a rounding: three more each.
#[inline(always)]
pub(super) fn sum_above([a, b, c, d, off]: [f64; 5]) -> f64 {
    let size = (a.abs() + b.abs()) + (c.abs() + d.abs()) + off.abs();
    above((a + b) + (c + d) + (off + 4.1 * UNIT * size))
}

/// A sum of numbers of any sign that may be off by three roundings each.
#[derive(Clone, Copy, Default)]
pub(super) struct Sum {
    terms: f64,
    sum: f64,
    size: f64,
}

impl Sum {
    #[inline(always)]
    pub(super) fn add(&mut self, x: f64) {
        (self.terms, self.sum, self.size) = (self.terms + 1.0, self.sum + x, self.size + x.abs());
    }

    /// In pairs.
    #[inline(always)]
    pub(super) fn add_eight(&mut self, x: [f64; 8]) {
        let sum = |[a, b, c, d, e, f, g, h]: [f64; 8]| ((a + e) + (c + g)) + ((b + f) + (d + h));
        let (sum, size) = (sum(x), sum(x.map(f64::abs)));
        (self.terms, self.sum, self.size) = (self.terms + 8.0, self.sum + sum, self.size + size);
    }

    #[inline(always)]
    pub(super) fn ball(self) -> Ball {
        Ball { mid: self.sum, rad: 1.01 * UNIT * (self.terms + 2.0) * self.size + TINY }
    }
}
