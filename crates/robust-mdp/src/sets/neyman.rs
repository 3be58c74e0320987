//! Neyman's set d(y, p) = Σ(y − p)²/y, rows of which are [those of one scalar](super::cressie_read) with e = ½:
//!   y = p/√s,  s = η + t(max w − w),  d = Σys − 1,  ψ ≤ η + 1 − 2Σp√s for every η ≥ 0.

use pulp::Simd;

use super::cone::{Cone, Entry, Moved, Program};
use super::cressie_read::proof::{Far, Members, Near};
use super::cressie_read::{self, CressieRead, Tilted};
use super::proximal::{Prox, ProximalEntry, Separable};
use super::set::{Beyond, Curve, Priced, RowKind, Set};
use super::{Distance, EntryData, UncertaintySet};
use crate::certificate::verify::lane::Lane;
use crate::certificate::{Interval, Proof, ProofRow, Reading};
use crate::geometry::Geometry;
use crate::rows::Row;

/// Newton's steps for an entry, far more than there are.
const STEPS: usize = 200;

/// Σ(y − p)²/y.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neyman;

impl UncertaintySet {
    /// Σ_a Σ(y_a − y⁰_a)²/y_a ≤ radius in every state, mass allowed everywhere.
    pub fn neyman(radius: f64) -> Self {
        UncertaintySet::new(Distance::Neyman, radius)
    }
}

impl CressieRead for Neyman {
    const E: f64 = 0.5;

    #[inline(always)]
    fn power<S: Simd>(simd: S, inverse: S::f64s) -> S::f64s {
        simd.sqrt_f64s(inverse)
    }

    /// rf/(1 + √s), √s = sf.
    #[inline(always)]
    fn lost<S: Simd>(simd: S, r: S::f64s, s: S::f64s, f: S::f64s) -> S::f64s {
        let root = simd.mul_add_e_f64s(s, f, simd.splat_f64s(1.0));
        simd.div_f64s(simd.mul_f64s(r, f), root)
    }

    fn root(mass: f64) -> f64 {
        mass * mass
    }

    fn shift(lost: f64) -> f64 {
        -lost * (2.0 - lost)
    }

    /// Σys − 1, Σys = η + tG.
    fn price(_: Row<'_>, of: &Tilted) -> f64 {
        of.nu + of.fall
    }
}

impl Set for Neyman {
    fn name(&self) -> &'static str {
        "neyman"
    }

    fn title(&self) -> &'static str {
        "Neyman"
    }

    fn formula(&self) -> &'static str {
        "Σ (y − y⁰)²/y"
    }

    fn distance(&self, p: &[f64], y: &[f64], _: EntryData<'_>) -> f64 {
        let entry = |(&p, &y): (&f64, &f64)| match y == p {
            true => 0.0,
            false => (y - p) * ((y - p) / y),
        };
        p.iter().zip(y).map(entry).sum()
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
            Geometry::Euclidean => Some(&Separable(Neyman)),
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

impl Curve for Neyman {
    fn at(&self, row: Row<'_>, t: f64, near: Option<Priced>) -> Priced {
        cressie_read::at::<Neyman>(row, t, near)
    }

    fn price(&self, row: Row<'_>, u: f64, slack: f64, near: Option<Priced>) -> Priced {
        cressie_read::price::<Neyman>(row, u, slack, near)
    }

    fn face(&self, row: Row<'_>) -> f64 {
        cressie_read::steep_face(row)
    }

    fn kernel(&self, row: Row<'_>, at: Priced, y: &mut [f64]) -> Beyond {
        cressie_read::kernel::<Neyman>(row, at, y)
    }

    fn kind(&self) -> RowKind<'_> {
        RowKind::Smooth
    }
}

/// With y = p + m, m²/y ≤ τ is the rotated second-order cone m² ≤ τy, and m ≤ τ for p = 0. The budget is
/// Σκτ ≤ α, and τ = (α/κ)σ, m = wz for w = √(pα/κ) + α/κ.
impl Cone for Neyman {
    fn scale(&self, entry: Entry, _: usize) -> f64 {
        let share = entry.budget / entry.weight;
        ((entry.p * share).sqrt() + share).min(1.0)
    }

    fn reach(&self, budget: f64) -> f64 {
        budget.sqrt().min(1.0)
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
            // z² ≤ σ·(unit·y/w), as ‖(2z, σ − unit·y/w)‖ ≤ σ + unit·y/w.
            let from = unit * z.entry.p / z.scale;
            program.line(from, [(share, -1.0), (z.variable, -unit)]);
            program.line(0.0, [(z.variable, -2.0)]);
            program.line(-from, [(share, -1.0), (z.variable, unit)]);
            program.second_order();
        }
    }
}

/// y + s(1 − p²/y²) = z: the root of y³ − (z − s)y² − sp² = 0.
impl ProximalEntry for Neyman {
    fn set(&self) -> &dyn Set {
        self
    }

    fn at(&self, z: f64, p: f64, s: f64) -> (f64, f64) {
        let (pull, free) = (s * p * p, z - s);
        if pull <= 0.0 {
            // No entry with p > 0 vanishes.
            let least = p.min(f64::MIN_POSITIVE);
            return if free > least { (free, 1.0) } else { (least, 0.0) };
        }
        // Convex and rising from the root on: Newton's method from the right.
        let above = free.max(0.0) + pull.cbrt();
        let mut y = if free < 0.0 { above.min(p * (s / -free).sqrt()) } else { above };
        for _ in 0..STEPS {
            let step = ((y - free) * y * y - pull) / (y * (3.0 * y - 2.0 * free));
            if step.is_nan() || step <= 4e-16 * y {
                break;
            }
            y -= step;
        }
        // dy/dz = 1/(1 + 2sp²/y³).
        (y, 1.0 / (1.0 + 2.0 * pull / (y * y * y)))
    }

    fn is_steep(&self) -> bool {
        true
    }

    fn normal(&self, y: f64, p: f64) -> f64 {
        (y - p) / y * ((y + p) / y)
    }
}

/// φ and d as sums over entries, and what goes into bounds of them.
impl Proof for Neyman {
    fn read(&self, row: &ProofRow<'_>, t: f64, eta: f64) -> Reading {
        cressie_read::proof::read(*self, row, t, eta)
    }
}

impl Members for Neyman {
    const E: f64 = 0.5;

    /// 2δ/(1 + √s), δ/(√s(1 + √s)) and 1/√s.
    #[inline(always)]
    fn near<S: Simd>(self, delta: Lane<S>, s: Lane<S>) -> Near<S> {
        let (one, root) = (s.of(1.0), s.sqrt());
        let (power, half) = (one / root, delta / (one + root));
        Near { loss: half + half, lost: half * power, power }
    }

    /// √s, 1/√s and √s.
    #[inline(always)]
    fn far<S: Simd>(self, s: Lane<S>) -> Far<S> {
        let root = s.sqrt();
        Far { dual: root, power: s.of(1.0) / root, fall: root }
    }

    /// η + 1 − 2Σp√s and Σp√s − 1.
    const DUAL: [f64; 2] = [1.0, -2.0];
    const SPENT: [f64; 2] = [-1.0, 1.0];

    /// MB − 1 = B − 1 + (M − 1)B, B = Σp√s.
    fn divided(spent: Interval) -> Interval {
        spent + 1.0
    }
}
