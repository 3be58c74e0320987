//! Accelerated value iteration (Goyal and Grand-Clément, *A first-order approach to accelerated
//! value iteration*): with h = v + γ(v − v⁻), v⁺ = h − α(h − F(h)), α = 1/(1+λ),
//! γ = (1 − √(1−λ²))/λ.
//!
//! It need not converge for every model: where the span of the residual at h has not fallen, plain
//! steps follow from the best point so far, twice as many as the last time, and the momentum starts
//! anew. Plain steps leave at most λ of the span, so that it converges as value iteration does.

use super::course::{Course, Loop};
use crate::codec::{Codec, Snapshot};

/// Plain steps after steps that failed, at most.
const MOST_PLAIN: u32 = 64;

pub(super) struct Accelerated {
    step: f64,
    momentum: f64,
    /// v of the step before; empty after a restart.
    before: Vec<f64>,
    /// The residual of the last step that was kept, and F there.
    best: f64,
    best_image: Vec<f64>,
    /// Plain steps still to take, and how many after the next that fails.
    plain: u32,
    backoff: u32,
}

impl Accelerated {
    pub(super) fn new(discount: f64) -> Accelerated {
        let momentum = if discount > 0.0 {
            (1.0 - (1.0 - discount * discount).sqrt()) / discount
        } else {
            0.0
        };
        Accelerated {
            step: 1.0 / (1.0 + discount),
            momentum,
            before: Vec::new(),
            best: f64::INFINITY,
            best_image: Vec::new(),
            plain: 1,
            backoff: 1,
        }
    }
}

impl Loop for Accelerated {
    fn advance(&mut self, course: &mut Course<'_, '_, '_>) {
        let image = course.operator.upper();
        let merit = course.merit();
        // course.v is h, the point of the sweep.
        if merit > self.best && self.plain == 0 {
            self.before.clear();
            self.plain = self.backoff;
            self.backoff = (2 * self.backoff).min(MOST_PLAIN);
            course.v.copy_from_slice(&self.best_image);
            return;
        }
        self.best = merit;
        image.clone_into(&mut self.best_image);
        if self.plain > 0 {
            self.plain -= 1;
            image.clone_into(&mut self.before);
            course.v.copy_from_slice(image);
            return;
        }
        for ((h, f), before) in course.v.iter_mut().zip(image).zip(&mut self.before) {
            let v = *h - self.step * (*h - f);
            *h = v + self.momentum * (v - *before);
            *before = v;
        }
    }
}

impl Snapshot for Accelerated {
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        let states = codec.states;
        codec.all_or_none(&mut self.before, states);
        codec.number(&mut self.best);
        codec.all_or_none(&mut self.best_image, states);
        codec.small(&mut self.plain);
        codec.small(&mut self.backoff);
        if self.best.is_finite() && self.best_image.is_empty() {
            codec.refuse();
        }
    }
}
