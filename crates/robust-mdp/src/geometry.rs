//! Bregman geometries of the simplex: Euclidean and entropy, and the policy player's steps.
//!
//! A first-order iterate lives in *mirror coordinates*: x itself for the Euclidean geometry,
//! ln x (up to rounding) for the entropy, so that a weight that underflows can come back.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Distance-generating function of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Geometry {
    /// ½‖x‖₂², the paper's ℓ2 setup.
    #[serde(rename = "l2")]
    Euclidean,
    /// Σ x ln x, the paper's ℓ1 setup.
    #[serde(rename = "l1")]
    Entropy,
}

impl fmt::Display for Geometry {
    /// The name in files and on the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl Geometry {
    /// Mirror coordinates of the uniform distribution on `x.len()` points.
    pub fn uniform(self, x: &mut [f64]) {
        let n = x.len() as f64;
        x.fill(match self {
            Geometry::Euclidean => 1.0 / n,
            Geometry::Entropy => -n.ln(),
        });
    }

    /// The point with these mirror coordinates.
    pub fn decode(self, mirror: &[f64], x: &mut [f64]) {
        match self {
            Geometry::Euclidean => x.copy_from_slice(mirror),
            Geometry::Entropy => {
                for (x, m) in x.iter_mut().zip(mirror) {
                    *x = m.exp();
                }
            }
        }
    }

    /// x ← argmin over the simplex of ⟨step·gradient, x⟩ + D(x, x'); the new point goes to `x`.
    pub fn step(self, step: f64, gradient: &[f64], mirror: &mut [f64], x: &mut [f64]) {
        for (m, g) in mirror.iter_mut().zip(gradient) {
            *m -= step * g;
        }
        match self {
            Geometry::Euclidean => {
                project_simplex(mirror, x);
                mirror.copy_from_slice(x);
            }
            Geometry::Entropy => {
                let top = mirror.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let mut total = 0.0;
                for (x, m) in x.iter_mut().zip(&*mirror) {
                    *x = (m - top).exp();
                    total += *x;
                }
                let normaliser = top + total.ln();
                for (x, m) in x.iter_mut().zip(mirror) {
                    *x /= total;
                    *m -= normaliser;
                }
            }
        }
    }
}

/// Euclidean projection of `z` on the simplex, by Michelot's active-set Newton iteration.
///
/// θ ↦ Σ(z − θ)₊ is convex and decreasing; starting from all coordinates active, θ only grows and
/// the active set only shrinks, so that it ends after at most `z.len()` passes, usually three.
pub fn project_simplex(z: &[f64], x: &mut [f64]) {
    debug_assert!(!z.is_empty());
    // Relative to the largest coordinate, θ lies in [−1, 0): that one is always active, however
    // large the coordinates are.
    let top = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let all = z.iter().map(|z| z - top).sum::<f64>();
    let mut theta = (all - 1.0) / z.len() as f64;
    let mut active = z.len();
    loop {
        let (mut n, mut total) = (0usize, 0.0);
        for z in z.iter().map(|z| z - top).filter(|&z| z > theta) {
            n += 1;
            total += z;
        }
        theta = (total - 1.0) / n as f64;
        if n >= active {
            break; // settled, up to rounding
        }
        active = n;
    }
    let mut total = 0.0;
    for (x, &z) in x.iter_mut().zip(z) {
        *x = (z - top - theta).max(0.0);
        total += *x;
    }
    for x in x.iter_mut() {
        *x /= total;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// KKT: x = (z − θ)₊ for one θ, Σx = 1.
    fn assert_projection(z: &[f64]) {
        let mut x = vec![0.0; z.len()];
        project_simplex(z, &mut x);
        let scale = z.iter().fold(1.0_f64, |a, b| a.max(b.abs()));
        assert!((x.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        let theta = z.iter().zip(&x).filter(|(_, x)| **x > 0.0).map(|(z, x)| z - x);
        let (low, high) = theta.fold((f64::MAX, f64::MIN), |(l, h), t| (l.min(t), h.max(t)));
        assert!(high - low <= 1e-14 * scale, "{z:?} {x:?}");
        for (z, x) in z.iter().zip(&x) {
            assert!(*x > 0.0 || *z <= high + 1e-14 * scale, "{z} should be active");
        }
    }

    #[test]
    fn projection_satisfies_its_optimality_conditions() {
        let mut state = 1u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        for n in [1, 2, 3, 5, 17, 100] {
            for scale in [1e-8, 1e-2, 1.0, 30.0, 1e8, 1e17] {
                let z: Vec<f64> = (0..n).map(|_| scale * uniform()).collect();
                assert_projection(&z);
            }
        }
        assert_projection(&[0.0; 7]);
        assert_projection(&[3.0, 3.0, -1.0]);
        assert_projection(&[0.2, 0.3, 0.5]);
    }

    #[test]
    fn entropy_step_is_a_softmax_and_recovers_from_underflow() {
        let mut mirror = [0.0_f64.exp().ln() - 2.0_f64.ln(); 2];
        let mut x = [0.0; 2];
        Geometry::Entropy.step(1.0, &[0.0, 3.0_f64.ln()], &mut mirror, &mut x);
        assert!((x[0] - 0.75).abs() < 1e-15 && (x[1] - 0.25).abs() < 1e-15); // 1 : 1/3
        Geometry::Entropy.step(1.0, &[0.0, 2000.0], &mut mirror, &mut x);
        assert_eq!(x[1], 0.0);
        Geometry::Entropy.step(1.0, &[2000.0, 0.0], &mut mirror, &mut x);
        assert!((x[0] - 0.75).abs() < 1e-12, "{x:?}");
    }
}
