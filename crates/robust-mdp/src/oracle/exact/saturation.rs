//! Saturation: the budget lifts every row to the lowest peak, μ = min_a max b_a, and the policy is
//! that row alone.
//!
//! Prices d_a(μ + h) with some headroom h serve later sweeps too: the kernels that were priced then
//! are worth at least what they were less the fall of v, so that a state stays saturated, unread,
//! until its lowest peak has risen by h against them or another row has come below it.

use super::active::{Least, RowMemory};
use super::driver::{Ball, Outcome, noise};
use crate::lanes::dispatch;
use crate::uncertainty::Enclosure;

/// Headroom, as a share of what the lowest row is lifted: where it costs nothing to ask for it, and
/// where rows are priced one by one, for sweeps far apart, for close ones, and none.
const CHEAP_HEADROOM: [f64; 2] = [1.0 / 16.0, 0.0];
const HEADROOM: [f64; 3] = [1.0 / 64.0, 1.0 / 4096.0, 0.0];

/// Rows are priced above the level by this share of the way to their peaks.
const PRICING: f64 = 1.0 / 64.0;

/// Row `k` under work, alone, at its peak.
pub(super) fn at_peak<B: Ball>(ball: &mut B, memory: &RowMemory<'_>, k: usize) {
    let base = ball.rows().base[k];
    ball.active().clear(memory.floor);
    ball.active().push(k, base, f64::INFINITY, 0.0);
}

/// A state that was saturated, on the peak of row `before`, and must still be: rows priced on the way
/// to the level cost what they did, those on their peaks are priced again, and all others have stayed
/// above.
pub(super) fn still_saturated<B: Ball>(
    ball: &mut B,
    memory: &mut RowMemory<'_>,
    before: usize,
) -> Option<Outcome> {
    let drift = ball.drift().0;
    let level = memory.nu[before];
    if level == f64::NEG_INFINITY {
        return None;
    }
    let (mut ceiling, cost) = ball.peak(before);
    let (mut chosen, mut total, mut least) = (before, cost, f64::INFINITY);
    for k in 0..memory.t.len() {
        if memory.t[k] >= 0.0 {
            least = if k == before { least } else { least.min(memory.floor[k]) };
            continue;
        }
        if memory.nu[k] <= level {
            let (peak, cost) = ball.peak(k);
            memory.t[k] = -cost.max(f64::MIN_POSITIVE);
            if peak < ceiling {
                (ceiling, chosen) = (peak, k);
            }
        }
        total -= memory.t[k];
    }
    let slack = noise(ball, ceiling) + 16.0 * f64::EPSILON * drift.abs();
    if total > ball.radius() || ceiling > level.min(least) + drift - slack {
        return None;
    }
    if chosen != before {
        (memory.t[before], memory.nu[before]) = (-cost.max(f64::MIN_POSITIVE), level);
    }
    at_peak(ball, memory, chosen);
    Some(Outcome::Peak { bounds: Enclosure { lower: ceiling, upper: ceiling }, level })
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
                    (memory.t[k], memory.nu[k]) = (-cost.max(f64::MIN_POSITIVE), base - anchor);
                }
            }
            at_peak(ball, memory, chosen);
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

/// Whether the budget lifts every row to the lowest peak; that row is then under work alone.
///
/// Every row is first charged what a move straight towards its peak costs; the exact price
/// replaces the dearest of these as long as that decides the question.
pub(super) fn saturated<B: Ball>(
    ball: &mut B,
    memory: &mut RowMemory<'_>,
    bound: f64,
) -> Option<Outcome> {
    let (drift, anchor) = ball.drift();
    let (mut ceiling, mut lowest) = (f64::INFINITY, 0);
    let mut peaks = std::mem::take(&mut ball.active().peaks);
    peaks.clear();
    peaks.resize(ball.rows().len(), None);
    for k in 0..ball.rows().len() {
        // Rows that cannot have the lowest peak need not be looked at.
        if memory.floor[k] + drift <= bound.min(ceiling) {
            let (peak, cost) = ball.summit(k);
            peaks[k] = cost.map(|cost| (peak, cost));
            if peak < ceiling {
                (ceiling, lowest) = (peak, k);
            }
        }
    }
    // That row has to reach its peak, whatever the others cost.
    let (_, cost) = *peaks[lowest].get_or_insert_with(|| ball.peak(lowest));
    if cost > ball.radius() {
        ball.active().peaks = peaks;
        return None;
    }
    let depth = (ceiling - dispatch(Least(memory.floor)) - drift).max(0.0);
    let mut outcome = None;
    for headroom in HEADROOM {
        let level = ceiling + if depth.is_finite() { headroom * depth } else { 0.0 };
        if priced(ball, memory, level, &mut peaks) <= ball.radius() {
            at_peak(ball, memory, lowest);
            let bounds = Enclosure { lower: ceiling, upper: ceiling };
            outcome = Some(Outcome::Peak { bounds, level: level - anchor });
            break;
        }
    }
    ball.active().peaks = peaks;
    outcome
}

/// At most what it costs to lift all rows to the level, or to their peaks where these are lower; as
/// tight as it takes to compare with the budget. Priced rows get t = −price and ν = their peak.
fn priced<B: Ball>(
    ball: &mut B,
    memory: &mut RowMemory<'_>,
    level: f64,
    peaks: &mut [Option<(f64, f64)>],
) -> f64 {
    let ((drift, anchor), radius) = (ball.drift(), ball.radius());
    let mut charged = std::mem::take(&mut ball.active().charged);
    charged.clear();
    let (mut exact, mut loose) = (0.0, 0.0);
    memory.t.fill(0.0);
    for k in 0..ball.rows().len() {
        let floor = memory.floor[k] + drift;
        if floor >= level {
            continue;
        }
        let (peak, peak_cost) = *peaks[k].get_or_insert_with(|| ball.peak(k));
        memory.nu[k] = peak - anchor;
        let mut price = peak_cost;
        if peak <= level {
            exact += price;
        } else {
            if floor > f64::NEG_INFINITY {
                price = ball.move_cost((level - floor) / (peak - floor), peak_cost).min(peak_cost);
            }
            charged.push((price, k));
            loose += price;
        }
        memory.t[k] = -price.max(f64::MIN_POSITIVE);
    }
    charged.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for &(price, k) in &charged {
        if exact + loose <= radius || exact > radius {
            break;
        }
        let cost = peaks[k].map_or(f64::INFINITY, |peak| price_of(ball, k, level, peak));
        memory.t[k] = -cost.max(f64::MIN_POSITIVE);
        exact += cost;
        loose = (loose - price).max(0.0);
    }
    ball.active().charged = charged;
    exact + loose
}

/// What it costs to lift row `k` to the level, below its peak.
fn price_of<B: Ball>(ball: &mut B, k: usize, level: f64, (peak, peak_cost): (f64, f64)) -> f64 {
    if ball.nominal(k) >= level {
        return 0.0;
    }
    // A little higher, so that less care arrives.
    let more = PRICING * (peak - level);
    let lifted = ball.lift(k, level + more, more, 0.0);
    let arrived = lifted.value >= level - noise(ball, level);
    if arrived { lifted.cost.min(peak_cost) } else { peak_cost }
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
