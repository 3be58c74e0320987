//! What a certificate's two numbers prove of a row, (t, δ).

use std::cmp::Ordering;

use super::{Linf, shifted};
use crate::certificate::{Interval, Proof, ProofRow, Reading, above, or_infinite, roundings};

/// Objectives that the verifier tries, of as many states as they are.
const PLACES: usize = 64;

/// With σ = Σp, h = tz − ν and shares g of what entries with h < 0 give,
///   A = Σ_{h>0} ωh + Σ_{h<0} (1 − g)ω|h|:
/// where A ≤ 1, ψ(t) ≤ ν + Σ_{h>0} hp/σ + Σ_{h<0} (1 − g)hp/σ. As z ≤ 0, ψ falls, and ψ(t) ≤ ψ(ft) makes up for A > 1
/// with f = 1/A. For a ν the best g are 1 below some p/ω and 0 above it, so that A = 1. The row moves by computed steps
/// s ≈ δω, and one entry has what is left of σ.
impl Proof for Linf {
    fn read(&self, row: &ProofRow<'_>, t: f64, delta: f64) -> Reading {
        if !(0.0..1e300).contains(&delta) {
            return Reading::NOTHING;
        }
        let mass = Interval::fine_sum(row.p.iter().copied());
        let filled = Filled::new(row, delta);
        let (value, spent) = filled.moved(row);
        let (value, spent) = (value / mass, (spent / mass).hi());
        Reading { dual: filled.dual(row, t, mass), value, spent }
    }
}

/// A row as the verifier moves it.
struct Filled {
    delta: f64,
    order: Vec<usize>,
    step: Vec<f64>,
    /// Of the pivot in the order, and what it gets.
    place: usize,
    rest: f64,
}

impl Filled {
    fn new(row: &ProofRow<'_>, delta: f64) -> Filled {
        let mut order: Vec<usize> = (0..row.p.len()).collect();
        order.sort_unstable_by(|&i, &j| row.w[j].total_cmp(&row.w[i]));
        let step: Vec<f64> = (0..order.len()).map(|j| delta / row.data.weight(j)).collect();
        // At δ = 0 the direction tells the pivot.
        let takes = |j: usize| if delta > 0.0 { step[j] } else { 1.0 / row.data.weight(j) };
        let gives = |j: usize| match delta > 0.0 {
            true => step[j].min(row.p[j]),
            false if row.p[j] > 0.0 => takes(j),
            false => 0.0,
        };
        let mut below: f64 = (0..step.len()).map(gives).sum();
        let (mut above, mut place) = (0.0, 0);
        for (at, &j) in order.iter().enumerate() {
            (below, place) = (below - gives(j), at);
            if above + takes(j) >= below {
                break;
            }
            above += takes(j);
        }
        let rest = if delta > 0.0 { below - above } else { 0.0 };
        Filled { delta, order, step, place, rest }
    }

    /// ⟨z, ŷ⟩ and max w|ŷ − p|, NaN unless ŷ ≥ 0.
    fn moved(&self, row: &ProofRow<'_>) -> (Interval, Interval) {
        let mut y = row.p.to_vec();
        for (place, &j) in self.order.iter().enumerate() {
            y[j] = shifted(row.p[j], place.cmp(&self.place), self.step[j], self.rest);
        }
        let left = |last: usize| {
            let others = (0..y.len()).filter(|&j| j != last).map(|j| -y[j]);
            Interval::fine_sum(others.chain(row.p.iter().copied()))
        };
        // Where nothing may be left for the pivot, the largest entry makes up for roundings.
        let largest = (0..y.len()).max_by(|&i, &j| y[i].total_cmp(&y[j]));
        let mut last = self.order[self.place];
        let mut rest = left(last);
        if rest.lo() < 0.0 {
            last = largest.unwrap_or(last);
            rest = left(last);
        }
        let z = |j: usize| row.w[j] - row.maximum;
        let value =
            Interval::dot((0..y.len()).map(|j| (if j == last { rest.mid } else { y[j] }, z(j))));
        let value = value.wider(rest.rad * z(last).abs());
        let away = |j: usize| match j == last {
            true => rest + -row.p[j],
            false => Interval::from(y[j]) + -row.p[j],
        };
        let far = (0..y.len()).map(|j| (Interval::from(away(j).size()) * row.data.weight(j)).hi());
        let spent =
            if rest.lo() >= 0.0 { far.map(or_infinite).fold(0.0, f64::max) } else { f64::NAN };
        (value, spent.into())
    }

    /// tz at a place.
    fn kink(&self, row: &ProofRow<'_>, t: f64, place: usize) -> f64 {
        t * (row.w[self.order[place]] - row.maximum)
    }

    /// The next place of another objective, a higher or a lower one.
    fn next(&self, row: &ProofRow<'_>, place: usize, up: bool) -> Option<usize> {
        let w = |place: usize| row.w[self.order[place]];
        let other = |at: &usize| w(*at) != w(place);
        if up { (0..place).rev().find(other) } else { (place + 1..self.order.len()).find(other) }
    }

    /// At least ψ(t): the least bound at ν that are tz near the pivot, or between two such if that has A = 1.
    fn dual(&self, row: &ProofRow<'_>, t: f64, mass: Interval) -> f64 {
        let mut heavy: Vec<usize> = (0..row.p.len()).filter(|&j| row.p[j] > 0.0).collect();
        let worth = |j: usize| row.p[j] * row.data.weight(j);
        heavy.sort_unstable_by(|&i, &j| worth(j).total_cmp(&worth(i)));
        let at = |place: usize| Multiplier::new(row, t, self.kink(row, t, place), &heavy);
        let mut place = self.place;
        let mut best = at(place);
        let mut least = best.bound(row, mass);
        for up in [false, true] {
            for _ in 0..PLACES {
                let Some(next) = self.next(row, place, up) else { break };
                let other = at(next);
                let bound = other.bound(row, mass);
                if bound < least {
                    (place, best, least) = (next, other, bound);
                } else {
                    break;
                }
            }
        }
        for next in [false, true].into_iter().filter_map(|up| self.next(row, place, up)) {
            let there = at(next);
            let margins = [self.delta, best.margin, there.margin];
            for (margin, share) in margins.into_iter().flat_map(|m| [(m, 0.0), (m, 1.0)]) {
                let [from, to] = [best.nu, there.nu].map(|nu| Multiplier { t, nu, margin, share });
                let [own, other] = [from, to].map(|at| at.size(row).mid);
                let part = (1.0 - own) / (other - own);
                if part > 0.0 && part < 1.0 {
                    let nu = from.nu + part * (to.nu - from.nu);
                    least = least.min(Multiplier { nu, ..from }.bound(row, mass));
                }
            }
        }
        least
    }
}

/// ν, and who gives: those with p/ω below a margin, and a share of those at it.
#[derive(Clone, Copy)]
struct Multiplier {
    t: f64,
    nu: f64,
    margin: f64,
    share: f64,
}

impl Multiplier {
    /// The margin for which A = 1; `heavy` are entries by falling p/ω.
    fn new(row: &ProofRow<'_>, t: f64, nu: f64, heavy: &[usize]) -> Multiplier {
        let h = |j: usize| t.mul_add(row.w[j] - row.maximum, -nu) / row.data.weight(j);
        let mut room = 1.0 - (0..row.p.len()).map(|j| h(j).max(0.0)).sum::<f64>();
        let worth = |j: usize| row.p[j] * row.data.weight(j);
        for group in heavy.chunk_by(|&i, &j| worth(i) == worth(j)) {
            let size = group.iter().map(|&j| -h(j).min(0.0)).sum::<f64>();
            if size > room {
                let share = (1.0 - room.max(0.0) / size).clamp(0.0, 1.0);
                return Multiplier { t, nu, margin: worth(group[0]), share };
            }
            room -= size;
        }
        Multiplier { t, nu, margin: 0.0, share: 1.0 }
    }

    /// (h, 1 − g) of entry j; h has one rounding.
    fn kept(&self, row: &ProofRow<'_>, j: usize) -> (f64, f64) {
        let h = self.t.mul_add(row.w[j] - row.maximum, -self.nu);
        let given = match (row.p[j] * row.data.weight(j)).total_cmp(&self.margin) {
            _ if h >= 0.0 => 0.0,
            Ordering::Less => 1.0,
            Ordering::Equal => self.share,
            Ordering::Greater => 0.0,
        };
        (h, 1.0 - given)
    }

    /// A.
    fn size(&self, row: &ProofRow<'_>) -> Interval {
        let counted = (0..row.p.len()).map(|j| {
            let (h, kept) = self.kept(row, j);
            kept * h.abs() / row.data.weight(j)
        });
        let size = Interval::fine_sum(counted);
        size.wider(roundings(5.0) * size.mid)
    }

    /// What follows of ψ(t).
    fn bound(&self, row: &ProofRow<'_>, mass: Interval) -> f64 {
        let most = self.size(row).hi();
        let terms = (0..row.p.len()).map(|j| {
            let (h, kept) = self.kept(row, j);
            row.p[j] * h * kept
        });
        let size: f64 = terms.clone().map(f64::abs).sum();
        let sum = Interval::fine_sum(terms).wider(roundings(5.0) * size);
        let dual = (sum / mass + self.nu).hi();
        let factor = if most <= 1.0 { 1.0 } else { (1.0 / most).next_down() };
        if dual < 0.0 { above(dual * factor) } else { dual }
    }
}
