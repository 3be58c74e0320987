//! The ellipsoid d(y, p) = ½‖y − p‖₂², a [quadratic](super::quadratic) set with r = 1:
//!   y = (p + tw − ν)₊.

use pulp::Simd;

use super::cone::{Cone, Entry, Moved, Program};
use super::quadratic::{self, Scale};
use super::set::{Beyond, Kind, Priced, Set};
use super::{Distance, UncertaintySet};
use crate::rows::Row;

/// ½‖y − p‖₂².
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ellipsoid;

impl UncertaintySet {
    /// Σ_a ½‖y_a − y⁰_a‖₂² ≤ radius in every state, mass allowed everywhere.
    pub fn ellipsoid(radius: f64) -> Self {
        UncertaintySet::new(Distance::Ellipsoid, radius)
    }
}

impl Scale for Ellipsoid {
    #[inline(always)]
    fn r<S: Simd>(simd: S, _: S::f64s) -> S::f64s {
        simd.splat_f64s(1.0)
    }

    #[inline(always)]
    fn q<S: Simd>(_: S, p: S::f64s) -> S::f64s {
        p
    }

    const OUTSIDE: f64 = 1.0;
    const MOST: f64 = 1.0;
    const HEAVY: bool = false;
}

impl Set for Ellipsoid {
    fn name(&self) -> &'static str {
        "ellipsoid"
    }

    fn formula(&self) -> &'static str {
        "½‖y − y⁰‖₂²"
    }

    fn distance(&self, p: &[f64], y: &[f64]) -> f64 {
        0.5 * p.iter().zip(y).map(|(p, y)| (y - p) * (y - p)).sum::<f64>()
    }

    fn leaves_support(&self) -> bool {
        true
    }

    fn degree(&self) -> i32 {
        2
    }

    fn diameter(&self) -> f64 {
        1.0
    }

    fn vacuous(&self, p: &[f64], unused: bool) -> f64 {
        let least = p.iter().copied().filter(|p| *p > 0.0).fold(1.0, f64::min);
        let square: f64 = p.iter().map(|p| p * p).sum();
        (0.5 * (1.0 - 2.0 * if unused { 0.0 } else { least } + square)).max(0.0)
    }

    fn at(&self, row: Row<'_>, t: f64, near: Option<Priced>) -> Priced {
        quadratic::at(self, row, t, near)
    }

    fn price(&self, row: Row<'_>, u: f64, slack: f64, near: Option<Priced>) -> Priced {
        quadratic::price(self, row, u, slack, near)
    }

    fn face(&self, row: Row<'_>) -> f64 {
        quadratic::face(self, row)
    }

    fn kernel(&self, row: Row<'_>, at: Priced, y: &mut [f64]) -> Beyond {
        quadratic::kernel(self, row, at, y)
    }

    fn cone(&self) -> Option<&dyn Cone> {
        Some(self)
    }

    fn kind(&self) -> Kind<'_> {
        Kind::Quadratic(self)
    }
}

/// ‖z‖₂ ≤ 1 for z = √κ(y − p)/√(2α); entries with p above √(2α/κ) cannot become negative.
impl Cone for Ellipsoid {
    fn scale(&self, entry: Entry, _: usize) -> f64 {
        (2.0 * entry.budget / entry.weight).sqrt()
    }

    fn reach(&self, budget: f64) -> f64 {
        (2.0 * budget).sqrt()
    }

    fn may_vanish(&self, entry: Entry) -> bool {
        entry.p < self.scale(entry, 0)
    }

    fn budget(&self, program: &mut Program, moved: &[Moved]) {
        program.line(1.0, []);
        moved.iter().for_each(|z| program.line(0.0, [(z.variable, -1.0)]));
        program.second_order();
    }
}
