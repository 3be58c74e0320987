//! Mirror prox (Nemirovski 2004): a trial step, then the real one with the trial's gradients,
//!   (x̂, ŷ) = prox at the gradients of (x, y);   (x⁺, y⁺) = prox at the gradients of (x̂, ŷ).
//! The averages are of the trial points.

use super::{Iterate, PATIENCE, SaddlePoint, Schedule, Steps, Workspace, add};

/// Runs mirror prox; see [`super::run`].
pub fn run<P: SaddlePoint>(
    problem: &mut P,
    steps: Steps,
    schedule: Schedule,
    at: Iterate<'_>,
    workspace: &mut Workspace,
) -> f64 {
    let (n, m) = (at.x.len(), at.y.len());
    let point = &mut workspace.point[..n];
    let half_point = &mut workspace.previous[..n];
    let gradient = &mut workspace.gradient[..n];
    let half_gradient = &mut workspace.half_gradient[..n];
    let half_x = &mut workspace.half_x[..n];
    let half_y = &mut workspace.half_y[..m];
    problem.gradient_x(at.y, gradient);
    problem.step_x(0.0, gradient, at.x, point);
    let mut total = 0.0;
    for i in 0..schedule.steps {
        if i % PATIENCE == 0 && problem.stopped() {
            break;
        }
        let weight = schedule.weight(i);
        half_x.copy_from_slice(at.x);
        half_y.copy_from_slice(at.y);
        problem.step_x(steps.tau, gradient, half_x, half_point);
        problem.step_y(steps.sigma, point, half_y, weight, at.y_sum, half_gradient);
        problem.step_x(steps.tau, half_gradient, at.x, point);
        problem.step_y(steps.sigma, half_point, at.y, 0.0, at.y_sum, gradient);
        add(weight, half_point, at.x_sum);
        add(weight, half_gradient, at.gradient_sum);
        total += weight;
    }
    total
}
