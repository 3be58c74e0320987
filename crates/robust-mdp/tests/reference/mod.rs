//! A plain robust Bellman update: sorting and bisection, nothing shared with the library.
//!
//! For one state F(v)_s = max{ μ : Σ_a d_a(μ) ≤ α }, where d_a(μ) is the least budget that raises
//! row a to value μ: none if its nominal value is there already, that of the point y(t) of value
//! μ on the row's path otherwise. y(t) is the projection of y⁰ + t·b on the simplex for the
//! ellipsoid and y⁰e^{tb}/Σ for KL, b_i = c(s,a) + c(s,a,i) + λv_i. No row can be raised above
//! its largest b, so μ ≤ min_a max b_a. With a budget a row each row is raised alone and the
//! least one counts. A fixed policy x has the worst case Σ_a x_a⟨b_a, y_a(κx_a)⟩, where κ spends
//! the budget.
//!
//! Everything is measured from the row's largest b and its nominal value without cancellation,
//! which leaves a few roundings of the largest |b|.

// Every test that includes this module uses its own part of it.
#![allow(dead_code)]

mod boxes;
mod conjugate;
mod ellipsoid;
mod entry;
mod families;
mod kl;

#[allow(unused_imports)]
pub(crate) use entry::{Entry, entries};
#[allow(unused_imports)]
pub(crate) use families::{FAMILIES, Family, Known, known};

use robust_mdp::Model;
use robust_mdp::sets::{Distance, Rectangularity, UncertaintySet};

/// What rounding leaves undone, relative to the largest value.
pub(crate) const PRECISION: f64 = 1e-13;

/// Value of a point on a row's path, and the budget it spends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    value: f64,
    spent: f64,
}

/// The cheapest points y(t) of a row for each value, from y⁰ at t = 0 to the largest b.
pub(crate) trait Path {
    /// ⟨b, y⁰⟩.
    fn nominal_value(&self) -> f64;
    /// max b.
    fn maximum(&self) -> f64;
    /// What the cheapest point of value max b spends.
    fn end(&self) -> f64;
    /// y(t).
    fn at(&self, t: f64) -> Point;
    /// What the point of this value spends; ⟨b, y⁰⟩ < level < max b.
    fn inside(&self, level: f64) -> f64;

    /// d(level) for level ≤ max b.
    fn budget(&self, level: f64) -> f64 {
        if self.nominal_value() >= level {
            0.0
        } else if level >= self.maximum() {
            self.end()
        } else {
            self.inside(level)
        }
    }
}

/// A row whose distance counts κ times.
struct Weighted {
    path: Box<dyn Path>,
    kappa: f64,
}

impl Path for Weighted {
    fn nominal_value(&self) -> f64 {
        self.path.nominal_value()
    }

    fn maximum(&self) -> f64 {
        self.path.maximum()
    }

    fn end(&self) -> f64 {
        self.kappa * self.path.end()
    }

    fn at(&self, t: f64) -> Point {
        let Point { value, spent } = self.path.at(t / self.kappa);
        Point { value, spent: self.kappa * spent }
    }

    fn inside(&self, level: f64) -> f64 {
        self.kappa * self.path.inside(level)
    }
}

/// One state's update.
pub(crate) struct State {
    rows: Vec<Box<dyn Path>>,
    /// In place of these, where the distance is known by ψ.
    dual: Option<Vec<conjugate::DualRow>>,
    /// One a row; they are the same number where the rows share a budget.
    radii: Vec<f64>,
    shared: bool,
    /// The largest |c|, |λv| and |b| that the state can meet; positive.
    pub(crate) scale: f64,
}

impl State {
    /// State `s` at the values `v`.
    pub(crate) fn new(model: &Model, set: &UncertaintySet, s: usize, v: &[f64]) -> State {
        let mut state = State {
            rows: Vec::new(),
            dual: None,
            radii: model.rows_of(s).map(|r| set.radius_at(s, r)).collect(),
            shared: set.rectangularity == Rectangularity::State,
            scale: f64::MIN_POSITIVE,
        };
        let known = known(set);
        if let Known::Path = known {
            for (k, r) in model.rows_of(s).enumerate() {
                let of = |e: Entry| (e.p, e.b);
                let entries = entries(model, set, r, v, false, &mut state.scale);
                let entries = entries.into_iter().map(of).collect();
                let kappa = set.weight_at(r);
                let radius = 1.01 * state.radii[k] / kappa;
                let path: Box<dyn Path> = match set.distance {
                    Distance::Kl => Box::new(kl::Tilts::new(entries)),
                    _ => Box::new(ellipsoid::Projections::new(entries, radius)),
                };
                let weighted = kappa != 1.0;
                state.rows.push(if weighted { Box::new(Weighted { path, kappa }) } else { path });
            }
            return state;
        }
        let opens = known.opens(set.distance);
        let row = |r| {
            let entries = entries(model, set, r, v, opens, &mut state.scale);
            conjugate::DualRow::new(entries, known, set, set.weight_at(r))
        };
        state.dual = Some(model.rows_of(s).map(row).collect());
        state
    }

    /// F(v)_s.
    pub(crate) fn update(&self) -> f64 {
        if self.radii.is_empty() {
            return 0.0;
        }
        if let Some(rows) = &self.dual {
            if self.shared {
                return conjugate::update(rows, self.radii[0]);
            }
            let alone = rows.iter().zip(&self.radii);
            let highest = alone.map(|(row, &radius)| conjugate::worst(&[(1.0, row)], radius));
            return highest.fold(f64::INFINITY, f64::min);
        }
        if !self.shared {
            let alone = self.rows.iter().zip(&self.radii);
            let highest = alone.map(|(row, &radius)| worst(&[(1.0, &**row)], radius));
            return highest.fold(f64::INFINITY, f64::min);
        }
        let least = |f: &dyn Fn(&dyn Path) -> f64| {
            self.rows.iter().map(|row| f(&**row)).fold(f64::INFINITY, f64::min)
        };
        let (mut low, mut high) = (least(&|row| row.nominal_value()), least(&|row| row.maximum()));
        let fits = |level: f64| {
            let budgets = self.rows.iter().map(|row| row.budget(level));
            budgets.sum::<f64>() <= self.radii[0]
        };
        if fits(high) {
            return high;
        }
        while high - low > 1e-17 * self.scale {
            let level = 0.5 * (low + high);
            if level <= low || level >= high {
                break;
            }
            *(if fits(level) { &mut low } else { &mut high }) = level;
        }
        low
    }

    /// F_x(v)_s = max over y of Σ_a x_a⟨b_a, y_a⟩.
    pub(crate) fn worst_case(&self, x: &[f64]) -> f64 {
        if let Some(rows) = self.dual.as_ref().filter(|rows| !rows.is_empty()) {
            let rows: Vec<_> = x.iter().copied().zip(rows).collect();
            if self.shared {
                return conjugate::worst(&rows, self.radii[0]);
            }
            let alone = rows.iter().zip(&self.radii);
            return alone
                .map(|(&(x, row), &radius)| x * conjugate::worst(&[(1.0, row)], radius))
                .sum();
        }
        let rows: Vec<_> = x.iter().copied().zip(self.rows.iter().map(|row| &**row)).collect();
        if self.shared {
            return if rows.is_empty() { 0.0 } else { worst(&rows, self.radii[0]) };
        }
        let alone = rows.iter().zip(&self.radii);
        alone.map(|(&(x, row), &radius)| x * worst(&[(1.0, row)], radius)).sum()
    }
}

/// max Σ_a x_a⟨b_a, y_a⟩ over Σ_a d(y_a) ≤ radius: the points y_a(κx_a) of every path, κ by
/// bisection, geometric first, to the last bit.
fn worst(rows: &[(f64, &dyn Path)], radius: f64) -> f64 {
    let nominal: f64 = rows.iter().map(|(x, row)| x * row.nominal_value()).sum();
    let mut moving = rows.to_vec();
    moving.retain(|(x, row)| *x > 0.0 && row.nominal_value() < row.maximum());
    if moving.is_empty() || radius == 0.0 {
        return nominal;
    }
    if moving.iter().map(|(_, row)| row.end()).sum::<f64>() <= radius {
        return rows.iter().map(|(x, row)| x * row.maximum()).sum();
    }
    let spent = |k: f64| moving.iter().map(|(x, row)| row.at(k * x).spent).sum::<f64>();
    let (mut low, mut high): (f64, f64) = (1e-120, 1e120);
    loop {
        let middle = if high > 2.0 * low { low.sqrt() * high.sqrt() } else { 0.5 * (low + high) };
        if middle <= low || middle >= high {
            break;
        }
        *(if spent(middle) <= radius { &mut low } else { &mut high }) = middle;
    }
    let at = |(x, row): &(f64, &dyn Path)| match *x > 0.0 && row.nominal_value() < row.maximum() {
        true => x * row.at(low * x).value,
        false => x * row.nominal_value(),
    };
    rows.iter().map(at).sum()
}

/// Distance of a row from its nominal one.
pub(crate) fn spent(distance: Distance, y: &[f64], nominal: &[f64]) -> f64 {
    let pairs = y.iter().zip(nominal);
    match distance {
        // y ln(y/p) − (y − p), whose second part sums to zero, loses no digits near y = p.
        Distance::Kl => pairs
            .map(|(&y, &p)| {
                let log = if y > 0.5 * p { ((y - p) / p).ln_1p() } else { (y / p).ln() };
                if y <= 0.0 { p } else { y * log - (y - p) }
            })
            .sum(),
        _ => pairs.map(|(y, p)| 0.5 * (y - p) * (y - p)).sum(),
    }
}

/// F(v), in the sign of costs.
pub(crate) fn bellman(model: &Model, set: &UncertaintySet, v: &[f64]) -> Vec<f64> {
    (0..model.states()).map(|s| State::new(model, set, s, v).update()).collect()
}

/// Bounds of v* by value iteration from `v` until they are `width` wide or stop moving:
/// F(v) + λ/(1−λ)·[min, max](F(v) − v), widened by the precision of an update.
pub(crate) fn value_bounds(
    model: &Model,
    set: &UncertaintySet,
    mut v: Vec<f64>,
    width: f64,
    sweeps: usize,
) -> (Vec<f64>, Vec<f64>) {
    let discount = model.discount();
    let mut bounds = (Vec::new(), Vec::new());
    for _ in 0..sweeps {
        let next = bellman(model, set, &v);
        let scale = next.iter().fold(model.largest_cost(), |m, v| m.max(v.abs()));
        let slack = PRECISION * scale / (1.0 - discount);
        let change = next.iter().zip(&v).map(|(a, b)| a - b);
        let (low, high) = change.fold((f64::MAX, f64::MIN), |(l, h), d| (l.min(d), h.max(d)));
        let factor = discount / (1.0 - discount);
        let shifted = |by: f64| -> Vec<f64> {
            let of = |s: usize| {
                if model.is_terminal(s) { 0.0 } else { next[s] + by }
            };
            (0..next.len()).map(of).collect()
        };
        bounds = (shifted(factor * low - slack), shifted(factor * high + slack));
        v = next;
        if factor * (high - low) <= width {
            break;
        }
    }
    bounds
}
