//! Sums over the entries of a row, a register at a time.
//!
//! The i-th entry of every eight goes to the i-th of eight accumulators, however wide the registers
//! are: results have the same bits on every machine.

use pulp::Simd;

use super::exponential::exp;
use super::lane::Lane;

/// The entries of a row: probabilities p, objectives w − top, and powers e, which [`Series`](super::powers::Series)
/// alone reads.
#[derive(Clone, Copy)]
pub(super) struct Entries<'a> {
    pub(super) p: &'a [f64],
    pub(super) w: &'a [f64],
    pub(super) e: &'a [f64],
    pub(super) top: f64,
}

/// K sums that every entry (p, w, e) adds to.
pub(super) trait Terms<const K: usize> {
    fn add<S: Simd>(&self, to: [Lane<S>; K], p: Lane<S>, w: Lane<S>, e: Lane<S>) -> [Lane<S>; K];
}

impl Entries<'_> {
    #[inline(always)]
    pub(super) fn sums<S: Simd, const K: usize>(self, simd: S, of: impl Terms<K>) -> [f64; K] {
        let zero = Lane { simd, x: simd.splat_f64s(0.0) };
        let top = zero.of(self.top);
        // Eight numbers are so many registers.
        let registers = 64 / size_of::<S::f64s>();
        let mut totals = [[zero; K]; 8];
        let ((p, rest), (w, _)) = (self.p.as_chunks::<8>(), self.w.as_chunks::<8>());
        let (e, _) = self.e.as_chunks::<8>();
        for ((p, w), e) in p.iter().zip(w).zip(e) {
            let [p, w, e] = [p, w, e].map(|x| S::as_simd_f64s(x).0);
            for j in 0..registers {
                let [p, w, e] = [p, w, e].map(|x| Lane { simd, x: x[j] });
                totals[j] = of.add(totals[j], p, w - top, e);
            }
        }
        if !rest.is_empty() {
            // The last eight entries; those that were counted before are left out.
            let seen = zero.of((8 - rest.len()) as f64);
            let [p, w, e] = &[last(self.p), last(self.w), last(self.e)];
            let places = &[0., 1., 2., 3., 4., 5., 6., 7.];
            let [p, w, e, places] = [p, w, e, places].map(|x| S::as_simd_f64s(x).0);
            for j in 0..registers {
                let [p, w, e, place] = [p, w, e, places].map(|x| Lane { simd, x: x[j] });
                let sums = of.add(totals[j], p, w - top, e);
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

/// The last eight, with zeros before them where there are fewer.
#[inline(always)]
fn last(x: &[f64]) -> [f64; 8] {
    if let Some(last) = x.last_chunk() {
        return *last;
    }
    let mut last = [0.0; 8];
    for (to, x) in last[8 - x.len()..].iter_mut().zip(x) {
        *to = *x;
    }
    last
}

/// Σp and Σpw.
pub(super) struct Nominal;

impl Terms<2> for Nominal {
    #[inline(always)]
    fn add<S: Simd>(&self, to: [Lane<S>; 2], p: Lane<S>, w: Lane<S>, _: Lane<S>) -> [Lane<S>; 2] {
        [to[0] + p, p.mul_add(w, to[1])]
    }
}

/// What a probability loses: c = min(p, ν − tw), so that p − c is best for ⟨tw − ν, y⟩ − ½‖y − p‖², y ≥ 0.
/// Σp, Σc, Σpc and Σc², at t and ν.
pub(super) struct Ellipsoid(pub(super) f64, pub(super) f64);

impl Terms<4> for Ellipsoid {
    #[inline(always)]
    fn add<S: Simd>(&self, to: [Lane<S>; 4], p: Lane<S>, w: Lane<S>, _: Lane<S>) -> [Lane<S>; 4] {
        let c = p.of(-self.0).mul_add(w, p.of(self.1)).at_most(p);
        [to[0] + p, to[1] + c, p.mul_add(c, to[2]), c.mul_add(c, to[3])]
    }
}

/// Σp, Σp(e^a − 1), Σp|e^a − 1| and Σpe^aa, at t and ν: a = tw − ν, brought to ±700.
pub(super) struct Kl(pub(super) f64, pub(super) f64);

impl Terms<4> for Kl {
    #[inline(always)]
    fn add<S: Simd>(&self, to: [Lane<S>; 4], p: Lane<S>, w: Lane<S>, _: Lane<S>) -> [Lane<S>; 4] {
        let (m, e, a) = exp(p.of(self.0).mul_add(w, p.of(-self.1)));
        let tilted = (p * e).mul_add(a, to[3]);
        [to[0] + p, p.mul_add(m, to[1]), p.mul_add(m.abs(), to[2]), tilted]
    }
}
