//! The (weighted) L∞ set d(y, p) = max_j w_j|y_j − p_j|: piecewise linear rows. With ω = 1/w and a price δ, the best
//! row gives +δω to entries above a pivot k, in the order of objectives, takes min(p, δω) from those below, and k
//! gets the rest:
//!   V(δ) = q + Σ_above δω(z − z_k) + Σ_below min(p, δω)(z_k − z),
//!   V'(δ) = Σ_above ω(z − z_k) + Σ_{below, δω < p} ω(z_k − z),
//! concave, and t = 1/V'. Newton's method on V reaches a value in finitely many steps; its tangents do a
//! multiplier. The second number of a point is δ.

mod proof;

use std::cmp::Ordering;

use super::cone::{Cone, Entry, Moved, Program};
use super::order::falling;
use super::set::{Beyond, Curve, Priced, RowKind, Set};
use super::{Distance, EntryData, Needs, UncertaintySet};
use crate::certificate::{Proof, UNIT};
use crate::rows::Row;

/// A multiplier this near to that of an edge is meant to be it.
const NEAR: f64 = 1e-12;
/// A value this near to a tangent lies on it, as a share of what both are sums of.
const ON_LINE: f64 = 1e-13;
const STEPS: usize = 200;

/// max w|y − p|.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linf;

impl UncertaintySet {
    /// Σ_a max |y_a − y⁰_a| ≤ radius in every state, mass allowed everywhere.
    pub fn linf(radius: f64) -> Self {
        UncertaintySet::new(Distance::Linf, radius)
    }
}

/// The best row of a price.
#[derive(Clone, Copy, Debug)]
struct Fill {
    delta: f64,
    /// V − q = gained + δ·V', of what those have given that have given all: it has the digits of small gains.
    gained: f64,
    /// V = left + δ·V', of what entries have before they move, but at the level of the pivot where they have given
    /// all: nothing is left in it of those far below.
    left: f64,
    /// V'.
    slope: f64,
    /// The place of the pivot in the order, and what it gets.
    pivot: usize,
    moved: f64,
}

/// The row of price δ; at δ = 0 the direction in which it moves.
fn fill(row: Row<'_>, order: &[u32], delta: f64) -> Fill {
    let omega = |j: usize| row.data.weights.map_or(1.0, |weights| 1.0 / weights[j]);
    let gives = |j: usize| match delta > 0.0 {
        true => row.p[j].min(delta * omega(j)),
        false if row.p[j] > 0.0 => omega(j),
        false => 0.0,
    };
    let takes = |j: usize| if delta > 0.0 { delta * omega(j) } else { omega(j) };
    let (mut below, mut above) = ((0..row.p.len()).map(gives).sum::<f64>(), 0.0);
    let mut pivot = 0;
    for (place, j) in order.iter().map(|&j| j as usize).enumerate() {
        below -= gives(j);
        pivot = place;
        if above + takes(j) >= below || place + 1 == order.len() {
            break;
        }
        above += takes(j);
    }
    let level = row.w[order[pivot] as usize];
    let (mut gained, mut left, mut slope) = (0.0, 0.0, 0.0);
    for (place, j) in order.iter().map(|&j| j as usize).enumerate() {
        let (p, w) = (row.p[j], row.w[j]);
        match place < pivot || delta * omega(j) < p {
            true => {
                slope += omega(j) * (w - level).abs();
                left += p * (w - row.maximum);
            }
            false => {
                gained += p * (w - level).abs();
                left += p * (level - row.maximum);
            }
        }
    }
    Fill { delta, gained, left, slope, pivot, moved: below - above }
}

/// What an entry has at a place before the pivot, on it or after it.
fn shifted(p: f64, place: Ordering, step: f64, moved: f64) -> f64 {
    match place {
        Ordering::Less => p + step,
        Ordering::Equal => (p + moved).max(0.0),
        Ordering::Greater => (p - step).max(0.0),
    }
}

impl Fill {
    fn priced(self, t: f64) -> Priced {
        Priced { t, nu: self.delta, value: self.value().min(0.0), price: self.delta, slope: None }
    }

    /// V.
    fn value(self) -> f64 {
        self.left + self.delta * self.slope
    }

    /// u − V, with the digits of what is smaller, what is gained or what is left.
    fn short_of(self, u: f64, nominal: f64) -> f64 {
        let gain = self.gained + self.delta * self.slope;
        if gain < -self.value() { (u - nominal) - gain } else { u - self.value() }
    }

    /// How much higher the tangent of another price is at δ = 0, and the size of what that is a difference of.
    fn below(self, other: Fill) -> (f64, f64) {
        let size = |of: fn(Fill) -> f64| of(self).abs().max(of(other).abs());
        let (gained, left) = (size(|fill| fill.gained), size(|fill| fill.left));
        match gained < left {
            true => (other.gained - self.gained, gained),
            false => (other.left - self.left, left),
        }
    }

    /// Where the tangents of two prices meet.
    fn meets(self, other: Fill) -> f64 {
        self.below(other).0 / (self.slope - other.slope)
    }

    /// Whether the tangent goes through another point of the curve.
    fn leads_to(self, at: Fill) -> bool {
        let (below, size) = self.below(at);
        let size = size + at.delta * (self.slope + at.slope);
        at.delta * (self.slope - at.slope) - below <= ON_LINE * size
    }
}

/// Least δ at which all mass is on the maxima.
fn face(row: Row<'_>) -> f64 {
    let (mut most, mut given, mut room) = (0.0_f64, 0.0, 0.0);
    for (j, (&p, &w)) in row.p.iter().zip(row.w).enumerate() {
        let weight = row.data.weight(j);
        if w == row.maximum {
            room += 1.0 / weight;
        } else {
            (most, given) = (most.max(weight * p), given + p);
        }
    }
    most.max(given / room)
}

/// Prices of the lowest and the highest value at t, and t to the digit.
fn ends(row: Row<'_>, order: &[u32], t: f64, near: Option<Priced>) -> ([Fill; 2], f64) {
    let top = face(row);
    let mut low = fill(row, order, 0.0);
    let gained = -row.below_maximum();
    let mut high = Fill { delta: top, gained, left: 0.0, slope: 0.0, pivot: 0, moved: 0.0 };
    if low.slope * t < 1.0 - NEAR || top == 0.0 {
        return ([low; 2], t);
    }
    let on_edge = |at: Fill| (at.slope * t - 1.0).abs() <= NEAR;
    let mut next = near.map(|near| near.nu).filter(|delta| *delta > 0.0 && *delta < top);
    for _ in 0..STEPS {
        if on_edge(low) {
            return edge(row, order, [low, low, high]);
        }
        let delta = next.take().unwrap_or_else(|| low.meets(high));
        if !(delta > low.delta && delta < high.delta) {
            break;
        }
        let at = fill(row, order, delta);
        if on_edge(at) {
            return edge(row, order, [low, at, high]);
        }
        if low.leads_to(at) && high.leads_to(at) {
            return ([at; 2], t);
        }
        *(if at.slope * t > 1.0 { &mut low } else { &mut high }) = at;
    }
    // One of them lies where the tangents meet.
    let better = if t * (high.value() - low.value()) > high.delta - low.delta { high } else { low };
    ([better; 2], t)
}

/// The ends of the edge on which the middle one of three prices lies.
fn edge(row: Row<'_>, order: &[u32], [mut low, at, mut high]: [Fill; 3]) -> ([Fill; 2], f64) {
    let end = |other: &mut Fill| {
        for _ in 0..STEPS {
            if at.leads_to(*other) {
                return *other;
            }
            let delta = at.meets(*other);
            let between = (delta - at.delta) * (delta - other.delta) < 0.0;
            if !between {
                break;
            }
            *other = fill(row, order, delta);
        }
        at
    };
    let ends = [end(&mut low), end(&mut high)];
    (ends, 1.0 / at.slope)
}

impl Set for Linf {
    fn name(&self) -> &'static str {
        "linf"
    }

    fn title(&self) -> &'static str {
        "L∞"
    }

    fn formula(&self) -> &'static str {
        "max w|y − y⁰|"
    }

    fn needs(&self) -> Needs {
        Needs::Weights
    }

    fn distance(&self, p: &[f64], y: &[f64], data: EntryData<'_>) -> f64 {
        let away = |(j, (p, y)): (usize, (&f64, &f64))| data.weight(j) * (y - p).abs();
        p.iter().zip(y).enumerate().map(away).fold(0.0, f64::max)
    }

    fn leaves_support(&self) -> bool {
        true
    }

    fn counts_outside(&self) -> bool {
        false
    }

    fn diameter(&self) -> f64 {
        1.0
    }

    fn vacuous(&self, p: &[f64], unused: bool, data: EntryData<'_>) -> f64 {
        // The two largest wp, since the state itself need not give.
        let given = |j: usize| data.weight(j) * p[j];
        let most = |except: Option<usize>| {
            let others = (0..p.len()).filter(|&j| Some(j) != except).map(given);
            others.fold(0.0, f64::max)
        };
        let heaviest = (0..p.len()).max_by(|&i, &j| given(i).total_cmp(&given(j)));
        let [all, second] = [most(None), most(heaviest)];
        let of = |i: usize| {
            let others = if Some(i) == heaviest { second } else { all };
            others.max(data.weight(i) * (1.0 - p[i]))
        };
        let open = (0..p.len()).filter(|&i| p[i] > 0.0 || unused).map(of);
        let outside = if unused && !p.contains(&0.0) { all.max(1.0) } else { 0.0 };
        open.fold(outside, f64::max)
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

impl Curve for Linf {
    fn sorts(&self) -> bool {
        true
    }

    fn at(&self, row: Row<'_>, t: f64, near: Option<Priced>) -> Priced {
        Priced { t, ..self.ends(row, t, near)[0] }
    }

    fn ends(&self, row: Row<'_>, t: f64, near: Option<Priced>) -> [Priced; 2] {
        let (ends, t) = falling(row, |order| ends(row, order, t, near));
        ends.map(|end| end.priced(t))
    }

    fn price(&self, row: Row<'_>, u: f64, slack: f64, near: Option<Priced>) -> Priced {
        let (top, nominal) = (face(row), row.below_maximum());
        let first = near.map_or(0.0, |near| near.nu);
        falling(row, |order| {
            let mut delta = if first < top { first } else { 0.0 };
            let mut at = fill(row, order, delta);
            for _ in 0..STEPS {
                let missing = at.short_of(u, nominal);
                let next = delta + missing / at.slope;
                let next = if next < top { next.max(0.0) } else { 0.5 * (delta + top) };
                let settled = missing.abs() <= slack.max(2.0 * UNIT * u.abs().min(u - nominal));
                if settled && at.delta > 0.0 || (next - delta).abs() <= UNIT * delta {
                    break;
                }
                (delta, at) = (next, fill(row, order, next));
            }
            at.priced(1.0 / at.slope)
        })
    }

    fn face(&self, row: Row<'_>) -> f64 {
        face(row)
    }

    fn kernel(&self, row: Row<'_>, at: Priced, y: &mut [f64]) -> Beyond {
        let delta = if at.t.is_finite() { at.nu } else { face(row) };
        y.copy_from_slice(row.p);
        if delta > 0.0 {
            falling(row, |order| {
                let Fill { pivot, moved, .. } = fill(row, order, delta);
                for (place, j) in order.iter().map(|&j| j as usize).enumerate() {
                    let step = delta / row.data.weight(j);
                    y[j] = shifted(row.p[j], place.cmp(&pivot), step, moved);
                }
            });
        }
        Beyond::Nothing
    }

    fn kind(&self) -> RowKind<'_> {
        RowKind::PiecewiseLinear
    }
}

/// w|y − p| ≤ τ with one τ a row, Σκτ ≤ α, in units of what an entry may move.
impl Cone for Linf {
    fn scale(&self, entry: Entry, _: usize) -> f64 {
        self.reach(entry.budget / entry.weight / entry.norm)
    }

    fn reach(&self, budget: f64) -> f64 {
        budget.min(1.0)
    }

    fn budget(&self, program: &mut Program, moved: &[Moved]) {
        let Some(last) = moved.last() else { return };
        let shares: Vec<usize> = (0..=last.row).map(|_| program.variable()).collect();
        // In units of α/κ.
        let ones = shares.iter().map(|&share| (share, 1.0));
        program.line(1.0, ones);
        for z in moved {
            let size = z.entry.norm * z.scale * z.entry.weight / z.entry.budget;
            program.line(0.0, [(shares[z.row], -1.0), (z.variable, size)]);
            program.line(0.0, [(shares[z.row], -1.0), (z.variable, -size)]);
        }
        program.nonnegative();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::ProofRow;

    const P: [f64; 3] = [0.5, 0.25, 0.25];
    const W: [f64; 3] = [-2.0, -1.0, 0.0];

    fn row() -> Row<'static> {
        let data = EntryData::default();
        Row { p: &P, w: &W, maximum: 0.0, range: 2.0, outside: None, order: None, data }
    }

    /// The last state gets δ from the first one, up to δ = ½, after which that is empty and the second one gives
    /// as well; at δ = ¾ all is on the last one.
    #[test]
    fn mass_moves_from_the_lowest_to_the_highest() {
        assert_eq!((Linf.face(row()), Linf.vacuous(&P, false, row().data)), (0.75, 0.75));
        let at = Linf.price(row(), -0.75, 0.0, None);
        assert_eq!((at.t, at.nu, at.price), (0.5, 0.25, 0.25));
        let mut y = [0.0; 3];
        Linf.kernel(row(), at, &mut y);
        assert_eq!(y, [0.25, 0.25, 0.5]);
        let at = Linf.price(row(), -0.125, 0.0, Some(at));
        assert_eq!((at.t, at.price), (1.0, 0.625));
        assert_eq!(Linf.ends(row(), 1.0, None).map(|end| end.price), [0.5, 0.75]);
        assert_eq!(Linf.ends(row(), 0.75, None).map(|end| end.price), [0.5, 0.5]);
        // Half the weight, twice the way.
        let data = EntryData { weights: Some(&[0.5; 3]), ..row().data };
        assert_eq!(Linf.price(Row { data, ..row() }, -0.75, 0.0, None).price, 0.125);
    }

    #[test]
    fn a_proof_meets_what_it_proves() {
        for (t, delta, value) in [(1.0, 0.625, -0.125), (0.75, 0.5, -0.25), (0.5, 0.25, -0.75)] {
            let read = Linf.read(&ProofRow::new(&P, &W), t, delta);
            let gain = t * value - delta;
            assert!(read.dual >= gain && read.dual <= gain + 1e-13, "{read:?}");
            assert!(read.value.lo() <= value && read.value.hi() >= value, "{read:?}");
            assert!((delta..=delta + 1e-13).contains(&read.spent), "{read:?}");
        }
    }
}
