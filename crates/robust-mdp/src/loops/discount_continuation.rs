//! Discount continuation, for chains that mix slowly.
//!
//! F(v) = min max c + λPv, so that sF(v) = v is the fixed point, times s, of the same model with
//! discount sλ. Newton's step on it, (I − sλP)Δ = sF(v) − v, needs the sweep at v and nothing else.
//! With sλ < λ it moves the values less and changes the players' choices less: at the full discount a
//! first step from values that know of a few steps alone overshoots, and many more follow. So 1/(1 − sλ)
//! grows from ten to 1/(1 − λ) in stages, by factors of about ten. Sweeps on the way prove bounds like
//! any other.

use super::course::{Course, extent, spread};
use crate::codec::{Codec, Snapshot};

/// 1/(1 − sλ) at the first stage.
const FIRST: f64 = 10.0;
/// The largest factor of it from one stage to the next.
const GROWTH: f64 = 10.5;
/// Plain steps that leave less of the span than this need no continuation.
const SLOW: f64 = 0.5;
/// A stage has done its part when its span is below so many times that of the plain steps.
const ENOUGH: f64 = 4.0;
/// Steps at one stage.
const MOST_STEPS: u32 = 3;
/// A chain mixes fast if the first step spreads less than so many times the span it came from.
const FAST: f64 = 3.0;
/// Unless its step at the full discount then spreads so many times as much.
const MUCH: f64 = 8.0;

pub(super) struct DiscountContinuation {
    /// 1/(1 − sλ).
    reach: f64,
    /// s.
    share: f64,
    steps: u32,
    /// Span of the last plain step.
    plain_span: f64,
    first: bool,
}

impl DiscountContinuation {
    /// Continuation from a sweep whose span was `before` one plain step ago, if it promises to help.
    pub(super) fn begin(before: f64, course: &Course<'_, '_, '_>) -> Option<DiscountContinuation> {
        let slow = course.span > SLOW * before && course.span.is_finite();
        let far = full(course) > 1.5 * FIRST;
        // Smaller discounts would lead away from values that know of the full one.
        (slow && far && !course.given).then(|| DiscountContinuation {
            reach: FIRST,
            share: share(FIRST, course),
            steps: 0,
            plain_span: course.span,
            first: true,
        })
    }

    /// One to read a checkpoint into.
    pub(super) fn blank() -> DiscountContinuation {
        DiscountContinuation { reach: FIRST, share: 1.0, steps: 0, plain_span: 0.0, first: false }
    }

    /// Newton's step at this stage or the next; whether it was the first at the full discount.
    pub(super) fn newton_step(&mut self, course: &mut Course<'_, '_, '_>, tolerance: f64) -> bool {
        if self.steps == MOST_STEPS || !self.first && self.span(course) < ENOUGH * self.plain_span {
            self.next_stage(course);
        }
        self.steps += 1;
        let span = course.span;
        course.newton_step(self.share, tolerance);
        let again = std::mem::take(&mut self.first) && course.operator.keeps_chain();
        if again && spread(&course.scratch) < FAST * span {
            return self.try_full(course, tolerance);
        }
        self.share == 1.0
    }

    /// Takes the step at the full discount instead of the one just taken, which lies in `scratch`,
    /// unless it spreads much more; whether it was taken.
    fn try_full(&mut self, course: &mut Course<'_, '_, '_>, tolerance: f64) -> bool {
        let short = course.scratch.clone();
        course.v.iter_mut().zip(&short).for_each(|(v, step)| *v -= step);
        course.newton_step(1.0, tolerance);
        if spread(&course.scratch) < MUCH * spread(&short) {
            self.share = 1.0;
            return true;
        }
        let steps = short.iter().zip(&course.scratch);
        course.v.iter_mut().zip(steps).for_each(|(v, (short, full))| *v += short - full);
        false
    }

    /// On to the next stage; they lie evenly, by the logarithms of 1/(1 − sλ), before the full discount.
    fn next_stage(&mut self, course: &Course<'_, '_, '_>) {
        let left = full(course) / self.reach;
        let stages = (left.ln() / GROWTH.ln()).ceil();
        self.steps = 0;
        if stages > 1.0 {
            self.reach *= left.powf(1.0 / stages);
            self.share = share(self.reach, course);
        } else {
            self.share = 1.0;
        }
    }

    /// max − min of sF(v) − v.
    fn span(&self, course: &Course<'_, '_, '_>) -> f64 {
        let residual =
            course.v.iter().zip(course.operator.upper()).map(|(v, u)| self.share * u - v);
        let (low, high) = extent(residual);
        high - low
    }
}

/// 1/(1 − λ).
fn full(course: &Course<'_, '_, '_>) -> f64 {
    1.0 / (1.0 - course.model().discount())
}

/// s with 1/(1 − sλ) = `reach`.
fn share(reach: f64, course: &Course<'_, '_, '_>) -> f64 {
    (1.0 - 1.0 / reach) / course.model().discount()
}

impl Snapshot for DiscountContinuation {
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        codec.number(&mut self.reach);
        codec.number(&mut self.share);
        codec.small(&mut self.steps);
        codec.number(&mut self.plain_span);
        codec.flag(&mut self.first);
    }
}
