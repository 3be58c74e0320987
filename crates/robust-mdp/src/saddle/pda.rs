//! Primal–dual algorithm (Chambolle & Pock 2016, Algorithm 1 with Bregman distances):
//!   x⁺ = prox_x(τ(c + Kᵀy), x),   y⁺ = prox_y(σK(2x⁺ − x), y).

use super::{Iterate, PATIENCE, SaddlePoint, Schedule, Steps, Workspace, add};

/// Runs PDA; see [`super::run`].
pub fn run<P: SaddlePoint>(
    problem: &mut P,
    steps: Steps,
    schedule: Schedule,
    at: Iterate<'_>,
    workspace: &mut Workspace,
) -> f64 {
    let n = at.x.len();
    let point = &mut workspace.point[..n];
    let extrapolated = &mut workspace.previous[..n];
    let gradient = &mut workspace.gradient[..n];
    problem.gradient_x(at.y, gradient);
    // A zero step normalises nothing and moves nothing: it only decodes x.
    problem.step_x(0.0, gradient, at.x, point);
    let mut total = 0.0;
    for i in 0..schedule.steps {
        if i % PATIENCE == 0 && problem.stopped() {
            break;
        }
        let weight = schedule.weight(i);
        extrapolated.copy_from_slice(point);
        problem.step_x(steps.tau, gradient, at.x, point);
        for (e, x) in extrapolated.iter_mut().zip(&*point) {
            *e = 2.0 * x - *e;
        }
        problem.step_y(steps.sigma, extrapolated, at.y, weight, at.y_sum, gradient);
        add(weight, point, at.x_sum);
        add(weight, gradient, at.gradient_sum);
        total += weight;
    }
    total
}
