//! Fixed point of a monotone λ-contraction T by policy iteration: sweep, freeze the choices it
//! made, solve the linear system they leave, sweep again; stop on the bounds of [`super::bounds`].

use super::bounds::{Bounds, macqueen_porteus, rounding};
use crate::chain::Chain;
use crate::incumbent::widest;
use crate::model::Model;
use crate::sets::UncertaintySet;
use crate::signal::Signal;

/// Rounds before the best bounds so far are returned, whatever the size of the model.
const MAX_ROUNDS: usize = 20_000;
/// Rounds that move values by no more than rounding before that is taken to be the limit.
const PATIENCE: usize = 3;

/// T, with the chain of the choices that its last sweep made.
pub(super) trait FixedPointMap {
    fn model(&self) -> &Model;
    /// Where the kernels of T lie.
    fn set(&self) -> &UncertaintySet;
    /// Computes T(w) and its chain; the signal may stop it before all states are known.
    fn sweep(&mut self, w: &[f64], signal: &Signal<'_>);
    /// A lower and an upper bound of T(w), from the last sweep.
    fn image(&self) -> (&[f64], &[f64]);
    fn chain(&mut self) -> &mut Chain;
    /// Entries of the widest row.
    fn width(&self) -> usize;
}

/// Bounds of the fixed point no wider than `tolerance` if rounding allows; `w` is a first guess
/// and becomes a value near the fixed point. Bounds from costs alone are what there is before the
/// first sweep has ended.
pub(super) fn bound_fixed_point(
    operator: &mut impl FixedPointMap,
    w: &mut [f64],
    tolerance: f64,
    signal: &Signal<'_>,
) -> Bounds {
    let (discount, width) = (operator.model().discount(), operator.width());
    let cost_scale = operator.model().largest_term();
    let states = operator.model().states();
    // The bounds below shift all states alike: terminal ones must be where they belong.
    for s in (0..states).filter(|&s| operator.model().is_terminal(s)) {
        w[s] = 0.0;
    }
    let of_costs = Bounds::of_costs(operator.model(), operator.set());
    let mut bounds = of_costs.clone();
    let mut least = widest(&bounds.lower, &bounds.upper);
    let (mut settled, mut before, mut step) = (0, w.to_vec(), Vec::new());
    for _ in 0..MAX_ROUNDS {
        operator.sweep(w, signal);
        let (below, above) = operator.image();
        let (low, _) = macqueen_porteus(w, below, discount, cost_scale, width);
        let (_, high) = macqueen_porteus(w, above, discount, cost_scale, width);
        let shifted = |v: &[f64], by: f64| v.iter().map(|v| v + by).collect();
        let found = Bounds { lower: shifted(below, low), upper: shifted(above, high) };
        // Infinite where a sweep was stopped.
        let spread = widest(&found.lower, &found.upper);
        if spread < least {
            (least, bounds) = (spread, found);
        }
        if spread <= tolerance || settled >= PATIENCE || signal.raised() {
            w.copy_from_slice(operator.image().1);
            break;
        }
        // w + (I − λP)⁻¹(T(w) − w) is the value of the choices that the sweep froze.
        step.clear();
        step.extend(operator.image().1.iter().zip(&*w).map(|(t, w)| t - w));
        operator.chain().cost.copy_from_slice(&step);
        operator.chain().solve(discount, &mut step, 0.0, &|| signal.raised());
        if signal.raised() {
            break;
        }
        for (s, (w, step)) in w.iter_mut().zip(&step).enumerate() {
            *w = if operator.model().is_terminal(s) { 0.0 } else { *w + step };
        }
        // Policy iteration improves the values every round, though not always their spread; it is
        // over when they stay where they are.
        let scale = w.iter().fold(cost_scale, |m, w| m.max(w.abs()));
        let moved = w.iter().zip(&before).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
        settled = if moved <= rounding(scale, discount, width) { settled + 1 } else { 0 };
        before.copy_from_slice(w);
    }
    bounds.intersect(&of_costs);
    let model = operator.model();
    for s in (0..model.states()).filter(|&s| model.is_terminal(s)) {
        (bounds.lower[s], bounds.upper[s]) = (0.0, 0.0);
    }
    bounds
}
