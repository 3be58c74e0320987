//! Contamination: y ≥ (1 − δ)p, so that a share δ of the mass goes anywhere; d(y, p) = max_j (1 − y_j/p_j), the
//! least such δ. It is the [gauge](super::gauge) of all rows on the allowed states: with an (s,a)-rectangular
//! budget ε, F = min_a (1 − ε)⟨b, p⟩ + ε·max b.

use super::cone::{Cone, Entry, Moved, Program};
use super::gauge::{self, Edge, share_of};
use super::set::{Beyond, Curve, Priced, RowKind, Set};
use super::{Distance, EntryData, UncertaintySet};
use crate::certificate::{Interval, Proof, ProofRow, Reading};
use crate::rows::Row;

/// The least share of the mass that was moved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contamination;

impl UncertaintySet {
    /// In every state y_a ≥ (1 − δ_a)y⁰_a with Σ_a δ_a ≤ radius, mass allowed everywhere.
    pub fn contamination(radius: f64) -> Self {
        UncertaintySet::new(Distance::Contamination, radius)
    }
}

fn edge(row: Row<'_>) -> Edge {
    let nominal = row.below_maximum();
    Edge { nominal, gain: -nominal }
}

impl Set for Contamination {
    fn name(&self) -> &'static str {
        "contamination"
    }

    fn formula(&self) -> &'static str {
        "max (1 − y/y⁰)"
    }

    fn distance(&self, p: &[f64], y: &[f64], _: EntryData<'_>) -> f64 {
        let moved = p.iter().zip(y).filter(|e| *e.0 > 0.0).map(|(p, y)| (p - y) / p);
        moved.fold(0.0, f64::max)
    }

    fn leaves_support(&self) -> bool {
        true
    }

    fn diameter(&self) -> f64 {
        1.0
    }

    /// One state alone cannot be left.
    fn vacuous(&self, p: &[f64], unused: bool, _: EntryData<'_>) -> f64 {
        f64::from(u8::from(unused || p.iter().filter(|p| **p > 0.0).nth(1).is_some()))
    }

    fn cone(&self) -> Option<&dyn Cone> {
        Some(self)
    }

    fn proof(&self) -> Option<&dyn Proof> {
        Some(self)
    }

    fn curve(&self) -> Option<&dyn Curve> {
        Some(self)
    }
}

impl Curve for Contamination {
    fn at(&self, row: Row<'_>, t: f64, _: Option<Priced>) -> Priced {
        Priced { t, ..edge(row).ends(t)[0] }
    }

    fn ends(&self, row: Row<'_>, t: f64, _: Option<Priced>) -> [Priced; 2] {
        edge(row).ends(t)
    }

    fn price(&self, row: Row<'_>, u: f64, _: f64, _: Option<Priced>) -> Priced {
        edge(row).price(u)
    }

    fn face(&self, row: Row<'_>) -> f64 {
        let below = |(p, w): (&f64, &f64)| *p > 0.0 && *w < row.maximum;
        f64::from(u8::from(row.p.iter().zip(row.w).any(below)))
    }

    fn kernel(&self, row: Row<'_>, at: Priced, y: &mut [f64]) -> Beyond {
        let moved = share_of(at, || self.face(row));
        y.iter_mut().zip(row.p).for_each(|(y, p)| *y = (1.0 - moved) * p);
        let open = |j: &usize| row.w[*j] == row.maximum;
        match (0..y.len()).rev().find(open) {
            Some(best) => y[best] += moved,
            None => return Beyond::Best(moved),
        }
        Beyond::Nothing
    }

    fn kind(&self) -> RowKind<'_> {
        RowKind::PiecewiseLinear
    }
}

impl Cone for Contamination {
    fn scale(&self, entry: Entry, _: usize) -> f64 {
        self.reach(entry.budget / entry.weight)
    }

    fn reach(&self, budget: f64) -> f64 {
        budget.min(1.0)
    }

    fn budget(&self, program: &mut Program, moved: &[Moved]) {
        gauge::budget(program, moved);
    }
}

/// The maximum is worth 0, exactly.
impl Proof for Contamination {
    fn read(&self, row: &ProofRow<'_>, t: f64, share: f64) -> Reading {
        let mass = Interval::sum(row.p.iter().copied(), 0.0);
        let nominal = Interval::sum(row.entries().map(|(p, z)| p * z), 1.0) / mass;
        let mut reading = gauge::read(nominal, nominal * -1.0, nominal * -1.0, t, share);
        // t·0 − 1, and no rounding of q in it.
        reading.dual = (nominal * t).hi().max(-1.0);
        let kept = Interval::from(1.0) + -share;
        reading.value = nominal * kept.mid;
        reading.value = reading.value.wider(kept.rad * nominal.size());
        reading
    }
}
