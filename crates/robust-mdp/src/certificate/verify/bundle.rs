//! Rows that list their next states, eight side by side: a register has an entry of each.

use pulp::Simd;

use super::lane::{Lane, load, store};
use super::reading::Columns;
use super::rounding::UNIT;
use super::row::Ahead;
use super::sums::{Ellipsoid, Kl, Nominal, RUN, Terms, steps_of_runs};
use crate::model::{Model, Storage};

/// A register of each has an entry of every row. After its last entry a row has more of probability 0.
#[derive(Default)]
pub(super) struct Bundle {
    p: Vec<[f64; 8]>,
    /// λ(v − max v), and what the transitions cost.
    w: Vec<[f64; 8]>,
    /// Without that cost, where it matters.
    bare: Vec<[f64; 8]>,
}

impl Bundle {
    /// Takes in up to eight rows, and tells their columns what they need to know.
    #[inline(always)]
    pub(super) fn fill<S: Simd>(
        &mut self,
        simd: S,
        model: &Model,
        ahead: &Ahead,
        columns: &mut Columns,
    ) {
        let Bundle { p, w, bare } = self;
        let spans = Spans::new(model, columns.rows());
        let (prob, values) = (&model.prob[..], &ahead.w[..]);
        spans.gather(p, |at, _, listed| if listed { prob[at] } else { 0.0 });
        match (&model.storage, &model.transition_cost) {
            (Storage::Sparse { next, .. }, None) => {
                spans.gather(w, |at, _, _| values[next[at] as usize]);
            }
            (Storage::Sparse { next, .. }, Some(tolls)) => {
                spans.gather(bare, |at, _, _| values[next[at] as usize]);
                spans.gather(w, |at, _, _| values[next[at] as usize] + tolls[at]);
            }
            (Storage::Dense, None) => spans.gather(w, |_, k, _| values[k]),
            (Storage::Dense, Some(tolls)) => spans.gather(w, |at, k, _| values[k] + tolls[at]),
        }
        columns.n = spans.len.map(|n| n as f64);
        self.measure(simd, model, ahead, columns);
    }

    /// The columns of a row that do not depend on multipliers.
    #[inline(always)]
    fn measure<S: Simd>(&self, simd: S, model: &Model, ahead: &Ahead, columns: &mut Columns) {
        let (mut top, mut low) = ([0.0; 8], [0.0; 8]);
        for j in 0..Lane::<S>::REGISTERS {
            let [least, most] = [f64::NEG_INFINITY, f64::INFINITY].map(|x| Lane::splat(simd, x));
            let (mut ends, mut place) = ([least, most], Places::new(simd, ahead, columns, j));
            for (p, w) in self.p.iter().zip(&self.w) {
                let [p, w] = [p, w].map(|x| load(simd, x, j));
                let [high, low] = [least, most].map(|none| place.select(p, w, none));
                ends = [ends[0].at_least(high), ends[1].at_most(low)];
                place.next();
            }
            store(&mut top, j, ends[0]);
            store(&mut low, j, ends[1]);
        }
        let mut size = [0.0; 8];
        for l in 0..8 {
            size[l] = top[l].abs().max(low[l].abs());
        }
        match &ahead.ranking {
            // The highest of all states, listed or not.
            Some(_) if model.transition_cost.is_none() => top = [0.0; 8],
            Some(ranking) => {
                for (l, top) in top.iter_mut().enumerate() {
                    let listed = self.bare.iter().take(columns.n[l] as usize).map(|w| w[l]);
                    *top = ranking.highest_outside(listed).map_or(*top, |w| top.max(w));
                }
            }
            None => (),
        }
        for l in 0..8 {
            let depth = top[l] - low[l];
            (columns.top[l], columns.depth[l]) = (top[l], depth);
            columns.omega[l] = ahead.omega + 1.1 * UNIT * (size[l] + depth);
            columns.steps[l] = steps_of_runs(columns.n[l] as usize);
        }
    }

    fn bare(&self, model: &Model) -> &[[f64; 8]] {
        if model.transition_cost.is_some() { &self.bare } else { &self.w }
    }

    /// The sums that multipliers ask for, in the columns.
    #[inline(always)]
    pub(super) fn pass<S: Simd, const KL: bool>(
        &self,
        simd: S,
        ahead: &Ahead,
        columns: &mut Columns,
    ) {
        for j in 0..Lane::<S>::REGISTERS {
            let Columns { t, nu, top, .. } = &*columns;
            let [t, nu, top] = [t, nu, top].map(|x| load(simd, x, j));
            let place = Places::new(simd, ahead, columns, j);
            let found = match KL {
                true => self.sums(simd, j, None, Kl { t, nu, top }),
                false => self.sums(simd, j, Some(place), Ellipsoid { t, nu, top }),
            };
            for (to, sum) in columns.sums.iter_mut().zip(found) {
                store(to, j, sum);
            }
        }
    }

    /// Σp and Σpw'.
    #[inline(always)]
    pub(super) fn average<S: Simd>(&self, simd: S, columns: &mut Columns) {
        for j in 0..Lane::<S>::REGISTERS {
            let top = load(simd, &columns.top, j);
            let found = self.sums(simd, j, None, Nominal { top });
            for (to, sum) in columns.sums.iter_mut().zip(found) {
                store(to, j, sum);
            }
        }
    }

    /// Terms that do not vanish with p are told `places`: elsewhere w is as low as can be.
    #[inline(always)]
    fn sums<S: Simd, const K: usize>(
        &self,
        simd: S,
        j: usize,
        mut places: Option<Places<S>>,
        of: impl Terms<S, K>,
    ) -> [Lane<S>; K] {
        let mut sums = [Lane::splat(simd, 0.0); K];
        for (p, w) in self.p.chunks(RUN).zip(self.w.chunks(RUN)) {
            let mut run = [Lane::splat(simd, 0.0); K];
            for (p, w) in p.iter().zip(w) {
                let [p, mut w] = [p, w].map(|x| load(simd, x, j));
                if let Some(places) = &mut places {
                    w = places.select(p, w, w.of(f64::NEG_INFINITY));
                    places.next();
                }
                run = of.add(run, p, w, w);
            }
            for k in 0..K {
                sums[k] = sums[k] + run[k];
            }
        }
        sums
    }

    /// Sums over states that are not listed.
    #[inline(always)]
    pub(super) fn tails(&self, model: &Model, ahead: &Ahead, columns: &mut Columns) {
        if let Some(ranking) = &ahead.ranking {
            let Columns { t, nu, top, n, tails, .. } = columns;
            *tails = ranking.tails(t, nu, top, n, self.bare(model));
        }
    }
}

/// Where eight rows are in the model.
struct Spans {
    start: [usize; 8],
    len: [usize; 8],
    longest: usize,
}

impl Spans {
    #[inline(always)]
    fn new(model: &Model, rows: &[usize]) -> Spans {
        let (mut start, mut len, mut longest) = ([0; 8], [0; 8], 0);
        for (l, &r) in rows.iter().enumerate().take(8) {
            let span = model.span(r);
            (start[l], len[l], longest) = (span.start, span.len(), longest.max(span.len()));
        }
        // Fewer than eight: the first one again.
        for l in rows.len()..8 {
            (start[l], len[l]) = (start[0], len[0]);
        }
        Spans { start, len, longest }
    }

    /// Of each row the k-th entry, which is `at` some place of the model; the last one again where there is none.
    #[inline(always)]
    fn gather(&self, to: &mut Vec<[f64; 8]>, of: impl Fn(usize, usize, bool) -> f64) {
        to.resize(self.longest, [0.0; 8]);
        let Spans { start, len, longest } = self;
        if len == &[*longest; 8] {
            for (k, to) in to.iter_mut().enumerate() {
                for l in 0..8 {
                    to[l] = of(start[l] + k, k, true);
                }
            }
            return;
        }
        for (k, to) in to.iter_mut().enumerate() {
            for l in 0..8 {
                let last = k.min(len[l].saturating_sub(1));
                to[l] = of(start[l] + last, last, k < len[l]);
            }
        }
    }
}

/// Which entries of rows are where these may have mass.
struct Places<S: Simd> {
    /// The place, and how many there are, if rows may have mass at all of them.
    place: Lane<S>,
    n: Lane<S>,
    everywhere: bool,
}

impl<S: Simd> Places<S> {
    #[inline(always)]
    fn new(simd: S, ahead: &Ahead, columns: &Columns, j: usize) -> Places<S> {
        let (place, n) = (Lane::splat(simd, 0.0), load(simd, &columns.n, j));
        Places { place, n, everywhere: ahead.everywhere }
    }

    /// w, or `none`.
    #[inline(always)]
    fn select(&self, p: Lane<S>, w: Lane<S>, none: Lane<S>) -> Lane<S> {
        match self.everywhere {
            true => self.place.if_below(self.n, w, none),
            false => p.of(0.0).if_below(p, w, none),
        }
    }

    #[inline(always)]
    fn next(&mut self) {
        self.place = self.place + self.place.of(1.0);
    }
}
