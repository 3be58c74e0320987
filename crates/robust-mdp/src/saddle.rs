//! First-order methods for bilinear saddle points min_x max_y ⟨c, x⟩ + ⟨Kx, y⟩.
//!
//! They see a problem only through [`SaddlePoint`]: proximal steps of either player and the
//! gradient c + Kᵀy. Iterates are in mirror coordinates (see [`crate::geometry`]).
//!
//! Every method leaves weighted sums of the points whose average converges, with weights ω_t = t^p, t
//! counted from `first`; τ and σ are the step sizes:
//! - primal–dual algorithm (Chambolle & Pock 2016, Algorithm 1 with Bregman distances), O(1/T):
//!   x⁺ = prox_x(τ(c + Kᵀy), x),   y⁺ = prox_y(σK(2x⁺ − x), y);
//! - mirror prox (Nemirovski 2004), O(1/T): a trial step, then the real one with the trial's gradients,
//!   (x̂, ŷ) = prox at the gradients of (x, y),   (x⁺, y⁺) = prox at the gradients of (x̂, ŷ),
//!   and averages of the trial points;
//! - mirror descent (Ben-Tal & Nemirovski), O(1/√T): both players step at once from the current
//!   gradients, with steps shrunk like 1/√t.

use serde::{Deserialize, Serialize};

/// A bilinear saddle-point problem with proximal steps for both players.
pub trait SaddlePoint {
    /// Kᵀy + c at the point with mirror coordinates `y`.
    fn gradient_x(&mut self, y: &[f64], gradient: &mut [f64]);

    /// x ← argmin ⟨step·gradient, x⟩ + D(x, x'), in place; the point itself goes to `point`.
    fn step_x(&mut self, step: f64, gradient: &[f64], x: &mut [f64], point: &mut [f64]);

    /// y ← argmax ⟨step·K x, y⟩ − D(y, y'), in place. Adds weight·y to `sum` (weight 0: leaves it
    /// alone) and writes c + Kᵀy to `gradient`.
    fn step_y(
        &mut self,
        step: f64,
        x: &[f64],
        y: &mut [f64],
        weight: f64,
        sum: &mut [f64],
        gradient: &mut [f64],
    );

    /// Whether to give up now; a run that is stopped leaves unfinished sums behind.
    fn stopped(&self) -> bool {
        false
    }
}

/// Steps between two looks at [`SaddlePoint::stopped`].
const PATIENCE: u64 = 16;

/// Step sizes with τ·σ·L² ≤ 1, L a bound of the coupling K in the players' norms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// Of the minimising player x.
    pub tau: f64,
    /// Of the maximising player y.
    pub sigma: f64,
}

/// Which first-order method runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstOrderMethod {
    /// Primal–dual algorithm of Chambolle and Pock with Bregman distances.
    #[default]
    Pda,
    /// Mirror prox.
    MirrorProx,
    /// Saddle-point mirror descent.
    MirrorDescent,
}

/// How long to run and how to weigh the iterates.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// Number of steps.
    pub steps: u64,
    /// Steps taken before on the same problem: the first new one has t = first + 1.
    pub first: u64,
    /// ω_t = t^power.
    pub power: f64,
}

impl Schedule {
    /// ω_t of the i-th step of this run, i = 0, 1, …
    pub fn weight(&self, i: u64) -> f64 {
        let t = (self.first + i + 1) as f64;
        match self.power {
            0.0 => 1.0,
            1.0 => t,
            2.0 => t * t,
            p => t.powf(p),
        }
    }
}

/// Iterates and running sums of one problem; all slices belong to the caller.
#[derive(Debug)]
pub struct Iterate<'a> {
    /// Mirror coordinates of x.
    pub x: &'a mut [f64],
    /// Mirror coordinates of y.
    pub y: &'a mut [f64],
    /// Σ ω_t x_t.
    pub x_sum: &'a mut [f64],
    /// Σ ω_t y_t.
    pub y_sum: &'a mut [f64],
    /// Σ ω_t (c + Kᵀy_t).
    pub gradient_sum: &'a mut [f64],
}

/// Working memory of a run, for up to `n` entries of x and `m` of y.
#[derive(Debug)]
pub struct Workspace {
    point: Vec<f64>,
    /// The point before, extrapolated, or of the trial step.
    other: Vec<f64>,
    gradient: Vec<f64>,
    half_gradient: Vec<f64>,
    half_x: Vec<f64>,
    half_y: Vec<f64>,
}

impl Workspace {
    /// Memory for problems up to this size; only mirror prox uses the `m` part.
    pub fn new(method: FirstOrderMethod, n: usize, m: usize) -> Workspace {
        let m = if method == FirstOrderMethod::MirrorProx { m } else { 0 };
        let n = || vec![0.0; n];
        Workspace {
            point: n(),
            other: n(),
            gradient: n(),
            half_gradient: n(),
            half_x: n(),
            half_y: vec![0.0; m],
        }
    }
}

/// Runs a method and returns the total weight Σ ω_t of the points it added to the sums.
pub fn run<P: SaddlePoint>(
    method: FirstOrderMethod,
    problem: &mut P,
    Steps { tau, sigma }: Steps,
    schedule: Schedule,
    at: Iterate<'_>,
    workspace: &mut Workspace,
) -> f64 {
    let Iterate { x, y, x_sum, y_sum, gradient_sum } = at;
    let Workspace { point, other, gradient, half_gradient, half_x, half_y } = workspace;
    let [point, other, gradient] = [point, other, gradient].map(|array| &mut array[..x.len()]);
    problem.gradient_x(y, gradient);
    // A zero step normalises nothing and moves nothing: it only decodes x.
    problem.step_x(0.0, gradient, x, point);
    let mut total = 0.0;
    for i in 0..schedule.steps {
        if i % PATIENCE == 0 && problem.stopped() {
            break;
        }
        let weight = schedule.weight(i);
        match method {
            FirstOrderMethod::Pda => {
                other.copy_from_slice(point);
                problem.step_x(tau, gradient, x, point);
                for (e, x) in other.iter_mut().zip(&*point) {
                    *e = 2.0 * x - *e;
                }
                problem.step_y(sigma, other, y, weight, y_sum, gradient);
                add(weight, point, x_sum);
                add(weight, gradient, gradient_sum);
            }
            FirstOrderMethod::MirrorProx => {
                let (half_x, half_y) = (&mut half_x[..x.len()], &mut half_y[..y.len()]);
                let half_gradient = &mut half_gradient[..x.len()];
                half_x.copy_from_slice(x);
                half_y.copy_from_slice(y);
                problem.step_x(tau, gradient, half_x, other);
                problem.step_y(sigma, point, half_y, weight, y_sum, half_gradient);
                problem.step_x(tau, half_gradient, x, point);
                problem.step_y(sigma, other, y, 0.0, y_sum, gradient);
                add(weight, other, x_sum);
                add(weight, half_gradient, gradient_sum);
            }
            FirstOrderMethod::MirrorDescent => {
                let shrink = ((schedule.first + i + 1) as f64).sqrt().recip();
                other.copy_from_slice(point);
                problem.step_x(shrink * tau, gradient, x, point);
                problem.step_y(shrink * sigma, other, y, weight, y_sum, gradient);
                add(weight, point, x_sum);
                add(weight, gradient, gradient_sum);
            }
        }
        total += weight;
    }
    total
}

fn add(weight: f64, from: &[f64], to: &mut [f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += weight * from;
    }
}
