//! One state's exact update, whatever the ball: which rows matter, when the budget is saturated,
//! when the bounds have met.
//!
//! F(v)_s = max{ μ : Σ_a d_a(μ) ≤ α }, d_a(μ) the least budget that lifts row a to the value μ:
//! none if its nominal value Q_a is there already, infinite above its largest value. Hence
//! - rows with Q_a ≥ μ do not matter; an old Q_a and the fall of v since bound it from below, so
//!   that most rows of a warm sweep are not even read;
//! - μ ≤ min_a max b_a, attained if the budget suffices to lift every row there (saturation); the
//!   policy is then that row alone.
//!
//! A [`Ball`] moves the multipliers of the rows under work jointly, one pass a step; where that
//! does not settle, a nested search does: every row exactly at a trial value, a bracket around it.

use super::rows::{Nominals, Rows};
use crate::lanes::dispatch;
use crate::uncertainty::Enclosure;

/// Joint steps before the nested search takes over.
const JOINT_STEPS: usize = 14;
const NESTED_STEPS: usize = 200;

/// The rows under work: numbers, base costs, multipliers and shifts.
#[derive(Debug, Default)]
pub(super) struct Active {
    pub(super) row: Vec<u32>,
    pub(super) base: Vec<f64>,
    pub(super) t: Vec<f64>,
    pub(super) nu: Vec<f64>,
    /// Whether a row of the state is under work.
    inside: Vec<bool>,
    /// Rows to be read, and their nominal values.
    pending: Vec<u32>,
    value: Vec<f64>,
}

impl Active {
    fn clear(&mut self, rows: usize) {
        self.truncate(0);
        self.inside.clear();
        self.inside.resize(rows, false);
    }

    pub(super) fn len(&self) -> usize {
        self.row.len()
    }

    pub(super) fn push(&mut self, k: usize, base: f64, t: f64, nu: f64) {
        self.row.push(k as u32);
        self.base.push(base);
        self.t.push(t);
        self.nu.push(nu);
        self.inside[k] = true;
    }

    pub(super) fn swap(&mut self, i: usize, j: usize) {
        self.row.swap(i, j);
        self.base.swap(i, j);
        self.t.swap(i, j);
        self.nu.swap(i, j);
    }

    pub(super) fn truncate(&mut self, len: usize) {
        for &k in &self.row[len.min(self.row.len())..] {
            self.inside[k as usize] = false;
        }
        self.row.truncate(len);
        self.base.truncate(len);
        self.t.truncate(len);
        self.nu.truncate(len);
    }
}

/// What a state remembers from sweep to sweep, one entry a row.
#[derive(Debug)]
pub(crate) struct RowMemory<'a> {
    /// Multipliers t ≥ 0; ∞ where the row ended on its maximum.
    pub(crate) t: &'a mut [f64],
    /// Shifts ν (ellipsoid).
    pub(crate) nu: &'a mut [f64],
    /// A lower bound of the row's nominal value, less the anchor at that time; −∞ at first.
    pub(crate) floor: &'a mut [f64],
}

/// A row brought somewhere on its own: multiplier, shift and the budget that takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lifted {
    pub(super) t: f64,
    pub(super) nu: f64,
    pub(super) cost: f64,
}

/// A set around the rows of a state, with the multipliers of the rows under work.
pub(super) trait Ball {
    /// The state's rows.
    fn rows(&self) -> &Rows<'_>;
    /// The rows under work.
    fn active(&mut self) -> &mut Active;
    /// Their common budget.
    fn radius(&self) -> f64;
    /// Spread of the objectives.
    fn range(&self) -> f64;
    /// The drift of the values: now, and as of the start of the sweep.
    fn drift(&self) -> (f64, f64);
    /// Counts row entries that were read.
    fn visited(&mut self, entries: usize);
    /// The nominal value of row k.
    fn nominal(&mut self, k: usize) -> f64 {
        self.visited(self.rows().span(k).len());
        let mut out = [0.0];
        dispatch(Nominals { rows: *self.rows(), list: &[k as u32], out: &mut out });
        out[0]
    }
    /// Prepares the j-th row under work, of the given nominal value, that has no multiplier yet.
    fn admit(&mut self, j: usize, nominal: f64);
    /// At most what moving a row by this share of the way to its peak costs.
    fn move_cost(&self, share: f64) -> f64;
    /// Reads the rows under work at their multipliers.
    fn read(&mut self);
    /// lower ≤ value and upper ≥ F_x, x = t/Σt, from the last reading. `floor` bounds nominal
    /// values. For a `fixed` policy the lower bound is the mean row value, else the least.
    fn bounds(&self, fixed: bool, floor: &dyn Fn(usize) -> f64) -> Enclosure;
    /// The value that the rows under work reach together, by the last reading; rows that need no
    /// lift are dropped. Not a number if the reading allows no estimate.
    fn joint_value(&mut self) -> f64;
    /// Moves the multipliers towards the value μ; false if that is out of reach.
    fn raise(&mut self, mu: f64) -> bool;
    /// Moves the multipliers t = κ·x to the budget; false if that is out of reach.
    fn scale(&mut self, x: &[f64]) -> bool;
    /// The largest value of row k and the least budget that attains it.
    fn peak(&mut self, k: usize) -> (f64, f64);
    /// Row k lifted to the value μ, below its peak and above its nominal value; `guess` is a
    /// multiplier that may be near, if positive.
    fn lift(&mut self, k: usize, mu: f64, guess: f64) -> Lifted;
    /// Row k at the multiplier t.
    fn at(&mut self, k: usize, t: f64) -> Lifted;
}

/// What came out of an update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Outcome {
    /// The bounds have met, or rounding keeps them apart; the multipliers are the upper bound's.
    Met(Enclosure),
    /// The budget does not bind: rows under work end on their peaks.
    Saturated(f64),
}

/// What rounding alone leaves between bounds near `value`.
fn noise(ball: &impl Ball, value: f64) -> f64 {
    32.0 * f64::EPSILON * (value.abs() + ball.range())
}

/// min over policies, max over the set: F(v)_s.
pub(super) fn free<B: Ball>(ball: &mut B, memory: &mut RowMemory<'_>, tolerance: f64) -> Outcome {
    let rows = ball.rows().len();
    let (mut ceiling, mut lowest) = (f64::INFINITY, 0);
    for (k, &base) in ball.rows().base.iter().enumerate() {
        if base < ceiling {
            (ceiling, lowest) = (base, k);
        }
    }
    let was_saturated = memory.t.iter().any(|t| t.is_infinite());
    ball.active().clear(rows);
    for k in 0..rows {
        let t = memory.t[k];
        if t > 0.0 && t.is_finite() {
            let base = ball.rows().base[k];
            ball.active().push(k, base, t, memory.nu[k]);
        }
    }
    let drift = ball.drift().0;
    let mut known = f64::NEG_INFINITY;
    if ball.active().len() == 0 {
        if peaks_are_cheap(ball, memory, ceiling) {
            return at_peak(ball, lowest, ceiling);
        }
        admit_below(ball, memory, ceiling);
        if peaks_are_cheap(ball, memory, ceiling) {
            return at_peak(ball, lowest, ceiling);
        }
        if was_saturated && let Some(outcome) = saturated(ball, memory, ceiling) {
            return outcome;
        }
        known = memory.floor.iter().copied().fold(f64::INFINITY, f64::min) + drift;
        if ball.active().len() == 0 {
            return saturated(ball, memory, ceiling).unwrap_or_else(|| nested(ball, memory));
        }
        let mu = ball.joint_value();
        // Without a reading the rows may seem to reach beyond their peaks.
        let mu = if mu < ceiling { mu } else { 0.5 * (known + ceiling) };
        if !ball.raise(mu) {
            return saturated(ball, memory, ceiling).unwrap_or_else(|| nested(ball, memory));
        }
    }
    let mut strikes = 0;
    for _ in 0..JOINT_STEPS {
        ball.read();
        let at = ball.bounds(false, &|k| memory.floor[k] + drift);
        known = known.max(at.lower); // a NaN changes nothing
        if at.upper - known <= tolerance.max(noise(ball, at.upper)) {
            let lower = known.min(at.upper);
            if !admit_below(ball, memory, lower) {
                if std::env::var("DBG").is_ok() {
                    eprintln!("met {lower} {}", at.upper);
                }
                return Outcome::Met(Enclosure { lower, upper: at.upper });
            }
        }
        let mut mu = ball.joint_value();
        if std::env::var("DBG").is_ok() {
            eprintln!(
                "  lower {known} upper {} mu {mu} ceiling {ceiling} active {} t {:?}",
                at.upper,
                0,
                ball.active().t.iter().take(3).collect::<Vec<_>>()
            );
        }
        if mu.is_nan() {
            mu = 0.5 * (known + at.upper);
        }
        if !(mu < ceiling) {
            strikes += 1;
            mu = 0.25 * known + 0.75 * ceiling;
        }
        admit_below(ball, memory, mu);
        if strikes > 2 || !ball.raise(mu) {
            break;
        }
    }
    if std::env::var("DBG").is_ok() {
        eprintln!("not met");
    }
    saturated(ball, memory, ceiling).unwrap_or_else(|| nested(ball, memory))
}

/// Whether moving every row towards its peak, as far as it takes to reach the ceiling, is surely
/// within the budget.
fn peaks_are_cheap<B: Ball>(ball: &B, memory: &RowMemory<'_>, ceiling: f64) -> bool {
    let (drift, radius) = (ball.drift().0, ball.radius());
    let mut cost = 0.0;
    for (k, base) in ball.rows().base.iter().enumerate() {
        let floor = memory.floor[k] + drift;
        if floor < ceiling {
            let share = ((ceiling - floor) / (base - floor)).min(1.0); // 1 if nothing is known
            cost += ball.move_cost(share);
        }
        if cost > radius {
            return false;
        }
    }
    true
}

/// Row `k` alone, at its peak.
fn at_peak<B: Ball>(ball: &mut B, k: usize, value: f64) -> Outcome {
    let (rows, base) = (ball.rows().len(), ball.rows().base[k]);
    ball.active().clear(rows);
    ball.active().push(k, base, f64::INFINITY, 0.0);
    Outcome::Saturated(value)
}

/// Puts every row to work whose nominal value lies below μ; whether there were any.
fn admit_below<B: Ball>(ball: &mut B, memory: &mut RowMemory<'_>, mu: f64) -> bool {
    let (drift, anchor) = ball.drift();
    let active = ball.active();
    active.pending.clear();
    for (k, floor) in memory.floor.iter().enumerate() {
        if floor + drift < mu && !active.inside[k] {
            active.pending.push(k as u32);
        }
    }
    if active.pending.is_empty() {
        return false;
    }
    let mut pending = std::mem::take(&mut ball.active().pending);
    let mut value = std::mem::take(&mut ball.active().value);
    value.resize(pending.len(), 0.0);
    let entries = pending.iter().map(|&k| ball.rows().span(k as usize).len()).sum();
    ball.visited(entries);
    dispatch(Nominals { rows: *ball.rows(), list: &pending, out: &mut value });
    let before = ball.active().len();
    for (&k, &nominal) in pending.iter().zip(&value) {
        let k = k as usize;
        let slack = slack(ball, nominal);
        memory.floor[k] = nominal - slack - anchor;
        if nominal < mu - slack {
            let base = ball.rows().base[k];
            ball.active().push(k, base, 0.0, 0.0);
            let j = ball.active().len() - 1;
            ball.admit(j, nominal);
        }
    }
    pending.clear();
    (ball.active().pending, ball.active().value) = (pending, value);
    ball.active().len() > before
}

/// Rounding of a nominal value.
fn slack(ball: &impl Ball, nominal: f64) -> f64 {
    16.0 * f64::EPSILON * (nominal.abs() + ball.range())
}

/// Whether the budget lifts every row to the lowest peak; that row is then under work alone.
///
/// Every row is first charged what a move straight towards its peak costs; the exact price
/// replaces the dearest of these as long as that decides the question.
fn saturated<B: Ball>(ball: &mut B, memory: &mut RowMemory<'_>, bound: f64) -> Option<Outcome> {
    let drift = ball.drift().0;
    let (mut ceiling, mut lowest) = (f64::INFINITY, 0);
    for k in 0..ball.rows().len() {
        // Rows that cannot have the lowest peak need not be looked at.
        if memory.floor[k] + drift <= bound.min(ceiling) {
            let (peak, _) = ball.peak(k);
            if peak < ceiling {
                (ceiling, lowest) = (peak, k);
            }
        }
    }
    let radius = ball.radius();
    let mut charged = Vec::new();
    let (mut exact, mut loose) = (0.0, 0.0);
    for k in 0..ball.rows().len() {
        if memory.floor[k] + drift >= ceiling {
            continue;
        }
        let nominal = ball.nominal(k);
        if nominal >= ceiling {
            continue;
        }
        let (peak, peak_cost) = ball.peak(k);
        if peak <= ceiling {
            exact += peak_cost;
        } else {
            let share = (ceiling - nominal) / (peak - nominal);
            let price = ball.move_cost(share).min(peak_cost);
            charged.push((price, k));
            loose += price;
        }
    }
    charged.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for (price, k) in charged {
        if exact + loose <= radius || exact > radius {
            break;
        }
        let lifted = ball.lift(k, ceiling, memory.t[k].abs());
        memory.t[k] = -lifted.t;
        exact += lifted.cost;
        loose = (loose - price).max(0.0);
    }
    (exact + loose <= radius).then(|| at_peak(ball, lowest, ceiling))
}

/// The safe way: Newton on √D(μ), D convex, in a bracket, every row lifted exactly.
fn nested<B: Ball>(ball: &mut B, memory: &mut RowMemory<'_>) -> Outcome {
    let (drift, rows) = (ball.drift().0, ball.rows().len());
    let mut high = f64::INFINITY;
    for k in 0..rows {
        high = high.min(ball.peak(k).0);
    }
    let ceiling = high;
    let nominal: Vec<f64> = (0..rows).map(|k| ball.nominal(k)).collect();
    let mut low = nominal.iter().copied().fold(f64::INFINITY, f64::min).min(high);
    let mut mu = 0.5 * (low + high);
    let mut lifted = vec![None; rows];
    for _ in 0..NESTED_STEPS {
        let (mut cost, mut slope) = (0.0, 0.0);
        for k in 0..rows {
            let guess = lifted[k].map_or(0.0, |row: Lifted| row.t);
            lifted[k] = (nominal[k] < mu).then(|| ball.lift(k, mu, guess));
            if let Some(row) = lifted[k] {
                cost += row.cost;
                slope += row.t;
            }
        }
        let room = ball.radius().sqrt() - cost.sqrt();
        if room >= 0.0 {
            low = mu
        } else {
            high = mu
        }
        let step = 2.0 * cost.sqrt() * room / slope;
        let fresh = mu + step;
        let fresh = if fresh > low && fresh < high { fresh } else { 0.5 * (low + high) };
        let small = 1e-16 * (mu.abs() + ball.range());
        if high - low <= 2.0 * small || (fresh - mu).abs() <= small {
            break;
        }
        mu = fresh;
    }
    ball.active().clear(rows);
    for (k, row) in lifted.iter().enumerate() {
        if let Some(row) = row.filter(|row| row.t > 0.0 && row.t.is_finite()) {
            let base = ball.rows().base[k];
            ball.active().push(k, base, row.t, row.nu);
        }
    }
    if ball.active().len() == 0 {
        // Rounding: the ceiling lies within a hair of the lowest nominal value.
        let k = (0..rows).min_by(|&a, &b| nominal[a].total_cmp(&nominal[b])).expect("an action");
        let base = ball.rows().base[k];
        ball.active().push(k, base, f64::INFINITY, 0.0);
        return Outcome::Met(Enclosure { lower: low, upper: ball.peak(k).0.max(ceiling) });
    }
    ball.read();
    let at = ball.bounds(false, &|k| memory.floor[k] + drift);
    let inactive = (0..rows).filter(|&k| lifted[k].is_none()).map(|k| nominal[k]);
    let lower = inactive.fold(at.lower, f64::min);
    Outcome::Met(Enclosure { lower: lower.min(at.upper), upper: at.upper })
}

/// max over the set for a fixed policy: `rows` of positive weight `x` share the budget.
pub(super) fn fixed<B: Ball>(
    ball: &mut B,
    memory: &mut RowMemory<'_>,
    rows: &[u32],
    x: &[f64],
    tolerance: f64,
) -> Outcome {
    let count = ball.rows().len();
    ball.active().clear(count);
    let drift = ball.drift().0;
    let warm: f64 = rows.iter().map(|&k| memory.t[k as usize]).sum();
    let warm = if warm > 0.0 && warm.is_finite() { warm } else { 0.0 };
    let total: f64 = x.iter().sum();
    for (&k, &x) in rows.iter().zip(x) {
        let (k, base) = (k as usize, ball.rows().base[k as usize]);
        ball.active().push(k, base, warm * x / total, memory.nu[k]);
    }
    let all_warm = warm > 0.0 && rows.iter().all(|&k| memory.t[k as usize] > 0.0);
    let mut moving = true;
    if !all_warm {
        if let Some(outcome) = saturated_fixed(ball, rows, x) {
            return outcome;
        }
        for (j, &k) in rows.iter().enumerate() {
            let nominal = ball.nominal(k as usize);
            memory.floor[k as usize] = nominal - slack(ball, nominal) - ball.drift().1;
            ball.admit(j, nominal);
        }
        moving = ball.scale(x);
    }
    let mut known = f64::NEG_INFINITY;
    for _ in 0..JOINT_STEPS {
        if !moving {
            break;
        }
        ball.read();
        let at = ball.bounds(true, &|k| memory.floor[k] + drift);
        known = known.max(at.lower);
        if at.upper - known <= tolerance.max(noise(ball, at.upper)) {
            return Outcome::Met(Enclosure { lower: known.min(at.upper), upper: at.upper });
        }
        moving = ball.scale(x);
    }
    saturated_fixed(ball, rows, x).unwrap_or_else(|| nested_fixed(ball, memory, rows, x))
}

fn saturated_fixed<B: Ball>(ball: &mut B, rows: &[u32], x: &[f64]) -> Option<Outcome> {
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
    Some(Outcome::Saturated(value / total))
}

/// The safe way for a fixed policy: a bracket on κ, every row exactly at t = κ·x.
fn nested_fixed<B: Ball>(
    ball: &mut B,
    memory: &mut RowMemory<'_>,
    rows: &[u32],
    x: &[f64],
) -> Outcome {
    let drift = ball.drift().0;
    let (mut low, mut high) = (0.0_f64, f64::INFINITY);
    let mut kappa = 1.0 / ball.range();
    for _ in 0..NESTED_STEPS {
        let mut cost = 0.0;
        for (j, (&k, &x)) in rows.iter().zip(x).enumerate() {
            let row = ball.at(k as usize, kappa * x);
            (ball.active().t[j], ball.active().nu[j]) = (row.t, row.nu);
            cost += row.cost;
        }
        if cost <= ball.radius() {
            low = kappa
        } else {
            high = kappa
        }
        if high - low <= 4e-16 * high && high.is_finite() || !(1e-290..1e290).contains(&kappa) {
            break;
        }
        // D grows like κ² at first; √(α/D) is then the step.
        let guess = kappa * (ball.radius() / cost).sqrt();
        kappa = if guess > low * (1.0 + 1e-3) && guess < high * (1.0 - 1e-3) {
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
    ball.read();
    let at = ball.bounds(true, &|k| memory.floor[k] + drift);
    Outcome::Met(Enclosure { lower: at.lower.min(at.upper), upper: at.upper })
}
