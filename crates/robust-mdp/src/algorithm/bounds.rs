//! Two-sided bounds from one sweep (MacQueen 1966, Porteus 1971).
//!
//! Each operator here is monotone with T(v + k·1) = T(v) + λk·1. Hence with d = T(w) − w,
//!   T(w) + λ/(1−λ)·min d ≤ v^T ≤ T(w) + λ/(1−λ)·max d
//! for its fixed point v^T. An allowance for rounding widens both sides.

/// Bounds of a value vector, state by state.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
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
