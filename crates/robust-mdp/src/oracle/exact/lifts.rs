//! The kernel of the lower bound, row by row, as multipliers.

use super::driver::{Ball, noise};
use super::rows::Rows;
use super::{Drive, Exact, Outlook, RowMemory, State, Worker};
use crate::uncertainty::Rectangularity;

impl Exact<'_> {
    /// Visits the rows that an update has lifted in state s, where F(v)_s ≥ `level`, as (action, t,
    /// ν); t = ∞ is a row's peak. All other rows are nominal.
    pub(crate) fn lifts(
        &self,
        s: usize,
        ahead: &Outlook,
        level: f64,
        memory: RowMemory<'_>,
        worker: &mut Worker,
        mut visit: impl FnMut(usize, f64, f64),
    ) {
        if self.nominal {
            return;
        }
        let Worker { rows, scratch } = worker;
        let rows = Rows::load(self.model, self.reading, s, ahead, rows);
        let shared = self.set.rectangularity == Rectangularity::State;
        let saturated = shared && memory.t.contains(&f64::INFINITY);
        if !saturated {
            for (k, (&t, &nu)) in memory.t.iter().zip(&*memory.nu).enumerate() {
                let r = self.model.rows_of(s).start + k;
                if t != 0.0 && self.set.radius_at(s, r) > 0.0 {
                    visit(k, t.abs(), nu);
                }
            }
            return;
        }
        let mut state = State { oracle: self, s, rows, ahead, tolerance: 0.0, memory, scratch };
        let radius = state.radius(0);
        for (k, t, nu) in state.on_ball(radius, LiftAll { level }) {
            visit(k, t, nu);
        }
    }
}

/// Every row lifted to a level that the budget allows.
struct LiftAll {
    level: f64,
}

impl Drive<Vec<(usize, f64, f64)>> for LiftAll {
    fn on<B: Ball>(self, ball: &mut B, _: &mut RowMemory<'_>) -> Vec<(usize, f64, f64)> {
        let level = self.level;
        let slack = noise(ball, level);
        ball.begin();
        let below: Vec<usize> = (0..ball.rows().len()).filter(|&k| ball.nominal(k) < level).collect();
        let peaks: Vec<(f64, f64)> = below.iter().map(|&k| ball.peak(k)).collect();
        let all_at_peak = peaks.iter().map(|p| p.1).sum::<f64>() <= ball.radius();
        let mut out = Vec::with_capacity(below.len());
        for (&k, &(peak, _)) in below.iter().zip(&peaks) {
            out.push(match all_at_peak || peak <= level + slack {
                true => (k, f64::INFINITY, 0.0),
                false => {
                    let lifted = ball.lift(k, level, slack, 0.0);
                    (k, lifted.t, lifted.nu)
                }
            });
        }
        out
    }
}
