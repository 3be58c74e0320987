//! Updates without uncertainty: F(v)_s = min_a c_a + Σ_i p_ai (c(s,a,i) + λv_i), straight from the
//! model's rows. The best row of the last sweep goes first; rows whose remembered value cannot have
//! fallen below it are not read.

use pulp::Simd;

use super::Exact;
use super::active::RowMemory;
use crate::chain::ChainRows;
use crate::lanes::{dot, kernels};
use crate::model::{Model, Storage};
use crate::rows::SweepValues;
use crate::sets::Enclosure;

impl Exact<'_> {
    /// The least row value, the largest where policies maximise; `x` becomes that row.
    pub(super) fn nominal_update(
        &self,
        s: usize,
        values: &SweepValues,
        memory: RowMemory<'_>,
        x: &mut [f64],
        entries: &mut u64,
    ) -> Enclosure {
        let before = memory.in_use();
        let RowMemory { t, screen, .. } = memory;
        let first_row = self.model.rows_of(s).start;
        let (chosen, value) = match self.cooperative {
            true => largest_row(self.model, values, first_row, before, screen.len(), entries),
            false => least_row(self.model, values, first_row, before, screen, entries),
        };
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
        values: &SweepValues,
        x: &[f64],
        entries: &mut u64,
    ) -> Enclosure {
        let first_row = self.model.rows_of(s).start;
        let value = mean(self.model, values, first_row, x, entries);
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
fn read<S: Simd>(simd: S, model: &Model, values: &SweepValues, r: usize) -> f64 {
    let span = model.span(r);
    let prob = &model.prob[span.clone()];
    let mut total = model.cost[r];
    match &model.storage {
        // Not through λ(v − max v): states that the row cannot reach must not cost it digits.
        Storage::Dense => total += values.discount * dot(simd, prob, &values.v),
        Storage::Sparse { next, .. } => {
            let mut sums = [0.0; 4];
            let (quads, last) = prob.as_chunks::<4>();
            let (next_quads, last_next) = next[span.clone()].as_chunks::<4>();
            for (p, i) in quads.iter().zip(next_quads) {
                for j in 0..4 {
                    sums[j] += p[j] * values.v[i[j] as usize];
                }
            }
            for (p, &i) in last.iter().zip(last_next) {
                sums[0] += p * values.v[i as usize];
            }
            total += values.discount * ((sums[0] + sums[1]) + (sums[2] + sums[3]));
        }
    }
    if let Some(costs) = &model.transition_cost {
        total += dot(simd, prob, &costs[span]);
    }
    total
}

/// What stays true of a row's value until v falls.
#[inline(always)]
fn remembered(value: f64, values: &SweepValues) -> f64 {
    let size = value.abs() + values.offset.abs() + values.range + values.fall_before.abs();
    value - 16.0 * f64::EPSILON * size - values.fall_before
}

kernels! {
    fn least_row<'a>(
        simd,
        model: &'a Model,
        values: &'a SweepValues,
        first_row: usize,
        before: usize,
        screen: &'a mut [f64],
        entries: &'a mut u64,
    ) -> (usize, f64) {
        let (mut chosen, mut best) = (before, read(simd, model, values, first_row + before));
        screen[before] = remembered(best, values);
        *entries += model.span(first_row + before).len() as u64;
        let lanes = size_of::<S::f64s>() / 8;
        let fall = simd.splat_f64s(values.fall);
        for (i, bounds) in screen.chunks_mut(lanes).enumerate() {
            if let [bound] = S::as_simd_f64s(bounds).0 {
                let below = simd.add_f64s(*bound, fall);
                let below = simd.less_than_f64s(below, simd.splat_f64s(best));
                if simd.first_true_m64s(below) >= lanes {
                    continue;
                }
            }
            for (k, bound) in (i * lanes..).zip(bounds) {
                if *bound + values.fall < best && k != before {
                    let value = read(simd, model, values, first_row + k);
                    *bound = remembered(value, values);
                    *entries += model.span(first_row + k).len() as u64;
                    if value < best {
                        (chosen, best) = (k, value);
                    }
                }
            }
        }
        (chosen, best)
    }

    fn largest_row<'a>(
        simd,
        model: &'a Model,
        values: &'a SweepValues,
        first_row: usize,
        before: usize,
        rows: usize,
        entries: &'a mut u64,
    ) -> (usize, f64) {
        let (mut chosen, mut best) = (before, f64::NEG_INFINITY);
        for k in std::iter::once(before).chain((0..rows).filter(|k| *k != before)) {
            let value = read(simd, model, values, first_row + k);
            *entries += model.span(first_row + k).len() as u64;
            if value > best {
                (chosen, best) = (k, value);
            }
        }
        (chosen, best)
    }

    fn mean<'a>(
        simd,
        model: &'a Model,
        values: &'a SweepValues,
        first_row: usize,
        x: &'a [f64],
        entries: &'a mut u64,
    ) -> f64 {
        let mut total = 0.0;
        for (k, x) in x.iter().enumerate().filter(|(_, x)| **x > 0.0) {
            total += x * read(simd, model, values, first_row + k);
            *entries += model.span(first_row + k).len() as u64;
        }
        total
    }
}
