//! The safe way: every row lifted to a trial value μ, Newton on the convex D(μ) (see `step`) within a
//! bracket.
//!
//! Each trial bounds the value from both sides, D = Σ costs and T = Σ t at μ:
//!   F_x ≤ Σt·value/T + (α − D)/T,  F ≥ the least of share·value + (1 − share)·Q_a,
//! the latter for the lifted rows mixed with the nominal ones as the budget allows.

use super::active::RowMemory;
use super::ball::{Ball, Lifted, Outcome, noise};
use super::driver::peak_only;
use crate::uncertainty::Enclosure;

const STEPS: usize = 200;
/// Newton's steps are trusted this far; they may creep along both ends of a bracket.
const TRUSTED: usize = 60;

/// min over policies, max over the set; `nearly` saturated, as far as the last sweep tells.
pub(super) fn nested<B: Ball>(
    ball: &mut B,
    memory: &mut RowMemory<'_>,
    tolerance: f64,
    nearly: bool,
) -> Outcome {
    let rows = ball.rows().len();
    let (mut ceiling, mut lowest) = (f64::INFINITY, 0);
    let mut nominal = std::mem::take(&mut ball.active().nominal_of);
    let mut lifted = std::mem::take(&mut ball.active().lifted);
    lifted.clear();
    lifted.resize(rows, None);
    nominal.clear();
    let drift = ball.drift().0;
    for k in 0..rows {
        // A row whose nominal value cannot be below the others' peaks is never lifted.
        if memory.floor[k] + drift > ceiling {
            nominal.push(f64::INFINITY);
            continue;
        }
        let (peak, _) = ball.peak(k);
        if peak < ceiling {
            (ceiling, lowest) = (peak, k);
        }
        nominal.push(ball.nominal(k));
    }
    let mut low = nominal.iter().copied().fold(f64::INFINITY, f64::min).min(ceiling);
    let mut high = ceiling;
    let mut best = Enclosure { lower: low, upper: ceiling };
    let mut at_ceiling = true;
    let middle = 0.5 * (low + high);
    // If the budget lifts all rows so far, nothing more needs to be known.
    let close = ceiling - 0.5 * tolerance;
    let mut mu = if nearly && close > middle && close < high { close } else { middle };
    for trial in 0..STEPS {
        let (mut cost, mut slope, mut value) = (0.0, 0.0, 0.0);
        for k in 0..rows {
            let guess = lifted[k].map_or(0.0, |row: Lifted| row.t);
            lifted[k] = (nominal[k] < mu).then(|| ball.lift(k, mu, 0.1 * tolerance, guess));
            if let Some(row) = lifted[k] {
                cost += row.cost;
                slope += row.t;
                value += row.t * (row.value - mu);
            }
        }
        let share = ball.share(cost);
        let mut lower = f64::INFINITY;
        for k in 0..rows {
            let mixed = |row: Lifted| share * row.value + (1.0 - share) * nominal[k];
            lower = lower.min(lifted[k].map_or(nominal[k], mixed));
        }
        best.lower = best.lower.max(lower.min(ceiling));
        let upper = mu + (value + (ball.radius() - cost)) / slope;
        if upper < best.upper {
            (best.upper, at_ceiling) = (upper, false);
            ball.active().clear(memory.floor);
            for (k, row) in lifted.iter().enumerate() {
                if let Some(row) = row.filter(|row| row.t > 0.0 && row.t.is_finite()) {
                    let base = ball.rows().base[k];
                    ball.active().push(k, base, row.t, row.nu);
                }
            }
        }
        if best.upper - best.lower <= tolerance.max(noise(ball, mu)) {
            break;
        }
        if cost <= ball.radius() {
            low = mu
        } else {
            high = mu
        }
        let fresh = mu + step(ball.radius(), cost, slope, ceiling - mu);
        let middle = 0.5 * (low + high);
        let halve = trial >= TRUSTED && trial % 2 == 0;
        let fresh = if !halve && fresh > low && fresh < high { fresh } else { middle };
        if fresh == mu || middle <= low || middle >= high {
            break;
        }
        mu = fresh;
    }
    best.lower = best.lower.min(best.upper);
    let at_ceiling = at_ceiling || ball.active().len() == 0;
    if at_ceiling {
        best.upper = ceiling;
        memory.t.fill(0.0);
        for (k, row) in lifted.iter().enumerate() {
            if let Some(Lifted { t, cost, .. }) = *row {
                memory.t[k] = -cost.max(f64::MIN_POSITIVE);
                memory.nu[k] = if t > 0.0 && t.is_finite() { t } else { 0.0 };
            }
        }
    }
    (ball.active().nominal_of, ball.active().lifted) = (nominal, lifted);
    if at_ceiling { peak_only(ball, lowest, best) } else { Outcome::Met(best) }
}

/// Newton's step from μ, where D = `cost` has the given slope, to D = `radius`: on √D, nearly linear
/// in μ at first; on D against −ln(ceiling − μ), `below` being that difference, where D has come to
/// grow like it.
fn step(radius: f64, cost: f64, slope: f64, below: f64) -> f64 {
    if slope * below < cost {
        below * -((cost - radius) / (slope * below)).exp_m1()
    } else {
        2.0 * cost.sqrt() * (radius.sqrt() - cost.sqrt()) / slope
    }
}

/// max over the set for a fixed policy: every row exactly at t = κ·x, a bracket on κ.
pub(super) fn nested_fixed<B: Ball>(ball: &mut B, rows: &[u32], x: &[f64]) -> Outcome {
    let total: f64 = x.iter().sum();
    let (mut peak, mut nominal) = (0.0, 0.0);
    for (&k, &x) in rows.iter().zip(x) {
        peak += x / total * ball.peak(k as usize).0;
        nominal += x / total * ball.nominal(k as usize);
    }
    let mut best = Enclosure { lower: nominal, upper: f64::INFINITY };
    let (mut low, mut high) = (0.0_f64, f64::INFINITY);
    let mut kappa = total / ball.range().max(1e-290);
    for step in 0..STEPS {
        let (mut cost, mut value) = (0.0, 0.0);
        let mut lifted = std::mem::take(&mut ball.active().lifted);
        lifted.clear();
        for (&k, &x) in rows.iter().zip(x) {
            let row = ball.at(k as usize, kappa * x);
            cost += row.cost;
            value += x / total * row.value;
            lifted.push(Some(row));
        }
        let share = ball.share(cost);
        best.lower = best.lower.max(share * value + (1.0 - share) * nominal);
        let upper = value + (ball.radius() - cost) / (kappa * total);
        if upper < best.upper {
            best.upper = upper;
            for (j, row) in lifted.iter().flatten().enumerate() {
                (ball.active().t[j], ball.active().nu[j]) = (row.t, row.nu);
            }
        }
        ball.active().lifted = lifted;
        if cost <= ball.radius() {
            low = kappa
        } else {
            high = kappa
        }
        let closed = high - low <= 4e-16 * high && high.is_finite();
        let met = best.upper.min(peak) - best.lower <= noise(ball, value);
        if closed || met || !(1e-290..1e290).contains(&kappa) {
            break;
        }
        // D grows like κ² at first; √(α/D) is then the step. Every other one halves the bracket.
        let guess = kappa * (ball.radius() / cost).sqrt();
        kappa = if step % 2 == 0 && guess > low && guess < high {
            guess
        } else if high.is_infinite() {
            4.0 * kappa
        } else if low == 0.0 {
            0.25 * kappa
        } else if high > 4.0 * low {
            (low * high).sqrt()
        } else {
            0.5 * (low + high)
        };
    }
    // No row is worth more than its peak.
    best.upper = best.upper.min(peak);
    best.lower = best.lower.min(best.upper);
    Outcome::Met(best)
}
