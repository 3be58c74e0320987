//! Entries of the steps across geometries, through the Wright omega function ω + ln ω = z: the ellipsoid in
//! entropy geometry and KL in Euclidean geometry.

use super::Mirror;
use super::separable::{ProximalEntry, positive};
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
        if s <= 0.0 {
            return (z.exp(), z.exp());
        }
        let y = omega(z + s * p + s.ln()) / s;
        (y, y / (1.0 + s * y))
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
        if s <= 0.0 {
            return positive(z, 1.0);
        }
        let y = s * omega(z / s + (p / s).ln());
        (y, y / (y + s))
    }
}

/// ω(z), solved as eˡ + l = z in l = ln ω, so that nothing overflows: a start within 0.04 of the root and
/// two Halley steps, each of which cubes the error and divides it by twelve.
fn omega(z: f64) -> f64 {
    // Chebyshev fit on [−4, 4].
    const FIT: [f64; 7] = [
        -2.549_662_365_017_846_7e-5,
        -3.051_536_874_508_018e-5,
        1.452_502_672_241_323_9e-3,
        2.633_441_957_718_543e-4,
        -7.331_258_513_508_271e-2,
        0.639_958_881_301_236_8,
        -0.567_143_290_409_783_8,
    ];
    let mut l = match z {
        ..-4.0 => z,
        ..4.0 => FIT.iter().fold(0.0, |sum, c| sum * z + c),
        _ => z.ln() * (1.0 - 1.0 / z),
    };
    for _ in 0..2 {
        let w = l.exp();
        let (f, slope) = (w + l - z, w + 1.0);
        l -= 2.0 * f * slope / (2.0 * slope * slope - f * w);
    }
    l.exp()
}

#[cfg(test)]
mod tests {
    use super::omega;

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
