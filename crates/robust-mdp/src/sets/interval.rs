//! Intervals l ≤ y ≤ u of a model: the [gauge](super::gauge) of these rows about p. With (s,a)-rectangular budgets
//! of 1, nature has all of them; a budget δ is the share of the way from p, and an s-rectangular budget Γ allows
//! as many rows of a state to be at their worst (Bertsimas and Sim).
//!
//! The best row y* begins at l and is filled to u in the order of falling objectives, as far as mass goes:
//!   h − q = Σ_j |y*_j − p_j|·|z_j − z_k|,  k the entry at which it ends.

use super::cone::{Cone, Entry, Moved, Program};
use super::gauge::{self, Edge, share_of};
use super::order::falling;
use super::set::{Beyond, Curve, Priced, RowKind, Set};
use super::{Distance, EntryData, Needs, Rectangularity, UncertaintySet};
use crate::certificate::{Interval as Enclosed, Proof, ProofRow, Reading, roundings};
use crate::model::Bounds;
use crate::rows::Row;

/// The least δ with y in p + δ(Y − p), Y the rows within the model's intervals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval;

impl UncertaintySet {
    /// All kernels within the model's intervals, (s,a)-rectangular.
    pub fn interval() -> Self {
        UncertaintySet::new(Distance::Interval, 1.0).per_action()
    }
}

fn bounds(data: EntryData<'_>) -> Bounds<'_> {
    data.bounds.expect("rows of a model with intervals")
}

/// Fills y from l to u by falling w; the entry at which that ends.
fn fill(p: &[f64], bounds: Bounds<'_>, order: &[u32], mut write: impl FnMut(usize, f64)) -> usize {
    let Bounds { lower, upper } = bounds;
    let mut rest: f64 = p.iter().zip(lower).map(|(p, l)| p - l).sum();
    let mut last = order.first().map_or(0, |&j| j as usize);
    for j in order.iter().map(|&j| j as usize) {
        if rest > 0.0 {
            last = j;
        }
        let more = (upper[j] - lower[j]).min(rest.max(0.0));
        rest -= more;
        write(j, if rest > 0.0 { upper[j] } else { lower[j] + more });
    }
    last
}

fn edge(row: Row<'_>) -> Edge {
    let bounds = bounds(row.data);
    let gain = falling(row, |order| {
        let mut last = 0.0;
        let at = fill(row.p, bounds, order, |_, _| {});
        let level = row.w[at];
        fill(row.p, bounds, order, |j, y| last += ((y - row.p[j]) * (row.w[j] - level)).abs());
        last
    });
    let nominal = row.below_maximum();
    Edge { nominal, gain: gain.min(-nominal) }
}

/// What rounding may leave of a probability outside of its bounds.
const OUTSIDE: f64 = 1e-12;

impl Set for Interval {
    fn name(&self) -> &'static str {
        "interval"
    }

    fn formula(&self) -> &'static str {
        "least δ ≤ 1 with y ∈ y⁰ + δ([l, u] − y⁰)"
    }

    fn needs(&self) -> Needs {
        Needs::Intervals
    }

    fn distance(&self, p: &[f64], y: &[f64], data: EntryData<'_>) -> f64 {
        let Bounds { lower, upper } = bounds(data);
        let mut most = 0.0_f64;
        for ((p, y), (l, u)) in p.iter().zip(y).zip(lower.iter().zip(upper)) {
            if *y > u + OUTSIDE || *y < l - OUTSIDE {
                return f64::INFINITY;
            }
            let (way, room) = if y > p { (y - p, u - p) } else { (p - y, p - l) };
            if way > 0.0 && room > 0.0 {
                most = most.max((way / room).min(1.0));
            }
        }
        most
    }

    fn leaves_support(&self) -> bool {
        false
    }

    fn rectangularity(&self) -> Rectangularity {
        Rectangularity::StateAction
    }

    fn usual_radius(&self) -> Option<(f64, &'static str)> {
        Some((1.0, "the intervals as they are"))
    }

    fn diameter(&self) -> f64 {
        1.0
    }

    fn vacuous(&self, _: &[f64], _: bool, _: EntryData<'_>) -> f64 {
        1.0
    }

    fn cone(&self) -> Option<&dyn Cone> {
        Some(self)
    }

    fn proof(&self) -> Option<&dyn Proof> {
        Some(self)
    }

    fn curve(&self) -> Option<&dyn Curve> {
        Some(self)
    }
}

impl Curve for Interval {
    fn sorts(&self) -> bool {
        true
    }

    fn at(&self, row: Row<'_>, t: f64, _: Option<Priced>) -> Priced {
        Priced { t, ..edge(row).ends(t)[0] }
    }

    fn ends(&self, row: Row<'_>, t: f64, _: Option<Priced>) -> [Priced; 2] {
        edge(row).ends(t)
    }

    fn price(&self, row: Row<'_>, u: f64, _: f64, _: Option<Priced>) -> Priced {
        edge(row).price(u)
    }

    fn peak(&self, row: Row<'_>) -> f64 {
        let Edge { nominal, gain } = edge(row);
        nominal + gain
    }

    fn face(&self, row: Row<'_>) -> f64 {
        f64::from(u8::from(edge(row).gain > 0.0))
    }

    fn kernel(&self, row: Row<'_>, at: Priced, y: &mut [f64]) -> Beyond {
        let (share, p) = (share_of(at, || self.face(row)), row.p);
        falling(row, |order| {
            fill(p, bounds(row.data), order, |j, far| y[j] = p[j] + share * (far - p[j]))
        });
        Beyond::Nothing
    }

    fn kind(&self) -> RowKind<'_> {
        RowKind::PiecewiseLinear
    }
}

impl Cone for Interval {
    /// What the entry may move; next to nothing where it has no room.
    fn scale(&self, entry: Entry, _: usize) -> f64 {
        let Entry { p, bounds: [lower, upper], .. } = entry;
        self.reach(entry.budget / entry.weight) * (p - lower).max(upper - p).max(1e-9)
    }

    fn reach(&self, budget: f64) -> f64 {
        budget.min(1.0)
    }

    fn budget(&self, program: &mut Program, moved: &[Moved]) {
        gauge::budget(program, moved);
    }
}

/// With σ = Σp, rows within the intervals are ŷ/σ, l ≤ ŷ ≤ u, Σŷ = σ, so that p/σ is one of them. For any level ν,
/// and where ŷ is filled by falling w, with what rounding leaves of its mass,
///   h − q ≤ Σ max((l − p)(z − ν), (u − p)(z − ν))/σ,   h − q ≥ Σ(ŷ − p)(z − ν)/σ.
impl Proof for Interval {
    fn read(&self, row: &ProofRow<'_>, t: f64, share: f64) -> Reading {
        let Bounds { lower, upper } = bounds(row.data);
        let mut order: Vec<usize> = (0..row.p.len()).collect();
        order.sort_unstable_by(|&i, &j| row.w[j].total_cmp(&row.w[i]));
        // The filled row: all at u before the last entry, and at l after it.
        let (mut rest, mut filled) = (row.p.iter().sum::<f64>() - lower.iter().sum::<f64>(), 0);
        while filled + 1 < order.len() && rest > upper[order[filled]] - lower[order[filled]] {
            rest -= upper[order[filled]] - lower[order[filled]];
            filled += 1;
        }
        let Some(&last) = order.get(filled) else { return Reading::NOTHING };
        let (level, n) = (row.w[last], row.p.len() as f64);
        let mass = Enclosed::sum(row.p.iter().copied(), 0.0);
        let nominal = Enclosed::sum(row.entries().map(|(p, z)| p * z), 1.0) / mass;
        // Differences, their products and which is larger: few roundings, each of the terms' size.
        let more = |j: usize| {
            let above = row.w[j] - level;
            ((lower[j] - row.p[j]) * above).max((upper[j] - row.p[j]) * above)
        };
        let most = Enclosed::sum((0..row.p.len()).map(more), 4.0) / mass;
        let moved = |k: usize| {
            let j = order[k];
            let to = if k < filled { upper[j] } else { lower[j] };
            (to - row.p[j]) * (row.w[j] - level)
        };
        // The last entry takes what is left, or others next to it do, if that is beyond its bounds by rounding.
        let off = roundings(3.0 * n + 8.0) * mass.size() * row.depth;
        let gain = Enclosed::sum((0..row.p.len()).map(moved), 4.0).wider(off) / mass;
        gauge::read(nominal, most, gain, t, share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: [f64; 3] = [0.5, 0.25, 0.25];
    const W: [f64; 3] = [-2.0, -1.0, 0.0];
    const BOUNDS: Bounds<'static> =
        Bounds { lower: &[0.25, 0.125, 0.0], upper: &[1.0, 0.5, 0.375] };

    fn data() -> EntryData<'static> {
        EntryData { bounds: Some(BOUNDS), ..EntryData::default() }
    }

    /// The last state takes its 0.375, the second one 0.375 of what is left above 0.25 for the first one.
    #[test]
    fn the_best_row_is_filled_from_the_top() {
        let row = Row {
            p: &P,
            w: &W,
            maximum: 0.0,
            range: 2.0,
            outside: None,
            order: None,
            data: data(),
        };
        // −1.25 → −(0.5 + 0.375)
        assert_eq!((Interval.peak(row), Interval.face(row)), (-0.875, 1.0));
        let mut y = [0.0; 3];
        Interval.kernel(row, Priced { t: f64::INFINITY, ..Priced::NOMINAL }, &mut y);
        assert_eq!(y, [0.25, 0.375, 0.375]);
        let half = Interval.price(row, -1.0625, 0.0, None);
        assert_eq!((half.price, half.t), (0.5, 1.0 / 0.375));
        Interval.kernel(row, half, &mut y);
        assert_eq!(y, [0.375, 0.3125, 0.3125]);
        assert_eq!(Interval.distance(&P, &y, data()), 0.5);
    }

    #[test]
    fn a_proof_meets_what_it_proves() {
        let row = ProofRow { data: data(), ..ProofRow::new(&P, &W) };
        let read = Interval.read(&row, 4.0, 1.0);
        let gain = -0.875 * 4.0 - 1.0;
        assert!(read.dual >= gain && read.dual <= gain + 1e-13, "{read:?}");
        assert!(read.value.lo() <= -0.875 && read.value.hi() >= -0.875, "{read:?}");
        assert!(read.value.rad <= 1e-14 && read.spent == 1.0, "{read:?}");
        assert!(Interval.read(&row, 4.0, 1.5).dual.is_nan());
    }
}
