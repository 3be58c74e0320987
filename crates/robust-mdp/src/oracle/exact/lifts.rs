//! The kernel of a lower bound, row by row, as multipliers.

use super::driver::{Ball, noise};
use super::rows::Rows;
use super::{Drive, Exact, Outlook, RowMemory, State, Worker};
use crate::uncertainty::{Distance, Rectangularity};

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
        let kl = self.set.distance == Distance::Kl;
        if self.nominal || memory.t.is_empty() {
            return;
        }
        let Worker { rows, scratch } = worker;
        let rows = Rows::load(self.model, self.reading, s, ahead, rows);
        let mut state = State { oracle: self, s, rows, ahead, tolerance: 0.0, memory, scratch };
        let radii: Vec<f64> = (0..state.rows.len()).map(|k| state.radius(k)).collect();
        if shared && radii[0] == 0.0 {
            return;
        }
        for (k, t, nu) in state.on_ball(radii[0], LiftAll { level, shared, kl, radii: &radii }) {
            visit(k, t, nu);
        }
    }
}

/// Every row lifted to a level that the budget allows.
struct LiftAll<'a> {
    level: f64,
    /// One budget for all, and floors are those of nominal values.
    shared: bool,
    kl: bool,
    radii: &'a [f64],
}

impl Drive<Vec<(usize, f64, f64)>> for LiftAll<'_> {
    fn on<B: Ball>(self, ball: &mut B, memory: &mut RowMemory<'_>) -> Vec<(usize, f64, f64)> {
        let LiftAll { level, shared, kl, radii } = self;
        let (slack, drift) = (noise(ball, level) / 64.0, ball.drift().0);
        ball.begin();
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
            // ln Σ y⁰e^{tw'} from the distance that it is part of.
            let nu = if kl { lifted.t * (lifted.value - peak) - lifted.cost } else { lifted.nu };
            out.push((k, lifted.t, nu));
        }
        out
    }
}
