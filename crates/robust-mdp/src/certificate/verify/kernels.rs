//! What is summed over the entries of a row.

use pulp::Simd;

use super::exponential::{exp_on, within};
use super::sums::{Lane, Terms};

/// Σp, Σφ, Σ|φ| and Σp|max(h, −p)|: h = tw − ν, φ = max over y ≥ 0 of hy − ½(y − p)².
pub(super) struct DualEllipsoid;

impl Terms<4> for DualEllipsoid {
    #[inline(always)]
    fn terms<S: Simd>(p: Lane<S>, w: Lane<S>, t: Lane<S>, nu: Lane<S>) -> [Lane<S>; 4] {
        let (h, half, zero) = (t * w - nu, p.of(0.5), p.of(0.0));
        let phi = (p + h).if_below(zero, (zero - half) * (p * p), h * (p + half * h));
        [p, phi, phi.abs(), p * h.at_least(zero - p).abs()]
    }
}

/// Σp, Σy, Σyw and Σ(y − p)²: y = (p + tw − ν)₊.
pub(super) struct LiftedEllipsoid;

impl Terms<4> for LiftedEllipsoid {
    #[inline(always)]
    fn terms<S: Simd>(p: Lane<S>, w: Lane<S>, t: Lane<S>, nu: Lane<S>) -> [Lane<S>; 4] {
        let y = (p + (t * w - nu)).at_least(p.of(0.0));
        let d = y - p;
        [p, y, y * w, d * d]
    }
}

/// Σp, Σp(e^a − 1) and Σpe^a: a = tw, brought to −700 where it is below.
pub(super) struct DualKl;

impl Terms<3> for DualKl {
    #[inline(always)]
    fn terms<S: Simd>(p: Lane<S>, w: Lane<S>, t: Lane<S>, _: Lane<S>) -> [Lane<S>; 3] {
        let (m, e) = exp_on(within(t * w));
        [p, p * m, p * e]
    }
}

/// Σpe^a, Σpe^aw, Σpf(a) and the sum of the sizes of the latter's parts: a = tw − ν,
/// brought to ±700, and f(a) = ae^a − e^a + 1.
pub(super) struct LiftedKl;

impl Terms<4> for LiftedKl {
    #[inline(always)]
    fn terms<S: Simd>(p: Lane<S>, w: Lane<S>, t: Lane<S>, nu: Lane<S>) -> [Lane<S>; 4] {
        let a = within(t * w - nu);
        let (m, e) = exp_on(a);
        let (y, ea) = (p * e, e * a);
        [y, y * w, p * (ea - m), p * (ea.abs() + m.abs())]
    }
}
