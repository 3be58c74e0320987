//! What a proximal step or a support function sees of a state: the rows that share one budget.

use std::ops::Range;

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
                Gain::PerRow(b) => Gain::PerRow(&b[span]),
            },
            nominal_value: &self.nominal_value[k..k + 1],
            radius,
        }
    }
}

/// y ← share·y + (1 − share)·y⁰, which brings an infeasible y back into a convex set.
pub(crate) fn mix_with_nominal(share: f64, nominal: &[f64], y: &mut [f64]) {
    for (y, n) in y.iter_mut().zip(nominal) {
        *y = share * *y + (1.0 - share) * n;
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

/// Working memory of proximal steps and support functions, reused between calls.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) sums: Vec<RowSums>,
    pub(crate) previous: Vec<RowSums>,
    pub(crate) slope: Vec<f64>,
    pub(crate) shift: Vec<f64>,
    pub(crate) buffer: Vec<f64>,
    /// Entries visited so far by all passes.
    pub entries: u64,
    /// Convex programs handed to a solver so far, and those that it could not solve.
    pub(crate) programs: [u64; 2],
}

impl Scratch {
    /// Memory for blocks of up to `rows` rows and `entries` entries.
    pub fn new(rows: usize, entries: usize) -> Scratch {
        Scratch {
            sums: vec![[0.0; 5]; rows],
            previous: vec![[0.0; 5]; rows],
            slope: vec![0.0; rows],
            shift: vec![0.0; rows],
            buffer: vec![0.0; entries],
            entries: 0,
            programs: [0; 2],
        }
    }
}
