//! Fixed point of a monotone λ-contraction T by policy iteration: sweep, freeze the choices it
//! made, solve the linear system they leave, sweep again; stop on the bounds of [`super::bounds`].

use super::bounds::{Bounds, macqueen_porteus};
use super::linear::Chain;
use crate::model::Model;
use crate::solve::{Signal, widest};

/// Rounds before the best bounds so far are returned.
const MAX_ROUNDS: usize = 100;
/// Rounds without a narrower bound before rounding is taken to be the limit.
const PATIENCE: usize = 4;

/// T, with the chain of the choices that its last sweep made.
pub(super) trait Operator {
    fn model(&self) -> &Model;
    /// Computes T(w) and its chain.
    fn sweep(&mut self, w: &[f64]);
    /// A lower and an upper bound of T(w), from the last sweep.
    fn image(&self) -> (&[f64], &[f64]);
    fn chain(&mut self) -> &mut Chain;
}

/// Bounds of the fixed point no wider than `tolerance` if rounding allows; `w` is a first guess
/// and becomes a value near the fixed point.
pub(super) fn bound_fixed_point(
    operator: &mut impl Operator,
    w: &mut [f64],
    tolerance: f64,
    signal: &Signal<'_>,
) -> Bounds {
    let discount = operator.model().discount();
    let cost_scale = operator.model().largest_cost();
    let mut best: Option<(f64, Bounds)> = None;
    let mut stalled = 0;
    for _ in 0..MAX_ROUNDS {
        operator.sweep(w);
        let (below, above) = operator.image();
        let (low, _) = macqueen_porteus(w, below, discount, cost_scale);
        let (_, high) = macqueen_porteus(w, above, discount, cost_scale);
        w.copy_from_slice(above);
        let shifted = |v: &[f64], by: f64| v.iter().map(|v| v + by).collect();
        let bounds = Bounds { lower: shifted(below, low), upper: shifted(above, high) };
        let width = widest(&bounds.lower, &bounds.upper);
        if best.as_ref().is_none_or(|(least, _)| width < *least) {
            best = Some((width, bounds));
            stalled = 0;
        } else {
            stalled += 1;
        }
        if width <= tolerance || stalled >= PATIENCE || signal.raised() {
            break;
        }
        operator.chain().solve(discount, w);
    }
    let (_, mut bounds) = best.expect("at least one round");
    let model = operator.model();
    for s in (0..model.states()).filter(|&s| model.is_terminal(s)) {
        (bounds.lower[s], bounds.upper[s]) = (0.0, 0.0);
    }
    bounds
}
