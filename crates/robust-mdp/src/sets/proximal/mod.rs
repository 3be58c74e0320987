//! Proximal steps of the kernel player: y ← argmax Σ_a ⟨σx_a b_a, y_a⟩ − V(y, y') over the rows of a
//! [`Block`], V the Bregman distance of a geometry ([`Prox`]).
//!
//! - [`separable`]: any set whose distance is a sum over entries, from the step of one entry
//! - [`ray`]: the ellipsoid, Euclidean
//! - [`tilt`]: KL, entropy
//! - [`omega`]: the entries of the other way round
//! - [`support`]: the support function of a set of which nothing but such steps is known

mod block;
pub(crate) mod omega;
pub(crate) mod ray;
mod separable;
mod support;
pub(crate) mod tilt;

use crate::lanes::{kernels, ln};

pub use block::{Block, Emit, Enclosure, Gain, Scratch, Warm};
pub(crate) use separable::Plain;
pub use separable::{EntrySums, ProximalEntry, Separable};
pub(crate) use support::{NEAR, SupportMemory, nearest, support};

/// Log-weights below this are as good as zero.
const LOWEST_LOG: f64 = -700.0;
/// Share of the uniform distribution in a first iterate that cannot leave 0.
const MIXED: f64 = 0.1;

/// Proximal steps of a set in one geometry.
pub trait Prox: Sync {
    /// The coordinates that iterates are kept in.
    fn mirror(&self) -> Mirror;

    /// Bounds V(y, y⁰) over the set, for a budget and rows of up to `width` entries.
    fn diameter(&self, budget: f64, rows: f64, _width: f64) -> f64 {
        budget.min(rows)
    }

    /// Takes the step.
    fn step(&self, step: Step<'_>, scratch: &mut Scratch);
}

/// A step from the iterate `y`, in its place.
#[derive(Debug)]
pub struct Step<'a> {
    /// The rows.
    pub block: Block<'a>,
    /// σ.
    pub sigma: f64,
    /// One weight a row, perhaps negative.
    pub x: &'a [f64],
    /// The iterate.
    pub y: &'a mut [f64],
    /// Multipliers of the last step.
    pub warm: Warm<'a>,
    /// What it leaves besides.
    pub emit: Emit<'a>,
}

/// Mirror coordinates of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mirror {
    /// y.
    Point,
    /// ln y.
    Log,
    /// ln(y/y⁰).
    LogRatio,
}

impl Mirror {
    /// The coordinate of y.
    pub fn of(self, y: f64, nominal: f64) -> f64 {
        match self {
            Mirror::Point => y,
            Mirror::Log => y.ln().max(LOWEST_LOG),
            Mirror::LogRatio => (y / nominal).ln().max(LOWEST_LOG),
        }
    }

    /// The coordinates of a row.
    fn write(self, y: &[f64], nominal: &[f64], to: &mut [f64]) {
        match self {
            Mirror::Point => to.copy_from_slice(y),
            Mirror::Log => logarithms(y, to),
            Mirror::LogRatio => {
                let entries = to.iter_mut().zip(y).zip(nominal);
                entries.for_each(|((to, &y), &p)| *to = self.of(y, p));
            }
        }
    }

    /// The first iterate: the nominal kernel, with a little mass everywhere where 0 cannot be left.
    pub fn start(self, block: Block<'_>, y: &mut [f64]) {
        for k in 0..block.rows() {
            let n = block.span(k).len() as f64;
            for (y, &p) in y[block.span(k)].iter_mut().zip(block.nominal(k)) {
                *y = match self {
                    Mirror::Point => p,
                    Mirror::Log => self.of((1.0 - MIXED) * p + MIXED / n, p),
                    Mirror::LogRatio => 0.0,
                };
            }
        }
    }
}

kernels! {
    /// max(ln y, [`LOWEST_LOG`]).
    fn logarithms<'a>(simd, y: &'a [f64], to: &'a mut [f64]) -> () {
        let lowest = simd.splat_f64s(LOWEST_LOG);
        // Below e⁻⁷⁰⁰, and a normal number.
        let least = simd.splat_f64s(1e-305);
        let ((to, to_rest), (y, y_rest)) = (S::as_mut_simd_f64s(to), S::as_simd_f64s(y));
        for (to, &y) in to.iter_mut().zip(y) {
            *to = simd.max_f64s(ln(simd, simd.max_f64s(y, least)), lowest);
        }
        if !to_rest.is_empty() {
            let y = simd.max_f64s(simd.partial_load_f64s(y_rest), least);
            simd.partial_store_f64s(to_rest, simd.max_f64s(ln(simd, y), lowest));
        }
    }
}

/// No uncertainty: y stays nominal.
pub(crate) struct Nominal;

impl Prox for Nominal {
    fn mirror(&self) -> Mirror {
        Mirror::Point
    }

    fn step(&self, step: Step<'_>, _: &mut Scratch) {
        step.emit.write_nominal(self.mirror(), step.block, step.y);
    }
}

#[cfg(test)]
mod tests;
