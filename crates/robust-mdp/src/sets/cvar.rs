//! Conditional value at risk: y ≤ (1 + δ)p, d(y, p) = max_j y_j/p_j − 1. With an (s,a)-rectangular budget β/(1 − β)
//! the worst case of a row is the CVaR at level β, the mean of its worst share 1 − β (Rockafellar and Uryasev).
//!
//! Vertices of the price curve are p on the m best states, P_m = Σp, A_m = Σp·z: value A_m/P_m at the price
//! 1/P_m − 1. Between the last two of them g has the slope t = 1/(A_m − P_m·z_{m+1}); a point there has the share
//! of the way to the higher one as its second number.

use super::cone::{Cone, Entry, Moved, Program};
use super::order::falling;
use super::set::{Beyond, Curve, Priced, RowKind, Set};
use super::{Distance, EntryData, UncertaintySet};
use crate::certificate::{Interval, Proof, ProofRow, Reading, UNIT, roundings};
use crate::rows::Row;

/// A multiplier this near to that of an edge is meant to be it.
const NEAR: f64 = 1e-12;
/// How often the verifier raises a multiplier, each time by twice as much.
const RAISES: usize = 60;
/// Edges whose multipliers are as near to that of a proof, as a share, may be meant.
const ALIKE: f64 = 1e-6;

/// max y/p − 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cvar;

impl UncertaintySet {
    /// Every row is worth its conditional value at risk: the mean over its worst share 1 − `level` of the mass.
    pub fn cvar(level: f64) -> Self {
        UncertaintySet::new(Distance::Cvar, radius_of(level)).per_action()
    }
}

fn radius_of(level: f64) -> f64 {
    level / (1.0 - level)
}

/// Σp and Σpz of the best states, as many as all of the same objective.
#[derive(Clone, Copy, Debug, Default)]
struct Vertex {
    mass: f64,
    sum: f64,
}

impl Vertex {
    fn value(self) -> f64 {
        (self.sum / self.mass).min(0.0)
    }

    fn price(self, all: f64) -> f64 {
        (all / self.mass - 1.0).max(0.0)
    }

    /// 1/t of the edge to the vertex that has the next states too.
    fn width(self, z: f64) -> f64 {
        self.sum - self.mass * z
    }
}

/// Visits the vertices from the row's maximum on, each with z of the states to come, until told to stop.
fn walk(row: Row<'_>, order: &[u32], mut stop: impl FnMut(Vertex, f64) -> bool) -> Vertex {
    let mut at = Vertex::default();
    let open = order.iter().map(|&j| j as usize).filter(|&j| row.p[j] > 0.0);
    let mut last = f64::INFINITY;
    for j in open {
        let z = row.w[j] - row.maximum;
        if z < last && at.mass > 0.0 && stop(at, z) {
            return at;
        }
        at = Vertex { mass: at.mass + row.p[j], sum: at.sum + row.p[j] * z };
        last = z;
    }
    at
}

/// The vertices of lowest and of highest value at t, and t to the digit.
fn corners(row: Row<'_>, t: f64) -> ([Vertex; 2], f64) {
    falling(row, |order| {
        let mut edge = t;
        let high = walk(row, order, |at, z| {
            edge = 1.0 / at.width(z);
            t * at.width(z) >= 1.0 - NEAR
        });
        let low = walk(row, order, |at, z| t * at.width(z) > 1.0 + NEAR);
        ([low, high], if low.mass > high.mass { edge } else { t })
    })
}

impl Set for Cvar {
    fn name(&self) -> &'static str {
        "cvar"
    }

    fn title(&self) -> &'static str {
        "CVaR"
    }

    fn formula(&self) -> &'static str {
        "max y/y⁰ − 1"
    }

    fn distance(&self, p: &[f64], y: &[f64], _: EntryData<'_>) -> f64 {
        let ratio = |(p, y): (&f64, &f64)| if *y > 0.0 { y / p - 1.0 } else { 0.0 };
        p.iter().zip(y).map(ratio).fold(0.0, f64::max)
    }

    fn leaves_support(&self) -> bool {
        false
    }

    fn adds_up(&self) -> bool {
        false
    }

    fn radius_of_level(&self, level: f64) -> Option<f64> {
        Some(radius_of(level))
    }

    fn level_of_radius(&self, radius: f64) -> Option<f64> {
        Some(radius / (1.0 + radius))
    }

    fn diameter(&self) -> f64 {
        f64::INFINITY
    }

    fn vacuous(&self, p: &[f64], _: bool, _: EntryData<'_>) -> f64 {
        1.0 / p.iter().copied().filter(|p| *p > 0.0).fold(1.0, f64::min) - 1.0
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

impl Curve for Cvar {
    fn sorts(&self) -> bool {
        true
    }

    fn at(&self, row: Row<'_>, t: f64, _: Option<Priced>) -> Priced {
        Priced { t, ..self.ends(row, t, None)[0] }
    }

    fn ends(&self, row: Row<'_>, t: f64, _: Option<Priced>) -> [Priced; 2] {
        let ([low, high], t) = corners(row, t);
        let all = row.p.iter().sum();
        let priced =
            |nu, at: Vertex| Priced { t, nu, value: at.value(), price: at.price(all), slope: None };
        [priced(0.0, low), priced(if low.mass > high.mass { 1.0 } else { 0.0 }, high)]
    }

    fn price(&self, row: Row<'_>, u: f64, _: f64, _: Option<Priced>) -> Priced {
        let all: f64 = row.p.iter().sum();
        falling(row, |order| {
            let mut before = Vertex::default();
            let mut width = 0.0;
            // The first vertex whose value is no higher than u, and the one before it.
            let after = walk(row, order, |at, z| {
                let reached = at.mass > 0.0 && at.value() <= u;
                if !reached {
                    (before, width) = (at, at.width(z));
                }
                reached
            });
            let (low, high) = (after.value(), before.value());
            let share = ((u - low) / (high - low)).clamp(0.0, 1.0);
            let share = if share.is_nan() { 1.0 } else { share };
            let [from, to] = [after, before].map(|at| at.price(all));
            Priced {
                t: 1.0 / width,
                nu: share,
                value: low + share * (high - low),
                price: from + share * (to - from),
                slope: None,
            }
        })
    }

    fn face(&self, row: Row<'_>) -> f64 {
        let top = falling(row, |order| walk(row, order, |_, _| true));
        top.price(row.p.iter().sum())
    }

    fn kernel(&self, row: Row<'_>, at: Priced, y: &mut [f64]) -> Beyond {
        let ([low, high], share) = match at.t.is_finite() {
            true => (corners(row, at.t).0, at.nu),
            false => ([falling(row, |order| walk(row, order, |_, _| true)); 2], 0.0),
        };
        // Of the vertices, in the same order.
        let (mut seen, of_low, of_high) = (0.0, (1.0 - share) / low.mass, share / high.mass);
        falling(row, |order| {
            for j in order.iter().map(|&j| j as usize) {
                let p = row.p[j];
                seen += p;
                let within = |at: Vertex| if seen <= at.mass { 1.0 } else { 0.0 };
                y[j] = p * (of_low * within(low) + of_high * within(high));
            }
        });
        Beyond::Nothing
    }

    fn kind(&self) -> RowKind<'_> {
        RowKind::PiecewiseLinear
    }
}

/// y ≤ (1 + τ)p with a share τ a row, Σκτ ≤ α.
impl Cone for Cvar {
    fn scale(&self, entry: Entry, _: usize) -> f64 {
        self.reach(entry.budget / entry.weight) * entry.p
    }

    fn reach(&self, budget: f64) -> f64 {
        budget
    }

    fn budget(&self, program: &mut Program, moved: &[Moved]) {
        let Some(last) = moved.last() else { return };
        let shares: Vec<usize> = (0..=last.row).map(|_| program.variable()).collect();
        let mut kappa = vec![0.0; shares.len()];
        moved.iter().for_each(|z| kappa[z.row] = z.entry.weight / z.entry.budget);
        program.line(1.0, shares.iter().copied().zip(kappa));
        for z in moved {
            program.line(0.0, [(z.variable, 1.0), (shares[z.row], -z.entry.p / z.scale)]);
        }
        program.nonnegative();
    }
}

/// For every ν and y ≤ (1 + δ)p/σ, σ = Σp, with E = Σp(tz − ν)₊ ≤ σ,
///   t⟨z, y⟩ − δ ≤ ν + (1 + δ)E/σ − δ ≤ ν + E/σ.
/// The row is a mixture of two vertices, p on states of which none is left out above one that is not.
impl Proof for Cvar {
    fn read(&self, row: &ProofRow<'_>, t: f64, share: f64) -> Reading {
        if !(0.0..=1.0).contains(&share) {
            return Reading::NOTHING;
        }
        let mut order: Vec<(f64, f64)> = row.entries().filter(|e| e.0 > 0.0).collect();
        order.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
        let all = Interval::fine_sum(order.iter().map(|e| e.0));
        let (mut mass, mut sum) = (0.0, 0.0);
        let (mut low, mut high) = (0, 0);
        let mut nu = f64::NAN;
        // The entry whose edge is nearest to t, and how near.
        let (mut nearest, mut apart) = (0, ALIKE);
        for (k, &(p, z)) in order.iter().enumerate() {
            let width = sum - mass * z;
            if mass > 0.0 && z < 0.0 && (t * width - 1.0).abs() < apart {
                (nearest, apart) = (k, (t * width - 1.0).abs());
            }
            low = if mass == 0.0 || t * width <= 1.0 + 2.0 * NEAR { k + 1 } else { low };
            high =
                if mass == 0.0 || z == 0.0 || t * width < 1.0 - 2.0 * NEAR { k + 1 } else { high };
            if nu.is_nan() || t * width < all.mid {
                (mass, sum) = (mass + p, sum + p * z);
                nu = (t * sum - all.mid) / mass;
            }
        }
        if low == high && share > 0.0 && share < 1.0 && apart < ALIKE {
            // A mixture is meant, of an edge that roundings hide.
            (low, high) = (nearest + 1, nearest);
        }
        let dual = (excess(&order, t, &mut nu, all) / all + nu).hi();
        let vertex = |m: usize| {
            let mass = Interval::fine_sum(order[..m].iter().map(|e| e.0));
            (Interval::dot(order[..m].iter().copied()) / mass, all / mass + -1.0)
        };
        let [(low_value, low_price), (high_value, high_price)] = [low, high].map(vertex);
        let kept = Interval::from(1.0) + -share;
        let mixed = |low: Interval, high: Interval| {
            (low * kept.mid + high * share).wider(kept.rad * low.size())
        };
        Reading {
            dual,
            value: mixed(low_value, high_value),
            spent: mixed(low_price, high_price).hi(),
        }
    }
}

/// E ≤ σ, after ν was raised by as many roundings as that takes; NaN if no number of them will do.
fn excess(order: &[(f64, f64)], t: f64, nu: &mut f64, all: Interval) -> Interval {
    let mut step = UNIT * (1.0 + nu.abs());
    for _ in 0..RAISES {
        // tz − ν has one rounding, and a product with it two.
        let above = order.iter().map(|&(p, z)| p * t.mul_add(z, -*nu).max(0.0));
        let excess = Interval::fine_sum(above);
        let excess = excess.wider(roundings(3.0) * excess.mid);
        if excess.hi() <= all.lo() {
            return excess;
        }
        *nu += step;
        step *= 2.0;
    }
    f64::NAN.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: [f64; 3] = [0.5, 0.25, 0.25];
    const W: [f64; 3] = [-2.0, -1.0, 0.0];

    fn row() -> Row<'static> {
        let data = EntryData::default();
        Row { p: &P, w: &W, maximum: 0.0, range: 2.0, outside: None, order: None, data }
    }

    /// Vertices: ¼ of the mass, worth 0 at the price 3; ½, worth −½ at 1; all, worth −5/4.
    #[test]
    fn the_worst_share_counts() {
        assert_eq!((Cvar.face(row()), Cvar.vacuous(&P, false, row().data)), (3.0, 3.0));
        // The edge from all to the worst half has the slope 1/(−¼ + ½·2) = 4/3.
        let at = Cvar.price(row(), -0.875, 0.0, None);
        assert_eq!((at.t, at.nu, at.price), (4.0 / 3.0, 0.5, 0.5));
        let mut y = [0.0; 3];
        Cvar.kernel(row(), at, &mut y);
        assert_eq!(y, [0.25, 0.375, 0.375]);
        assert_eq!(Cvar.ends(row(), 4.0 / 3.0, None).map(|end| end.price), [0.0, 1.0]);
    }

    #[test]
    fn a_proof_meets_what_it_proves() {
        let read = Cvar.read(&ProofRow::new(&P, &W), 4.0 / 3.0, 0.5);
        let gain = -0.875 * 4.0 / 3.0 - 0.5;
        assert!(read.dual >= gain && read.dual <= gain + 1e-12, "{read:?}");
        assert!(read.value.lo() <= -0.875 && read.value.hi() >= -0.875, "{read:?}");
        assert!((0.5..=0.5 + 1e-13).contains(&read.spent), "{read:?}");
    }
}
