//! Accelerated value iteration (Goyal and Grand-Clément, *A first-order approach to accelerated
//! value iteration*): with h = v + γ(v − v⁻), v⁺ = h − α(h − F(h)), α = 1/(1+λ),
//! γ = (1 − √(1−λ²))/λ.
//!
//! It need not converge for every model: where the residual at h has not fallen, the next step is
//! plain value iteration from there and the momentum starts anew.

use super::{Course, Loop};

pub(super) struct Accelerated {
    step: f64,
    momentum: f64,
    /// v of the step before; empty after a restart.
    before: Vec<f64>,
    residual: f64,
}

impl Accelerated {
    pub(super) fn new(discount: f64) -> Accelerated {
        let momentum = if discount > 0.0 {
            (1.0 - (1.0 - discount * discount).sqrt()) / discount
        } else {
            0.0
        };
        let step = 1.0 / (1.0 + discount);
        Accelerated { step, momentum, before: Vec::new(), residual: f64::INFINITY }
    }
}

impl Loop for Accelerated {
    fn advance(&mut self, course: &mut Course<'_, '_, '_>) {
        let image = course.operator.upper();
        // course.v is h, the point of the sweep.
        if course.residual > self.residual {
            self.before.clear();
            course.v.copy_from_slice(image);
            self.residual = f64::INFINITY;
            return;
        }
        self.residual = course.residual;
        let fresh = self.before.is_empty();
        if fresh {
            self.before.extend_from_slice(image);
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
