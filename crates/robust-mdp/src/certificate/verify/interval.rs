//! Intervals of doubles that contain the exact result of every operation.
//!
//! A rounded result differs from the exact one by at most u of itself (or underflows): 2.5u on either
//! side are enough, rounded themselves. What is not a number, or infinite,
//! becomes the whole line: it proves nothing.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// Half the distance from 1 to the next double: a rounded operation is off by at most this share.
pub(super) const UNIT: f64 = f64::EPSILON / 2.0;

/// More than all products of a pass can lose to underflow.
pub(super) const TINY: f64 = 1e-300;

/// lo ≤ x ≤ hi.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    pub(super) lo: f64,
    pub(super) hi: f64,
}

impl Interval {
    pub(super) const ZERO: Interval = Interval { lo: 0.0, hi: 0.0 };

    fn new(lo: f64, hi: f64) -> Interval {
        match lo <= hi {
            true => Interval { lo, hi },
            false => Interval { lo: f64::NEG_INFINITY, hi: f64::INFINITY },
        }
    }

    /// x ± error.
    pub(super) fn around(x: f64, error: f64) -> Interval {
        Interval::new(below(x - error), above(x + error))
    }

    /// A computed sum of `terms` numbers of one sign in eight accumulators, each of them off by at
    /// most `each` roundings itself: (1 + u)^k − 1 ≤ 1.01·ku for k < 10⁹.
    pub(super) fn of_sum(sum: f64, terms: usize, each: f64) -> Interval {
        Interval::around(sum, roundings(terms, each) * sum.abs() + TINY)
    }

    /// The largest |x|.
    pub(super) fn magnitude(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    pub(super) fn sqrt(self) -> Interval {
        Interval::new(below(self.lo.max(0.0).sqrt()), above(self.hi.sqrt()))
    }
}

/// At most the exact result of which x is the rounded one.
pub(super) fn below(x: f64) -> f64 {
    x - (2.5 * UNIT * x.abs() + f64::MIN_POSITIVE)
}

/// At least the exact result of which x is the rounded one.
pub(super) fn above(x: f64) -> f64 {
    x + (2.5 * UNIT * x.abs() + f64::MIN_POSITIVE)
}

/// The relative error of a sum of so many terms in eight accumulators, which are added in pairs.
pub(super) fn roundings(terms: usize, each: f64) -> f64 {
    1.01 * UNIT * (terms as f64 / 8.0 + 3.0 + each)
}

impl From<f64> for Interval {
    fn from(x: f64) -> Interval {
        Interval::new(x, x)
    }
}

impl Neg for Interval {
    type Output = Interval;
    fn neg(self) -> Interval {
        Interval { lo: -self.hi, hi: -self.lo }
    }
}

impl<T: Into<Interval>> Add<T> for Interval {
    type Output = Interval;
    fn add(self, other: T) -> Interval {
        let other = other.into();
        Interval::new(below(self.lo + other.lo), above(self.hi + other.hi))
    }
}

impl<T: Into<Interval>> Sub<T> for Interval {
    type Output = Interval;
    fn sub(self, other: T) -> Interval {
        self + -other.into()
    }
}

impl<T: Into<Interval>> Mul<T> for Interval {
    type Output = Interval;
    fn mul(self, other: T) -> Interval {
        let (a, b) = (self, other.into());
        let all = [a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi];
        if all.iter().any(|x| x.is_nan()) {
            return Interval::new(f64::NAN, f64::NAN);
        }
        let low = all.iter().fold(f64::INFINITY, |m, x| m.min(*x));
        let high = all.iter().fold(f64::NEG_INFINITY, |m, x| m.max(*x));
        Interval::new(below(low), above(high))
    }
}

impl<T: Into<Interval>> Div<T> for Interval {
    type Output = Interval;
    fn div(self, other: T) -> Interval {
        let (a, b) = (self, other.into());
        if b.lo <= 0.0 || b.lo.is_nan() {
            return Interval::new(f64::NAN, f64::NAN);
        }
        let low = a.lo / if a.lo < 0.0 { b.lo } else { b.hi };
        let high = a.hi / if a.hi < 0.0 { b.hi } else { b.lo };
        Interval::new(below(low), above(high))
    }
}
