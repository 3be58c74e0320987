//! The price of a value from [`Curve::ends`] alone: t in a bracket.
//!
//! In the plane of value and price the points below and above u enclose g between their chord and
//! their tangents. Slopes of chords end on the edge of a piecewise linear g, secants of t against the
//! value are fast where g is smooth: they alternate. Where the line of a chord's slope touches g in no
//! new point, the chord is an edge whose slope rounding has hidden; it is looked for in growing steps.

use super::set::{Curve, Priced};
use crate::rows::Row;

const STEPS: usize = 200;
/// The first step from the slope of a chord, and how steps grow.
const CREEP: f64 = 1e-12;
const GROWTH: f64 = 16.0;

pub(super) fn price<T: Curve + ?Sized>(
    set: &T,
    row: Row<'_>,
    u: f64,
    slack: f64,
    mut near: Option<Priced>,
) -> Priced {
    let usable = |t: &f64| *t > 0.0 && t.is_finite();
    // Mostly the row is where it was, and neither end of g need be known.
    let warm = near.filter(|near| usable(&near.t)).map(|near| set.ends(row, near.t, Some(near)));
    if let Some(found) = warm.and_then(|ends| between(ends, u, slack)) {
        return found;
    }
    let mut low = Priced { value: row.nominal(), ..Priced::NOMINAL };
    let mut high =
        Priced { t: f64::INFINITY, value: set.peak(row), price: set.face(row), ..Priced::NOMINAL };
    let chord = |low: &Priced, high: &Priced| {
        Some((high.price - low.price) / (high.value - low.value)).filter(usable)
    };
    let first = near.map(|near| near.t).filter(usable).or_else(|| chord(&low, &high));
    let mut t = first.unwrap_or(1.0 / row.range.max(f64::MIN_POSITIVE));
    let (mut touching, mut creep) = (near.is_none(), CREEP);
    for step in 0..STEPS {
        let [from, to] = match warm {
            Some(ends) if step == 0 => ends,
            Some(_) | None => set.ends(row, t, near),
        };
        near = Some(from);
        if let Some(found) = between([from, to], u, slack) {
            return found;
        }
        let below = to.value < u;
        touching &= to.value <= low.value || from.value >= high.value;
        *(if below { &mut low } else { &mut high }) = if below { to } else { from };
        let secant = low.t + (u - low.value) / (high.value - low.value) * (high.t - low.t);
        let next = match step % 2 {
            _ if touching => Some(if below { t * (1.0 + creep) } else { t * (1.0 - creep) }),
            0 => Some(secant).filter(usable).or_else(|| chord(&low, &high)),
            _ => chord(&low, &high),
        };
        creep *= if touching { GROWTH } else { 1.0 };
        touching |= step % 2 == 1;
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

/// The point of value u on an edge, give or take `slack`.
fn between([from, to]: [Priced; 2], u: f64, slack: f64) -> Option<Priced> {
    (from.value - slack <= u && u <= to.value + slack).then(|| {
        let share = (u - from.value) / (to.value - from.value);
        if share > 0.0 { from.towards(to, share.min(1.0)) } else { from }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sets::EntryData;
    use crate::sets::l1::NORM;

    /// g(u) of L1: donors give in the order of rising z, at 2 a unit of mass.
    fn by_hand(row: Row<'_>, u: f64) -> f64 {
        let mut donors: Vec<(f64, f64)> =
            row.w.iter().zip(row.p).map(|(w, p)| (w - row.maximum, *p)).collect();
        donors.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut missing, mut price) = (u - row.nominal(), 0.0);
        for (z, p) in donors.into_iter().filter(|(z, _)| *z < 0.0) {
            let moved = p.min((missing / -z).max(0.0));
            (missing, price) = (missing + moved * z, price + 2.0 * moved);
        }
        price
    }

    #[test]
    fn degenerate_piecewise_linear_rows_are_priced_to_rounding() {
        let l1 = &NORM;
        let tiny = 1e-13;
        let rows: [(&[f64], &[f64]); 7] = [
            (&[0.25, 0.25, 0.25, 0.25], &[-1.0, -1.0, -1.0, 0.0]),
            (&[0.25, 0.25, 0.25, 0.25], &[-1.0, -1.0 + 1e-12, -1.0 - 1e-11, 0.0]),
            (&[0.0, 0.5, 0.0, 0.5], &[-2.0, -1.0, 0.0, -1.0]),
            (&[tiny, 0.5, tiny, 0.5 - 2.0 * tiny], &[-3.0, -2.0, -1.0, 0.0]),
            (&[0.5, 0.5 - tiny, tiny, 0.0], &[-1e-9, -1.0, -1e-12, 0.0]),
            (&[1.0, 0.0], &[-1.0, 0.0]),
            (&[1e-5, 1.0 - 3e-5, 1e-5, 1e-5], &[-1.0, -1e-7, -0.3, 0.0]),
        ];
        for (p, w) in rows {
            let range = w.iter().fold(0.0_f64, |m, w| m.max(-w));
            let row = Row {
                p,
                w,
                maximum: 0.0,
                range,
                outside: None,
                order: None,
                data: EntryData::default(),
            };
            let nearby = [None, Some(1e-9), Some(2.0), Some(1e12)];
            for (share, t) in [1e-12, 1e-3, 0.4, 0.5, 0.999, 1.0 - 1e-12]
                .into_iter()
                .flat_map(|share| nearby.map(|t| (share, t)))
            {
                let u = row.nominal() * (1.0 - share);
                let near = t.map(|t| Priced { t, ..Priced::NOMINAL });
                let at = price(l1, row, u, 0.0, near);
                let mut y = vec![0.0; p.len()];
                l1.kernel(row, at, &mut y);
                let value: f64 = y.iter().zip(w).map(|(y, w)| y * w).sum();
                let (price, noise) = (by_hand(row, u), 1e-15 * range);
                assert!((at.value - u).abs() <= noise, "{at:?}, {u:e}, {w:?}");
                assert!((value - u).abs() <= noise, "{at:?}, {value:e}, {u:e}, {w:?}");
                // Donors whose multipliers agree but for rounding are tied.
                let error = 1e-15 + at.t * noise + 1e-14 * price;
                assert!((at.price - price).abs() <= error, "{at:?}, {price:e}, {u:e}, {w:?}");
            }
        }
    }

    /// All w agree but for rounding: the search ends with a multiplier.
    #[test]
    fn a_row_without_donors_has_a_point() {
        let row = Row {
            p: &[0.5, 0.5],
            w: &[1.0, 1.0],
            maximum: 1.0,
            range: 0.0,
            outside: None,
            order: None,
            data: EntryData::default(),
        };
        let at = price(&NORM, row, -1e-17, 0.0, None);
        assert!(at.t > 0.0 && at.value == 0.0 && at.price == 0.0, "{at:?}");
    }
}
