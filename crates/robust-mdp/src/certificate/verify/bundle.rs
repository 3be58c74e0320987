//! Rows that list their next states, eight side by side: a register has an entry of each.

use pulp::Simd;

use super::lane::{Lane, load, store};
use super::reading::Columns;
use super::rounding::UNIT;
use super::row::Ahead;
use super::sums::{Ellipsoid, Kl, Multipliers, Nominal, RUN, Terms, steps_of_runs};
use super::tail::Tails;
use crate::model::{Model, Storage};

/// So many entries are in memory: longer rows are taken in block by block, for every pass.
const BLOCK: usize = 32 * RUN;

/// A block of up to eight rows. After its last entry a row has more of probability 0.
#[derive(Default)]
pub(super) struct Bundle {
    p: Vec<[f64; 8]>,
    /// λ(v − max v), and what the transitions cost.
    w: Vec<[f64; 8]>,
    /// Without that cost, where it matters; −∞ where a row lists a state again: its tail has that state
    /// but once.
    bare: Vec<[f64; 8]>,
    /// Where the rows are in the model, how long they are, and the longest.
    start: [usize; 8],
    len: [usize; 8],
    longest: usize,
}

impl Bundle {
    /// Takes in the rows of these columns, and tells those what does not depend on multipliers.
    #[inline(always)]
    pub(super) fn fill<S: Simd>(
        &mut self,
        simd: S,
        model: &Model,
        ahead: &Ahead,
        columns: &mut Columns,
    ) {
        let rows = columns.rows();
        self.longest = 0;
        for l in 0..8 {
            // Fewer than eight: the first one again.
            let span = model.span(*rows.get(l).unwrap_or(&rows[0]));
            (self.start[l], self.len[l]) = (span.start, span.len());
            self.longest = self.longest.max(span.len());
        }
        columns.n = self.len.map(|n| n as f64);
        let (mut top, mut low) = ([f64::NEG_INFINITY; 8], [f64::INFINITY; 8]);
        let [least, most] = [f64::NEG_INFINITY, f64::INFINITY].map(|x| Lane::splat(simd, x));
        for from in (0..self.longest).step_by(BLOCK) {
            self.take_in(model, ahead, from);
            for j in 0..Lane::<S>::REGISTERS {
                let mut ends = [load(simd, &top, j), load(simd, &low, j)];
                let mut places = Places::new(simd, ahead, columns, j, from);
                for (p, w) in self.p.iter().zip(&self.w) {
                    let [p, w] = [p, w].map(|x| load(simd, x, j));
                    let [high, low] = [least, most].map(|none| places.select(p, w, none));
                    ends = [ends[0].at_least(high), ends[1].at_most(low)];
                    places.next();
                }
                store(&mut top, j, ends[0]);
                store(&mut low, j, ends[1]);
            }
        }
        let mut size = [0.0; 8];
        for l in 0..8 {
            size[l] = top[l].abs().max(low[l].abs());
        }
        match &ahead.ranking {
            // The highest of all states, listed or not.
            Some(_) if model.transition_cost.is_none() => top = [0.0; 8],
            Some(ranking) => {
                for (top, &r) in top.iter_mut().zip(columns.rows()) {
                    let row = model.row(r);
                    let once = row.entries().enumerate().filter(|(k, _)| !row.is_repeated(*k));
                    let listed = once.map(|(_, (i, ..))| ahead.w[i]);
                    *top = ranking.highest_outside(listed).map_or(*top, |w| top.max(w));
                }
            }
            None => (),
        }
        for l in 0..8 {
            let depth = top[l] - low[l];
            (columns.top[l], columns.depth[l]) = (top[l], depth);
            columns.omega[l] = ahead.omega + 1.1 * UNIT * (size[l] + depth);
            columns.steps[l] = steps_of_runs(self.len[l]);
        }
    }

    /// The block of entries `from` there.
    #[inline(always)]
    fn take_in(&mut self, model: &Model, ahead: &Ahead, from: usize) {
        let (prob, v) = (&model.prob[..], &ahead.w[..]);
        let Bundle { p, w, bare, start, len, longest } = self;
        let spans = Spans { start, len, block: from..(*longest).min(from + BLOCK) };
        spans.gather(p, |at, _, listed| if listed { prob[at] } else { 0.0 });
        match (&model.storage, &model.transition_cost) {
            (Storage::Sparse { next, .. }, None) => {
                spans.gather(w, |at, _, _| v[next[at] as usize]);
            }
            (Storage::Sparse { next, .. }, Some(tolls)) => {
                spans.gather(bare, |at, k, _| match k > 0 && next[at - 1] == next[at] {
                    true => f64::NEG_INFINITY,
                    false => v[next[at] as usize],
                });
                spans.gather(w, |at, _, _| v[next[at] as usize] + tolls[at]);
            }
            (Storage::Dense, None) => spans.gather(w, |_, k, _| v[k]),
            (Storage::Dense, Some(tolls)) => spans.gather(w, |at, k, _| v[k] + tolls[at]),
        }
    }

    /// Sums, in the columns.
    #[inline(always)]
    pub(super) fn pass<S: Simd, const K: usize, T: InColumns<S, K>>(
        &mut self,
        simd: S,
        model: &Model,
        ahead: &Ahead,
        columns: &mut Columns,
    ) {
        let Columns { t, nu, top, n, .. } = &*columns;
        let ranking = ahead.ranking.as_ref().filter(|_| T::BEYOND);
        let mut beyond = ranking.map(|ranking| ranking.beyond(t, nu, top));
        let mut sums = [[0.0; 8]; K];
        for from in (0..self.longest).step_by(BLOCK) {
            if self.longest > BLOCK {
                self.take_in(model, ahead, from);
            }
            for j in 0..Lane::<S>::REGISTERS {
                let (of, mut places) =
                    (T::at(simd, columns, j), Places::new(simd, ahead, columns, j, from));
                for (p, w) in self.p.chunks(RUN).zip(self.w.chunks(RUN)) {
                    let mut run = [Lane::splat(simd, 0.0); K];
                    for (p, w) in p.iter().zip(w) {
                        let [p, mut w] = [p, w].map(|x| load(simd, x, j));
                        if T::BEYOND {
                            w = places.select(p, w, w.of(f64::NEG_INFINITY));
                            places.next();
                        }
                        run = of.add(run, p, w, w);
                    }
                    for (sum, run) in sums.iter_mut().zip(run) {
                        store(sum, j, load(simd, sum, j) + run);
                    }
                }
            }
            if let Some(beyond) = &mut beyond {
                let tolls = model.transition_cost.is_some();
                beyond.leave_out(t, nu, top, n, from, if tolls { &self.bare } else { &self.w });
            }
        }
        let tails = beyond.map_or(Tails::default(), |beyond| beyond.tails(t, nu, top));
        columns.sums[..K].copy_from_slice(&sums);
        columns.tails = tails;
    }
}

/// Terms whose multipliers are in columns.
pub(super) trait InColumns<S: Simd, const K: usize>: Terms<S, K> + Sized {
    /// Whether terms do not vanish with p: w is as low as can be where a row may have no mass, and states that are not
    /// listed matter.
    const BEYOND: bool;
    /// Of the j-th register.
    fn at(simd: S, columns: &Columns, j: usize) -> Self;
}

impl<S: Simd> InColumns<S, 2> for Nominal<S> {
    const BEYOND: bool = false;
    #[inline(always)]
    fn at(simd: S, columns: &Columns, j: usize) -> Self {
        Nominal { top: load(simd, &columns.top, j) }
    }
}

impl<S: Simd> InColumns<S, 4> for Kl<S> {
    const BEYOND: bool = false;
    #[inline(always)]
    fn at(simd: S, columns: &Columns, j: usize) -> Self {
        Kl(multipliers(simd, columns, j))
    }
}

impl<S: Simd> InColumns<S, 4> for Ellipsoid<S> {
    const BEYOND: bool = true;
    #[inline(always)]
    fn at(simd: S, columns: &Columns, j: usize) -> Self {
        Ellipsoid(multipliers(simd, columns, j))
    }
}

#[inline(always)]
fn multipliers<S: Simd>(simd: S, columns: &Columns, j: usize) -> Multipliers<S> {
    let Columns { t, nu, top, .. } = columns;
    let [t, nu, top] = [t, nu, top].map(|x| load(simd, x, j));
    Multipliers { t, nu, top }
}

/// A block of eight rows.
struct Spans<'a> {
    start: &'a [usize; 8],
    len: &'a [usize; 8],
    block: std::ops::Range<usize>,
}

impl Spans<'_> {
    /// Of each row the k-th entry, which is `at` some place of the model; its last one where there is none.
    #[inline(always)]
    fn gather(&self, to: &mut Vec<[f64; 8]>, of: impl Fn(usize, usize, bool) -> f64) {
        let Spans { start, len, block } = self;
        to.resize(block.len(), [0.0; 8]);
        if len.iter().all(|n| *n >= block.end) {
            for (k, to) in block.clone().zip(to) {
                for l in 0..8 {
                    to[l] = of(start[l] + k, k, true);
                }
            }
            return;
        }
        for (k, to) in block.clone().zip(to) {
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
    fn new(simd: S, ahead: &Ahead, columns: &Columns, j: usize, from: usize) -> Places<S> {
        let (place, n) = (Lane::splat(simd, from as f64), load(simd, &columns.n, j));
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
