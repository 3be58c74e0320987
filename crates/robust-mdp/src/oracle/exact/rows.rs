//! One state's rows as the exact oracle reads them: nominal probabilities y⁰ and objectives w ≤ 0,
//! each referenced at a constant that joins the row's base cost.
//!
//! Dense rows whose costs do not depend on the next state borrow the model's probabilities and
//! share w = λ(v − max v). All others are gathered, with w referenced at the row's own maximum.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::outlook::Outlook;
use crate::lanes::{dot, last};
use crate::model::{Model, Row};
use crate::uncertainty::{Distance, UncertaintySet};

/// How the rows of a model are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Borrowed, all states in order.
    Shared,
    /// Gathered, positive nominal probabilities only.
    Gathered,
    /// Gathered, also where a cost on the next state is listed; every other state may receive mass.
    WithTail,
}

impl Reading {
    pub(crate) fn new(model: &Model, set: &UncertaintySet) -> Reading {
        let everywhere = set.leaves_support();
        let borrow = model.is_dense() && !model.has_transition_costs();
        let full = || model.positive_transitions() == model.transitions();
        match set.distance {
            Distance::Ellipsoid if borrow && (everywhere || full()) => Reading::Shared,
            Distance::Kl | Distance::None if borrow => Reading::Shared,
            _ if everywhere => Reading::WithTail,
            _ => Reading::Gathered,
        }
    }
}

impl Reading {
    /// Whether entry `k` of a row is among those read.
    pub(super) fn lists(self, row: Row<'_>, k: usize) -> bool {
        match self {
            Reading::Shared => true,
            Reading::Gathered => row.prob[k] > 0.0,
            Reading::WithTail => row.lists(k),
        }
    }
}

/// Memory for the rows of one state.
#[derive(Debug, Default)]
pub(crate) struct RowsMemory {
    offsets: Vec<usize>,
    nominal: Vec<f64>,
    gain: Vec<f64>,
    /// λ(v − max v) of the entries, where tails need to know it; −∞ where the state is listed again: no
    /// tail has it twice.
    level: Vec<f64>,
    columns: Vec<u32>,
    base: Vec<f64>,
    /// What was taken out of each row's w beyond λ·max v.
    shift: Vec<f64>,
}

/// The rows of one state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    /// Row `k` is `offsets[k]..offsets[k + 1]`; empty: rows of `width` entries.
    offsets: &'a [usize],
    width: usize,
    nominal: &'a [f64],
    gain: &'a [f64],
    pub(super) level: &'a [f64],
    pub(super) columns: &'a [u32],
    /// c_a plus what was taken out of b_a.
    pub(super) base: &'a [f64],
    pub(super) shift: &'a [f64],
    /// No row's objectives differ by more than this.
    pub(super) range: f64,
}

impl<'a> Rows<'a> {
    pub(crate) fn load(
        model: &'a Model,
        reading: Reading,
        s: usize,
        ahead: &'a Outlook,
        memory: &'a mut RowsMemory,
    ) -> Rows<'a> {
        let rows = model.rows_of(s);
        memory.base.clear();
        memory.shift.clear();
        if reading == Reading::Shared {
            memory.base.extend(model.cost[rows.clone()].iter().map(|c| c + ahead.offset));
            let width = model.states();
            return Rows {
                offsets: &[],
                width,
                nominal: &model.prob[rows.start * width..rows.end * width],
                gain: &ahead.shared,
                level: &[],
                columns: &[],
                base: &memory.base,
                shift: &[],
                range: ahead.range,
            };
        }
        let range = gather(model, reading, rows, ahead, memory);
        Rows {
            offsets: &memory.offsets,
            width: 0,
            nominal: &memory.nominal,
            gain: &memory.gain,
            level: &memory.level,
            columns: &memory.columns,
            base: &memory.base,
            shift: &memory.shift,
            range,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.base.len()
    }

    #[inline(always)]
    pub(super) fn span(&self, k: usize) -> Range<usize> {
        if self.offsets.is_empty() {
            k * self.width..(k + 1) * self.width
        } else {
            self.offsets[k]..self.offsets[k + 1]
        }
    }

    /// y⁰_k and w_k.
    #[inline(always)]
    pub(super) fn row(&self, k: usize) -> (&'a [f64], &'a [f64]) {
        if self.offsets.is_empty() {
            (&self.nominal[k * self.width..(k + 1) * self.width], self.gain)
        } else {
            let span = self.offsets[k]..self.offsets[k + 1];
            (&self.nominal[span.clone()], &self.gain[span])
        }
    }

    /// y⁰ of all rows.
    pub(super) fn nominal(&self) -> &'a [f64] {
        self.nominal
    }

    /// Whether all rows have the same w.
    pub(super) fn shared(&self) -> bool {
        self.offsets.is_empty()
    }

    /// Whether exponentials of w may come from a table.
    pub(super) fn tabled(&self, ahead: &Outlook) -> bool {
        self.shared() && !ahead.in_place && self.range > 0.0
    }

    /// Next states of row `k`; `None`: all in order.
    pub(super) fn next_states(&self, k: usize) -> Option<&'a [u32]> {
        (!self.offsets.is_empty()).then(|| &self.columns[self.span(k)])
    }
}

/// Copies the rows next to each other; returns the largest spread of a row's objectives.
fn gather(
    model: &Model,
    reading: Reading,
    rows: Range<usize>,
    ahead: &Outlook,
    memory: &mut RowsMemory,
) -> f64 {
    let RowsMemory { offsets, nominal, gain, level, columns, base, shift } = memory;
    offsets.clear();
    nominal.clear();
    gain.clear();
    level.clear();
    columns.clear();
    offsets.push(0);
    let tail = reading == Reading::WithTail;
    // Rows that see their own next states only are measured by these, not by all of v.
    let offset = if tail { ahead.offset } else { 0.0 };
    let mut range = 0.0_f64;
    for r in rows {
        let (row, start) = (model.row(r), nominal.len());
        let (mut top, mut low) = (f64::NEG_INFINITY, f64::INFINITY);
        let plain = !tail
            && row.next.is_some()
            && row.transition_cost.is_none()
            && row.prob.iter().all(|p| *p > 0.0);
        if let (Some(next), true) = (row.next, plain) {
            // The usual case: whole slices at a time.
            nominal.extend_from_slice(row.prob);
            columns.extend_from_slice(next);
            gain.extend(next.iter().map(|&i| ahead.discount * ahead.values[i as usize]));
            for &w in &gain[start..] {
                (top, low) = (top.max(w), low.min(w));
            }
        }
        let entries = if plain { 0 } else { row.prob.len() };
        let listed = row.entries().take(entries).enumerate();
        for (_, (next, p, extra)) in listed.filter(|(k, _)| reading.lists(row, *k)) {
            nominal.push(p);
            let again = columns[start..].last() == Some(&(next as u32));
            columns.push(next as u32);
            let w = if tail {
                level.push(if again { f64::NEG_INFINITY } else { ahead.shared[next] });
                ahead.shared[next] + extra
            } else {
                ahead.discount * ahead.values[next] + extra
            };
            gain.push(w);
            (top, low) = (top.max(w), low.min(w));
        }
        if tail {
            top = highest_outside(ahead, &columns[start..]).map_or(top, |w| top.max(w));
            low = low.min(-ahead.range);
        }
        gain[start..].iter_mut().for_each(|w| *w -= top);
        base.push(row.cost + offset + top);
        shift.push(top);
        offsets.push(nominal.len());
        range = range.max(top - low);
    }
    range
}

/// The largest level of a state that is not among `columns`.
fn highest_outside(ahead: &Outlook, columns: &[u32]) -> Option<f64> {
    let ranking = ahead.ranking.as_ref().expect("tails need a ranking");
    let rank = ranking.order.iter().position(|i| columns.binary_search(i).is_err())?;
    Some(ranking.level[rank])
}

/// Nominal values base + ⟨y⁰, w⟩ of the rows in `list`.
pub(super) struct Nominals<'a> {
    pub(super) rows: Rows<'a>,
    pub(super) list: &'a [u32],
    pub(super) out: &'a mut [f64],
}

impl WithSimd for Nominals<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (&k, out) in self.list.iter().zip(self.out) {
            let (nominal, gain) = self.rows.row(k as usize);
            *out = self.rows.base[k as usize] + dot(simd, nominal, gain);
        }
    }
}

/// ⟨y⁰, w⟩ and ⟨y⁰, w²⟩ of the rows in `list`, by number of the row.
pub(super) struct Spreads<'a> {
    pub(super) rows: Rows<'a>,
    pub(super) list: &'a [u32],
    pub(super) out: &'a mut [[f64; 2]],
}

impl WithSimd for Spreads<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for &k in self.list {
            let (nominal, gain) = self.rows.row(k as usize);
            let zero = simd.splat_f64s(0.0);
            let (mut mean, mut square) = ([zero; 2], [zero; 2]);
            let (y, last_y) = S::as_simd_f64s(nominal);
            let (w, _) = S::as_simd_f64s(gain);
            let (y2, y1) = pulp::as_arrays::<2, _>(y);
            let (w2, w1) = pulp::as_arrays::<2, _>(w);
            for (y, w) in y2.iter().zip(w2) {
                for c in 0..2 {
                    let yw = simd.mul_f64s(y[c], w[c]);
                    mean[c] = simd.add_f64s(mean[c], yw);
                    square[c] = simd.mul_add_e_f64s(yw, w[c], square[c]);
                }
            }
            let mut more = |y, w| {
                let yw = simd.mul_f64s(y, w);
                mean[0] = simd.add_f64s(mean[0], yw);
                square[0] = simd.mul_add_e_f64s(yw, w, square[0]);
            };
            for (&y, &w) in y1.iter().zip(w1) {
                more(y, w);
            }
            if !last_y.is_empty() {
                more(last(simd, nominal), last(simd, gain));
            }
            self.out[k as usize] =
                [mean, square].map(|sum| simd.reduce_sum_f64s(simd.add_f64s(sum[0], sum[1])));
        }
    }
}
