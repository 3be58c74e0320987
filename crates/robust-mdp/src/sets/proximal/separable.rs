//! Proximal steps of a set with D = Σ_a κ_a Σ_j d(y_aj, p_aj) from the step of one entry.
//!
//! With z = (mirror coordinate of y') + σx_a b − ν_a and s = σm, m ≥ 0 the multiplier of the budget and
//! ν_a that of the row's mass, the optimality conditions fall apart into entries:
//!   y = argmin_y V(y) − zy + κ_a·s·d(y, p),   Σ_j y_aj = 1,   D ≤ α with equality unless s = 0.
//! Σ_j y falls in ν_a, D falls in s. Newton's method in a bracket finds ν_a for a given s; secants of
//! D^{−1/2}, which is nearly linear in s near p, find s in a bracket. Both start from the last step's.

use super::block::{Block, Scratch};
use super::{Mirror, Prox, Step};
use crate::sets::set::Set;

const ROW_STEPS: usize = 200;
const BUDGET_STEPS: usize = 200;
/// D and α differ by no more than this share of α.
const PRECISION: f64 = 1e-13;

/// One entry of a proximal step.
pub trait ProximalEntry: Sync {
    /// The set, for its distance.
    fn set(&self) -> &dyn Set;

    /// The coordinates of the geometry.
    fn mirror(&self) -> Mirror {
        Mirror::Point
    }

    /// [`Prox::diameter`].
    fn diameter(&self, budget: f64, rows: f64, _width: f64) -> f64 {
        budget.min(rows)
    }

    /// y at z, p and s (κ included), and its derivative in z; z may carry a constant that s·d lacks.
    fn at(&self, z: f64, p: f64, s: f64) -> (f64, f64);
}

/// y₊ and its derivative, where y is positive.
pub(super) fn positive(y: f64, slope: f64) -> (f64, f64) {
    if y > 0.0 { (y, slope) } else { (0.0, 0.0) }
}

/// The proximal steps of an [`ProximalEntry`].
#[derive(Clone, Copy, Debug)]
pub struct Separable<E>(pub E);

impl<E: ProximalEntry> Prox for Separable<E> {
    fn mirror(&self) -> Mirror {
        self.0.mirror()
    }

    fn diameter(&self, budget: f64, rows: f64, width: f64) -> f64 {
        self.0.diameter(budget, rows, width)
    }

    fn step(&self, step: Step<'_>, scratch: &mut Scratch) {
        let Step { block, sigma, x, y, warm, emit } = step;
        let mirror = self.0.mirror();
        if block.radius <= 0.0 {
            return emit.write_nominal(mirror, block, y);
        }
        for (k, &x) in x.iter().enumerate() {
            for (y, b) in y[block.span(k)].iter_mut().zip(block.gain(k)) {
                *y += sigma * x * b;
            }
        }
        let Scratch { buffer, entries, .. } = scratch;
        let point = &mut buffer[..block.entries()];
        let mut rows = Rows { entry: &self.0, block, z: y, nu: warm.row, point, entries };
        if *warm.budget == 0.0 {
            (0..block.rows()).for_each(|k| rows.nu[k] = rows.first_shift(k));
        }
        *warm.budget = rows.spend(*warm.budget);
        for k in 0..block.rows() {
            let span = block.span(k);
            let (mut value, point) = (0.0, &point[span.clone()]);
            let (iterate, sum) = (&mut y[span.clone()], &mut emit.sum[span]);
            for (j, (&new, &b)) in point.iter().zip(block.gain(k)).enumerate() {
                iterate[j] = mirror.of(new, block.nominal(k)[j]);
                sum[j] += emit.weight * new;
                value += new * b;
            }
            emit.value[k] = value;
        }
    }
}

/// The rows of a step under way.
struct Rows<'a, E> {
    entry: &'a E,
    block: Block<'a>,
    /// z + ν.
    z: &'a [f64],
    nu: &'a mut [f64],
    point: &'a mut [f64],
    entries: &'a mut u64,
}

impl<E: ProximalEntry> Rows<'_, E> {
    /// The least s ≥ 0 that keeps D within the budget, `near` or 0; leaves the point there.
    fn spend(&mut self, near: f64) -> f64 {
        let goal = self.block.radius;
        // D is known to the last bits of y − p.
        let slack = PRECISION * goal + 4e-16 * goal.sqrt();
        let (mut low, mut high) = (None::<f64>, f64::INFINITY);
        let mut s = near;
        let mut before: Option<(f64, f64)> = None;
        for step in 0..BUDGET_STEPS {
            let spent = self.at(s);
            let met = (spent - goal).abs() <= slack;
            if met || s == 0.0 && spent <= goal {
                return s;
            }
            if spent > goal {
                low = Some(s)
            } else {
                high = s
            }
            let level = |spent: f64| spent.max(f64::MIN_POSITIVE).sqrt().recip();
            let secant = before.map(|(s0, spent0)| {
                let (a, b) = (level(spent0), level(spent));
                s0 + (level(goal) - a) / (b - a) * (s - s0)
            });
            // As of D ∝ (1 + s)⁻².
            let guess = secant.unwrap_or((1.0 + s) * (spent / goal).sqrt() - 1.0);
            before = Some((s, spent));
            let inside = |s: &f64| low.is_none_or(|low| *s > low) && *s >= 0.0 && *s < high;
            let halved = match (low, high.is_finite()) {
                (Some(low), false) => 4.0 * low.max(1e-6),
                (None, _) => 0.1 * high,
                (Some(low), true) if low > 0.0 && high > 4.0 * low => (low * high).sqrt(),
                (Some(low), true) if low == 0.0 && high > 1e-6 => 0.1 * high,
                (Some(low), true) => 0.5 * (low + high),
            };
            // A step that undershoots for long is as good as none.
            s = Some(guess).filter(|s| inside(s) && step % 4 != 3).unwrap_or(halved);
            if low.is_none() && s < 1e-9 * near {
                s = 0.0;
            }
            if high.is_finite() && high - low.unwrap_or(0.0) <= 4e-16 * high {
                break;
            }
        }
        if high.is_finite() {
            self.at(high);
            return high;
        }
        s
    }

    /// Solves all rows at s and returns D.
    fn at(&mut self, s: f64) -> f64 {
        for k in 0..self.block.rows() {
            self.solve(k, self.block.kappa(k) * s);
        }
        self.block.spent(self.entry.set(), self.point)
    }

    /// A shift at which no entry is below p (Euclidean), or none above 1 (entropy).
    fn first_shift(&self, k: usize) -> f64 {
        let z = &self.z[self.block.span(k)];
        match self.entry.mirror() {
            Mirror::Point => {
                let above = z.iter().zip(self.block.nominal(k)).map(|(z, p)| z - p);
                above.fold(f64::INFINITY, f64::min)
            }
            Mirror::Log | Mirror::LogRatio => z.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// ν_k with Σy = 1, from the one that is there; leaves y with mass one.
    fn solve(&mut self, k: usize, s: f64) {
        let span = self.block.span(k);
        let (z, p) = (&self.z[span.clone()], self.block.nominal(k));
        let y = &mut self.point[span];
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        let (mut nu, mut reach, mut total) = (self.nu[k], 1.0, 0.0);
        for _ in 0..ROW_STEPS {
            let mut slope = 0.0;
            total = 0.0;
            for ((y, &z), &p) in y.iter_mut().zip(z).zip(p) {
                let (new, derivative) = self.entry.at(z - nu, p, s);
                *y = new;
                total += new;
                slope += derivative;
            }
            *self.entries += y.len() as u64;
            if total >= 1.0 {
                low = nu
            } else {
                high = nu
            }
            // Rows that stay at p for a range of shifts have the mass of p, one up to rounding.
            let bits = if slope > 0.0 { 2.0 } else { 2.0 + y.len() as f64 };
            if (total - 1.0).abs() <= bits * f64::EPSILON {
                break;
            }
            let newton = match self.entry.mirror() {
                Mirror::Point => nu + (total - 1.0) / slope,
                // Exponential in ν far away.
                Mirror::Log | Mirror::LogRatio => nu + total.ln() * total / slope,
            };
            let fresh = if low.is_finite() && high.is_finite() {
                if newton > low && newton < high { newton } else { 0.5 * (low + high) }
            } else if low.is_finite() {
                if newton > low { newton } else { low + grow(&mut reach) }
            } else if newton < high {
                // Entries near 0 hardly move, and seem to need a long way.
                newton.max(high - grow(&mut reach))
            } else {
                high - grow(&mut reach)
            };
            if (fresh - nu).abs() <= 4e-16 * nu.abs() || !(fresh > low && fresh < high) {
                break;
            }
            nu = fresh;
        }
        self.nu[k] = nu;
        if total > 0.0 && total.is_finite() {
            y.iter_mut().for_each(|y| *y /= total);
        } else {
            y.copy_from_slice(p);
        }
    }
}

/// The next longer way to go.
fn grow(reach: &mut f64) -> f64 {
    *reach *= 4.0;
    *reach
}
