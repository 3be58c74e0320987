//! Updates without uncertainty: F(v)_s = min_a c_a + Σ_i p_ai (c(s,a,i) + λv_i), straight from the
//! model's rows. The best row of the last sweep goes first; rows whose remembered value cannot have
//! fallen below it are not read.

use pulp::{Simd, WithSimd};

use super::Exact;
use super::active::RowMemory;
use crate::chain::ChainRows;
use crate::lanes::{dispatch, dot};
use crate::model::{Model, Storage};
use crate::rows::SweepValues;
use crate::uncertainty::Enclosure;

impl Exact<'_> {
    /// The least row value; `x` becomes that row.
    pub(super) fn nominal_update(
        &self,
        s: usize,
        ahead: &SweepValues,
        memory: RowMemory<'_>,
        x: &mut [f64],
        entries: &mut u64,
    ) -> Enclosure {
        let before = memory.in_use();
        let RowMemory { t, floor, .. } = memory;
        let first_row = self.model.rows_of(s).start;
        let sweep = Least { model: self.model, ahead, first_row, before, floor, entries };
        let (chosen, value) = dispatch(sweep);
        t[before] = 0.0;
        t[chosen] = 1.0;
        x.fill(0.0);
        x[chosen] = 1.0;
        Enclosure { lower: value, upper: value }
    }

    /// The value of a policy.
    pub(super) fn nominal_response(
        &self,
        s: usize,
        ahead: &SweepValues,
        x: &[f64],
        entries: &mut u64,
    ) -> Enclosure {
        let first_row = self.model.rows_of(s).start;
        let value = dispatch(Mean { model: self.model, ahead, first_row, x, entries });
        Enclosure { lower: value, upper: value }
    }

    /// Adds Σ_a x_a·p_a to the chain.
    pub(super) fn nominal_chain_row(&self, s: usize, x: &[f64], chain: &mut ChainRows<'_>) {
        let mut filled = 0;
        for (r, &x) in self.model.rows_of(s).zip(x).filter(|(_, x)| **x > 0.0) {
            let row = self.model.row(r);
            match row.next {
                None if chain.is_dense() && x == 1.0 => chain.entries.copy_from_slice(row.prob),
                None if chain.is_dense() => {
                    chain.entries.iter_mut().zip(row.prob).for_each(|(sum, p)| *sum += x * p);
                }
                _ => row.entries().for_each(|(i, p, _)| chain.add(s, &mut filled, i, x * p)),
            }
        }
    }
}

/// c_a + Σ_i p_i (c_i + λv_i) of row `r`.
#[inline(always)]
fn read<S: Simd>(simd: S, model: &Model, ahead: &SweepValues, r: usize) -> f64 {
    let span = model.span(r);
    let prob = &model.prob[span.clone()];
    let mut total = model.cost[r];
    match &model.storage {
        // Not through λ(v − max v): states that the row cannot reach must not cost it digits.
        Storage::Dense => total += ahead.discount * dot(simd, prob, &ahead.values),
        Storage::Sparse { next, .. } => {
            let mut sums = [0.0; 4];
            let (quads, last) = prob.as_chunks::<4>();
            let (next_quads, last_next) = next[span.clone()].as_chunks::<4>();
            for (p, i) in quads.iter().zip(next_quads) {
                for j in 0..4 {
                    sums[j] += p[j] * ahead.values[i[j] as usize];
                }
            }
            for (p, &i) in last.iter().zip(last_next) {
                sums[0] += p * ahead.values[i as usize];
            }
            total += ahead.discount * ((sums[0] + sums[1]) + (sums[2] + sums[3]));
        }
    }
    if let Some(costs) = &model.transition_cost {
        total += dot(simd, prob, &costs[span]);
    }
    total
}

/// What stays true of a row's value until v falls.
#[inline(always)]
fn remembered(value: f64, ahead: &SweepValues) -> f64 {
    let size = value.abs() + ahead.offset.abs() + ahead.range + ahead.anchor.abs();
    value - 16.0 * f64::EPSILON * size - ahead.anchor
}

struct Least<'a> {
    model: &'a Model,
    ahead: &'a SweepValues,
    first_row: usize,
    before: usize,
    floor: &'a mut [f64],
    entries: &'a mut u64,
}

impl WithSimd for Least<'_> {
    type Output = (usize, f64);

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> (usize, f64) {
        let Least { model, ahead, first_row, before, floor, entries } = self;
        let (mut chosen, mut best) = (before, read(simd, model, ahead, first_row + before));
        floor[before] = remembered(best, ahead);
        *entries += model.span(first_row + before).len() as u64;
        let lanes = size_of::<S::f64s>() / 8;
        let drift = simd.splat_f64s(ahead.drift);
        for (i, floor) in floor.chunks_mut(lanes).enumerate() {
            if let [floor] = S::as_simd_f64s(floor).0 {
                let below = simd.add_f64s(*floor, drift);
                let below = simd.less_than_f64s(below, simd.splat_f64s(best));
                if simd.first_true_m64s(below) >= lanes {
                    continue;
                }
            }
            for (k, floor) in (i * lanes..).zip(floor) {
                if *floor + ahead.drift < best && k != before {
                    let value = read(simd, model, ahead, first_row + k);
                    *floor = remembered(value, ahead);
                    *entries += model.span(first_row + k).len() as u64;
                    if value < best {
                        (chosen, best) = (k, value);
                    }
                }
            }
        }
        (chosen, best)
    }
}

struct Mean<'a> {
    model: &'a Model,
    ahead: &'a SweepValues,
    first_row: usize,
    x: &'a [f64],
    entries: &'a mut u64,
}

impl WithSimd for Mean<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Mean { model, ahead, first_row, x, entries } = self;
        let mut total = 0.0;
        for (k, x) in x.iter().enumerate().filter(|(_, x)| **x > 0.0) {
            total += x * read(simd, model, ahead, first_row + k);
            *entries += model.span(first_row + k).len() as u64;
        }
        total
    }
}
