//! Two-sided bounds from one sweep (MacQueen 1966, Porteus 1971).
//!
//! Each operator here is monotone with T(v + k·1) = T(v) + λk·1. Hence with d = T(w) − w,
//!   T(w) + λ/(1−λ)·min d ≤ v^T ≤ T(w) + λ/(1−λ)·max d
//! for its fixed point v^T. An allowance for rounding widens both sides.

use crate::model::Model;
use crate::sets::UncertaintySet;
use crate::solve::Criterion;

/// Bounds of a value vector, state by state.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
}

/// What is known of a state that a stopped sweep did not reach.
pub(crate) const UNKNOWN: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

impl Bounds {
    /// Bounds that need no work, see [`value_range`].
    pub(crate) fn of_costs(model: &Model, set: &UncertaintySet) -> Bounds {
        Bounds::within(model, value_range(model, set, Criterion::Discounted))
    }

    /// The same bounds in all states but terminal ones.
    pub(crate) fn within(model: &Model, (low, high): (f64, f64)) -> Bounds {
        let of = |bound: f64| {
            (0..model.states()).map(|s| if model.is_terminal(s) { 0.0 } else { bound }).collect()
        };
        Bounds { lower: of(low), upper: of(high) }
    }

    /// Both these bounds and others hold.
    pub(crate) fn intersect(&mut self, other: &Bounds) {
        for (bound, other) in self.lower.iter_mut().zip(&other.lower) {
            *bound = bound.max(*other);
        }
        for (bound, other) in self.upper.iter_mut().zip(&other.upper) {
            *bound = bound.min(*other);
        }
    }
}

/// min c·n and max c·n, n the steps that values are worth, discounted 1/(1 − λ): no policy's value is less or
/// more under any kernel of the set. Every step costs min c to max c over what can happen, and a model that may
/// end has steps of cost 0 too.
pub(crate) fn value_range(model: &Model, set: &UncertaintySet, criterion: Criterion) -> (f64, f64) {
    if criterion == Criterion::Total {
        return UNKNOWN;
    }
    let (low, high) = model.cost_range(set.leads());
    // What rounding may have taken from a sum and a quotient, and from the number of steps.
    let roundings = match criterion {
        Criterion::Finite { .. } => 32.0,
        Criterion::Discounted | Criterion::Total | Criterion::Average => 4.0,
    };
    let outward = |cost: f64, sign: f64| {
        let value = criterion.sum_of(cost, model.discount());
        value + sign * roundings * f64::EPSILON * value.abs()
    };
    (outward(low, -1.0), outward(high, 1.0))
}

/// Allowance for rounding in a fixed point of size `scale`, from sums over rows of up to `width`
/// entries (four accumulators at the least) of total weight one.
pub(crate) fn rounding(scale: f64, discount: f64, width: usize) -> f64 {
    let operations = 16.0 + 0.25 * width as f64;
    operations * f64::EPSILON * scale / (1.0 - discount)
}

/// How far below and above `after` = T(`before`) the fixed point may lie.
pub(crate) fn macqueen_porteus(
    before: &[f64],
    after: &[f64],
    discount: f64,
    cost_scale: f64,
    width: usize,
) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut scale = cost_scale;
    for (w, t) in before.iter().zip(after) {
        // Minima and maxima would lose a NaN, and prove what is not so.
        if (t - w).is_nan() {
            return UNKNOWN;
        }
        low = low.min(t - w);
        high = high.max(t - w);
        scale = scale.max(w.abs()).max(t.abs());
    }
    let factor = discount / (1.0 - discount);
    let slack = rounding(scale, discount, width);
    (factor * low - slack, factor * high + slack)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_proves_nothing() {
        let infinity = f64::INFINITY;
        assert_eq!(macqueen_porteus(&[1.0, f64::NAN], &[1.0, 2.0], 0.5, 1.0, 2), UNKNOWN);
        assert_eq!(macqueen_porteus(&[1.0, infinity], &[1.0, infinity], 0.5, 1.0, 2), UNKNOWN);
        let (low, high) = macqueen_porteus(&[1.0, 1.0], &[1.0, 2.0], 0.5, 1.0, 2);
        assert!(low < 0.0 && low > -1e-12 && high > 1.0 && high < 1.0 + 1e-12);
    }
}
