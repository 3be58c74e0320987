//! Saddle-point mirror descent (Ben-Tal & Nemirovski): both players step at once from the
//! current gradients, with steps shrunk like 1/√t (t counted across runs) for the O(1/√T) rate.

use super::{Iterate, PATIENCE, SaddlePoint, Schedule, Steps, Workspace, add};

/// Runs mirror descent; see [`super::run`].
pub fn run<P: SaddlePoint>(
    problem: &mut P,
    steps: Steps,
    schedule: Schedule,
    at: Iterate<'_>,
    workspace: &mut Workspace,
) -> f64 {
    let n = at.x.len();
    let point = &mut workspace.point[..n];
    let previous = &mut workspace.previous[..n];
    let gradient = &mut workspace.gradient[..n];
    problem.gradient_x(at.y, gradient);
    problem.step_x(0.0, gradient, at.x, point);
    let mut total = 0.0;
    for i in 0..schedule.steps {
        if i % PATIENCE == 0 && problem.stopped() {
            break;
        }
        let weight = schedule.weight(i);
        let shrink = ((schedule.first + i + 1) as f64).sqrt().recip();
        previous.copy_from_slice(point);
        problem.step_x(shrink * steps.tau, gradient, at.x, point);
        problem.step_y(shrink * steps.sigma, previous, at.y, weight, at.y_sum, gradient);
        add(weight, point, at.x_sum);
        add(weight, gradient, at.gradient_sum);
        total += weight;
    }
    total
}
