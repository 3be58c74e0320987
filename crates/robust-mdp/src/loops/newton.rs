//! Newton's method on v = F(v), safeguarded by policy iteration.
//!
//! Freeze both players at v and take the value of that pair, (I − λP^{x,y})v⁺ = c_{x,y} (Pollatschek and
//! Avi-Itzhak). It needs no evaluation but may cycle: its steps are kept only while the residual falls,
//! over a few of them (Grippo, Lampariello and Lucidi, *A nonmonotone line search technique for Newton's
//! method*, 1986: it often rises once before it falls for good); otherwise the policy it came from
//! is evaluated after all ([`super::pi`]). As long as steps without linear systems promise to get there
//! with less work, as on models that mix fast, they are taken instead, Anderson's ([`super::anderson`]);
//! where they are slow, the first of Newton's are at smaller discounts
//! ([`super::discount_continuation`]). Work is counted, not timed, so that runs repeat.

use super::anderson::{self, Anderson};
use super::course::{Course, Loop, patience_of_plain_steps};
use super::discount_continuation::DiscountContinuation;
use super::pi::{LINEAR, PATIENCE, PolicyIteration};
use crate::codec::{Codec, Snapshot};
use crate::model::Model;

/// Sweeps that are still needed after a linear system.
const AFTERWARDS: f64 = 2.0;
/// Newton's steps are kept if the span is below the largest of so many before.
const RECENT: usize = 3;
/// The order at which Newton's steps may converge, when the oracle's width does not stand in their way.
const HIGHEST_ORDER: i32 = 3;
/// Entries a state in whose company Anderson's memory weighs nothing.
const SPARSE: usize = 64;

pub(super) struct Newton {
    /// The steps without linear systems, while they are good enough.
    anderson: Option<Anderson>,
    /// Steps at smaller discounts, on the way to those at the full one.
    continuation: Option<DiscountContinuation>,
    /// The safeguard.
    safeguard: PolicyIteration,
    /// The policy that the last step froze, and the span of the sweep that found it.
    policy: Vec<f64>,
    span: f64,
    /// Whether the last step was Newton's, still to be judged.
    on_trial: bool,
    /// Spans of the last sweeps, infinite where there were none.
    recent: [f64; RECENT],
    /// Steps of the safeguard before the next of Newton's, and how many after one that failed.
    backoff: u32,
    next_backoff: u32,
}

impl Newton {
    pub(super) fn new(model: &Model) -> Newton {
        let sparse = model.transitions() < SPARSE * model.states();
        let memory = if sparse { 0 } else { anderson::MEMORY };
        Newton {
            anderson: Some(Anderson::new(model.states(), memory)),
            continuation: None,
            safeguard: PolicyIteration::new(model),
            policy: Vec::new(),
            span: f64::INFINITY,
            on_trial: false,
            recent: [f64::INFINITY; RECENT],
            backoff: 0,
            next_backoff: 1,
        }
    }
}

impl Loop for Newton {
    fn promised_span(&self) -> f64 {
        let [.., before, last] = self.recent;
        let known = self.on_trial && before.is_finite() && last < before;
        if known { last * (last / before).powi(HIGHEST_ORDER) } else { f64::INFINITY }
    }

    fn patience(&self, discount: f64) -> f64 {
        if self.anderson.is_some() { patience_of_plain_steps(discount) } else { PATIENCE }
    }

    fn advance(&mut self, course: &mut Course<'_, '_, '_>) {
        if let Some(anderson) = &mut self.anderson {
            let is_first = self.span.is_infinite();
            if is_first || anderson_is_cheaper(self.span, course) {
                self.span = course.span;
                anderson.advance(course);
                return;
            }
            self.anderson = None;
            self.continuation = DiscountContinuation::begin(self.span, course);
        }
        if let Some(continuation) = &mut self.continuation {
            course.freeze();
            if continuation.newton_step(course, LINEAR * course.span) {
                self.continuation = None;
            }
            return;
        }
        let largest = self.recent.iter().fold(0.0_f64, |m, span| m.max(*span));
        if self.on_trial && course.span >= 0.9 * largest {
            // Newton's steps were no good: evaluate the policy that the last one froze.
            self.on_trial = false;
            self.recent.fill(f64::INFINITY);
            self.backoff = self.next_backoff;
            self.next_backoff = self.next_backoff.saturating_mul(2);
            course.operator.adopt(&self.policy);
            self.safeguard.evaluate(self.span, course);
            return;
        }
        self.safeguard.judge(course.span);
        self.policy.clear();
        self.policy.extend_from_slice(course.operator.policy());
        self.span = course.span;
        self.recent.rotate_left(1);
        self.recent[RECENT - 1] = course.span;
        course.freeze();
        course.newton_step(1.0, LINEAR * course.span);
        self.on_trial = self.backoff == 0;
        self.backoff = self.backoff.saturating_sub(1);
        if !self.on_trial {
            self.safeguard.evaluate(self.span, course);
        }
    }
}

impl Snapshot for Newton {
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        let mut begins = self.anderson.is_some();
        codec.flag(&mut begins);
        match &mut self.anderson {
            Some(anderson) if begins => anderson.visit_fields(codec),
            Some(_) => self.anderson = None,
            None if begins => codec.refuse(),
            None => {}
        }
        let mut continued = self.continuation.is_some();
        codec.flag(&mut continued);
        if continued {
            let blank = DiscountContinuation::blank;
            self.continuation.get_or_insert_with(blank).visit_fields(codec);
        }
        self.safeguard.visit_fields(codec);
        let rows = codec.rows;
        codec.all_or_none(&mut self.policy, rows);
        codec.number(&mut self.span);
        codec.flag(&mut self.on_trial);
        codec.numbers(&mut self.recent);
        codec.small(&mut self.backoff);
        codec.small(&mut self.next_backoff);
        if self.on_trial && self.policy.is_empty() {
            codec.refuse();
        }
    }
}

/// Whether steps that shrink the span as the last one did, from `before`, cost less than Newton's.
fn anderson_is_cheaper(before: f64, course: &Course<'_, '_, '_>) -> bool {
    let model = course.model();
    let steps = (course.span / course.goal()).ln() / (before / course.span).ln();
    let (frozen, elimination) = course.operator.newton_price();
    // On dense models the first sweep finds out what the next know: these read rows in use about once,
    // and so does every step of Newton's. On others steps shrink the span less and less.
    let (sweep, newton_steps) = match model.is_dense() {
        true => (course.last_entries.min(frozen + frozen / 4), AFTERWARDS),
        false => (course.last_entries, 1.0),
    };
    let sweep = (sweep + 4 * model.rows() as u64) as f64;
    let newton_step = (2 * frozen + elimination) as f64;
    // Not where the span has stopped falling, or was nothing to begin with.
    course.span < before && steps * sweep <= newton_steps * newton_step + AFTERWARDS * sweep
}
