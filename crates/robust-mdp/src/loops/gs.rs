//! Gauss–Seidel value iteration: every state sees the values of those before it.
//!
//! The operator G of such a sweep is still monotone, with G(v + k) ≤ G(v) + λk for k ≥ 0 alone, so that
//! only the larger side of d = G(v) − v bounds each way.

use super::bounds::rounding;
use super::course::{Course, Rounds, patience_of_plain_steps};
use crate::codec::{Codec, Snapshot};
use crate::solve::{Run, Status};

pub(super) struct GaussSeidel<'c, 'a, 'r>(pub(super) Course<'c, 'a, 'r>);

impl<'r> Rounds<'r> for GaussSeidel<'_, '_, 'r> {
    fn run(&mut self) -> &mut Run<'r> {
        self.0.run
    }

    fn round(&mut self) -> Option<Status> {
        let course = &mut self.0;
        let discount = course.model().discount();
        let factor = discount / (1.0 - discount);
        let mut before = std::mem::take(&mut course.scratch);
        before.copy_from_slice(&course.v);
        let tolerance = course.tolerance(f64::INFINITY);
        course.operator.sweep_in_place(&mut course.v, tolerance, &course.run.signal);
        let after = std::mem::replace(&mut course.v, before);
        course.record_residual();
        let (lower, upper) = (course.operator.lower(), course.operator.upper());
        let fall = course.v.iter().zip(lower).fold(0.0_f64, |m, (v, l)| m.min(l - v));
        let rise = course.v.iter().zip(upper).fold(0.0_f64, |m, (v, u)| m.max(u - v));
        let scale = after.iter().fold(course.run.largest_term, |m, v| m.max(v.abs()));
        let slack = rounding(scale, discount, course.width);
        // A state saw upper bounds of those before it: its lower bound is too high by at most
        // λ times the widest of these.
        let high_by = discount * course.widest();
        let low = factor * (fall - high_by) - high_by - slack;
        let patience = patience_of_plain_steps(discount);
        let status = course.conclude(low, factor * rise + slack, patience);
        course.scratch = std::mem::replace(&mut course.v, after);
        status
    }
}

impl Snapshot for GaussSeidel<'_, '_, '_> {
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        self.0.visit_fields(codec);
    }
}
