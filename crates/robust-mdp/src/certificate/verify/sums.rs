//! Sums over the entries of a row, a register at a time.
//!
//! The i-th entry of every eight goes to the i-th of eight accumulators, however wide the registers
//! are: results have the same bits on every machine.

use pulp::Simd;

use super::exponential::exp;
use super::lane::{Lane, load, store};

/// The entries of a row: probabilities p, w = λ(v − max v) with what transitions cost, and powers e, which
/// [`Series`](super::powers::Series) alone reads.
#[derive(Clone, Copy)]
pub(super) struct Entries<'a> {
    pub(super) p: &'a [f64],
    pub(super) w: &'a [f64],
    pub(super) e: &'a [f64],
}

/// How often a term of a sum over a row is rounded, in eight accumulators that are added in pairs.
pub(super) fn steps(entries: usize) -> f64 {
    entries as f64 / 8.0 + 4.0
}

/// Entries of rows that are read side by side are added up in runs of so many, whose sums are added up.
pub(super) const RUN: usize = 32;

/// How often a term is rounded then: in its run, and with its run.
#[inline(always)]
pub(super) fn steps_of_runs(entries: usize) -> f64 {
    entries.min(RUN) as f64 + entries as f64 / RUN as f64 + 1.0
}

/// K sums that every entry (p, w, e) adds to.
pub(super) trait Terms<S: Simd, const K: usize> {
    fn add(&self, to: [Lane<S>; K], p: Lane<S>, w: Lane<S>, e: Lane<S>) -> [Lane<S>; K];
}

impl Entries<'_> {
    #[inline(always)]
    pub(super) fn sums<S: Simd, const K: usize>(self, simd: S, of: impl Terms<S, K>) -> [f64; K] {
        let (zero, registers) = (Lane::splat(simd, 0.0), Lane::<S>::REGISTERS);
        let mut totals = [[zero; K]; 8];
        let mut short;
        let Entries { mut p, mut w, mut e } = self;
        let (full, rest) = (p.len() / 8, p.len() % 8);
        if full == 0 {
            // Zeros before them.
            short = [[0.0; 8]; 3];
            for (to, from) in short.iter_mut().zip([p, w, e]) {
                to[8 - rest..].copy_from_slice(from);
            }
            [p, w, e] = short.each_ref().map(|x| &x[..]);
        }
        let eights = [p, w, e].map(|x| x.as_chunks::<8>().0);
        let last = [p, w, e].map(|x| x.last_chunk::<8>().expect("eight"));
        for ((p, w), e) in eights[0].iter().zip(eights[1]).zip(eights[2]).take(full) {
            for j in 0..registers {
                let [p, w, e] = [p, w, e].map(|x| load(simd, x, j));
                totals[j] = of.add(totals[j], p, w, e);
            }
        }
        if rest > 0 {
            // The last eight entries; those that were counted before are left out.
            let seen = zero.of((8 - rest) as f64);
            let places = &[0., 1., 2., 3., 4., 5., 6., 7.];
            let [p, w, e] = last;
            for j in 0..registers {
                let [p, w, e, place] = [p, w, e, places].map(|x| load(simd, x, j));
                let sums = of.add(totals[j], p, w, e);
                for k in 0..K {
                    totals[j][k] = place.if_below(seen, totals[j][k], sums[k]);
                }
            }
        }
        let mut sums = [0.0; K];
        for k in 0..K {
            let mut all = [0.0; 8];
            for j in 0..registers {
                store(&mut all, j, totals[j][k]);
            }
            let [a, b, c, d, e, f, g, h] = all;
            sums[k] = ((a + e) + (c + g)) + ((b + f) + (d + h));
        }
        sums
    }
}

/// Σp and Σpw', w' = w − top.
pub(super) struct Nominal<S: Simd> {
    pub(super) top: Lane<S>,
}

impl<S: Simd> Terms<S, 2> for Nominal<S> {
    #[inline(always)]
    fn add(&self, to: [Lane<S>; 2], p: Lane<S>, w: Lane<S>, _: Lane<S>) -> [Lane<S>; 2] {
        [to[0] + p, p.mul_add(w - self.top, to[1])]
    }
}

/// Of a row, or of each row in a register: t and ν, and its top.
#[derive(Clone, Copy)]
pub(super) struct Multipliers<S: Simd> {
    pub(super) t: Lane<S>,
    pub(super) nu: Lane<S>,
    pub(super) top: Lane<S>,
}

/// What a probability loses: c = min(p, ν − tw'), so that p − c is best for ⟨tw' − ν, y⟩ − ½‖y − p‖², y ≥ 0.
/// Σp, Σc, Σpc and Σc².
pub(super) struct Ellipsoid<S: Simd>(pub(super) Multipliers<S>);

impl<S: Simd> Terms<S, 4> for Ellipsoid<S> {
    #[inline(always)]
    fn add(&self, to: [Lane<S>; 4], p: Lane<S>, w: Lane<S>, _: Lane<S>) -> [Lane<S>; 4] {
        let Multipliers { t, nu, top } = self.0;
        let c = t.mul_add(top - w, nu).at_most(p);
        [to[0] + p, to[1] + c, p.mul_add(c, to[2]), c.mul_add(c, to[3])]
    }
}

/// Σp, Σp(e^a − 1), Σp|e^a − 1| and Σpe^aa: a = tw' − ν, brought to ±700.
pub(super) struct Kl<S: Simd>(pub(super) Multipliers<S>);

impl<S: Simd> Terms<S, 4> for Kl<S> {
    #[inline(always)]
    fn add(&self, to: [Lane<S>; 4], p: Lane<S>, w: Lane<S>, _: Lane<S>) -> [Lane<S>; 4] {
        let (Multipliers { t, nu, top }, zero) = (self.0, p.of(0.0));
        let (m, e, a) = exp(t.mul_add(w - top, zero - nu));
        let tilted = (p * e).mul_add(a, to[3]);
        [to[0] + p, p.mul_add(m, to[1]), p.mul_add(m.abs(), to[2]), tilted]
    }
}
