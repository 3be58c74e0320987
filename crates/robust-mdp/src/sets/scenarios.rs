//! Scenarios: rows between the nominal one and K others, Y = conv{p, y¹, …, y^K}, which is the
//! [gauge](super::gauge) of Y about p. With (s,a)-rectangular budgets of 1, nature has all of Y and
//!   h = max_k ⟨z, y^k⟩,  h − q = max_k Σ_j (y_j^k − p_j)·z_j  (0 if no scenario is worse than p);
//! a budget δ is the share of the way from p, and an s-rectangular budget Γ allows as many rows of a state to be in
//! their worst scenario (Bertsimas and Sim).

use super::gauge::{self, Edge, share_of};
use super::mixture;
use super::set::{Beyond, Curve, Priced, RowKind, Set};
use super::told::{ScenarioRows, Scenarios};
use super::{Distance, EntryData, Needs, Rectangularity, UncertaintySet};
use crate::certificate::{Interval, Proof, ProofRow, Reading};
use crate::rows::Row;

/// The least δ with y in p + δ(Y − p), Y the hull of p and its scenarios.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScenarioHull;

impl UncertaintySet {
    /// All kernels whose rows lie between the nominal one and these, (s,a)-rectangular.
    pub fn scenarios(scenarios: Scenarios) -> Self {
        UncertaintySet::new(Distance::Scenarios, 1.0).per_action().with_scenarios(scenarios)
    }
}

/// Scenarios that are compared at once.
const LANES: usize = 8;

fn told(data: EntryData<'_>) -> ScenarioRows<'_> {
    data.scenarios.expect("rows of a set with scenarios")
}

/// The first scenario of the largest h − q, if that is above 0, and that.
fn worst(row: Row<'_>) -> (Option<usize>, f64) {
    let scenarios = told(row.data);
    let (mut found, mut most) = (None, 0.0);
    for first in (0..scenarios.count).step_by(LANES) {
        let mut gains = [0.0; LANES];
        for (j, (p, w)) in row.p.iter().zip(row.w).enumerate() {
            let z = (w - row.maximum).min(0.0);
            let of = &scenarios.of_entry(j)[first..];
            gains.iter_mut().zip(of).for_each(|(gain, y)| *gain += (y - p) * z);
        }
        for (k, &gain) in gains.iter().take(scenarios.count - first).enumerate() {
            if gain > most {
                (found, most) = (Some(first + k), gain);
            }
        }
    }
    (found, most)
}

fn edge(row: Row<'_>) -> Edge {
    let nominal = row.below_maximum();
    Edge { nominal, gain: worst(row).1.min(-nominal) }
}

/// What rounding may leave of a row off the hull, an entry.
const OUTSIDE: f64 = 1e-12;

impl Set for ScenarioHull {
    fn name(&self) -> &'static str {
        "scenarios"
    }

    fn formula(&self) -> &'static str {
        "least δ ≤ 1 with y ∈ y⁰ + δ(conv{y⁰, y¹, …} − y⁰)"
    }

    fn needs(&self) -> Needs {
        Needs::Scenarios
    }

    fn distance(&self, p: &[f64], y: &[f64], data: EntryData<'_>) -> f64 {
        let (share, off) = mixture::share(p, y, told(data));
        let far = p.iter().zip(y).map(|(p, y)| (y - p).abs()).fold(0.0, f64::max);
        let within = off <= OUTSIDE && (share - 1.0) * far <= OUTSIDE;
        if within { share.min(1.0) } else { f64::INFINITY }
    }

    fn leaves_support(&self) -> bool {
        false
    }

    fn rectangularity(&self) -> Rectangularity {
        Rectangularity::StateAction
    }

    fn usual_radius(&self) -> Option<(f64, &'static str)> {
        Some((1.0, "all of the hull"))
    }

    fn diameter(&self) -> f64 {
        1.0
    }

    fn vacuous(&self, _: &[f64], _: bool, _: EntryData<'_>) -> f64 {
        1.0
    }

    fn proof(&self) -> Option<&dyn Proof> {
        Some(self)
    }

    fn curve(&self) -> Option<&dyn Curve> {
        Some(self)
    }
}

impl Curve for ScenarioHull {
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
        let (share, scenarios) = (share_of(at, || self.face(row)), told(row.data));
        match worst(row).0 {
            Some(k) => {
                for (j, (y, p)) in y.iter_mut().zip(row.p).enumerate() {
                    *y = p + share * (scenarios.prob(k, j) - p);
                }
            }
            None => y.copy_from_slice(row.p),
        }
        Beyond::Nothing
    }

    fn kind(&self) -> RowKind<'_> {
        RowKind::PiecewiseLinear
    }
}

/// Rows of Y are mixtures of p/σ and y^k/σ_k, σ = Σp, σ_k = Σy^k: h is at most the largest of their values, and that
/// of any of them is one of a row of Y.
impl Proof for ScenarioHull {
    fn read(&self, row: &ProofRow<'_>, t: f64, share: f64) -> Reading {
        let scenarios = told(row.data);
        let value = |y: &dyn Fn(usize) -> f64| {
            let mass = Interval::fine_sum((0..row.p.len()).map(y));
            Interval::dot(row.entries().enumerate().map(|(j, (_, z))| (y(j), z))) / mass
        };
        let nominal = value(&|j| row.p[j]);
        let (mut best, mut most) = (nominal, nominal.hi());
        for k in 0..scenarios.count {
            let found = value(&|j| scenarios.prob(k, j));
            most = most.max(found.hi());
            if found.mid > best.mid {
                best = found;
            }
        }
        let below = nominal * -1.0;
        gauge::read(nominal, below + most, below + best, t, share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: [f64; 3] = [0.5, 0.25, 0.25];
    const W: [f64; 3] = [-2.0, -1.0, 0.0];
    /// (½, ½, 0), (0, ½, ½) and that again, entry after entry.
    const NUMBERS: [f64; 9] = [0.5, 0.0, 0.0, 0.5, 0.5, 0.5, 0.0, 0.5, 0.5];

    fn data() -> EntryData<'static> {
        let scenarios = Some(ScenarioRows { count: 3, numbers: &NUMBERS });
        EntryData { scenarios, ..EntryData::default() }
    }

    fn row() -> Row<'static> {
        let data = data();
        Row { p: &P, w: &W, maximum: 0.0, range: 2.0, outside: None, order: None, data }
    }

    /// Of rows worth −1.25, −1.5 and −0.5 the second scenario is the worst, at ¾ more.
    #[test]
    fn the_worst_scenario_is_the_end_of_the_way() {
        assert_eq!(worst(row()), (Some(1), 0.75));
        assert_eq!(ScenarioHull.peak(row()), -0.5);
        let half = ScenarioHull.price(row(), -0.875, 0.0, None);
        assert_eq!((half.price, half.t), (0.5, 1.0 / 0.75));
        let mut y = [0.0; 3];
        ScenarioHull.kernel(row(), half, &mut y);
        assert_eq!(y, [0.25, 0.375, 0.375]);
        assert_eq!(ScenarioHull.distance(&P, &y, data()), 0.5);
        assert_eq!(ScenarioHull.distance(&P, &[1.0, 0.0, 0.0], data()), f64::INFINITY);
    }

    /// Where all scenarios are better for whoever pays, the nominal row is the worst.
    #[test]
    fn better_scenarios_change_nothing() {
        let scenarios = Some(ScenarioRows { count: 1, numbers: &[0.75, 0.25, 0.0] });
        let row = Row { data: EntryData { scenarios, ..EntryData::default() }, ..row() };
        assert_eq!((ScenarioHull.peak(row), ScenarioHull.face(row)), (-1.25, 0.0));
        let mut y = [0.0; 3];
        ScenarioHull.kernel(row, Priced { t: f64::INFINITY, ..Priced::NOMINAL }, &mut y);
        assert_eq!(y, P);
    }

    #[test]
    fn a_proof_meets_what_it_proves() {
        let row = ProofRow { data: data(), ..ProofRow::new(&P, &W) };
        let read = ScenarioHull.read(&row, 4.0, 1.0);
        let gain = -0.5 * 4.0 - 1.0;
        assert!(read.dual >= gain && read.dual <= gain + 1e-13, "{read:?}");
        assert!(read.value.lo() <= -0.5 && read.value.hi() >= -0.5, "{read:?}");
        assert!(read.value.rad <= 1e-14 && read.spent == 1.0, "{read:?}");
        assert!(ScenarioHull.read(&row, 4.0, 1.5).dual.is_nan());
    }
}
