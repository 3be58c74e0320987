//! The kernel of a lower bound, row by row, as multipliers.

use super::ball::{Ball, Lifted, noise};
use super::rows::Rows;
use super::{Drive, Exact, Outlook, RowMemory, State, Worker};
use crate::uncertainty::{Distance, Rectangularity};

/// What the rows of a state are to be worth.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    /// About the lower bound of the update, this one: its multipliers serve as they are.
    Near(f64),
    /// As `Near`, where a row is on its peak or rows have budgets of their own; nothing elsewhere.
    Peaks(f64),
    /// This level, below the lower bound of the update, to rounding.
    Level(f64),
}

/// A row to be lifted: (action, t, ν).
pub(crate) type RowLift = (usize, f64, f64);

impl Exact<'_> {
    /// The rows that must be lifted to the goal, and how; t = ∞ is a row's peak. An update has left the
    /// multipliers near which to look.
    pub(crate) fn lifts(
        &self,
        s: usize,
        ahead: &Outlook,
        goal: Goal,
        memory: RowMemory<'_>,
        worker: &mut Worker,
    ) -> Vec<RowLift> {
        let shared = self.set.rectangularity == Rectangularity::State;
        let kl = self.set.distance == Distance::Kl;
        let first = self.model.rows_of(s).start;
        if self.nominal || memory.t.is_empty() || shared && self.set.radius_at(s, first) == 0.0 {
            return Vec::new();
        }
        // Where a row is on its peak, others have prices in place of multipliers.
        let peaks = shared && memory.t.contains(&f64::INFINITY);
        let (near, level) = match goal {
            Goal::Peaks(_) if shared && !peaks => return Vec::new(),
            Goal::Near(level) | Goal::Peaks(level) => (!peaks, level),
            Goal::Level(level) => (false, level),
        };
        if near && shared && !kl {
            let used = (0..memory.t.len()).filter(|&k| memory.t[k] > 0.0);
            return used.map(|k| (k, memory.t[k], memory.nu[k])).collect();
        }
        let Worker { rows, scratch } = worker;
        let rows = Rows::load(self.model, self.reading, s, ahead, rows);
        let mut state = State { oracle: self, s, rows, ahead, tolerance: 0.0, memory, scratch };
        let radii: Vec<f64> = (0..state.rows.len()).map(|k| state.radius(k)).collect();
        state.on_ball(radii[0], LiftAll { near, level, shared, kl, radii: &radii })
    }
}

impl Exact<'_> {
    /// Puts ln Σ y⁰e^{tw'} in place of ν in rows of positive weight, at the multipliers that a sweep of
    /// nature's over a KL set has left.
    pub(crate) fn log_masses(
        &self,
        s: usize,
        ahead: &Outlook,
        x: &[f64],
        memory: &mut RowMemory<'_>,
        worker: &mut Worker,
    ) {
        if self.nominal || x.is_empty() {
            return;
        }
        let Worker { rows, scratch } = worker;
        let rows = Rows::load(self.model, self.reading, s, ahead, rows);
        let RowMemory { t, nu, floor } = memory;
        let memory = RowMemory { t, nu, floor };
        let mut state = State { oracle: self, s, rows, ahead, tolerance: 0.0, memory, scratch };
        let radius = state.radius(0);
        state.on_ball(radius, LogMasses { x });
    }
}

struct LogMasses<'x> {
    x: &'x [f64],
}

impl Drive<()> for LogMasses<'_> {
    fn on<B: Ball>(self, ball: &mut B, memory: &mut RowMemory<'_>) {
        ball.begin();
        for k in (0..self.x.len()).filter(|&k| self.x[k] > 0.0) {
            let t = memory.t[k].abs();
            if t > 0.0 && t.is_finite() {
                memory.nu[k] = log_mass(ball.peak(k).0, &ball.at(k, t));
            }
        }
    }
}

/// Every row lifted to a level that the budget allows.
struct LiftAll<'a> {
    /// The multipliers of the update serve as they are.
    near: bool,
    level: f64,
    /// One budget for all, and floors are those of nominal values.
    shared: bool,
    kl: bool,
    radii: &'a [f64],
}

impl Drive<Vec<RowLift>> for LiftAll<'_> {
    fn on<B: Ball>(self, ball: &mut B, memory: &mut RowMemory<'_>) -> Vec<RowLift> {
        ball.begin();
        let near = if self.near { self.as_left(ball, memory, self.level) } else { None };
        near.unwrap_or_else(|| self.to_level(ball, memory, self.level))
    }
}

impl LiftAll<'_> {
    /// The multipliers of the update; `None` if a row that needs one has none.
    fn as_left<B: Ball>(
        &self,
        ball: &mut B,
        memory: &RowMemory<'_>,
        level: f64,
    ) -> Option<Vec<RowLift>> {
        let mut out = Vec::new();
        for k in (0..ball.rows().len()).filter(|&k| self.radii[k] > 0.0) {
            // Rows with budgets of their own have a multiplier whether they need one or not.
            let (t, needed) = match self.shared {
                true => (memory.t[k], memory.t[k] > 0.0),
                false => (memory.t[k].abs(), ball.nominal(k) < level),
            };
            if needed && (t.is_nan() || t <= 0.0) {
                return None;
            }
            if needed {
                let nu = match self.kl {
                    _ if t.is_infinite() => 0.0,
                    true => log_mass(ball.peak(k).0, &ball.at(k, t)),
                    false => memory.nu[k],
                };
                out.push((k, t, nu));
            }
        }
        Some(out)
    }

    fn to_level<B: Ball>(&self, ball: &mut B, memory: &RowMemory<'_>, level: f64) -> Vec<RowLift> {
        let LiftAll { shared, kl, radii, .. } = *self;
        let (slack, drift) = (noise(ball, level) / 64.0, ball.drift().0);
        let mut below = Vec::new();
        for k in (0..ball.rows().len()).filter(|&k| radii[k] > 0.0) {
            let out_of_question = shared && memory.floor[k] + drift >= level;
            if !out_of_question && ball.nominal(k) < level {
                below.push((k, ball.peak(k)));
            }
        }
        let total: f64 = below.iter().map(|(_, (_, cost))| cost).sum();
        let mut out = Vec::with_capacity(below.len());
        for (k, (peak, cost)) in below {
            // The peak is exact; but near ties make it dearer than coming close to it.
            if if shared { total } else { cost } <= radii[k] {
                out.push((k, f64::INFINITY, 0.0));
                continue;
            }
            let goal = level.min(peak - slack);
            let lifted = ball.lift(k, goal, slack, memory.t[k].abs());
            let nu = if kl { log_mass(peak, &lifted) } else { lifted.nu };
            out.push((k, lifted.t, nu));
        }
        out
    }
}

/// ln Σ y⁰e^{tw'} of a KL row, from the distance that it is part of.
fn log_mass(peak: f64, lifted: &Lifted) -> f64 {
    lifted.t * (lifted.value - peak) - lifted.cost
}
