//! Support functions: sorting and bisection as the reference.

use super::{Owned, blocks, distance};
use crate::instances::Xoshiro256;
use crate::sets::proximal::block::{Enclosure, Scratch, Warm};
use crate::sets::proximal::{ellipsoid, kl};

/// Sorted projection of z on the simplex.
fn sorted_projection(z: &[f64]) -> Vec<f64> {
    let mut sorted = z.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut total, mut theta) = (0.0, 0.0);
    for (i, z) in sorted.iter().enumerate() {
        total += z;
        let candidate = (total - 1.0) / (i + 1) as f64;
        if z - candidate > 0.0 {
            theta = candidate;
        }
    }
    z.iter().map(|z| (z - theta).max(0.0)).collect()
}

/// max Σ x_a⟨b_a, y_a⟩ by bisection on the multiplier.
fn reference_support(is_kl: bool, block: &Owned, x: &[f64]) -> f64 {
    let point = |t: f64| -> Vec<f64> {
        let mut y = Vec::new();
        for k in 0..block.rows() {
            let span = block.offsets[k]..block.offsets[k + 1];
            let (n, b) = (&block.nominal[span.clone()], &block.gain[span]);
            if is_kl {
                let weights: Vec<f64> =
                    n.iter().zip(b).map(|(n, b)| n * (t * x[k] * b).exp()).collect();
                let total: f64 = weights.iter().sum();
                y.extend(weights.iter().map(|w| w / total));
            } else {
                let z: Vec<f64> = n.iter().zip(b).map(|(n, b)| n + t * x[k] * b).collect();
                y.extend(sorted_projection(&z));
            }
        }
        y
    };
    let value = |y: &[f64]| -> f64 {
        (0..block.rows())
            .map(|k| {
                let span = block.offsets[k]..block.offsets[k + 1];
                x[k] * span.map(|i| block.gain[i] * y[i]).sum::<f64>()
            })
            .sum()
    };
    if block.radius == 0.0 {
        return value(&block.nominal);
    }
    let size = block.gain.iter().fold(0.0_f64, |m, b| m.max(b.abs()));
    if size == 0.0 {
        return 0.0;
    }
    let (mut low, mut high): (f64, f64) = (0.0, 1e12 / size);
    if distance(is_kl, &point(high), &block.nominal) <= block.radius {
        return value(&point(high));
    }
    for _ in 0..300 {
        let middle = if low > 0.0 { (low * high).sqrt() } else { high * 1e-3 };
        if distance(is_kl, &point(middle), &block.nominal) <= block.radius {
            low = middle;
        } else {
            high = middle;
        }
        if low == 0.0 && high < 1e-30 {
            break;
        }
    }
    value(&point(low))
}

#[test]
fn support_functions_match_sort_and_bisect() {
    let mut rng = Xoshiro256::new(3);
    for is_kl in [false, true] {
        for (block, why) in blocks(&mut rng, is_kl) {
            let block = block.at_maximum();
            let size = block.gain.iter().fold(1e-300_f64, |m, b| m.max(b.abs()));
            for radius in [0.0, 1e-9, 1e-4, 0.009, 0.011, 0.05, 0.4, 1.5, 3.0, 1e3] {
                let block = Owned { radius, ..block.clone() };
                let mut budget = 0.0;
                let mut row = vec![0.0; block.rows()];
                for trial in 0..4 {
                    let mut x: Vec<f64> = (0..block.rows()).map(|_| rng.uniform()).collect();
                    if trial == 2 {
                        x.iter_mut().skip(1).for_each(|x| *x = 0.0);
                    }
                    let total: f64 = x.iter().sum();
                    x.iter_mut().for_each(|x| *x /= total);
                    let mut y = vec![0.0; block.nominal.len()];
                    let mut scratch = Scratch::new(block.rows(), y.len());
                    let warm = Warm { budget: &mut budget, row: &mut row };
                    let support = if is_kl { kl::support } else { ellipsoid::support };
                    let Enclosure { lower, upper } =
                        support(block.block(), &x, &mut y, warm, &mut scratch);
                    let case = format!("kl {is_kl} {why} α={radius:e} size {size:e}");
                    let exact = reference_support(is_kl, &block, &x);
                    assert!((upper - exact).abs() <= 1e-10 * size, "{case}: {upper} {exact}");
                    // The reference knows its own budget to 1e-16 and hence its value to this:
                    let known = 1e-13 * size + 1e-15 * size / radius.max(1e-30).sqrt();
                    assert!(upper >= exact - known, "{case}: not an upper bound");
                    let used = distance(is_kl, &y, &block.nominal);
                    assert!(used <= radius * (1.0 + 1e-12) + 1e-15, "{case}: uses {used}");
                    for k in 0..block.rows() {
                        let span = block.offsets[k]..block.offsets[k + 1];
                        let total: f64 = y[span].iter().sum();
                        assert!((total - 1.0).abs() < 1e-12, "{case}: row sums to {total}");
                    }
                    let attained: f64 = (0..block.rows())
                        .map(|k| {
                            let span = block.offsets[k]..block.offsets[k + 1];
                            x[k] * span.map(|i| block.gain[i] * y[i]).sum::<f64>()
                        })
                        .sum();
                    assert!((attained - lower).abs() <= 1e-14 * size, "{case}: {attained} {lower}");
                    let loose = 1e-12 * size + 1e-15 * size / radius.max(1e-30).sqrt();
                    assert!(
                        upper - lower <= loose && lower <= upper + loose,
                        "{case}: {lower} {upper}"
                    );
                }
            }
        }
    }
}
