//! The L1 set d(y, p) = c·Σ|y − p|, c = 1, and total variation, c = ½: piecewise linear rows.
//!
//! A unit of mass that moves from state j to the row's maximum gains −z_j and costs 2c, whatever j is.
//! So donors give in the order of rising z, and g has the slope t = 2c/(−z) of the donor that is giving.
//! At t all donors with t·(−z) > 2c have given everything; of those with t·(−z) = 2c (a tie) a share f has
//! moved, the row's second number.

use super::cone::{Cone, Entry, Moved, Program};
use super::proximal::{Prox, ProximalEntry, Separable};
use super::set::{Beyond, Curve, Priced, RowKind, Set};
use super::weighted_l1::{self, Weighted};
use super::{Distance, EntryData, Needs, UncertaintySet};
use crate::certificate::{Interval, Proof, ProofRow, Reading};
use crate::geometry::Geometry;
use crate::lanes::{kernels, walk};
use crate::rows::Row;

/// Donors whose multipliers agree to this share are tied: what roundings of t leave.
const TIE: f64 = 4e-15;
/// A multiplier this near to a donor's is meant to be that.
const NEAR: f64 = 1e-12;

/// c·Σ|y − p|.
#[derive(Clone, Copy, Debug)]
pub(crate) struct L1 {
    name: &'static str,
    title: &'static str,
    formula: &'static str,
    /// c.
    scale: f64,
    /// Whether entries may have weights, c·Σw|y − p|.
    weighted: bool,
}

/// Σ|y − p|.
pub(crate) const NORM: L1 =
    L1 { name: "l1", title: "L1", formula: "Σ w|y − y⁰|", scale: 1.0, weighted: true };
/// ½Σ|y − p|.
pub(crate) const TOTAL_VARIATION: L1 =
    L1 {
        name: "tv", title: "total variation", formula: "½‖y − y⁰‖₁", scale: 0.5, weighted: false
    };

impl UncertaintySet {
    /// Σ_a ‖y_a − y⁰_a‖₁ ≤ radius in every state, mass allowed everywhere.
    pub fn l1(radius: f64) -> Self {
        UncertaintySet::new(Distance::L1, radius)
    }

    /// Σ_a ½‖y_a − y⁰_a‖₁ ≤ radius in every state, mass allowed everywhere.
    pub fn total_variation(radius: f64) -> Self {
        UncertaintySet::new(Distance::Tv, radius)
    }
}

kernels! {
    /// Σp of donors with z < `levels[i]` and Σpz of the others, i = 0, 1.
    fn given<'a>(simd, row: Row<'a>, levels: [f64; 2]) -> [[f64; 2]; 2] {
        let Row { p, w, maximum, .. } = row;
        let [first, second] = levels;
        let zero = simd.splat_f64s(0.0);
        let (maximum, first, second) =
            (simd.splat_f64s(maximum), simd.splat_f64s(first), simd.splat_f64s(second));
        let (mut given, mut kept, mut given_more, mut kept_more) = (zero, zero, zero, zero);
        walk!(simd, [p, w] => |p, w| {
            let z = simd.min_f64s(simd.sub_f64s(w, maximum), zero);
            let (gives, more) = (simd.less_than_f64s(z, first), simd.less_than_f64s(z, second));
            let pz = simd.mul_f64s(p, z);
            given = simd.select_f64s(gives, simd.add_f64s(given, p), given);
            kept = simd.select_f64s(gives, kept, simd.add_f64s(kept, pz));
            given_more = simd.select_f64s(more, simd.add_f64s(given_more, p), given_more);
            kept_more = simd.select_f64s(more, kept_more, simd.add_f64s(kept_more, pz));
        });
        let sum = |x: S::f64s| simd.reduce_sum_f64s(x);
        [[sum(given), sum(kept)], [sum(given_more), sum(kept_more)]]
    }
}

impl Set for L1 {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn formula(&self) -> &'static str {
        self.formula
    }

    fn needs(&self) -> Needs {
        if self.weighted { Needs::Weights } else { Needs::Nothing }
    }

    fn distance(&self, p: &[f64], y: &[f64], data: EntryData<'_>) -> f64 {
        let moved = p.iter().zip(y).map(|(p, y)| (y - p).abs());
        self.scale * moved.enumerate().map(|(j, moved)| data.weight(j) * moved).sum::<f64>()
    }

    fn leaves_support(&self) -> bool {
        true
    }

    fn diameter(&self) -> f64 {
        2.0 * self.scale
    }

    fn vacuous(&self, p: &[f64], unused: bool, data: EntryData<'_>) -> f64 {
        if data.weights.is_some() {
            let row = Row { p, w: p, maximum: 0.0, range: 0.0, outside: None, order: None, data };
            return Weighted::new(row, self.scale).vacuous(unused);
        }
        let least = p.iter().copied().filter(|p| *p > 0.0).fold(1.0, f64::min);
        2.0 * self.scale * (1.0 - if unused { 0.0 } else { least })
    }

    fn cone(&self) -> Option<&dyn Cone> {
        Some(self)
    }

    fn prox(&self, geometry: Geometry) -> Option<&dyn Prox> {
        match (geometry, self.scale == NORM.scale) {
            (Geometry::Euclidean, true) => Some(&Separable(NORM)),
            (Geometry::Euclidean, false) => Some(&Separable(TOTAL_VARIATION)),
            (Geometry::Entropy, _) => None,
        }
    }

    fn proof(&self) -> Option<&dyn Proof> {
        Some(self)
    }

    fn curve(&self) -> Option<&dyn Curve> {
        Some(self)
    }
}

impl Curve for L1 {
    fn at(&self, row: Row<'_>, t: f64, _: Option<Priced>) -> Priced {
        Priced { t, ..self.ends(row, t, None)[0] }
    }

    fn ends(&self, row: Row<'_>, t: f64, _: Option<Priced>) -> [Priced; 2] {
        if row.data.weights.is_some() {
            return Weighted::new(row, self.scale).ends(row.below_maximum(), t);
        }
        let most = 2.0 * self.scale;
        let given = |level: f64, off: f64| {
            let levels = [level * (1.0 + off), (level * (1.0 - off)).next_up()];
            given(row, levels)
        };
        let level = -most / t;
        let (mut t, mut sums) = (t, given(level, NEAR));
        if sums[0][0] < sums[1][0] {
            let apart = |z: &f64| (z - level).abs();
            let donors = row.p.iter().zip(row.w).filter(|e| *e.0 > 0.0).map(|e| e.1 - row.maximum);
            let nearest = donors.min_by(|a, b| apart(a).total_cmp(&apart(b)));
            let level = nearest.unwrap_or(level);
            (t, sums) = (-most / level, given(level, TIE));
        }
        let [from, to] = sums;
        let priced = |nu, [given, kept]: [f64; 2]| Priced {
            t,
            nu,
            value: kept,
            price: most * given,
            slope: None,
        };
        [priced(0.0, from), priced(1.0, to)]
    }

    /// 2c for all mass below the maximum.
    fn face(&self, row: Row<'_>) -> f64 {
        if row.data.weights.is_some() {
            return Weighted::new(row, self.scale).face();
        }
        2.0 * self.scale * given(row, [0.0; 2])[0][0]
    }

    fn kernel(&self, row: Row<'_>, at: Priced, y: &mut [f64]) -> Beyond {
        if row.data.weights.is_some() {
            Weighted::new(row, self.scale).write(at, y);
            return Beyond::Nothing;
        }
        let level = -2.0 * self.scale / at.t;
        let [low, high] = [level * (1.0 + TIE), level * (1.0 - TIE)];
        let (mut moved, mut best) = (0.0, None);
        for (j, ((y, &p), &w)) in y.iter_mut().zip(row.p).zip(row.w).enumerate() {
            let z = w - row.maximum;
            let kept = match z {
                _ if z >= 0.0 => 1.0,
                _ if z < low => 0.0,
                _ if z <= high => 1.0 - at.nu,
                _ => 1.0,
            };
            *y = kept * p;
            moved += p - *y;
            best = if z == 0.0 { Some(j) } else { best };
        }
        match best {
            Some(best) => y[best] += moved,
            None => return Beyond::Best(moved),
        }
        Beyond::Nothing
    }

    fn kind(&self) -> RowKind<'_> {
        RowKind::PiecewiseLinear
    }
}

/// |y − p| ≤ τ, Σ cκτ ≤ α, in units of what one entry may move.
impl Cone for L1 {
    fn scale(&self, entry: Entry, _: usize) -> f64 {
        self.reach(entry.budget / entry.weight / entry.norm)
    }

    fn reach(&self, budget: f64) -> f64 {
        (budget / (2.0 * self.scale)).min(1.0)
    }

    fn budget(&self, program: &mut Program, moved: &[Moved]) {
        let shares: Vec<usize> = moved.iter().map(|_| program.variable()).collect();
        let cost =
            |z: &Moved| self.scale * z.entry.norm * z.entry.weight * z.scale / z.entry.budget;
        program.line(1.0, moved.iter().zip(&shares).map(|(z, &share)| (share, cost(z))));
        for (z, &share) in moved.iter().zip(&shares) {
            program.line(0.0, [(share, -1.0), (z.variable, 1.0)]);
            program.line(0.0, [(share, -1.0), (z.variable, -1.0)]);
        }
        program.nonnegative();
    }
}

/// ½y² − zy + sc|y − p| is least where z has come towards p by sc, or at p, or at 0.
impl ProximalEntry for L1 {
    fn set(&self) -> &dyn Set {
        self
    }

    fn at(&self, z: f64, p: f64, s: f64) -> (f64, f64) {
        let s = self.scale * s;
        let y = if z > p + s { z - s } else { (z + s).min(p) };
        if y > 0.0 { (y, f64::from(y != p)) } else { (0.0, 0.0) }
    }

    fn normal(&self, y: f64, p: f64) -> f64 {
        self.scale * (y - p).signum()
    }
}

/// With x = −tz ≥ 0 and sums over p, P = Σp: moving all of a row costs 2c a unit of mass, so
///   ψ = Σp·max(tz, −2c)/P = −Σp·min(x, 2c)/P,
/// and where donors keep a share k of what they have, the rest on the row's maximum, for p/P
///   ⟨z, ŷ⟩ = Σpkz/P,   d(ŷ, p/P) = 2cΣp(1 − k)/P.
impl Proof for L1 {
    fn read(&self, row: &ProofRow<'_>, t: f64, nu: f64) -> Reading {
        if row.data.weights.is_some() {
            return weighted_l1::read(row, self.scale, t, nu);
        }
        let most = 2.0 * self.scale;
        // Σp, Σp·min(x, 2c), Σpk(−z) and Σp(1 − k), of terms that are all ≥ 0.
        let mut sums = [[0.0; 8]; 4];
        for (i, (p, z)) in row.entries().enumerate() {
            let x = -t * z;
            let moved = match x {
                _ if x < most * (1.0 - TIE) => 0.0,
                _ if x < most * (1.0 + TIE) => nu,
                _ => 1.0,
            };
            let terms = [p, p * x.min(most), p * (1.0 - moved) * -z, p * moved];
            sums.iter_mut().zip(terms).for_each(|(sum, term)| sum[i % 8] += term);
        }
        if !(0.0..=1.0).contains(&nu) {
            return Reading::NOTHING;
        }
        // Terms are rounded 0, 2, 3 and 1 times before they are added; the eight parts are added in pairs.
        let steps = row.p.len() as f64 / 8.0 + 3.0;
        let sum = |[a, b, c, d, e, f, g, h]: [f64; 8]| ((a + e) + (c + g)) + ((b + f) + (d + h));
        let of = |k: usize, own: f64| Interval::of_sum(sum(sums[k]), steps + own);
        let (mass, loss, kept, moved) = (of(0, 0.0), of(1, 2.0), of(2, 3.0), of(3, 1.0));
        let [dual, value] = [loss, kept].map(|sum| sum / mass * -1.0);
        Reading { dual: dual.hi(), value, spent: (moved / mass * most).hi() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: [f64; 3] = [0.5, 0.25, 0.25];
    const W: [f64; 3] = [-2.0, -1.0, 0.0];

    fn row() -> Row<'static> {
        Row {
            p: &P,
            w: &W,
            maximum: 0.0,
            range: 2.0,
            outside: None,
            order: None,
            data: EntryData::default(),
        }
    }

    /// The nominal value is −5/4. The first half a unit gains 1 at the price of 1, the next quarter ¼ at
    /// the price of ½.
    #[test]
    fn donors_give_in_the_order_of_their_objectives() {
        let at = NORM.price(row(), -0.75, 0.0, None);
        assert_eq!((at.t, at.nu, at.price), (1.0, 0.5, 0.5));
        let at = NORM.price(row(), -0.125, 0.0, Some(at));
        assert_eq!((at.t, at.nu, at.price), (2.0, 0.5, 1.25));
        assert_eq!(TOTAL_VARIATION.price(row(), -0.125, 0.0, None).price, 0.625);
        let mut y = [0.0; 3];
        assert_eq!(NORM.kernel(row(), at, &mut y), Beyond::Nothing);
        assert_eq!(y, [0.0, 0.125, 0.875]);
        assert_eq!((NORM.face(row()), NORM.vacuous(&P, false, EntryData::default())), (1.5, 1.5));
        assert_eq!(NORM.ends(row(), 1.0, None).map(|end| end.price), [0.0, 1.0]);
    }

    #[test]
    fn a_proof_meets_what_it_proves() {
        let at = NORM.price(row(), -0.125, 0.0, None);
        let read = NORM.read(&ProofRow::new(&P, &W), at.t, at.nu);
        let gain = at.t * at.value - at.price;
        assert!(read.dual >= gain && read.dual <= gain + 1e-13, "{read:?}");
        assert!(read.value.lo() <= -0.125 && read.value.hi() >= -0.125, "{read:?}");
        assert!((1.25..=1.25 + 1e-13).contains(&read.spent), "{read:?}");
        assert!(NORM.read(&ProofRow::new(&P, &W), at.t, 1.5).dual.is_nan());
    }
}
