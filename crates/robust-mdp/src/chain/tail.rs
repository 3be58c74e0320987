//! Tails: rows of P that are affine in the values of the states, on the states of highest value,
//!   P_sj += t ℓ_j − ν   for the first k states j in the order of descending values ℓ,
//! as nature's answer under a quadratic budget spreads over a row whose support is everything.
//!
//! (P u)_s then gains t Σ_{j<k} ℓ_j u_j − ν Σ_{j<k} u_j: two prefix sums in that order, made once
//! for all rows, replace S entries a row by three numbers a tail.

use super::chunks::{CHUNK, Totals, for_each_chunk};

/// One tail: `slope`·ℓ_j − `shift` on the first `length` states; none where `length` is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tail {
    pub(crate) slope: f64,
    pub(crate) shift: f64,
    pub(crate) length: u32,
}

/// The tails of all rows.
#[derive(Debug)]
pub(crate) struct Tails {
    /// States by descending value.
    pub(crate) order: Vec<u32>,
    /// ℓ: the values in that order, at most 0.
    pub(crate) level: Vec<f64>,
    /// Where the tails of each state begin; a state has room for as many as it has rows.
    pub(crate) pointers: Vec<usize>,
    pub(crate) tails: Vec<Tail>,
}

impl Tails {
    /// No tails yet, the states in their own order; `capacity(s)` is the number of rows of s.
    pub(crate) fn new(states: usize, capacity: impl Fn(usize) -> usize) -> Tails {
        let mut pointers = vec![0];
        for s in 0..states {
            pointers.push(pointers[s] + capacity(s));
        }
        Tails {
            order: (0..states as u32).collect(),
            level: vec![0.0; states],
            tails: vec![Tail::default(); pointers[states]],
            pointers,
        }
    }

    /// What a sweep fills, cut at states like rows; nothing where a chain has no tails.
    pub(crate) fn rows(tails: &mut Option<Tails>) -> &mut [Tail] {
        tails.as_mut().map_or(&mut [], |tails| &mut tails.tails)
    }

    fn of(&self, s: usize) -> impl Iterator<Item = &Tail> {
        let span = self.pointers[s]..self.pointers[s + 1];
        self.tails[span].iter().filter(|tail| tail.length > 0)
    }

    /// row −= λ(tails of s), entry by entry.
    pub(super) fn expand(&self, s: usize, discount: f64, row: &mut [f64]) {
        for &Tail { slope, shift, length } in self.of(s) {
            let k = length as usize;
            for (&j, &level) in self.order[..k].iter().zip(&self.level) {
                row[j as usize] -= discount * (slope * level - shift);
            }
        }
    }

    /// Σ over the tails of s of (tail · u), for the u of the prefix sums.
    pub(super) fn expected(&self, s: usize, prefix: &Prefix) -> f64 {
        self.of(s)
            .map(|tail| {
                let [sum, weighted] = prefix.first(tail.length as usize);
                tail.slope * weighted - tail.shift * sum
            })
            .sum()
    }
}

/// Σ_{j<k} u_j and Σ_{j<k} ℓ_j u_j for all k, within chunks and up to each chunk.
#[derive(Debug, Default)]
pub(super) struct Prefix {
    sum: Vec<f64>,
    weighted: Vec<f64>,
    before: Vec<Totals>,
}

impl Prefix {
    pub(super) fn set(&mut self, tails: &Tails, u: &[f64]) {
        let n = u.len();
        self.sum.resize(n, 0.0);
        self.weighted.resize(n, 0.0);
        self.before.resize(n.div_ceil(CHUNK), Totals::default());
        let arrays = [&mut self.sum[..], &mut self.weighted[..]];
        for_each_chunk(arrays, &mut self.before, &|start, [sum, weighted]| {
            let mut sums = [0.0; 2];
            let ranked = tails.order[start..].iter().zip(&tails.level[start..]);
            for ((sum, weighted), (&j, level)) in sum.iter_mut().zip(weighted).zip(ranked) {
                let u = u[j as usize];
                sums[0] += u;
                sums[1] += level * u;
                (*sum, *weighted) = (sums[0], sums[1]);
            }
            Totals { sums, largest: 0.0 }
        });
        let mut before = [0.0; 2];
        for total in &mut self.before {
            let own = std::mem::replace(&mut total.sums, before);
            before = [before[0] + own[0], before[1] + own[1]];
        }
    }

    /// The sums over the first k ≥ 1 states.
    fn first(&self, k: usize) -> [f64; 2] {
        let [sum, weighted] = self.before[(k - 1) / CHUNK].sums;
        [sum + self.sum[k - 1], weighted + self.weighted[k - 1]]
    }
}
