//! What it costs to lift the rows of a state to a level, no more sharply than it takes to compare the
//! sum with the budget.

use super::active::RowMemory;
use super::ball::{Ball, Lifted};

/// Rows are priced above the level by this share of the way to their peaks.
const PRICING: f64 = 1.0 / 64.0;

/// Prices that are known to this share of the budget are not sharpened.
const SURE: f64 = 1.0 / 128.0;

/// How often all rows under work are read nearer to the level.
const APPROACHES: usize = 2;

/// Nothing was read.
pub(super) const UNKNOWN: Lifted =
    Lifted { t: f64::NAN, nu: f64::NAN, value: f64::NAN, cost: f64::NAN };

/// A row that may have to be lifted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) row: usize,
    /// At most its nominal value.
    pub(super) floor: f64,
    /// Its largest value and what that costs; not a number where not looked up.
    pub(super) peak: f64,
    pub(super) peak_cost: f64,
    /// A value, what suffices to reach it and the multiplier there; not a number where none is known.
    pub(super) point: Lifted,
    /// What it costs at most to lift the row to the level, or to its peak where that is lower, and about
    /// what it costs at least.
    pub(super) price: f64,
    pub(super) least: f64,
}

impl Candidate {
    pub(super) fn cost_of_peak<B: Ball>(&mut self, ball: &mut B) -> f64 {
        if self.peak_cost.is_nan() {
            (self.peak, self.peak_cost) = ball.peak(self.row);
        }
        self.peak_cost
    }

    /// The price by what is known without further work. d is convex: it lies below the chords between
    /// the floor, what was read and the peak.
    pub(super) fn charge(&mut self, level: f64) {
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

/// Whether the budget lifts all rows to the level, as far as prices tell when they are sharpened.
pub(super) fn affordable<B: Ball>(
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
pub(super) fn note<B: Ball>(ball: &mut B, rows: &mut [Candidate]) {
    for j in 0..ball.active().len() {
        let k = ball.active().row[j] as usize;
        if let Ok(i) = rows.binary_search_by_key(&k, |row| row.row)
            && let Some(point) = ball.noted(j)
        {
            rows[i].point = point;
        }
    }
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
