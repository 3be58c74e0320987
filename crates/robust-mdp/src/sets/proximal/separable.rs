//! Proximal steps of a set with D = Σ_a κ_a Σ_j d(y_aj, p_aj) from the step of one entry.
//!
//! With z = (mirror coordinate of y') + σx_a b − ν_a and s = σm, m ≥ 0 the multiplier of the budget and
//! ν_a that of the row's mass, the optimality conditions fall apart into entries:
//!   y = argmin_y V(y) − zy + κ_a·s·d(y, p),   Σ_j y_aj = 1,   D ≤ α with equality unless s = 0.
//! With h = ∂y/∂z and n = ∂d/∂y, dy = −h(dν_a + κ_a·n·ds). Newton's method on all these equations at once
//! eliminates the shifts: from rows of masses 1 + r_a,
//!   D ≈ Σκ(d − r·Σhn/Σh),   D' = −Σκ²(Σhn² − (Σhn)²/Σh),   dν = (r − κ·ds·Σhn)/Σh,
//! and s solves D^{−1/2} = α^{−1/2}, nearly linear near p, as in trust-region methods. Near mass one,
//! one pass over the entries is one step. Where that does not settle, rows are solved in brackets for every
//! s, and s in one.

use super::block::{Block, Scratch, scale_to_one};
use super::{Mirror, Prox, Step};
use crate::lanes::product;
use crate::sets::EntryData;
use crate::sets::set::Set;

const ROW_STEPS: usize = 200;
const BUDGET_STEPS: usize = 200;
/// Steps that trust rows to first order, before those that solve them.
const JOINT_STEPS: usize = 16;
/// Multipliers of steep entries that are next to 0.
const STEEP: f64 = 1e-3;
/// D and α differ by no more than this share of α, and by what roundings hide.
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

    /// Whether d grows without end as y falls to 0.
    fn is_steep(&self) -> bool {
        false
    }

    /// y with V'(y) + s·[`normal`](Self::normal) = z, or 0 (κ is in s), and its derivative in z.
    fn at(&self, z: f64, p: f64, s: f64) -> (f64, f64);

    /// n = ∂d/∂y, where y moves with z; up to what all entries of a row share where masses are one.
    fn normal(&self, y: f64, p: f64) -> f64;

    /// The entries of a row at z − ν, written to `y`, and their sums: weights of entries count in s, and bounds cut
    /// them off. A faster way may replace this one, for sets that are told nothing of entries.
    fn row(
        &self,
        z: &[f64],
        nu: f64,
        p: &[f64],
        s: f64,
        data: EntryData<'_>,
        y: &mut [f64],
    ) -> EntrySums {
        let mut sums = EntrySums::default();
        for (j, ((y, &z), &p)) in y.iter_mut().zip(z).zip(p).enumerate() {
            let weight = data.weight(j);
            let (new, slope) = self.at(z - nu, p, weight * s);
            let (new, slope) = match data.bounds.map(|bounds| [bounds.lower[j], bounds.upper[j]]) {
                Some([lower, _]) if new < lower => (lower, 0.0),
                Some([_, upper]) if new > upper => (upper, 0.0),
                Some(_) | None => (new, slope),
            };
            *y = new;
            sums.mass += new;
            if slope > 0.0 {
                let normal = weight * self.normal(new, p);
                sums.slope += slope;
                sums.mixed += slope * normal;
                sums.square += slope * normal * normal;
            }
        }
        sums.distance = self.set().distance(p, y, data);
        sums
    }
}

/// Sums over the entries of a row, with h = ∂y/∂z and n = ∂d/∂y.
#[derive(Clone, Copy, Debug, Default)]
pub struct EntrySums {
    /// Σy.
    pub mass: f64,
    /// Σh.
    pub slope: f64,
    /// Σhn.
    pub mixed: f64,
    /// Σhn².
    pub square: f64,
    /// d(y, p).
    pub distance: f64,
}

impl EntrySums {
    /// The change of ν that goes with one of κs and brings the mass to one, to first order.
    fn shift(&self, change: f64) -> f64 {
        let shift = (self.mass - 1.0 - self.mixed * change) / self.slope;
        if shift.is_finite() { shift } else { 0.0 }
    }

    /// Σhn² − (Σhn)²/Σh.
    fn curvature(&self) -> f64 {
        let curvature = self.square - self.mixed * self.mixed / self.slope;
        if curvature > 0.0 { curvature } else { 0.0 }
    }

    /// Whether the mass is one, up to the last digits of it and of ν.
    fn has_mass_one(&self, n: usize, nu: f64) -> bool {
        // Rows that stay at p for a range of shifts have the mass of p, one up to rounding.
        let own =
            if self.slope > 0.0 { (0.5 * (n as f64).sqrt()).max(2.0) } else { 2.0 + n as f64 };
        (self.mass - 1.0).abs() <= f64::EPSILON * own.max(self.slope * nu.abs())
    }
}

/// y₊ and its derivative, where y is positive.
pub(super) fn positive(y: f64, slope: f64) -> (f64, f64) {
    if y > 0.0 { (y, slope) } else { (0.0, 0.0) }
}

/// An entry without its faster way for rows, which knows nothing of weights and bounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain<E>(pub(crate) E);

impl<E: ProximalEntry> ProximalEntry for Plain<E> {
    fn set(&self) -> &dyn Set {
        self.0.set()
    }

    fn mirror(&self) -> Mirror {
        self.0.mirror()
    }

    fn diameter(&self, budget: f64, rows: f64, width: f64) -> f64 {
        self.0.diameter(budget, rows, width)
    }

    fn at(&self, z: f64, p: f64, s: f64) -> (f64, f64) {
        self.0.at(z, p, s)
    }

    fn normal(&self, y: f64, p: f64) -> f64 {
        self.0.normal(y, p)
    }

    fn is_steep(&self) -> bool {
        self.0.is_steep()
    }
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
        let Scratch { buffer, entries, rows: sums, .. } = scratch;
        let (point, sums) = (&mut buffer[..block.entries()], &mut sums[..block.rows()]);
        let mut rows = Rows { entry: &self.0, block, z: y, nu: warm.row, point, sums, entries };
        // Where the budget did not bind, shifts from below lead back fast in Euclidean geometry alone.
        let cold = mirror != Mirror::Point || rows.nu.iter().all(|nu| *nu == 0.0);
        if *warm.budget == 0.0 && cold {
            for (k, nu) in rows.nu.iter_mut().enumerate() {
                *nu = first_shift(mirror, &rows.z[block.span(k)], block.nominal(k));
            }
        }
        *warm.budget = rows.spend(*warm.budget);
        for k in 0..block.rows() {
            let span = block.span(k);
            let (nominal, point) = (block.nominal(k), &mut point[span.clone()]);
            scale_to_one(point, nominal);
            for (sum, y) in emit.sum[span.clone()].iter_mut().zip(&*point) {
                *sum += emit.weight * y;
            }
            emit.value[k] = product(point, block.gain(k));
            mirror.write(point, nominal, &mut y[span]);
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
    sums: &'a mut [EntrySums],
    entries: &'a mut u64,
}

/// What rows spend at some s, to first order in what they lack of mass one.
struct Spent {
    /// D.
    distance: f64,
    /// dD/ds.
    slope: f64,
    /// The part of D that is to first order.
    correction: f64,
    /// Whether all rows have mass one.
    settled: bool,
}

impl<E: ProximalEntry> Rows<'_, E> {
    /// The least s ≥ 0 that keeps D within the budget, up to rounding, from `near`; leaves the point there.
    fn spend(&mut self, near: f64) -> f64 {
        let goal = self.block.radius;
        // D is known to the last bits of y − p.
        let kappa = (0..self.block.rows()).map(|k| self.block.kappa(k)).fold(0.0, f64::max);
        let slack = PRECISION * goal + 4e-16 * (kappa * goal).sqrt();
        let (mut low, mut high) = (None::<f64>, f64::INFINITY);
        let (mut s, mut joint) = (near, true);
        for step in 0..BUDGET_STEPS {
            let Spent { distance, slope, correction, settled } = self.at(s, joint);
            // What settled rows lack of mass one is rounding, and steep normals would make much of it.
            let off = if settled { distance - correction - goal } else { distance - goal };
            // Nor is s known better than to its last bits.
            let met = off <= slack && -off <= slack + 4e-16 * s * slope.abs();
            if settled && (met || s == 0.0 && off <= 0.0) {
                return s;
            }
            if settled || correction.abs() <= 0.1 * off.abs() {
                // Where masses have lost all digits of D, what their rounding spends says nothing of s.
                let above = off > 0.0 && distance > 0.5 * goal;
                if off.is_nan() || above {
                    low = Some(s);
                } else if s > 0.0 {
                    high = s;
                }
            }
            let closed = high.is_finite() && high - low.unwrap_or(0.0) <= 4e-16 * high;
            if joint && (closed || step == JOINT_STEPS || !off.is_finite()) {
                // First-order brackets may be wrong.
                (low, high, joint) = (None, f64::INFINITY, false);
                continue;
            }
            if closed || !s.is_finite() {
                break;
            }
            let newton = s - 2.0 * (off + goal) * ((off / goal + 1.0).sqrt() - 1.0) / slope;
            let linear = s - off / slope;
            let inside = |s: f64| s >= 0.0 && s < high && low.is_none_or(|low| s > low);
            // D of steep entries falls like ln s, or a power of it, once they are next to 0.
            let log = s * (-off / (slope * s)).clamp(-30.0, 30.0).exp();
            let mut next = if met {
                s
            } else if self.entry.is_steep() && s < STEEP && inside(log) {
                log
            } else if inside(newton) {
                newton
            } else if inside(linear) {
                linear
            } else {
                between(low, high)
            };
            if high.is_infinite() {
                // D falls faster than its slope tells beyond kinks and entries at 0, and from too far away
                // masses have lost the digits that would lead back.
                let most = if self.entry.is_steep() { 1e2 } else { f64::INFINITY };
                let reach = (4.0 * (off / goal + 1.0).max(1.0).sqrt()).min(most);
                next = next.min((1.0 / kappa + s) * reach);
            }
            for (k, sums) in self.sums.iter().enumerate() {
                self.nu[k] += sums.shift(self.block.kappa(k) * (next - s));
            }
            s = next;
        }
        // Neither the budget nor its last bits can be met at one s, or none was found.
        if high.is_finite() {
            s = high;
        }
        self.at(s, false);
        self.block.bring_within(self.entry.set(), self.point);
        if s.is_finite() { s } else { 0.0 }
    }

    /// D at s; `joint`: of rows that are near mass one.
    fn at(&mut self, s: f64, joint: bool) -> Spent {
        let mut spent = Spent { distance: 0.0, slope: 0.0, correction: 0.0, settled: true };
        for k in 0..self.block.rows() {
            let kappa = self.block.kappa(k);
            let off = 0.1 * (self.block.radius / kappa).min(1.0);
            let sums = self.solve(k, kappa * s, if joint { off } else { 0.0 });
            let correction = -kappa * sums.mixed * sums.shift(0.0);
            spent.correction += correction;
            spent.distance += kappa * sums.distance + correction;
            spent.slope -= kappa * kappa * sums.curvature();
            spent.settled &= !joint || sums.has_mass_one(self.block.span(k).len(), self.nu[k]);
            self.sums[k] = sums;
        }
        spent
    }

    /// ν_k with Σy = 1, up to `off` or to the digits there are, from the one that is there.
    fn solve(&mut self, k: usize, s: f64, off: f64) -> EntrySums {
        let span = self.block.span(k);
        let (z, p) = (&self.z[span.clone()], self.block.nominal(k));
        let (y, data) = (&mut self.point[span], self.block.data(k));
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        let (mut nu, mut reach, mut sums) = (self.nu[k], 1.0, EntrySums::default());
        for step in 0..ROW_STEPS {
            self.nu[k] = nu;
            sums = self.entry.row(z, nu, p, s, data, y);
            *self.entries += y.len() as u64;
            let EntrySums { mass, slope, .. } = sums;
            if step == 0 && !(1e-3..1e3).contains(&mass) {
                nu = first_shift(self.entry.mirror(), z, p);
                continue;
            }
            if mass >= 1.0 {
                low = nu
            } else {
                high = nu
            }
            if (mass - 1.0).abs() <= off || sums.has_mass_one(y.len(), nu) {
                break;
            }
            let newton = match self.entry.mirror() {
                Mirror::Point => nu + (mass - 1.0) / slope,
                // Exponential in ν far away.
                Mirror::Log | Mirror::LogRatio => nu + mass.ln() * mass / slope,
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
        sums
    }
}

/// A point of a bracket of s whose ends may be far apart; without a lower end 0, the least s of all.
fn between(low: Option<f64>, high: f64) -> f64 {
    match low {
        None => 0.0,
        Some(low) if high.is_infinite() => 4.0 * low.max(1e-6),
        Some(low) if low > 0.0 && high > 4.0 * low => (low * high).sqrt(),
        Some(low) if low == 0.0 && high > 1e-6 => 0.1 * high,
        Some(low) => 0.5 * (low + high),
    }
}

/// The next longer way to go.
fn grow(reach: &mut f64) -> f64 {
    *reach *= 4.0;
    *reach
}

/// A shift at which no entry is below p (Euclidean), or none above 1 (entropy).
fn first_shift(mirror: Mirror, z: &[f64], p: &[f64]) -> f64 {
    match mirror {
        Mirror::Point => z.iter().zip(p).map(|(z, p)| z - p).fold(f64::INFINITY, f64::min),
        Mirror::Log | Mirror::LogRatio => z.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    }
}
