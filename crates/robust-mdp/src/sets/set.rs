//! What a set says of one row: the price of a value, and the row that attains it.
//!
//! A row has nominal probabilities p and objectives w on the states that it may use, z = w − max w ≤ 0.
//! With a convex distance d(y, p), d(p, p) = 0,
//!   g(u) = min{ d(y, p) : ⟨z, y⟩ ≥ u, y in the simplex },   ψ(t) = max_y t⟨z, y⟩ − d(y, p)
//! are conjugate: g(u) = max_t tu − ψ(t), g' = t, ψ' = ⟨z, y(t)⟩. For rows a of one budget,
//!   F = max{ u : Σ_a κ_a·g_a(u) ≤ α } ≤ [α + Σ_a κ_a·ψ_a(t_a/κ_a)]/Σ_a t_a   for all t ≥ 0, t ≠ 0,
//! with equality at t_a = κ_a·g_a'(F), and the policy is t/Σt. Drivers (`oracle/exact`) need no more than
//! [`Curve::at`], [`Curve::price`] and [`Curve::face`]; see `ARCHITECTURE.md` for how to add a set.

use std::fmt::Debug;

use super::cone::Cone;
use super::data::{EntryData, Needs};
use super::proximal::Prox;
use super::quadratic::Quadratic;
use super::tilt::Tilt;
use super::uncertainty_set::Rectangularity;
use crate::certificate::Proof;
use crate::geometry::Geometry;
use crate::rows::Row;

/// A point of the price curve: y(t), or a row that the multipliers stand for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Priced {
    /// The multiplier t = g'(u) ≥ 0; ∞ on the row's maximum.
    pub t: f64,
    /// The set's second number, mostly the multiplier ν of the row's mass, counted above t·max w.
    pub nu: f64,
    /// ⟨z, y⟩ ≤ 0.
    pub value: f64,
    /// d(y, p).
    pub price: f64,
    /// d⟨z, y⟩/dt = ψ''(t), where that comes for free.
    pub slope: Option<f64>,
}

/// Where a row put mass on states that it does not list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Beyond {
    /// Nowhere.
    Nothing,
    /// All of this on the best of them.
    Best(f64),
    /// This on each of them that has the row's maximum.
    OnMaxima(f64),
    /// (t·z − ν)₊ on each of them.
    Affine {
        /// t.
        t: f64,
        /// ν.
        nu: f64,
    },
}

/// An uncertainty set around a row; see the [module](crate::sets) for the formulas.
///
/// These make a set: [`distance`](Set::distance), [`leaves_support`](Set::leaves_support),
/// [`diameter`](Set::diameter), [`vacuous`](Set::vacuous); and then either a [`Curve`], with
/// [`at`](Curve::at), [`kernel`](Curve::kernel) and [`face`](Curve::face), for every method of the library, or
/// Euclidean proximal steps, [`prox`](Set::prox), for first-order methods alone, whose bounds come from the same
/// steps. The rest have defaults that any set can live with. A set that keeps to the nominal
/// support may find entries with p = 0 whose objectives are above [`Row::maximum`]: they have no mass. A set
/// that leaves it must also count the states that [`Row::outside`] stands for.
///
/// [`Distance::Custom`](crate::sets::Distance::Custom) takes a set from outside of the library, and
/// [`conformance::check`](crate::conformance::check) tests it; `examples/custom_set.rs` has one.
pub trait Set: Debug + Sync {
    /// Its one name, in lower case, and that of no other set: command line, files, Python, certificates, checkpoints.
    fn name(&self) -> &'static str;

    /// As sentences have it.
    fn title(&self) -> &'static str {
        self.name()
    }

    /// d(y, y⁰) in a formula, for help texts.
    fn formula(&self) -> &'static str {
        "d(y, y⁰)"
    }

    /// What it must be told of entries; it finds that in [`EntryData`].
    fn needs(&self) -> Needs {
        Needs::Nothing
    }

    /// d(y, p), entry by entry of a row that lists all states in question.
    fn distance(&self, p: &[f64], y: &[f64], data: EntryData<'_>) -> f64;

    /// Whether y may be positive where p is 0.
    fn leaves_support(&self) -> bool;

    /// Whether it can do with [`Row::outside`] in place of states that a row does not list but may use; else, or
    /// where it is told of entries, rows list all states.
    fn counts_outside(&self) -> bool {
        true
    }

    /// Whether rows may share a budget, because sums of its distances mean something.
    fn adds_up(&self) -> bool {
        true
    }

    /// Who owns budgets, unless said.
    fn rectangularity(&self) -> Rectangularity {
        if self.adds_up() { Rectangularity::State } else { Rectangularity::StateAction }
    }

    /// The radius unless said, with what it stands for, of sets that need no number to be what they are.
    fn usual_radius(&self) -> Option<(f64, &'static str)> {
        None
    }

    /// The radius of a level in [0, 1), of sets that are known by levels.
    fn radius_of_level(&self, _level: f64) -> Option<f64> {
        None
    }

    /// The level of a radius, the other way round.
    fn level_of_radius(&self, _radius: f64) -> Option<f64> {
        None
    }

    /// d(p + m(y − p), p) ≤ m^degree·d(y, p) for 0 ≤ m ≤ 1: 1 for every convex d, 2 for quadratic ones.
    fn degree(&self) -> i32 {
        1
    }

    /// No row is farther from any other than this, where weights are 1; ∞ where there is no such number.
    fn diameter(&self) -> f64;

    /// max_i d(e_i, p) over the states that the row may use; of sets within intervals, at least the largest
    /// finite d. Zeros in `p` do not count by themselves: `unused` says whether a state with p = 0, listed or
    /// not, may receive mass. Among rows of one length it is least where p is the same for all.
    fn vacuous(&self, p: &[f64], unused: bool, data: EntryData<'_>) -> f64;

    /// In which geometry first-order steps of the kernel do best.
    fn geometry(&self) -> Geometry {
        Geometry::Euclidean
    }

    /// The conic form; `None`: the interior-point oracle does not take the set.
    fn cone(&self) -> Option<&dyn Cone> {
        None
    }

    /// What certificates rest on; `None`: there are none for this set.
    fn proof(&self) -> Option<&dyn Proof> {
        None
    }

    /// The kernel player's proximal steps in a geometry, for first-order methods.
    fn prox(&self, _: Geometry) -> Option<&dyn Prox> {
        None
    }

    /// Its price curve, for exact updates; `None`: the set is known by its proximal steps alone.
    fn curve(&self) -> Option<&dyn Curve> {
        None
    }
}

/// The price curve of a row, by which states are updated exactly.
pub trait Curve: Set {
    /// The point y(t), 0 < t < ∞; `near` may be close.
    fn at(&self, row: Row<'_>, t: f64, near: Option<Priced>) -> Priced;

    /// The maximisers of t⟨z, y⟩ − d(y, p) of the lowest and of the highest value: one, but where d is
    /// piecewise linear. What lies between them has second numbers between theirs; their t is that of the
    /// edge to the digit, where `t` is that but for rounding. `near` may be close.
    fn ends(&self, row: Row<'_>, t: f64, near: Option<Priced>) -> [Priced; 2] {
        let at = self.at(row, t, near);
        [at, at]
    }

    /// The largest ⟨z, y⟩ ≤ 0 of a row of finite d: less than 0 only where intervals keep mass from the maxima.
    fn peak(&self, _: Row<'_>) -> f64 {
        0.0
    }

    /// The least d(y, p) at which ⟨z, y⟩ is the [`peak`](Curve::peak), g(0) mostly; ∞ where no row of finite d
    /// lies there.
    fn face(&self, row: Row<'_>) -> f64;

    /// The point of value u, nominal < u < peak, give or take `slack`; `near` may be close.
    fn price(&self, row: Row<'_>, u: f64, slack: f64, near: Option<Priced>) -> Priced {
        super::bracket::price(self, row, u, slack, near)
    }

    /// The row of a point, 0 < t ≤ ∞, up to its mass, by which whoever asks divides: `y` and the mass of
    /// [`Beyond`] are in one unit. t = ∞ is the cheapest row of the largest value. Where no listed entry
    /// has w = maximum, the maximum is unlisted and its mass is [`Beyond::Best`] or
    /// [`Beyond::OnMaxima`].
    fn kernel(&self, row: Row<'_>, at: Priced, y: &mut [f64]) -> Beyond;

    /// Which driver solves states of such rows.
    #[doc(hidden)]
    fn kind(&self) -> RowKind<'_> {
        RowKind::Bracketed
    }

    /// Whether it reads entries in the order of their objectives, which rows that share them have.
    fn sorts(&self) -> bool {
        false
    }
}

/// The share of the way from p at which a row that spends too much is within its budget.
pub(crate) fn shrink(set: &dyn Set, spent: f64, budget: f64) -> f64 {
    if spent <= budget { 1.0 } else { root(budget / spent, set.degree()) }
}

/// x^(1/degree).
pub(crate) fn root(x: f64, degree: i32) -> f64 {
    match degree {
        1 => x,
        2 => x.sqrt(),
        degree => x.powf(1.0 / f64::from(degree)),
    }
}

/// Kinds of rows that have a driver of their own.
#[derive(Clone, Copy)]
pub enum RowKind<'a> {
    /// By [`Curve::price`], [`Curve::ends`] and [`Curve::face`] alone.
    Bracketed,
    /// d = ½Σ(y − p)²/r.
    Quadratic(&'a dyn Quadratic),
    /// One scalar a row.
    Tilt(&'a dyn Tilt),
    /// As `Bracketed`, and every multiplier has one point: there are no edges to look for.
    Smooth,
    /// g is piecewise linear, and [`Curve::ends`] are its edges.
    PiecewiseLinear,
}

impl Priced {
    /// The nominal row.
    pub(crate) const NOMINAL: Priced =
        Priced { t: 0.0, nu: 0.0, value: 0.0, price: 0.0, slope: None };

    /// A share of the way from here to `other`, which has the same t.
    pub(crate) fn towards(self, other: Priced, share: f64) -> Priced {
        let mix = |a: f64, b: f64| a + share * (b - a);
        Priced {
            t: self.t,
            nu: mix(self.nu, other.nu),
            value: mix(self.value, other.value),
            price: mix(self.price, other.price),
            slope: None,
        }
    }
}
