//! Pearson's χ² set d(y, p) = Σ (y − p)²/p, a [quadratic](super::quadratic) set with r = p/2:
//!   y = p(1 + (tw − ν)/2)₊.
//! Rows may drop next states but never leave the support of p. On the states kept, P = Σp, with mean m and
//! variance V of w under p/P, a value u costs g(u) = 1/P − 1 + (u − m)²/(PV).

use pulp::Simd;

use super::cone::{Cone, Entry, Moved, Program};
use super::proximal::{Prox, ProximalEntry, Separable};
use super::quadratic::{self, Scale};
use super::set::{Beyond, Curve, Priced, RowKind, Set};
use super::{Distance, EntryData, UncertaintySet};
use crate::certificate::verify::lane::Lane;
use crate::certificate::verify::sums::{Terms, steps};
use crate::certificate::{Interval, Proof, ProofRow, Reading, TINY, UNIT, above, roundings};
use crate::geometry::Geometry;
use crate::rows::Row;

/// Σ (y − p)²/p.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chi2;

impl UncertaintySet {
    /// Σ_a Σ (y_a − y⁰_a)²/y⁰_a ≤ radius in every state.
    pub fn chi2(radius: f64) -> Self {
        UncertaintySet::new(Distance::Chi2, radius)
    }
}

impl Scale for Chi2 {
    #[inline(always)]
    fn r<S: Simd>(simd: S, p: S::f64s) -> S::f64s {
        simd.mul_f64s(simd.splat_f64s(0.5), p)
    }

    #[inline(always)]
    fn q<S: Simd>(simd: S, _: S::f64s) -> S::f64s {
        simd.splat_f64s(2.0)
    }

    const OUTSIDE: f64 = 0.0;
    const MOST: f64 = 2.0;
    const HEAVY: bool = true;
}

impl Set for Chi2 {
    fn name(&self) -> &'static str {
        "chi2"
    }

    fn title(&self) -> &'static str {
        "χ²"
    }

    fn formula(&self) -> &'static str {
        "Σ (y − y⁰)²/y⁰"
    }

    fn distance(&self, p: &[f64], y: &[f64], _: EntryData<'_>) -> f64 {
        let entry = |(&p, &y): (&f64, &f64)| match (y == p, p > 0.0) {
            (true, _) => 0.0,
            (false, true) => (y - p) * ((y - p) / p),
            (false, false) => f64::INFINITY,
        };
        p.iter().zip(y).map(entry).sum()
    }

    fn leaves_support(&self) -> bool {
        false
    }

    fn degree(&self) -> i32 {
        2
    }

    fn diameter(&self) -> f64 {
        f64::INFINITY
    }

    fn vacuous(&self, p: &[f64], _: bool, _: EntryData<'_>) -> f64 {
        1.0 / p.iter().copied().filter(|p| *p > 0.0).fold(1.0, f64::min) - 1.0
    }

    fn cone(&self) -> Option<&dyn Cone> {
        Some(self)
    }

    fn prox(&self, geometry: Geometry) -> Option<&dyn Prox> {
        match geometry {
            Geometry::Euclidean => Some(&Separable(Chi2)),
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

impl Curve for Chi2 {
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

/// ‖z‖₂ ≤ 1 for z = (y − p)√(κ/(αp)); entries with p above α/κ cannot become negative.
impl Cone for Chi2 {
    fn scale(&self, entry: Entry, _: usize) -> f64 {
        (entry.budget * entry.p / entry.weight).sqrt()
    }

    fn reach(&self, budget: f64) -> f64 {
        budget.sqrt().min(1.0)
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

/// ½y² − zy + s(y − p)²/p is least at y = p(z + 2s)/(p + 2s), or at 0.
impl ProximalEntry for Chi2 {
    fn set(&self) -> &dyn Set {
        self
    }

    fn at(&self, z: f64, p: f64, s: f64) -> (f64, f64) {
        let slope = p / (p + 2.0 * s);
        if z + 2.0 * s > 0.0 && p > 0.0 { (slope * (z + 2.0 * s), slope) } else { (0.0, 0.0) }
    }

    fn normal(&self, y: f64, p: f64) -> f64 {
        2.0 * (y - p) / p
    }
}

/// With h = tz − ν, c = min(−h, 2) and sums over p, P = Σp, C = Σpc, Q = Σpc²: ŷ ∝ p(1 − c/2) has the
/// mass M = P − C/2 and φ(h) = c²/4 − c. Exactly, for the nominal row p/P,
///   ψ ≤ ν + (Q/4 − C)/P,   t⟨z, ŷ⟩ = ν + (Q/2 − C)/M,   d(ŷ, p/P) = (PQ − C²)/(4M²).
/// ŷ is made of the computed c, which is off by a rounding of h, at most u|c| where it is not 2.
impl Proof for Chi2 {
    fn read(&self, row: &ProofRow<'_>, t: f64, nu: f64) -> Reading {
        let steps = steps(row.p.len()) + 1.0;
        let [mass, loss, square] = row.sums(t, nu, *self);
        let [mass, square] = [mass, square].map(|sum| Interval::of_sum(sum, steps));
        // Σp|c| ≤ √(PQ), and what the roundings of c are worth: φ' and 1 − c/2 are at most 1 + |c|/2.
        let size = above((mass.hi() * square.hi()).sqrt());
        let off = 1.1 * UNIT * (size + square.hi());
        let loss = Interval { mid: -loss, rad: roundings(steps) * size + TINY };
        let dual = ((square * 0.25 + loss) / mass + nu).wider(1.1 * off);
        let own = loss * 0.5 + mass;
        let value = ((square * 0.5 + loss).wider(off) / own + nu) / t;
        let least = (loss.mid.abs() - loss.radius()).max(0.0) * (1.0 - 8.0 * UNIT);
        let apart = above(above(mass.hi() * square.hi()) - least * least).max(0.0);
        let share = above(apart / (4.0 * own.lo()));
        let spent = if own.lo() > 0.0 { above(share / own.lo()) } else { f64::NAN };
        Reading { dual: dual.hi(), value, spent }
    }
}

/// Σp, Σpc and Σpc².
impl Terms<3> for Chi2 {
    #[inline(always)]
    fn add<S: Simd>(self, to: [Lane<S>; 3], p: Lane<S>, x: Lane<S>) -> [Lane<S>; 3] {
        let c = x.at_most(x.of(2.0));
        let pc = p * c;
        [to[0] + p, to[1] + pc, pc.mul_add(c, to[2])]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: [f64; 3] = [0.5, 0.25, 0.25];
    const W: [f64; 3] = [-2.0, -1.0, 0.0];

    fn row() -> Row<'static> {
        Row {
            p: &P,
            w: &W,
            maximum: 0.0,
            range: 2.0,
            outside: None,
            order: None,
            data: EntryData::default(),
        }
    }

    /// Mean −5/4 and variance 11/16: with all states kept, 1/8 more costs (1/8)²·16/11.
    #[test]
    fn prices_follow_from_mean_and_variance() {
        let at = Chi2.price(row(), -1.125, 0.0, None);
        assert!((at.price - 1.0 / 44.0).abs() < 1e-15, "{at:?}");
        assert!((at.t - 4.0 / 11.0).abs() < 1e-15, "{at:?}");
        // On the last two states: P = ½, mean −½, variance ¼: g(−¼) = 1 + (¼)²·8.
        let at = Chi2.price(row(), -0.25, 0.0, None);
        assert!((at.price - 1.5).abs() < 1e-14, "{at:?}");
        assert_eq!((Chi2.face(row()), Chi2.vacuous(&P, true, EntryData::default())), (3.0, 3.0));
    }

    #[test]
    fn a_proof_meets_what_it_proves() {
        let at = Chi2.price(row(), -0.25, 0.0, None);
        let read = Chi2.read(&ProofRow::new(&P, &W), at.t, at.nu);
        let gain = at.t * at.value - at.price;
        assert!(read.dual >= gain && read.dual <= gain + 1e-13, "{read:?}");
        assert!(read.value.lo() <= -0.25 && read.value.hi() >= -0.25, "{read:?}");
        assert!(read.spent >= 1.5 - 1e-13 && read.spent <= 1.5 + 1e-13, "{read:?}");
    }
}
