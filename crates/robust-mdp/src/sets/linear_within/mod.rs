//! Moves at linear prices within the intervals of a model, d = Σ c⁺(y − p)₊ + c⁻(p − y)₊ with l ≤ y ≤ u:
//!   c = 1: the total of deviations, L1;
//!   c⁺ = 1/(u − p), c⁻ = 1/(p − l): their number, as each counts by its share of the room that there is (Bertsimas
//!   and Sim). An entry without room in a direction does not move there, and costs nothing.
//!
//! An interval has two pieces, l to p and p to u, of worths tz + c⁻ and tz − c⁺ a unit of mass. The best row fills
//! them by falling worth until it has its mass; with ν the worth at which that ends,
//!   ψ(t) = t⟨z, p⟩ + Σ (tz − ν − c⁺)₊(u − p) + (ν − tz − c⁻)₊(p − l),  and no less than ψ for any other ν.
//! Pieces of that worth are tied: they may be filled by rising or by falling z, and what lies between is an edge of
//! g. The second number of a point is the share of the way from the first to the second.

mod pieces;
mod proof;
#[cfg(test)]
mod tests;

use self::pieces::{End, Unit, mixture};
use super::cone::{Cone, Entry, Moved, Program};
use super::l1::NORM;
use super::proximal::{Prox, Separable};
use super::set::{Beyond, Curve, Priced, RowKind, Set};
use super::{Distance, EntryData, Needs, UncertaintySet};
use crate::certificate::Proof;
use crate::geometry::Geometry;
use crate::model::Bounds;
use crate::rows::Row;

/// What rounding may leave of a probability outside of its bounds.
const OUTSIDE: f64 = 1e-12;

/// Σ c⁺(y − p)₊ + c⁻(p − y)₊, l ≤ y ≤ u.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinearWithin {
    name: &'static str,
    title: &'static str,
    formula: &'static str,
    unit: Unit,
}

pub(super) const L1: LinearWithin = LinearWithin {
    name: "l1+interval",
    title: "L1 within intervals",
    formula: "‖y − y⁰‖₁, l ≤ y ≤ u",
    unit: Unit::Mass,
};

pub(super) const COUNT: LinearWithin = LinearWithin {
    name: "count+interval",
    title: "number of deviations within intervals",
    formula: "Σ |y − y⁰|/|y* − y⁰|, l ≤ y ≤ u, y* = u or l",
    unit: Unit::Room,
};

impl UncertaintySet {
    /// Σ_a ‖y_a − y⁰_a‖₁ ≤ radius in every state, within the model's intervals.
    pub fn l1_within_intervals(radius: f64) -> Self {
        UncertaintySet::new(Distance::L1Within, radius)
    }

    /// No more than `radius` probabilities of a state at the ends of the model's intervals, or more of them a part of
    /// the way (Bertsimas and Sim).
    pub fn count_within_intervals(radius: f64) -> Self {
        UncertaintySet::new(Distance::CountWithin, radius)
    }
}

fn bounds(data: EntryData<'_>) -> Bounds<'_> {
    data.bounds.expect("rows of a model with intervals")
}

impl LinearWithin {
    /// The cheapest row of the largest value.
    fn on_face(&self, row: &Row<'_>) -> Priced {
        let at = self.unit.of(row, f64::INFINITY);
        at.priced(End::HighestValue, row.below_maximum(), f64::INFINITY)
    }
}

impl Set for LinearWithin {
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
        Needs::Intervals
    }

    fn distance(&self, p: &[f64], y: &[f64], data: EntryData<'_>) -> f64 {
        let Bounds { lower, upper } = bounds(data);
        let entry = |j: usize| {
            if y[j] > upper[j] + OUTSIDE || y[j] < lower[j] - OUTSIDE {
                return f64::INFINITY;
            }
            let room = if y[j] > p[j] { upper[j] - p[j] } else { p[j] - lower[j] };
            let way = (y[j] - p[j]).abs().min(room);
            match self.unit {
                Unit::Mass => way,
                Unit::Room if room > 0.0 => way / room,
                Unit::Room => 0.0,
            }
        };
        (0..p.len()).map(entry).sum()
    }

    fn leaves_support(&self) -> bool {
        false
    }

    fn diameter(&self) -> f64 {
        match self.unit {
            Unit::Mass => 2.0,
            Unit::Room => f64::INFINITY,
        }
    }

    fn vacuous(&self, p: &[f64], _: bool, data: EntryData<'_>) -> f64 {
        let Bounds { lower, upper } = bounds(data);
        let rooms = |j: usize| [p[j] - lower[j], upper[j] - p[j]];
        let all = 0..p.len();
        match self.unit {
            // What goes up comes down.
            Unit::Mass => {
                let sum = |k: usize| all.clone().map(|j| rooms(j)[k]).sum::<f64>();
                2.0 * sum(0).min(sum(1))
            }
            Unit::Room => all.filter(|&j| rooms(j).iter().any(|room| *room > 0.0)).count() as f64,
        }
    }

    fn cone(&self) -> Option<&dyn Cone> {
        Some(self)
    }

    /// Proximal entries know no rooms.
    fn prox(&self, geometry: Geometry) -> Option<&dyn Prox> {
        match (geometry, self.unit) {
            (Geometry::Euclidean, Unit::Mass) => Some(&Separable(NORM)),
            (Geometry::Euclidean, Unit::Room) | (Geometry::Entropy, _) => None,
        }
    }

    fn proof(&self) -> Option<&dyn Proof> {
        Some(self)
    }

    fn curve(&self) -> Option<&dyn Curve> {
        Some(self)
    }
}

impl Curve for LinearWithin {
    fn at(&self, row: Row<'_>, t: f64, _: Option<Priced>) -> Priced {
        Priced { t, ..self.ends(row, t, None)[0] }
    }

    fn ends(&self, row: Row<'_>, t: f64, _: Option<Priced>) -> [Priced; 2] {
        let (at, edge) = self.unit.snapped(&row, t);
        let nominal = row.below_maximum();
        let [from, to] =
            [End::LowestValue, End::HighestValue].map(|end| at.priced(end, nominal, edge));
        if from.price < to.price { [from, to] } else { [from; 2] }
    }

    fn peak(&self, row: Row<'_>) -> f64 {
        self.on_face(&row).value
    }

    fn face(&self, row: Row<'_>) -> f64 {
        self.on_face(&row).price
    }

    fn kernel(&self, row: Row<'_>, at: Priced, y: &mut [f64]) -> Beyond {
        let share = if at.t.is_finite() { at.nu } else { 1.0 };
        mixture(&self.unit.of(&row, at.t), share, row.p, bounds(row.data), y);
        Beyond::Nothing
    }

    fn kind(&self) -> RowKind<'_> {
        RowKind::PiecewiseLinear
    }
}

/// c⁺(y − p) ≤ τ, c⁻(p − y) ≤ τ, Σκτ ≤ α, with τ in units of α/κ; bounds of entries are the program's.
impl Cone for LinearWithin {
    /// What the entry may move; next to nothing where it has no room.
    fn scale(&self, entry: Entry, _: usize) -> f64 {
        let Entry { p, bounds: [lower, upper], budget, weight, .. } = entry;
        let most = |room: f64| match self.unit {
            Unit::Mass => room.min(budget / weight),
            Unit::Room => room * (budget / weight).min(1.0),
        };
        most(p - lower).max(most(upper - p)).max(1e-9)
    }

    fn reach(&self, budget: f64) -> f64 {
        budget.min(1.0)
    }

    fn budget(&self, program: &mut Program, moved: &[Moved]) {
        let shares: Vec<usize> = moved.iter().map(|_| program.variable()).collect();
        program.line(1.0, shares.iter().map(|&share| (share, 1.0)));
        for (z, &share) in moved.iter().zip(&shares) {
            let Entry { p, bounds: [lower, upper], budget, weight, .. } = z.entry;
            for (room, side) in [(upper - p, 1.0), (p - lower, -1.0)] {
                let cost = side * self.unit.cost(room) * z.scale * weight / budget;
                let entries = [(share, -1.0), (z.variable, cost)];
                program.line(0.0, entries.into_iter().filter(|e| e.1.is_finite()));
            }
        }
        program.nonnegative();
    }
}
