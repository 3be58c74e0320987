//! What a set must prove of a row, for certificates.
//!
//! A certificate has two numbers a row, t and the set's own ν. From them a set proves, with every
//! rounding counted and without optimising,
//! - weak duality: an upper bound of ψ(t) = max_y t⟨z, y⟩ − d(y, p) over rows y of mass one;
//! - about one row ŷ that (t, ν) stand for: its value ⟨z, ŷ⟩, and an upper bound of d(ŷ, p).
//!
//! Here z = w − maximum ≤ 0, rounded once, is exact by definition, and so is t; the nominal row is p over
//! its exact sum, which is one up to rounding. A set whose rows keep to the nominal support
//! ([`Set::leaves_support`](crate::sets::Set::leaves_support)) may find entries with p = 0 and
//! any z: they have no mass. Other sets find entries where mass may go only.

use super::interval::Interval;
use super::sums::{Over, Terms, dispatch};
use super::tail::Unlisted;
use crate::sets::EntryData;

/// The part of a set that certificates rest on; it shares no numerical code with the rest.
///
/// Plain code will do: sums over [`ProofRow::entries`] by [`Interval::sum`], which is told how often a term is
/// rounded, [`Interval::wider`] for errors that are not a share of a term, and quotients of such intervals.
/// `examples/custom_set.rs` has a proof like that, and [`conformance`](crate::conformance) tests its formulas.
pub trait Proof: Sync {
    /// What (t, ν) prove of a row; t and 1/t are normal numbers, ν is finite.
    fn read(&self, row: &ProofRow<'_>, t: f64, nu: f64) -> Reading;
}

/// A row as the verifier sees it.
#[derive(Clone, Copy)]
pub struct ProofRow<'a> {
    /// Nominal probabilities.
    pub p: &'a [f64],
    /// Objectives.
    pub w: &'a [f64],
    /// The largest objective where the row may have mass, listed or not.
    pub maximum: f64,
    /// At least −z wherever it may have mass.
    pub depth: f64,
    /// States that it does not list but may use, with p = 0.
    pub unlisted: Option<Unlisted<'a>>,
    /// What the set is told of the entries.
    pub data: EntryData<'a>,
}

impl<'a> ProofRow<'a> {
    /// A row that lists all states where it may have mass.
    pub fn new(p: &'a [f64], w: &'a [f64]) -> ProofRow<'a> {
        let maximum = w.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let low = w.iter().copied().fold(f64::INFINITY, f64::min);
        let data = EntryData::default();
        ProofRow { p, w, maximum, depth: maximum - low, unlisted: None, data }
    }

    /// (p, z) of the entries.
    pub fn entries(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.p.iter().zip(self.w).map(|(p, w)| (*p, w - self.maximum))
    }

    /// K sums over the entries, of p and −tz + ν.
    pub(crate) fn sums<const K: usize>(&self, t: f64, nu: f64, of: impl Terms<K>) -> [f64; K] {
        dispatch(Over { row: self, t, nu, of })
    }
}

/// What two numbers prove of a row; NaN proves nothing.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// At least ψ(t).
    pub dual: f64,
    /// ⟨z, ŷ⟩.
    pub value: Interval,
    /// At least d(ŷ, p).
    pub spent: f64,
}

impl Reading {
    /// Of numbers that say no more than the row's maximum does.
    pub const NOTHING: Reading = {
        let value = Interval { mid: f64::NAN, rad: f64::NAN };
        Reading { dual: f64::NAN, value, spent: f64::NAN }
    };
}
