//! A state's value and multipliers from one reading of its rows, for values that are far from the last
//! ones: what a sweep would prove there is soon out of date, and the closed form after one reading is
//! nearly as good a step. Nothing is proved.

use super::active::{Least, RowMemory};
use super::ball::{Ball, Moved};
use super::outlook::Outlook;
use super::rows::Rows;
use super::typical::LONG;
use super::{Drive, Exact, State, Worker};
use crate::lanes::dispatch;

/// Steps that drop rows.
const STEPS: usize = 4;

impl Exact<'_> {
    /// Whether drafts may save more than they cost.
    pub(crate) fn drafts(&self) -> bool {
        self.has_typical_rows() && self.model.states() >= LONG
    }

    /// About F(v)_s, the multipliers that go with it left in memory; `None` if one reading does not tell.
    pub(crate) fn draft(
        &self,
        s: usize,
        ahead: &Outlook,
        mut memory: RowMemory<'_>,
        worker: &mut Worker,
    ) -> Option<f64> {
        self.foresee(s, ahead, &mut memory);
        let Worker { rows, scratch } = worker;
        let rows = Rows::load(self.model, self.reading, s, ahead, rows);
        let mut state = State { oracle: self, s, rows, ahead, tolerance: 0.0, memory, scratch };
        let radius = state.radius(0);
        let value = if radius > 0.0 { state.on_ball(radius, Draft) } else { None };
        if value.is_some() {
            state.remember();
        }
        value
    }
}

struct Draft;

impl Drive<Option<f64>> for Draft {
    fn on<B: Ball>(self, ball: &mut B, memory: &mut RowMemory<'_>) -> Option<f64> {
        ball.begin();
        let ceiling = dispatch(Least(ball.rows().base));
        ball.active().clear(memory.floor);
        if !ball.guess(ceiling) {
            return None;
        }
        ball.read();
        for _ in 0..STEPS {
            let mu = ball.assess(false).mu;
            let moved = if mu < ceiling { ball.raise(mu) } else { Moved::Stuck };
            match moved {
                Moved::All => return Some(mu),
                Moved::Dropped => {}
                Moved::Stuck => break,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::typical::tests::{least_costs, span};
    use crate::algorithm::bellman::Bellman;
    use crate::instances::{Costs, Garnet};
    use crate::uncertainty::UncertaintySet;

    /// One reading leaves less for the first sweep, which still proves the same bounds.
    #[test]
    fn drafted_values_are_nearer() {
        let (states, discount) = (60, 0.9);
        let (costs, branching, band) = (Costs::StateDriven, 0.5, None);
        for seed in 1..=5 {
            let garnet = Garnet { states, actions: 60, branching, costs, band, discount, seed };
            let model = garnet.model().unwrap();
            let set = UncertaintySet::ellipsoid(0.3);
            let mut v = least_costs(&model);
            let before = span(&mut Bellman::new(&model, &set), &v);
            let mut drafted = Bellman::new(&model, &set);
            assert!(drafted.draft(&mut v));
            let after = span(&mut drafted, &v);
            assert!(after < 0.3 * before, "seed {seed}: {after} after {before}");
            // Without what the draft left in memory.
            let mut fresh = Bellman::new(&model, &set);
            span(&mut fresh, &v);
            for s in 0..states {
                let slack = 1e-12 * fresh.upper[s].abs();
                assert!(drafted.lower[s] <= fresh.upper[s] + slack, "seed {seed}, state {s}");
                assert!(fresh.lower[s] <= drafted.upper[s] + slack, "seed {seed}, state {s}");
            }
        }
    }
}
