//! Rows that share one budget, every state that they may use listed: Σ_a κ_a·d(y_a, y⁰_a) ≤ α.

use std::ops::Range;

use super::Mirror;
use super::separable::EntrySums;
use crate::model::Bounds;
use crate::rows::Row;
use crate::sets::EntryData;
use crate::sets::set::{Curve, Priced, Set, shrink};

/// Row objectives b_a, up to a constant per row.
#[derive(Clone, Copy, Debug)]
pub enum Gain<'a> {
    /// One vector for every row (dense rows whose cost does not depend on the next state).
    Shared(&'a [f64]),
    /// One entry per stored transition.
    PerRow(&'a [f64]),
}

/// Rows a = 1..A that share one budget: nominal distributions y⁰_a and objectives b_a.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// Row `k` is `offsets[k]..offsets[k + 1]` of the flat arrays, counted from `offsets[0]`.
    pub offsets: &'a [usize],
    /// y⁰, row after row.
    pub nominal: &'a [f64],
    /// b, shared or row after row.
    pub gain: Gain<'a>,
    /// ⟨b_a, y⁰_a⟩, one a row.
    pub nominal_value: &'a [f64],
    /// The budget α ≥ 0 that all rows share.
    pub radius: f64,
    /// κ of the rows; `None`: 1.
    pub kappa: Option<&'a [f64]>,
    /// What the set is told of all entries.
    pub data: EntryData<'a>,
}

impl<'a> Block<'a> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of entries of all rows together.
    pub fn entries(&self) -> usize {
        self.offsets[self.rows()] - self.offsets[0]
    }

    /// Where row `k` lies.
    #[inline(always)]
    pub fn span(&self, k: usize) -> Range<usize> {
        let base = self.offsets[0];
        self.offsets[k] - base..self.offsets[k + 1] - base
    }

    /// The objective of row `k`.
    #[inline(always)]
    pub fn gain(&self, k: usize) -> &'a [f64] {
        match self.gain {
            Gain::Shared(b) => b,
            Gain::PerRow(b) => &b[self.span(k)],
        }
    }

    /// Row `k` alone with a budget of its own, as (s,a)-rectangular sets need it.
    pub fn row(&self, k: usize, radius: f64) -> Block<'a> {
        let span = self.span(k);
        Block {
            offsets: &self.offsets[k..k + 2],
            nominal: &self.nominal[span.clone()],
            gain: match self.gain {
                Gain::Shared(b) => Gain::Shared(b),
                Gain::PerRow(b) => Gain::PerRow(&b[span.clone()]),
            },
            nominal_value: &self.nominal_value[k..k + 1],
            radius,
            kappa: self.kappa.map(|kappa| &kappa[k..k + 1]),
            data: self.data.part(span),
        }
    }

    /// y⁰ of row `k`.
    #[inline(always)]
    pub fn nominal(&self, k: usize) -> &'a [f64] {
        &self.nominal[self.span(k)]
    }

    /// What the set is told of the entries of row `k`.
    pub fn data(&self, k: usize) -> EntryData<'a> {
        self.data.part(self.span(k))
    }

    /// κ of row `k`.
    pub fn kappa(&self, k: usize) -> f64 {
        self.kappa.map_or(1.0, |kappa| kappa[k])
    }

    /// min κ.
    pub(crate) fn least_kappa(&self) -> f64 {
        (0..self.rows()).map(|k| self.kappa(k)).fold(f64::INFINITY, f64::min)
    }

    /// Row `k` as a set sees it.
    pub fn view(&self, k: usize) -> Row<'a> {
        let w = self.gain(k);
        let (low, maximum) = crate::model::range(w);
        let (p, data) = (self.nominal(k), self.data(k));
        Row { p, w, maximum, range: maximum - low, outside: None, order: None, data }
    }

    /// Writes row `k` at a point of its price curve, with mass one; t = 0 is the nominal row.
    pub(crate) fn write(&self, set: &dyn Curve, k: usize, at: Priced, y: &mut [f64]) {
        let nominal = self.nominal(k);
        if at.t > 0.0 {
            set.kernel(self.view(k), at, y);
            scale_to_one(y, nominal);
        } else {
            y.copy_from_slice(nominal);
        }
    }

    /// What y spends of the budget.
    pub(crate) fn spent(&self, set: &dyn Set, y: &[f64]) -> f64 {
        let row = |k| self.kappa(k) * set.distance(self.nominal(k), &y[self.span(k)], self.data(k));
        (0..self.rows()).map(row).sum()
    }

    /// Makes y a kernel of the set: rows become distributions, or nominal where they cannot, and all
    /// are moved towards y⁰ until they are within the budget.
    pub(crate) fn bring_within(&self, set: &dyn Set, y: &mut [f64]) {
        for k in 0..self.rows() {
            let y = &mut y[self.span(k)];
            scale_to_one(y, self.nominal(k));
            if let Some(bounds) = self.data(k).bounds {
                clip(y, bounds);
            }
        }
        let share = shrink(set, self.spent(set, y), self.radius);
        if share < 1.0 {
            for (y, p) in y.iter_mut().zip(self.nominal) {
                *y = share * *y + (1.0 - share) * p;
            }
        }
    }
}

/// y₊/Σy₊, or y⁰ where that is no distribution.
pub(super) fn scale_to_one(y: &mut [f64], nominal: &[f64]) {
    y.iter_mut().for_each(|y| *y = y.max(0.0));
    let total = crate::lanes::sum(y);
    if total.is_finite() && total > 0.0 {
        y.iter_mut().for_each(|y| *y /= total);
    } else {
        y.copy_from_slice(nominal);
    }
}

/// Brings a distribution between its bounds: what clipping leaves too much or too little goes where there is room.
fn clip(y: &mut [f64], Bounds { lower, upper }: Bounds<'_>) {
    for (y, (l, u)) in y.iter_mut().zip(lower.iter().zip(upper)) {
        *y = y.clamp(*l, *u);
    }
    let missing = 1.0 - crate::lanes::sum(y);
    let to = if missing > 0.0 { upper } else { lower };
    let room: f64 = y.iter().zip(to).map(|(y, to)| to - y).sum();
    if room != 0.0 {
        let share = (missing / room).min(1.0);
        y.iter_mut().zip(to).for_each(|(y, to)| *y += share * (to - *y));
    }
}

/// Multipliers remembered from the last call on the same rows, to start the next one near them.
#[derive(Debug)]
pub struct Warm<'a> {
    /// One multiplier for the budget; 0 means a cold start.
    pub budget: &'a mut f64,
    /// One multiplier a row.
    pub row: &'a mut [f64],
}

/// What a proximal step leaves behind besides the new iterate.
#[derive(Debug)]
pub struct Emit<'a> {
    /// Weight with which the new y enters `sum`; 0 leaves `sum` alone.
    pub weight: f64,
    /// Running Σ weight·y, row after row.
    pub sum: &'a mut [f64],
    /// ⟨b_a, y_a⟩ of the new y, one a row.
    pub value: &'a mut [f64],
}

impl Emit<'_> {
    /// Takes in the nominal kernel.
    pub(super) fn write_nominal(self, mirror: Mirror, block: Block<'_>, iterate: &mut [f64]) {
        for (to, p) in iterate.iter_mut().zip(block.nominal) {
            *to = mirror.of(*p, *p);
        }
        for (sum, p) in self.sum.iter_mut().zip(block.nominal) {
            *sum += self.weight * p;
        }
        for (k, value) in self.value.iter_mut().enumerate() {
            *value = block.nominal(k).iter().zip(block.gain(k)).map(|(p, b)| p * b).sum();
        }
    }
}

/// lower ≤ exact value ≤ upper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Enclosure {
    /// Attained by a point of the set.
    pub lower: f64,
    /// Proved by weak duality.
    pub upper: f64,
}

/// Sums over one row that the proximal solvers exchange.
pub(crate) type RowSums = [f64; 5];

/// Working memory of proximal steps, reused between calls.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) sums: Vec<RowSums>,
    pub(crate) previous: Vec<RowSums>,
    pub(crate) slope: Vec<f64>,
    pub(crate) shift: Vec<f64>,
    pub(crate) buffer: Vec<f64>,
    pub(crate) rows: Vec<EntrySums>,
    /// Entries visited so far by all passes.
    pub entries: u64,
}

impl Scratch {
    /// Makes room for blocks of up to `rows` rows and `entries` entries.
    pub(crate) fn reserve(&mut self, rows: usize, entries: usize) {
        if self.slope.len() < rows || self.buffer.len() < entries {
            *self = Scratch { entries: self.entries, ..Scratch::new(rows, entries) };
        }
    }

    /// Memory for blocks of up to `rows` rows and `entries` entries.
    pub fn new(rows: usize, entries: usize) -> Scratch {
        Scratch {
            sums: vec![[0.0; 5]; rows],
            previous: vec![[0.0; 5]; rows],
            slope: vec![0.0; rows],
            shift: vec![0.0; rows],
            buffer: vec![0.0; entries],
            rows: vec![EntrySums::default(); rows],
            entries: 0,
        }
    }
}
