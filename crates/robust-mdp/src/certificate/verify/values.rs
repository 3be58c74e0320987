//! What rows need of the values, and rows one at a time.
//!
//! Objectives are w' = c(s,a,i) + λ(v_i − max v) − maximum ≤ 0, maximum the row's largest. The doubles w'
//! differ from the exact ones by at most ω, the same for all next states; as a row has mass one, so
//! does its value. The nominal row is the stored one over its exact sum.

use super::interval::{Interval, TINY, UNIT};
use super::proof::ProofRow;
use super::sums::{Mean, steps};
use super::tail::{Ranking, Unlisted};
use crate::model::{self, Model};
use crate::sets::{DataSource, EntryData, GatheredData, UncertaintySet};

/// What all rows need of the values v.
pub(super) struct VerifiedValues<'a> {
    model: &'a Model,
    pub(super) v: &'a [f64],
    /// λ(v − max v), at most 0.
    pub(super) w: Vec<f64>,
    /// −min of `w`.
    pub(super) range: f64,
    /// λ·max v.
    pub(super) offset: f64,
    /// How far `w` and `offset` may be from exact, together.
    pub(super) omega: f64,
    /// Rows may have mass where the nominal ones have none.
    everywhere: bool,
    /// Rows that may have mass everywhere list all states.
    every: bool,
    pub(super) data: DataSource<'a>,
    /// Where rows may have mass on states that they do not list, or list states where they cannot have any.
    ranking: Option<Ranking>,
}

/// Memory for a row.
#[derive(Default)]
pub(super) struct RowScratch {
    p: Vec<f64>,
    w: Vec<f64>,
    /// w without what transitions cost; −∞ where a row lists a state again.
    bare: Vec<f64>,
    next: Vec<u32>,
    data: GatheredData,
}

impl<'a> VerifiedValues<'a> {
    pub(super) fn new(
        model: &'a Model,
        set: &'a UncertaintySet,
        v: &'a [f64],
    ) -> VerifiedValues<'a> {
        let highest = v.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        let lowest = v.iter().fold(f64::INFINITY, |m, v| m.min(*v));
        let w: Vec<f64> = v.iter().map(|v| model.discount() * (v - highest)).collect();
        // Values too far apart for doubles make ω infinite, or NaN at discount 0.
        let (range, offset) = (model.discount() * (highest - lowest), model.discount() * highest);
        let everywhere = set.leaves_support();
        let data = DataSource::new(model, set);
        let keeps_support = set.distance.set().is_none_or(|set| !set.leaves_support());
        let ranked = keeps_support && model.is_dense() && model.transition_cost.is_none();
        let listed = set.distance.set().is_some_and(|set| !set.counts_outside()) || data.is_some();
        let every = everywhere && !model.is_dense() && listed;
        VerifiedValues {
            model,
            v,
            range,
            offset,
            omega: UNIT * (2.1 * range + 1.1 * offset.abs()) + TINY,
            everywhere,
            every,
            data,
            ranking: (ranked || everywhere && !model.is_dense() && !every)
                .then(|| Ranking::new(&w)),
            w,
        }
    }

    /// Row r and its ω, borrowed where it is as it should be.
    #[inline(always)]
    pub(super) fn row<'r>(&'r self, r: usize, scratch: &'r mut RowScratch) -> (ProofRow<'r>, f64) {
        let row = self.model.row(r);
        if let (None, None) = (row.next, row.transition_cost)
            && let Some(maximum) = self.shared_maximum(row)
        {
            let (omega, depth) = (self.omega + 1.1 * UNIT * self.range, self.range);
            let data = self.data.of_dense(self.model.span(r));
            let (p, w) = (row.prob, &self.w[..]);
            return (ProofRow { p, w, maximum, depth, unlisted: None, data }, omega);
        }
        match self.every {
            true => self.gather_all(r, scratch),
            false => self.gather(r, scratch),
        }
        let (maximum, depth, size) = self.ends(row, &scratch.w);
        let RowScratch { p, w, bare, next, data } = scratch;
        let all = row.next.is_none() && p.is_empty();
        let data = data.of(self.data, (!all).then_some(&next[..]));
        let p = if p.is_empty() { row.prob } else { &p[..] };
        let listed = if row.transition_cost.is_some() { &bare[..] } else { &w[..] };
        let unlisted = self.ranking.as_ref().map(|ranking| Unlisted { ranking, listed, maximum });
        let omega = self.omega + 1.1 * UNIT * (size + depth);
        (ProofRow { p, w, maximum, depth, unlisted, data }, omega)
    }

    /// The maximum of a row that lists all states, if it can be read as it is.
    fn shared_maximum(&self, row: model::NominalRow<'_>) -> Option<f64> {
        let p = row.prob;
        match &self.ranking {
            _ if self.everywhere => Some(0.0),
            _ if self.data.opens_any() => self.data.is_open(row).then_some(0.0),
            Some(ranking) => ranking.best(|i| p[i as usize] > 0.0),
            None => (p.iter().filter(|p| **p == 0.0).count() == 0).then_some(0.0),
        }
    }

    /// w of the entries where a row may have mass; and p, unless these are all.
    fn gather(&self, r: usize, RowScratch { p, w, bare, next, data }: &mut RowScratch) {
        let (row, start) = (self.model.row(r), self.model.span(r).start);
        p.clear();
        w.clear();
        next.clear();
        data.clear();
        match row.next {
            Some(next) => w.extend(next.iter().map(|&i| self.w[i as usize])),
            None => w.extend_from_slice(&self.w),
        }
        if let Some(tolls) = row.transition_cost {
            bare.clear();
            bare.extend_from_slice(w);
            (0..w.len()).filter(|&k| row.is_repeated(k)).for_each(|k| bare[k] = f64::NEG_INFINITY);
            w.iter_mut().zip(tolls).for_each(|(w, toll)| *w += toll);
        }
        let open = |j: usize| self.everywhere || self.data.opens(row, j);
        if !self.everywhere && !self.data.is_open(row) {
            let mut entries = 0..row.prob.len();
            p.extend(entries.clone().filter(|&j| open(j)).map(|j| row.prob[j]));
            w.retain(|_| entries.next().is_some_and(open));
        }
        if self.data.is_some() {
            for (j, (to, ..)) in row.entries().enumerate().filter(|e| open(e.0)) {
                next.push(to as u32);
                data.push(self.data, to, Some(start + j));
            }
        }
    }

    /// p and w of every state.
    fn gather_all(&self, r: usize, RowScratch { p, w, next, data, .. }: &mut RowScratch) {
        let (row, start) = (self.model.row(r), self.model.span(r).start);
        p.clear();
        w.clear();
        next.clear();
        data.clear();
        row.visit_all(self.w.len(), |to, j| {
            let further = j.map_or(0.0, |j| row.transition_cost.map_or(0.0, |cost| cost[j]));
            p.push(j.map_or(0.0, |j| row.prob[j]));
            w.push(self.w[to] + further);
            next.push(to as u32);
            data.push(self.data, to, j.map(|j| start + j));
        });
    }

    /// The maximum and the depth of what was gathered, and the size of what was rounded to make it.
    fn ends(&self, row: model::NominalRow<'_>, w: &[f64]) -> (f64, f64, f64) {
        let maximum = w.iter().fold(f64::NEG_INFINITY, |m, w| if *w > m { *w } else { m });
        if row.transition_cost.is_none() {
            // The highest of all states, listed or not.
            let unlisted = self.everywhere && self.ranking.is_some();
            return (if unlisted { 0.0 } else { maximum }, self.range, 0.0);
        }
        let mut low = w.iter().fold(f64::INFINITY, |m, w| if *w < m { *w } else { m });
        let (mut maximum, size) = (maximum, maximum.abs().max(low.abs()));
        if let (Some(ranking), Some(next)) = (&self.ranking, row.next) {
            let best = ranking.best(|i| next.binary_search(&i).is_err());
            maximum = best.map_or(maximum, |best| maximum.max(best));
            low = low.min(-self.range);
        }
        (maximum, maximum - low, size)
    }

    /// The maximum of a nominal row, its value less that, and how far both may be from exact.
    pub(super) fn nominal(&self, r: usize, scratch: &mut RowScratch) -> [f64; 3] {
        let row = self.model.row(r);
        let (maximum, omega, [mass, depth]) = if row.transition_cost.is_some() {
            let (row, omega) = self.row(r, scratch);
            (row.maximum, omega, row.sums(1.0, 0.0, Mean))
        } else if let Some(next) = row.next {
            (0.0, self.omega, self.listed_mean(row.prob, next))
        } else {
            let (p, w) = (row.prob, &self.w[..]);
            let (depth, data) = (self.range, EntryData::default());
            let all = ProofRow { p, w, maximum: 0.0, depth, unlisted: None, data };
            (0.0, self.omega, all.sums(1.0, 0.0, Mean))
        };
        let steps = 2.0 * steps(row.prob.len());
        let value = Interval::of_sum(-depth, steps) / Interval::of_sum(mass, steps);
        [maximum, value.mid, omega + value.rad]
    }

    /// Σp and −Σpw of a row without costs of its own, in four parts: twice the steps of sums in eight.
    fn listed_mean(&self, p: &[f64], next: &[u32]) -> [f64; 2] {
        let mut sums = [[0.0; 4]; 2];
        let mut add = |p: &[f64], next: &[u32]| {
            for (j, (p, &i)) in p.iter().zip(next).enumerate() {
                sums[0][j] += p;
                sums[1][j] -= p * self.w[i as usize];
            }
        };
        let ((fours, rest), (next, last)) = (p.as_chunks::<4>(), next.as_chunks::<4>());
        fours.iter().zip(next).for_each(|(p, next)| add(p, next));
        add(rest, last);
        sums.map(|[a, b, c, d]| (a + b) + (c + d))
    }
}
