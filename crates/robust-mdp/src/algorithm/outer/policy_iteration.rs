//! Policy iteration in the form of Hoffman and Karp, and Newton's method safeguarded by it.
//!
//! Hoffman–Karp: x greedy in F(v); v⁺ = the worst case of x over the set, itself by nature's policy
//! iteration: freeze nature's answer y to x, solve (I − λP^{x,y})w = c_{x,y}, answer again. w grows
//! to v^x and v^x falls to v*, so that nothing cycles, and neither depends much on λ. Evaluations
//! are as inexact as the residual allows: a fixed share of it.
//!
//! Newton: freeze both players at v and take the value of that pair (Pollatschek and Avi-Itzhak).
//! It needs no evaluation but may cycle: its steps are kept only while the residual falls, over a
//! few of them (Grippo, Lampariello and Lucidi, *A nonmonotone line search technique for Newton's
//! method*, 1986: it often rises once before it falls for good); otherwise the policy it came from
//! is evaluated after all. As long as steps without linear systems promise to get there with less
//! work, as on models that mix fast, they are taken instead, Anderson's ([`super::anderson`]); where
//! they are slow, the first of Newton's look less far ahead ([`super::horizon`]). Work is counted, not
//! timed, so that runs repeat.

use super::anderson::Anderson;
use super::horizon::Horizon;
use super::{Course, FirstValues, Loop};
use crate::checkpoint::{Snapshot, Tape};
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
/// Newton's steps are kept if the span is below the largest of so many before.
const RECENT: usize = 3;
/// Sweeps without progress, near what rounding allows, before it is taken to be the limit: linear
/// systems get there at once or not at all, whatever the discount.
const PATIENCE: f64 = 12.0;
/// How far a step without linear systems is taken to shrink the span of foretold values, and at most that of
/// drafted ones.
const PACE: f64 = 10.0;
/// The order at which Newton's steps are taken to converge, near the end.
const ORDER: f64 = 1.5;
/// The order at which they may, when the oracle's width does not stand in their way.
const HIGHEST_ORDER: i32 = 3;
/// Residual of linear systems against that of the sweep.
const LINEAR: f64 = 1e-4;

pub(super) struct PolicyIteration {
    newton: bool,
    /// The steps without linear systems, while they are good enough.
    light: Option<Anderson>,
    /// Steps of Newton's that look less far ahead, on the way to those that do.
    horizon: Option<Horizon>,
    /// The policy that the last step froze, and the span of the sweep that found it.
    policy: KeptPolicy,
    span: f64,
    /// Whether the last sweep froze the players' choices.
    frozen: bool,
    /// Whether the last step was Newton's, still to be judged.
    on_trial: bool,
    /// Spans of the last sweeps, infinite where there were none.
    recent: [f64; RECENT],
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
            light: None,
            horizon: None,
            policy: KeptPolicy::default(),
            span: f64::INFINITY,
            frozen: false,
            on_trial: false,
            recent: [f64::INFINITY; RECENT],
            share: if terminal { CLOSE_EVALUATION } else { EVALUATION },
            least: f64::INFINITY,
            waiting: 0,
            penance: 0,
            sentence: 1,
        }
    }

    /// Newton's, with the steps of `light` before them.
    pub(super) fn newton(model: &Model, light: Anderson) -> PolicyIteration {
        let light = Some(light);
        PolicyIteration { newton: true, light, ..PolicyIteration::hoffman_karp(model) }
    }

    /// Whether the next sweep is likely to be the last, so that its choices need not be frozen.
    fn promises_the_end(&self, course: &Course<'_, '_, '_>) -> bool {
        let [.., before, last] = self.recent;
        let known = self.on_trial && before.is_finite();
        known && last * (last / before).powf(ORDER) <= course.goal()
    }
}

impl Loop for PolicyIteration {
    fn wants_chain(&mut self, course: &Course<'_, '_, '_>) -> bool {
        let needless = self.light.is_some() || self.promises_the_end(course);
        self.frozen = !(needless && course.operator.chains_on_demand());
        self.frozen
    }

    fn promised_span(&self) -> f64 {
        let [.., before, last] = self.recent;
        let known = self.on_trial && before.is_finite() && last < before;
        if known { last * (last / before).powi(HIGHEST_ORDER) } else { f64::INFINITY }
    }

    fn patience(&self, discount: f64) -> f64 {
        if self.light.is_some() { super::patience_of_plain_steps(discount) } else { PATIENCE }
    }

    fn advance(&mut self, course: &mut Course<'_, '_, '_>) {
        if let Some(light) = &mut self.light {
            let is_first = self.span.is_infinite();
            let mut before = if is_first { PACE * course.span } else { self.span };
            if course.first == FirstValues::Drafted && course.run.work.sweeps == 2 {
                // What a draft leaves shrinks faster than the rest.
                before = before.min(PACE * course.span);
            }
            let unknown = is_first && course.first != FirstValues::Foretold;
            if unknown || light_steps_are_cheaper(before, course) {
                self.span = course.span;
                light.advance(course);
                return;
            }
            self.light = None;
            self.horizon = Horizon::ahead(self.span, course);
        }
        if let Some(horizon) = &mut self.horizon {
            freeze(&mut self.frozen, course);
            if horizon.leap(course, LINEAR * course.span) {
                self.horizon = None;
            }
            return;
        }
        let largest = self.recent.iter().fold(0.0_f64, |m, span| m.max(*span));
        if self.on_trial && course.span >= 0.9 * largest {
            // Newton's steps were no good: evaluate the policy that the last one froze.
            self.on_trial = false;
            self.recent.fill(f64::INFINITY);
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
        self.recent.rotate_left(1);
        self.recent[RECENT - 1] = course.span;
        freeze(&mut self.frozen, course);
        course.leap(1.0, LINEAR * course.span);
        self.on_trial = self.newton && self.penance == 0;
        self.penance = self.penance.saturating_sub(1);
        if !self.on_trial {
            evaluate(self.share * self.span, course);
        }
    }
}

impl Snapshot for PolicyIteration {
    fn pass(&mut self, tape: &mut Tape<'_>) {
        let mut light = self.light.is_some();
        tape.flag(&mut light);
        match &mut self.light {
            Some(steps) if light => steps.pass(tape),
            Some(_) => self.light = None,
            // Newton's alone begin with them.
            None if light => tape.refuse(),
            None => {}
        }
        let mut ahead = self.horizon.is_some();
        tape.flag(&mut ahead);
        if ahead {
            self.horizon.get_or_insert_with(Horizon::blank).pass(tape);
        }
        self.policy.pass(tape);
        tape.number(&mut self.span);
        tape.flag(&mut self.on_trial);
        tape.numbers(&mut self.recent);
        tape.number(&mut self.share);
        tape.number(&mut self.least);
        for count in [&mut self.waiting, &mut self.penance, &mut self.sentence] {
            tape.small(count);
        }
        if self.on_trial && self.policy.is_empty() {
            tape.refuse();
        }
    }
}

/// Freezes the choices of the last sweep unless that has done it.
fn freeze(frozen: &mut bool, course: &mut Course<'_, '_, '_>) {
    if !std::mem::replace(frozen, true) {
        course.operator.freeze();
    }
}

/// Whether steps that shrink the span as the last one did, from `before`, cost less than leaps.
fn light_steps_are_cheaper(before: f64, course: &Course<'_, '_, '_>) -> bool {
    let model = course.model();
    let steps = (course.span / course.goal()).ln() / (before / course.span).ln();
    let (frozen, elimination) = course.operator.leap_price();
    // On dense models the first sweep finds out what the next know: these read rows in use about once,
    // and so does every step of Newton's. On others steps shrink the span less and less.
    let (sweep, leaps) = match model.is_dense() {
        true => (course.last_entries.min(frozen + frozen / 4), AFTERWARDS),
        false => (course.last_entries, 1.0),
    };
    let sweep = (sweep + 4 * model.rows() as u64) as f64;
    let leap = (2 * frozen + elimination) as f64;
    // Not where the span has stopped falling, or was nothing to begin with.
    course.span < before && steps * sweep <= leaps * leap + AFTERWARDS * sweep
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
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (v, u) in course.v.iter().zip(course.operator.upper()) {
            low = low.min(u - v);
            high = high.max(u - v);
        }
        let span = high - low;
        if span <= goal || span >= 0.999 * least {
            // The value of the pair where terminal states stay put, else the middle of the bounds
            // of v^x, which needs no linear system.
            if course.has_terminal_states {
                course.leap(1.0, LINEAR * span);
                return;
            }
            let shift = discount / (1.0 - discount) * 0.5 * (low + high);
            for (v, u) in course.v.iter_mut().zip(course.operator.upper()) {
                *v = u + shift;
            }
            return;
        }
        least = span;
        course.leap(1.0, LINEAR * span);
    }
}
