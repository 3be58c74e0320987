//! Vector arithmetic shared by the numerical kernels: exponential and logarithm on whole
//! SIMD registers.
//!
//! Kernels are written once, generic over [`pulp::Simd`], and compiled for the portable,
//! AVX2+FMA and AVX-512 targets; `dispatch` picks one at run time. Everything a kernel calls
//! is `#[inline(always)]`, so that a whole pass over a state's rows is one function per target.
//! Short rows and the tails of long ones are read through zero-filled masked loads.

use pulp::bytemuck::cast;
use pulp::{Arch, Simd, WithSimd};
use std::sync::LazyLock;

static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);

/// Runs a kernel compiled for the best instruction set of this machine.
#[inline]
pub(crate) fn dispatch<K: WithSimd>(kernel: K) -> K::Output {
    ARCH.dispatch(kernel)
}

/// Name of the instruction set that kernels use here.
pub fn instruction_set() -> &'static str {
    struct Name;
    impl WithSimd for Name {
        type Output = &'static str;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> &'static str {
            match size_of::<S::f64s>() {
                64 => "AVX-512",
                32 => "AVX2+FMA",
                16 => "128-bit SIMD",
                _ => "portable",
            }
        }
    }
    dispatch(Name)
}

/// The number of a lane.
pub(crate) const IOTA: [f64; 8] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];

/// The entries beyond the last full register of a slice, and zeros, in some order.
///
/// Masked loads cost a call that spills all registers; where there is room, the last entries are
/// loaded as one register and those seen before are blanked.
#[inline(always)]
pub(crate) fn last<S: Simd>(simd: S, x: &[f64]) -> S::f64s {
    let lanes = size_of::<S::f64s>() / 8;
    let rest = x.len() % lanes;
    if x.len() < lanes {
        return simd.partial_load_f64s(x);
    }
    let register = S::as_simd_f64s(&x[x.len() - lanes..]).0[0];
    let iota = S::as_simd_f64s(&IOTA[..lanes]).0[0];
    let seen = simd.less_than_f64s(iota, simd.splat_f64s((lanes - rest) as f64));
    simd.select_f64s(seen, simd.splat_f64s(0.0), register)
}

/// Visits equal-length slices register by register; the last, partial one is zero-filled.
///
/// `walk!(simd, [a, b] => |a, b| body)` binds `a`, `b` to registers in `body`.
macro_rules! walk {
    ($simd:expr, [$($slice:expr),+] => |$($lane:ident),+| $body:block) => {{
        let lengths = [$($slice.len()),+];
        debug_assert!(lengths.iter().all(|n| *n == lengths[0]));
        let lanes = size_of::<S::f64s>() / 8;
        let (length, full) = (lengths[0], lengths[0] / lanes);
        {
            let ($($lane,)+) = ($(&S::as_simd_f64s(&$slice).0[..full],)+);
            for i in 0..full {
                $(let $lane = $lane[i];)+
                $body
            }
        }
        if full * lanes < length {
            $(let $lane = crate::lanes::last($simd, &$slice[..length]);)+
            $body
        }
    }};
}
pub(crate) use walk;

/// Number of zero-filled lanes in the last register of a row of `len` entries.
#[inline(always)]
pub(crate) fn padding<S: Simd>(len: usize) -> f64 {
    let lanes = size_of::<S::f64s>() / 8;
    ((lanes - len % lanes) % lanes) as f64
}

/// Declares functions whose bodies are compiled for every instruction set, generic over `S: Simd` with the
/// first argument its token; calls are without that, and run the best of this machine.
macro_rules! kernels {
    ($(
        $(#[$about:meta])*
        $vis:vis fn $name:ident<$a:lifetime>($simd:ident, $($arg:ident: $type:ty),+ $(,)?) -> $out:ty
        $body:block
    )+) => {$(
        $(#[$about])*
        #[inline]
        $vis fn $name<$a>($($arg: $type),+) -> $out {
            struct Kernel<$a> { $($arg: $type),+ }
            impl<$a> pulp::WithSimd for Kernel<$a> {
                type Output = $out;
                #[inline(always)]
                fn with_simd<S: pulp::Simd>(self, $simd: S) -> $out {
                    let Kernel { $($arg),+ } = self;
                    $body
                }
            }
            crate::lanes::dispatch(Kernel { $($arg),+ })
        }
    )+};
}
pub(crate) use kernels;

kernels! {
    /// Σx.
    pub(crate) fn sum<'a>(simd, x: &'a [f64]) -> f64 {
        let mut sum = simd.splat_f64s(0.0);
        walk!(simd, [x] => |x| {
            sum = simd.add_f64s(sum, x);
        });
        simd.reduce_sum_f64s(sum)
    }

    /// ⟨a, b⟩.
    pub(crate) fn product<'a>(simd, a: &'a [f64], b: &'a [f64]) -> f64 {
        dot(simd, a, b)
    }
}

/// `⟨a, b⟩` with four independent accumulators.
#[inline(always)]
pub(crate) fn dot<S: Simd>(simd: S, a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let (av, rest) = S::as_simd_f64s(a);
    let (bv, _) = S::as_simd_f64s(b);
    let mut sum = [simd.splat_f64s(0.0); 4];
    let (a4, a1) = pulp::as_arrays::<4, _>(av);
    let (b4, b1) = pulp::as_arrays::<4, _>(bv);
    for (a, b) in a4.iter().zip(b4) {
        sum[0] = simd.mul_add_e_f64s(a[0], b[0], sum[0]);
        sum[1] = simd.mul_add_e_f64s(a[1], b[1], sum[1]);
        sum[2] = simd.mul_add_e_f64s(a[2], b[2], sum[2]);
        sum[3] = simd.mul_add_e_f64s(a[3], b[3], sum[3]);
    }
    for (&a, &b) in a1.iter().zip(b1) {
        sum[0] = simd.mul_add_e_f64s(a, b, sum[0]);
    }
    if !rest.is_empty() {
        sum[1] = simd.mul_add_e_f64s(last(simd, a), last(simd, b), sum[1]);
    }
    let left = simd.add_f64s(sum[0], sum[1]);
    let right = simd.add_f64s(sum[2], sum[3]);
    simd.reduce_sum_f64s(simd.add_f64s(left, right))
}

const MAGIC: f64 = 6_755_399_441_055_744.0; // 1.5 · 2⁵²
const TWO32: f64 = 4_294_967_296.0;
const LN2_HI: f64 = 6.931_471_803_691_238e-1;
const LN2_LO: f64 = 1.908_214_929_270_587_7e-10;

/// p·2ⁿ for an integral `n` that keeps the result a normal number.
///
/// Adding n·2³² to 1.5·2⁵² leaves n in the low bits of the high word; shifting that word left
/// by 20 puts n where a double keeps its exponent.
#[inline(always)]
fn scale_by_power<S: Simd>(simd: S, p: S::f64s, n: S::f64s) -> S::f64s {
    let t = simd.mul_add_e_f64s(n, simd.splat_f64s(TWO32), simd.splat_f64s(MAGIC));
    if size_of::<S::f64s>() == 8 {
        let (p, t): (u64, u64) = (cast(p), cast(t));
        return cast(p.wrapping_add((t >> 32) << 52));
    }
    let exponent = simd.wrapping_dyn_shl_u32s(cast(t), simd.splat_u32s(20));
    cast(simd.add_u32s(cast(p), exponent))
}

/// The e with x = 2ᵉ·m, m in [√½, √2), for positive normal x.
#[inline(always)]
fn exponent<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    // Subtracting the high word of √½ makes the exponent field e − 1; a bias of 2¹¹ in that
    // field keeps it positive, and the field is read off in the mantissa of 1.5·2⁵² + e·2³².
    const ROOT_HALF: u64 = 0x3fe6_a09e_0000_0000;
    const BIAS: u64 = 1 << 63;
    if size_of::<S::f64s>() == 8 {
        let bits: u64 = cast(x);
        let field = bits.wrapping_sub(ROOT_HALF).wrapping_add(BIAS) >> 52;
        return simd.splat_f64s(field as f64 - 2048.0);
    }
    let high = simd.splat_u64s(0xffff_ffff_0000_0000);
    let bits = simd.sub_u64s(cast(x), simd.splat_u64s(ROOT_HALF));
    let bits = simd.add_u64s(bits, simd.splat_u64s(BIAS));
    let field = simd.wrapping_dyn_shr_u32s(cast(bits), simd.splat_u32s(20));
    let field = simd.and_u64s(cast(field), high);
    let t: S::f64s = cast(simd.or_u64s(field, simd.splat_u64s(MAGIC.to_bits())));
    let e = simd.sub_f64s(t, simd.splat_f64s(MAGIC));
    simd.mul_add_e_f64s(e, simd.splat_f64s(1.0 / TWO32), simd.splat_f64s(-2048.0))
}

/// Splits x = n·ln 2 + r with |r| ≤ ln 2 / 2 and returns (n, (eʳ − 1)/r).
#[inline(always)]
fn reduce<S: Simd>(simd: S, x: S::f64s) -> (S::f64s, S::f64s, S::f64s) {
    let magic = simd.splat_f64s(MAGIC);
    let log2e = simd.splat_f64s(std::f64::consts::LOG2_E);
    let n = simd.sub_f64s(simd.mul_add_e_f64s(x, log2e, magic), magic);
    let r = simd.mul_add_e_f64s(n, simd.splat_f64s(-LN2_HI), x);
    let r = simd.mul_add_e_f64s(n, simd.splat_f64s(-LN2_LO), r);
    // Chebyshev fit of (eʳ − 1)/r on the interval: 1e-17 relative to eʳ.
    const FIT: [f64; 10] = [
        2.762_637_106_569_635_6e-7,
        2.755_725_540_020_642_4e-6,
        2.480_150_431_378_554e-5,
        1.984_126_987_482_062_5e-4,
        1.388_888_893_251_478e-3,
        8.333_333_333_326_135e-3,
        4.166_666_666_657_307e-2,
        0.166_666_666_666_666_7,
        0.500_000_000_000_000_6,
        1.0,
    ];
    let mut q = simd.splat_f64s(2.510_521_700_472_074_5e-8);
    for c in FIT {
        q = simd.mul_add_e_f64s(q, r, simd.splat_f64s(c));
    }
    (n, r, q)
}

/// eˣ, relative error below 5e-16; 0 below −708, and x is clamped to 709 from above.
#[inline(always)]
pub(crate) fn exp<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    let least = simd.splat_f64s(-708.0);
    let vanishes = simd.less_than_f64s(x, least);
    let x = simd.min_f64s(simd.max_f64s(x, least), simd.splat_f64s(709.0));
    let (n, r, q) = reduce(simd, x);
    let e = scale_by_power(simd, simd.mul_add_e_f64s(q, r, simd.splat_f64s(1.0)), n);
    simd.select_f64s(vanishes, simd.splat_f64s(0.0), e)
}

/// eˣ − 1, accurate for small x; x is clamped to [−708, 709].
#[inline(always)]
pub(crate) fn exp_m1<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    let one = simd.splat_f64s(1.0);
    let x = simd.min_f64s(simd.max_f64s(x, simd.splat_f64s(-708.0)), simd.splat_f64s(709.0));
    let (n, r, q) = reduce(simd, x);
    let scale = scale_by_power(simd, one, n);
    simd.mul_add_e_f64s(simd.mul_f64s(scale, q), r, simd.sub_f64s(scale, one))
}

/// ln x for positive normal x, relative error below 1e-15 away from x = 1.
#[inline(always)]
pub(crate) fn ln<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    let e = exponent(simd, x);
    let m = scale_by_power(simd, x, simd.neg_f64s(e));
    // ln m = 2 artanh(f), f = (m − 1)/(m + 1).
    let one = simd.splat_f64s(1.0);
    let f = simd.div_f64s(simd.sub_f64s(m, one), simd.add_f64s(m, one));
    let g = simd.mul_f64s(f, f);
    // Fit of (artanh f − f)/f³ in g, even and odd powers apart: 2⁻⁵⁸ of ln m (fdlibm's, by Ng).
    const EVEN: [f64; 3] = [
        0.5 * 1.818_357_216_161_805e-1,
        0.5 * 2.857_142_874_366_239e-1,
        0.5 * 6.666_666_666_666_735e-1,
    ];
    const ODD: [f64; 2] = [0.5 * 2.222_219_843_214_978_4e-1, 0.5 * 3.999_999_999_940_942e-1];
    let g2 = simd.mul_f64s(g, g);
    let mut even = simd.splat_f64s(0.5 * 1.479_819_860_511_658_6e-1);
    for c in EVEN {
        even = simd.mul_add_e_f64s(even, g2, simd.splat_f64s(c));
    }
    let mut odd = simd.splat_f64s(0.5 * 1.531_383_769_920_937_3e-1);
    for c in ODD {
        odd = simd.mul_add_e_f64s(odd, g2, simd.splat_f64s(c));
    }
    let p = simd.mul_add_e_f64s(odd, g, even);
    let twice = simd.add_f64s(f, f);
    let tail = simd.mul_f64s(simd.mul_f64s(twice, g), p);
    let low = simd.mul_add_e_f64s(e, simd.splat_f64s(LN2_LO), simd.add_f64s(tail, twice));
    simd.mul_add_e_f64s(e, simd.splat_f64s(LN2_HI), low)
}

/// ln(1 + x) for |x| ≤ 1/8, relative error below 1e-15.
#[inline(always)]
pub(crate) fn ln_1p_small<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    // 2 artanh(f), f = x/(2 + x).
    let f = simd.div_f64s(x, simd.add_f64s(x, simd.splat_f64s(2.0)));
    let g = simd.mul_f64s(f, f);
    let mut p = simd.splat_f64s(2.0 / 15.0);
    for c in [2.0 / 13.0, 2.0 / 11.0, 2.0 / 9.0, 2.0 / 7.0, 2.0 / 5.0, 2.0 / 3.0, 2.0] {
        p = simd.mul_add_e_f64s(p, g, simd.splat_f64s(c));
    }
    simd.mul_f64s(f, p)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Map<'a>(u8, &'a [f64], &'a mut [f64]);
    impl WithSimd for Map<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let lanes = size_of::<S::f64s>() / 8;
            for (x, out) in self.1.chunks(lanes).zip(self.2.chunks_mut(lanes)) {
                let x = simd.partial_load_f64s(x);
                let y = match self.0 {
                    0 => exp(simd, x),
                    1 => exp_m1(simd, x),
                    2 => ln(simd, x),
                    _ => ln_1p_small(simd, x),
                };
                simd.partial_store_f64s(out, y);
            }
        }
    }

    /// Applies a function on the best target and on the portable one.
    fn map(function: u8, x: &[f64]) -> [Vec<f64>; 2] {
        let mut best = vec![0.0; x.len()];
        dispatch(Map(function, x, &mut best));
        let mut portable = vec![0.0; x.len()];
        Map(function, x, &mut portable).with_simd(pulp::Scalar::new());
        [best, portable]
    }

    fn grid(from: f64, to: f64, n: usize) -> Vec<f64> {
        (0..n).map(|i| from + (to - from) * i as f64 / (n - 1) as f64).collect()
    }

    #[test]
    fn exponential_matches_the_standard_library() {
        let x = [grid(-707.0, 708.0, 20_011), grid(-1.0, 1.0, 2_001)].concat();
        for y in map(0, &x) {
            for (&x, y) in x.iter().zip(y) {
                assert!((y / x.exp() - 1.0).abs() < 5e-16, "exp {x}: {y}");
            }
        }
        let tiny = [1e-300, -1e-20, 1e-12, -3e-7, 1e-3, 0.3, -0.4, 5.0, -20.0, 0.0];
        for y in map(1, &tiny) {
            for (&x, y) in tiny.iter().zip(y) {
                assert!((y - x.exp_m1()).abs() <= 6e-16 * x.exp_m1().abs(), "expm1 {x}: {y}");
            }
        }
    }

    #[test]
    fn logarithm_matches_the_standard_library() {
        let mut x: Vec<f64> = grid(-700.0, 700.0, 9_973).iter().map(|x| x.exp()).collect();
        x.extend(grid(0.3, 3.0, 4_001));
        for y in map(2, &x) {
            for (&x, y) in x.iter().zip(y) {
                assert!((y - x.ln()).abs() <= 1e-15 * x.ln().abs().max(0.1), "ln {x}: {y}");
            }
        }
    }

    #[test]
    fn logarithm_near_one_keeps_its_digits() {
        let x = [grid(-0.125, 0.125, 4_002), vec![1e-300, -1e-20, 3e-9, -2e-5, 0.0]].concat();
        for y in map(3, &x) {
            for (&x, y) in x.iter().zip(y) {
                assert!((y - x.ln_1p()).abs() <= 1e-15 * x.ln_1p().abs(), "ln1p {x}: {y}");
            }
        }
    }
}
