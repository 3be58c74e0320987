//! The precision in which vectors and factors are kept; arithmetic is always in doubles.

use super::chunks::{Totals, products, rounded_products};

/// `f64`, or `f32` where memory counts and corrections need few digits.
pub(super) trait Scalar: Copy + Default + Send + Sync + 'static {
    /// Rounding of one number.
    const ROUNDING: f64;
    fn of(x: f64) -> Self;
    fn wide(self) -> f64;
    /// ⟨a, b⟩, ⟨a, a⟩ and max |aᵢ| of one chunk.
    fn products(a: &[Self], b: &[Self]) -> Totals;
    /// The slices themselves where they are doubles.
    fn doubles(a: &[Self]) -> Option<&[f64]>;
    fn doubles_mut(a: &mut [Self]) -> Option<&mut [f64]>;
}

impl Scalar for f64 {
    const ROUNDING: f64 = f64::EPSILON;
    fn of(x: f64) -> f64 {
        x
    }
    fn wide(self) -> f64 {
        self
    }
    fn products(a: &[f64], b: &[f64]) -> Totals {
        products(a, b)
    }
    fn doubles(a: &[f64]) -> Option<&[f64]> {
        Some(a)
    }
    fn doubles_mut(a: &mut [f64]) -> Option<&mut [f64]> {
        Some(a)
    }
}

impl Scalar for f32 {
    const ROUNDING: f64 = f32::EPSILON as f64;
    fn of(x: f64) -> f32 {
        x as f32
    }
    fn wide(self) -> f64 {
        f64::from(self)
    }
    fn products(a: &[f32], b: &[f32]) -> Totals {
        rounded_products(a, b)
    }
    fn doubles(_: &[f32]) -> Option<&[f64]> {
        None
    }
    fn doubles_mut(_: &mut [f32]) -> Option<&mut [f64]> {
        None
    }
}
