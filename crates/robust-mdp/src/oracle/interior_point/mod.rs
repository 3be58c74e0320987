//! The interior-point oracle: F(v)_s = min_{x ∈ Δ(A)} max_{y ∈ P_s} Σ_a x_a (c_a + ⟨b_a, y_a⟩) as
//! the convex program
//!
//! > max μ  such that  c_a + ⟨b_a, y_a⟩ ≥ μ for every a,  y ∈ P_s,
//!
//! whose row multipliers are x. Clarabel solves it in the [conic form](crate::sets::Cone) of the set.
//!
//! Nothing that the solver says is believed. Its x is made a distribution and bounded above by its
//! worst case; its y is made a kernel, mixed with y⁰ until it is within the budget, and its least
//! row value is a lower bound. So the enclosure holds even where the solver gives up, which it
//! does on some exponential programs of a thousand entries.

mod program;

use self::program::{Asked, Candidate};
use super::worst_case::{Memory, worst_case};
use crate::game::{Game, Values, shares_budget};
use crate::lanes::dispatch;
use crate::sets::proximal::mix_with_nominal;
use crate::sets::set::{Priced, Set};
use crate::sets::{Block, Distance, Enclosure, Row, Scratch, UncertaintySet};

/// Encloses F(v)_s; with `whole` the solver sees all rows of every program, otherwise only those that
/// can matter. The policy whose worst case is the upper bound goes to `x`, the kernel of the
/// lower bound to `y`, in the game's layout. The game's objectives must be referenced at their
/// maxima.
pub(crate) fn update(
    set: &UncertaintySet,
    s: usize,
    first_row: usize,
    game: &Game<'_>,
    whole: bool,
    x: &mut [f64],
    y: &mut [f64],
    memory: Memory<'_>,
    scratch: &mut Scratch,
) -> Enclosure {
    let y = &mut y[..game.nominal().len()];
    let shared = shares_budget(set);
    let mut lower = if shared {
        let block = game.block(set.radius_at(s, first_row));
        let weights: Vec<f64> = (0..block.rows()).map(|k| set.weight_at(first_row + k)).collect();
        raise(set.distance, block, &weights, game.base, whole, x, y, scratch)
    } else {
        raise_alone(set, s, first_row, game, whole, x, y, scratch)
    };
    let mut response = std::mem::take(&mut scratch.buffer);
    let mut upper = worst_case(set, s, first_row, game, x, &mut response, memory, scratch).upper;
    // A row is never worth more than its maximum.
    let cap = least(game.base);
    if upper.is_nan() || upper > game.base[cap] {
        upper = game.base[cap];
        one_hot(x, cap);
    }
    // Nature's answer to x is a kernel as well, and a better one where the solver stopped early.
    if shared {
        let (block, response) = (game.block(set.radius_at(s, first_row)), &mut response[..y.len()]);
        repair(set.distance, block, response);
        let answered = least_value(block, game.base, response);
        if answered > lower {
            y.copy_from_slice(response);
            lower = answered;
        }
    }
    scratch.buffer = response;
    // Rounding may cross bounds that are equal.
    Enclosure { lower: lower.min(upper), upper: upper.max(lower) }
}

/// Every row with a budget of its own: kernel rows for `y`, the row of least value for `x`, and
/// that value.
fn raise_alone(
    set: &UncertaintySet,
    s: usize,
    first_row: usize,
    game: &Game<'_>,
    whole: bool,
    x: &mut [f64],
    y: &mut [f64],
    scratch: &mut Scratch,
) -> f64 {
    let all = game.block(0.0);
    let raised = (0..all.rows()).map(|k| {
        let block = all.row(k, set.radius_at(s, first_row + k));
        let (base, y) = (&game.base[k..k + 1], &mut y[all.span(k)]);
        raise(set.distance, block, &[1.0], base, whole, &mut [0.0], y, scratch)
    });
    let values: Vec<f64> = raised.collect();
    let best = least(&values);
    one_hot(x, best);
    values[best]
}

/// Rows that share a budget: a policy for `x`, a kernel of the set for `y`, and the kernel's least
/// row value.
fn raise(
    distance: Distance,
    block: Block<'_>,
    weights: &[f64],
    base: &[f64],
    whole: bool,
    x: &mut [f64],
    y: &mut [f64],
    scratch: &mut Scratch,
) -> f64 {
    scratch.entries += 2 * block.entries() as u64;
    let nominal: Vec<f64> = base.iter().zip(block.nominal_value).map(|(c, v)| c + v).collect();
    y.copy_from_slice(block.nominal);
    one_hot(x, least(&nominal));
    let from = nominal[least(&nominal)];
    let top = base[least(base)];
    let Some(set) = distance.set().filter(|_| block.radius > 0.0 && top > from) else {
        return from;
    };
    if !whole && saturate(set, block, weights, base, top, y) {
        one_hot(x, least(base));
    } else {
        let to = ceiling(set, block, weights, &nominal).min(top);
        let matters = |k: &usize| whole || nominal[*k] < to;
        let rows: Vec<usize> = (0..nominal.len()).filter(matters).collect();
        y.copy_from_slice(block.nominal);
        let excess: Vec<f64> = rows.iter().map(|&k| nominal[k] - from).collect();
        let candidate = solve(set, block, weights, &rows, &excess);
        let failed = candidate.as_ref().is_none_or(|c| !c.solved);
        scratch.programs[0] += u64::from(!rows.is_empty());
        scratch.programs[1] += u64::from(!rows.is_empty() && failed);
        if let Some(candidate) = candidate {
            take(candidate, block, &rows, x, y);
        }
    }
    repair(distance, block, y);
    least_value(block, base, y)
}

/// The conic program of the rows that matter.
fn solve(
    set: &dyn Set,
    block: Block<'_>,
    weights: &[f64],
    rows: &[usize],
    excess: &[f64],
) -> Option<Candidate> {
    if rows.is_empty() {
        return None;
    }
    let most: f64 = rows.iter().map(|&k| weights[k] * set.diameter()).sum();
    let asked = Asked { block, rows, excess, weights, budget: block.radius.min(most) };
    asked.solve(set.cone()?)
}

/// Row k as a set sees it.
fn row<'a>(block: &'a Block<'a>, k: usize) -> Row<'a> {
    let (p, w) = (&block.nominal[block.span(k)], block.gain(k));
    let range = -w.iter().copied().fold(0.0, f64::min);
    Row { p, w, maximum: 0.0, range, outside: None }
}

/// A bound of μ that needs no solver, for sparing it the rows that cannot matter: row a alone
/// reaches at most max b_a + (α/κ_a + ψ(t))/t, whatever t.
fn ceiling(set: &dyn Set, block: Block<'_>, weights: &[f64], nominal: &[f64]) -> f64 {
    let reach = |k: usize| {
        let (row, budget) = (row(&block, k), block.radius / weights[k]);
        let (mut least, mut t) = (0.0_f64, 1.0 / row.range);
        // The price is about quadratic in t, and all of the budget is spent at the best t.
        for _ in 0..GUESSES {
            if !(t > 0.0 && t.is_finite()) {
                break;
            }
            let at = set.at(row, t, None);
            least = least.min((budget - at.price) / t + at.value);
            t *= (budget / at.price).sqrt().clamp(1e-3, 1e3);
        }
        least - block.nominal_value[k]
    };
    let rows = nominal.iter().enumerate().map(|(k, value)| value + reach(k));
    rows.fold(f64::INFINITY, f64::min)
}

/// Multipliers tried for a bound.
const GUESSES: usize = 4;

/// Lifts every row to `top`, the least of the largest row values, by its cheapest kernel, and says
/// whether that is within the budget: then `top` is F(v)_s, where the programs have no interior
/// multipliers.
fn saturate(
    set: &dyn Set,
    block: Block<'_>,
    weights: &[f64],
    base: &[f64],
    top: f64,
    y: &mut [f64],
) -> bool {
    let mut used = 0.0;
    for k in 0..block.rows() {
        let (below, allowed) = (-block.nominal_value[k], base[k] - top);
        if below <= allowed {
            continue;
        }
        let (row, y) = (row(&block, k), &mut y[block.span(k)]);
        let at = match allowed > 0.0 {
            // A little above, so that less care arrives.
            true => set.price(row, -allowed * (1.0 - 2.0 * CARE), CARE * allowed, None),
            false => Priced { t: f64::INFINITY, nu: 0.0, value: 0.0, price: set.face(row) },
        };
        set.kernel(row, at, y);
        let total: f64 = y.iter().sum();
        y.iter_mut().for_each(|y| *y /= total);
        used += weights[k] * set.distance(row.p, y);
        if used.is_nan() || used > block.radius {
            return false;
        }
    }
    true
}

/// How closely rows are lifted, as a share of the way that is left.
const CARE: f64 = 1e-12;

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

/// Makes y a kernel of the set: rows become distributions, or nominal where they cannot, and all
/// are mixed with y⁰ until they are within the budget.
fn repair(distance: Distance, block: Block<'_>, y: &mut [f64]) {
    for k in 0..block.rows() {
        let (nominal, y) = (&block.nominal[block.span(k)], &mut y[block.span(k)]);
        y.iter_mut().for_each(|y| *y = y.max(0.0));
        let total: f64 = y.iter().sum();
        if total.is_finite() && total > 0.0 {
            y.iter_mut().for_each(|y| *y /= total);
        } else {
            y.copy_from_slice(nominal);
        }
    }
    let used = spent(distance, block.nominal, y);
    if used <= block.radius {
        return;
    }
    let share = match distance {
        Distance::Kl => block.radius / used,
        _ => (block.radius / used).sqrt(),
    };
    mix_with_nominal(share, block.nominal, y);
}

/// What a kernel spends of the budget.
fn spent(distance: Distance, nominal: &[f64], y: &[f64]) -> f64 {
    let pairs = y.iter().zip(nominal);
    match distance {
        // y ln(y/p) − (y − p), whose second part sums to zero, loses no digits near y = p.
        Distance::Kl => pairs.map(|(&y, &p)| divergence(y, p)).sum(),
        _ => 0.5 * pairs.map(|(y, p)| (y - p) * (y - p)).sum::<f64>(),
    }
}

fn divergence(y: f64, p: f64) -> f64 {
    let log = if y > 0.5 * p { ((y - p) / p).ln_1p() } else { (y / p).ln() };
    if y <= 0.0 { p } else { y * log - (y - p) }
}

/// min_a c_a + ⟨b_a, y_a⟩.
fn least_value(block: Block<'_>, base: &[f64], y: &[f64]) -> f64 {
    let mut value = vec![0.0; base.len()];
    dispatch(Values { block, y, out: &mut value });
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
