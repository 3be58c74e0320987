//! pe^a and pe^a − p with error bounds, for proofs.
//!
//! a = k·ln 2 + r with |r| ≤ 0.3466. For k = 0 there is no rounding in r = a; else the product
//! k·LN2_HIGH and its difference from a are exact (LN2_HIGH has 42 bits, |k| < 2¹¹), so that r is
//! off by at most u|r| + 2⁻⁸⁴. e^r − 1 = r + r²q, where q is Taylor's polynomial of degree 11 less the
//! Chebyshev polynomials of degree 11 and 10 on |r| ≤ 0.3466 that leave degree 9: that and the rest
//! of the series are off by less than 1.3u, and |q| ≤ 0.57 by six roundings more at most, so that
//! n = e^r − 1 is off by less than 5u|r|. Then pe^a = p2^k + p2^k·n is off by less than 5u of itself, and
//! pe^a − p = (p2^k − p) + p2^k·n, at least 0.29p in size for k < 0 and 0.41p·2^(k − 1) for k > 0, by less
//! than 12u: p2^k is exact, and its difference from p for |k| < 2 too.

use pulp::Simd;
use pulp::bytemuck::cast;

use crate::certificate::verify::lane::Lane;

/// |computed − exact| ≤ this many units of the exact value, for pe^a and for pe^a − p.
pub(crate) const EXP_ERROR: f64 = 12.0;

/// Arguments are brought to ±LIMIT; e^−LIMIT is less than 1e-304.
pub(crate) const LIMIT: f64 = 700.0;

const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fefa_3800);
const LN2_LOW: f64 = f64::from_bits(0x3d2e_f357_93c7_6730);

/// About 1/(j + 2)!.
#[rustfmt::skip]
const SERIES: [f64; 10] = [
    0.5000000000000001, 0.1666666666666667, 0.041666666666624205, 0.008333333333326148,
    0.001388888891716531, 0.00019841269874766522, 2.4801521395530075e-5, 2.7557255490655823e-6,
    2.7620018158603226e-7, 2.5105161330117926e-8,
];

/// (pe^a − p, pe^a, a) for p ≥ 0 and a within ±LIMIT; beyond, for that end.
#[inline(always)]
pub(crate) fn exp<S: Simd>(p: Lane<S>, a: Lane<S>) -> (Lane<S>, Lane<S>, Lane<S>) {
    let a = a.at_most(a.of(LIMIT)).at_least(a.of(-LIMIT));
    let (k, power) = whole(a * a.of(std::f64::consts::LOG2_E));
    let r = k.mul_add(a.of(-LN2_LOW), k.mul_add(a.of(-LN2_HIGH), a));
    // Estrin's scheme: few steps depend on each other.
    let two = |j: usize| a.of(SERIES[j + 1]).mul_add(r, a.of(SERIES[j]));
    let r2 = r * r;
    let (low, high) = (two(2).mul_add(r2, two(0)), two(6).mul_add(r2, two(4)));
    let r4 = r2 * r2;
    let q = two(8).mul_add(r4, high).mul_add(r4, low);
    let n = r2.mul_add(q, r);
    let power = p * power;
    (power.mul_add(n, power - p), power.mul_add(n, power), a)
}

/// k and 2^k for the whole number k nearest to x, |x| < 1022; within 2⁻³² of a tie, for one of both.
#[inline(always)]
fn whole<S: Simd>(x: Lane<S>) -> (Lane<S>, Lane<S>) {
    // The high word of x + ½ + 1.5·2²⁰ counts ones: without the low word that is k + 1.5·2²⁰, and 20 places up its
    // low bits are an exponent.
    const ROUND: f64 = 1572864.0;
    let (simd, sum) = (x.simd, (x + x.of(ROUND + 0.5)).x);
    let (high, one): (u64, u64) = (!0 << 32, 1.0_f64.to_bits());
    let lane = |x: S::f64s| Lane { simd, x };
    if size_of::<S::f64s>() == 8 {
        let high = cast::<_, u64>(sum) & high;
        return (lane(cast(high)) - x.of(ROUND), lane(cast((high << 20).wrapping_add(one))));
    }
    let high = simd.and_u64s(cast(sum), simd.splat_u64s(high));
    let power = simd.wrapping_dyn_shl_u32s(cast(high), simd.splat_u32s(20));
    let power = simd.add_u32s(power, cast(simd.splat_u64s(one)));
    (lane(cast(high)) - x.of(ROUND), lane(cast(power)))
}
