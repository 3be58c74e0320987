//! Rows that one scalar tilts: y(t) with ψ, ψ' and ψ'' from one pass, solved by Newton's method on the
//! distance G = −ψ' below the row's maximum,
//!   t += (G/ψ'')·pace(G/g),  g = −u the distance asked for.

use super::set::{Priced, Set};
use crate::rows::Row;

const STEPS: usize = 200;

/// What drivers ask of a set of tilted rows.
pub trait Tilt: Sync {
    /// ψ(t), ψ'(t) and ψ''(t), for z = w − maximum.
    fn read(&self, row: Row<'_>, t: f64) -> [f64; 3];

    /// Newton's step of ln G or another function of G that is nearly linear in t, as a share of
    /// G/ψ'', from the ratio of G to the distance asked for.
    fn pace(&self, ratio: f64) -> f64;

    /// The paces of many ratios, in their places.
    fn paces(&self, ratios: &mut [f64]) {
        ratios.iter_mut().for_each(|ratio| *ratio = self.pace(*ratio));
    }

    /// Whether y(t) ∝ pe^{tw}: such rows may be read from a table of exponentials.
    fn is_exponential(&self) -> bool;
}

/// y(t).
pub(super) fn at(set: &(impl Tilt + ?Sized), row: Row<'_>, t: f64) -> Priced {
    let [psi, mean, variance] = set.read(row, t);
    let price = (t * mean - psi).max(0.0);
    Priced { t, nu: psi, value: mean.min(0.0), price, slope: Some(variance) }
}

/// The point of value u by Newton's method in a bracket of t.
pub(super) fn price<T: Tilt + Set>(
    set: &T,
    row: Row<'_>,
    u: f64,
    slack: f64,
    near: Option<Priced>,
) -> Priced {
    let goal = -u;
    let usable = |t: &f64| *t > 0.0 && t.is_finite();
    let (mut low, mut high) = (0.0_f64, f64::INFINITY);
    let near = near.filter(|near| usable(&near.t));
    let mut last = near.filter(|near| near.slope.is_some()).unwrap_or_else(|| {
        let start = near.map(|near| near.t).or_else(|| {
            let [_, mean, variance] = set.read(row, 0.0);
            Some(-mean / variance * set.pace(-mean / goal)).filter(usable)
        });
        at(set, row, start.unwrap_or(1.0 / row.range.max(f64::MIN_POSITIVE)))
    });
    for _ in 0..STEPS {
        let Priced { t, value, slope: Some(variance), .. } = last else { break };
        let below = -value;
        if below >= goal {
            low = t;
        } else {
            high = t;
        }
        if (below - goal).abs() <= slack {
            break;
        }
        let fresh = t + below / variance * set.pace(below / goal);
        let fresh = match fresh > low && fresh < high {
            true => fresh,
            false if high.is_infinite() => 4.0 * t,
            false if low > 0.0 && high < 4.0 * low => 0.5 * (low + high),
            false => (low.max(1e-3 * high) * high).sqrt(),
        };
        if (fresh - t).abs() <= 4e-16 * t || t > 1e300 {
            break;
        }
        last = at(set, row, fresh);
    }
    last
}
