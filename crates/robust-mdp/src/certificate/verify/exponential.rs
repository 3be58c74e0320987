//! e^a − 1, and ln z for 0 < z ≤ 1, with error bounds.
//!
//! a = k·ln 2 + r with |r| ≤ 0.3466. For k = 0 there is no rounding in r = a; else the product
//! k·LN2_HIGH and its difference from a are exact (LN2_HIGH has 42 bits, |k| < 2¹¹), so that r is
//! off by at most u|r| + 2⁻⁸⁴. Taylor's polynomial of degree 13 for e^r − 1 leaves
//! |r|¹⁴/14! ≤ 0.2u|r|, and Horner's rule, whose inner part is at most 0.21|r|, adds less than
//! 3u|r|. So e^a is off by less than 6u of itself, and e^a − 1, at least 0.29 or 0.41 in size where
//! k ≠ 0, by less than 22u; measured, both stay below 3u. [`EXP_ERROR`] allows 24u.

use super::interval::{Interval, UNIT};

/// |computed − exact| ≤ this many units of the exact value, for e^a and for e^a − 1.
pub(super) const EXP_ERROR: f64 = 24.0;

/// Below this, e^a counts as 0; it is less than 1e-304.
const LOWEST: f64 = -700.0;

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

/// (e^a − 1, e^a), without branches; infinite where a > 700.
#[inline(always)]
pub(super) fn exp(a: f64) -> (f64, f64) {
    const ROUND: f64 = 6755399441055744.0; // 1.5·2⁵²: adding it rounds to a whole number
    let (vanishes, explodes) = (a < LOWEST, a > -LOWEST);
    let a = if vanishes | explodes { 0.0 } else { a };
    let shifted = a * std::f64::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (a - k * LN2_HIGH) - k * LN2_LOW;
    let mut q = TAYLOR[11];
    for j in (0..11).rev() {
        q = q * r + TAYLOR[j];
    }
    let m = r + (r * r) * q;
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    let e = power * (1.0 + m);
    let m = if k == 0.0 { m } else { e - 1.0 };
    let (m, e) = if vanishes { (-1.0, 0.0) } else { (m, e) };
    if explodes { (f64::INFINITY, f64::INFINITY) } else { (m, e) }
}

/// ln z for z in (0, 1], given as z and as x = z − 1: with any ℓ, m = e^ℓ − 1 and by ln q ≤ q − 1,
/// ℓ + (x − m)/z ≤ ln z ≤ ℓ + (x − m)/(1 + m). Near 1 the difference is taken from x, else from z.
pub(super) fn ln(z: Interval, x: Interval) -> Interval {
    let bound = |z: f64, x: f64| {
        let near = x > -0.5;
        let l = guess(z, x).clamp(LOWEST, 0.0);
        let (m, e) = exp(l);
        let error = (EXP_ERROR + 1.0) * UNIT;
        let e = Interval::around(e, error * e);
        let difference = match near {
            true => Interval::from(x) - Interval::around(m, error * m.abs()),
            false => Interval::from(z) - e,
        };
        let (low, high) = (difference / z + l, difference / e + l);
        (low.lo, high.hi)
    };
    Interval { lo: bound(z.lo, x.lo).0, hi: bound(z.hi.min(1.0), x.hi.min(0.0)).1 }
}

/// ln z, unproved: k·ln 2 + 2·artanh, by its series.
fn guess(z: f64, x: f64) -> f64 {
    let (mut k, mut x) = (0.0, x);
    if x <= -0.5 {
        let bits = z.to_bits();
        k = (bits >> 52) as f64 - 1022.0;
        x = f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52) - 1.0;
    }
    let s = x / (2.0 + x);
    let mut sum = 0.0;
    for j in (0..20).rev() {
        sum = sum * (s * s) + 1.0 / (2 * j + 1) as f64;
    }
    k * std::f64::consts::LN_2 + 2.0 * s * sum
}
