//! A distance d = Σδ(y_j, p_j) within the intervals of a model: the ball and l ≤ y ≤ u. With h = tz − ν,
//!   y = max(l, min(u, argmax_y hy − δ(y, p))),   Σy = 1,
//! which costs little more than the distance alone. For any y in the interval, as hy − δ is concave,
//!   φ(h) = max_{l ≤ y' ≤ u} hy' − δ(y', p) ≤ hy − δ(y, p) + max_{l ≤ y' ≤ u} (h − δ'(y))(y' − y),
//! so that a proof needs enclosures of δ and δ' alone.

use std::fmt::Debug;

use super::cone::{Cone, Entry, Moved, Program};
use super::proximal::Prox;
use super::set::{Beyond, Curve, Priced, Set};
use super::{EntryData, Needs};
use crate::certificate::{Interval, Proof, ProofRow, Reading, TINY, UNIT, above, or_infinite};
use crate::geometry::Geometry;
use crate::model::Bounds;
use crate::rows::Row;
use crate::sets::order::falling;

/// Steps before a shift must have settled.
const STEPS: usize = 400;
/// Joint steps in t and ν before t is bracketed.
const JOINT: usize = 20;

/// One entry of a distance.
pub(crate) trait Entrywise: Copy + Debug + Sync + 'static {
    const NAME: &'static str;
    const TITLE: &'static str;
    const FORMULA: &'static str;
    /// δ(p + m(y − p), p) ≤ m^degree·δ(y, p).
    const DEGREE: i32;
    /// Whether δ(y/σ, p/σ) is δ(y, p)/σ², not δ(y, p)/σ.
    const CURVED: bool = false;
    /// Whether y may be positive where p is 0.
    const POPS: bool = false;
    /// Whether entries with p = 0, or next to it, get mass at h = 1, and at once.
    const LEAPS: bool = false;
    /// The set without intervals.
    fn ball(self) -> &'static dyn Set;
    /// argmax_{y ≥ 0} hy − δ(y, p), perhaps ∞, and its derivative in h.
    fn best(self, h: f64, p: f64) -> (f64, f64);
    /// δ(y, p) and δ'(y, p).
    fn at(self, y: f64, p: f64) -> [f64; 2];
    /// The same in outward-rounded arithmetic, for y > 0 where δ' is finite there alone.
    fn enclosed(self, y: f64, p: f64) -> [Interval; 2];
    /// At least max_y hy − c·δ(y, p) over all y, whatever the interval: next to p it keeps the digits of small h.
    fn free(self, h: f64, p: f64, c: f64) -> f64;
    /// Proofs take δ' at no smaller y, where it is infinite at 0.
    fn least(self, _p: f64) -> f64 {
        0.0
    }
    /// The conic form of the ball.
    fn cone(self) -> Option<&'static dyn Cone> {
        self.ball().cone()
    }
    /// Its proximal steps in a geometry, if these go entry by entry.
    fn prox(self, _: Geometry) -> Option<&'static dyn Prox> {
        None
    }
}

/// A distance within intervals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Within<D>(pub(crate) D);

fn bounds(data: EntryData<'_>) -> Bounds<'_> {
    data.bounds.expect("rows of a model with intervals")
}

/// What a row says at (t, ν).
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    mass: f64,
    value: f64,
    price: f64,
    /// Σ, Σz and Σz² of dy/dh.
    slope: [f64; 3],
}

impl<D: Entrywise> Within<D> {
    /// u, or 0 where the distance does not allow more.
    #[inline(always)]
    fn upper(self, p: f64, upper: f64) -> f64 {
        if p > 0.0 || D::POPS { upper } else { 0.0 }
    }

    /// y of entry j and its derivative in h.
    #[inline(always)]
    fn entry(
        self,
        row: &Row<'_>,
        Bounds { lower, upper }: Bounds<'_>,
        j: usize,
        h: f64,
    ) -> [f64; 2] {
        let (y, slope) = self.0.best(h, row.p[j]);
        let upper = self.upper(row.p[j], upper[j]);
        match y {
            y if y <= lower[j] => [lower[j], 0.0],
            y if y >= upper => [upper, 0.0],
            y => [y, slope],
        }
    }

    fn sums(self, row: &Row<'_>, t: f64, nu: f64) -> Sums {
        let (bounds, mut sums) = (bounds(row.data), Sums::default());
        for j in 0..row.p.len() {
            let z = row.w[j] - row.maximum;
            let [y, slope] = self.entry(row, bounds, j, t * z - nu);
            sums.mass += y;
            sums.value += y * z;
            sums.price += self.0.at(y, row.p[j])[0];
            let [a, b, c] = &mut sums.slope;
            (*a, *b, *c) = (*a + slope, *b + slope * z, *c + slope * z * z);
        }
        sums
    }

    /// The row of mass one at t: ν, where the mass leaps the next one too, and the share of the row there.
    fn shift(self, row: &Row<'_>, t: f64, near: Option<Priced>) -> ([f64; 2], f64) {
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        // About proportional to t.
        let near = near.map(|near| near.nu * (t / near.t)).filter(|nu| nu.is_finite());
        let mut nu = near.unwrap_or(t * row.below_maximum());
        let mut reach = 1.0_f64.max(1e-15 * (t * row.range).max(nu.abs()));
        let goal: f64 = row.p.iter().sum();
        let (mut above, mut below) = (f64::NAN, f64::NAN);
        for step in 0..STEPS {
            let Sums { mass, slope: [slope, ..], .. } = self.sums(row, t, nu);
            if (mass - goal).abs() <= 2.0 * UNIT {
                return ([nu; 2], 0.0);
            }
            match mass > goal {
                true => (low, above) = (nu, mass),
                false => (high, below) = (nu, mass),
            }
            let newton = nu + (mass - goal) / slope;
            let within = newton > low && newton < high && (newton - nu).abs() < reach;
            nu = match (low.is_finite(), high.is_finite()) {
                // Far from it Newton's steps may be short: every third one halves the bracket.
                (true, true) if within && step % 3 < 2 => newton,
                (true, true) => 0.5 * low + 0.5 * high,
                _ if within => newton,
                (true, false) => low + reach,
                (false, _) => high - reach,
            };
            if step % 3 == 1 {
                nu = self.leap_between(row, t, [low, high], nu).unwrap_or(nu);
            }
            reach *= 2.0;
            if nu <= low || nu >= high {
                break;
            }
        }
        // No number lies between them.
        let share = (above - goal) / (above - below);
        match share > 0.0 {
            true => ([low, high], share.min(1.0)),
            false => ([if low.is_finite() { low } else { high }; 2], 0.0),
        }
    }

    /// Next to the leap of an entry between two numbers, the one that is nearest to a third.
    fn leap_between(self, row: &Row<'_>, t: f64, [low, high]: [f64; 2], near: f64) -> Option<f64> {
        if !D::LEAPS {
            return None;
        }
        let Bounds { upper, .. } = bounds(row.data);
        let below = |j: usize| self.0.best(1.0 - 8.0 * UNIT, row.p[j]).0;
        let leaps = (0..row.p.len()).filter(|&j| upper[j] > below(j));
        let sides = leaps.flat_map(|j| {
            let leap = t * (row.w[j] - row.maximum) - 1.0;
            [-4.0, 4.0].map(|side| leap + side * UNIT * leap.abs().max(1.0))
        });
        let apart = |nu: &f64| (nu - near).abs();
        sides.filter(|nu| *nu > low && *nu < high).min_by(|a, b| apart(a).total_cmp(&apart(b)))
    }

    fn priced(self, row: &Row<'_>, t: f64, [low, high]: [f64; 2], share: f64) -> Priced {
        let one = self.sums(row, t, low);
        let mixed = |one: f64, other: f64| one + share * (other - one);
        let (value, price) = match share > 0.0 {
            true => {
                let other = self.sums(row, t, high);
                (mixed(one.value, other.value), mixed(one.price, other.price))
            }
            false => (one.value, one.price),
        };
        Priced {
            t,
            nu: mixed(low, high),
            value: value.min(0.0),
            price: price.max(0.0),
            slope: None,
        }
    }

    /// The cheapest row of the largest value: at u above the objective at which the mass ends, at l below it, and
    /// there as h has it for the rest.
    fn write_face(self, row: Row<'_>, y: &mut [f64]) {
        let bounds = bounds(row.data);
        let Bounds { lower, upper } = bounds;
        let upper = |j: usize| self.upper(row.p[j], upper[j]);
        falling(row, |order| {
            let mut rest: f64 = row.p.iter().zip(lower).map(|(p, l)| p - l).sum();
            y.copy_from_slice(lower);
            let mut groups = order.chunk_by(|&i, &j| row.w[i as usize] == row.w[j as usize]);
            for group in groups.by_ref() {
                let room: f64 = group.iter().map(|&j| upper(j as usize) - lower[j as usize]).sum();
                if room > rest {
                    // What rounding makes of nothing may be dear: masses are no more exact.
                    if rest > 4.0 * UNIT {
                        self.share_out(&row, bounds, group, rest, y);
                    }
                    break;
                }
                group.iter().for_each(|&j| y[j as usize] = upper(j as usize));
                rest -= room;
            }
        });
    }

    /// Entries of one objective get so much above their lower bounds, at the h that has that mass.
    fn share_out(self, row: &Row<'_>, bounds: Bounds<'_>, group: &[u32], rest: f64, y: &mut [f64]) {
        let at = |h: f64, j: &u32| self.entry(row, bounds, *j as usize, h)[0];
        let mass = |h: f64| group.iter().map(|j| at(h, j) - bounds.lower[*j as usize]).sum::<f64>();
        let (mut low, mut high) = (-1.0, 1.0);
        while mass(low) > rest && low > -1e300 {
            low *= 4.0;
        }
        while mass(high) < rest && high < 1e300 {
            high *= 4.0;
        }
        for _ in 0..STEPS {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            *(if mass(middle) > rest { &mut high } else { &mut low }) = middle;
        }
        let (from, to) = (mass(low), mass(high));
        let share = if to > from { ((rest - from) / (to - from)).clamp(0.0, 1.0) } else { 0.0 };
        for j in group {
            let (from, to) = (at(low, j), at(high, j));
            y[*j as usize] = from + share * (to - from);
        }
    }

    /// Newton's method on mass and value at once; `None` where that does not settle.
    fn joint(self, row: &Row<'_>, u: f64, slack: f64, near: Priced) -> Option<Priced> {
        let (mut t, mut nu) = (near.t, near.nu);
        for _ in 0..JOINT {
            let Sums { mass, value, price, slope: [a, b, c] } = self.sums(row, t, nu);
            let (over, short) = (mass - 1.0, u - value);
            if over.abs() <= 8.0 * UNIT && short.abs() <= slack.max(8.0 * UNIT * row.range) {
                return Some(Priced {
                    t,
                    nu,
                    value: value.min(0.0),
                    price: price.max(0.0),
                    slope: None,
                });
            }
            // dΣy = b·dt − a·dν = −over, dΣyz = c·dt − b·dν = short.
            let det = a * c - b * b;
            let dt = (short * a + over * b) / det;
            let step = (over + b * dt) / a;
            let usable =
                det > 1e-12 * a * c && dt.is_finite() && step.is_finite() && t + dt > 0.25 * t;
            if !usable || dt > 4.0 * t {
                return None;
            }
            (t, nu) = (t + dt, nu + step);
        }
        None
    }
}

impl<D: Entrywise> Set for Within<D> {
    fn name(&self) -> &'static str {
        D::NAME
    }

    fn title(&self) -> &'static str {
        D::TITLE
    }

    fn formula(&self) -> &'static str {
        D::FORMULA
    }

    fn needs(&self) -> Needs {
        Needs::Intervals
    }

    fn distance(&self, p: &[f64], y: &[f64], data: EntryData<'_>) -> f64 {
        let Bounds { lower, upper } = bounds(data);
        let entry = |j: usize| match y[j] {
            y if y > upper[j] + 1e-12 || y < lower[j] - 1e-12 => f64::INFINITY,
            y => self.0.at(y.clamp(lower[j], upper[j]), p[j])[0],
        };
        (0..p.len()).map(entry).sum::<f64>().max(0.0)
    }

    fn leaves_support(&self) -> bool {
        false
    }

    fn degree(&self) -> i32 {
        D::DEGREE
    }

    fn diameter(&self) -> f64 {
        self.0.ball().diameter()
    }

    fn vacuous(&self, p: &[f64], _: bool, data: EntryData<'_>) -> f64 {
        let Bounds { lower, upper } = bounds(data);
        let entry = |j: usize| {
            let ends = [lower[j], self.upper(p[j], upper[j])].map(|y| self.0.at(y, p[j])[0]);
            ends[0].max(ends[1])
        };
        (0..p.len()).map(entry).sum()
    }

    fn geometry(&self) -> Geometry {
        Geometry::Euclidean
    }

    fn cone(&self) -> Option<&dyn Cone> {
        self.0.cone().map(|_| self as &dyn Cone)
    }

    fn prox(&self, geometry: Geometry) -> Option<&dyn Prox> {
        self.0.prox(geometry)
    }

    fn proof(&self) -> Option<&dyn Proof> {
        Some(self)
    }

    fn curve(&self) -> Option<&dyn Curve> {
        Some(self)
    }
}

impl<D: Entrywise> Curve for Within<D> {
    fn sorts(&self) -> bool {
        true
    }

    fn at(&self, row: Row<'_>, t: f64, near: Option<Priced>) -> Priced {
        let near = near.filter(|near| near.t.is_finite() && near.t > 0.0);
        let (nu, share) = self.shift(&row, t, near);
        self.priced(&row, t, nu, share)
    }

    fn peak(&self, row: Row<'_>) -> f64 {
        let mut y = vec![0.0; row.p.len()];
        self.write_face(row, &mut y);
        y.iter().zip(row.w).map(|(y, w)| y * (w - row.maximum)).sum::<f64>().min(0.0)
    }

    fn face(&self, row: Row<'_>) -> f64 {
        let mut y = vec![0.0; row.p.len()];
        self.write_face(row, &mut y);
        self.distance(row.p, &y, row.data)
    }

    fn price(&self, row: Row<'_>, u: f64, slack: f64, near: Option<Priced>) -> Priced {
        let near = near.filter(|near| near.t.is_finite() && near.t > 0.0);
        let found = near.and_then(|near| self.joint(&row, u, slack, near));
        found.unwrap_or_else(|| super::bracket::price(self, row, u, slack, near))
    }

    fn kernel(&self, row: Row<'_>, at: Priced, y: &mut [f64]) -> Beyond {
        if at.t.is_infinite() {
            self.write_face(row, y);
            return Beyond::Nothing;
        }
        // Where the mass leaps, the row is a mixture.
        let (nu, share) = self.shift(&row, at.t, Some(at));
        let bounds = bounds(row.data);
        for (j, y) in y.iter_mut().enumerate() {
            let of = |nu: f64| self.entry(&row, bounds, j, at.t * (row.w[j] - row.maximum) - nu)[0];
            *y = of(nu[0]);
            if share > 0.0 {
                *y += share * (of(nu[1]) - *y);
            }
        }
        Beyond::Nothing
    }
}

/// Bounds of entries are the program's.
impl<D: Entrywise> Cone for Within<D> {
    fn scalings(&self) -> usize {
        self.0.cone().map_or(1, Cone::scalings)
    }

    fn scale(&self, entry: Entry, scaling: usize) -> f64 {
        self.0.cone().map_or(1.0, |cone| cone.scale(entry, scaling))
    }

    fn reach(&self, budget: f64) -> f64 {
        self.0.cone().map_or(1.0, |cone| cone.reach(budget))
    }

    fn may_vanish(&self, entry: Entry) -> bool {
        entry.bounds[0] > 0.0 || self.0.cone().is_none_or(|cone| cone.may_vanish(entry))
    }

    fn budget(&self, program: &mut Program, moved: &[Moved]) {
        if let Some(cone) = self.0.cone() {
            cone.budget(program, moved);
        }
    }
}

/// σ = Σp, and rows are ŷ/σ with l ≤ ŷ ≤ u, Σŷ = σ, at d(ŷ, p)/σ^e. With c ≤ σ^(1−e),
///   ψ ≤ ν + Σφ(h)/σ,   φ(h) = max_{l ≤ y ≤ u} hy − c·δ(y, p).
/// The computed y has the sum σ but for rounding, and what is missing or too much goes to entries that have room for
/// it, at no more than δ at twice that.
impl<D: Entrywise> Proof for Within<D> {
    fn read(&self, row: &ProofRow<'_>, t: f64, nu: f64) -> Reading {
        let Bounds { lower, upper } = bounds(row.data);
        let n = row.p.len();
        let upper: Vec<f64> = (0..n).map(|j| self.upper(row.p[j], upper[j])).collect();
        let mass = Interval::fine_sum(row.p.iter().copied());
        // Steep multipliers leave few digits in h: a small shift brings the mass to σ.
        let height = |j: usize| t.mul_add(row.w[j] - row.maximum, -nu);
        let offset = self.offset(row, mass.mid, &height);
        let h = |j: usize| height(j) - offset;
        let mut y: Vec<f64> =
            (0..n).map(|j| self.0.best(h(j), row.p[j]).0.clamp(lower[j], upper[j])).collect();
        let c = if D::CURVED { (Interval::from(1.0) / mass).lo() } else { 1.0 };
        // h has two roundings, and h ± size a third.
        let size = |j: usize| 2.1 * UNIT * (height(j).abs() + h(j).abs()) + TINY;
        let phi = (0..n).map(|j| {
            let size = size(j);
            let at = y[j].max(self.0.least(row.p[j]));
            let [price, slope] = self.0.enclosed(at, row.p[j]).map(|x| x * c);
            let excess = (slope * -1.0 + h(j)).wider(size);
            let room = |to: f64| or_infinite(above((excess * (to - at)).hi())).max(0.0);
            let more = room(lower[j]).max(room(upper[j]));
            let within = ((Interval::from(h(j)) * at + price * -1.0) + more).wider(size * at).hi();
            let free = |h: f64| or_infinite(self.0.free(h, row.p[j], c));
            within.min(free(h(j) - size).max(free(h(j) + size)))
        });
        let dual = (Interval::fine_sum(phi) / mass + offset + nu).hi();
        // Entries on a leap may have any mass, and those next to it much more or less.
        let is_on_leap = |j: usize| {
            let band = 1e-12 + 2.0 * size(j);
            (h(j) - 1.0).abs() <= band && self.0.best(1.0 - band, row.p[j]).0 < upper[j]
        };
        let slope = |j: usize| match self.0.best(h(j), row.p[j]) {
            _ if !D::LEAPS => 0.0,
            _ if is_on_leap(j) => f64::INFINITY,
            (y, slope) if y > lower[j] && y < upper[j] => slope,
            _ => 0.0,
        };
        let slopes: Vec<f64> = (0..n).map(slope).collect();
        for _ in 0..2 {
            bring_to(&mut y, mass.mid, row.p, lower, &upper, &slopes);
        }
        let missing = Interval::fine_sum(y.iter().copied().chain(row.p.iter().map(|p| -p))).size();
        let mut spent = self.spent(row, &y, mass, missing);
        let mut off = Interval::from(missing) * row.depth / mass;
        if spent.is_nan() {
            // Intervals narrower than roundings: the nominal row.
            y.copy_from_slice(row.p);
            (spent, off) = (0.0, Interval::default());
        }
        let value = Interval::dot((0..n).map(|j| (y[j], row.w[j] - row.maximum))) / mass;
        let astray = (mass + -1.0).size() / mass.lo();
        Reading { dual, value: value.wider(off.hi()), spent: spent * (1.0 + 4.0 * astray) }
    }
}

impl<D: Entrywise> Within<D> {
    /// A shift of all heights after which the row has the mass σ, if there is one; any serves.
    fn offset(self, row: &ProofRow<'_>, goal: f64, height: &dyn Fn(usize) -> f64) -> f64 {
        let Bounds { lower, upper } = bounds(row.data);
        let missing = |by: f64| {
            let best = |j: usize| self.0.best(height(j) - by, row.p[j]).0;
            let y = |j: usize| best(j).clamp(lower[j], self.upper(row.p[j], upper[j]));
            let missing = (0..row.p.len()).map(y).sum::<f64>() - goal;
            // Rows that leave no choice never miss by more than this.
            if missing.abs() <= 4.0 * UNIT * row.p.len() as f64 { 0.0 } else { missing }
        };
        let (mut low, mut high, mut reach) = (0.0, 0.0, 1e-12);
        let up = missing(0.0) > 0.0;
        while if up { missing(high) > 0.0 } else { missing(low) < 0.0 } {
            match up {
                true => (low, high) = (high, reach),
                false => (low, high) = (-reach, low),
            }
            reach *= 16.0;
            if reach > 1e300 {
                return 0.0;
            }
        }
        for _ in 0..STEPS {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            *(if missing(middle) > 0.0 { &mut low } else { &mut high }) = middle;
        }
        if up { high } else { low }
    }

    /// At least d of a row with the mass σ that is y but for what is missing; NaN where nothing has room for that.
    fn spent(self, row: &ProofRow<'_>, y: &[f64], mass: Interval, missing: f64) -> f64 {
        let Bounds { lower, upper } = bounds(row.data);
        let n = y.len();
        if y == row.p {
            return 0.0;
        }
        let most = 2.0 * missing;
        let cost = |j: usize, by: f64| {
            let [here, there] = [y[j], y[j] + by].map(|y| self.0.enclosed(y, row.p[j])[0]);
            or_infinite((there + here * -1.0).hi()).max(0.0)
        };
        let least = |room: &dyn Fn(usize) -> bool, by: f64| {
            let open = (0..n).filter(|&j| room(j)).map(|j| cost(j, by));
            open.fold(f64::INFINITY, f64::min)
        };
        // A single row leaves no choice: that is p.
        let up = least(&|j| self.upper(row.p[j], upper[j]) - y[j] > most, most);
        let down = least(&|j| y[j] - lower[j] > most, -most);
        let entries = || (0..n).map(|j| self.0.enclosed(y[j], row.p[j])[0]);
        let off: f64 = entries().map(|d| d.rad).sum();
        let sum = Interval::fine_sum(entries().map(|d| d.mid));
        let spent = sum.wider(1.01 * off + up.max(down)) / mass;
        if spent.hi().is_finite() { spent.hi().max(0.0) } else { f64::NAN }
    }
}

/// Brings the sum of y to a goal, at the expense of the steepest entries, or else of those of most nominal mass.
fn bring_to(y: &mut [f64], goal: f64, p: &[f64], lower: &[f64], upper: &[f64], slopes: &[f64]) {
    let mut missing = Interval::fine_sum(y.iter().map(|y| -y).chain([goal])).mid;
    let mut order: Vec<usize> = (0..y.len()).collect();
    order.sort_by(|&i, &j| slopes[j].total_cmp(&slopes[i]).then(p[j].total_cmp(&p[i])));
    for j in order {
        // Large entries have no room for less than a rounding, and small ones may be dear.
        if missing.abs() <= 2.0 * UNIT * goal {
            break;
        }
        let to = (y[j] + missing).clamp(lower[j], upper[j]);
        missing -= to - y[j];
        y[j] = to;
    }
}
