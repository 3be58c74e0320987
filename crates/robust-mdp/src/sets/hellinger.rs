//! The Hellinger set d(y, p) = Σ(√y − √p)², rows of which are [those of one scalar](super::cressie_read) with e = 2:
//!   y = p/s²,  s = η + t(max w − w),  d = 2(1 − Σys),  ψ ≤ η − 2 + Σp/s for every η ≥ 0.

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

/// Σ(√y − √p)².
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hellinger;

impl UncertaintySet {
    /// Σ_a Σ(√y_a − √y⁰_a)² ≤ radius in every state, mass allowed everywhere.
    pub fn hellinger(radius: f64) -> Self {
        UncertaintySet::new(Distance::Hellinger, radius)
    }
}

impl CressieRead for Hellinger {
    const E: f64 = 2.0;

    #[inline(always)]
    fn power<S: Simd>(simd: S, inverse: S::f64s) -> S::f64s {
        simd.mul_f64s(inverse, inverse)
    }

    /// r(1 + s)f.
    #[inline(always)]
    fn lost<S: Simd>(simd: S, r: S::f64s, s: S::f64s, f: S::f64s) -> S::f64s {
        simd.mul_f64s(simd.mul_f64s(r, f), simd.add_f64s(s, simd.splat_f64s(1.0)))
    }

    fn root(mass: f64) -> f64 {
        mass.sqrt()
    }

    fn shift(lost: f64) -> f64 {
        -lost / ((1.0 - lost).sqrt() + 1.0)
    }

    /// 2(1 − Σys), Σys = η + tG.
    fn price(_: Row<'_>, of: &Tilted) -> f64 {
        -2.0 * (of.nu + of.fall)
    }
}

impl Set for Hellinger {
    fn name(&self) -> &'static str {
        "hellinger"
    }

    fn title(&self) -> &'static str {
        "Hellinger"
    }

    fn formula(&self) -> &'static str {
        "Σ (√y − √y⁰)²"
    }

    fn distance(&self, p: &[f64], y: &[f64], _: EntryData<'_>) -> f64 {
        let entry = |(&p, &y): (&f64, &f64)| {
            let root = (y - p) / (y.sqrt() + p.sqrt());
            if y == p { 0.0 } else { root * root }
        };
        p.iter().zip(y).map(entry).sum()
    }

    fn leaves_support(&self) -> bool {
        true
    }

    fn diameter(&self) -> f64 {
        2.0
    }

    fn vacuous(&self, p: &[f64], unused: bool, _: EntryData<'_>) -> f64 {
        let least = p.iter().copied().filter(|p| *p > 0.0).fold(1.0, f64::min);
        2.0 * (1.0 - if unused { 0.0 } else { least.sqrt() })
    }

    fn cone(&self) -> Option<&dyn Cone> {
        Some(self)
    }

    fn prox(&self, geometry: Geometry) -> Option<&dyn Prox> {
        match geometry {
            Geometry::Euclidean => Some(&Separable(Hellinger)),
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

impl Curve for Hellinger {
    fn at(&self, row: Row<'_>, t: f64, near: Option<Priced>) -> Priced {
        cressie_read::at::<Hellinger>(row, t, near)
    }

    fn price(&self, row: Row<'_>, u: f64, slack: f64, near: Option<Priced>) -> Priced {
        cressie_read::price::<Hellinger>(row, u, slack, near)
    }

    /// 2(1 − √P), P the mass on the maximum.
    fn face(&self, row: Row<'_>) -> f64 {
        let [on, below] = cressie_read::masses(row);
        if on < 0.5 { 2.0 * (1.0 - on.sqrt()) } else { 2.0 * below / (1.0 + on.sqrt()) }
    }

    fn kernel(&self, row: Row<'_>, at: Priced, y: &mut [f64]) -> Beyond {
        cressie_read::kernel::<Hellinger>(row, at, y)
    }

    fn kind(&self) -> RowKind<'_> {
        RowKind::Smooth
    }
}

/// With y = p + m, (√y − √p)² ≤ τ is (m − τ)² ≤ 4pτ, a rotated second-order cone, and m ≤ τ for p = 0. The
/// budget is Στκ ≤ α, and τ = (α/κ)σ, m = wz for w = √(4pα/κ) + α/κ.
impl Cone for Hellinger {
    fn scale(&self, entry: Entry, _: usize) -> f64 {
        let share = entry.budget / entry.weight;
        ((4.0 * entry.p * share).sqrt() + share).min(1.0)
    }

    fn reach(&self, budget: f64) -> f64 {
        (2.0 * budget.sqrt()).min(1.0)
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
            // (z − unit·σ)² ≤ k²σ, as ‖(2(z − unit·σ), k(σ − 1))‖ ≤ k(σ + 1).
            let k = (4.0 * z.entry.p * unit / z.scale).sqrt();
            program.line(k, [(share, -k)]);
            program.line(0.0, [(z.variable, -2.0), (share, 2.0 * unit)]);
            program.line(-k, [(share, -k)]);
            program.second_order();
        }
    }
}

/// y + s(1 − √(p/y)) = z: the root r = √y of r³ − (z − s)r − s√p = 0.
impl ProximalEntry for Hellinger {
    fn set(&self) -> &dyn Set {
        self
    }

    fn at(&self, z: f64, p: f64, s: f64) -> (f64, f64) {
        let (pull, free) = (s * p.sqrt(), z - s);
        if pull <= 0.0 {
            return if free > 0.0 { (free, 1.0) } else { (0.0, 0.0) };
        }
        // Convex and rising from the root on: Newton's method from the right.
        let above = if free > 0.0 { free.sqrt() + pull.cbrt() } else { pull.cbrt() };
        let mut r = if free < 0.0 { above.min(pull / -free) } else { above };
        for _ in 0..STEPS {
            let step = ((r * r - free) * r - pull) / (3.0 * r * r - free);
            if step.is_nan() || step <= 4e-16 * r {
                break;
            }
            r -= step;
        }
        // dy/dz = 1/(1 + s√p/(2r³)).
        (r * r, 1.0 / (1.0 + 0.5 * pull / (r * r * r)))
    }

    fn normal(&self, y: f64, p: f64) -> f64 {
        (y - p) / (y + (y * p).sqrt())
    }
}

/// Newton's steps for an entry, far more than there are.
const STEPS: usize = 200;

/// φ and d as sums over entries, and what goes into bounds of them.
impl Proof for Hellinger {
    fn read(&self, row: &ProofRow<'_>, t: f64, eta: f64) -> Reading {
        cressie_read::proof::read(*self, row, t, eta)
    }
}

impl Members for Hellinger {
    const E: f64 = 2.0;

    /// δ/s, δ(1 + s)/s² and 1/s².
    #[inline(always)]
    fn near<S: Simd>(self, delta: Lane<S>, s: Lane<S>) -> Near<S> {
        let inverse = s.of(1.0) / s;
        let loss = delta * inverse;
        Near { loss, lost: loss * (inverse + s.of(1.0)), power: inverse * inverse }
    }

    /// 1/s, 1/s² and 1/s.
    #[inline(always)]
    fn far<S: Simd>(self, s: Lane<S>) -> Far<S> {
        let inverse = s.of(1.0) / s;
        Far { dual: inverse, power: inverse * inverse, fall: inverse }
    }

    /// η − 2 + Σp/s and 2 − 2Σp/s.
    const DUAL: [f64; 2] = [-2.0, 1.0];
    const SPENT: [f64; 2] = [2.0, -2.0];

    /// 2 − 2BM^{−½} ≤ 2 − 2B + (M − 1)B, B = Σp/s.
    fn divided(spent: Interval) -> Interval {
        spent * -0.5 + 1.0
    }
}
