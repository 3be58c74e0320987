//! Saturation: the budget lifts every row to the lowest peak, μ = min_a max b_a, and the policy is
//! that row alone.
//!
//! Prices d_a(μ + h) with some headroom h serve later sweeps too: the kernels that were priced then
//! are worth at least what they were less the fall of v, so that a state stays saturated, unread,
//! until its lowest peak has risen by h against them or another row has come below it (see
//! [`super::standing`]).

use super::active::{Between, Least, RowMemory};
use super::ball::{Ball, Outcome};
use super::prices::{Candidate, UNKNOWN, affordable, note};
use crate::lanes::dispatch;
use crate::uncertainty::Enclosure;

/// Headroom, as a share of what the lowest row is lifted: where it costs nothing to ask for it, and
/// where rows are priced one by one, for sweeps far apart, for close ones, and none.
const CHEAP_HEADROOM: [f64; 2] = [1.0 / 16.0, 0.0];
const HEADROOM: [f64; 3] = [1.0 / 64.0, 1.0 / 4096.0, 0.0];

/// Row `k` under work, alone, at its peak.
pub(super) fn at_peak<B: Ball>(ball: &mut B, k: usize) {
    let base = ball.rows().base[k];
    ball.active().leave_alone(k, base, f64::INFINITY);
}

/// Saturation that follows from floors alone, where peaks are `base`: every row moved straight
/// towards its peak.
pub(super) fn cheaply_saturated<B: Ball>(
    ball: &mut B,
    memory: &mut RowMemory<'_>,
    ceiling: f64,
) -> Option<Outcome> {
    // One row at least goes all the way.
    if !ball.peaks_are_bases() || ball.move_cost(1.0, f64::INFINITY) > ball.radius() {
        return None;
    }
    let (drift, anchor) = ball.drift();
    let lowest = dispatch(Least(memory.floor)) + drift;
    if lowest == f64::NEG_INFINITY {
        return None;
    }
    for headroom in CHEAP_HEADROOM {
        let level = ceiling + headroom * (ceiling - lowest).max(0.0);
        let mut cost = 0.0;
        for (k, &base) in ball.rows().base.iter().enumerate() {
            let floor = memory.floor[k] + drift;
            if floor < level {
                // Rows whose own peak lies below the level are lifted there.
                cost += ball.move_cost(share(level, floor, base), f64::INFINITY);
            }
        }
        if cost <= ball.radius() {
            let chosen = ball.rows().base.iter().position(|b| *b == ceiling)?;
            for k in 0..memory.t.len() {
                let (floor, base) = (memory.floor[k] + drift, ball.rows().base[k]);
                memory.t[k] = 0.0;
                if floor < level {
                    let cost = ball.move_cost(share(level, floor, base), f64::INFINITY);
                    memory.t[k] = -cost.max(f64::MIN_POSITIVE);
                    memory.nu[k] = if base <= level { f64::INFINITY } else { 0.0 };
                }
            }
            at_peak(ball, chosen);
            let bounds = Enclosure { lower: ceiling, upper: ceiling };
            return Some(Outcome::Peak { bounds, level: level - anchor });
        }
    }
    None
}

/// The share of the way from `floor` to `peak` that reaches the level, or all of it.
fn share(level: f64, floor: f64, peak: f64) -> f64 {
    if level < peak { (level - floor) / (peak - floor) } else { 1.0 }
}

/// Whether the budget lifts every row to the lowest peak; that row is then under work alone. If not, the
/// lowest peak, or the `bound` where none is lower.
///
/// Prices are no sharper than it takes to compare them with the budget: first what is known tells, then
/// a move straight towards the peak, then rows are read, all at once or the dearest first.
pub(super) fn saturated<B: Ball>(
    ball: &mut B,
    memory: &mut RowMemory<'_>,
    bound: f64,
) -> Result<Outcome, f64> {
    let (drift, anchor) = ball.drift();
    let deepest = dispatch(Least(memory.floor)) + drift;
    let above = |level: f64, share: f64| {
        let depth = level - deepest;
        level + if depth.is_finite() { share * depth.max(0.0) } else { 0.0 }
    };
    let mut rows = std::mem::take(&mut ball.active().candidates);
    let lowest = list(ball, memory, bound, above(bound, HEADROOM[0]), &mut rows);
    let mut ceiling = bound;
    let found = lowest.and_then(|lowest| {
        ceiling = rows[lowest].peak;
        // That row has to reach its peak, whatever the others cost.
        if rows[lowest].cost_of_peak(ball) > ball.radius() {
            return None;
        }
        let chosen = rows[lowest].row;
        let levels = HEADROOM.map(|share| above(ceiling, share));
        rows.retain(|row| row.floor < levels[0]);
        rows.iter_mut().for_each(|row| {
            row.cost_of_peak(ball);
        });
        note(ball, &mut rows);
        let level = highest_affordable(ball, memory, &mut rows, levels)?;
        Some((chosen, level))
    });
    if let Some((chosen, level)) = found {
        memory.t.fill(0.0);
        for row in &rows {
            // Also where the row turned out to need no lift.
            if memory.floor[row.row] + drift < level {
                memory.t[row.row] = -row.price.max(f64::MIN_POSITIVE);
                memory.nu[row.row] = match row.peak <= level {
                    true => f64::INFINITY,
                    false if row.point.t > 0.0 && row.point.t.is_finite() => row.point.t,
                    false => 0.0,
                };
            }
        }
        at_peak(ball, chosen);
    }
    ball.active().candidates = rows;
    let Some((_, level)) = found else { return Err(ceiling) };
    let bounds = Enclosure { lower: ceiling, upper: ceiling };
    Ok(Outcome::Peak { bounds, level: level - anchor })
}

/// Lists the rows that may lie below `highest`; returns which of them has the lowest peak, if that is no
/// higher than `bound`.
fn list<B: Ball>(
    ball: &mut B,
    memory: &RowMemory<'_>,
    bound: f64,
    highest: f64,
    rows: &mut Vec<Candidate>,
) -> Option<usize> {
    let drift = ball.drift().0;
    let mut below = std::mem::take(&mut ball.active().pending);
    let all = f64::NEG_INFINITY;
    dispatch(Between { of: memory.floor, above: all, below: highest - drift, out: &mut below });
    let (mut ceiling, mut lowest) = (bound, None);
    rows.clear();
    for row in below.iter().map(|&k| k as usize) {
        let floor = memory.floor[row] + drift;
        let (mut peak, mut cost) = (f64::NAN, None);
        // Rows that cannot have the lowest peak need not be looked at.
        if floor <= ceiling {
            (peak, cost) = ball.summit(row);
            if peak < ceiling || lowest.is_none() && peak == ceiling {
                (ceiling, lowest) = (peak, Some(rows.len()));
            }
        }
        let peak_cost = cost.unwrap_or(f64::NAN);
        rows.push(Candidate {
            row,
            floor,
            peak,
            peak_cost,
            point: UNKNOWN,
            price: 0.0,
            least: 0.0,
        });
    }
    ball.active().pending = below;
    lowest
}

/// The first of falling levels to which the budget lifts all rows.
fn highest_affordable<B: Ball>(
    ball: &mut B,
    memory: &RowMemory<'_>,
    rows: &mut [Candidate],
    levels: [f64; HEADROOM.len()],
) -> Option<f64> {
    let lowest = levels[HEADROOM.len() - 1];
    for level in levels {
        if affordable(ball, memory, rows, level) {
            return Some(level);
        }
        // What was read on the way may rule out all of them.
        rows.iter_mut().for_each(|row| row.charge(lowest));
        if rows.iter().map(|row| row.least).sum::<f64>() > ball.radius() {
            return None;
        }
    }
    None
}

/// Whether the budget puts every row of a fixed policy on its peak.
pub(super) fn saturated_fixed<B: Ball>(ball: &mut B, rows: &[u32], x: &[f64]) -> Option<Outcome> {
    let (mut cost, mut value, mut total) = (0.0, 0.0, 0.0);
    for (&k, &x) in rows.iter().zip(x) {
        let (peak, peak_cost) = ball.peak(k as usize);
        cost += peak_cost;
        value += x * peak;
        total += x;
        if cost > ball.radius() {
            return None;
        }
    }
    ball.active().t.fill(f64::INFINITY);
    let value = value / total;
    let bounds = Enclosure { lower: value, upper: value };
    Some(Outcome::Peak { bounds, level: f64::NEG_INFINITY })
}
