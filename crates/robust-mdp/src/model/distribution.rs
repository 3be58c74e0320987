//! Probability distributions in floating point: Σ pᵢ = 1 as closely as the format allows.
//!
//! Sums are formed with Neumaier's compensation (Zeitschrift für Angewandte Mathematik und
//! Mechanik 54, 1974), so that a sum of many terms is right to about one rounding. Dividing by
//! the sum leaves a remainder of a few roundings; it goes to the largest entry, the one it
//! changes least in proportion.

/// How far probabilities may sum from one: rows within are normalised, others refused.
pub const SUM_TOLERANCE: f64 = 1e-9;

/// Σ pᵢ with Neumaier's compensation.
pub(crate) fn compensated_sum(p: &[f64]) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0f64);
    for &x in p {
        let next = sum + x;
        lost += if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum };
        sum = next;
    }
    if sum.is_finite() { sum + lost } else { sum }
}

/// Makes nonnegative `p` sum to one, or returns its sum if that is off by more than
/// [`SUM_TOLERANCE`]. A `p` that sums to exactly one keeps its bits.
pub(crate) fn normalise(p: &mut [f64]) -> Result<(), f64> {
    let sum = compensated_sum(p);
    if sum == 1.0 || p.iter().sum::<f64>() == 1.0 {
        return Ok(());
    }
    // The entries are nonnegative: the sum may be infinite, but it is a number.
    if (sum - 1.0).abs() > SUM_TOLERANCE {
        return Err(sum);
    }
    p.iter_mut().for_each(|x| *x /= sum);
    let largest = (0..p.len()).max_by(|&i, &j| p[i].total_cmp(&p[j])).unwrap_or(0);
    for _ in 0..4 {
        let remainder = 1.0 - compensated_sum(p);
        if remainder == 0.0 {
            break;
        }
        p[largest] += remainder;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instances::Xoshiro256;

    #[test]
    fn exact_rows_keep_their_bits() {
        for row in [vec![0.2, 0.8], vec![0.1; 10], vec![1.0], vec![0.6, 0.3, 0.1]] {
            let mut p = row.clone();
            normalise(&mut p).unwrap();
            assert_eq!(p, row);
        }
    }

    #[test]
    fn nearby_rows_reach_one_and_stay() {
        let mut random = Xoshiro256::new(1);
        for n in 1..400 {
            let mut p: Vec<f64> = (0..n).map(|_| random.uniform()).collect();
            let sum: f64 = p.iter().sum();
            let off = 1.0 + 1e-9 * (random.uniform() - 0.5);
            p.iter_mut().for_each(|x| *x *= off / sum);
            normalise(&mut p).unwrap();
            assert_eq!(compensated_sum(&p), 1.0, "{n} entries");
            let once = p.clone();
            normalise(&mut p).unwrap();
            assert_eq!(p, once);
        }
    }

    #[test]
    fn far_rows_are_refused_with_their_sum() {
        assert_eq!(normalise(&mut [0.5, 0.25]), Err(0.75));
        assert_eq!(normalise(&mut []), Err(0.0));
        assert_eq!(normalise(&mut [1e308, 1e308]), Err(f64::INFINITY));
        assert!(normalise(&mut [1.0 + 2e-9]).is_err());
    }
}
