//! Sums over the entries of a row, a register at a time.
//!
//! The i-th entry of every eight goes to the i-th of eight accumulators, however wide the registers
//! are: results have the same bits on every machine.

use pulp::Simd;

use super::exponential::exp;
use super::lane::Lane;

/// The entries of a row: probabilities p, w = λ(v − max v) with what transitions cost, and powers e, which
/// [`Series`](super::powers::Series) alone reads.
#[derive(Clone, Copy)]
pub(super) struct Entries<'a> {
    pub(super) p: &'a [f64],
    pub(super) w: &'a [f64],
    pub(super) e: &'a [f64],
}

/// K sums that every entry (p, w, e) adds to.
pub(super) trait Terms<const K: usize> {
    fn add<S: Simd>(&self, to: [Lane<S>; K], p: Lane<S>, w: Lane<S>, e: Lane<S>) -> [Lane<S>; K];
}

impl Entries<'_> {
    #[inline(always)]
    pub(super) fn sums<S: Simd, const K: usize>(self, simd: S, of: impl Terms<K>) -> [f64; K] {
        let zero = Lane { simd, x: simd.splat_f64s(0.0) };
        // Eight numbers are so many registers.
        let registers = 64 / size_of::<S::f64s>();
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
            let [p, w, e] = [p, w, e].map(|x| S::as_simd_f64s(x).0);
            for j in 0..registers {
                let [p, w, e] = [p, w, e].map(|x| Lane { simd, x: x[j] });
                totals[j] = of.add(totals[j], p, w, e);
            }
        }
        if rest > 0 {
            // The last eight entries; those that were counted before are left out.
            let seen = zero.of((8 - rest) as f64);
            let places = &[0., 1., 2., 3., 4., 5., 6., 7.];
            let [p, w, e] = last;
            let [p, w, e, places] = [p, w, e, places].map(|x| S::as_simd_f64s(x).0);
            for j in 0..registers {
                let [p, w, e, place] = [p, w, e, places].map(|x| Lane { simd, x: x[j] });
                let sums = of.add(totals[j], p, w, e);
                for k in 0..K {
                    totals[j][k] = place.if_below(seen, totals[j][k], sums[k]);
                }
            }
        }
        let mut sums = [0.0; K];
        for k in 0..K {
            let mut all = [0.0; 8];
            let out = S::as_mut_simd_f64s(&mut all).0;
            for j in 0..registers {
                out[j] = totals[j][k].x;
            }
            let [a, b, c, d, e, f, g, h] = all;
            sums[k] = ((a + e) + (c + g)) + ((b + f) + (d + h));
        }
        sums
    }
}

/// Σp and Σpw', w' = w − top.
pub(super) struct Nominal {
    pub(super) top: f64,
}

impl Terms<2> for Nominal {
    #[inline(always)]
    fn add<S: Simd>(&self, to: [Lane<S>; 2], p: Lane<S>, w: Lane<S>, _: Lane<S>) -> [Lane<S>; 2] {
        [to[0] + p, p.mul_add(w - w.of(self.top), to[1])]
    }
}

/// What a probability loses: c = min(p, ν − tw'), so that p − c is best for ⟨tw' − ν, y⟩ − ½‖y − p‖², y ≥ 0.
/// Σp, Σc, Σpc and Σc².
pub(super) struct Ellipsoid {
    pub(super) t: f64,
    pub(super) nu: f64,
    pub(super) top: f64,
}

impl Terms<4> for Ellipsoid {
    #[inline(always)]
    fn add<S: Simd>(&self, to: [Lane<S>; 4], p: Lane<S>, w: Lane<S>, _: Lane<S>) -> [Lane<S>; 4] {
        let w = w - w.of(self.top);
        let c = p.of(-self.t).mul_add(w, p.of(self.nu)).at_most(p);
        [to[0] + p, to[1] + c, p.mul_add(c, to[2]), c.mul_add(c, to[3])]
    }
}

/// Σp, Σp(e^a − 1), Σp|e^a − 1| and Σpe^aa: a = tw' − ν, brought to ±700.
pub(super) struct Kl {
    pub(super) t: f64,
    pub(super) nu: f64,
    pub(super) top: f64,
}

impl Terms<4> for Kl {
    #[inline(always)]
    fn add<S: Simd>(&self, to: [Lane<S>; 4], p: Lane<S>, w: Lane<S>, _: Lane<S>) -> [Lane<S>; 4] {
        let w = w - w.of(self.top);
        let (m, e, a) = exp(p.of(self.t).mul_add(w, p.of(-self.nu)));
        let tilted = (p * e).mul_add(a, to[3]);
        [to[0] + p, p.mul_add(m, to[1]), p.mul_add(m.abs(), to[2]), tilted]
    }
}
