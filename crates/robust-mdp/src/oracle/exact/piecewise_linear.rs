//! Rows of piecewise linear price: Newton's method, which ends.
//!
//! Σκg is convex and piecewise linear in the common value u. Newton's step from any u,
//!   u⁺ = u + (α − Σκg(u))/Σκt,  t = g'(u),
//! lands at F or right of it, falls from there, and is exact once it is on the last edge.
//!
//! A policy x has κt = r·x. In the plane of Σx·value and Σκd the rows at r form an edge of the curve; the
//! slope of the chord between the points known below and above the budget is the next r, until the
//! budget lies on an edge, where nature mixes its ends.

use super::active::{Least, RowMemory};
use super::bracketed::{self, mix, price_all, warm_value};
use super::driver::admit_below;
use super::problem::{PricedRow, StateOutcome, StateProblem};
use super::saturation::saturated;
use crate::lanes::dispatch;
use crate::sets::Enclosure;
use crate::sets::set::Priced;

const STEPS: usize = 60;

/// min over policies, max over the set; `level` is no lower than the saturation level.
pub(super) fn free(
    problem: &mut StateProblem<'_>,
    memory: &mut RowMemory<'_>,
    tolerance: f64,
    mut level: f64,
) -> StateOutcome {
    let mut priced = std::mem::take(&mut problem.active.bracket.priced);
    priced.clear();
    let mut u = warm_value(problem, &mut priced);
    let mut tested = false;
    let mut found = None;
    for _ in 0..STEPS {
        let reached = u.is_nan() || u >= level;
        if reached && !tested {
            tested = true;
            match saturated(problem, memory, level) {
                Ok(outcome) => {
                    found = Some(outcome);
                    break;
                }
                Err(lowest) => level = lowest,
            }
        }
        if reached {
            admit_below(problem, memory, level);
            let known = dispatch(Least(memory.screen)) + problem.values().fall;
            u = 0.5 * known + 0.5 * level;
        }
        admit_below(problem, memory, u);
        let at = price_all(problem, memory, u, 0.0, &mut priced);
        let upper = u + (at.above + (problem.radius - at.spent)) / at.weight;
        if !(upper.is_finite() && at.weight.is_finite()) {
            break;
        }
        let enough = tolerance.max(problem.noise(u));
        let steep = priced.iter().flatten().any(|row| row.at.t.is_infinite());
        if (upper - u).abs() <= enough && upper - at.least <= enough && !steep {
            let point = |row: &Option<PricedRow>| row.map_or(Priced::NOMINAL, |row| row.at);
            for (j, Priced { t, nu, .. }) in priced.iter().map(point).enumerate() {
                (problem.active.t[j], problem.active.nu[j]) = (t, nu);
            }
            found = Some(StateOutcome::Met(Enclosure { lower: at.least.min(upper), upper }));
            break;
        }
        u = upper;
    }
    problem.active.bracket.priced = priced;
    found.unwrap_or_else(|| bracketed::free(problem, memory, tolerance, level))
}

/// max over the set for a fixed policy: the active rows are `rows`, of weights `x`.
pub(super) fn fixed(
    problem: &mut StateProblem<'_>,
    rows: &[u32],
    x: &[f64],
    tolerance: f64,
) -> StateOutcome {
    let total: f64 = x.iter().sum();
    let mean = |points: &mut dyn Iterator<Item = f64>| {
        points.zip(x).map(|(value, x)| x / total * value).sum::<f64>()
    };
    // Values are counted from the maxima, so that slopes of chords keep their digits.
    let nominal = mean(&mut rows.iter().map(|&k| problem.below_maximum(k as usize)));
    let maxima: Vec<PricedRow> = rows.iter().map(|&k| problem.on_maximum(k as usize)).collect();
    let origin = mean(&mut maxima.iter().map(|row| row.value));
    let mut high = (0.0, maxima.iter().map(|row| row.price).sum::<f64>());
    let (mut low, mut best) = ((nominal, 0.0), Enclosure { lower: nominal, upper: 0.0 });
    let warm = problem.active.t[0] * problem.kappa(rows[0] as usize) / x[0];
    // The rows of the best upper bound.
    let mut kept: Option<Vec<[PricedRow; 2]>> = None;
    let usable = |r: f64| r > 0.0 && r.is_finite();
    let mut r = if usable(warm) { warm } else { (high.1 - low.1) / (total * (high.0 - low.0)) };
    for _ in 0..STEPS {
        if !usable(r) {
            break;
        }
        let ends: Vec<[PricedRow; 2]> =
            rows.iter().zip(x).map(|(&k, x)| problem.ends(k as usize, r * x)).collect();
        let [from, to] = [0, 1].map(|end: usize| {
            let value = mean(&mut ends.iter().map(|row| row[end].at.value));
            (value, ends.iter().map(|row| row[end].price).sum::<f64>())
        });
        let upper = from.0 + (problem.radius - from.1) / (r * total);
        if upper <= best.upper || kept.is_none() {
            kept = Some(ends.clone());
        }
        best.upper = best.upper.min(upper);
        if from.1 <= problem.radius && problem.radius <= to.1 {
            let share = mix(problem, &ends);
            let value = from.0 + share * (to.0 - from.0);
            best.lower = best.lower.max(value).min(best.upper);
            kept = Some(ends);
            break;
        }
        if to.1 < problem.radius {
            (low, best.lower) = (to, best.lower.max(to.0));
        } else {
            high = from;
        }
        r = (high.1 - low.1) / (total * (high.0 - low.0));
    }
    let enough = tolerance.max(problem.noise(origin + best.upper));
    if best.upper - best.lower > enough {
        return bracketed::fixed(problem, rows, x, tolerance);
    }
    match kept {
        Some(ends) => {
            mix(problem, &ends);
        }
        // Nothing to gain: the rows are nominal.
        None => problem.active.t[..rows.len()].fill(0.0),
    }
    StateOutcome::Met(Enclosure { lower: origin + best.lower, upper: origin + best.upper })
}
