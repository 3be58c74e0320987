//! The ellipsoid d(y, p) = ½‖y − p‖₂², a [quadratic](super::quadratic) set with r = 1:
//!   y = (p + tw − ν)₊.

use pulp::{Simd, WithSimd};

use super::cone::{Cone, Entry, Moved, Program};
use super::proximal::omega::EllipsoidEntropy;
use super::proximal::ray::Ray;
use super::proximal::{Prox, Separable};
use super::quadratic::{self, Scale};
use super::set::{Beyond, Priced, RowKind, Set};
use super::unlisted::UnlistedSums;
use super::{Distance, UncertaintySet};
use crate::certificate::verify::lane::Lane;
use crate::certificate::verify::sums::{Terms, dispatch, steps};
use crate::certificate::{Interval, Proof, ProofRow, Reading, TINY, UNIT, above, roundings};
use crate::geometry::Geometry;
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

    fn kind(&self) -> RowKind<'_> {
        RowKind::Quadratic(self)
    }

    fn prox(&self, geometry: Geometry) -> Option<&dyn Prox> {
        match geometry {
            Geometry::Euclidean => Some(&Ray),
            Geometry::Entropy => Some(&Separable(EllipsoidEntropy)),
        }
    }

    fn proof(&self) -> Option<&dyn Proof> {
        Some(self)
    }
}

/// With h = tz − ν and c = min(p, −h): ŷ ∝ p − c, φ = max_{y ≥ 0} hy − ½(y − p)² = c(c/2 − p), and
///   ψ ≤ ν + Σφ,   t⟨z, ŷ⟩ = ν + Σ(p − c)(−c)/Σ(p − c).
/// States that are not listed have p = 0: c = −h where that is negative, else 0.
impl Proof for Ellipsoid {
    fn read(&self, row: &ProofRow<'_>, t: f64, nu: f64) -> Reading {
        dispatch(Proved { row, t, nu })
    }
}

struct Proved<'a> {
    row: &'a ProofRow<'a>,
    t: f64,
    nu: f64,
}

impl WithSimd for Proved<'_> {
    type Output = Reading;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Reading {
        let Proved { row, t, nu } = self;
        // Beyond that a row's maximum says as much.
        let sane = 4.0 * UNIT * (row.depth + 1.01 * nu.abs() * (1.0 / t)) <= row.depth;
        let (n, steps) = (row.p.len() as f64, steps(row.p.len()));
        let [mass, loss, linear, square] = row.sums(simd, Losses { t, nu, maximum: row.maximum });
        let UnlistedSums { mass: beyond, square: far, missed } = match row.unlisted {
            Some(unlisted) => UnlistedSums::new(simd, unlisted, t, nu),
            None => UnlistedSums::NONE,
        };
        let rho = roundings(steps);
        let (mass, all) = (Interval::of_sum(mass, steps), Interval::of_sum(square, steps) + far);
        // ‖y − p‖, and by Cauchy and Schwarz Σ|c| and Σp|c|.
        let size = above(all.hi().sqrt());
        let (sum, slope) = (size * n.sqrt(), mass.hi() * size);
        // c is off by a rounding of h, at most u|c| where it is not p; so is tz = ν − c.
        let rounding = 1.1 * UNIT * (slope + square);
        let linear = Interval { mid: -linear, rad: rho * slope + rounding + TINY };
        // p/Σp in place of p, at most κp away: φ moves by at most |c| with p.
        let kappa = 1.02 * ((1.0 - mass.mid).abs() + 2.0 * rho);
        let near = (1.0 - mass.mid).abs() < 0.01;
        let other = if near { 2.0 * kappa * (slope + kappa) } else { f64::NAN };
        let mut dual = linear + all * 0.5 + nu;
        dual.rad += other + missed;
        let apart = Interval { mid: -loss, rad: rho * sum + TINY } + beyond;
        let own = mass + apart;
        let value = ((linear + all) / own + nu) / t;
        // y/M − p/P = (y − p)/M + p(P − M)/(MP), and ‖p‖ ≤ P.
        let way = apart.size() + size;
        let distance = (Interval::from(above(way)) / own).hi();
        let spent = above(0.5 * (distance * distance));
        if sane { Reading { dual: dual.hi(), value, spent } } else { Reading::NOTHING }
    }
}

/// Σp, Σc, Σpc and Σc².
#[derive(Clone, Copy)]
struct Losses {
    t: f64,
    nu: f64,
    maximum: f64,
}

impl Terms<4> for Losses {
    #[inline(always)]
    fn add<S: Simd>(self, to: [Lane<S>; 4], p: Lane<S>, w: Lane<S>) -> [Lane<S>; 4] {
        let [t, nu, maximum] = [self.t, self.nu, self.maximum].map(|x| p.of(x));
        let c = t.mul_add(maximum - w, nu).at_most(p);
        [to[0] + p, to[1] + c, p.mul_add(c, to[2]), c.mul_add(c, to[3])]
    }
}

/// ‖z‖₂ ≤ 1 for z = √κ(y − p)/√(2α); entries with p above √(2α/κ) cannot become negative.
impl Cone for Ellipsoid {
    fn scale(&self, entry: Entry, _: usize) -> f64 {
        (2.0 * entry.budget / entry.weight).sqrt()
    }

    fn reach(&self, budget: f64) -> f64 {
        (2.0 * budget).sqrt().min(1.0)
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
