//! Rows of probabilities that another program has rounded to few digits: they are made to sum to one.

use crate::model::SUM_TOLERANCE;
use crate::model::distribution::compensated_sum;

/// How far such a row may sum from one; what is farther off is a mistake.
const ROUNDED: f64 = 1e-5;

/// Whether a sum is too far from one for a row as it is, but near.
fn near(error: f64) -> bool {
    error > SUM_TOLERANCE && error <= ROUNDED
}

/// Divides a row by its sum where that is near one; tells whether it did.
pub(super) fn rescale(row: &mut [f64]) -> bool {
    let sum = compensated_sum(row);
    let error = (sum - 1.0).abs();
    let changes = near(error);
    if changes {
        row.iter_mut().for_each(|p| *p /= sum);
    }
    changes
}

/// As [`rescale`], for intervals: lower ends that sum to a little more than one shrink, upper ones that
/// sum to a little less grow.
pub(super) fn widen(lower: &mut [f64], upper: &mut [f64]) -> bool {
    let [below, above] = [&*lower, &*upper].map(compensated_sum);
    let (shrinks, grows) = (near(below - 1.0), near(1.0 - above));
    if shrinks {
        lower.iter_mut().for_each(|l| *l /= below);
    }
    if grows {
        upper.iter_mut().for_each(|u| *u = (*u / above).min(1.0));
    }
    shrinks || grows
}

/// What to say of rows that were changed.
pub(super) fn warning(changed: usize, rows: usize) -> Option<String> {
    (changed > 0).then(|| {
        format!(
            "in {changed} of {rows} state-action pairs probabilities are rounded so that they sum to 1 within \
             1e-5, and not within 1e-9: they are scaled to sum to 1"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_near_one() {
        for (row, sum, changed) in [
            (&mut [0.333333; 3], 1.0, true),
            (&mut [0.3333333333; 3], 0.9999999999, false),
            (&mut [0.33333; 3], 1.0, true),
            (&mut [0.3333; 3], 0.9999, false),
        ] {
            assert_eq!(rescale(row), changed, "{row:?}");
            assert!((row.iter().sum::<f64>() - sum).abs() < 1e-12, "{row:?}");
        }
    }

    #[test]
    fn intervals_near_one() {
        let (mut lower, mut upper) = ([0.333333; 3], [0.333333; 3]);
        assert!(widen(&mut lower, &mut upper));
        assert_eq!((lower, upper), ([0.333333; 3], [1.0 / 3.0; 3]));
        let (mut lower, mut upper) = ([0.166667; 6], [0.166667; 6]);
        assert!(widen(&mut lower, &mut upper));
        assert_eq!((lower, upper), ([1.0 / 6.0; 6], [0.166667; 6]));
        let (mut lower, mut upper) = ([0.1, 0.2], [0.9, 0.99]);
        assert!(!widen(&mut lower, &mut upper));
        assert_eq!((lower, upper), ([0.1, 0.2], [0.9, 0.99]));
        assert!(!widen(&mut [0.6, 0.6], &mut [0.6, 0.6]));
    }
}
