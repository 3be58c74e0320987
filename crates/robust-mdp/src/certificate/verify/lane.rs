//! Doubles in a register, as wide as the machine has them. Every operation is rounded once, so that
//! results have the same bits on every machine.

use std::ops::{Add, Div, Mul, Sub};

use pulp::Simd;

#[derive(Clone, Copy)]
pub(crate) struct Lane<S: Simd> {
    pub(crate) simd: S,
    pub(crate) x: S::f64s,
}

/// The j-th register of eight numbers.
#[inline(always)]
pub(crate) fn load<S: Simd>(simd: S, x: &[f64; 8], j: usize) -> Lane<S> {
    Lane { simd, x: S::as_simd_f64s(x).0[j] }
}

impl<S: Simd> Lane<S> {
    /// Eight numbers are so many registers.
    pub(crate) const REGISTERS: usize = 64 / size_of::<S::f64s>();

    #[inline(always)]
    pub(crate) fn of(self, x: f64) -> Lane<S> {
        Lane { x: self.simd.splat_f64s(x), ..self }
    }

    /// `then` where self < limit, else `otherwise`.
    #[inline(always)]
    pub(crate) fn if_below(self, limit: Lane<S>, then: Lane<S>, otherwise: Lane<S>) -> Lane<S> {
        let below = self.simd.less_than_f64s(self.x, limit.x);
        Lane { x: self.simd.select_f64s(below, then.x, otherwise.x), ..self }
    }
}

macro_rules! operation {
    ($name:ident, $on:ident $(, $y:ident)*) => {
        impl<S: Simd> Lane<S> {
            #[inline(always)]
            pub(crate) fn $name(self $(, $y: Lane<S>)*) -> Lane<S> {
                Lane { x: self.simd.$on(self.x $(, $y.x)*), ..self }
            }
        }
    };
}
operation!(abs, abs_f64s);
operation!(sqrt, sqrt_f64s);
operation!(at_least, max_f64s, floor);
operation!(at_most, min_f64s, limit);
// self·y + z, rounded once.
operation!(mul_add, mul_add_f64s, y, z);

macro_rules! operator {
    ($trait:ident, $method:ident, $on:ident) => {
        impl<S: Simd> $trait for Lane<S> {
            type Output = Lane<S>;
            #[inline(always)]
            fn $method(self, y: Lane<S>) -> Lane<S> {
                Lane { x: self.simd.$on(self.x, y.x), ..self }
            }
        }
    };
}
operator!(Add, add, add_f64s);
operator!(Sub, sub, sub_f64s);
operator!(Mul, mul, mul_f64s);
operator!(Div, div, div_f64s);
