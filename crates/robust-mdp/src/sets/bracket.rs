//! The price of a value from [`Set::at`] alone: t in a bracket.
//!
//! In the plane of value and price the points below and above u enclose g between their chord and
//! their tangents. Chord slopes end on the edge of a piecewise linear g; secants of t against the value
//! are fast where g is smooth. They alternate.

use super::set::{Priced, Set};
use crate::rows::Row;

const STEPS: usize = 200;
/// Slopes that agree to this share are those of one edge.
const EDGE: f64 = 1e-12;

pub(super) fn price<T: Set + ?Sized>(
    set: &T,
    row: Row<'_>,
    u: f64,
    slack: f64,
    near: Option<Priced>,
) -> Priced {
    let mut low = Priced { t: 0.0, nu: 0.0, value: row.nominal(), price: 0.0 };
    let mut high = Priced { t: f64::INFINITY, nu: 0.0, value: 0.0, price: set.face(row) };
    let usable = |t: &f64| *t > 0.0 && t.is_finite();
    let chord = |low: &Priced, high: &Priced| {
        Some((high.price - low.price) / (high.value - low.value)).filter(usable)
    };
    let first = near.map(|near| near.t).filter(usable).or_else(|| chord(&low, &high));
    let mut t = first.unwrap_or(1.0 / row.range.max(f64::MIN_POSITIVE));
    let mut near = near;
    for step in 0..STEPS {
        let at = set.at(row, t, near);
        near = Some(at);
        if (at.value - u).abs() <= slack {
            return at;
        }
        if at.value < u {
            low = at;
        } else {
            high = at;
        }
        if let Some(t) = chord(&low, &high)
            && ((t - low.t).abs() <= EDGE * t || (t - high.t).abs() <= EDGE * t)
        {
            let [from, to] = set.ends(row, t);
            if from.value <= u && u <= to.value && from.value < to.value {
                return from.towards(to, (u - from.value) / (to.value - from.value));
            }
        }
        let secant = low.t + (u - low.value) / (high.value - low.value) * (high.t - low.t);
        let next = match step % 2 {
            0 => Some(secant).filter(usable).or_else(|| chord(&low, &high)),
            _ => chord(&low, &high),
        };
        let inside = |t: &f64| *t > low.t && *t < high.t;
        let halved = match (low.t > 0.0, high.t.is_finite()) {
            (_, false) => 4.0 * low.t.max(t),
            (false, true) => 0.25 * high.t,
            (true, true) if high.t > 4.0 * low.t => (low.t * high.t).sqrt(),
            (true, true) => 0.5 * (low.t + high.t),
        };
        let next = next.filter(inside).filter(|_| step % 8 != 7).unwrap_or(halved);
        if !inside(&next) || next == t || next > 1e300 {
            break;
        }
        t = next;
    }
    if high.t.is_finite() { high } else { low }
}
