//! The weighted L2 set d(y, p) = ½Σ w(y − p)², ω = 1/w:
//!   y = (p + ωh)₊,  h = tz − ν.
//! On the active set I = {y > 0}, with R = Σω, m the mean of z under ω/R, det = Σω(z − m)², P = Σp over I,
//! ρ = 1 − P and L = Σ_{∉I} wp², a multiplier t has
//!   value = Σ_I pz + ρm + t·det,   ν = tm − ρ/R,   d = ½[t²·det + ρ²/R + L].
//! Weights of 1 make it the ellipsoid, which is faster.

use super::cone::{Cone, Entry, Moved, Program};
use super::proximal::{Prox, ProximalEntry, Separable};
use super::set::{Beyond, Curve, Priced, Set};
use super::{Distance, EntryData, Needs, UncertaintySet};
use crate::certificate::{Interval, Proof, ProofRow, Reading, UNIT};
use crate::geometry::Geometry;
use crate::rows::Row;

/// Passes before an active set must have settled.
const PASSES: usize = 60;

/// ½Σ w(y − p)².
#[derive(Clone, Copy, Debug)]
pub(crate) struct L2;

impl UncertaintySet {
    /// Σ_a ½Σ w(y_a − y⁰_a)² ≤ radius in every state, mass allowed everywhere; w = 1 unless given.
    pub fn l2(radius: f64) -> Self {
        UncertaintySet::new(Distance::L2, radius)
    }
}

/// Sums over an active set.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: usize,
    omega: f64,
    mean: f64,
    det: f64,
    mass: f64,
    /// Σ_I pz.
    worth: f64,
    left: f64,
}

impl Sums {
    /// Over the entries with p + ω(tz − ν) > 0.
    fn new(row: Row<'_>, t: f64, nu: f64) -> Sums {
        let mut sums = Sums::default();
        let entries = || {
            let all = row.p.iter().zip(row.w).enumerate();
            all.map(|(j, (&p, &w))| (p, w - row.maximum, row.data.weight(j)))
        };
        let active = |p: f64, z: f64, w: f64| p * w + (t * z - nu) > 0.0;
        for (p, z, w) in entries() {
            if active(p, z, w) {
                sums.count += 1;
                (sums.omega, sums.mean) = (sums.omega + 1.0 / w, sums.mean + z / w);
                (sums.mass, sums.worth) = (sums.mass + p, sums.worth + p * z);
            } else {
                sums.left += w * p * p;
            }
        }
        sums.mean /= sums.omega;
        // About the mean, so that nearly equal objectives keep their digits.
        for (_, z, w) in entries().filter(|&(p, z, w)| active(p, z, w)) {
            sums.det += (z - sums.mean) * (z - sums.mean) / w;
        }
        sums
    }

    fn rest(&self) -> f64 {
        1.0 - self.mass
    }

    fn nu(&self, t: f64) -> f64 {
        t * self.mean - self.rest() / self.omega
    }

    fn priced(&self, t: f64) -> Priced {
        let rest = self.rest();
        let value = self.worth + rest * self.mean + t * self.det;
        let price = 0.5 * (t * t * self.det + rest * rest / self.omega + self.left);
        Priced { t, nu: self.nu(t), value: value.min(0.0), price, slope: Some(self.det) }
    }
}

impl Set for L2 {
    fn name(&self) -> &'static str {
        "l2"
    }

    fn title(&self) -> &'static str {
        "L2"
    }

    fn formula(&self) -> &'static str {
        "½Σ w(y − y⁰)²"
    }

    fn needs(&self) -> Needs {
        Needs::Weights
    }

    fn distance(&self, p: &[f64], y: &[f64], data: EntryData<'_>) -> f64 {
        let squares = p.iter().zip(y).map(|(p, y)| (y - p) * (y - p));
        0.5 * squares.enumerate().map(|(j, square)| data.weight(j) * square).sum::<f64>()
    }

    fn leaves_support(&self) -> bool {
        true
    }

    fn counts_outside(&self) -> bool {
        false
    }

    fn degree(&self) -> i32 {
        2
    }

    fn diameter(&self) -> f64 {
        1.0
    }

    fn vacuous(&self, p: &[f64], unused: bool, data: EntryData<'_>) -> f64 {
        let all: f64 = p.iter().enumerate().map(|(j, p)| data.weight(j) * p * p).sum();
        let own = |j: usize| data.weight(j) * (1.0 - 2.0 * p[j]);
        let open = (0..p.len()).filter(|&j| unused || p[j] > 0.0).map(own);
        let outside = if unused && !p.contains(&0.0) { 1.0 } else { f64::NEG_INFINITY };
        (0.5 * (all + open.fold(outside, f64::max))).max(0.0)
    }

    fn cone(&self) -> Option<&dyn Cone> {
        Some(self)
    }

    fn prox(&self, geometry: Geometry) -> Option<&dyn Prox> {
        match geometry {
            Geometry::Euclidean => Some(&Separable(L2)),
            Geometry::Entropy => None,
        }
    }

    fn proof(&self) -> Option<&dyn Proof> {
        Some(self)
    }

    fn curve(&self) -> Option<&dyn Curve> {
        Some(self)
    }
}

impl Curve for L2 {
    /// The mass falls and is convex in ν: from where all entries count, Newton's method rises to the ν of mass one.
    fn at(&self, row: Row<'_>, t: f64, _: Option<Priced>) -> Priced {
        let mut sums = Sums::new(row, t, f64::NEG_INFINITY);
        for _ in 0..PASSES {
            let next = Sums::new(row, t, sums.nu(t));
            if next.count == 0 || next.count == sums.count {
                break;
            }
            sums = next;
        }
        sums.priced(t)
    }

    fn price(&self, row: Row<'_>, u: f64, slack: f64, near: Option<Priced>) -> Priced {
        let mut sums = match near {
            Some(Priced { t, nu, .. }) => Sums::new(row, t, nu),
            None => Sums::new(row, 0.0, f64::NEG_INFINITY),
        };
        for _ in 0..PASSES {
            let t = (u - sums.worth - sums.rest() * sums.mean) / sums.det;
            if !(sums.count > 0 && t > 0.0 && t.is_finite()) {
                break;
            }
            let next = Sums::new(row, t, sums.nu(t));
            if (next.count, next.mass, next.left) == (sums.count, sums.mass, sums.left) {
                return Priced { value: u, ..sums.priced(t) };
            }
            sums = next;
        }
        super::bracket::price(self, row, u, slack, near)
    }

    fn face(&self, row: Row<'_>) -> f64 {
        let (mut omega, mut mass, mut below) = (0.0, 0.0, 0.0);
        for (j, (&p, &w)) in row.p.iter().zip(row.w).enumerate() {
            let weight = row.data.weight(j);
            match w == row.maximum {
                true => (omega, mass) = (omega + 1.0 / weight, mass + p),
                false => below += weight * p * p,
            }
        }
        0.5 * ((1.0 - mass).powi(2) / omega + below)
    }

    fn kernel(&self, row: Row<'_>, at: Priced, y: &mut [f64]) -> Beyond {
        let entries = row.p.iter().zip(row.w).enumerate();
        if at.t.is_finite() {
            for (j, (p, w)) in entries {
                let h = at.t * (w - row.maximum) - at.nu;
                y[j] = (p + h / row.data.weight(j)).max(0.0);
            }
            return Beyond::Nothing;
        }
        let on_top = |j: usize| row.w[j] == row.maximum;
        let tops = || (0..row.p.len()).filter(|&j| on_top(j));
        let mass: f64 = tops().map(|j| row.p[j]).sum();
        let omega: f64 = tops().map(|j| 1.0 / row.data.weight(j)).sum();
        let each = (1.0 - mass).max(0.0) / omega;
        for (j, (p, _)) in entries {
            y[j] = if on_top(j) { p + each / row.data.weight(j) } else { 0.0 };
        }
        Beyond::Nothing
    }
}

/// ‖z‖₂ ≤ 1 for z = (y − p)√(κw/(2α)).
impl Cone for L2 {
    fn scale(&self, entry: Entry, _: usize) -> f64 {
        (2.0 * entry.budget / (entry.weight * entry.norm)).sqrt()
    }

    fn reach(&self, budget: f64) -> f64 {
        (2.0 * budget).sqrt().min(1.0)
    }

    fn may_vanish(&self, entry: Entry) -> bool {
        entry.p < self.scale(entry, 0)
    }

    fn budget(&self, program: &mut Program, moved: &[Moved]) {
        program.line(1.0, []);
        moved.iter().for_each(|z| program.line(0.0, [(z.variable, -1.0)]));
        program.second_order();
    }
}

/// ½y² − zy + ½s(y − p)² is least at y = (z + sp)/(1 + s), or at 0.
impl ProximalEntry for L2 {
    fn set(&self) -> &dyn Set {
        self
    }

    fn at(&self, z: f64, p: f64, s: f64) -> (f64, f64) {
        let slope = 1.0 / (1.0 + s);
        if z + s * p > 0.0 { (slope * (z + s * p), slope) } else { (0.0, 0.0) }
    }

    fn normal(&self, y: f64, p: f64) -> f64 {
        y - p
    }
}

/// φ(h) = max_{y ≥ 0} hy − ½w(y − p)² = hp + ½ωh² where p + ωh ≥ 0, else −½wp², and ψ ≤ ν + Σφ. With the computed
/// y of mass M and σ = Σp, the row is y/M, and
///   d(y/M, p/σ) ≤ ½Σ w(|y − p| + y|1/M − 1| + p|1/σ − 1|)².
impl Proof for L2 {
    fn read(&self, row: &ProofRow<'_>, t: f64, nu: f64) -> Reading {
        let n = row.p.len();
        let h = |j: usize| t * (row.w[j] - row.maximum) - nu;
        let weight = |j: usize| row.data.weight(j);
        let y = |j: usize| (row.p[j] + h(j) / weight(j)).max(0.0);
        let phi = |j: usize| match row.p[j] * weight(j) + h(j) >= 0.0 {
            true => [h(j) * row.p[j], 0.5 * h(j) * h(j) / weight(j)],
            false => [-0.5 * weight(j) * row.p[j] * row.p[j], 0.0],
        };
        let nominal = Interval::sum(row.p.iter().copied(), 0.0);
        let mass = Interval::sum((0..n).map(y), 0.0);
        // Which case counts, and the roundings of h, change φ by no more than y times these, to first order.
        let size = 3.0 * UNIT * (t * row.depth + nu.abs());
        let astray = Interval::sum((0..n).map(|j| (y(j) + size / weight(j)) * size), 3.0).hi();
        // p/σ in place of p moves φ by |h| a unit, or by wp.
        let steep = (0..n).map(|j| match y(j) > 0.0 {
            true => row.p[j] * (h(j).abs() + size),
            false => weight(j) * row.p[j] * row.p[j],
        });
        let away = ((nominal + -1.0).size() / nominal.lo()).max(0.0);
        let other = 1.1 * away * (Interval::sum(steep, 3.0).hi() + away);
        let dual = Interval::sum((0..n).flat_map(phi), 4.0).wider(astray + other) + nu;
        let value = Interval::sum((0..n).map(|j| y(j) * (row.w[j] - row.maximum)), 1.0) / mass;
        let [own, off] = [mass, nominal].map(|sum| 1.01 * ((sum + -1.0).size() / sum.lo()));
        let squares = (0..n).map(|j| {
            let apart = (y(j) - row.p[j]).abs() + (y(j) * own + row.p[j] * off);
            0.5 * weight(j) * apart * apart
        });
        let spent = Interval::sum(squares, 12.0).hi();
        let spent = if mass.lo() > 0.1 { spent } else { f64::NAN };
        if away < 0.01 { Reading { dual: dual.hi(), value, spent } } else { Reading::NOTHING }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: [f64; 3] = [0.5, 0.25, 0.25];
    const W: [f64; 3] = [-2.0, -1.0, 0.0];

    fn row(weights: &[f64]) -> Row<'_> {
        let data = EntryData { weights: Some(weights), ..EntryData::default() };
        Row { p: &P, w: &W, maximum: 0.0, range: 2.0, outside: None, order: None, data }
    }

    /// ω = (1, 1, ½): mean −6/5, det = 16/25 + 1/25 + 18/25 = 7/5; ½ more costs ½·¼·5/7.
    #[test]
    fn prices_follow_from_weighted_sums() {
        let weights = [1.0, 1.0, 2.0];
        let at = L2.price(row(&weights), -0.75, 0.0, None);
        assert!((at.t - 5.0 / 14.0).abs() < 1e-15, "{at:?}");
        assert!((at.price - 5.0 / 56.0).abs() < 1e-15, "{at:?}");
        let mut y = [0.0; 3];
        L2.kernel(row(&weights), at, &mut y);
        assert!((L2.distance(&P, &y, row(&weights).data) - at.price).abs() < 1e-15);
        // ½(¼ + 1/16 + 2·9/16)
        assert_eq!(L2.face(row(&weights)), 23.0 / 32.0);
        assert_eq!(L2.vacuous(&P, false, row(&weights).data), 23.0 / 32.0);
    }

    #[test]
    fn a_proof_meets_what_it_proves() {
        let weights = [1.0, 1.0, 2.0];
        let at = L2.price(row(&weights), -0.75, 0.0, None);
        let seen = ProofRow { data: row(&weights).data, ..ProofRow::new(&P, &W) };
        let read = L2.read(&seen, at.t, at.nu);
        let gain = at.t * at.value - at.price;
        assert!(read.dual >= gain && read.dual <= gain + 1e-13, "{read:?}");
        assert!(read.value.lo() <= -0.75 && read.value.hi() >= -0.75, "{read:?}");
        assert!(read.spent >= at.price - 1e-13 && read.spent <= at.price + 1e-13, "{read:?}");
    }
}
