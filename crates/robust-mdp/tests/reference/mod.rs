//! A plain robust Bellman update: nested root finding, sorting, nothing shared with the library.
//!
//! For one state F(v)_s = max{ μ : Σ_a d_a(μ) ≤ α }, where d_a(μ) is the least budget that lifts
//! row a to value μ: none if its nominal value is there already, that of the point y(t) on the
//! row's path of value μ otherwise. y(t) is the projection of y⁰ + t·b on the simplex for the
//! ellipsoid and y⁰e^{tb}/Σ for KL, b_i = c(s,a) + c(s,a,i) + λv_i. No row can be lifted above
//! its largest b, so μ ≤ min_a max b_a. With a budget a row each row is lifted alone and the
//! least one counts.

use robust_mdp::Model;
use robust_mdp::uncertainty::{Distance, Rectangularity, Support, UncertaintySet};

/// What the nested roots leave undone, relative to the largest value.
pub(crate) const PRECISION: f64 = 1e-11;

struct Lift {
    distance: Distance,
    nominal: Vec<f64>,
    gain: Vec<f64>,
    top: f64,
}

/// Value of a point on a row's path, and the budget it spends.
struct Point {
    value: f64,
    spent: f64,
}

impl Lift {
    fn new(model: &Model, set: &UncertaintySet, r: usize, v: &[f64]) -> Lift {
        let (row, all) = (model.row(r), set.support == Support::All);
        let mut entries: Vec<(usize, f64, f64)> = row.entries().collect();
        if all {
            let listed = |i: usize| entries.iter().copied().find(|e| e.0 == i);
            entries = (0..v.len()).map(|i| listed(i).unwrap_or((i, 0.0, 0.0))).collect();
        } else {
            entries.retain(|e| e.1 > 0.0);
        }
        let gain: Vec<f64> = entries
            .iter()
            .map(|&(i, _, extra)| row.cost + extra + model.discount() * v[i])
            .collect();
        Lift {
            distance: set.distance,
            nominal: entries.iter().map(|e| e.1).collect(),
            top: gain.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            gain,
        }
    }

    fn value(&self, y: &[f64]) -> f64 {
        self.top + sum(y, &self.gain, |y, b| y * (b - self.top))
    }

    fn nominal_value(&self) -> f64 {
        self.value(&self.nominal)
    }

    fn spread(&self) -> f64 {
        self.gain.iter().fold(0.0, |m, b| m.max(self.top - b))
    }

    /// y(t).
    fn at(&self, t: f64) -> Point {
        let y = match self.distance {
            Distance::Kl => {
                let tilt = |b: f64| (t * (b - self.top)).exp_m1();
                let less = sum(&self.nominal, &self.gain, |p, b| p * tilt(b));
                // 1 + less loses its digits when little is left of the mass.
                let left = sum(&self.nominal, &self.gain, |p, b| p * (t * (b - self.top)).exp());
                let log = if less > -0.5 { less.ln_1p() } else { left.ln() };
                let tilted = |(p, b): (&f64, &f64)| p * (t * (b - self.top) - log).exp();
                self.nominal.iter().zip(&self.gain).map(tilted).collect()
            }
            _ => {
                let z = self.nominal.iter().zip(&self.gain);
                project(z.map(|(p, b)| p + t * (b - self.top)).collect())
            }
        };
        Point { value: self.value(&y), spent: spent(self.distance, &y, &self.nominal) }
    }

    /// The cheapest point of the largest value: the end of the path.
    fn end(&self) -> Point {
        let at_top = |b: &f64| *b == self.top;
        let mass = sum(&self.nominal, &self.gain, |p, b| if at_top(&b) { p } else { 0.0 });
        let count = self.gain.iter().filter(|b| at_top(b)).count() as f64;
        let y = self.nominal.iter().zip(&self.gain).map(|(p, b)| match self.distance {
            _ if !at_top(b) => 0.0,
            Distance::Kl => p / mass,
            _ => p + (1.0 - mass) / count,
        });
        let y: Vec<f64> = y.collect();
        Point { value: self.top, spent: spent(self.distance, &y, &self.nominal) }
    }

    /// The point where `reached` turns true on the path, by doubling and bisection in t.
    fn first(&self, reached: impl Fn(&Point) -> bool) -> Point {
        let unit = 1.0 / self.spread();
        let (mut low, mut high) = (0.0, unit);
        while !reached(&self.at(high)) {
            (low, high) = (high, 4.0 * high);
            if high > 1e30 * unit {
                return self.end();
            }
        }
        if low == 0.0 {
            low = high;
            while reached(&self.at(low)) && low > 1e-30 * unit {
                (low, high) = (0.25 * low, low);
            }
        }
        while high - low > 1e-15 * high {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if reached(&self.at(middle)) {
                high = middle;
            } else {
                low = middle;
            }
        }
        self.at(high)
    }

    /// d(μ).
    fn budget(&self, level: f64) -> f64 {
        if self.nominal_value() >= level || self.spread() == 0.0 {
            0.0
        } else if level >= self.top {
            self.end().spent
        } else {
            self.first(|p| p.value >= level).spent
        }
    }

    /// The largest value that this budget buys.
    fn highest(&self, radius: f64) -> f64 {
        if self.spread() == 0.0 || radius >= self.end().spent {
            return self.top;
        }
        if radius == 0.0 {
            return self.nominal_value();
        }
        self.first(|p| p.spent >= radius).value
    }
}

fn sum(a: &[f64], b: &[f64], f: impl Fn(f64, f64) -> f64) -> f64 {
    a.iter().zip(b).map(|(a, b)| f(*a, *b)).sum()
}

/// Distance of a row from its nominal one.
pub(crate) fn spent(distance: Distance, y: &[f64], nominal: &[f64]) -> f64 {
    match distance {
        // y ln(y/p) − (y − p), whose second part sums to zero, loses no digits near y = p.
        Distance::Kl => sum(y, nominal, |y, p| {
            let log = if y > 0.5 * p { ((y - p) / p).ln_1p() } else { (y / p).ln() };
            if y <= 0.0 { p } else { y * log - (y - p) }
        }),
        _ => 0.5 * sum(y, nominal, |y, p| (y - p) * (y - p)),
    }
}

/// Projection on the simplex by sorting.
fn project(z: Vec<f64>) -> Vec<f64> {
    let mut sorted = z.clone();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut total, mut theta) = (0.0, 0.0);
    for (k, z) in sorted.iter().enumerate() {
        total += z;
        let candidate = (total - 1.0) / (k + 1) as f64;
        if *z > candidate {
            theta = candidate;
        }
    }
    z.into_iter().map(|z| (z - theta).max(0.0)).collect()
}

/// F(v) in one state.
fn update(model: &Model, set: &UncertaintySet, s: usize, v: &[f64]) -> f64 {
    let rows = model.rows_of(s);
    let lifts: Vec<Lift> = rows.clone().map(|r| Lift::new(model, set, r, v)).collect();
    if rows.len() == 1 || set.rectangularity == Rectangularity::StateAction {
        let alone = rows.zip(&lifts).map(|(r, row)| row.highest(set.radius_at(s, r)));
        return alone.fold(f64::INFINITY, f64::min);
    }
    let radius = set.radius_at(s, rows.start);
    let spent = |level: f64| lifts.iter().map(|row| row.budget(level)).sum::<f64>();
    let mut high = lifts.iter().map(|row| row.top).fold(f64::INFINITY, f64::min);
    let mut low = lifts.iter().map(Lift::nominal_value).fold(f64::INFINITY, f64::min).min(high);
    if spent(high) <= radius {
        return high;
    }
    let precision = 0.01 * PRECISION * low.abs().max(high.abs());
    let (mut under, mut over) = (-radius.sqrt(), spent(high).sqrt() - radius.sqrt());
    // √Σd is nearly linear: secant steps kept inside the bracket, every third one a bisection.
    for k in 0..200 {
        if high - low <= precision {
            break;
        }
        let secant = low - under * (high - low) / (over - under);
        let level = if k % 3 == 2 || !(low < secant && secant < high) {
            0.5 * (low + high)
        } else {
            // A step beyond the secant point closes the bracket from both sides.
            secant + if k % 2 == 0 { 0.3 * precision } else { -0.3 * precision }
        };
        let left = spent(level).sqrt() - radius.sqrt();
        if left <= 0.0 {
            (low, under) = (level, left);
        } else {
            (high, over) = (level, left);
        }
    }
    0.5 * (low + high)
}

/// F(v), in the sign of costs.
pub(crate) fn bellman(model: &Model, set: &UncertaintySet, v: &[f64]) -> Vec<f64> {
    let at = |s| {
        if model.is_terminal(s) { 0.0 } else { update(model, set, s, v) }
    };
    (0..model.states()).map(at).collect()
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
