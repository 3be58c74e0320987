//! Sums over the entries of a row, a register at a time.
//!
//! The i-th entry of every eight goes to the i-th of eight accumulators, however wide the registers
//! are, and nothing is contracted: results have the same bits on every machine.

use std::marker::PhantomData;
use std::ops::{Add, Mul, Sub};

use pulp::{Simd, WithSimd};

use crate::lanes::dispatch;

/// Doubles in a register.
#[derive(Clone, Copy)]
pub(super) struct Lane<S: Simd> {
    pub(super) simd: S,
    pub(super) x: S::f64s,
}

impl<S: Simd> Lane<S> {
    #[inline(always)]
    pub(super) fn of(self, x: f64) -> Lane<S> {
        Lane { x: self.simd.splat_f64s(x), ..self }
    }

    #[inline(always)]
    pub(super) fn first(self) -> f64 {
        pulp::bytemuck::cast_slice::<S::f64s, f64>(&[self.x])[0]
    }

    #[inline(always)]
    pub(super) fn abs(self) -> Lane<S> {
        Lane { x: self.simd.abs_f64s(self.x), ..self }
    }

    /// self·y + z, rounded once: the same number on every machine.
    #[inline(always)]
    pub(super) fn mul_add(self, y: Lane<S>, z: Lane<S>) -> Lane<S> {
        Lane { x: self.simd.mul_add_f64s(self.x, y.x, z.x), ..self }
    }

    /// `then` where self < limit, else `otherwise`.
    #[inline(always)]
    pub(super) fn if_below(self, limit: Lane<S>, then: Lane<S>, otherwise: Lane<S>) -> Lane<S> {
        let below = self.simd.less_than_f64s(self.x, limit.x);
        Lane { x: self.simd.select_f64s(below, then.x, otherwise.x), ..self }
    }

    /// The larger one; what is not a number stays so.
    #[inline(always)]
    pub(super) fn at_least(self, floor: Lane<S>) -> Lane<S> {
        self.if_below(floor, floor, self)
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $on:ident) => {
        impl<S: Simd> $trait for Lane<S> {
            type Output = Lane<S>;
            #[inline(always)]
            fn $method(self, y: Lane<S>) -> Lane<S> {
                Lane { x: self.simd.$on(self.x, y.x), ..self }
            }
        }
    };
}
operator!(Add, add, add_f64s);
operator!(Sub, sub, sub_f64s);
operator!(Mul, mul, mul_f64s);

/// K terms of an entry with probability p and objective w, at the multipliers t and ν.
pub(super) trait Terms<const K: usize> {
    fn terms<S: Simd>(p: Lane<S>, w: Lane<S>, t: Lane<S>, nu: Lane<S>) -> [Lane<S>; K];
}

/// The entries of a row: its objectives are min(w − top, 0).
#[derive(Clone, Copy)]
pub(super) struct Entries<'a> {
    pub(super) p: &'a [f64],
    pub(super) w: &'a [f64],
    pub(super) top: f64,
}

impl Entries<'_> {
    /// The sums of the terms T.
    pub(super) fn sums<T: Terms<K>, const K: usize>(self, _: T, t: f64, nu: f64) -> [f64; K] {
        dispatch(Job::<T, K> { entries: self, t, nu, terms: PhantomData })
    }

    #[inline(always)]
    fn sums_on<S: Simd, T: Terms<K>, const K: usize>(self, simd: S, t: f64, nu: f64) -> [f64; K] {
        let zero = Lane { simd, x: simd.splat_f64s(0.0) };
        let at = [zero.of(t), zero.of(nu), zero.of(self.top), zero];
        // Eight numbers are so many registers.
        let registers = 64 / size_of::<S::f64s>();
        let mut totals = [[zero; 8]; K];
        let ((p, rest), (w, _)) = (self.p.as_chunks::<8>(), self.w.as_chunks::<8>());
        for (p, w) in p.iter().zip(w) {
            let (p, w) = (S::as_simd_f64s(p).0, S::as_simd_f64s(w).0);
            for j in 0..registers {
                let terms = terms_at::<S, T, K>(p[j], w[j], at);
                for k in 0..K {
                    totals[k][j] = totals[k][j] + terms[k];
                }
            }
        }
        if !rest.is_empty() {
            // The last eight entries; those that were counted before are left out.
            let seen = zero.of((8 - rest.len()) as f64);
            let (p, w) = (last_eight(self.p), last_eight(self.w));
            let (p, w) = (S::as_simd_f64s(&p).0, S::as_simd_f64s(&w).0);
            let places = S::as_simd_f64s(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]).0;
            for j in 0..registers {
                let terms = terms_at::<S, T, K>(p[j], w[j], at);
                let place = Lane { simd, x: places[j] };
                for k in 0..K {
                    totals[k][j] = totals[k][j] + place.if_below(seen, zero, terms[k]);
                }
            }
        }
        let mut sums = [0.0; K];
        for k in 0..K {
            let mut all = [0.0; 8];
            let out = S::as_mut_simd_f64s(&mut all).0;
            for j in 0..registers {
                out[j] = totals[k][j].x;
            }
            let [a, b, c, d, e, f, g, h] = all;
            sums[k] = ((a + e) + (c + g)) + ((b + f) + (d + h));
        }
        sums
    }
}

/// The terms of one register.
#[inline(always)]
fn terms_at<S: Simd, T: Terms<K>, const K: usize>(
    p: S::f64s,
    w: S::f64s,
    [t, nu, top, zero]: [Lane<S>; 4],
) -> [Lane<S>; K] {
    let w = Lane { x: w, ..zero } - top;
    T::terms(Lane { x: p, ..zero }, w.if_below(zero, w, zero), t, nu)
}

/// With as many zeros before them as are missing.
#[inline(always)]
fn last_eight(x: &[f64]) -> [f64; 8] {
    if let Some(last) = x.last_chunk() {
        return *last;
    }
    let mut last = [0.0; 8];
    for (to, x) in last[8 - x.len()..].iter_mut().zip(x) {
        *to = *x;
    }
    last
}

struct Job<'a, T, const K: usize> {
    entries: Entries<'a>,
    t: f64,
    nu: f64,
    terms: PhantomData<T>,
}

impl<T: Terms<K>, const K: usize> WithSimd for Job<'_, T, K> {
    type Output = [f64; K];
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [f64; K] {
        self.entries.sums_on::<S, T, K>(simd, self.t, self.nu)
    }
}

/// Σp and Σpw.
pub(super) struct Nominal;

impl Terms<2> for Nominal {
    #[inline(always)]
    fn terms<S: Simd>(p: Lane<S>, w: Lane<S>, _: Lane<S>, _: Lane<S>) -> [Lane<S>; 2] {
        [p, p * w]
    }
}

/// Σp and Σpw of many rows of one length, in one go.
pub(super) struct NominalRows<'a> {
    pub(super) p: &'a [f64],
    pub(super) w: &'a [f64],
    pub(super) out: &'a mut Vec<[f64; 2]>,
}

impl WithSimd for NominalRows<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let NominalRows { p, w, out } = self;
        out.clear();
        for p in p.chunks_exact(w.len().max(1)) {
            out.push(Entries { p, w, top: 0.0 }.sums_on::<S, Nominal, 2>(simd, 0.0, 0.0));
        }
    }
}
