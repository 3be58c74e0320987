//! The kernel of a lower bound, row by row, as multipliers.

use super::driver::{Ball, noise};
use super::rows::Rows;
use super::{Drive, Exact, Outlook, RowMemory, State, Worker};
use crate::uncertainty::Rectangularity;

impl Exact<'_> {
    /// Visits the rows that must be lifted to `level` ≤ F(v)_s, and how, as (action, t, ν); t = ∞ is
    /// a row's peak. An update has left the multipliers near which to look.
    pub(crate) fn lifts(
        &self,
        s: usize,
        ahead: &Outlook,
        level: f64,
        memory: RowMemory<'_>,
        worker: &mut Worker,
        mut visit: impl FnMut(usize, f64, f64),
    ) {
        let shared = self.set.rectangularity == Rectangularity::State;
        if self.nominal || memory.t.is_empty() {
            return;
        }
        let Worker { rows, scratch } = worker;
        let rows = Rows::load(self.model, self.reading, s, ahead, rows);
        let mut state = State { oracle: self, s, rows, ahead, tolerance: 0.0, memory, scratch };
        let radius = state.radius(0);
        if shared && radius == 0.0 {
            return;
        }
        for (k, t, nu) in state.on_ball(radius, LiftAll { level, shared }) {
            visit(k, t, nu);
        }
    }
}

/// Every row lifted to a level that the budget allows.
struct LiftAll {
    level: f64,
    /// Floors are those of nominal values.
    shared: bool,
}

impl Drive<Vec<(usize, f64, f64)>> for LiftAll {
    fn on<B: Ball>(self, ball: &mut B, memory: &mut RowMemory<'_>) -> Vec<(usize, f64, f64)> {
        let LiftAll { level, shared } = self;
        let (slack, drift) = (noise(ball, level), ball.drift().0);
        ball.begin();
        let mut out = Vec::new();
        for k in 0..ball.rows().len() {
            let out_of_question = shared && memory.floor[k] + drift >= level;
            if out_of_question || ball.nominal(k) >= level {
                continue;
            }
            let peak = ball.peak(k).0;
            out.push(match peak <= level + slack {
                true => (k, f64::INFINITY, 0.0),
                false => {
                    let lifted = ball.lift(k, level, slack, memory.t[k].abs());
                    (k, lifted.t, lifted.nu)
                }
            });
        }
        out
    }
}
