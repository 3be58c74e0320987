//! The best certified answer of a run.

use crate::codec::{Codec, Snapshot};

/// The best certified answer so far: lower ≤ v* ≤ v^policy ≤ upper.
#[derive(Clone, Debug, Default)]
pub(crate) struct Incumbent {
    pub(crate) policy: Vec<f64>,
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
}

impl Incumbent {
    /// Largest upper − lower.
    pub(crate) fn gap(&self) -> f64 {
        widest(&self.lower, &self.upper)
    }

    /// Lower bounds are kept state by state; an upper bound belongs to its policy.
    pub(crate) fn improve(&mut self, policy: &[f64], lower: &[f64], upper: Vec<f64>) {
        self.raise(lower);
        if widest(&self.lower, &upper) < self.gap() {
            self.adopt(policy, upper);
        }
    }

    /// Makes this the answer, whatever was known of earlier ones; lower bounds hold for all of them.
    pub(crate) fn replace(&mut self, policy: &[f64], lower: &[f64], upper: Vec<f64>) {
        self.raise(lower);
        self.adopt(policy, upper);
    }

    /// Makes this the answer, with these bounds and no others.
    pub(crate) fn replace_all(&mut self, policy: Vec<f64>, lower: Vec<f64>, upper: Vec<f64>) {
        *self = Incumbent { policy, lower, upper };
    }

    fn raise(&mut self, lower: &[f64]) {
        for (best, lower) in self.lower.iter_mut().zip(lower) {
            *best = best.max(*lower); // a NaN changes nothing
        }
    }

    /// A policy that is no distribution changes nothing.
    fn adopt(&mut self, policy: &[f64], upper: Vec<f64>) {
        if policy.iter().all(|x| x.is_finite()) {
            self.policy.clear();
            self.policy.extend_from_slice(policy);
            self.upper = upper;
        }
    }

    /// Largest |bound|.
    pub(crate) fn scale(&self) -> f64 {
        self.lower.iter().chain(&self.upper).fold(0.0, |m, v| m.max(v.abs()))
    }
}

impl Snapshot for Incumbent {
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        let (states, rows) = (codec.states, codec.rows);
        codec.all_or_none(&mut self.policy, rows);
        codec.all_or_none(&mut self.lower, states);
        codec.all_or_none(&mut self.upper, states);
        let lengths = [self.policy.len(), self.lower.len(), self.upper.len()];
        if lengths != [rows, states, states] {
            codec.refuse();
        }
    }
}

/// Largest upper − lower; infinite if a bound is NaN or the bounds cross, so that nothing
/// can be certified by them.
pub(crate) fn widest(lower: &[f64], upper: &[f64]) -> f64 {
    lower.iter().zip(upper).fold(0.0, |widest: f64, (&l, &u)| widest.max(width(l, u)))
}

pub(crate) fn width(lower: f64, upper: f64) -> f64 {
    let width = upper - lower;
    let sound = width.is_finite() && width >= -1e-12 * (lower.abs() + upper.abs());
    if sound { width } else { f64::INFINITY }
}
