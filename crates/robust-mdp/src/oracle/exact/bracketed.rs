//! The driver for every set: rows priced one by one, Newton's method on the common value within a
//! bracket.
//!
//! At a trial value μ the active rows cost D = Σκg(μ) and have weights κt, T = Σκt. Weak duality and the
//! rows brought into the set bound
//!   min_a share·value_a + (1 − share)·nominal_a ≤ F ≤ [Σκt·value + α − D]/T = μ + (α − D)/T;
//! the upper bound is Newton's next μ. Σκg is convex: after one step μ falls to F.
//!
//! A policy x has κt = r·x. In the plane of Σx·value and ΣD the points at r below and above the budget
//! enclose the curve between their chord and their tangents; the slope of the chord is the next r, which
//! is that of an edge where the curve is piecewise linear, and D = α a mixture of its ends.

use super::active::{RowMemory, least};
use super::driver::admit_below;
use super::problem::{PricedRow, StateOutcome, StateProblem};
use crate::sets::Enclosure;
use crate::sets::set::{Priced, RowKind};

const STEPS: usize = 200;
/// Newton's steps are trusted this far; they may creep along both ends of a bracket.
const TRUSTED: usize = 60;
/// Rows need not be nearer to a trial value than this share of their way to it.
const SLACK: f64 = 0.1;
/// Trials that bring nothing nearer before the search gives up.
const IDLE: usize = 4;

/// min over policies, max over the set; `level` is no lower than the saturation level.
pub(super) fn free(
    problem: &mut StateProblem<'_>,
    memory: &mut RowMemory<'_>,
    tolerance: f64,
    level: f64,
) -> StateOutcome {
    let (level, lowest) = lowest_maximum(problem, memory, level);
    let mut scratch = std::mem::take(&mut problem.active.bracket);
    let outcome = search(problem, memory, tolerance, level, lowest, &mut scratch);
    problem.active.bracket = scratch;
    outcome
}

/// Memory of the search.
#[derive(Debug, Default)]
pub(super) struct Bracket {
    priced: Vec<Option<PricedRow>>,
    /// The rows of the best upper bound; empty: there is none.
    kept: Vec<PricedRow>,
    ends: Vec<[PricedRow; 2]>,
    kept_ends: Vec<[PricedRow; 2]>,
}

fn search(
    problem: &mut StateProblem<'_>,
    memory: &mut RowMemory<'_>,
    tolerance: f64,
    level: f64,
    lowest: usize,
    Bracket { priced, kept, .. }: &mut Bracket,
) -> StateOutcome {
    priced.clear();
    kept.clear();
    let mut mu = match warm_value(problem, priced) {
        mu if mu < level => mu,
        _ => {
            admit_below(problem, memory, level);
            0.5 * (least(memory.screen) + problem.values().fall).max(-1e300) + 0.5 * level
        }
    };
    let mut best = Enclosure { lower: f64::NEG_INFINITY, upper: level };
    let (mut least_off, mut idle) = (f64::INFINITY, 0);
    for trial in 0..STEPS {
        admit_below(problem, memory, mu);
        let sums = price_all(problem, memory, mu, if idle == 0 { SLACK } else { 0.0 }, priced);
        let before = best;
        best.lower = best.lower.max(sums.least.min(level));
        if sums.weight == 0.0 && sums.spent == 0.0 && !admit_below(problem, memory, level) {
            let nominal = problem.active.nominal[..problem.active.len()].iter().flatten();
            if nominal.fold(f64::INFINITY, |m, v| m.min(*v)) >= level {
                // No row lies below the lowest maximum.
                (best.lower, best.upper) = (level, level);
                break;
            }
        }
        let upper = mu + (sums.above + (problem.radius - sums.spent)) / sums.weight;
        let noise = problem.noise(mu);
        let enough = tolerance.max(noise);
        // Within rounding the later rows, which are nearer to where the bounds meet.
        if upper < best.upper + 0.25 * noise && upper < level {
            best.upper = upper;
            kept.clear();
            kept.extend(priced.iter().map(|row| row.unwrap_or(NOMINAL)));
        }
        // Bounds meet to second order in μ, rows of that value to first.
        let off = sums.off.max((mu - best.upper).abs());
        if best.upper - best.lower <= enough && off <= enough {
            break;
        }
        // Where steps bring nothing, rows are priced to rounding and the bracket is halved.
        let better = best.lower > before.lower || best.upper < before.upper || off < least_off;
        (least_off, idle) = (least_off.min(off), if better { 0 } else { idle + 1 });
        if idle == IDLE {
            break;
        }
        // Σκg(μ) to first order.
        let spent = (sums.spent - sums.above).max(0.0);
        let fresh = mu + newton(problem.radius, spent, sums.weight, level - mu);
        let low = best.lower.max(level - problem.rows.range);
        let trusted = idle == 0 && (trial < TRUSTED || trial % 2 == 1);
        mu = match trusted && low <= fresh && fresh <= best.upper && fresh < level {
            true => fresh,
            false => 0.5 * (low + best.upper),
        };
    }
    best.lower = best.lower.min(best.upper);
    let rows = problem.active.len();
    if !kept.is_empty() {
        for j in 0..rows {
            let at = kept.get(j).map(|row| row.at).filter(|at| at.t.is_finite());
            (problem.active.t[j], problem.active.nu[j]) = at.map_or((0.0, 0.0), |at| (at.t, at.nu));
        }
        if problem.active.t[..rows].iter().any(|t| *t > 0.0) {
            on_edges(problem, best.lower);
            return StateOutcome::Met(best);
        }
    }
    best.upper = level;
    memory.t.fill(0.0);
    for (row, &k) in priced.iter().zip(&problem.active.row) {
        if let Some(at) = row.map(|row| row.at).filter(|at| at.t.is_finite()) {
            (memory.t[k as usize], memory.nu[k as usize]) = (at.t, at.nu);
        }
    }
    memory.t[lowest] = f64::INFINITY;
    StateOutcome::Saturated { row: lowest, bounds: best }
}

/// Puts rows that have edges at their multipliers where these have the value μ: upper bounds do not tell.
fn on_edges(problem: &mut StateProblem<'_>, mu: f64) {
    if matches!(problem.set.kind(), RowKind::Quadratic(_) | RowKind::Tilt(_) | RowKind::Smooth) {
        return;
    }
    for j in 0..problem.active.len() {
        let (k, t) = (problem.active.row[j] as usize, problem.active.t[j]);
        if t > 0.0 {
            let [from, to] = problem.ends(k, t * problem.kappa(k), None);
            if from.value < to.value {
                let share = (mu - from.value) / (to.value - from.value);
                problem.active.nu[j] = from.at.towards(to.at, share.clamp(0.0, 1.0)).nu;
            }
        }
    }
}

/// A row that stays nominal.
const NOMINAL: PricedRow = PricedRow { at: Priced::NOMINAL, value: 0.0, price: 0.0, weight: 0.0 };

/// The lowest maximum, and the row that has it.
fn lowest_maximum(
    problem: &mut StateProblem<'_>,
    memory: &RowMemory<'_>,
    bound: f64,
) -> (f64, usize) {
    let fall = problem.values().fall;
    let (mut level, mut lowest) = (f64::INFINITY, 0);
    for k in 0..problem.rows.len() {
        if memory.screen[k] + fall <= level.min(bound)
            || level.is_infinite() && k + 1 == problem.rows.len()
        {
            let largest = problem.largest(k);
            if largest < level {
                (level, lowest) = (largest, k);
            }
        }
    }
    (level, lowest)
}

/// Newton's value at the multipliers that the active rows have; ∞ without any.
fn warm_value(problem: &mut StateProblem<'_>, priced: &mut Vec<Option<PricedRow>>) -> f64 {
    let (mut weight, mut worth) = (0.0, 0.0);
    let origin = problem.active.base.first().copied().unwrap_or(0.0);
    for j in 0..problem.active.len() {
        let (k, t, nu) =
            (problem.active.row[j] as usize, problem.active.t[j], problem.active.nu[j]);
        let point = Priced { t, nu, ..Priced::NOMINAL };
        if !(t > 0.0 && t.is_finite()) {
            priced.push(None);
            continue;
        }
        let row = problem.at(k, t * problem.kappa(k), Some(point));
        weight += row.weight;
        worth += row.weight * (row.value - origin) - row.price;
        priced.push(Some(row));
    }
    let mu = origin + (worth + problem.radius) / weight;
    if mu.is_nan() { f64::INFINITY } else { mu }
}

/// What the active rows are worth at a trial value.
struct Prices {
    /// D, T and Σκt·(value − μ).
    spent: f64,
    weight: f64,
    above: f64,
    /// The least row value of the rows brought into the set.
    least: f64,
    /// The largest |value − μ|.
    off: f64,
}

/// Brings the active rows to μ, but for a share `slack` of the way that they have to go.
fn price_all(
    problem: &mut StateProblem<'_>,
    memory: &mut RowMemory<'_>,
    mu: f64,
    slack: f64,
    priced: &mut Vec<Option<PricedRow>>,
) -> Prices {
    let mut sums = Prices { spent: 0.0, weight: 0.0, above: 0.0, least: f64::INFINITY, off: 0.0 };
    let rows = problem.active.len();
    priced.resize(rows, None);
    let (fall, noise) = (problem.values().fall, problem.noise(mu));
    for j in 0..rows {
        let k = problem.active.row[j] as usize;
        let near = priced[j];
        // g' ≤ t up to its value, so that price ≤ t(value − nominal).
        let raised = |row: PricedRow| row.value - row.price / row.weight;
        let known = problem.active.nominal[j].or(near.map(raised).filter(|at| *at < mu - noise));
        let nominal = known.unwrap_or_else(|| read_nominal(problem, memory, j));
        priced[j] = (nominal < mu - noise).then(|| {
            let way = (mu - near.map_or(nominal, |row| row.value)).abs();
            problem.price(k, mu, slack * way, near.map(|row| row.at))
        });
        if let Some(row) = priced[j] {
            sums.spent += row.price;
            sums.weight += row.weight;
            sums.above += row.weight * (row.value - mu);
            sums.off = sums.off.max((row.value - mu).abs());
        }
    }
    let share = problem.shrink(sums.spent);
    for j in 0..rows {
        let nominal = problem.active.nominal[j].unwrap_or(problem.active.bound[j] + fall);
        let mixed = |row: PricedRow| share * row.value + (1.0 - share) * nominal;
        sums.least = sums.least.min(priced[j].map_or(nominal, mixed));
    }
    // Rows that are not active lie above μ.
    sums.least = sums.least.min(mu);
    sums
}

/// The nominal value of active row j, which is remembered.
fn read_nominal(problem: &mut StateProblem<'_>, memory: &mut RowMemory<'_>, j: usize) -> f64 {
    let k = problem.active.row[j] as usize;
    let nominal = problem.nominal(k);
    let bound = nominal - problem.slack(k, nominal) - problem.values().fall_before;
    problem.active.nominal[j] = Some(nominal);
    (memory.screen[k], problem.active.bound[j]) = (bound, bound);
    nominal
}

/// Newton's step from μ, where D = `spent` has the slope T, to D = `radius`: on √D, nearly linear
/// in μ at first; on D against −ln(level − μ), `below` being that difference, where D has come to
/// grow like it.
fn newton(radius: f64, spent: f64, weight: f64, below: f64) -> f64 {
    match weight * below < spent {
        true => below * -((spent - radius) / (weight * below)).exp_m1(),
        false => 2.0 * spent.sqrt() * (radius.sqrt() - spent.sqrt()) / weight,
    }
}

/// A point of the curve of a policy: Σx·value, counted from the maxima, and ΣD at r.
#[derive(Clone, Copy)]
struct CurvePoint {
    r: f64,
    value: f64,
    spent: f64,
}

/// max over the set for a fixed policy: the active rows are `rows`, of weights `x`.
pub(super) fn fixed(
    problem: &mut StateProblem<'_>,
    rows: &[u32],
    x: &[f64],
    tolerance: f64,
) -> StateOutcome {
    let total: f64 = x.iter().sum();
    // Values are counted from the maxima, so that slopes of chords keep their digits.
    let (mut origin, mut nominal) = (0.0, 0.0);
    let mut maximum = CurvePoint { r: f64::INFINITY, value: 0.0, spent: 0.0 };
    for (&k, &x) in rows.iter().zip(x) {
        nominal += x / total * problem.below_maximum(k as usize);
        let row = problem.on_maximum(k as usize);
        origin += x / total * (row.value - row.at.value);
        maximum.value += x / total * row.at.value;
        maximum.spent += row.price;
    }
    let mut best = Enclosure { lower: nominal, upper: maximum.value };
    let mut low = CurvePoint { r: 0.0, value: nominal, spent: 0.0 };
    let mut high = maximum;
    let mut scratch = std::mem::take(&mut problem.active.bracket);
    let Bracket { kept_ends: kept, ends, .. } = &mut scratch;
    kept.clear();
    let warm = problem.active.t[0] * problem.kappa(rows[0] as usize) / x[0];
    let chord = |low: &CurvePoint, high: &CurvePoint| {
        (high.spent - low.spent) / (total * (high.value - low.value))
    };
    let usable = |r: &f64| *r > 0.0 && r.is_finite();
    let mut r = Some(warm).filter(usable).unwrap_or_else(|| chord(&low, &high));
    if !usable(&r) {
        r = total / problem.rows.range.max(1e-290);
    }
    let mut least = f64::INFINITY;
    for step in 0..STEPS {
        let [mut from, mut to] = evaluate(problem, rows, x, total, r, kept, ends);
        if let Some(edge) = slope_of_edge(problem, rows, x, ends) {
            r = edge;
            [from, to] = evaluate(problem, rows, x, total, r, kept, ends);
        }
        let upper = from.value + (problem.radius - from.spent) / (r * total);
        best.upper = best.upper.min(upper);
        // Within rounding the later rows, which are nearer to where the bounds meet.
        if upper < least + 0.25 * problem.noise(origin + upper) {
            least = upper;
            kept.clone_from(ends);
        }
        let within = to.spent <= problem.radius;
        let at = if within { to } else { from };
        let share = problem.shrink(at.spent);
        best.lower = best.lower.max(share * at.value + (1.0 - share) * nominal);
        let edge = from.spent <= problem.radius && !within;
        if edge {
            let share = (problem.radius - from.spent) / (to.spent - from.spent);
            best.lower = best.lower.max(from.value + share * (to.value - from.value));
            kept.clone_from(ends);
        }
        *(if within { &mut low } else { &mut high }) = at;
        best.lower = best.lower.min(best.upper);
        // Bounds may meet before the rows have spent the budget.
        let enough = tolerance.max(problem.noise(origin + best.upper));
        let spent = (upper - at.value).abs() <= enough;
        if edge || spent && best.upper - best.lower <= enough {
            break;
        }
        let inside = |r: &f64| usable(r) && *r > low.r && *r < high.r;
        let next = match step % 2 {
            0 => Some(secant(problem.radius, r, &low, &high)),
            _ => Some(chord(&low, &high)),
        };
        let halved = match (low.r > 0.0, high.r.is_finite()) {
            (_, false) => 4.0 * r,
            (false, true) => 0.25 * r,
            (true, true) => (low.r * high.r).sqrt(),
        };
        r = next.filter(inside).unwrap_or(halved);
        if !inside(&r) || !(1e-290..1e290).contains(&r) {
            break;
        }
    }
    mix(problem, kept);
    problem.active.bracket = scratch;
    StateOutcome::Met(Enclosure { lower: origin + best.lower, upper: origin + best.upper })
}

/// r at the edge that the ends of a row span, if they do.
fn slope_of_edge(
    problem: &StateProblem<'_>,
    rows: &[u32],
    x: &[f64],
    ends: &[[PricedRow; 2]],
) -> Option<f64> {
    let j = ends.iter().position(|[from, to]| from.price < to.price)?;
    Some(ends[j][0].at.t * problem.kappa(rows[j] as usize) / x[j])
}

/// Gives the active rows the share of the way between their ends that spends the budget.
fn mix(problem: &mut StateProblem<'_>, ends: &[[PricedRow; 2]]) {
    let [low, high] = [0, 1].map(|end: usize| ends.iter().map(|row| row[end].price).sum::<f64>());
    let share = if high > low { (problem.radius - low) / (high - low) } else { 0.0 };
    for (j, [from, to]) in ends.iter().enumerate() {
        let at = from.at.towards(to.at, share.clamp(0.0, 1.0));
        (problem.active.t[j], problem.active.nu[j]) = (at.t, at.nu);
    }
}

/// ln D against ln r is nearly linear: from both ends, or from r alone where D grows like r².
fn secant(radius: f64, r: f64, low: &CurvePoint, high: &CurvePoint) -> f64 {
    if low.r > 0.0 && high.r.is_finite() {
        let share = (radius / low.spent).ln() / (high.spent / low.spent).ln();
        return low.r * ((high.r / low.r).ln() * share).exp();
    }
    r * (radius / if r == low.r { low.spent } else { high.spent }).sqrt()
}

/// The ends of the rows at r, with what they have together.
fn evaluate(
    problem: &mut StateProblem<'_>,
    rows: &[u32],
    x: &[f64],
    total: f64,
    r: f64,
    near: &[[PricedRow; 2]],
    out: &mut Vec<[PricedRow; 2]>,
) -> [CurvePoint; 2] {
    let mut at = [CurvePoint { r, value: 0.0, spent: 0.0 }; 2];
    out.clear();
    for (j, (&k, &x)) in rows.iter().zip(x).enumerate() {
        let ends = problem.ends(k as usize, r * x, near.get(j).map(|row| row[0].at));
        for (at, row) in at.iter_mut().zip(&ends) {
            at.value += x / total * row.at.value;
            at.spent += row.price;
        }
        out.push(ends);
    }
    at
}
