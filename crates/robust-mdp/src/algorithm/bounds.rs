//! Two-sided bounds from one sweep (MacQueen 1966, Porteus 1971).
//!
//! Each operator here is monotone with T(v + k·1) = T(v) + λk·1. Hence with d = T(w) − w,
//!   T(w) + λ/(1−λ)·min d ≤ v^T ≤ T(w) + λ/(1−λ)·max d
//! for its fixed point v^T. An allowance for rounding widens both sides.

use crate::model::Model;

/// Bounds of a value vector, state by state.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
}

/// What is known of a state that a stopped sweep did not reach.
pub(crate) const UNKNOWN: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

impl Bounds {
    /// Bounds that need no work: min c/(1 − λ) ≤ v ≤ max c/(1 − λ), whatever the players do. A model
    /// that may end has steps of cost 0 too.
    pub(crate) fn of_costs(model: &Model) -> Bounds {
        let ends = (0..model.states()).any(|s| model.is_terminal(s));
        let (mut low, mut high) =
            if ends { (0.0, 0.0) } else { (f64::INFINITY, f64::NEG_INFINITY) };
        for r in 0..model.rows() {
            let row = model.row(r);
            // Next states that a row does not list cost what the row costs.
            (low, high) = (f64::min(low, row.cost), f64::max(high, row.cost));
            for further in row.transition_cost.unwrap_or_default() {
                (low, high) = (low.min(row.cost + further), high.max(row.cost + further));
            }
        }
        let share = 1.0 - model.discount();
        let slack = 8.0 * f64::EPSILON * low.abs().max(high.abs()) / share;
        let of = |bound: f64| {
            (0..model.states()).map(|s| if model.is_terminal(s) { 0.0 } else { bound }).collect()
        };
        Bounds { lower: of(low / share - slack), upper: of(high / share + slack) }
    }
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
        low = low.min(t - w);
        high = high.max(t - w);
        scale = scale.max(w.abs()).max(t.abs());
    }
    let factor = discount / (1.0 - discount);
    let slack = rounding(scale, discount, width);
    (factor * low - slack, factor * high + slack)
}
