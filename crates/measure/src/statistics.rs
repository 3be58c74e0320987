//! Medians, quartiles and means over seeds, where some runs may have been stopped by their limit.
//!
//! A stopped run would have taken longer than it did, and is ranked above all finished ones: a
//! quantile that falls on it is itself a lower bound.

/// One run's time or work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// What it took, or a lower bound.
    pub value: f64,
    /// By its limit.
    pub stopped: bool,
}

/// Median, quartiles and mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The middle one.
    pub median: f64,
    /// The lower quartile.
    pub low: f64,
    /// The upper quartile.
    pub high: f64,
    /// The mean; a lower bound where a run was stopped.
    pub mean: f64,
    /// The median is only a lower bound.
    pub stopped: bool,
    /// How many runs.
    pub runs: usize,
    /// How many of them were stopped.
    pub stopped_runs: usize,
}

/// `None` of nothing.
pub fn summary(samples: &[Sample]) -> Option<Summary> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(|a, b| {
        (a.stopped, a.value).partial_cmp(&(b.stopped, b.value)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let median = quantile(&sorted, 0.5)?;
    Some(Summary {
        median: median.value,
        low: quantile(&sorted, 0.25)?.value,
        high: quantile(&sorted, 0.75)?.value,
        mean: sorted.iter().map(|s| s.value).sum::<f64>() / sorted.len() as f64,
        stopped: median.stopped,
        runs: sorted.len(),
        stopped_runs: sorted.iter().filter(|s| s.stopped).count(),
    })
}

/// The median of what is known; `None` of nothing.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let of = |value| Sample { value, stopped: false };
    summary(&values.into_iter().map(of).collect::<Vec<_>>()).map(|s| s.median)
}

/// The least and the most that the median of values between these bounds can be.
pub fn median_between(bounds: &[(f64, f64)]) -> Option<(f64, f64)> {
    median(bounds.iter().map(|b| b.0)).zip(median(bounds.iter().map(|b| b.1)))
}

/// Interpolated between neighbours; a lower bound where one of them is.
fn quantile(sorted: &[Sample], share: f64) -> Option<Sample> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let (below, part) = (place.floor() as usize, place.fract());
    let one = sorted[below];
    if part == 0.0 {
        return Some(one);
    }
    let other = sorted[below + 1];
    let value = one.value + part * (other.value - one.value);
    Some(Sample { value: value.max(one.value), stopped: one.stopped || other.stopped })
}

/// The exponent k of the best fit y = c·xᵏ, where there are two sizes or more.
pub fn growth(points: &[(f64, f64)]) -> Option<f64> {
    fit(points).map(|fit| fit.exponent)
}

/// The best fit y = c·xᵏ of logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// k.
    pub exponent: f64,
    /// The standard error of k, from what the fit leaves; two points leave nothing.
    pub error: Option<f64>,
}

/// `None` where all are at one x.
pub fn fit(points: &[(f64, f64)]) -> Option<Fit> {
    let logs: Vec<(f64, f64)> =
        points.iter().filter(|p| p.0 > 0.0 && p.1 > 0.0).map(|p| (p.0.ln(), p.1.ln())).collect();
    let n = logs.len() as f64;
    let (mx, my) = logs.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let (xx, xy) = logs
        .iter()
        .fold((0.0, 0.0), |(a, b), (x, y)| (a + (x - mx) * (x - mx), b + (x - mx) * (y - my)));
    if xx <= 0.0 {
        return None;
    }
    let exponent = xy / xx;
    let left = |(x, y): &(f64, f64)| (y - my - exponent * (x - mx)).powi(2);
    let rest: f64 = logs.iter().map(left).sum();
    let error = (logs.len() > 2).then(|| (rest / (n - 2.0) / xx).sqrt());
    Some(Fit { exponent, error })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(values: &[f64], stopped: &[f64]) -> Vec<Sample> {
        let of = |stopped| move |&value: &f64| Sample { value, stopped };
        values.iter().map(of(false)).chain(stopped.iter().map(of(true))).collect()
    }

    #[test]
    fn quartiles() {
        let summary = summary(&samples(&[4.0, 1.0, 3.0, 2.0, 5.0], &[])).unwrap();
        assert_eq!((summary.low, summary.median, summary.high), (2.0, 3.0, 4.0));
        assert_eq!(summary.mean, 3.0);
        assert!(!summary.stopped);
        assert_eq!(super::summary(&[]), None);
        let two = super::summary(&samples(&[1.0, 2.0], &[])).unwrap();
        assert_eq!((two.low, two.median, two.high), (1.25, 1.5, 1.75));
    }

    #[test]
    fn stopped_runs_rank_last() {
        // The stopped run ended after 0.5 but would have taken longer than any other.
        let one = summary(&samples(&[1.0, 2.0], &[0.5])).unwrap();
        assert_eq!((one.median, one.stopped, one.stopped_runs), (2.0, false, 1));
        let most = summary(&samples(&[1.0], &[3.0, 4.0])).unwrap();
        assert_eq!((most.median, most.stopped, most.runs), (3.0, true, 3));
    }

    #[test]
    fn medians_of_bounds() {
        let open = |least| (least, f64::INFINITY);
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median_between(&[open(1.0), (2.0, 2.0), (9.0, 9.0)]), Some((2.0, 9.0)));
        assert_eq!(median_between(&[(1.0, 1.0), (2.0, 2.0), open(9.0)]), Some((2.0, 2.0)));
        assert_eq!(median_between(&[(1.0, 1.0), open(f64::INFINITY)]), Some(open(f64::INFINITY)));
        assert_eq!(median_between(&[]), None);
    }

    #[test]
    fn exponents() {
        let cubic = [(10.0, 2e3), (20.0, 16e3), (40.0, 128e3)];
        assert!((growth(&cubic).unwrap() - 3.0).abs() < 1e-12);
        assert_eq!(growth(&cubic[..1]), None);
        assert!(fit(&cubic).unwrap().error.unwrap() < 1e-12);
        assert_eq!(fit(&cubic[..2]).unwrap().error, None);
        // ln y = 0, 1, 0 at ln x = 0, 1, 2: a flat line leaves 2/3 with one degree of freedom.
        let bump = fit(&[0.0, 1.0, 2.0].map(|x: f64| (x.exp(), (1.0 - (x - 1.0).abs()).exp())));
        let Fit { exponent, error } = bump.unwrap();
        assert!(exponent.abs() < 1e-12 && (error.unwrap() - 3f64.sqrt().recip()).abs() < 1e-12);
    }
}
