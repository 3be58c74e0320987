//! A row that sees all states alike, y⁰ = 1/S: what lifting it costs tells where to begin with rows
//! that have not been read.
//!
//! With states by falling w and Σ over the first m of them, the row (y⁰ + tw − ν)₊ whose active set they
//! are is y = 1/m + t(w − mean), mean = Σw/m: its value is mean + t·det, det = Σ(w − mean)², from
//! t = 1/Σ(w − w_{m+1}) on, where the next state leaves. So a table of S numbers tells the active set for
//! any value that is asked for, and a state's rows, which then differ in their costs alone, share its
//! budget at a level that a few steps find. The rows are read there, so that a wrong guess costs a
//! reading and nothing else.

use super::active::Least;
use super::outlook::Outlook;
use super::{Exact, Reading};
use crate::lanes::dispatch;
use crate::uncertainty::{Distance, Rectangularity};

/// Rows of fewer entries are read in less time than a typical one is asked.
pub(super) const LONG: usize = 40;
/// Steps towards the level.
const STEPS: usize = 8;
/// They end where one moves by less than this share of the lift.
const CLOSE: f64 = 0.05;

/// The lifts of a typical row at the values of a sweep, by the number m of states in its active set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Typical {
    /// The least value with that active set, falling.
    value: Vec<f64>,
    /// Σw and Σw².
    prefix: Vec<[f64; 2]>,
    /// Lifting the row to a value costs ½[curve·(value − mean)² + constant].
    quadratic: Vec<Quadratic>,
    /// Σ(y⁰)², more than 1/S as a rule.
    square: f64,
}

#[derive(Clone, Copy, Debug)]
struct Quadratic {
    mean: f64,
    curve: f64,
    constant: f64,
}

impl Typical {
    /// Makes the table for the objectives w ≤ 0 of two states or more.
    pub(super) fn fit(&mut self, w: &[f64], square: f64) {
        self.square = square;
        self.value.clear();
        self.value.extend_from_slice(w);
        self.value.sort_unstable_by(|a, b| b.total_cmp(a));
        self.prefix.clear();
        self.quadratic.clear();
        let (mut sum, mut squares) = (0.0, 0.0);
        for m in 1..=self.value.len() {
            let w = self.value[m - 1];
            (sum, squares) = (sum + w, squares + w * w);
            self.prefix.push([sum, squares]);
            let [n, sy, .., off] = self.sums(m);
            let (mean, r) = (sum / n, 1.0 - sy);
            let det = (squares - sum * mean).max(0.0);
            let next = self.value.get(m).copied().unwrap_or(f64::NEG_INFINITY);
            let rise = det / (sum - n * next);
            self.value[m - 1] = mean + if rise.is_finite() { rise } else { 0.0 };
            self.quadratic.push(Quadratic { mean, curve: 1.0 / det, constant: r * r / n + off });
        }
    }

    /// The nominal value.
    fn nominal(&self) -> f64 {
        self.value.last().copied().unwrap_or(0.0)
    }

    /// n, Sy, Sw, Sww, Syw and Off with an active set of m states.
    fn sums(&self, m: usize) -> [f64; 6] {
        let (n, all) = (m as f64, self.value.len() as f64);
        let [sw, sww] = self.prefix[m - 1];
        [n, n / all, sw, sww, sw / all, self.square * (1.0 - n / all)]
    }

    /// The active set at a value, of two states at least.
    fn active_at(&self, value: f64) -> usize {
        (self.value.partition_point(|v| *v > value) + 1).clamp(2, self.value.len())
    }

    /// The level to which a budget lifts rows of these base costs, none of which peaks below the ceiling;
    /// `None` if that is the ceiling, as far as this tells.
    pub(super) fn level(&self, base: &[f64], radius: f64, ceiling: f64) -> Option<f64> {
        let nominal = self.nominal();
        let least = base.iter().fold(f64::INFINITY, |m, b| m.min(*b)) + nominal;
        // All above the least nominal value.
        let (mut low, mut high) = (0.0, ceiling - least);
        let (mut level, mut inside) = (0.5 * high, false);
        for _ in 0..STEPS {
            let (mut k, mut km, mut kmm, mut constant) = (0.0, 0.0, 0.0, 0.0);
            for base in base.iter().map(|base| base - least).filter(|b| b + nominal < level) {
                let at = self.quadratic[self.active_at(level - base) - 1];
                let m = base + at.mean;
                (k, km, kmm) = (k + at.curve, km + at.curve * m, kmm + at.curve * m * m);
                constant += at.constant;
            }
            let (mean, room) = (km / k, 2.0 * radius - constant - kmm);
            let spent = level * (k * level - 2.0 * km);
            (low, high) = if spent > room { (low, level) } else { (level, high) };
            let next = mean + ((room + km * mean) / k).sqrt();
            let met = next > low && next < high;
            let next = if met { next } else { 0.5 * (low + high) };
            inside |= met || spent > room;
            let moved = (next - level).abs();
            level = next;
            if moved <= CLOSE * level {
                break;
            }
        }
        inside.then_some(least + level)
    }

    /// The sums of a row lifted to a value; `None` where it need not be.
    pub(super) fn sums_at(&self, value: f64) -> Option<[f64; 6]> {
        (value > self.nominal()).then(|| self.sums(self.active_at(value)))
    }
}

impl Exact<'_> {
    /// Whether a state's rows may be taken to differ in their costs alone.
    pub(super) fn has_typical_rows(&self) -> bool {
        self.reading == Reading::Shared
            && self.set.distance == Distance::Ellipsoid
            && self.set.rectangularity == Rectangularity::State
    }

    /// Makes the typical row of the values ahead if it tells much of state `s`: few of its rows are lifted
    /// (others tell more where most are), and the budget does not move all of them to their peaks.
    pub(super) fn make_typical(&self, s: usize, ahead: &mut Outlook) -> bool {
        let (rows, likely) = (self.model.rows_of(s), self.below_the_ceiling(s, ahead).count());
        // ½‖e_i − y⁰‖² ≤ 1.
        let binds = self.set.radius_at(s, rows.start) < likely as f64;
        let few = 2 * likely < rows.len();
        let made = binds && few && ahead.range > 0.0 && ahead.shared.len() >= LONG;
        if made {
            let p = self.model.row(rows.start).prob;
            ahead.fit_typical(p.iter().map(|p| p * p).sum());
        }
        made
    }

    /// The base costs of rows that may lie below the lowest peak, where costs are all that is known.
    pub(super) fn below_the_ceiling(&self, s: usize, ahead: &Outlook) -> impl Iterator<Item = f64> {
        let cost = &self.model.cost[self.model.rows_of(s)];
        let (least, offset) = (dispatch(Least(cost)), ahead.offset);
        // The least too where rounding leaves no range above it.
        let bar = (least + ahead.range).max(least.next_up());
        cost.iter().filter(move |c| **c < bar).map(move |c| c + offset)
    }

    /// Takes values of which nothing is known to where a sweep would if all rows were typical; whether
    /// that tells anything.
    pub(crate) fn foretell(&self, v: &mut [f64]) -> bool {
        if !self.has_typical_rows() {
            return false;
        }
        let mut ahead = self.outlook();
        ahead.set(v);
        let acting = (0..v.len()).filter(|&s| !self.model.is_terminal(s));
        if !acting.clone().next().is_some_and(|s| self.make_typical(s, &mut ahead)) {
            return false;
        }
        let mut base = Vec::new();
        for s in acting {
            base.clear();
            base.extend(self.below_the_ceiling(s, &ahead));
            let ceiling = dispatch(Least(&base));
            let radius = self.set.radius_at(s, self.model.rows_of(s).start);
            v[s] = ahead.typical.level(&base, radius, ceiling).unwrap_or(ceiling);
        }
        true
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::algorithm::bellman::{Bellman, Player};
    use crate::instances::{Costs, Garnet, Xoshiro256};
    use crate::model::{Model, ModelBuilder};
    use crate::uncertainty::UncertaintySet;

    /// Tables for objectives with ties, of all sizes, and not all alike: their number, the objectives, their
    /// range and the table.
    fn tables(seed: u64) -> impl Iterator<Item = (usize, Vec<f64>, f64, Typical)> {
        let mut random = Xoshiro256::new(seed);
        (0..2000).filter_map(move |case| {
            let w = objectives(case, &mut random);
            let range = w.iter().fold(0.0_f64, |m, w| m.max(-w));
            let mut typical = Typical::default();
            typical.fit(&w, 1.0 / w.len() as f64);
            (range > 0.0).then_some((case, w, range, typical))
        })
    }

    fn objectives(case: usize, random: &mut Xoshiro256) -> Vec<f64> {
        let states = [2, 3, 10, 60][case % 4];
        let size = [1e-8, 1.0, 1e8][case / 4 % 3];
        let steps = [3.0, 1e9][case % 2];
        let mut w: Vec<f64> =
            (0..states).map(|_| -size * (steps * random.uniform()).floor() / steps).collect();
        let top = w.iter().fold(f64::NEG_INFINITY, |m, w| m.max(*w));
        w.iter_mut().for_each(|w| *w -= top);
        w
    }

    /// (1/S + tw − ν)₊ by bisection: its value and ½‖y − 1/S‖².
    fn lifted(w: &[f64], t: f64) -> (f64, f64) {
        let p = 1.0 / w.len() as f64;
        let y = |nu: f64| w.iter().map(move |w| (p + t * w - nu).max(0.0));
        let (mut low, mut high) = (-1.0, 1.0);
        for _ in 0..100 {
            let nu = 0.5 * (low + high);
            *(if y(nu).sum::<f64>() > 1.0 { &mut low } else { &mut high }) = nu;
        }
        let value = y(low).zip(w).map(|(y, w)| y * w).sum();
        (value, y(low).map(|y| 0.5 * (y - p) * (y - p)).sum())
    }

    #[test]
    fn tables_lift_the_typical_row() {
        let (mut random, mut compared) = (Xoshiro256::new(5), 0);
        for (case, w, range, typical) in tables(3) {
            let t = 10f64.powf(4.0 * random.uniform() - 2.0) / range;
            let (value, cost) = lifted(&w, t);
            if value > -1e-6 * range {
                continue; // on the peak, where the multiplier is not determined
            }
            compared += 1;
            assert!(value >= typical.nominal() - 1e-12 * range, "case {case}");
            let at = typical.quadratic[typical.active_at(value) - 1];
            let lift = value - at.mean;
            assert!((at.curve * lift - t).abs() <= 1e-6 * t, "case {case}: t {t}");
            let found = 0.5 * (at.curve * lift * lift + at.constant);
            assert!(
                (found - cost).abs() <= 1e-6 * (cost + 1e-6),
                "case {case}: {found} for {cost}"
            );
        }
        assert!(compared > 1000, "{compared} lifts");
    }

    #[test]
    fn levels_spend_the_budget() {
        let (mut random, mut found, mut none) = (Xoshiro256::new(6), 0, 0);
        for (case, w, range, typical) in tables(4) {
            let rows = 1 + case % 7;
            let base: Vec<f64> = (0..rows).map(|_| 5.0 + range * random.uniform()).collect();
            let ceiling = base.iter().fold(f64::INFINITY, |m, b| m.min(*b));
            let radius = 10f64.powf(5.0 * random.uniform() - 4.0);
            // What a level costs, from multipliers alone.
            let price = |level: f64| -> f64 {
                let cost = |goal: f64| {
                    let (mut low, mut high) = (0.0, 1e4 / range);
                    for _ in 0..60 {
                        let t = 0.5 * (low + high);
                        *(if lifted(&w, t).0 < goal { &mut low } else { &mut high }) = t;
                    }
                    lifted(&w, low).1
                };
                base.iter().map(|b| cost(level - b)).sum()
            };
            let slack = -0.1 * typical.nominal();
            match typical.level(&base, radius, ceiling) {
                Some(level) => {
                    found += 1;
                    assert!(price(level - slack) <= radius, "case {case}: too high");
                    assert!(
                        level + slack > ceiling || price(level + slack) >= radius,
                        "case {case}: too low"
                    );
                }
                None => {
                    none += 1;
                    assert!(price(ceiling - slack) <= radius, "case {case}: not the ceiling");
                }
            }
        }
        assert!(found > 200 && none > 200, "{found} levels, {none} at the ceiling");
    }

    /// The span of what a sweep changes.
    pub(crate) fn span(bellman: &mut Bellman<'_>, v: &[f64]) -> f64 {
        bellman.sweep(v, Player::Both, 0.0, None);
        let moves = bellman.upper.iter().zip(v).map(|(f, v)| f - v);
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = moves.fold(ends, |(l, h), d| (l.min(d), h.max(d)));
        high - low
    }

    /// Of each state.
    pub(crate) fn least_costs(model: &Model) -> Vec<f64> {
        let least = |s| model.rows_of(s).fold(f64::INFINITY, |m, r| m.min(model.cost[r]));
        (0..model.states()).map(least).collect()
    }

    /// One sweep over typical rows leaves less for the first sweep over real ones.
    #[test]
    fn foretold_values_are_nearer() {
        let (states, discount) = (60, 0.9);
        let (costs, branching, band) = (Costs::Iid, 0.5, None);
        for seed in 1..=5 {
            let garnet = Garnet { states, actions: 60, branching, costs, band, discount, seed };
            let model = garnet.model().unwrap();
            let set = UncertaintySet::ellipsoid(0.3);
            let mut v = least_costs(&model);
            let before = span(&mut Bellman::new(&model, &set), &v);
            assert!(Exact::new(&model, &set).foretell(&mut v));
            let after = span(&mut Bellman::new(&model, &set), &v);
            assert!(after < 0.5 * before, "seed {seed}: {after} after {before}");
        }
    }

    /// Also where λ·v is less than a rounding of the costs.
    #[test]
    fn foretold_values_are_finite() {
        let mut builder = ModelBuilder::new(1e-17);
        for s in 0..40 {
            builder.add_state(None);
            for a in 0..60 {
                let cost = if s == 0 && a == 0 { 0.0 } else { 1.0 + f64::from(a) };
                builder.add_action(None, cost);
                (0..40).for_each(|next| builder.add_transition(next, 1.0 / 40.0, 0.0));
            }
        }
        let (model, set) = (builder.build().unwrap(), UncertaintySet::ellipsoid(0.3));
        let mut v = vec![1.0; 40];
        v[0] = 0.0;
        assert!(Exact::new(&model, &set).foretell(&mut v));
        assert!(v.iter().all(|v| v.is_finite()), "{v:?}");
    }
}
