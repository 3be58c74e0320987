//! The ellipsoidal set of the paper: Σ_a ½‖y_a − y⁰_a‖₂² ≤ α, each y_a a distribution.
//!
//! Source: eq. (uncertainty-norm-2) of \[GCK21\]. With `support = all` a row may put mass on any
//! state; with `support = nominal` only where y⁰ does.

mod ray;

use pulp::{Simd, WithSimd};

use self::ray::{Direction, Stop};
use super::block::{Block, Emit, Enclosure, Scratch, Warm, mix_with_nominal};
use super::omega::{self, Ball};
use crate::lanes::{dispatch, padding, walk};

/// Euclidean proximal step: y ← argmax ⟨σ x_a b_a, y_a⟩ − ½‖y − y'‖² over the set, in place.
pub(crate) fn prox_euclidean(
    block: Block<'_>,
    sigma: f64,
    x: &[f64],
    y: &mut [f64],
    warm: Warm<'_>,
    emit: Emit<'_>,
    scratch: &mut Scratch,
) {
    for (slope, x) in scratch.slope.iter_mut().zip(x) {
        *slope = sigma * x;
    }
    let t = if block.radius > 0.0 {
        match ray::follow(block, Direction::From(y), 1.0, warm.budget, warm.row, scratch) {
            Stop::At(t) => t,
            Stop::Unbounded => 1.0,
        }
    } else {
        warm.row.fill(0.0);
        0.0
    };
    scratch.entries += block.entries() as u64;
    let Emit { weight, sum, value } = emit;
    let slope = &scratch.slope;
    dispatch(ray::Write { block, slope, t, nu: warm.row, y, weight, sum, value });
}

/// Entropy proximal step: y ← argmax ⟨σ x_a b_a, y_a⟩ − KL(y‖y') over the set; `log_y` holds ln y.
pub(crate) fn prox_entropy(
    block: Block<'_>,
    sigma: f64,
    x: &[f64],
    log_y: &mut [f64],
    warm: Warm<'_>,
    emit: Emit<'_>,
    scratch: &mut Scratch,
) {
    omega::prox(Ball::Ellipsoid, block, sigma, x, log_y, warm, emit, scratch);
}

/// Projects every row of y' + slope_a·b_a on the simplex, leaving the shifts in `nu`; returns the
/// KL divergence from y⁰ of the projections.
pub(super) fn project(
    block: Block<'_>,
    centre: &[f64],
    nu: &mut [f64],
    scratch: &mut Scratch,
) -> f64 {
    let free = Block { radius: f64::INFINITY, ..block };
    let mut cold = 0.0;
    ray::follow(free, Direction::From(centre), 1.0, &mut cold, nu, scratch);
    scratch.entries += block.entries() as u64;
    let mut used = 0.0;
    for k in 0..block.rows() {
        for (i, &b) in block.span(k).zip(block.gain(k)) {
            let (y, y0) = (centre[i] + scratch.slope[k] * b - nu[k], block.nominal[i]);
            used += if y > 0.0 { y * (y / y0).ln() - y + y0 } else { y0 };
        }
    }
    used
}

/// Writes the projections that [`project`] found.
pub(super) fn write_projection(
    block: Block<'_>,
    slope: &[f64],
    nu: &[f64],
    y: &mut [f64],
    emit: Emit<'_>,
) {
    let Emit { weight, sum, value } = emit;
    dispatch(ray::Write { block, slope, t: 1.0, nu, y, weight, sum, value });
}

/// max over the set of Σ_a x_a⟨b_a, y_a⟩: bounded above by weak duality and below by the value of
/// `y`, which lies in the set; both are tight up to rounding. Rows with x_a = 0 stay nominal.
///
/// Every row's objective must be referenced at its maximum: max b_a = 0.
pub(crate) fn support(
    block: Block<'_>,
    x: &[f64],
    y: &mut [f64],
    warm: Warm<'_>,
    scratch: &mut Scratch,
) -> Enclosure {
    scratch.slope[..x.len()].copy_from_slice(x);
    scratch.entries += block.entries() as u64;
    if block.radius <= 0.0 {
        let (value, ..) = dispatch(Tail { block, slope: x, t: 0.0, nu: None, y });
        return Enclosure { lower: value, upper: value };
    }
    // A budget that reaches the faces where the objectives are largest does not bind. Cheap to
    // test, and the first guess after a saturated sweep or at a cold start.
    let guess_saturated = !(*warm.budget > 0.0 && warm.budget.is_finite());
    let stop = if guess_saturated && face_distance(block, scratch) <= block.radius {
        Stop::Unbounded
    } else {
        ray::follow(block, Direction::Linear, f64::INFINITY, warm.budget, warm.row, scratch)
    };
    let Stop::At(t) = stop else {
        *warm.budget = f64::INFINITY;
        y.copy_from_slice(block.nominal);
        let mut used = 0.0;
        for k in (0..block.rows()).filter(|&k| x[k] > 0.0) {
            let span = block.span(k);
            used += to_maximal_face(&block.nominal[span.clone()], block.gain(k), &mut y[span]);
        }
        return feasible(block, x, y, used, Enclosure { lower: 0.0, upper: 0.0 });
    };
    // At t the rows maximise Σ x b·y − ½‖y − y⁰‖²/t exactly, so that the Lagrangian bound needs no
    // further solve, whatever the accuracy of t.
    let nu = Some(&*warm.row);
    let (value, used, excess) = dispatch(Tail { block, slope: x, t, nu, y });
    let upper = value + (block.radius - used - excess) / t;
    feasible(block, x, y, used, Enclosure { lower: value, upper })
}

/// Brings y, which uses `used` of the budget, back into the ball if rounding put it outside.
fn feasible(block: Block<'_>, x: &[f64], y: &mut [f64], used: f64, value: Enclosure) -> Enclosure {
    if used <= block.radius {
        return value;
    }
    let share = (block.radius / used).sqrt();
    mix_with_nominal(share, block.nominal, y);
    let nominal: f64 = x.iter().zip(block.nominal_value).map(|(x, v)| x * v).sum();
    Enclosure { lower: share * value.lower + (1.0 - share) * nominal, upper: value.upper }
}

/// Budget that lets every row that matters (of positive slope) reach its best face.
fn face_distance(block: Block<'_>, scratch: &mut Scratch) -> f64 {
    scratch.entries += block.entries() as u64;
    dispatch(FaceDistance { block, x: &scratch.slope[..block.rows()] })
}

/// Σ_a ½·dist²(y⁰_a, distributions on {b_a = 0}) = Σ_a ½[(1 − m)²/n + Σ_{b<0} (y⁰)²].
struct FaceDistance<'a> {
    block: Block<'a>,
    x: &'a [f64],
}

impl WithSimd for FaceDistance<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let (zero, one) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0));
        let mut total = 0.0;
        for k in (0..self.block.rows()).filter(|&k| self.x[k] > 0.0) {
            let (nominal, gain) = (&self.block.nominal[self.block.span(k)], self.block.gain(k));
            let (mut n, mut mass, mut off) = (zero, zero, zero);
            walk!(simd, [nominal, gain] => |y0, b| {
                let below = simd.less_than_f64s(b, zero);
                let outside = simd.select_f64s(below, y0, zero);
                n = simd.add_f64s(n, simd.select_f64s(below, zero, one));
                mass = simd.add_f64s(mass, simd.sub_f64s(y0, outside));
                off = simd.mul_add_e_f64s(outside, outside, off);
            });
            let n = simd.reduce_sum_f64s(n) - padding::<S>(nominal.len());
            let lift = 1.0 - simd.reduce_sum_f64s(mass);
            total += 0.5 * (lift * lift / n + simd.reduce_sum_f64s(off));
        }
        total
    }
}

/// The point nearest to y⁰ among the distributions on {b = 0}; returns half the squared distance.
pub(crate) fn to_maximal_face(nominal: &[f64], gain: &[f64], y: &mut [f64]) -> f64 {
    let on_face = |b: f64| b >= 0.0;
    let (mut n, mut mass) = (0.0, 0.0);
    for (&y0, _) in nominal.iter().zip(gain).filter(|&(_, &b)| on_face(b)) {
        n += 1.0;
        mass += y0;
    }
    let lift = (1.0 - mass) / n;
    let mut distance = 0.0;
    for ((y, &y0), &b) in y.iter_mut().zip(nominal).zip(gain) {
        *y = if on_face(b) { y0 + lift } else { 0.0 };
        distance += 0.5 * (*y - y0) * (*y - y0);
    }
    distance
}

/// Writes y = (y⁰ + t·x·b − ν)₊ and returns (Σ x b·y, Σ ½‖y − y⁰‖², Σ ν(Σy − 1)): with the last,
/// the Lagrangian bound holds whatever the accuracy of ν.
struct Tail<'a> {
    block: Block<'a>,
    slope: &'a [f64],
    t: f64,
    nu: Option<&'a [f64]>,
    y: &'a mut [f64],
}

impl WithSimd for Tail<'_> {
    type Output = (f64, f64, f64);

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> (f64, f64, f64) {
        let zero = simd.splat_f64s(0.0);
        let lanes = size_of::<S::f64s>() / 8;
        let (mut total, mut used, mut excess) = (0.0, 0.0, 0.0);
        for k in 0..self.block.rows() {
            let span = self.block.span(k);
            let (nominal, gain) = (&self.block.nominal[span.clone()], self.block.gain(k));
            let y = &mut self.y[span];
            if self.slope[k] == 0.0 {
                y.copy_from_slice(nominal);
                continue;
            }
            let tilt = simd.splat_f64s(self.t * self.slope[k]);
            let nu = simd.splat_f64s(self.nu.map_or(0.0, |nu| nu[k]));
            let (mut value, mut distance, mut mass) = (zero, zero, zero);
            let mut at = 0;
            while at < nominal.len() {
                let to = (at + lanes).min(nominal.len());
                let y0 = simd.partial_load_f64s(&nominal[at..to]);
                let b = simd.partial_load_f64s(&gain[at..to]);
                let p = simd.mul_add_e_f64s(tilt, b, simd.sub_f64s(y0, nu));
                let new = simd.max_f64s(p, zero);
                simd.partial_store_f64s(&mut y[at..to], new);
                mass = simd.add_f64s(mass, new);
                value = simd.mul_add_e_f64s(new, b, value);
                let d = simd.sub_f64s(new, y0);
                distance = simd.mul_add_e_f64s(d, d, distance);
                at = to;
            }
            let pad = padding::<S>(nominal.len());
            let ghost = (-self.nu.map_or(0.0, |nu| nu[k])).max(0.0);
            total += self.slope[k] * simd.reduce_sum_f64s(value);
            used += 0.5 * (simd.reduce_sum_f64s(distance) - pad * ghost * ghost);
            if let Some(nu) = self.nu {
                excess += nu[k] * (simd.reduce_sum_f64s(mass) - pad * ghost - 1.0);
            }
        }
        (total, used, excess)
    }
}
