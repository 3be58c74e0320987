//! The Burg set d(y, p) = Σp ln(p/y), rows of which are [those of one scalar](super::cressie_read) with e = 1:
//!   y = p/s,  s = η + t(max w − w),  d = Σp ln s,  ψ ≤ η − 1 − Σp ln s for every η ≥ 0.
//! Its price is Owen's empirical likelihood.

use pulp::Simd;

use super::cone::{Cone, Entry, Moved, Program};
use super::cressie_read::proof::{Far, Members, Near};
use super::cressie_read::{self, CressieRead, Tilted};
use super::logarithm;
use super::proximal::{Prox, ProximalEntry, Separable};
use super::set::{Beyond, Curve, Priced, RowKind, Set};
use super::{Distance, EntryData, UncertaintySet};
use crate::certificate::verify::lane::Lane;
use crate::certificate::{Interval, Proof, ProofRow, Reading};
use crate::geometry::Geometry;
use crate::lanes::{kernels, ln, ln_1p_small, walk};
use crate::rows::Row;

/// Σp ln(p/y).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Burg;

impl UncertaintySet {
    /// Σ_a Σy⁰_a ln(y⁰_a/y_a) ≤ radius in every state, mass allowed everywhere.
    pub fn burg(radius: f64) -> Self {
        UncertaintySet::new(Distance::Burg, radius)
    }
}

impl CressieRead for Burg {
    const E: f64 = 1.0;

    #[inline(always)]
    fn power<S: Simd>(_: S, inverse: S::f64s) -> S::f64s {
        inverse
    }

    /// rf.
    #[inline(always)]
    fn lost<S: Simd>(simd: S, r: S::f64s, _: S::f64s, f: S::f64s) -> S::f64s {
        simd.mul_f64s(r, f)
    }

    fn root(mass: f64) -> f64 {
        mass
    }

    fn shift(lost: f64) -> f64 {
        -lost
    }

    /// Σp ln s.
    fn price(row: Row<'_>, of: &Tilted) -> f64 {
        let scale = if of.near { of.nu.ln_1p() } else { of.scale.ln() };
        logarithms(row, of.a, of.b, of.near) + scale
    }
}

kernels! {
    /// Σp ln(a + bx); `near`: a = 1 and bx is small.
    fn logarithms<'a>(simd, row: Row<'a>, a: f64, b: f64, near: bool) -> f64 {
        let Row { p, w, maximum, .. } = row;
        let (zero, a, b) = (simd.splat_f64s(0.0), simd.splat_f64s(a), simd.splat_f64s(b));
        let (maximum, least) = (simd.splat_f64s(maximum), simd.splat_f64s(f64::MIN_POSITIVE));
        let mut sum = zero;
        walk!(simd, [p, w] => |p, w| {
            let r = simd.mul_f64s(b, simd.max_f64s(simd.sub_f64s(maximum, w), zero));
            // Lanes beyond the row may hold anything, and have p = 0.
            let r = simd.select_f64s(simd.less_than_f64s(zero, p), r, zero);
            let log = if near {
                ln_1p_small(simd, r)
            } else {
                ln(simd, simd.max_f64s(simd.add_f64s(a, r), least))
            };
            sum = simd.mul_add_e_f64s(p, log, sum);
        });
        simd.reduce_sum_f64s(sum)
    }
}

impl Set for Burg {
    fn name(&self) -> &'static str {
        "burg"
    }

    fn title(&self) -> &'static str {
        "Burg"
    }

    fn formula(&self) -> &'static str {
        "Σ y⁰ ln(y⁰/y)"
    }

    /// p ln(p/y) + (y − p), whose second part sums to zero, loses no digits near y = p.
    fn distance(&self, p: &[f64], y: &[f64], _: EntryData<'_>) -> f64 {
        let entry = |(&p, &y): (&f64, &f64)| {
            let log = if 0.5 * p < y && y < 2.0 * p { ((y - p) / p).ln_1p() } else { (y / p).ln() };
            if p > 0.0 { (y - p) - p * log } else { y }
        };
        p.iter().zip(y).map(entry).sum::<f64>().max(0.0)
    }

    fn leaves_support(&self) -> bool {
        true
    }

    fn diameter(&self) -> f64 {
        f64::INFINITY
    }

    /// Nothing is allowed that a row has no mass on.
    fn vacuous(&self, p: &[f64], unused: bool, _: EntryData<'_>) -> f64 {
        cressie_read::unbounded(p, unused)
    }

    fn cone(&self) -> Option<&dyn Cone> {
        Some(self)
    }

    fn prox(&self, geometry: Geometry) -> Option<&dyn Prox> {
        match geometry {
            Geometry::Euclidean => Some(&Separable(Burg)),
            Geometry::Entropy => None,
        }
    }

    fn proof(&self) -> Option<&dyn Proof> {
        Some(self)
    }

    fn curve(&self) -> Option<&dyn Curve> {
        Some(self)
    }
}

impl Curve for Burg {
    fn at(&self, row: Row<'_>, t: f64, near: Option<Priced>) -> Priced {
        cressie_read::at::<Burg>(row, t, near)
    }

    fn price(&self, row: Row<'_>, u: f64, slack: f64, near: Option<Priced>) -> Priced {
        cressie_read::price::<Burg>(row, u, slack, near)
    }

    fn face(&self, row: Row<'_>) -> f64 {
        cressie_read::steep_face(row)
    }

    fn kernel(&self, row: Row<'_>, at: Priced, y: &mut [f64]) -> Beyond {
        cressie_read::kernel::<Burg>(row, at, y)
    }

    fn kind(&self) -> RowKind<'_> {
        RowKind::Smooth
    }
}

/// With τ ≥ p ln(p/y) + y − p, in units of its share of the budget, and r = y/w, r⁰ = p/w:
///   r⁰e^{−(τ − (y − p))/(wr⁰)} ≤ r, an exponential cone; y ≤ τ for p = 0,  Σκτ ≤ α.
impl Cone for Burg {
    fn scalings(&self) -> usize {
        3
    }

    fn scale(&self, entry: Entry, scaling: usize) -> f64 {
        let share = (entry.budget / entry.weight).min(1.0);
        let moves = ((2.0 * entry.p * share).sqrt() + share).min(1.0);
        [moves, 1.0, entry.p.max(share)][scaling]
    }

    fn reach(&self, budget: f64) -> f64 {
        (2.0 * budget).sqrt().min(1.0)
    }

    fn may_vanish(&self, entry: Entry) -> bool {
        entry.p == 0.0
    }

    fn budget(&self, program: &mut Program, moved: &[Moved]) {
        let shares: Vec<usize> = moved.iter().map(|_| program.variable()).collect();
        program.line(1.0, shares.iter().map(|&share| (share, 1.0)));
        for (z, &share) in moved.iter().zip(&shares).filter(|(z, _)| z.entry.p == 0.0) {
            let unit = z.entry.budget / z.entry.weight / z.scale;
            program.line(0.0, [(z.variable, 1.0), (share, -unit)]);
        }
        program.nonnegative();
        for (z, &share) in moved.iter().zip(&shares).filter(|(z, _)| z.entry.p > 0.0) {
            let unit = z.entry.budget / z.entry.weight / z.scale;
            let from = z.entry.p / z.scale;
            program.line(0.0, [(share, unit), (z.variable, -1.0)]);
            program.line(from, []);
            program.line(from, [(z.variable, -1.0)]);
            program.exponential();
        }
    }
}

/// y + s(1 − p/y) = z: the larger root of y² − (z − s)y − sp = 0.
impl ProximalEntry for Burg {
    fn set(&self) -> &dyn Set {
        self
    }

    fn at(&self, z: f64, p: f64, s: f64) -> (f64, f64) {
        let (pull, free) = (s * p, z - s);
        if pull <= 0.0 {
            // No entry with p > 0 vanishes.
            let least = if p > 0.0 { f64::MIN_POSITIVE } else { 0.0 };
            return if free > least { (free, 1.0) } else { (least, 0.0) };
        }
        let root = free.hypot(2.0 * pull.sqrt());
        let y = if free > 0.0 { 0.5 * (free + root) } else { 2.0 * pull / (root - free) };
        // dy/dz = 1/(1 + sp/y²), y² = free·y + pull.
        (y.max(f64::MIN_POSITIVE), y / root)
    }

    fn is_steep(&self) -> bool {
        true
    }

    fn normal(&self, y: f64, p: f64) -> f64 {
        (y - p) / y
    }
}

/// φ and d as sums over entries, and what goes into bounds of them.
impl Proof for Burg {
    fn read(&self, row: &ProofRow<'_>, t: f64, eta: f64) -> Reading {
        cressie_read::proof::read(*self, row, t, eta)
    }
}

impl Members for Burg {
    const E: f64 = 1.0;

    /// ln(1 + δ), δ/s and 1/s.
    #[inline(always)]
    fn near<S: Simd>(self, delta: Lane<S>, s: Lane<S>) -> Near<S> {
        let inverse = s.of(1.0) / s;
        Near { loss: logarithm::ln_1p(delta, s), lost: delta * inverse, power: inverse }
    }

    /// ln s, 1/s and 1.
    #[inline(always)]
    fn far<S: Simd>(self, s: Lane<S>) -> Far<S> {
        Far { dual: logarithm::ln(s), power: s.of(1.0) / s, fall: s.of(1.0) }
    }

    /// η − 1 − Σp ln s and Σp ln s.
    const DUAL: [f64; 2] = [-1.0, -1.0];
    const SPENT: [f64; 2] = [0.0, 1.0];

    /// Σp ln(Mp/y) ≤ Σp ln s + (M − 1).
    fn divided(_: Interval) -> Interval {
        Interval::from(1.0)
    }
}
