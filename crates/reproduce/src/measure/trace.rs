//! The duality gap of FOM-VI, step by step.

use std::time::Instant;

use robust_mdp::Error;
use robust_mdp::measure::fom_vi_gaps;

use super::super::cell::{Counts, Outcome, Record, Seconds, TracePoint};
use super::super::plan::checkpoints;
use super::super::solver::FomSetup;
use super::At;

/// Gaps of traces are known up to twice this.
const TRACE_TOLERANCE: f64 = 1e-7;

impl At<'_> {
    pub(super) fn trace(&self, course: FomSetup) -> Result<Option<Record>, Error> {
        let steps = checkpoints(self.cell.limit, course.q);
        let started = Instant::now();
        let gaps = fom_vi_gaps(
            &self.model,
            &self.set,
            &course.settings(),
            &steps,
            TRACE_TOLERANCE,
            self.threads,
            self.interrupt,
        )?;
        let total = started.elapsed().as_secs_f64();
        let Some(gaps) = gaps else { return Ok(None) };
        let trace = gaps.iter().map(|at| TracePoint {
            steps: at.steps,
            dg: (at.upper - at.lower).max(0.0),
            gap: at.gap,
        });
        let last = gaps.last().map_or((0, 0), |at| (at.epoch, at.steps));
        let outcome = Outcome {
            status: "done".into(),
            radius: self.radius,
            work: Counts { sweeps: last.0, steps: last.1, ..Counts::default() },
            gap: gaps.last().map_or(f64::MAX, |at| at.gap),
            lower: gaps.last().map_or(0.0, |at| at.lower),
            upper: gaps.last().map_or(0.0, |at| at.upper),
            trace: trace.collect(),
            ..Outcome::default()
        };
        let steps = gaps.last().map(|at| at.step_seconds);
        let seconds = Seconds { own: steps, total, ..Seconds::default() };
        Ok(Some(Record { cell: *self.cell, outcome, seconds }))
    }
}
