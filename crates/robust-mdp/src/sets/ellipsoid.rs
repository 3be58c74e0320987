//! The ellipsoid d(y, p) = ½‖y − p‖₂², a [quadratic](super::quadratic) set with r = 1:
//!   y = (p + tw − ν)₊.

use pulp::Simd;

use super::cone::{Cone, Entry, Moved, Program};
use super::proximal::omega::EllipsoidEntropy;
use super::proximal::ray::Ray;
use super::proximal::{Prox, Separable};
use super::quadratic::{self, Scale};
use super::set::{Beyond, Curve, Priced, RowKind, Set};
use super::unlisted::UnlistedSums;
use super::{Distance, EntryData, UncertaintySet};
use crate::certificate::verify::lane::Lane;
use crate::certificate::verify::sums::{Terms, steps};
use crate::certificate::{Interval, Proof, ProofRow, Reading, TINY, UNIT, roundings};
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

    fn distance(&self, p: &[f64], y: &[f64], _: EntryData<'_>) -> f64 {
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

    fn vacuous(&self, p: &[f64], unused: bool, _: EntryData<'_>) -> f64 {
        let least = p.iter().copied().filter(|p| *p > 0.0).fold(1.0, f64::min);
        let square: f64 = p.iter().map(|p| p * p).sum();
        (0.5 * (1.0 - 2.0 * if unused { 0.0 } else { least } + square)).max(0.0)
    }

    fn cone(&self) -> Option<&dyn Cone> {
        Some(self)
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

    fn curve(&self) -> Option<&dyn Curve> {
        Some(self)
    }
}

impl Curve for Ellipsoid {
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

    fn kind(&self) -> RowKind<'_> {
        RowKind::Quadratic(self)
    }
}

/// With h = tz − ν and c = min(p, −h): ŷ ∝ p − c, φ = max_{y ≥ 0} hy − ½(y − p)² = c(c/2 − p), and
///   ψ ≤ ν + Σφ,   t⟨z, ŷ⟩ = ν + Σ(p − c)(−c)/Σ(p − c).
/// States that are not listed have p = 0: c = −h where that is negative, else 0.
impl Proof for Ellipsoid {
    fn read(&self, row: &ProofRow<'_>, t: f64, nu: f64) -> Reading {
        let [mass, loss, linear, square] = row.sums(t, nu, *self);
        let UnlistedSums { mass: beyond, square: far, missed } = match row.unlisted {
            Some(unlisted) => UnlistedSums::new(unlisted, t, nu),
            None => UnlistedSums::NONE,
        };
        // The roundings of a sum, and more than there are in c and in what follows.
        let (n, rho) = (row.p.len() as f64, roundings(steps(row.p.len()) + 12.0));
        let (square, apart) = (square + far.mid, beyond.mid - loss);
        // ‖y − p‖, and by Cauchy and Schwarz Σp|c| ≤ Σp·‖c‖, Σp < 1.01, and Σ|c| ≤ √n‖c‖.
        let size = (square + (2.0 * (rho * square + far.rad) + TINY)).sqrt();
        // Of Σpc and Σc²; c is off by a rounding of h, at most u|c| where it is not p, and so is tz = ν − c.
        let off = rho * (1.01 * size + square) + (2.0 * far.rad + TINY);
        // Of Σ(y − p) and Σy.
        let astray = rho * (n.sqrt() * size + apart.abs() + mass) + (2.0 * beyond.rad + TINY);
        // p/Σp in place of p, at most κp away: φ moves by at most |c| with p.
        let kappa = 1.02 * ((1.0 - mass).abs() + rho);
        let other = 2.0 * kappa * (1.01 * size + kappa) + missed;
        let dual = (nu - linear + 0.5 * square) + (off + 4.0 * UNIT * nu.abs() + other);
        let own = Interval { mid: mass + apart, rad: astray };
        let (value, inverse) =
            own.tilted_mean(Interval { mid: square - linear, rad: off }, row.depth, t, nu);
        // y/M − p/P = (y − p)/M + p(P − M)/(MP), and ‖p‖ ≤ P.
        let distance = (size + apart.abs() + astray) * inverse;
        let spent = (0.5 + 1e-15) * (distance * distance) + TINY;
        if kappa < 0.01 { Reading { dual, value, spent } } else { Reading::NOTHING }
    }
}

/// Σp, Σc, Σpc and Σc².
impl Terms<4> for Ellipsoid {
    #[inline(always)]
    fn add<S: Simd>(self, to: [Lane<S>; 4], p: Lane<S>, x: Lane<S>) -> [Lane<S>; 4] {
        let c = x.at_most(p);
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
