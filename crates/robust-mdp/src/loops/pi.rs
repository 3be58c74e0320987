//! Policy iteration in the form of Hoffman and Karp.
//!
//! x greedy in F(v); v⁺ = the worst case of x over the set, itself by nature's policy iteration: freeze
//! nature's answer y to x, solve (I − λP^{x,y})w = c_{x,y}, answer again. w grows to v^x and v^x falls
//! to v*, so that nothing cycles, and neither depends much on λ. Evaluations are as inexact as the
//! residual allows: a fixed share of it.

use super::course::{Course, Loop, extent};
use crate::codec::{Codec, Snapshot};
use crate::model::Model;

/// An evaluation may leave this share of the residual, and less where that proves too much.
const EVALUATION: f64 = 0.5;
/// The same where terminal states hold values in place: no constant can make up for an error.
const CLOSE_EVALUATION: f64 = 0.01;
/// Sweeps of nature in one evaluation.
const MOST_ANSWERS: usize = 100;
/// Sweeps without progress, near what rounding allows, before it is taken to be the limit: linear
/// systems get there at once or not at all, whatever the discount.
pub(super) const PATIENCE: f64 = 12.0;
/// Residual of linear systems against that of the sweep.
pub(super) const LINEAR: f64 = 1e-4;

pub(super) struct PolicyIteration {
    /// What an evaluation may leave of the residual.
    share: f64,
    /// The least span so far, and the steps since.
    least: f64,
    waiting: u32,
}

impl PolicyIteration {
    pub(super) fn new(model: &Model) -> PolicyIteration {
        let terminal = (0..model.states()).any(|s| model.is_terminal(s));
        let share = if terminal { CLOSE_EVALUATION } else { EVALUATION };
        PolicyIteration { share, least: f64::INFINITY, waiting: 0 }
    }

    /// Asks for more of evaluations where spans have stopped falling. They need not fall at every step,
    /// but over several they do.
    pub(super) fn judge(&mut self, span: f64) {
        if span < 0.9 * self.least {
            (self.least, self.waiting) = (span, 0);
        } else {
            self.waiting += 1;
            self.share *= if self.waiting.is_multiple_of(5) { 0.2 } else { 1.0 };
        }
    }

    /// v ← the worst case of the operator's policy, which came from a sweep of this span.
    pub(super) fn evaluate(&self, span: f64, course: &mut Course<'_, '_, '_>) {
        evaluate(self.share * span, course);
    }
}

impl Loop for PolicyIteration {
    fn patience(&self, _: f64) -> f64 {
        PATIENCE
    }

    fn advance(&mut self, course: &mut Course<'_, '_, '_>) {
        let span = course.span;
        self.judge(span);
        course.freeze();
        course.newton_step(1.0, LINEAR * span);
        self.evaluate(span, course);
    }
}

impl Snapshot for PolicyIteration {
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        codec.number(&mut self.share);
        codec.number(&mut self.least);
        codec.small(&mut self.waiting);
    }
}

/// v ← the worst case of the operator's policy, up to `goal` in the residual.
fn evaluate(goal: f64, course: &mut Course<'_, '_, '_>) {
    let discount = course.model().discount();
    // No closer than was asked for, or than rounding lets it come.
    let least_gap = course.run.limits.gap.max(course.run.rounding_floor());
    let goal = goal.max(0.1 * (1.0 - discount) * least_gap);
    let mut least = f64::INFINITY;
    for _ in 0..MOST_ANSWERS {
        if course.run.work.sweeps >= course.run.limits.max_sweeps {
            return;
        }
        course.operator.respond(&course.v, 0.1 * goal, &course.run.signal);
        course.run.work.sweeps += 1;
        course.run.work.evaluations += 1;
        course.run.work.oracle_calls += course.v.len() as u64;
        if course.run.signal.raised() {
            return; // the sweep may have been stopped, and the run is over
        }
        let moves = course.v.iter().zip(course.operator.upper()).map(|(v, u)| u - v);
        let (low, high) = extent(moves);
        let span = high - low;
        if span <= goal || span >= 0.999 * least {
            // The value of the pair where terminal states stay put, else the middle of the bounds
            // of v^x, which needs no linear system.
            if course.has_terminal_states {
                course.newton_step(1.0, LINEAR * span);
                return;
            }
            let shift = discount / (1.0 - discount) * 0.5 * (low + high);
            for (v, u) in course.v.iter_mut().zip(course.operator.upper()) {
                *v = u + shift;
            }
            return;
        }
        least = span;
        course.newton_step(1.0, LINEAR * span);
    }
}
