//! Worst case of a fixed policy over the whole set: v^x = F_x(v^x),
//!   F_x(w)_s = max_{y ∈ P_s} Σ_a x_a (c_a + ⟨b_a, y_a⟩).
//!
//! The adversary's policy iteration: a sweep finds nature's best response y to w exactly, one
//! linear system gives the value of (x, y), which only grows, and the sweep after that bounds
//! what is left ([`super::bounds`]). The number of sweeps hardly depends on λ.

use super::bellman::{Bellman, Player};
use super::bounds::Bounds;
use super::fixed_point::{Operator, bound_fixed_point};
use super::linear::Chain;
use crate::model::Model;
use crate::solve::Signal;
use crate::uncertainty::UncertaintySet;

/// The evaluator of one model and set; remembers multipliers between sweeps.
pub(crate) struct Evaluation<'a> {
    bellman: Bellman<'a>,
    /// Lent to the best response between evaluations.
    pub(super) chain: Chain,
    /// Sweeps done so far.
    pub(crate) sweeps: u64,
}

impl<'a> Evaluation<'a> {
    pub(crate) fn new(model: &'a Model, set: &'a UncertaintySet) -> Self {
        let bellman = Bellman::new(model, set);
        let mut chain = None;
        bellman.make_room(&mut chain);
        Evaluation { bellman, chain: chain.unwrap_or_default(), sweeps: 0 }
    }

    /// Entries visited by all sweeps and linear systems since the last call.
    pub(crate) fn take_entries(&mut self) -> u64 {
        std::mem::take(&mut self.chain.work) + self.bellman.take_entries()
    }

    /// Bounds of v^x no wider than `tolerance` if rounding allows; `w` is a first guess and
    /// becomes a value near v^x.
    pub(crate) fn run(
        &mut self,
        x: &[f64],
        w: &mut [f64],
        tolerance: f64,
        signal: &Signal<'_>,
    ) -> Bounds {
        let x = without_negligible(x);
        bound_fixed_point(&mut OfPolicy { evaluation: self, x: &x }, w, tolerance, signal)
    }

    /// An upper bound of F_x(w), tight up to rounding.
    pub(crate) fn image_of(&mut self, x: &[f64], w: &[f64]) -> Vec<f64> {
        self.bellman.sweep(w, Player::Nature(&without_negligible(x)), 0.0, None);
        self.bellman.upper.clone()
    }

    /// The kernel that is worst for `x` at values `w`, row by row: `visit(row, next, entry)`.
    pub(crate) fn worst_kernel(
        &mut self,
        x: &[f64],
        w: &[f64],
        visit: impl FnMut(usize, usize, f64),
    ) {
        let x = without_negligible(x);
        self.bellman.sweep(w, Player::Nature(&x), 0.0, None);
        self.bellman.kernel(&x, visit);
    }
}

/// A policy whose weights below 1e-18 are zero. A row counts at most 0 against its maximum, so that
/// leaving it out keeps the upper bound, and costs less than rounding.
fn without_negligible(x: &[f64]) -> Vec<f64> {
    x.iter().map(|&x| if x <= 1e-18 { 0.0 } else { x }).collect()
}

/// F_x.
struct OfPolicy<'e, 'a> {
    evaluation: &'e mut Evaluation<'a>,
    x: &'e [f64],
}

impl Operator for OfPolicy<'_, '_> {
    fn model(&self) -> &Model {
        self.evaluation.bellman.model
    }
    fn sweep(&mut self, w: &[f64]) {
        let Evaluation { bellman, chain, sweeps } = &mut *self.evaluation;
        bellman.sweep(w, Player::Nature(self.x), 0.0, Some(chain));
        *sweeps += 1;
    }
    fn image(&self) -> (&[f64], &[f64]) {
        (&self.evaluation.bellman.lower, &self.evaluation.bellman.upper)
    }
    fn chain(&mut self) -> &mut Chain {
        &mut self.evaluation.chain
    }
    fn width(&self) -> usize {
        self.evaluation.bellman.width()
    }
}
