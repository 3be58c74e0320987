//! The ray y(t) = Π_Δ(y⁰ + t·e), e = (y' − y⁰) + σ·x_a·b_a, followed up to t = 1 or until it leaves the
//! ball Σ_a ½‖y_a − y⁰_a‖² ≤ α: the Euclidean proximal step, t = 1/(1 + σμ) with μ the ball's
//! multiplier (t = 1 is the plain projection).
//!
//! A row is y = (y⁰ + t·e − ν)₊. For a fixed active set I with n = |I|, r = 1 − Σ_I y⁰ and
//! det = Σ_I e² − (Σ_I e)²/n,
//!   ν = (t·Σ_I e − r)/n,   ½‖y − y⁰‖² = ½[t²·det + r²/n + Σ_{i∉I} (y⁰_i)²],
//! so with all active sets fixed the budget is one quadratic in t². Iterate: one pass → sums →
//! (t, ν) → new sets; unchanged sets mean that the answer is exact. Where that cycles, the
//! [search by entries](super::separable) takes over.

use pulp::{Simd, WithSimd};

use super::block::{Block, Emit, RowSums, Scratch, Warm};
use super::separable::{ProximalEntry, Separable, positive};
use super::{Mirror, Prox, Step};
use crate::lanes::{dispatch, padding, walk};
use crate::sets::ellipsoid::Ellipsoid;
use crate::sets::set::Set;

/// Sums of a row over its active set.
const N: usize = 0;
const SY: usize = 1;
const SE: usize = 2;
const SEE: usize = 3;
const OFF: usize = 4;

/// Passes of the joint iteration before the search by entries takes over.
const JOINT_PASSES: usize = 10;

/// Euclidean proximal steps of the ellipsoid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ray;

impl Prox for Ray {
    fn mirror(&self) -> Mirror {
        Mirror::Point
    }

    fn step(&self, step: Step<'_>, scratch: &mut Scratch) {
        if step.block.kappa.is_some() {
            return Separable(Ray).step(step, scratch);
        }
        let Step { block, sigma, x, y, warm: Warm { budget, row }, emit } = step;
        for (slope, x) in scratch.slope.iter_mut().zip(x) {
            *slope = sigma * x;
        }
        let t = if block.radius > 0.0 {
            let Some(t) = follow(block, y, budget, row, scratch) else {
                *budget = 0.0;
                let warm = Warm { budget: &mut *budget, row: &mut *row };
                Separable(Ray).step(Step { block, sigma, x, y, warm, emit }, scratch);
                *budget = 1.0 / (1.0 + *budget);
                return row.iter_mut().for_each(|nu| *nu *= *budget);
            };
            t
        } else {
            row.fill(0.0);
            0.0
        };
        scratch.entries += block.entries() as u64;
        dispatch(Write { block, slope: &scratch.slope, t, nu: row, y, emit });
    }
}

impl ProximalEntry for Ray {
    fn set(&self) -> &dyn Set {
        &Ellipsoid
    }

    fn at(&self, z: f64, p: f64, s: f64) -> (f64, f64) {
        positive((z + s * p) / (1.0 + s), 1.0 / (1.0 + s))
    }

    fn normal(&self, y: f64, p: f64) -> f64 {
        y - p
    }
}

/// One pass: sums over the active sets of (t, ν).
struct Sums<'a> {
    block: Block<'a>,
    centre: &'a [f64],
    slope: &'a [f64],
    t: f64,
    nu: &'a [f64],
    out: &'a mut [RowSums],
}

impl WithSimd for Sums<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for k in 0..self.block.rows() {
            let span = self.block.span(k);
            let (nominal, gain) = (&self.block.nominal[span.clone()], self.block.gain(k));
            let centre = &self.centre[span];
            self.out[k] = row_sums(simd, centre, nominal, gain, self.slope[k], self.t, self.nu[k]);
        }
    }
}

#[inline(always)]
fn row_sums<S: Simd>(
    simd: S,
    centre: &[f64],
    nominal: &[f64],
    gain: &[f64],
    slope: f64,
    t: f64,
    nu: f64,
) -> RowSums {
    let zero = simd.splat_f64s(0.0);
    let one = simd.splat_f64s(1.0);
    let (slope, tv, nuv) = (simd.splat_f64s(slope), simd.splat_f64s(t), simd.splat_f64s(nu));
    let (mut n, mut sy, mut se, mut see, mut off) = (zero, zero, zero, zero, zero);
    walk!(simd, [centre, nominal, gain] => |y, y0, b| {
        let e = simd.mul_add_e_f64s(slope, b, simd.sub_f64s(y, y0));
        let p = simd.mul_add_e_f64s(tv, e, simd.sub_f64s(y0, nuv));
        let inside = simd.less_than_f64s(zero, p);
        let ei = simd.select_f64s(inside, e, zero);
        let yi = simd.select_f64s(inside, y0, zero);
        let yo = simd.sub_f64s(y0, yi);
        n = simd.add_f64s(n, simd.select_f64s(inside, one, zero));
        sy = simd.add_f64s(sy, yi);
        se = simd.add_f64s(se, ei);
        see = simd.mul_add_e_f64s(ei, ei, see);
        off = simd.mul_add_e_f64s(yo, yo, off);
    });
    let spurious = if -nu > 0.0 { padding::<S>(nominal.len()) } else { 0.0 };
    [
        simd.reduce_sum_f64s(n) - spurious,
        simd.reduce_sum_f64s(sy),
        simd.reduce_sum_f64s(se),
        simd.reduce_sum_f64s(see),
        simd.reduce_sum_f64s(off),
    ]
}

/// Budget of all rows at their active sets, as ½(t²·quadratic + constant).
fn budget(sums: &[RowSums]) -> (f64, f64) {
    let (mut quadratic, mut constant) = (0.0, 0.0);
    for s in sums {
        if s[N] > 0.0 {
            let r = 1.0 - s[SY];
            // An active set that spans one value of e has no quadratic part: what is left of the
            // difference is rounding.
            let det = s[SEE] - s[SE] * s[SE] / s[N];
            quadratic += if det > 1e-15 * s[SEE] { det } else { 0.0 };
            constant += r * r / s[N] + s[OFF];
        }
    }
    (quadratic, constant)
}

/// Moves every row's shift to its active set; returns whether any moved by more than rounding.
fn shift_rows(sums: &[RowSums], t: f64, nu: &mut [f64]) -> bool {
    let mut moved = false;
    for (s, nu) in sums.iter().zip(nu) {
        let fresh = if s[N] > 0.0 {
            (t * s[SE] - (1.0 - s[SY])) / s[N]
        } else {
            f64::NEG_INFINITY // everything active: the next pass starts this row afresh
        };
        // Entries are y⁰ + t·e − ν, with y⁰ of the order of 1/n at least somewhere.
        let size = fresh.abs().max(1.0 / s[N].max(1.0));
        moved |= (fresh - *nu).abs() > 4e-16 * size || !fresh.is_finite();
        *nu = fresh;
    }
    moved
}

/// Follows the ray to t = 1 or the ball, whichever comes first; the row shifts stay in `nu`. `None`:
/// the active sets have not settled.
///
/// `t` and `nu` hold the last solution of the same rows (t = 0: none).
fn follow(
    block: Block<'_>,
    centre: &[f64],
    t: &mut f64,
    nu: &mut [f64],
    scratch: &mut Scratch,
) -> Option<f64> {
    let rows = block.rows();
    if !(*t > 0.0 && t.is_finite()) {
        *t = 1.0;
        nu.fill(f64::NEG_INFINITY);
    }
    *t = t.min(1.0);
    // Whether (t, ν) solve the active sets of the pass before: then unchanged sets are final.
    let mut closed_form = false;
    for _ in 0..JOINT_PASSES {
        sweep(block, centre, *t, nu, scratch);
        let unchanged = closed_form
            && scratch.sums[..rows].iter().zip(&scratch.previous[..rows]).all(same_active_set);
        if unchanged {
            return Some(*t);
        }
        let (quadratic, constant) = budget(&scratch.sums[..rows]);
        let room = 2.0 * block.radius - constant;
        closed_form = true;
        let fresh = if quadratic <= room {
            1.0
        } else if room > 0.0 {
            (room / quadratic).sqrt().min(1.0)
        } else {
            closed_form = false;
            0.5 * *t
        };
        let steady = (fresh - *t).abs() <= 1e-15 * fresh;
        *t = fresh;
        let moved = shift_rows(&scratch.sums[..rows], fresh, nu);
        if closed_form && steady && !moved {
            return Some(fresh); // entries at zero may flicker in and out of their sets
        }
        scratch.sums.swap_with_slice(&mut scratch.previous);
    }
    None
}

fn same_active_set((a, b): (&RowSums, &RowSums)) -> bool {
    a[N] == b[N] && a[SY] == b[SY] && a[SE] == b[SE] && a[N] > 0.0
}

fn sweep(block: Block<'_>, centre: &[f64], t: f64, nu: &[f64], scratch: &mut Scratch) {
    scratch.entries += block.entries() as u64;
    dispatch(Sums { block, centre, slope: &scratch.slope, t, nu, out: &mut scratch.sums });
}

/// Writes the proximal point over its centre, with the row values and the running sum.
struct Write<'a> {
    block: Block<'a>,
    slope: &'a [f64],
    t: f64,
    nu: &'a [f64],
    y: &'a mut [f64],
    emit: Emit<'a>,
}

impl WithSimd for Write<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let zero = simd.splat_f64s(0.0);
        let (tv, weight) = (simd.splat_f64s(self.t), simd.splat_f64s(self.emit.weight));
        for k in 0..self.block.rows() {
            let span = self.block.span(k);
            let (nominal, gain) = (&self.block.nominal[span.clone()], self.block.gain(k));
            let (slope, nu) = (simd.splat_f64s(self.slope[k]), simd.splat_f64s(self.nu[k]));
            let y = &mut self.y[span.clone()];
            let sum = &mut self.emit.sum[span];
            let mut value = zero;
            macro_rules! entry {
                ($y:expr, $y0:expr, $b:expr, $sum:expr) => {{
                    let e = simd.mul_add_e_f64s(slope, $b, simd.sub_f64s($y, $y0));
                    let p = simd.mul_add_e_f64s(tv, e, simd.sub_f64s($y0, nu));
                    let new = simd.max_f64s(p, zero);
                    value = simd.mul_add_e_f64s(new, $b, value);
                    (new, simd.mul_add_e_f64s(weight, new, $sum))
                }};
            }
            let (yv, yt) = S::as_mut_simd_f64s(y);
            let (sv, st) = S::as_mut_simd_f64s(sum);
            let (nv, nt) = S::as_simd_f64s(nominal);
            let (gv, gt) = S::as_simd_f64s(gain);
            for (((y, s), &y0), &b) in yv.iter_mut().zip(sv).zip(nv).zip(gv) {
                (*y, *s) = entry!(*y, y0, b, *s);
            }
            if !yt.is_empty() {
                let (y0, b) = (simd.partial_load_f64s(nt), simd.partial_load_f64s(gt));
                let (new, total) =
                    entry!(simd.partial_load_f64s(yt), y0, b, simd.partial_load_f64s(st));
                simd.partial_store_f64s(yt, new);
                simd.partial_store_f64s(st, total);
            }
            self.emit.value[k] = simd.reduce_sum_f64s(value);
        }
    }
}
