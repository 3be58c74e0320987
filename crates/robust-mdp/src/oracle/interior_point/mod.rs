//! The interior-point oracle: F(v)_s = min_{x ∈ Δ(A)} max_{y ∈ P_s} Σ_a x_a (c_a + ⟨b_a, y_a⟩) as
//! the convex program
//!
//! > max μ  such that  c_a + ⟨b_a, y_a⟩ ≥ μ for every a,  y ∈ P_s,
//!
//! whose row multipliers are x. Clarabel solves it in the [conic form](crate::sets::Cone) of the set.
//!
//! Nothing that the solver says is believed. Its x is made a distribution and bounded above by its
//! worst case ([`Nature`]); its y is made a kernel, moved towards y⁰ until it is within the budget, and
//! its least row value is a lower bound. So the enclosure holds even where the solver gives up, which it
//! does on some exponential programs of a thousand entries.

mod program;

use std::ops::Range;

use self::program::{Asked, Candidate};
use super::nature::{Answered, Nature};
use crate::rows::{Budget, ExplicitRows, row_values, shares_budget};
use crate::sets::set::{Curve, Priced, Set};
use crate::sets::{Block, Enclosure, UncertaintySet};

/// What a thread works with, and counts of what it did.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    answered: Answered,
    response: Vec<f64>,
    entries: u64,
    /// Programs handed to the solver, and those that it could not solve.
    counts: [u64; 2],
}

impl Programs {
    pub(crate) fn take_entries(&mut self) -> u64 {
        std::mem::take(&mut self.entries) + self.answered.take_entries()
    }

    pub(crate) fn take_counts(&mut self) -> [u64; 2] {
        std::mem::take(&mut self.counts)
    }
}

/// The game of a state, its objectives referenced at their maxima.
pub(crate) struct ConicState<'a> {
    pub(crate) set: &'a UncertaintySet,
    pub(crate) nature: &'a Nature<'a>,
    pub(crate) s: usize,
    pub(crate) first_row: usize,
    pub(crate) game: &'a ExplicitRows<'a>,
    /// Whether the solver sees all rows of every program, or only those that can matter.
    pub(crate) whole: bool,
}

impl ConicState<'_> {
    /// Encloses F(v)_s. The policy whose worst case is the upper bound goes to `x`, the kernel of the
    /// lower bound to `y`, in the game's layout.
    pub(crate) fn update(
        &self,
        x: &mut [f64],
        y: &mut [f64],
        programs: &mut Programs,
    ) -> Enclosure {
        let (game, y) = (self.game, &mut y[..self.game.nominal().len()]);
        programs.entries += y.len() as u64;
        let Some(set) = self.set.distance.set() else {
            y.copy_from_slice(game.nominal());
            one_hot(x, game.greedy());
            let value = game.nominal_value(game.greedy());
            return Enclosure { lower: value, upper: value };
        };
        let mut values = Vec::new();
        for budget in game.budgets(self.set, self.s, self.first_row) {
            let part = &mut y[budget.entries.clone()];
            values.push(self.raise(set, budget, &mut *x, part, programs));
        }
        let best = least(&values);
        let mut lower = values[best];
        let shared = shares_budget(self.set);
        if !shared {
            one_hot(x, best);
        }
        let mut upper = self.nature.respond(game, self.s, x, &mut programs.answered).upper;
        // A row is never worth more than its maximum.
        let cap = least(game.base);
        if upper.is_nan() || upper > game.base[cap] {
            upper = game.base[cap];
            one_hot(x, cap);
        }
        // Nature's answer to x is a kernel as well, and a better one where the solver stopped early.
        if shared {
            let budget = game.budgets(self.set, self.s, self.first_row).next();
            let answered = self.answer(set, budget.expect("one for all rows").block, programs);
            if answered > lower {
                y.copy_from_slice(&programs.response);
                lower = answered;
            }
        }
        // Rounding may cross bounds that are equal.
        Enclosure { lower: lower.min(upper), upper: upper.max(lower) }
    }

    /// The kernel of nature's last answer, brought into the set, and its least row value.
    fn answer(&self, set: &dyn Set, block: Block<'_>, programs: &mut Programs) -> f64 {
        let Programs { answered, response, .. } = programs;
        response.resize(block.entries(), 0.0);
        for k in 0..block.rows() {
            answered.write(set.curve(), block, k, &mut response[block.span(k)]);
        }
        block.bring_within(set, response);
        least_value(block, self.game.base, response)
    }

    /// Rows that share a budget: a policy for `x` if these are all rows, a kernel of the set for `y`,
    /// and the kernel's least row value.
    fn raise(
        &self,
        set: &dyn Set,
        Budget { block, rows: span, .. }: Budget<'_>,
        x: &mut [f64],
        y: &mut [f64],
        programs: &mut Programs,
    ) -> f64 {
        programs.entries += 2 * block.entries() as u64;
        let (x, base) = (&mut x[span.clone()], &self.game.base[span.clone()]);
        let nominal: Vec<f64> = base.iter().zip(block.nominal_value).map(|(c, v)| c + v).collect();
        y.copy_from_slice(block.nominal);
        one_hot(x, least(&nominal));
        let from = nominal[least(&nominal)];
        let level = base[least(base)];
        if block.radius <= 0.0 || level <= from {
            return from;
        }
        let peaks = set.needs().open_entries();
        let curve = set.curve().filter(|_| !self.whole && !peaks);
        if curve.is_some_and(|curve| saturate(curve, block, base, level, y)) {
            one_hot(x, least(base));
        } else {
            // Of sets without exact updates nothing is known of rows that a program leaves out.
            let to = if self.whole || set.curve().is_none() {
                f64::INFINITY
            } else {
                self.least_worst_case(span, programs).min(level)
            };
            let rows: Vec<usize> = (0..nominal.len()).filter(|&k| nominal[k] < to).collect();
            y.copy_from_slice(block.nominal);
            let candidate = solve(set, block, &rows, &nominal, from);
            let failed = candidate.as_ref().is_none_or(|c| !c.solved);
            programs.counts[0] += u64::from(!rows.is_empty());
            programs.counts[1] += u64::from(!rows.is_empty() && failed);
            if let Some(candidate) = candidate {
                take(candidate, block, &rows, x, y);
            }
        }
        match self.nature.steps() {
            None => block.bring_within(set, y),
            Some(steps) => steps.bring_within(block, y, programs.answered.support_memory()),
        }
        least_value(block, base, y)
    }

    /// A bound of μ that needs no solver, for sparing it the rows that cannot matter: the least worst
    /// case of a single action.
    fn least_worst_case(&self, rows: Range<usize>, programs: &mut Programs) -> f64 {
        let mut alone = vec![0.0; self.game.actions()];
        let worst = rows.map(|k| {
            one_hot(&mut alone, k);
            self.nature.respond(self.game, self.s, &alone, &mut programs.answered).upper
        });
        worst.fold(f64::INFINITY, f64::min)
    }
}

/// The conic program of the rows that matter.
fn solve(
    set: &dyn Set,
    block: Block<'_>,
    rows: &[usize],
    nominal: &[f64],
    from: f64,
) -> Option<Candidate> {
    if rows.is_empty() {
        return None;
    }
    let excess: Vec<f64> = rows.iter().map(|&k| nominal[k] - from).collect();
    let weights: Vec<f64> = (0..block.rows()).map(|k| block.kappa(k)).collect();
    let weighted = block.data.weights.is_some();
    let diameter = if weighted { f64::INFINITY } else { set.diameter() };
    let most: f64 = rows.iter().map(|&k| weights[k] * diameter).sum();
    let budget = block.radius.min(most);
    Asked { block, rows, excess: &excess, weights: &weights, budget }.solve(set.cone()?)
}

/// Raises every row to `level`, the least of the largest row values, and says whether that is within
/// the budget: then `level` is F(v)_s, where the programs have no interior multipliers.
fn saturate(set: &dyn Curve, block: Block<'_>, base: &[f64], level: f64, y: &mut [f64]) -> bool {
    let mut used = 0.0;
    for k in 0..block.rows() {
        let (below, allowed) = (-block.nominal_value[k], base[k] - level);
        if below <= allowed {
            continue;
        }
        let (row, y) = (block.view(k), &mut y[block.span(k)]);
        let grain = 4.0 * f64::EPSILON * row.range;
        let face = set.face(row);
        let at = match allowed > 0.0 {
            true => set.price(row, -allowed, grain, None),
            // As near to it as numbers tell.
            false if face.is_infinite() => set.price(row, -2.0 * grain, grain, None),
            false => Priced { t: f64::INFINITY, price: face, ..Priced::NOMINAL },
        };
        block.write(set, k, at, y);
        used += block.kappa(k) * set.distance(row.p, y, row.data);
        if used > block.radius {
            return false;
        }
    }
    true
}

/// Copies what the solver returned for `rows`; multipliers that cannot be a policy are left out.
fn take(candidate: Candidate, block: Block<'_>, rows: &[usize], x: &mut [f64], y: &mut [f64]) {
    let total: f64 = candidate.x.iter().map(|x| x.max(0.0)).sum();
    if total.is_finite() && total > 0.0 {
        x.fill(0.0);
        // A row that counts for next to nothing would cost the worst case its digits.
        for (&k, weight) in rows.iter().zip(&candidate.x).filter(|e| *e.1 > 1e-12 * total) {
            x[k] = *weight;
        }
        let total: f64 = x.iter().sum();
        x.iter_mut().for_each(|x| *x /= total);
    }
    let mut from = candidate.y.into_iter();
    for &k in rows {
        y[block.span(k)].iter_mut().zip(&mut from).for_each(|(y, new)| *y = new);
    }
}

/// min_a c_a + ⟨b_a, y_a⟩.
fn least_value(block: Block<'_>, base: &[f64], y: &[f64]) -> f64 {
    let mut value = vec![0.0; base.len()];
    row_values(block, y, &mut value);
    value.iter().zip(base).fold(f64::INFINITY, |m, (v, c)| m.min(v + c))
}

fn least(values: &[f64]) -> usize {
    let order = |&a: &usize, &b: &usize| values[a].total_cmp(&values[b]);
    (0..values.len()).min_by(order).expect("a state with actions")
}

fn one_hot(x: &mut [f64], at: usize) {
    x.fill(0.0);
    x[at] = 1.0;
}

#[cfg(test)]
mod tests;
