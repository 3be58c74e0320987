//! Worst case of a fixed policy over the whole set: v^x = F_x(v^x),
//!   F_x(w)_s = max_{y ∈ P_s} Σ_a x_a (c_a + ⟨b_a, y_a⟩).
//!
//! The adversary's policy iteration: a sweep finds nature's best response y to w exactly, one
//! linear system gives the value of (x, y), which only grows, and the sweep after that bounds
//! what is left ([`super::bounds`]). The number of sweeps hardly depends on λ.

use std::ops::ControlFlow;

use super::bellman::{Bellman, Player};
use super::bounds::{Bounds, UNKNOWN};
use super::fixed_point::{FixedPointMap, bound_fixed_point};
use crate::chain::Chain;
use crate::codec::{Codec, Snapshot};
use crate::model::Model;
use crate::sets::UncertaintySet;
use crate::signal::Signal;

/// The evaluator of one model and set; remembers multipliers between sweeps.
pub(crate) struct Evaluation<'a> {
    set: &'a UncertaintySet,
    bellman: Bellman<'a>,
    chain: Option<Chain>,
    sweeps: u64,
}

impl<'a> Evaluation<'a> {
    pub(crate) fn new(model: &'a Model, set: &'a UncertaintySet) -> Self {
        Evaluation { set, bellman: Bellman::new(model, set), chain: None, sweeps: 0 }
    }

    /// Sweeps since the last call, and entries visited by them and by the linear systems.
    pub(crate) fn take_work(&mut self) -> (u64, u64) {
        let solved = self.chain.as_mut().map_or(0, |chain| std::mem::take(&mut chain.work));
        (std::mem::take(&mut self.sweeps), solved + self.bellman.take_entries())
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
        self.bound(Player::Nature(&x), w, tolerance, signal)
    }

    /// The same for a best policy, which is returned with it; where nothing is uncertain.
    pub(crate) fn best_policy(
        &mut self,
        w: &mut [f64],
        tolerance: f64,
        signal: &Signal<'_>,
    ) -> (Vec<f64>, Bounds) {
        let bounds = self.bound(Player::Both, w, tolerance, signal);
        (self.bellman.policy.clone(), bounds)
    }

    fn bound(
        &mut self,
        player: Player<'_>,
        w: &mut [f64],
        tolerance: f64,
        signal: &Signal<'_>,
    ) -> Bounds {
        bound_fixed_point(&mut Choices { evaluation: self, player }, w, tolerance, signal)
    }

    /// An upper bound of F_x(w), tight up to rounding.
    pub(crate) fn image_of(&mut self, x: &[f64], w: &[f64]) -> Vec<f64> {
        self.bellman.sweep(w, Player::Nature(&without_negligible(x)), 0.0);
        self.bellman.upper.clone()
    }

    /// The kernel that is worst for `x` at values `w`, row by row: `visit(row, next, entry)`, until that
    /// or the signal breaks off.
    pub(crate) fn worst_kernel(
        &mut self,
        x: &[f64],
        w: &[f64],
        signal: &Signal<'_>,
        mut visit: impl FnMut(usize, usize, f64) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (x, stop) = (without_negligible(x), || signal.raised());
        self.bellman.sweep_until(w, Player::Nature(&x), 0.0, &stop);
        if stop() {
            return ControlFlow::Break(());
        }
        self.bellman.kernel(&x, |row, next, p| match stop() {
            true => ControlFlow::Break(()),
            false => visit(row, next, p),
        })
    }
}

impl Snapshot for Evaluation<'_> {
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        self.bellman.visit_fields(codec);
        codec.count(&mut self.sweeps);
        self.chain.visit_fields(codec);
    }
}

/// A policy whose weights below 1e-18 are zero. A row counts at most 0 against its maximum, so that
/// leaving it out keeps the upper bound, and costs less than rounding.
fn without_negligible(x: &[f64]) -> Vec<f64> {
    x.iter().map(|&x| if x <= 1e-18 { 0.0 } else { x }).collect()
}

/// F_x, or F where nature has no choice.
struct Choices<'e, 'a> {
    evaluation: &'e mut Evaluation<'a>,
    player: Player<'e>,
}

impl FixedPointMap for Choices<'_, '_> {
    fn model(&self) -> &Model {
        self.evaluation.bellman.model
    }
    fn set(&self) -> &UncertaintySet {
        self.evaluation.set
    }
    fn sweep(&mut self, w: &[f64], signal: &Signal<'_>) {
        let Evaluation { bellman, chain, sweeps, .. } = &mut *self.evaluation;
        let stop = || signal.raised();
        if stop() {
            // No room is made for what will not be used.
            bellman.lower.fill(UNKNOWN.0);
            bellman.upper.fill(UNKNOWN.1);
            return;
        }
        *sweeps += 1;
        bellman.sweep_until(w, self.player, 0.0, &stop);
        if !stop() {
            let x = match self.player {
                Player::Nature(x) => Some(x),
                Player::Both => None,
            };
            bellman.chain_of(x, chain);
        }
    }
    fn image(&self) -> (&[f64], &[f64]) {
        (&self.evaluation.bellman.lower, &self.evaluation.bellman.upper)
    }
    fn chain(&mut self) -> &mut Chain {
        self.evaluation.chain.get_or_insert_default()
    }
    fn width(&self) -> usize {
        self.evaluation.bellman.width()
    }
}
