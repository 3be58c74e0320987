//! Worst case of a fixed policy in one state: max_{y ∈ P_s} Σ_a x_a (c_a + ⟨b_a, y_a⟩).
//!
//! Bounded above by weak duality and below by the value of a point of the set.

use crate::game::{Game, shares_budget};
use crate::sets::proximal::{ellipsoid, kl};
use crate::sets::{Distance, Enclosure, Scratch, UncertaintySet, Warm};

/// The budget multipliers remembered between sweeps: one a row (the first alone for sets with one
/// budget a state), and one further multiplier a row.
#[derive(Debug)]
pub(crate) struct Memory<'a> {
    pub(crate) budget: &'a mut [f64],
    pub(crate) row: &'a mut [f64],
}

/// Encloses the worst case; the maximiser goes to `y`. The game's objectives must be referenced
/// at their maxima.
pub(crate) fn worst_case(
    set: &UncertaintySet,
    s: usize,
    first_row: usize,
    game: &Game<'_>,
    x: &[f64],
    y: &mut [f64],
    memory: Memory<'_>,
    scratch: &mut Scratch,
) -> Enclosure {
    let y = &mut y[..game.nominal().len()];
    let base: f64 = x.iter().zip(game.base).map(|(x, c)| x * c).sum();
    let support = match set.distance {
        Distance::Kl => kl::support,
        _ => ellipsoid::support,
    };
    let mut total = Enclosure { lower: base, upper: base };
    if shares_budget(set) {
        let block = game.block(set.radius_at(s, first_row));
        let warm = Warm { budget: &mut memory.budget[0], row: memory.row };
        let value = support(block, x, y, warm, scratch);
        total.lower += value.lower;
        total.upper += value.upper;
        return total;
    }
    let all = game.block(0.0);
    for k in 0..game.actions() {
        let block = all.row(k, set.radius_at(s, first_row + k));
        let warm = Warm { budget: &mut memory.budget[k], row: &mut memory.row[k..k + 1] };
        let y = &mut y[all.span(k)];
        if x[k] > 0.0 {
            let value = support(block, &[1.0], y, warm, scratch);
            total.lower += x[k] * value.lower;
            total.upper += x[k] * value.upper;
        } else {
            y.copy_from_slice(block.nominal);
        }
    }
    total
}
