//! Saturation: the budget raises every row to the lowest of their maxima, F = min_a max b_a, and the
//! policy is that row alone.

use super::active::{RowMemory, between, least};
use super::problem::{StateOutcome, StateProblem};
use crate::sets::Enclosure;
use crate::sets::set::Priced;

/// Rows are priced a little above the level, as a share of the way up to their maxima, so that less
/// care arrives.
const ABOVE: f64 = 1e-3;

/// A row that lies below the level.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowBelow {
    row: usize,
    /// At most its nominal value.
    bound: f64,
    largest: f64,
    face: f64,
    /// At most this much raises it to the level, and at least that.
    price: f64,
    least: f64,
    point: Option<Priced>,
}

fn at(row: usize, value: f64) -> StateOutcome {
    StateOutcome::Saturated { row, bounds: Enclosure { lower: value, upper: value } }
}

/// Saturation that follows from screening bounds alone, where a row's base is its largest value: every
/// row is moved straight towards its maximum, at no more than the set's diameter for the whole way.
pub(super) fn saturated_unread(
    problem: &mut StateProblem<'_>,
    memory: &mut RowMemory<'_>,
    level: f64,
) -> Option<StateOutcome> {
    let diameter = problem.diameter();
    // One row at least goes all the way.
    let bases_are_largest = problem.rows.shared() && problem.rows.maxima_are_zero();
    if !(bases_are_largest && diameter <= problem.radius) || problem.has_peaks() {
        return None;
    }
    let fall = problem.values().fall;
    if least(memory.screen) == f64::NEG_INFINITY {
        return None;
    }
    let mut spent = 0.0;
    for (k, &base) in problem.rows.bases().iter().enumerate() {
        let bound = memory.screen[k] + fall;
        if bound < level {
            let share = if level < base { (level - bound) / (base - bound) } else { 1.0 };
            spent += problem.kappa(k) * problem.part(share, diameter);
        }
    }
    if spent > problem.radius {
        return None;
    }
    let row = problem.rows.bases().iter().position(|base| *base == level)?;
    memory.t.fill(0.0);
    memory.t[row] = f64::INFINITY;
    Some(at(row, level))
}

/// Whether the budget raises every row to the lowest maximum. If not, that, or the `bound` where none
/// is lower.
pub(super) fn saturated(
    problem: &mut StateProblem<'_>,
    memory: &mut RowMemory<'_>,
    bound: f64,
) -> Result<StateOutcome, f64> {
    let mut rows = std::mem::take(&mut problem.active.candidates);
    let lowest = list(problem, memory, bound, &mut rows);
    let level = lowest.map_or(bound, |row| problem.largest(row));
    let found = lowest.filter(|&row| {
        // That row has to reach its maximum, whatever the others cost.
        if problem.face(row) > problem.radius {
            return false;
        }
        rows.retain(|row| row.bound < level);
        affordable(problem, memory, &mut rows, level)
    });
    if let Some(row) = found {
        memory.t.fill(0.0);
        for candidate in &rows {
            if let Some(Priced { t, nu, .. }) = candidate.point {
                (memory.t[candidate.row], memory.nu[candidate.row]) = (t, nu);
            }
        }
        memory.t[row] = f64::INFINITY;
    }
    problem.active.candidates = rows;
    found.map_or(Err(level), |row| Ok(at(row, level)))
}

/// Lists the rows that may lie below the lowest maximum; returns which one has it, if it is no higher
/// than `bound`.
fn list(
    problem: &mut StateProblem<'_>,
    memory: &RowMemory<'_>,
    bound: f64,
    rows: &mut Vec<RowBelow>,
) -> Option<usize> {
    let fall = problem.values().fall;
    let mut below = std::mem::take(&mut problem.active.pending);
    let all = f64::NEG_INFINITY;
    between(memory.screen, all, bound - fall, &mut below);
    let (mut level, mut lowest) = (bound, None);
    rows.clear();
    for row in below.iter().map(|&k| k as usize) {
        let bound = memory.screen[row] + fall;
        // A row whose nominal value is above another's maximum matters no more.
        if bound > level {
            continue;
        }
        let largest = problem.largest(row);
        if largest < level || lowest.is_none() && largest <= level {
            (level, lowest) = (largest, Some(row));
        }
        let (face, price, least) = (0.0, 0.0, 0.0);
        rows.push(RowBelow { row, bound, largest, face, price, least, point: None });
    }
    problem.active.pending = below;
    lowest
}

/// Whether the budget raises these rows to the level: by chords of their price curves, and where these
/// do not tell by prices.
fn affordable(
    problem: &mut StateProblem<'_>,
    memory: &RowMemory<'_>,
    rows: &mut [RowBelow],
    level: f64,
) -> bool {
    for row in &mut *rows {
        row.face = problem.face(row.row);
        row.price = row.face;
        if row.largest <= level {
            row.least = row.face;
        } else if row.bound > f64::NEG_INFINITY {
            let share = (level - row.bound) / (row.largest - row.bound);
            row.price = problem.part(share, row.face);
        }
    }
    let mut price: f64 = rows.iter().map(|row| row.price).sum();
    let mut least: f64 = rows.iter().map(|row| row.least).sum();
    let open = |row: &&mut RowBelow| row.largest > level;
    for row in rows.iter_mut().filter(open) {
        if price <= problem.radius || least > problem.radius {
            break;
        }
        let before = (row.price, row.least);
        let nominal = problem.nominal(row.row);
        if nominal >= level {
            row.price = 0.0;
        } else {
            let above = ABOVE * (row.largest - level);
            let near = memory.point(row.row);
            let priced = problem.price(row.row, level + above, above, near);
            row.point = Some(priced.at);
            row.least = (priced.price + priced.weight * (level - priced.value)).max(0.0);
            row.price = row.price.min(match priced.value >= level {
                true => priced.price * ((level - nominal) / (priced.value - nominal)).min(1.0),
                false => row.price,
            });
        }
        price += row.price - before.0;
        least += row.least - before.1;
    }
    // Anew, since differences may have cancelled.
    rows.iter().map(|row| row.price).sum::<f64>() <= problem.radius
}

/// Whether the budget puts every row of a fixed policy on its maximum.
pub(super) fn saturated_fixed(
    problem: &mut StateProblem<'_>,
    rows: &[u32],
    x: &[f64],
) -> Option<StateOutcome> {
    let (mut spent, mut value, mut total) = (0.0, 0.0, 0.0);
    for (&k, &x) in rows.iter().zip(x) {
        spent += problem.face(k as usize);
        if spent > problem.radius {
            return None;
        }
        value += x * problem.largest(k as usize);
        total += x;
    }
    let rows = problem.active.len();
    problem.active.t[..rows].fill(f64::INFINITY);
    let value = value / total;
    Some(StateOutcome::Met(Enclosure { lower: value, upper: value }))
}
