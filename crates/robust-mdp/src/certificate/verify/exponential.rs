//! e^a − 1, and ln z for 0 < z ≤ 1, with error bounds.
//!
//! a = k·ln 2 + r with |r| ≤ 0.3466. For k = 0 there is no rounding in r = a; else the product
//! k·LN2_HIGH and its difference from a are exact (LN2_HIGH has 42 bits, |k| < 2¹¹), so that r is
//! off by at most u|r| + 2⁻⁸⁴. Taylor's polynomial of degree 13 for e^r − 1 leaves
//! |r|¹⁴/14! ≤ 0.2u|r|, and Horner's rule, whose inner part is at most 0.21|r|, adds less than
//! 3u|r|. So e^a is off by less than 6u of itself, and e^a − 1, at least 0.29 or 0.41 in size where
//! k ≠ 0, by less than 22u; measured, both stay below 3u. [`EXP_ERROR`] allows 24u.

use pulp::bytemuck::cast;
use pulp::{Scalar, Simd, WithSimd};

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

/// (e^a − 1, e^a); infinite where a > 700. Products and sums only, so that the result does not depend
/// on the registers.
#[inline(always)]
fn exp_on<S: Simd>(simd: S, a: S::f64s) -> (S::f64s, S::f64s) {
    const ROUND: f64 = 6755399441055744.0; // 1.5·2⁵²: adding it rounds to a whole number
    let vanishes = simd.less_than_f64s(a, simd.splat_f64s(LOWEST));
    let explodes = simd.less_than_f64s(simd.splat_f64s(-LOWEST), a);
    let x = simd.select_f64s(
        vanishes,
        simd.splat_f64s(0.0),
        simd.select_f64s(explodes, simd.splat_f64s(0.0), a),
    );
    let turns = simd.mul_f64s(x, simd.splat_f64s(std::f64::consts::LOG2_E));
    let k = simd.sub_f64s(simd.add_f64s(turns, simd.splat_f64s(ROUND)), simd.splat_f64s(ROUND));
    let r = simd.sub_f64s(x, simd.mul_f64s(k, simd.splat_f64s(LN2_HIGH)));
    let r = simd.sub_f64s(r, simd.mul_f64s(k, simd.splat_f64s(LN2_LOW)));
    let mut q = simd.splat_f64s(TAYLOR[11]);
    for j in (0..11).rev() {
        q = simd.add_f64s(simd.mul_f64s(q, r), simd.splat_f64s(TAYLOR[j]));
    }
    let m = simd.add_f64s(r, simd.mul_f64s(simd.mul_f64s(r, r), q));
    // k·2³² + 1.5·2⁵² has k in the low bits of its high word: 20 places up is the exponent.
    let t = simd.add_f64s(simd.mul_f64s(k, simd.splat_f64s(4294967296.0)), simd.splat_f64s(ROUND));
    let near = simd.add_f64s(simd.splat_f64s(1.0), m);
    let e: S::f64s = if size_of::<S::f64s>() == 8 {
        let (near, t): (u64, u64) = (cast(near), cast(t));
        cast(near.wrapping_add((t >> 32) << 52))
    } else {
        let exponent = simd.wrapping_dyn_shl_u32s(cast(t), simd.splat_u32s(20));
        cast(simd.add_u32s(cast(near), exponent))
    };
    let here = simd.equal_f64s(k, simd.splat_f64s(0.0));
    let m = simd.select_f64s(here, m, simd.sub_f64s(e, simd.splat_f64s(1.0)));
    let (m, e) = (
        simd.select_f64s(vanishes, simd.splat_f64s(-1.0), m),
        simd.select_f64s(vanishes, simd.splat_f64s(0.0), e),
    );
    let infinite = simd.splat_f64s(f64::INFINITY);
    (simd.select_f64s(explodes, infinite, m), simd.select_f64s(explodes, infinite, e))
}

/// The same for one number.
pub(super) fn exp(a: f64) -> (f64, f64) {
    exp_on(Scalar::new(), a)
}

/// e^a − 1 and e^a for a = t·w − ν.
pub(super) struct Exponentials<'a> {
    pub(super) t: f64,
    pub(super) nu: f64,
    pub(super) w: &'a [f64],
    pub(super) m: &'a mut [f64],
    pub(super) e: &'a mut [f64],
}

impl WithSimd for Exponentials<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Exponentials { t, nu, w, m, e } = self;
        let (t, nu) = (simd.splat_f64s(t), simd.splat_f64s(nu));
        let (full, last) = S::as_simd_f64s(w);
        let (full_m, last_m) = S::as_mut_simd_f64s(m);
        let (full_e, last_e) = S::as_mut_simd_f64s(e);
        for ((&w, m), e) in full.iter().zip(full_m).zip(full_e) {
            (*m, *e) = exp_on(simd, simd.sub_f64s(simd.mul_f64s(t, w), nu));
        }
        if !last.is_empty() {
            let w = simd.partial_load_f64s(last);
            let (m, e) = exp_on(simd, simd.sub_f64s(simd.mul_f64s(t, w), nu));
            simd.partial_store_f64s(last_m, m);
            simd.partial_store_f64s(last_e, e);
        }
    }
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
