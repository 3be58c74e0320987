//! e^a and e^a − 1 with error bounds, for proofs.
//!
//! a = k·ln 2 + r with |r| ≤ 0.3466. For k = 0 there is no rounding in r = a; else the product
//! k·LN2_HIGH and its difference from a are exact (LN2_HIGH has 42 bits, |k| < 2¹¹), so that r is
//! off by at most u|r| + 2⁻⁸⁴. e^r − 1 = r + r²q, where q is Taylor's polynomial of degree 11 less the
//! Chebyshev polynomials of degree 11 and 10 on |r| ≤ 0.3466 that leave degree 9: that and the rest
//! of the series are off by less than 1.3u, and |q| ≤ 0.57 by six roundings more at most, so that
//! n = e^r − 1 is off by less than 5u|r|. Then e^a = 2^k + 2^k·n is off by less than 5u of itself, and
//! e^a − 1 = (2^k − 1) + 2^k·n, at least 0.29 in size for k < 0 and 0.41·2^(k − 1) for k > 0, by less
//! than 12u.

use pulp::Simd;

use crate::certificate::verify::lane::Lane;

/// |computed − exact| ≤ this many units of the exact value, for e^a and for e^a − 1.
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

/// (e^a − 1, e^a, a) for a within ±LIMIT; beyond, for that end.
#[inline(always)]
pub(crate) fn exp<S: Simd>(a: Lane<S>) -> (Lane<S>, Lane<S>, Lane<S>) {
    const ROUND: f64 = 6755399441055744.0; // 1.5·2⁵²: adding it rounds to a whole number
    let (one, round) = (a.of(1.0), a.of(ROUND));
    let a = a.at_most(a.of(LIMIT)).at_least(a.of(-LIMIT));
    let k = a.mul_add(a.of(std::f64::consts::LOG2_E), round) - round;
    let r = k.mul_add(a.of(-LN2_LOW), k.mul_add(a.of(-LN2_HIGH), a));
    // Estrin's scheme: few steps depend on each other.
    let two = |j: usize| a.of(SERIES[j + 1]).mul_add(r, a.of(SERIES[j]));
    let (r2, power) = (r * r, one.times_power(k));
    let (low, high) = (two(2).mul_add(r2, two(0)), two(6).mul_add(r2, two(4)));
    let r4 = r2 * r2;
    let q = two(8).mul_add(r4, high).mul_add(r4, low);
    let n = r2.mul_add(q, r);
    (power.mul_add(n, power - one), power.mul_add(n, power), a)
}
