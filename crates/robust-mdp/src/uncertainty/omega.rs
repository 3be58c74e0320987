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

use pulp::{Simd, WithSimd};

use super::block::{Block, Emit, RowSums, Scratch, Warm};
use crate::lanes::{dispatch, exp, ln_omega};

const TOTAL: usize = 0;
const H0: usize = 1;
const H1: usize = 2;
const H2: usize = 3;
const D: usize = 4;

const JOINT_STEPS: usize = 60;
const ROW_STEPS: usize = 100;

/// The set that the step stays in, with the geometry that makes it an omega step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ball {
    /// Ellipsoid with the entropy geometry; the iterate is ln y.
    Ellipsoid,
    /// KL ball with the Euclidean geometry; the iterate is y.
    Kl,
}

/// One pass over all rows at (θ, ν).
struct Pass<'a> {
    ball: Ball,
    block: Block<'a>,
    slope: &'a [f64],
    centre: &'a [f64],
    log_nominal: &'a [f64],
    theta: f64,
    nu: &'a [f64],
    out: &'a mut [RowSums],
}

/// The row's p and r at a register of entries.
#[inline(always)]
fn terms<S: Simd>(
    simd: S,
    ball: Ball,
    slope: S::f64s,
    [c, y0, l0, b]: [S::f64s; 4],
) -> (S::f64s, S::f64s) {
    match ball {
        Ball::Ellipsoid => (y0, simd.mul_add_e_f64s(slope, b, c)),
        Ball::Kl => (simd.mul_add_e_f64s(slope, b, c), l0),
    }
}

/// ln y at (θ, ν).
#[inline(always)]
fn log_y<S: Simd>(
    simd: S,
    theta: S::f64s,
    ln_theta: S::f64s,
    nu: S::f64s,
    p: S::f64s,
    r: S::f64s,
) -> S::f64s {
    let z = simd.mul_add_e_f64s(theta, p, simd.sub_f64s(r, nu));
    simd.sub_f64s(ln_omega(simd, simd.add_f64s(z, ln_theta)), ln_theta)
}

impl WithSimd for Pass<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let lanes = size_of::<S::f64s>() / 8;
        let (zero, one) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0));
        let (theta, ln_theta) = (simd.splat_f64s(self.theta), simd.splat_f64s(self.theta.ln()));
        for k in 0..self.block.rows() {
            let span = self.block.span(k);
            let len = span.len();
            let gain = self.block.gain(k);
            let nominal = &self.block.nominal[span.clone()];
            let centre = &self.centre[span.clone()];
            let log_nominal = &self.log_nominal[span];
            let (slope, nu) = (simd.splat_f64s(self.slope[k]), simd.splat_f64s(self.nu[k]));
            let mut sums = [zero; 5];
            let mut at = 0;
            while at < len {
                let to = (at + lanes).min(len);
                let load = |x: &[f64]| simd.partial_load_f64s(&x[at..to]);
                let (y0, b) = (load(nominal), load(gain));
                let (p, r) =
                    terms(simd, self.ball, slope, [load(centre), y0, load(log_nominal), b]);
                let l = log_y(simd, theta, ln_theta, nu, p, r);
                // Lanes beyond the row must not count.
                let ghost = simd.partial_load_f64s(&ONES[..to - at]);
                let y = simd.mul_f64s(ghost, exp(simd, l));
                let h = simd.div_f64s(y, simd.mul_add_e_f64s(theta, y, one));
                let d = simd.sub_f64s(p, y);
                let hd = simd.mul_f64s(h, d);
                sums[TOTAL] = simd.add_f64s(sums[TOTAL], y);
                sums[H0] = simd.add_f64s(sums[H0], h);
                sums[H1] = simd.add_f64s(sums[H1], hd);
                sums[H2] = simd.mul_add_e_f64s(hd, d, sums[H2]);
                sums[D] = match self.ball {
                    Ball::Ellipsoid => {
                        let half = simd.mul_f64s(simd.splat_f64s(0.5), d);
                        simd.mul_add_e_f64s(half, d, sums[D])
                    }
                    Ball::Kl => simd.add_f64s(sums[D], kl_term(simd, y, y0, simd.sub_f64s(l, r))),
                };
                at = to;
            }
            self.out[k] = sums.map(|s| simd.reduce_sum_f64s(s));
        }
    }
}

/// y·ln(y/y⁰) − y + y⁰ from ρ = ln(y/y⁰): never negative, so that small budgets keep their digits.
#[inline(always)]
fn kl_term<S: Simd>(simd: S, y: S::f64s, y0: S::f64s, rho: S::f64s) -> S::f64s {
    let direct = simd.add_f64s(simd.mul_f64s(y, simd.sub_f64s(rho, simd.splat_f64s(1.0))), y0);
    // y⁰·(ρ²/2 + ρ³/3 + ρ⁴/8 + ρ⁵/30 + ρ⁶/144 + …) = y⁰·Σ ρᵏ(k−1)/k!
    let mut p = simd.splat_f64s(7.0 / 40_320.0);
    for c in [6.0 / 5_040.0, 5.0 / 720.0, 4.0 / 120.0, 3.0 / 24.0, 2.0 / 6.0, 0.5] {
        p = simd.mul_add_e_f64s(p, rho, simd.splat_f64s(c));
    }
    let series = simd.mul_f64s(simd.mul_f64s(y0, p), simd.mul_f64s(rho, rho));
    let small = simd.less_than_f64s(simd.abs_f64s(rho), simd.splat_f64s(0.03));
    simd.select_f64s(small, series, direct)
}

static ONES: [f64; 16] = [1.0; 16];

/// Writes the new iterate over its centre, with the row values and the running sum.
struct Write<'a> {
    ball: Ball,
    block: Block<'a>,
    slope: &'a [f64],
    log_nominal: &'a [f64],
    /// `None`: the plain entropy step, θ = 0 with ν the log-normaliser.
    theta: Option<f64>,
    nu: &'a [f64],
    iterate: &'a mut [f64],
    emit: Emit<'a>,
}

impl WithSimd for Write<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let lanes = size_of::<S::f64s>() / 8;
        let theta = simd.splat_f64s(self.theta.unwrap_or(0.0));
        let ln_theta = simd.splat_f64s(self.theta.unwrap_or(1.0).ln());
        let weight = simd.splat_f64s(self.emit.weight);
        for k in 0..self.block.rows() {
            let span = self.block.span(k);
            let len = span.len();
            let gain = self.block.gain(k);
            let nominal = &self.block.nominal[span.clone()];
            let log_nominal = &self.log_nominal[span.clone()];
            let iterate = &mut self.iterate[span.clone()];
            let sum = &mut self.emit.sum[span];
            let (slope, nu) = (simd.splat_f64s(self.slope[k]), simd.splat_f64s(self.nu[k]));
            let mut value = simd.splat_f64s(0.0);
            let mut at = 0;
            while at < len {
                let to = (at + lanes).min(len);
                let load = |x: &[f64]| simd.partial_load_f64s(&x[at..to]);
                let b = load(gain);
                let (p, r) = terms(
                    simd,
                    self.ball,
                    slope,
                    [load(iterate), load(nominal), load(log_nominal), b],
                );
                let l = match self.theta {
                    Some(_) => log_y(simd, theta, ln_theta, nu, p, r),
                    None => simd.sub_f64s(r, nu),
                };
                let y = exp(simd, l);
                let keep = if self.ball == Ball::Kl { y } else { l };
                let total = simd.mul_add_e_f64s(weight, y, load(sum));
                simd.partial_store_f64s(&mut iterate[at..to], keep);
                simd.partial_store_f64s(&mut sum[at..to], total);
                value = simd.mul_add_e_f64s(y, b, value);
                at = to;
            }
            self.emit.value[k] = simd.reduce_sum_f64s(value);
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
}

/// The proximal step; `iterate` holds ln y (ellipsoid) or y (KL).
#[allow(clippy::too_many_arguments)]
pub(crate) fn prox(
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
        return write_nominal(ball, block, iterate, emit);
    }
    let point = locate(ball, block, iterate, warm.budget, warm.row, scratch);
    scratch.entries += block.entries() as u64;
    let slope = &scratch.slope;
    let nu = &*warm.row;
    if let Point::Projection = point {
        return super::ellipsoid::write_projection(block, slope, nu, iterate, emit);
    }
    let theta = if let Point::Boundary(theta) = point { Some(theta) } else { None };
    let log_nominal = &scratch.buffer[..block.entries()];
    dispatch(Write { ball, block, slope, log_nominal, theta, nu, iterate, emit });
}

fn write_nominal(ball: Ball, block: Block<'_>, iterate: &mut [f64], emit: Emit<'_>) {
    for k in 0..block.rows() {
        let span = block.span(k);
        let mut value = 0.0;
        for (i, &b) in span.zip(block.gain(k)) {
            let y0 = block.nominal[i];
            iterate[i] = if ball == Ball::Kl { y0 } else { y0.ln().max(LOWEST_LOG) };
            emit.sum[i] += emit.weight * y0;
            value += y0 * b;
        }
        emit.value[k] = value;
    }
}

/// Log-weights below this are as good as zero.
pub(crate) const LOWEST_LOG: f64 = -700.0;

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
    if *memory > 0.0 && memory.is_finite() && nu.iter().all(|nu| nu.is_finite()) {
        if let Some(pi) = newton(ball, block, centre, *memory, nu, scratch) {
            *memory = pi;
            return Point::Boundary(if ball == Ball::Kl { 1.0 / pi } else { pi });
        }
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
            let used = super::ellipsoid::project(block, centre, nu, scratch);
            if used <= block.radius {
                *memory = 0.0;
                return Point::Projection;
            }
            small_radius_start(block, centre, nu, scratch)
        }
    };
    let pi = newton(ball, block, centre, start, nu, scratch)
        .unwrap_or_else(|| bisect(ball, block, centre, start, nu, scratch));
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

/// The safe way: bisection on ln π, every row solved from the side where Newton is monotone.
fn bisect(
    ball: Ball,
    block: Block<'_>,
    centre: &[f64],
    start: f64,
    nu: &mut [f64],
    scratch: &mut Scratch,
) -> f64 {
    let rows = block.rows();
    let (mut low, mut high) = (0.0_f64, f64::INFINITY);
    let mut pi = if start.is_finite() && start > 0.0 { start } else { 1.0 };
    for _ in 0..400 {
        solve_rows(ball, block, centre, pi, nu, scratch);
        let used: f64 = scratch.sums[..rows].iter().map(|s| s[D]).sum();
        if used > block.radius { low = pi } else { high = pi }
        if high.is_finite() && low > 0.0 && high - low <= 4e-16 * high {
            break;
        }
        pi = match (low > 0.0, high.is_finite()) {
            (true, true) => (low * high).sqrt().clamp(low, high),
            (true, false) => 4.0 * pi,
            _ => 0.25 * pi,
        };
        if !(1e-290..=1e290).contains(&pi) {
            break;
        }
    }
    solve_rows(ball, block, centre, pi, nu, scratch);
    pi
}

/// Solves Σy = 1 in every row at fixed θ, starting where the largest entry is one (Σy ≥ 1):
/// Σy is convex and decreasing in ν, so that Newton is monotone from there.
fn solve_rows(
    ball: Ball,
    block: Block<'_>,
    centre: &[f64],
    pi: f64,
    nu: &mut [f64],
    scratch: &mut Scratch,
) {
    let theta = if ball == Ball::Kl { 1.0 / pi } else { pi };
    for k in 0..block.rows() {
        let mut top = f64::NEG_INFINITY;
        for (i, &b) in block.span(k).zip(block.gain(k)) {
            let g = scratch.slope[k] * b;
            top = top.max(match ball {
                Ball::Ellipsoid => theta * block.nominal[i] + centre[i] + g,
                Ball::Kl => theta * (centre[i] + g) + scratch.buffer[i],
            });
        }
        nu[k] = top - theta;
    }
    for _ in 0..ROW_STEPS {
        pass(ball, block, centre, theta, nu, scratch);
        let mut moved = false;
        for (nu, s) in nu.iter_mut().zip(&scratch.sums) {
            let step = (s[TOTAL] - 1.0) / s[H0];
            moved |= step.abs() > 1e-15 * nu.abs().max(1.0);
            *nu += step;
        }
        if !moved {
            break;
        }
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
