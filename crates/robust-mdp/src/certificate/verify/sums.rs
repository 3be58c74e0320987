//! Sums over the entries of a row, a register at a time.
//!
//! The i-th entry of every eight goes to the i-th of eight accumulators, however wide the registers
//! are: results have the same bits on every machine.

use pulp::{Simd, WithSimd};

use super::lane::{Lane, load};
use super::proof::ProofRow;
/// Runs a pass with the widest registers that this machine has; tests with others.
#[cfg(test)]
pub(crate) use super::tests::dispatch;
#[cfg(not(test))]
pub(crate) use crate::lanes::dispatch;

/// How often a term of a sum over a row is rounded, in eight accumulators that are added in pairs.
#[inline(always)]
pub(crate) fn steps(entries: usize) -> f64 {
    entries as f64 / 8.0 + 4.0
}

/// K sums that every entry adds to: its p and x = t(maximum − w) + ν, rounded once after the difference.
pub(crate) trait Terms<const K: usize>: Copy {
    fn add<S: Simd>(self, to: [Lane<S>; K], p: Lane<S>, x: Lane<S>) -> [Lane<S>; K];
}

/// A row's entries and what they add to.
pub(crate) struct Over<'a, T, const K: usize> {
    pub(crate) row: &'a ProofRow<'a>,
    pub(crate) t: f64,
    pub(crate) nu: f64,
    pub(crate) of: T,
}

impl<T: Terms<K>, const K: usize> WithSimd for Over<'_, T, K> {
    type Output = [f64; K];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [f64; K] {
        let (zero, registers) = (Lane { simd, x: simd.splat_f64s(0.0) }, Lane::<S>::REGISTERS);
        let mut totals = [[zero; K]; 8];
        let mut short;
        let Over { row: &ProofRow { mut p, mut w, maximum, .. }, t, nu, of } = self;
        let [maximum, t, nu] = [maximum, t, nu].map(|x| zero.of(x));
        let (full, rest) = (p.len() / 8, p.len() % 8);
        if full == 0 {
            // Zeros before them.
            short = [[0.0; 8]; 2];
            for (to, from) in short.iter_mut().zip([p, w]) {
                to[8 - rest..].copy_from_slice(from);
            }
            [p, w] = short.each_ref().map(|x| &x[..]);
        }
        let eights = [p, w].map(|x| x.as_chunks::<8>().0);
        for (p, w) in eights[0].iter().zip(eights[1]).take(full) {
            for j in 0..registers {
                let [p, w] = [p, w].map(|x| load(simd, x, j));
                totals[j] = of.add(totals[j], p, t.mul_add(maximum - w, nu));
            }
        }
        if rest > 0 {
            // The last eight entries; those that were counted before are left out.
            let last = [p, w].map(|x| x.last_chunk::<8>().expect("eight"));
            let seen = zero.of((8 - rest) as f64);
            let places = &[0., 1., 2., 3., 4., 5., 6., 7.];
            for j in 0..registers {
                let [p, w, place] = [last[0], last[1], places].map(|x| load(simd, x, j));
                let sums = of.add(totals[j], p, t.mul_add(maximum - w, nu));
                for k in 0..K {
                    totals[j][k] = place.if_below(seen, totals[j][k], sums[k]);
                }
            }
        }
        let mut sums = [0.0; K];
        for k in 0..K {
            let mut all = [0.0; 8];
            for j in 0..registers {
                S::as_mut_simd_f64s(&mut all).0[j] = totals[j][k].x;
            }
            let [a, b, c, d, e, f, g, h] = all;
            sums[k] = ((a + e) + (c + g)) + ((b + f) + (d + h));
        }
        sums
    }
}

/// Σp and Σpx.
#[derive(Clone, Copy)]
pub(super) struct Mean;

impl Terms<2> for Mean {
    #[inline(always)]
    fn add<S: Simd>(self, to: [Lane<S>; 2], p: Lane<S>, x: Lane<S>) -> [Lane<S>; 2] {
        [to[0] + p, p.mul_add(x, to[1])]
    }
}
