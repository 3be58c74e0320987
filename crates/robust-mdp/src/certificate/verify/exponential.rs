//! e^a − 1, and ln z for 0 < z ≤ 1 from above, with error bounds.
//!
//! a = k·ln 2 + r with |r| ≤ 0.3466. For k = 0 there is no rounding in r = a; else the product
//! k·LN2_HIGH and its difference from a are exact (LN2_HIGH has 42 bits, |k| < 2¹¹), so that r is
//! off by at most u|r| + 2⁻⁸⁴. Taylor's polynomial of degree 13 for e^r − 1 leaves
//! |r|¹⁴/14! ≤ 0.2u|r|, and Horner's rule, whose inner part is at most 0.21|r|, adds less than
//! 3u|r|. So e^a is off by less than 6u of itself, and e^a − 1, at least 0.29 or 0.41 in size where
//! k ≠ 0, by less than 22u; measured, both stay below 3u. [`EXP_ERROR`] allows 24u.

use pulp::bytemuck::cast;
use pulp::{Simd, WithSimd};

use super::interval::UNIT;
use super::sums::Lane;
use crate::lanes::dispatch;

/// |computed − exact| ≤ this many units of the exact value, for e^a and for e^a − 1.
pub(super) const EXP_ERROR: f64 = 24.0;

/// Arguments are brought to ±LIMIT; e^−LIMIT is less than 1e-304.
const LIMIT: f64 = 700.0;

const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fefa_3800);
const LN2_LOW: f64 = f64::from_bits(0x3d2e_f357_93c7_6730);

/// 1/j!, j = 2..13.
const TAYLOR: [f64; 12] = [
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5040.0,
    1.0 / 40320.0,
    1.0 / 362880.0,
    1.0 / 3628800.0,
    1.0 / 39916800.0,
    1.0 / 479001600.0,
    1.0 / 6227020800.0,
];

/// a, where it is within ±LIMIT, or that end.
#[inline(always)]
pub(super) fn within<S: Simd>(a: Lane<S>) -> Lane<S> {
    let limit = a.of(LIMIT);
    limit.if_below(a, limit, a.at_least(a.of(-LIMIT)))
}

/// (e^a − 1, e^a) for |a| ≤ LIMIT. Every operation is rounded once, so that the result does not
/// depend on the registers.
#[inline(always)]
pub(super) fn exp_on<S: Simd>(a: Lane<S>) -> (Lane<S>, Lane<S>) {
    const ROUND: f64 = 6755399441055744.0; // 1.5·2⁵²: adding it rounds to a whole number
    let (one, round) = (a.of(1.0), a.of(ROUND));
    let k = a.mul_add(a.of(std::f64::consts::LOG2_E), round) - round;
    let r = k.mul_add(a.of(-LN2_LOW), k.mul_add(a.of(-LN2_HIGH), a));
    let mut q = a.of(TAYLOR[11]);
    for j in (0..11).rev() {
        q = q.mul_add(r, a.of(TAYLOR[j]));
    }
    let m = (r * r).mul_add(q, r);
    // k·2³² + 1.5·2⁵² has k in the low bits of its high word: 20 places up is the exponent.
    let (near, t) = (one + m, k.mul_add(a.of(4294967296.0), round));
    let e: S::f64s = if size_of::<S::f64s>() == 8 {
        let (near, t): (u64, u64) = (cast(near.x), cast(t.x));
        cast(near.wrapping_add((t >> 32) << 52))
    } else {
        let exponent = a.simd.wrapping_dyn_shl_u32s(cast(t.x), a.simd.splat_u32s(20));
        cast(a.simd.add_u32s(cast(near.x), exponent))
    };
    let e = Lane { x: e, ..a };
    (a.of(0.25).if_below(k.abs(), e - one, m), e)
}

/// The same for one number.
pub(super) fn exp(a: f64) -> (f64, f64) {
    struct One(f64);
    impl WithSimd for One {
        type Output = (f64, f64);
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> (f64, f64) {
            let (m, e) = exp_on(within(Lane { simd, x: simd.splat_f64s(self.0) }));
            (m.first(), e.first())
        }
    }
    dispatch(One(a))
}

/// At least ln z for z in (0, 1], given as z and as x = z − 1: by ln q ≤ q − 1, any ℓ has
/// ln z ≤ ℓ + (z − e^ℓ)/e^ℓ, and loses the square of its error. Near 1 the difference is taken from x.
pub(super) fn ln_above(z: f64, x: f64) -> f64 {
    let (z, x) = (z.min(1.0), x.min(0.0));
    let l = guess(z, x).clamp(-LIMIT, 0.0);
    let (m, e) = exp(l);
    let (difference, size) = if x > -0.5 { (x - m, m.abs()) } else { (z - e, e) };
    // Two roundings and that of e in the quotient, one in each sum.
    let quotient = difference / e;
    let error = (EXP_ERROR + 4.0) * (quotient.abs() + size / e) + 4.0 * l.abs();
    l + quotient + 1.01 * UNIT * error + f64::MIN_POSITIVE
}

/// ln z to nine digits, unproved: k·ln 2 + 2·artanh, by its series.
fn guess(z: f64, x: f64) -> f64 {
    let (mut k, mut x) = (0.0, x);
    if x <= -0.5 {
        let bits = z.to_bits();
        k = (bits >> 52) as f64 - 1022.0;
        x = f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52) - 1.0;
    }
    let s = x / (2.0 + x);
    let mut sum = 0.0;
    for j in (0..10).rev() {
        sum = sum * (s * s) + 1.0 / (2 * j + 1) as f64;
    }
    k * std::f64::consts::LN_2 + 2.0 * s * sum
}
