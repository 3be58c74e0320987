//! Saturation: the budget lifts every row to the lowest peak, μ = min_a max b_a, and the policy is
//! that row alone.
//!
//! Prices d_a(μ + h) with some headroom h serve later sweeps too: the kernels that were priced then
//! are worth at least what they were less the fall of v, so that a state stays saturated, unread,
//! until its lowest peak has risen by h against them or another row has come below it (see
//! [`super::standing`]).

use super::active::{Between, Least, RowMemory};
use super::ball::{Ball, Lifted, Outcome};
use crate::lanes::dispatch;
use crate::uncertainty::Enclosure;

/// Headroom, as a share of what the lowest row is lifted: where it costs nothing to ask for it, and
/// where rows are priced one by one, for sweeps far apart, for close ones, and none.
const CHEAP_HEADROOM: [f64; 2] = [1.0 / 16.0, 0.0];
const HEADROOM: [f64; 3] = [1.0 / 64.0, 1.0 / 4096.0, 0.0];

/// Rows are priced above the level by this share of the way to their peaks.
const PRICING: f64 = 1.0 / 64.0;

/// Prices that are known to this share of the budget are not sharpened.
const SURE: f64 = 1.0 / 128.0;

/// How often all rows under work are read nearer to the level.
const APPROACHES: usize = 2;

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

/// Nothing was read.
const UNKNOWN: Lifted = Lifted { t: f64::NAN, nu: f64::NAN, value: f64::NAN, cost: f64::NAN };

/// A row that may have to be lifted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    row: usize,
    /// At most its nominal value.
    floor: f64,
    /// Its largest value and what that costs; not a number where not looked up.
    peak: f64,
    peak_cost: f64,
    /// A value, what suffices to reach it and the multiplier there; not a number where none is known.
    point: Lifted,
    /// What it costs at most to lift the row to the level, or to its peak where that is lower, and about
    /// what it costs at least.
    price: f64,
    least: f64,
}

impl Candidate {
    fn cost_of_peak<B: Ball>(&mut self, ball: &mut B) -> f64 {
        if self.peak_cost.is_nan() {
            (self.peak, self.peak_cost) = ball.peak(self.row);
        }
        self.peak_cost
    }

    /// The price by what is known without further work. d is convex: it lies below the chords between
    /// the floor, what was read and the peak.
    fn charge(&mut self, level: f64) {
        let Candidate { floor, peak, peak_cost, point: Lifted { t, value, cost, .. }, .. } = *self;
        if floor >= level {
            (self.price, self.least) = (0.0, 0.0);
            return;
        }
        (self.price, self.least) = (peak_cost, 0.0);
        if peak <= level {
            self.least = peak_cost;
            return;
        }
        if floor > f64::NEG_INFINITY {
            self.price = peak_cost * ((level - floor) / (peak - floor));
        }
        if value < level {
            self.price =
                self.price.min(cost + (peak_cost - cost) * ((level - value) / (peak - value)));
        } else if value >= level {
            let share =
                if floor > f64::NEG_INFINITY { (level - floor) / (value - floor) } else { 1.0 };
            self.price = self.price.min(cost * share.min(1.0));
        }
        if cost >= 0.0 {
            self.least = (cost + t * (level - value)).max(0.0);
        }
    }

    /// Reads the row near the level, below its peak.
    fn lift<B: Ball>(&mut self, ball: &mut B, level: f64) {
        // Below its nominal value there is nothing to lift.
        if self.point.t.is_nan() || self.point.value >= level {
            let nominal = ball.nominal(self.row);
            self.floor = self.floor.max(nominal);
            if nominal >= level {
                return self.charge(level);
            }
        }
        // A little higher, so that less care arrives.
        let more = PRICING * (self.peak - level);
        self.point = ball.lift(self.row, level + more, more, self.point.t);
        self.charge(level);
    }
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

/// Puts rows to work that were priced in an earlier sweep.
fn resume<B: Ball>(ball: &mut B, memory: &RowMemory<'_>, rows: &[Candidate], level: f64) {
    for row in rows.iter().filter(|row| row.peak > level && memory.t[row.row] < 0.0) {
        let (k, t) = (row.row, memory.nu[row.row]);
        if t > 0.0 && t.is_finite() {
            let base = ball.rows().base[k];
            ball.active().push(k, base, t, 0.0);
        }
    }
}

/// Notes what was read of the rows under work.
fn note<B: Ball>(ball: &mut B, rows: &mut [Candidate]) {
    for j in 0..ball.active().len() {
        let k = ball.active().row[j] as usize;
        if let Ok(i) = rows.binary_search_by_key(&k, |row| row.row)
            && let Some(point) = ball.noted(j)
        {
            rows[i].point = point;
        }
    }
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

/// Whether the budget lifts all rows to the level, as far as prices tell when they are sharpened.
fn affordable<B: Ball>(
    ball: &mut B,
    memory: &RowMemory<'_>,
    rows: &mut [Candidate],
    level: f64,
) -> bool {
    let radius = ball.radius();
    rows.iter_mut().for_each(|row| row.charge(level));
    let sum = |rows: &[Candidate]| rows.iter().map(|row| row.price).sum::<f64>();
    let mut total = sum(rows);
    if total <= radius {
        return true;
    }
    let unsure = |row: &Candidate| row.peak > level && row.price - row.least > SURE * radius;
    for row in rows.iter_mut().filter(|row| unsure(row) && row.floor > f64::NEG_INFINITY) {
        let share = (level - row.floor) / (row.peak - row.floor);
        let price = row.price.min(ball.move_cost(share, row.peak_cost));
        total += price - row.price;
        row.price = price;
        if total <= radius {
            break;
        }
    }
    let approaches = if ball.reads_at_multipliers() { APPROACHES } else { 0 };
    for _ in 0..approaches {
        let unsure = rows.iter().filter(|row| row.peak > level);
        let doubt: f64 = unsure.map(|row| row.price - row.least).sum();
        let least: f64 = rows.iter().map(|row| row.least).sum();
        let sure = total <= radius || least > radius || doubt <= SURE * radius;
        if sure {
            break;
        }
        if ball.active().len() == 0 {
            resume(ball, memory, rows, level);
        }
        ball.approach(level);
        note(ball, rows);
        for row in &mut *rows {
            let before = row.price;
            row.charge(level);
            row.price = row.price.min(before);
        }
        total = sum(rows);
    }
    let mut least: f64 = rows.iter().map(|row| row.least).sum();
    for _ in 0..rows.len() {
        if total <= radius || least > radius {
            break;
        }
        // The least sure first.
        let doubt = |row: &Candidate| row.price - row.least;
        let order = |a: &&mut Candidate, b: &&mut Candidate| {
            doubt(a).total_cmp(&doubt(b)).then(b.row.cmp(&a.row))
        };
        let Some(row) = rows.iter_mut().filter(|row| unsure(row)).max_by(order) else { break };
        let before = (row.price, row.least);
        row.lift(ball, level);
        row.price = row.price.min(before.0);
        if doubt(row) >= before.0 - before.1 {
            break;
        }
        (total, least) = (total + row.price - before.0, least + row.least - before.1);
    }
    total <= radius && sum(rows) <= radius
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of mass p on its peak and 1 − p on its floor: θ of the way costs KL(θ‖p) in mean.
    #[test]
    fn prices_enclose_what_lifts_cost() {
        let entropy = |q: f64, p: f64| if q > 0.0 { q * (q / p).ln() } else { 0.0 };
        for (p, scale) in [(0.5, 1.0), (0.01, 1.0), (0.2, 1e-8), (0.2, 1e8)] {
            let cost = |q: f64| entropy(q, p) + entropy(1.0 - q, 1.0 - p);
            let value = |q: f64| scale * q;
            // dcost/dvalue.
            let slope = |q: f64| ((q / p).ln() - ((1.0 - q) / (1.0 - p)).ln()) / scale;
            for step in 1..20 {
                let q = p + (1.0 - p) * f64::from(step) / 20.0;
                let point = Lifted { t: slope(q), nu: 0.0, value: value(q), cost: cost(q) };
                for point in [point, UNKNOWN] {
                    let (floor, peak, peak_cost) = (value(p), value(1.0), cost(1.0));
                    let (row, price, least) = (0, 0.0, 0.0);
                    let mut row = Candidate { row, floor, peak, peak_cost, point, price, least };
                    for at in 1..40 {
                        let level = p + (1.0 - p) * f64::from(at) / 40.0;
                        row.charge(value(level));
                        let exact = cost(level);
                        assert!(row.price >= exact - 1e-14, "{row:?} at {level}: {exact}");
                        assert!(row.least <= exact + 1e-14, "{row:?} at {level}: {exact}");
                        assert!(row.price <= peak_cost + 1e-14);
                        if at == 2 * step && !point.t.is_nan() {
                            assert!(row.price - row.least <= 1e-12, "{row:?} at {level}");
                        }
                    }
                    row.charge(value(p));
                    assert_eq!(row.price, 0.0);
                    row.charge(2.0 * value(1.0));
                    assert_eq!((row.price, row.least), (peak_cost, peak_cost));
                }
            }
        }
    }
}
