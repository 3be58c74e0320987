//! Proximal steps whose rows solve ln y_i + θ·y_i = θ·p_i + r_i − ν, i.e. θ·y = ω(·), the Wright
//! omega function: entropy steps on the ellipsoid and Euclidean steps on the KL ball.
//!
//! - Ellipsoid, entropy: minimise ⟨−g, y⟩ + KL(y‖y') + (θ/2)‖y − y⁰‖²:
//!   p = y⁰ and r = ln y' + g. θ = 0 is the plain entropy step, θ → ∞ the nominal kernel.
//! - KL, Euclidean: minimise ½‖y − y' − g‖² + KL(y‖y⁰)/θ: p = y' + g and r = ln y⁰.
//!   θ = ∞ is the plain projection, θ → 0 the nominal kernel.
//!
//! With h = y/(1 + θy), dy = h·[(p − y)dθ − dν]. Per row H0 = Σh, H1 = Σh(p−y), H2 = Σh(p−y)²;
//! the row residual ρ = Σy − 1 and the budget D then give an arrow-shaped Newton system in
//! (θ, ν_1..ν_A), eliminated row by row. The budget equation is solved in the form
//! D^(−1/2) = α^(−1/2), which is nearly linear in θ (in 1/θ for KL), as in trust-region methods.

mod pass;

use self::pass::{D, H0, H1, H2, Pass, TOTAL, Write};
use super::block::{Block, Emit, RowSums, Scratch, Warm};
use super::separable::{ProximalEntry, Separable, positive};
use super::{Mirror, Prox};
use crate::lanes::{dispatch, ln_omega};
use crate::sets::ellipsoid::Ellipsoid;
use crate::sets::kl::Kl;
use crate::sets::set::Set;

const JOINT_STEPS: usize = 60;

/// The set that the step stays in, with the geometry that makes it an omega step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ball {
    /// Ellipsoid with the entropy geometry; the iterate is ln y.
    Ellipsoid,
    /// KL ball with the Euclidean geometry; the iterate is y.
    Kl,
}

impl Prox for Ball {
    fn mirror(&self) -> Mirror {
        match self {
            Ball::Ellipsoid => Mirror::Log,
            Ball::Kl => Mirror::Point,
        }
    }

    fn diameter(&self, budget: f64, rows: f64, width: f64) -> f64 {
        match self {
            // KL ≤ χ² ≈ n·‖y − y⁰‖² near the nominal kernel.
            Ball::Ellipsoid => (2.0 * budget * width).min(rows * width.ln()),
            Ball::Kl => budget.min(rows),
        }
    }

    fn step(
        &self,
        block: Block<'_>,
        sigma: f64,
        x: &[f64],
        y: &mut [f64],
        warm: Warm<'_>,
        emit: Emit<'_>,
        scratch: &mut Scratch,
    ) {
        match block.kappa {
            Some(_) => Separable(*self).step(block, sigma, x, y, warm, emit, scratch),
            None => prox(*self, block, sigma, x, y, warm, emit, scratch),
        }
    }
}

impl ProximalEntry for Ball {
    fn set(&self) -> &dyn Set {
        match self {
            Ball::Ellipsoid => &Ellipsoid,
            Ball::Kl => &Kl,
        }
    }

    fn mirror(&self) -> Mirror {
        Prox::mirror(self)
    }

    fn at(&self, z: f64, p: f64, s: f64) -> (f64, f64) {
        let omega = |z: f64| ln_omega(pulp::Scalar, z).exp();
        match self {
            // ln y + sy = z + sp.
            Ball::Ellipsoid if s > 0.0 => {
                let y = omega(z + s * p + s.ln()) / s;
                (y, y / (1.0 + s * y))
            }
            Ball::Ellipsoid => (z.exp(), z.exp()),
            // y + s·ln(y/p) = z.
            Ball::Kl if s > 0.0 => {
                let y = s * omega(z / s + (p / s).ln());
                (y, y / (y + s))
            }
            Ball::Kl => positive(z, 1.0),
        }
    }
}

/// Where the proximal point lies.
enum Point {
    /// On the ball's boundary, at this θ and the row multipliers in place.
    Boundary(f64),
    /// Inside: the plain entropy step, with the log-normalisers in the row multipliers.
    Softmax,
    /// Inside: the plain projection, already solved by the row shifts.
    Projection,
    /// Newton's method has not found it.
    Unknown,
}

/// The proximal step; `iterate` holds ln y (ellipsoid) or y (KL).
fn prox(
    ball: Ball,
    block: Block<'_>,
    sigma: f64,
    x: &[f64],
    iterate: &mut [f64],
    warm: Warm<'_>,
    emit: Emit<'_>,
    scratch: &mut Scratch,
) {
    for (slope, x) in scratch.slope.iter_mut().zip(x) {
        *slope = sigma * x;
    }
    if ball == Ball::Kl {
        for (log, y0) in scratch.buffer.iter_mut().zip(block.nominal) {
            *log = y0.ln();
        }
    }
    if block.radius <= 0.0 {
        return emit.write_nominal(Prox::mirror(&ball), block, iterate);
    }
    let theta = match locate(ball, block, iterate, warm.budget, warm.row, scratch) {
        Point::Boundary(theta) => Some(theta),
        Point::Softmax => None,
        Point::Projection => {
            scratch.entries += block.entries() as u64;
            let slope = &scratch.slope;
            return super::ray::write_projection(block, slope, warm.row, iterate, emit);
        }
        Point::Unknown => {
            *warm.budget = 0.0;
            let cold = Warm { budget: &mut *warm.budget, row: &mut *warm.row };
            Separable(ball).step(block, sigma, x, iterate, cold, emit, scratch);
            if ball == Ball::Kl && *warm.budget > 0.0 {
                warm.row.iter_mut().for_each(|nu| *nu /= *warm.budget);
            }
            return;
        }
    };
    scratch.entries += block.entries() as u64;
    let (slope, nu) = (&scratch.slope, &*warm.row);
    let log_nominal = &scratch.buffer[..block.entries()];
    dispatch(Write { ball, block, slope, log_nominal, theta, nu, iterate, emit });
}

/// Tries the unconstrained step where it may be feasible, else Newton on (θ, ν).
///
/// `memory` is θ (ellipsoid) or 1/θ (KL) of the last step, 0 if the ball did not bind then.
fn locate(
    ball: Ball,
    block: Block<'_>,
    centre: &[f64],
    memory: &mut f64,
    nu: &mut [f64],
    scratch: &mut Scratch,
) -> Point {
    let rows = block.rows();
    let remembered = *memory > 0.0 && memory.is_finite() && nu.iter().all(|nu| nu.is_finite());
    if remembered && let Some(pi) = newton(ball, block, centre, *memory, nu, scratch) {
        *memory = pi;
        return Point::Boundary(if ball == Ball::Kl { 1.0 / pi } else { pi });
    }
    let start = match ball {
        Ball::Ellipsoid => {
            let used = softmax(block, centre, nu, scratch);
            if used <= block.radius {
                *memory = 0.0;
                return Point::Softmax;
            }
            let curvature: f64 = scratch.sums[..rows].iter().map(arrow).sum();
            let step = 2.0 * used * ((used / block.radius).sqrt() - 1.0) / curvature;
            let step = if step.is_finite() && step > 0.0 { step } else { 1.0 };
            for (nu, s) in nu.iter_mut().zip(&scratch.sums) {
                *nu += step * s[H1] / s[H0];
            }
            step
        }
        Ball::Kl => {
            let used = super::ray::project(block, centre, nu, scratch);
            if used <= block.radius {
                *memory = 0.0;
                return Point::Projection;
            }
            small_radius_start(block, centre, nu, scratch)
        }
    };
    let Some(pi) = newton(ball, block, centre, start, nu, scratch) else {
        return Point::Unknown;
    };
    *memory = pi;
    Point::Boundary(if ball == Ball::Kl { 1.0 / pi } else { pi })
}

/// H2 − H1²/H0 of a row: curvature of the budget once the row's total is held at one.
fn arrow(s: &RowSums) -> f64 {
    (s[H2] - s[H1] * s[H1] / s[H0]).max(0.0)
}

/// First-order guess for KL: y ≈ y⁰(1 + (p − E p)/k), so that D ≈ ½ Var(p)/k².
fn small_radius_start(
    block: Block<'_>,
    centre: &[f64],
    nu: &mut [f64],
    scratch: &mut Scratch,
) -> f64 {
    let mut spread = 0.0;
    for k in 0..block.rows() {
        let (mut m1, mut m2, mut self_mass) = (0.0, 0.0, 0.0);
        for (i, &b) in block.span(k).zip(block.gain(k)) {
            let (y0, p) = (block.nominal[i], centre[i] + scratch.slope[k] * b);
            m1 += y0 * p;
            m2 += y0 * p * p;
            self_mass += y0 * y0;
        }
        spread += (m2 - m1 * m1).max(0.0);
        nu[k] = m1 - self_mass;
    }
    let k = (0.5 * spread / block.radius).sqrt().max(1e-300);
    for nu in nu.iter_mut() {
        *nu /= k;
    }
    k
}

fn pass(
    ball: Ball,
    block: Block<'_>,
    centre: &[f64],
    theta: f64,
    nu: &[f64],
    scratch: &mut Scratch,
) {
    scratch.entries += block.entries() as u64;
    dispatch(Pass {
        ball,
        block,
        slope: &scratch.slope,
        centre,
        log_nominal: &scratch.buffer[..block.entries()],
        theta,
        nu,
        out: &mut scratch.sums,
    });
}

/// Newton on (θ, ν) jointly from θ = `pi` (1/θ = `pi` for KL); `None` when it does not settle.
fn newton(
    ball: Ball,
    block: Block<'_>,
    centre: &[f64],
    mut pi: f64,
    nu: &mut [f64],
    scratch: &mut Scratch,
) -> Option<f64> {
    let rows = block.rows();
    let (mut low, mut high) = (0.0_f64, f64::INFINITY);
    for _ in 0..JOINT_STEPS {
        let theta = if ball == Ball::Kl { 1.0 / pi } else { pi };
        pass(ball, block, centre, theta, nu, scratch);
        let sums = &scratch.sums[..rows];
        if !sums.iter().flatten().all(|s| s.is_finite()) {
            return None;
        }
        if sums.iter().any(|s| !(0.7..=1.4).contains(&s[TOTAL])) {
            for (nu, s) in nu.iter_mut().zip(sums) {
                *nu += row_step(s);
            }
            continue;
        }
        let (mut used, mut slope) = (0.0, 0.0);
        for (s, &nu) in sums.iter().zip(&*nu) {
            let residual = s[TOTAL] - 1.0;
            let correction = s[H1] * residual / s[H0];
            match ball {
                Ball::Ellipsoid => {
                    used += s[D] + correction;
                    slope -= arrow(s);
                }
                Ball::Kl => {
                    used += s[D] - theta * correction + nu * residual;
                    slope -= theta * theta * theta * arrow(s);
                }
            }
        }
        let worst = sums.iter().map(|s| (s[TOTAL] - 1.0).abs()).fold(0.0, f64::max);
        if worst < 1e-9 {
            if used > block.radius { low = pi } else { high = pi }
        }
        let fresh = if used > 0.0 && slope < 0.0 {
            pi - 2.0 * used * ((used / block.radius).sqrt() - 1.0) / slope
        } else {
            0.5 * pi
        };
        let fresh = if fresh >= low && fresh <= high {
            fresh
        } else if high.is_finite() {
            0.5 * (low + high)
        } else {
            2.0 * pi
        };
        if fresh < 1e-12 * pi.min(1.0) {
            return None; // the ball may not bind at all: let the caller test that
        }
        let d_theta = if ball == Ball::Kl { 1.0 / fresh - theta } else { fresh - theta };
        for (nu, s) in nu.iter_mut().zip(sums) {
            *nu += (s[TOTAL] - 1.0 + s[H1] * d_theta) / s[H0];
        }
        let closed_in = high.is_finite() && high - low <= 4e-16 * high;
        let settled = (fresh - pi).abs() <= 1e-8 * pi || closed_in;
        pi = fresh;
        if settled && worst <= 1e-10 {
            return Some(pi);
        }
    }
    None
}

/// A step on ν that brings Σy near one: in ln Σy far away, where y is exponential in ν.
fn row_step(s: &RowSums) -> f64 {
    let total = s[TOTAL];
    if (0.7..=1.4).contains(&total) {
        (total - 1.0) / s[H0]
    } else {
        total.ln().clamp(-50.0, 50.0) * total / s[H0]
    }
}

/// The plain entropy step y ∝ eʳ: leaves ν = ln Σeʳ and the sums at θ = 0, returns its budget.
fn softmax(block: Block<'_>, centre: &[f64], nu: &mut [f64], scratch: &mut Scratch) -> f64 {
    scratch.entries += 2 * block.entries() as u64;
    let mut used = 0.0;
    for k in 0..block.rows() {
        let slope = scratch.slope[k];
        let entries = || block.span(k).zip(block.gain(k)).map(|(i, &b)| (i, centre[i] + slope * b));
        let top = entries().map(|(_, r)| r).fold(f64::NEG_INFINITY, f64::max);
        nu[k] = top + entries().map(|(_, r)| (r - top).exp()).sum::<f64>().ln();
        let mut s = [0.0; 5];
        for (i, r) in entries() {
            let y = (r - nu[k]).exp();
            let d = block.nominal[i] - y;
            s[TOTAL] += y;
            s[H0] += y;
            s[H1] += y * d;
            s[H2] += y * d * d;
            s[D] += 0.5 * d * d;
        }
        used += s[D];
        scratch.sums[k] = s;
    }
    used
}
