//! The support function of a set that is known by its Euclidean steps, max ⟨g, y⟩ over its kernels y for
//! g_a = x_a·b_a, by proximal points y⁺ = Π(y + σg). As y⁺ is nearest to y + σg, for every kernel y' of the set
//!   ⟨g, y' − y⁺⟩ ≤ ⟨y⁺ − y, y' − y⁺⟩/σ ≤ Σ_a [max_j (y⁺ − y)_aj − ⟨(y⁺ − y)_a, y⁺_a⟩]/σ,
//! where the last sum needs rows to be distributions alone. So every step bounds what is left, as far as the
//! set's steps are exact, to [`NEAR`]; it falls like 1/σ at once, and to 0 where y settles.

use super::block::{Block, Emit, Enclosure, Scratch, Warm};
use super::{Mirror, Prox, Step};
use crate::lanes::product;

/// Steps before the bounds so far are returned.
const STEPS: usize = 200;
/// σ in the unit in which g changes a row by about its mass: at first, its growth, and the most, beyond which
/// rounding would cost digits of y.
const FIRST: f64 = 1.0;
const GROWTH: f64 = 4.0;
const MOST: f64 = 1e3;
/// As near as steps are to the nearest point, in the unit of the way that they go.
pub(crate) const NEAR: f64 = 1e-12;

/// Working memory of [`support`].
#[derive(Debug, Default)]
pub(crate) struct SupportMemory {
    before: Vec<f64>,
    row: Vec<f64>,
    value: Vec<f64>,
    idle: Vec<f64>,
    scratch: Scratch,
}

impl SupportMemory {
    /// Entries visited since the last call.
    pub(crate) fn take_entries(&mut self) -> u64 {
        std::mem::take(&mut self.scratch.entries)
    }
}

/// Puts y at the nearest kernel of the set.
pub(crate) fn nearest(
    prox: &dyn Prox,
    block: Block<'_>,
    y: &mut [f64],
    memory: &mut SupportMemory,
) {
    let x = &vec![0.0; block.rows()][..];
    let (SupportMemory { row, value, idle, scratch, .. }, mut budget) = (memory, 0.0);
    for (array, length) in [(&mut *row, x.len()), (&mut *value, x.len()), (idle, y.len())] {
        array.clear();
        array.resize(length, 0.0);
    }
    scratch.reserve(x.len(), y.len());
    let warm = Warm { budget: &mut budget, row };
    let emit = Emit { weight: 0.0, sum: idle, value };
    prox.step(Step { block, sigma: 0.0, x, y, warm, emit }, scratch);
}

/// Encloses max Σ_a x_a⟨b_a, y_a⟩ for x ≥ 0; `y` is a kernel of the set near the maximiser, and becomes the last
/// one, mostly that of the lower bound.
pub(crate) fn support(
    prox: &dyn Prox,
    block: Block<'_>,
    x: &[f64],
    y: &mut [f64],
    memory: &mut SupportMemory,
) -> Enclosure {
    debug_assert_eq!(prox.mirror(), Mirror::Point);
    let SupportMemory { before, row, value, idle, scratch } = memory;
    scratch.reserve(x.len(), y.len());
    for (array, length) in [(&mut *row, x.len()), (&mut *value, x.len()), (idle, y.len())] {
        array.clear();
        array.resize(length, 0.0);
    }
    let worth = |y: &[f64]| -> f64 {
        (0..x.len()).map(|k| x[k] * product(&y[block.span(k)], block.gain(k))).sum()
    };
    let widths = (0..x.len()).map(|k| {
        let (low, high) = crate::model::range(block.gain(k));
        x[k] * (high - low)
    });
    let range = widths.fold(0.0, f64::max);
    let cap: f64 = (0..x.len()).map(|k| x[k] * crate::model::range(block.gain(k)).1).sum();
    if block.radius <= 0.0 || range <= 0.0 {
        y.copy_from_slice(block.nominal);
        return Enclosure { lower: worth(y), upper: worth(y) };
    }
    let mut best = Enclosure { lower: worth(y), upper: cap };
    let (mut sigma, mut budget) = (FIRST, 0.0);
    for _ in 0..STEPS {
        before.clear();
        before.extend_from_slice(y);
        let warm = Warm { budget: &mut budget, row };
        let emit = Emit { weight: 0.0, sum: idle, value };
        prox.step(Step { block, sigma: sigma / range, x, y, warm, emit }, scratch);
        let left = (0..x.len()).map(|k| {
            let moved =
                || y[block.span(k)].iter().zip(&before[block.span(k)]).map(|(y, old)| y - old);
            let most = moved().fold(0.0, f64::max);
            most - moved().zip(&y[block.span(k)]).map(|(moved, y)| moved * y).sum::<f64>()
        });
        // A step that misses by a share of its way, about σ, misses by that of the range.
        let left = left.sum::<f64>().max(0.0) * range / sigma + NEAR * range;
        let value = worth(y);
        best.lower = best.lower.max(value);
        best.upper = best.upper.min(value + left);
        if best.upper - best.lower <= 2.0 * NEAR * range {
            break;
        }
        sigma = (GROWTH * sigma).min(MOST);
    }
    best.lower = best.lower.min(best.upper);
    best
}
