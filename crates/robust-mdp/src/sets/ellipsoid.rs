//! The ellipsoid d(y, p) = ½‖y − p‖₂², a [quadratic](super::quadratic) set with r = 1:
//!   y = (p + tw − ν)₊.

use pulp::Simd;

use super::proximal::Prox;
use super::proximal::omega::Ball;
use super::proximal::ray::Ray;
use super::quadratic::{self, Scale};
use super::set::{Beyond, Kind, Priced, Set};
use crate::geometry::Geometry;
use crate::rows::Row;

/// ½‖y − p‖₂².
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ellipsoid;

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
}

impl Set for Ellipsoid {
    fn name(&self) -> &'static str {
        "ellipsoid"
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

    fn kind(&self) -> Kind<'_> {
        Kind::Quadratic(self)
    }

    fn prox(&self, geometry: Geometry) -> Option<&dyn Prox> {
        match geometry {
            Geometry::Euclidean => Some(&Ray),
            Geometry::Entropy => Some(&Ball::Ellipsoid),
        }
    }
}
