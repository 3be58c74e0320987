//! Policy iteration in the form of Hoffman and Karp, and Newton's method safeguarded by it.
//!
//! Hoffman–Karp: x greedy in F(v); v⁺ = the worst case of x over the set, itself by nature's policy
//! iteration: freeze nature's answer y to x, solve (I − λP^{x,y})w = c_{x,y}, answer again. w grows
//! to v^x and v^x falls to v*, so that nothing cycles, and neither depends much on λ. Evaluations
//! are as inexact as the residual allows: a fixed share of it.
//!
//! Newton: freeze both players at v and take the value of that pair (Pollatschek and Avi-Itzhak).
//! It needs no evaluation but may cycle: its step is kept only if the residual there has fallen;
//! otherwise the policy it came from is evaluated after all. As long as plain steps v ← F(v) promise
//! to get there with less work than a linear system and the sweeps after it, as on models that mix
//! fast, they are taken instead. Work is counted, not timed, so that runs repeat.

use super::{Course, Loop};
use crate::kept_policy::KeptPolicy;
use crate::model::Model;

/// An evaluation may leave this share of the residual, and less where that proves too much.
const EVALUATION: f64 = 0.5;
/// The same where terminal states hold values in place: no constant can make up for an error.
const CLOSE_EVALUATION: f64 = 0.01;
/// Sweeps of nature in one evaluation.
const MOST_ANSWERS: usize = 100;
/// Sweeps that are still needed after a linear system.
const AFTERWARDS: f64 = 2.0;
/// Residual of linear systems against that of the sweep.
const LINEAR: f64 = 1e-4;

pub(super) struct PolicyIteration {
    newton: bool,
    /// Whether plain steps are still good enough.
    plain: bool,
    /// The policy that the last step froze, and the span of the sweep that found it.
    policy: KeptPolicy,
    span: f64,
    /// Whether the last step was Newton's, still to be judged.
    on_trial: bool,
    /// What an evaluation may leave of the residual.
    share: f64,
    /// The least span so far, and the steps since.
    least: f64,
    waiting: u32,
    /// Steps of Hoffman and Karp before the next of Newton's, and how many after one that failed.
    penance: u32,
    sentence: u32,
}

impl PolicyIteration {
    pub(super) fn hoffman_karp(model: &Model) -> PolicyIteration {
        let terminal = (0..model.states()).any(|s| model.is_terminal(s));
        PolicyIteration {
            newton: false,
            plain: false,
            policy: KeptPolicy::default(),
            span: f64::INFINITY,
            on_trial: false,
            share: if terminal { CLOSE_EVALUATION } else { EVALUATION },
            least: f64::INFINITY,
            waiting: 0,
            penance: 0,
            sentence: 1,
        }
    }

    pub(super) fn newton(model: &Model) -> PolicyIteration {
        PolicyIteration { newton: true, plain: true, ..PolicyIteration::hoffman_karp(model) }
    }
}

impl Loop for PolicyIteration {
    fn wants_chain(&self, course: &Course<'_, '_, '_>) -> bool {
        !self.plain || !course.operator.chains_on_demand()
    }

    fn advance(&mut self, course: &mut Course<'_, '_, '_>) {
        if self.plain {
            self.plain = self.span.is_infinite() || plain_steps_are_cheaper(self.span, course);
            if self.plain {
                self.span = course.span;
                course.step();
                return;
            }
            course.operator.freeze();
        }
        if self.on_trial && course.span >= 0.9 * self.span {
            // Newton's step was no good: evaluate the policy that it froze.
            self.on_trial = false;
            self.penance = self.sentence;
            self.sentence = self.sentence.saturating_mul(2);
            course.operator.adopt(&self.policy);
            evaluate(self.share * self.span, course);
            return;
        }
        // Spans need not fall at every step, but over several they do.
        if course.span < 0.9 * self.least {
            (self.least, self.waiting) = (course.span, 0);
        } else {
            self.waiting += 1;
            self.share *= if self.waiting.is_multiple_of(5) { 0.2 } else { 1.0 };
        }
        self.policy.keep(course.operator.policy());
        self.span = course.span;
        leap(course, LINEAR * course.span);
        self.on_trial = self.newton && self.penance == 0;
        self.penance = self.penance.saturating_sub(1);
        if !self.on_trial {
            evaluate(self.share * self.span, course);
        }
    }
}

/// Whether steps that shrink the span as the last one did, from `before`, cost less than a leap.
fn plain_steps_are_cheaper(before: f64, course: &Course<'_, '_, '_>) -> bool {
    let discount = course.model().discount();
    let goal = (1.0 - discount) * course.run.limits.gap;
    let steps = (course.span / goal).ln() / (before / course.span).ln();
    let sweep = (course.last_entries + 4 * course.model().rows() as u64) as f64;
    // Not where the span has stopped falling, or was nothing to begin with.
    course.span < before
        && steps * sweep <= course.operator.leap_price() as f64 + AFTERWARDS * sweep
}

/// v ← the value of the pair that the last sweep froze.
fn leap(course: &mut Course<'_, '_, '_>, tolerance: f64) {
    let Course { operator, v, scratch, run, .. } = course;
    operator.leap(v, scratch, tolerance, &run.signal);
    course.pin_terminal_states();
}

/// v ← the worst case of the operator's policy, up to `goal` in the residual.
fn evaluate(goal: f64, course: &mut Course<'_, '_, '_>) {
    let discount = course.model().discount();
    let goal = goal.max(0.1 * (1.0 - discount) * course.run.limits.gap);
    let mut least = f64::INFINITY;
    for _ in 0..MOST_ANSWERS {
        if course.run.work.sweeps >= course.run.limits.max_sweeps {
            return;
        }
        course.operator.respond(&course.v, 0.1 * goal);
        course.run.work.sweeps += 1;
        course.run.work.evaluations += 1;
        course.run.work.oracle_calls += course.v.len() as u64;
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (v, u) in course.v.iter().zip(course.operator.upper()) {
            low = low.min(u - v);
            high = high.max(u - v);
        }
        let span = high - low;
        if span <= goal || span >= 0.999 * least || course.run.signal.raised() {
            // The value of the pair where terminal states stay put, else the middle of the bounds
            // of v^x, which needs no linear system.
            if course.has_terminal_states {
                leap(course, LINEAR * span);
                return;
            }
            let shift = discount / (1.0 - discount) * 0.5 * (low + high);
            for (v, u) in course.v.iter_mut().zip(course.operator.upper()) {
                *v = u + shift;
            }
            return;
        }
        least = span;
        leap(course, LINEAR * span);
    }
}
