//! Entries of the steps across geometries, through the Wright omega function ω + ln ω = z: the ellipsoid in
//! entropy geometry and KL in Euclidean geometry.

use pulp::{Scalar, Simd, WithSimd};

use super::Mirror;
use super::separable::{EntrySums, ProximalEntry};
use crate::lanes::{dispatch, exp, exp_m1, ln, ln_1p_small};
use crate::sets::EntryData;
use crate::sets::ellipsoid::Ellipsoid;
use crate::sets::kl::Kl;
use crate::sets::set::Set;

/// The ellipsoid's entry in entropy geometry: ln y + sy = z + sp.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EllipsoidEntropy;

impl ProximalEntry for EllipsoidEntropy {
    fn set(&self) -> &dyn Set {
        &Ellipsoid
    }

    fn mirror(&self) -> Mirror {
        Mirror::Log
    }

    /// KL ≤ χ² ≈ n·‖y − y⁰‖² near the nominal kernel.
    fn diameter(&self, budget: f64, rows: f64, width: f64) -> f64 {
        (2.0 * budget * width).min(rows * width.ln())
    }

    fn at(&self, z: f64, p: f64, s: f64) -> (f64, f64) {
        let [y, slope, ..] = self.entry(Scalar::new(), z, p, s);
        (y, slope)
    }

    fn normal(&self, y: f64, p: f64) -> f64 {
        y - p
    }

    fn row(
        &self,
        z: &[f64],
        nu: f64,
        p: &[f64],
        s: f64,
        _: EntryData<'_>,
        y: &mut [f64],
    ) -> EntrySums {
        dispatch(Pass { entry: *self, z, nu, p, s, y })
    }
}

impl Entry for EllipsoidEntropy {
    #[inline(always)]
    fn entry<S: Simd>(self, simd: S, z: S::f64s, p: S::f64s, s: f64) -> [S::f64s; 4] {
        let one = simd.splat_f64s(1.0);
        let by = simd.splat_f64s(s);
        let y = if s > 0.0 { omega(simd, simd.mul_add_e_f64s(by, p, z), s) } else { exp(simd, z) };
        let slope = simd.div_f64s(y, simd.mul_add_e_f64s(by, y, one));
        let normal = simd.sub_f64s(y, p);
        let half = simd.mul_f64s(simd.splat_f64s(0.5), normal);
        [y, slope, normal, simd.mul_f64s(half, normal)]
    }
}

/// The entry of KL in Euclidean geometry: y + s·ln(y/p) = z.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KlEuclidean;

impl ProximalEntry for KlEuclidean {
    fn set(&self) -> &dyn Set {
        &Kl
    }

    fn at(&self, z: f64, p: f64, s: f64) -> (f64, f64) {
        let [y, slope, ..] = self.entry(Scalar::new(), z, p, s);
        (y, slope)
    }

    fn normal(&self, y: f64, p: f64) -> f64 {
        (y / p).ln()
    }

    fn row(
        &self,
        z: &[f64],
        nu: f64,
        p: &[f64],
        s: f64,
        _: EntryData<'_>,
        y: &mut [f64],
    ) -> EntrySums {
        dispatch(Pass { entry: *self, z, nu, p, s, y })
    }
}

impl Entry for KlEuclidean {
    #[inline(always)]
    fn entry<S: Simd>(self, simd: S, z: S::f64s, p: S::f64s, s: f64) -> [S::f64s; 4] {
        let (zero, one) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0));
        let least = simd.splat_f64s(f64::MIN_POSITIVE);
        // Subnormal p count as the least normal number.
        let possible = simd.less_than_f64s(zero, p);
        let (by, p) = (simd.splat_f64s(s), simd.max_f64s(p, least));
        let (y, slope) = if s > 0.0 {
            let log = simd.sub_f64s(ln(simd, p), simd.splat_f64s(s.ln()));
            let y = simd.mul_f64s(by, omega(simd, simd.add_f64s(simd.div_f64s(z, by), log), 1.0));
            (y, simd.div_f64s(y, simd.add_f64s(y, by)))
        } else {
            let inside = simd.less_than_f64s(zero, z);
            (simd.select_f64s(inside, z, zero), simd.select_f64s(inside, one, zero))
        };
        let y = simd.select_f64s(possible, y, zero);
        let slope = simd.select_f64s(possible, slope, zero);
        let moved = simd.sub_f64s(y, p);
        let share = simd.div_f64s(moved, p);
        let near = simd.less_than_f64s(simd.abs_f64s(share), simd.splat_f64s(0.125));
        let log = ln(simd, simd.max_f64s(simd.div_f64s(y, p), least));
        let (y, log, moved) = if s < 1.0 {
            (y, simd.select_f64s(near, ln_1p_small(simd, share), log), moved)
        } else {
            // Near p the argument of ω is far larger than what it says of y: ln(y/p) = (z − y)/s does.
            let quotient = simd.div_f64s(simd.sub_f64s(z, y), by);
            let change = simd.mul_f64s(p, exp_m1(simd, quotient));
            (
                simd.select_f64s(near, simd.add_f64s(p, change), y),
                simd.select_f64s(near, quotient, log),
                simd.select_f64s(near, change, moved),
            )
        };
        [y, slope, log, simd.sub_f64s(simd.mul_f64s(y, log), moved)]
    }
}

/// An entry in lanes.
trait Entry: Copy {
    /// y, ∂y/∂z, ∂d/∂y and d.
    fn entry<S: Simd>(self, simd: S, z: S::f64s, p: S::f64s, s: f64) -> [S::f64s; 4];
}

/// [`ProximalEntry::row`] in lanes.
struct Pass<'a, E> {
    entry: E,
    z: &'a [f64],
    nu: f64,
    p: &'a [f64],
    s: f64,
    y: &'a mut [f64],
}

impl<E: Entry> WithSimd for Pass<'_, E> {
    type Output = EntrySums;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> EntrySums {
        let Pass { entry, z, nu, p, s, y } = self;
        let mut sums = [simd.splat_f64s(0.0); 5];
        let nu = simd.splat_f64s(nu);
        // A macro, since closures are not compiled for the instruction set.
        macro_rules! take {
            ($z:expr, $p:expr, |$term:ident| $counted:expr) => {{
                let z = simd.sub_f64s($z, nu);
                let [y, slope, normal, distance] = entry.entry(simd, z, $p, s);
                let mixed = simd.mul_f64s(slope, normal);
                let terms = [y, slope, mixed, simd.mul_f64s(mixed, normal), distance];
                for (sum, $term) in sums.iter_mut().zip(terms) {
                    *sum = simd.add_f64s(*sum, $counted);
                }
                y
            }};
        }
        let (full, rest) = S::as_mut_simd_f64s(y);
        let ((z, z_rest), (p, p_rest)) = (S::as_simd_f64s(z), S::as_simd_f64s(p));
        for ((y, &z), &p) in full.iter_mut().zip(z).zip(p) {
            *y = take!(z, p, |term| term);
        }
        if !rest.is_empty() {
            let (z, p) = (simd.partial_load_f64s(z_rest), simd.partial_load_f64s(p_rest));
            // Lanes beyond the row may hold anything.
            let (zero, counts) =
                (simd.splat_f64s(0.0), simd.partial_load_f64s(&[1.0; 8][..rest.len()]));
            let counts = simd.less_than_f64s(zero, counts);
            let y = take!(z, p, |term| simd.select_f64s(counts, term, zero));
            simd.partial_store_f64s(rest, y);
        }
        EntrySums {
            mass: simd.reduce_sum_f64s(sums[0]),
            slope: simd.reduce_sum_f64s(sums[1]),
            mixed: simd.reduce_sum_f64s(sums[2]),
            square: simd.reduce_sum_f64s(sums[3]),
            distance: simd.reduce_sum_f64s(sums[4]),
        }
    }
}

/// y with s·y + ln y = c, that is ω(c + ln s)/s: the root l = ln y of s·eˡ + l = c, so that nothing overflows
/// and small s takes no digits. A start within 0.04 of it and two Halley steps, each of which cubes the error
/// and divides it by twelve.
#[inline(always)]
fn omega<S: Simd>(simd: S, c: S::f64s, s: f64) -> S::f64s {
    // ln ω(z): Chebyshev fit on [−4, 4]; z itself below, ln z − ln z/z above.
    const FIT: [f64; 6] = [
        -3.051_536_874_508_018e-5,
        1.452_502_672_241_323_9e-3,
        2.633_441_957_718_543e-4,
        -7.331_258_513_508_271e-2,
        0.639_958_881_301_236_8,
        -0.567_143_290_409_783_8,
    ];
    let (one, four) = (simd.splat_f64s(1.0), simd.splat_f64s(4.0));
    let (by, shift) = (simd.splat_f64s(s), simd.splat_f64s(s.ln()));
    let c = simd.max_f64s(c, simd.splat_f64s(-1e6));
    let z = simd.add_f64s(c, shift);
    let mut l = simd.splat_f64s(-2.549_662_365_017_846_7e-5);
    for coefficient in FIT {
        l = simd.mul_add_e_f64s(l, z, simd.splat_f64s(coefficient));
    }
    let large = simd.max_f64s(z, one);
    let log = ln(simd, large);
    let far = simd.sub_f64s(log, simd.div_f64s(log, large));
    l = simd.select_f64s(simd.less_than_f64s(four, z), far, l);
    l = simd.select_f64s(simd.less_than_f64s(z, simd.neg_f64s(four)), z, l);
    l = simd.sub_f64s(l, halley(simd, simd.sub_f64s(z, l), exp(simd, l)));
    // e^{l − δ} = eˡ(1 − δ + δ²/2), δ at most 6e-6.
    l = simd.sub_f64s(l, shift);
    let y = exp(simd, l);
    let step = halley(simd, simd.sub_f64s(c, l), simd.mul_f64s(by, y));
    let half = simd.mul_add_e_f64s(step, simd.splat_f64s(0.5), simd.neg_f64s(one));
    simd.mul_add_e_f64s(simd.mul_f64s(y, step), half, y)
}

/// The step from l, with w = s·eˡ and `rest` = c − l.
#[inline(always)]
fn halley<S: Simd>(simd: S, rest: S::f64s, w: S::f64s) -> S::f64s {
    let f = simd.sub_f64s(w, rest);
    let slope = simd.add_f64s(w, simd.splat_f64s(1.0));
    let bend = simd.div_f64s(simd.mul_f64s(f, w), slope);
    simd.div_f64s(simd.add_f64s(f, f), simd.sub_f64s(simd.add_f64s(slope, slope), bend))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn omega(z: f64) -> f64 {
        super::omega(Scalar::new(), z, 1.0)
    }

    /// A row in lanes is the sum of its entries, whatever their number.
    #[test]
    fn rows_are_sums_of_entries() {
        let entries: [&dyn ProximalEntry; 2] = [&EllipsoidEntropy, &KlEuclidean];
        for (entry, n) in entries.into_iter().flat_map(|entry| (1..=19).map(move |n| (entry, n))) {
            let mut p: Vec<f64> = (1..=n).map(|j| f64::from(j) / f64::from(n * n)).collect();
            if n > 1 {
                p[0] = 0.0;
            }
            let z: Vec<f64> = (1..=n).map(|j| (f64::from(j) * 1.7).sin()).collect();
            for s in [0.0, 1e-3, 1.0, 50.0] {
                let mut y = vec![f64::NAN; p.len()];
                let sums = entry.row(&z, 0.2, &p, s, EntryData::default(), &mut y);
                let mut expected = EntrySums::default();
                for ((&z, &p), &y) in z.iter().zip(&p).zip(&y) {
                    let (own, slope) = entry.at(z - 0.2, p, s);
                    assert!((own - y).abs() <= 1e-14 * own, "{n} {s}: {own} {y}");
                    let normal = if slope > 0.0 { entry.normal(own, p) } else { 0.0 };
                    expected.mass += own;
                    expected.slope += slope;
                    expected.mixed += slope * normal;
                    expected.square += slope * normal * normal;
                }
                expected.distance = entry.set().distance(&p, &y, EntryData::default());
                let pairs = [
                    (sums.mass, expected.mass),
                    (sums.slope, expected.slope),
                    (sums.mixed, expected.mixed),
                    (sums.square, expected.square),
                    (sums.distance, expected.distance),
                ];
                for (a, b) in pairs {
                    assert!(
                        (a - b).abs() <= 1e-13 * (1.0 + b.abs()),
                        "{n} {s}: {sums:?} {expected:?}"
                    );
                }
            }
        }
    }

    /// Reference values from 60-digit arithmetic: the root l of eˡ + l = z.
    #[test]
    fn wright_omega_matches_sixty_digits() {
        let table = [
            (-690.0, -690.0),
            (-30.0, -30.000_000_000_000_092),
            (-5.0, -5.006_693_000_497_731),
            (-4.0, -4.017_989_102_828_531),
            (-3.0, -3.047_478_491_024_865_5),
            (-1.0, -1.278_464_542_761_074),
            (0.0, -0.567_143_290_409_784),
            (0.5, -0.266_248_608_161_750_3),
            (1.0, 0.0),
            (2.0, 0.442_854_401_002_388_6),
            (4.0, 1.073_728_937_556_499),
            (5.0, 1.306_558_641_039_350_2),
            (20.0, 2.842_438_953_784_447),
            (1000.0, 6.900_830_527_610_896),
            (1e6, 13.815_496_742_372_097),
        ];
        for (z, exact) in table {
            let l = omega(z).ln();
            assert!((l - exact).abs() <= 6e-16 * f64::max(exact.abs(), 0.5), "{z}: {l} {exact}");
        }
    }

    /// Everywhere between: the defining equation, relative to its terms.
    #[test]
    fn wright_omega_solves_its_equation() {
        for z in (-70_000..60_000).map(|i| 0.01 * f64::from(i)) {
            let w = omega(z);
            let residual = w + w.ln() - z;
            assert!(residual.abs() <= 1e-15 * (1.0 + z.abs()), "{z}: {residual}");
        }
    }
}
