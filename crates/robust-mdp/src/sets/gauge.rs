//! Rows y = p + δ(y* − p) of a share 0 ≤ δ ≤ 1 on the way from p into a set Y of rows, d(y, p) = δ: the gauge of Y
//! about p. With the nominal value q = ⟨z, p⟩ and h = ⟨z, y*⟩ the largest in Y,
//!   g(u) = (u − q)/(h − q) on [q, h],   ψ(t) = max(tq, th − 1).
//! The second number of a point is δ. An s-rectangular budget Γ allows the worst of Y in Γ rows together.

use super::cone::{Entry, Moved, Program};
use super::set::Priced;
use crate::certificate::{Interval, Reading, UNIT};

/// A multiplier this near to that of the edge is meant to be it.
const NEAR: f64 = 1e-12;

/// q and h − q ≥ 0 of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) nominal: f64,
    pub(super) gain: f64,
}

impl Edge {
    /// A share of the way.
    fn share(self, t: f64, share: f64) -> Priced {
        let value = (self.nominal + share * self.gain).min(0.0);
        Priced { t, nu: share, value, price: share, slope: None }
    }

    /// [`Curve::ends`](super::Curve::ends).
    pub(super) fn ends(self, t: f64) -> [Priced; 2] {
        let edge = 1.0 / self.gain;
        let [low, high] = match t {
            _ if self.gain == 0.0 || t < edge * (1.0 - NEAR) => return [self.share(t, 0.0); 2],
            _ if t > edge * (1.0 + NEAR) => return [self.share(t, 1.0); 2],
            _ => [0.0, 1.0],
        };
        [self.share(edge, low), self.share(edge, high)]
    }

    /// [`Curve::price`](super::Curve::price).
    pub(super) fn price(self, u: f64) -> Priced {
        let share = (u - self.nominal) / self.gain;
        self.share(1.0 / self.gain, if share > 0.0 { share.min(1.0) } else { 0.0 })
    }
}

/// The share that a point of a row of this face stands for.
pub(super) fn share_of(at: Priced, face: impl FnOnce() -> f64) -> f64 {
    if at.t.is_finite() { at.nu.clamp(0.0, 1.0) } else { face() }
}

/// What (t, δ) prove, from enclosures of q and of h − q ≥ 0 that hold for some row of Y too.
pub(super) fn read(
    nominal: Interval,
    most: Interval,
    gain: Interval,
    t: f64,
    share: f64,
) -> Reading {
    if !(0.0..=1.0).contains(&share) {
        return Reading::NOTHING;
    }
    let far = (nominal + most) * t + -1.0;
    let dual = (nominal * t).hi().max(far.hi());
    let value = nominal + gain * share;
    Reading { dual, value: value.wider(2.0 * UNIT * value.size()), spent: share }
}

/// With a share τ a row: p − τ(p − l) ≤ y ≤ p + τ(u − p), τ ≤ 1, Σκτ ≤ α.
pub(super) fn budget(program: &mut Program, moved: &[Moved]) {
    let Some(last) = moved.last() else { return };
    let shares: Vec<usize> = (0..=last.row).map(|_| program.variable()).collect();
    let mut kappa = vec![0.0; shares.len()];
    moved.iter().for_each(|z| kappa[z.row] = z.entry.weight / z.entry.budget);
    program.line(1.0, shares.iter().copied().zip(kappa));
    shares.iter().for_each(|&share| program.line(1.0, [(share, 1.0)]));
    for Moved { entry: Entry { p, bounds: [lower, upper], .. }, scale, variable, row } in moved {
        program.line(0.0, [(*variable, -1.0), (shares[*row], -(p - lower) / scale)]);
        program.line(0.0, [(*variable, 1.0), (shares[*row], -(upper - p) / scale)]);
    }
    program.nonnegative();
}
