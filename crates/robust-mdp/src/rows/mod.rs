//! One state's rows at the values of a sweep: nominal probabilities p and objectives
//! w_j = c_j + λv_j − (a constant that joins the row's cost), c_j the further cost of that next state.
//!
//! - [`SweepValues`]: what all states need of the values, once a sweep.
//! - [`Rows`]: the rows of one state. Dense rows without costs on next states borrow p and share w;
//!   of others p is borrowed and w is made when a row is first read.
//! - [`Row`]: one row, as a set sees it, with the states that it does not list ([`Outside`]).
//! - [`ExplicitRows`]: the rows of one state with every state listed that they may use, laid out by
//!   [`Layout`].

mod explicit;
mod layout;
mod ranking;
mod values;

pub(crate) use explicit::{Budget, ExplicitMemory, ExplicitRows, row_values};
pub(crate) use layout::{Layout, shares_budget, widest_row};
pub use ranking::Outside;
pub(crate) use ranking::Ranking;
pub(crate) use values::SweepValues;

use crate::lanes::{dot, kernels, product, walk};
use crate::model::Model;
use crate::sets::{DataSource, EntryData, GatheredData, Places, Set, UncertaintySet};

/// One row as a set sees it.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Nominal probabilities.
    pub p: &'a [f64],
    /// Objectives; at most `maximum` wherever the row may have mass.
    pub w: &'a [f64],
    /// The largest objective where the row may have mass: z = w − maximum ≤ 0 there.
    pub maximum: f64,
    /// No two objectives differ by more.
    pub range: f64,
    /// States that are not listed but may receive mass; `None`: there are none.
    pub outside: Option<Outside<'a>>,
    /// Its entries by falling w, where that is known ([`Curve::sorts`](crate::sets::Curve::sorts)).
    pub order: Option<&'a [u32]>,
    /// What the set is told of the entries.
    pub data: EntryData<'a>,
}

impl Row<'_> {
    /// ⟨z, p⟩ ≤ 0.
    pub fn nominal(&self) -> f64 {
        (product(self.p, self.w) - self.maximum).min(0.0)
    }

    /// The same from differences, which keeps the digits of small ones, and is 0 where there are none.
    pub(crate) fn below_maximum(&self) -> f64 {
        nominal_below(self.p, self.w, self.maximum)
    }
}

/// How the rows of a model are read for a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowForm {
    /// p is borrowed, all rows share w.
    Shared,
    /// p is borrowed, w is the row's own.
    Own,
    /// Both are the row's own: entries that cannot have probability are left out.
    Positive,
    /// As `Own`, and unlisted states may receive mass.
    Outside,
    /// Both are the row's own, and list every state.
    Every,
}

impl RowForm {
    /// Of a set, which may put mass everywhere or must not where p = 0, by its nature or by choice.
    pub(crate) fn new(
        model: &Model,
        uncertainty: &UncertaintySet,
        set: Option<&dyn Set>,
    ) -> RowForm {
        let everywhere = uncertainty.leaves_support();
        let data = DataSource::new(model, uncertainty);
        let full = || (0..model.rows()).all(|r| data.is_open(model.row(r)));
        // Entries without probability are told by p = 0.
        let by_p = set.is_none_or(|set| !set.leaves_support()) && !data.opens_any();
        let listed = set.is_some_and(|set| !set.counts_outside()) || data.is_some();
        match (model.is_dense(), model.has_transition_costs()) {
            (true, false) if everywhere || by_p || full() => RowForm::Shared,
            // Next states that a row cannot reach must not cost it digits.
            _ if !everywhere && !full() => RowForm::Positive,
            (true, false) => RowForm::Shared,
            (true, true) => RowForm::Own,
            (false, _) if everywhere && listed => RowForm::Every,
            (false, _) if everywhere => RowForm::Outside,
            (false, _) => RowForm::Own,
        }
    }
}

/// What all states' rows have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowSource<'a> {
    pub(crate) model: &'a Model,
    pub(crate) reading: RowForm,
    pub(crate) data: DataSource<'a>,
    /// Mass may go wherever rows list a state.
    pub(crate) everywhere: bool,
    /// c_a + Σ p·c(s,a,s') of every row.
    pub(crate) expected: &'a [f64],
    /// The largest cost of a step of every row.
    pub(crate) dearest: &'a [f64],
}

/// Memory for the rows of one state.
#[derive(Debug, Default)]
pub(crate) struct RowsMemory {
    loaded: Vec<Loaded>,
    p: Vec<f64>,
    w: Vec<f64>,
    columns: Vec<u32>,
    /// λ(v − max v) of the entries, for rows with outside states.
    level: Vec<f64>,
    data: GatheredData,
    base: Vec<f64>,
    maximum: Vec<Option<(f64, f64)>>,
    /// What a set says of the largest value of a row.
    peak: Vec<Option<f64>>,
}

/// Where a row that was made lies.
#[derive(Clone, Copy, Debug, Default)]
struct Loaded {
    start: usize,
    len: usize,
    shift: f64,
    best: Option<f64>,
    here: bool,
}

/// The rows of one state.
#[derive(Debug)]
pub struct Rows<'a> {
    source: RowSource<'a>,
    first: usize,
    pub(crate) values: &'a SweepValues,
    memory: &'a mut RowsMemory,
    /// No row that was made has objectives that differ by more.
    pub(crate) range: f64,
    /// Entries visited.
    pub(crate) visited: u64,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(
        source: RowSource<'a>,
        s: usize,
        values: &'a SweepValues,
        memory: &'a mut RowsMemory,
    ) -> Rows<'a> {
        let rows = source.model.rows_of(s);
        memory.base.clear();
        memory.base.extend(source.dearest[rows.clone()].iter().map(|c| c + values.offset));
        memory.maximum.clear();
        memory.maximum.resize(rows.len(), None);
        memory.peak.clear();
        memory.peak.resize(rows.len(), None);
        let shared = source.reading == RowForm::Shared;
        if !shared {
            memory.loaded.clear();
            memory.loaded.resize(rows.len(), Loaded::default());
            memory.w.clear();
            memory.p.clear();
            memory.columns.clear();
            memory.level.clear();
            memory.data.clear();
        }
        // Sparse rows are measured by their own next states, not by all of v.
        let dense = source.model.is_dense() && source.reading != RowForm::Positive;
        let range = if dense { values.range } else { 0.0 };
        Rows { source, first: rows.start, values, memory, range, visited: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.memory.base.len()
    }

    /// Whether all rows have the same w.
    pub(crate) fn shared(&self) -> bool {
        self.source.reading == RowForm::Shared
    }

    pub(crate) fn has_outside(&self) -> bool {
        self.source.reading == RowForm::Outside
    }

    /// p of all rows next to each other, where they share w.
    pub(crate) fn all_nominal(&self) -> &'a [f64] {
        let width = self.source.model.states();
        &self.source.model.prob[self.first * width..(self.first + self.len()) * width]
    }

    /// c_a and what was taken out of w: the row's value is base + ⟨w, y⟩. Of a row that was not made, a
    /// number that no value of the row exceeds.
    #[inline(always)]
    pub(crate) fn base(&self, k: usize) -> f64 {
        self.memory.base[k]
    }

    pub(crate) fn bases(&self) -> &[f64] {
        &self.memory.base
    }

    /// Whether mass may go to every entry that is read.
    fn is_everywhere(&self) -> bool {
        self.source.everywhere || self.source.data.opens_any()
    }

    /// Whether the set has other weights than 1.
    pub(crate) fn is_weighted(&self) -> bool {
        self.source.data.weights.is_some()
    }

    /// Entries that reading row k visits.
    pub(crate) fn width(&self, k: usize) -> usize {
        match self.source.reading {
            RowForm::Shared => self.values.shared.len(),
            RowForm::Own | RowForm::Outside => self.source.model.span(self.first + k).len(),
            RowForm::Positive | RowForm::Every => self.memory.loaded[k].len,
        }
    }

    /// p and w of a row that was made.
    #[inline(always)]
    pub(crate) fn entries(&self, k: usize) -> (&[f64], &[f64]) {
        let prob = &self.source.model.prob;
        match self.source.reading {
            RowForm::Shared => {
                let width = self.values.shared.len();
                let start = (self.first + k) * width;
                (&prob[start..start + width], &self.values.shared)
            }
            RowForm::Own | RowForm::Outside => {
                let Loaded { start, len, .. } = self.memory.loaded[k];
                let span = self.source.model.span(self.first + k);
                (&prob[span], &self.memory.w[start..start + len])
            }
            RowForm::Positive | RowForm::Every => {
                let Loaded { start, len, .. } = self.memory.loaded[k];
                (&self.memory.p[start..start + len], &self.memory.w[start..start + len])
            }
        }
    }

    /// Next states of row k, as it was made; `None`: all in order.
    pub(crate) fn next_states(&self, k: usize) -> Option<&[u32]> {
        let row = self.source.model.row(self.first + k);
        match self.source.reading {
            RowForm::Shared => None,
            RowForm::Own | RowForm::Outside => row.next,
            RowForm::Positive | RowForm::Every => {
                let Loaded { start, len, .. } = self.memory.loaded[k];
                Some(&self.memory.columns[start..start + len])
            }
        }
    }

    /// Row k, which was made and whose maximum is known.
    pub(crate) fn row(&self, k: usize) -> Row<'_> {
        let (p, w) = self.entries(k);
        let maximum = self.memory.maximum[k].map_or(0.0, |m| m.0);
        let outside = || {
            let Loaded { start, len, shift, best, .. } = self.memory.loaded[k];
            Some(Outside {
                ranking: self.values.ranking.as_ref()?,
                listed: &self.memory.level[start..start + len],
                shift,
                best: best?,
            })
        };
        let outside = if self.has_outside() { outside() } else { None };
        let data = if self.source.data.is_some() { self.data(k) } else { EntryData::default() };
        let ranking = self.values.ranking.as_ref();
        let ranking = ranking.filter(|_| self.shared() && !self.values.in_place);
        let order = ranking.map(|ranking| &ranking.order[..]);
        Row { p, w, maximum, range: self.range, outside, order, data }
    }

    /// What the set is told of the entries of row k, which was made.
    fn data(&self, k: usize) -> EntryData<'_> {
        let source = self.source.data;
        if self.shared() {
            return source.of_dense(self.source.model.span(self.first + k));
        }
        let Loaded { start, len, .. } = self.memory.loaded[k];
        let gathered = self.memory.data.of(source, None).part(start..start + len);
        match gathered.places {
            Some(places) => {
                let places = Some(Places { next: self.next_states(k), ..places });
                EntryData { places, ..gathered }
            }
            None => gathered,
        }
    }

    /// Row k with its maximum, made if it was not.
    pub(crate) fn look_at(&mut self, k: usize) -> Row<'_> {
        self.make(k);
        self.maximum(k);
        self.row(k)
    }

    /// The largest w of row k and the nominal mass there (of listed entries).
    pub(crate) fn maximum(&mut self, k: usize) -> (f64, f64) {
        if let Some(found) = self.memory.maximum[k] {
            return found;
        }
        self.make(k);
        let (p, w) = self.entries(k);
        let everywhere = self.is_everywhere();
        let ranking =
            self.values.ranking.as_ref().filter(|_| self.shared() && !self.values.in_place);
        let (found, seen) = match ranking {
            // Rows that may use every state are referred to their maxima.
            _ if everywhere => ((0.0, 0.0), 0),
            Some(ranking) => {
                let (maximum, mass, seen) = ranking.maximum(p);
                ((maximum, mass), seen)
            }
            None => (positive_maximum(p, w), p.len()),
        };
        self.visited += seen as u64;
        self.memory.maximum[k] = Some(found);
        found
    }

    /// Whether w of every row is referred to the row's own maximum.
    pub(crate) fn maxima_are_zero(&self) -> bool {
        self.is_everywhere() || self.source.reading == RowForm::Positive
    }

    /// [`Curve::peak`] of row k, where it was asked for.
    pub(crate) fn peak(&self, k: usize) -> Option<f64> {
        self.memory.peak[k]
    }

    pub(crate) fn set_peak(&mut self, k: usize, peak: f64) {
        self.memory.peak[k] = Some(peak);
    }

    /// The largest value of row k, if all of its mass may be on the maximum of its objectives.
    pub(crate) fn largest(&mut self, k: usize) -> f64 {
        let (maximum, _) = self.maximum(k);
        self.memory.base[k] + maximum
    }

    /// Makes the objectives of row k, unless that was done.
    pub(crate) fn make(&mut self, k: usize) {
        if self.shared() || self.memory.loaded[k].here {
            return;
        }
        let row = self.source.model.row(self.first + k);
        let SweepValues { v, shared, discount, referred, offset, range, .. } = self.values;
        // What objectives are counted from.
        let origin = if *referred { *offset } else { 0.0 };
        let objective = |i: usize| if *referred { shared[i] } else { discount * v[i] };
        let RowsMemory { loaded, p, w, columns, level, base, data, .. } = &mut *self.memory;
        let (start, source) = (w.len(), self.source.data);
        let stored = self.source.model.span(self.first + k).start;
        self.visited += row.prob.len() as u64;
        match self.source.reading {
            RowForm::Shared => {}
            RowForm::Own | RowForm::Outside => match row.next {
                None => w.extend((0..v.len()).map(objective)),
                Some(next) => w.extend(next.iter().map(|&i| objective(i as usize))),
            },
            RowForm::Positive => {
                for (j, (next, prob, _)) in
                    row.entries().enumerate().filter(|e| source.opens(row, e.0))
                {
                    w.push(objective(next));
                    p.push(prob);
                    columns.push(next as u32);
                    data.push(source, next, Some(stored + j));
                }
            }
            RowForm::Every => row.visit_all(v.len(), |next, j| {
                w.push(
                    objective(next) + j.map_or(0.0, |j| row.transition_cost.map_or(0.0, |c| c[j])),
                );
                p.push(j.map_or(0.0, |j| row.prob[j]));
                columns.push(next as u32);
                data.push(source, next, j.map(|j| stored + j));
            }),
        }
        if matches!(self.source.reading, RowForm::Own | RowForm::Outside) && source.is_some() {
            let listed = row.entries().enumerate();
            listed.for_each(|(j, (next, ..))| data.push(source, next, Some(stored + j)));
        }
        let mut outside = None;
        if self.source.reading == RowForm::Outside {
            let next = row.next.unwrap_or(&[]);
            // The ranking's own numbers, so that both agree on what lies above a border.
            level.extend(next.iter().map(|&i| shared[i as usize]));
            (1..next.len()).filter(|&j| next[j] == next[j - 1]).for_each(|j| {
                level[start + j] = f64::NEG_INFINITY;
            });
            outside =
                self.values.best_outside(next).map(|level| (level, level + (offset - origin)));
        }
        let own = &mut w[start..];
        match (row.transition_cost, self.source.reading) {
            (None, _) => {}
            (Some(cost), RowForm::Positive) => {
                let open = cost.iter().enumerate().filter(|(j, _)| source.opens(row, *j));
                own.iter_mut().zip(open).for_each(|(w, (_, c))| *w += c);
            }
            (Some(_), RowForm::Every) => {}
            (Some(cost), RowForm::Shared | RowForm::Own | RowForm::Outside) => {
                own.iter_mut().zip(cost).for_each(|(w, c)| *w += c)
            }
        }
        // Plain, since most rows are short.
        let wider = |(low, maximum): (f64, f64), &w: &f64| {
            (if w < low { w } else { low }, if w > maximum { w } else { maximum })
        };
        let (mut low, mut maximum) = own.iter().fold((f64::INFINITY, f64::NEG_INFINITY), wider);
        if let Some((_, best)) = outside {
            (low, maximum) = (low.min((offset - origin) - range), maximum.max(best));
        }
        own.iter_mut().for_each(|w| *w -= maximum);
        self.range = self.range.max(maximum - low);
        base[k] = row.cost + (origin + maximum);
        let shift = match outside {
            // So that it is 0 exactly where it is to be.
            Some((level, best)) if best == maximum => level,
            _ => maximum - (offset - origin),
        };
        let best = outside.map(|(_, best)| best - maximum);
        loaded[k] = Loaded { start, len: own.len(), shift, best, here: true };
    }

    /// c_a + ⟨c + λv, p⟩ of row k. Dense rows are not made for that.
    pub(crate) fn nominals(&mut self, list: &[u32], out: &mut [f64]) {
        let model = self.source.model;
        if model.is_dense() && self.source.reading != RowForm::Positive {
            self.visited += (list.len() * model.states()) as u64;
            let (prob, expected) = (&model.prob, self.source.expected);
            return dense_nominals(prob, self.first, expected, self.values, list, out);
        }
        for (&k, out) in list.iter().zip(out) {
            self.make(k as usize);
            let (p, w) = self.entries(k as usize);
            let value = match p.len() {
                // Without the cost of a call.
                ..16 => p.iter().zip(w).map(|(p, w)| p * w).sum::<f64>(),
                _ => product(p, w),
            };
            let width = p.len() as u64;
            *out = self.memory.base[k as usize] + value;
            self.visited += width;
        }
    }
}

kernels! {
    /// Σp·min(w − maximum, 0).
    fn nominal_below<'a>(simd, p: &'a [f64], w: &'a [f64], maximum: f64) -> f64 {
        let (zero, maximum) = (simd.splat_f64s(0.0), simd.splat_f64s(maximum));
        let mut sum = zero;
        walk!(simd, [p, w] => |p, w| {
            let z = simd.min_f64s(simd.sub_f64s(w, maximum), zero);
            sum = simd.add_f64s(sum, simd.mul_f64s(p, z));
        });
        simd.reduce_sum_f64s(sum)
    }

    /// c_a + ⟨c + λv, p⟩ of the rows of `list`, counted from `first`.
    fn dense_nominals<'a>(
        simd,
        prob: &'a [f64],
        first: usize,
        expected: &'a [f64],
        values: &'a SweepValues,
        list: &'a [u32],
        out: &'a mut [f64],
    ) -> () {
        let SweepValues { shared, offset, .. } = values;
        for (&k, out) in list.iter().zip(out) {
            let r = first + k as usize;
            let p = &prob[r * shared.len()..(r + 1) * shared.len()];
            *out = expected[r] + offset + dot(simd, p, shared);
        }
    }

    /// The largest w where p is positive, and the mass there.
    fn positive_maximum<'a>(simd, p: &'a [f64], w: &'a [f64]) -> (f64, f64) {
        let zero = simd.splat_f64s(0.0);
        let lowest = simd.splat_f64s(f64::NEG_INFINITY);
        let mut maximum = lowest;
        walk!(simd, [p, w] => |p, w| {
            let usable = simd.less_than_f64s(zero, p);
            maximum = simd.max_f64s(maximum, simd.select_f64s(usable, w, lowest));
        });
        let maximum = simd.reduce_max_f64s(maximum);
        let level = simd.splat_f64s(maximum);
        let mut mass = zero;
        walk!(simd, [p, w] => |p, w| {
            mass = simd.add_f64s(mass, simd.select_f64s(simd.equal_f64s(w, level), p, zero));
        });
        (maximum, simd.reduce_sum_f64s(mass))
    }
}
