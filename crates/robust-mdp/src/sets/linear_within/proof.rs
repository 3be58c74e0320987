//! What two numbers prove of a row.

use super::pieces::{Unit, mixture};
use super::{LinearWithin, bounds};
use crate::certificate::{Interval, Proof, ProofRow, Reading, UNIT, roundings};
use crate::model::Bounds;

/// σ = Σp, and rows are ŷ/σ with l ≤ ŷ ≤ u, Σŷ = σ, of price Σ κ⁺(ŷ − p)₊/σ and so on, κ = c or, counted in rooms,
/// σc. For any ν
///   ψ ≤ [t⟨z, p⟩ + Σ (tz − ν − κ⁺)₊(u − p) + (ν − tz − κ⁻)₊(p − l)]/σ.
/// The computed row has the mass σ but for rounding, and what is missing or too much goes to an entry with room.
impl Proof for LinearWithin {
    fn read(&self, row: &ProofRow<'_>, t: f64, share: f64) -> Reading {
        if !(0.0..=1.0).contains(&share) {
            return Reading::NOTHING;
        }
        let ProofRow { p, w, maximum, data, .. } = *row;
        let (n, bounds) = (p.len(), bounds(data));
        let mass = Interval::sum(p.iter().copied(), 0.0);
        let at = self.unit.fill(p, w, maximum, bounds, t);
        let level = at.level;
        let z = |j: usize| w[j] - maximum;
        let rooms = |j: usize| [bounds.upper[j] - p[j], p[j] - bounds.lower[j]];
        // No more than what the moves cost.
        let kappa = |room: f64| match self.unit {
            Unit::Mass => 1.0,
            Unit::Room => mass.lo() * (1.0 / room) * (1.0 - 4.0 * UNIT),
        };
        let gain = |j: usize| {
            let h = t * z(j) - level;
            let off = 4.0 * UNIT * ((t * z(j)).abs() + level.abs());
            let [up, down] = rooms(j);
            let worth = |h: f64, room: f64| {
                let kappa = kappa(room);
                let excess = h - kappa + off + 2.0 * UNIT * kappa;
                if excess > 0.0 { excess * room } else { 0.0 }
            };
            worth(h, up) + worth(-h, down)
        };
        let nominal = Interval::sum((0..n).map(|j| p[j] * z(j)), 1.0);
        let gains = Interval::sum((0..n).map(gain), 5.0);
        let dual = ((nominal * t + gains) / mass).hi();
        let mut y = vec![0.0; n];
        mixture(&at, share, p, bounds, &mut y);
        let spent = self.spent(p, &y, bounds, mass);
        if spent.is_nan() {
            y.copy_from_slice(p);
        }
        let spent = if spent.is_nan() { 0.0 } else { spent };
        let value = Interval::sum((0..n).map(|j| y[j] * z(j)), 1.0) / mass;
        let off = roundings(2.0 * n as f64 + 8.0) * row.depth * 2.0;
        Reading { dual, value: value.wider(off), spent }
    }
}

impl LinearWithin {
    /// At least d of a row with the mass σ that is y but for roundings; NaN where nothing has room for these.
    fn spent(&self, p: &[f64], y: &[f64], bounds: Bounds<'_>, mass: Interval) -> f64 {
        let n = y.len();
        if y == p {
            return 0.0;
        }
        let Bounds { lower, upper } = bounds;
        let rooms = |j: usize| [upper[j] - p[j], p[j] - lower[j]];
        let paid = |j: usize| {
            let [up, down] = rooms(j);
            let (way, room) = if y[j] > p[j] { (y[j] - p[j], up) } else { (p[j] - y[j], down) };
            if way > 0.0 { way * self.unit.cost(room) } else { 0.0 }
        };
        let missing = (Interval::sum(y.iter().copied(), 0.0) + -mass.mid).wider(mass.rad);
        let most = 2.0 * missing.size();
        // What an entry has moved the other way comes back first, and for nothing.
        let least = |side: usize| {
            let cost = |j: usize| {
                let (to, back) =
                    if side == 0 { (upper[j], p[j] - y[j]) } else { (lower[j], y[j] - p[j]) };
                match back > most {
                    true => 0.0,
                    false if (to - p[j]).abs().min((to - y[j]).abs()) > most => {
                        most * self.unit.cost(rooms(j)[side])
                    }
                    false => f64::INFINITY,
                }
            };
            (0..n).map(cost).fold(f64::INFINITY, f64::min)
        };
        let [up, down] = [0, 1].map(least);
        let spent = Interval::sum((0..n).map(paid), 4.0).wider(1.01 * up.max(down));
        let spent = match self.unit {
            Unit::Mass => spent / mass,
            Unit::Room => spent,
        };
        if spent.hi().is_finite() { spent.hi().max(0.0) } else { f64::NAN }
    }
}
