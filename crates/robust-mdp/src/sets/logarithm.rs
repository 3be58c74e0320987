//! ln s with error bounds, for proofs.
//!
//! s = m·2^k with m in [√½, √2] or just beyond, and with f = m − 1, exact, and q = f/(2 + f), |q| ≤ 0.1716,
//!   ln s = k·ln 2 + 2(q + q³/3 + … + q¹⁹/19),
//! where the rest of the series is less than q²⁰/21·1.04 < 2.5e-17 of the sum. q is off by two roundings, what
//! stands in the bracket of q(2 + q²·(…)) by less than two, and the product by one: for k = 0 by less than 6u of
//! itself in all. Else |ln s| ≥ 0.49|k|·ln 2, the other terms are smaller than that, and ln 2, its product with k
//! and the sum are rounded: less than 10u of itself.

use pulp::Simd;
use pulp::bytemuck::cast;

use crate::certificate::verify::lane::Lane;

/// ln s for normal s, off by at most 10u of itself.
#[inline(always)]
pub(super) fn ln<S: Simd>(s: Lane<S>) -> Lane<S> {
    let (k, m) = parts(s);
    k.mul_add(s.of(std::f64::consts::LN_2), series(m - s.of(1.0)))
}

/// ln(1 + δ) where s = 1 + δ ≥ ½, which is off by a rounding: so is this where s is not near 1, and by at most
/// 10u of itself besides.
#[inline(always)]
pub(super) fn ln_1p<S: Simd>(delta: Lane<S>, s: Lane<S>) -> Lane<S> {
    let near = series(delta);
    delta.abs().if_below(s.of(0.25), near, ln(s))
}

/// 2·artanh(f/(2 + f)).
#[inline(always)]
fn series<S: Simd>(f: Lane<S>) -> Lane<S> {
    let two = f.of(2.0);
    let q = f / (two + f);
    let square = q * q;
    let mut sum = f.of(2.0 / 19.0);
    for odd in [17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
        sum = sum.mul_add(square, f.of(2.0 / odd));
    }
    q * sum.mul_add(square, two)
}

/// k and m with s = m·2^k: what is added to the bits of s makes its exponent step at √2 rather than at 2.
#[inline(always)]
fn parts<S: Simd>(s: Lane<S>) -> (Lane<S>, Lane<S>) {
    // The high word of 2 less that of √2.
    const STEP: u64 = 0x4000_0000_0000_0000 - 0x3ff6_a09e_0000_0000;
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    const ONE: u64 = 0x3ff0_0000_0000_0000;
    // 2⁵², whose last bits count ones, and 1023 more.
    const COUNT: f64 = 4_503_599_627_370_496.0;
    let simd = s.simd;
    let lane = |x: S::f64s| Lane { simd, x };
    if size_of::<S::f64s>() == 8 {
        let bits = cast::<_, u64>(s.x);
        let power = bits.wrapping_add(STEP) & EXPONENT;
        let m = cast(bits.wrapping_sub(power).wrapping_add(ONE));
        let count = cast((power >> 52) | COUNT.to_bits());
        return (lane(count) - s.of(COUNT + 1023.0), lane(m));
    }
    let of = |x: u64| simd.splat_u64s(x);
    let bits: S::u64s = cast(s.x);
    let power = simd.and_u64s(simd.add_u64s(bits, of(STEP)), of(EXPONENT));
    let m = simd.add_u64s(simd.sub_u64s(bits, power), of(ONE));
    // The high word of the power, 20 places down, counted in units of 2³².
    let shifted = simd.wrapping_dyn_shr_u32s(cast(power), simd.splat_u32s(20));
    const HIGH: f64 = 4_294_967_296.0;
    let count = simd.or_u64s(cast(shifted), of(COUNT.to_bits()));
    let count = lane(cast(count)) - s.of(COUNT);
    (count * s.of(1.0 / HIGH) - s.of(1023.0), lane(cast(m)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::dispatch;
    use pulp::WithSimd;

    struct Map<'a>(&'a [f64], &'a mut [f64]);

    impl WithSimd for Map<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let lanes = size_of::<S::f64s>() / 8;
            for (x, out) in self.0.chunks(lanes).zip(self.1.chunks_mut(lanes)) {
                let x = Lane { simd, x: simd.partial_load_f64s(x) };
                let s = x + x.of(1.0);
                simd.partial_store_f64s(out, x.of(1e-3).if_below(x.abs(), ln(s), ln_1p(x, s)).x);
            }
        }
    }

    #[test]
    fn logarithms_have_few_roundings_on_every_machine() {
        let mut x: Vec<f64> = (-600..600).map(|k| (1.1 * f64::from(k)).exp()).collect();
        x.extend((-499..4000).map(|k| 1e-3 * f64::from(k) + 1e-5));
        x.extend((-300..0).map(|k| 10f64.powi(k)));
        x.extend((-300..-1).map(|k| -(10f64.powi(k))));
        let mut best = vec![0.0; x.len()];
        dispatch(Map(&x, &mut best));
        let mut portable = vec![0.0; x.len()];
        Map(&x, &mut portable).with_simd(pulp::Scalar::new());
        assert_eq!(best, portable);
        for (x, log) in x.iter().zip(&best) {
            let (exact, s) = (x.ln_1p(), 1.0 + x);
            // Where s was rounded, that counts too.
            let off = 12.0 * 1.2e-16 * exact.abs() + if x.abs() > 1e-3 { 1.2e-16 } else { 0.0 };
            assert!((log - exact).abs() <= off, "{x:e}: {log:e}, {exact:e}, s = {s:e}");
        }
    }
}
