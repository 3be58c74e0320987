//! e^a − 1, and ln z for 0 < z ≤ 1 from above, with error bounds.
//!
//! a = k·ln 2 + r with |r| ≤ 0.3466. For k = 0 there is no rounding in r = a; else the product
//! k·LN2_HIGH and its difference from a are exact (LN2_HIGH has 42 bits, |k| < 2¹¹), so that r is
//! off by at most u|r| + 2⁻⁸⁴. Taylor's polynomial of degree 13 for e^r − 1 leaves
//! |r|¹⁴/14! ≤ 0.2u|r|. It is r + r²q with |q| ≤ 0.57 off by six roundings at most, so that rounding
//! adds less than 3u|r|. So e^a is off by less than 6u of itself, and e^a − 1, at least 0.29 or 0.41
//! in size where k ≠ 0, by less than 22u. [`EXP_ERROR`] allows 24u.

use pulp::Simd;

use super::lane::Lane;
use super::rounding::UNIT;

/// |computed − exact| ≤ this many units of the exact value, for e^a and for e^a − 1.
pub(super) const EXP_ERROR: f64 = 24.0;

/// Arguments are brought to ±LIMIT; e^−LIMIT is less than 1e-304.
const LIMIT: f64 = 700.0;

const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fefa_3800);
const LN2_LOW: f64 = f64::from_bits(0x3d2e_f357_93c7_6730);

/// 1/j!, j = 2..13.
#[rustfmt::skip]
const TAYLOR: [f64; 12] = [
    1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5040.0, 1.0 / 40320.0,
    1.0 / 362880.0, 1.0 / 3628800.0, 1.0 / 39916800.0, 1.0 / 479001600.0, 1.0 / 6227020800.0,
];

/// (e^a − 1, e^a, a) for a within ±LIMIT; beyond, for that end.
#[inline(always)]
pub(super) fn exp<S: Simd>(a: Lane<S>) -> (Lane<S>, Lane<S>, Lane<S>) {
    const ROUND: f64 = 6755399441055744.0; // 1.5·2⁵²: adding it rounds to a whole number
    let (one, round) = (a.of(1.0), a.of(ROUND));
    let a = a.at_most(a.of(LIMIT)).at_least(a.of(-LIMIT));
    let k = a.mul_add(a.of(std::f64::consts::LOG2_E), round) - round;
    let r = k.mul_add(a.of(-LN2_LOW), k.mul_add(a.of(-LN2_HIGH), a));
    // Estrin's scheme: few steps depend on each other.
    let r2 = r * r;
    let two = |j: usize| a.of(TAYLOR[j + 1]).mul_add(r, a.of(TAYLOR[j]));
    let four = |j: usize| two(j + 2).mul_add(r2, two(j));
    let r4 = r2 * r2;
    let q = four(8).mul_add(r4, four(4)).mul_add(r4, four(0));
    let m = r2.mul_add(q, r);
    let e = (one + m).times_power(k);
    (a.of(0.25).if_below(k.abs(), e - one, m), e, a)
}

/// The same for one number.
#[inline(always)]
pub(super) fn exp_of<S: Simd>(simd: S, a: f64) -> (f64, f64) {
    let (m, e, _) = exp(Lane { simd, x: simd.splat_f64s(a) });
    let first = |x: S::f64s| pulp::bytemuck::cast_slice::<S::f64s, f64>(&[x])[0];
    (first(m.x), first(e.x))
}

/// At least ln z for z in (0, 1], given as z and as x = z − 1: by ln q ≤ q − 1, any ℓ has
/// ln z ≤ ℓ + (z − e^ℓ)/e^ℓ, and loses the square of its error. Near 1 the difference is taken from x.
#[inline(always)]
pub(super) fn ln_above<S: Simd>(simd: S, z: f64, x: f64) -> f64 {
    let (z, x) = (z.min(1.0), x.min(0.0));
    let l = guess(z, x).clamp(-LIMIT, 0.0);
    let (m, e) = exp_of(simd, l);
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
    for j in (0..8).rev() {
        sum = sum * (s * s) + 1.0 / (2 * j + 1) as f64;
    }
    k * std::f64::consts::LN_2 + 2.0 * s * sum
}
