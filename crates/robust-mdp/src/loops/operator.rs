//! The Bellman operator F at the level of sweeps, whatever solves the game of a state.
//!
//! A sweep leaves lower ≤ F(v) ≤ F_x(v) ≤ upper with the policy x; the chain P^{x,y} of both players'
//! choices is made after it, where it is needed. Sweeps of nature alone, F_x(v) for a given x, always
//! use the exact oracle.

use super::bellman::{Bellman, Player};
use super::games::Games;
use crate::chain::Chain;
use crate::codec::{Codec, Snapshot};
use crate::model::Model;
use crate::sets::UncertaintySet;
use crate::signal::Signal;
use crate::solve::Work;

/// F, F_x and the linear systems of frozen choices.
pub(crate) struct Operator<'a> {
    pub(crate) model: &'a Model,
    bellman: Bellman<'a>,
    /// Solves the games if not the exact oracle.
    games: Option<Games<'a>>,
    chain: Option<Chain>,
}

impl<'a> Operator<'a> {
    /// With rows priced one by one if so, whatever their kind.
    pub(crate) fn exact(
        model: &'a Model,
        set: &'a UncertaintySet,
        bracketed: bool,
    ) -> Operator<'a> {
        Operator {
            model,
            bellman: Bellman::new(model, set).bracketed(bracketed),
            games: None,
            chain: None,
        }
    }

    /// The same, with policies that maximise too if so.
    pub(crate) fn cooperative(mut self, cooperative: bool) -> Operator<'a> {
        self.bellman = self.bellman.cooperative(cooperative);
        self
    }

    pub(crate) fn of_games(
        model: &'a Model,
        set: &'a UncertaintySet,
        games: Games<'a>,
    ) -> Operator<'a> {
        Operator { games: Some(games), ..Operator::exact(model, set, false) }
    }

    /// Whether the exact oracle solves the games.
    pub(crate) fn is_exact(&self) -> bool {
        self.games.is_none()
    }

    /// Encloses F(v), each state as narrowly as `tolerance` if the oracle can. A sweep that the signal
    /// has stopped leaves unknown states.
    pub(crate) fn sweep(&mut self, v: &[f64], tolerance: f64, signal: &Signal<'_>) {
        match &mut self.games {
            None => self.bellman.sweep_until(v, Player::Both, tolerance, &|| signal.raised()),
            Some(games) => {
                let Bellman { lower, upper, policy, .. } = &mut self.bellman;
                games.sweep(v, tolerance, lower, upper, policy, signal);
            }
        }
    }

    /// Row entries that freezing the players' choices reads, and about what one linear system costs in
    /// the same unit.
    pub(crate) fn newton_price(&self) -> (u64, u64) {
        let states = self.model.states() as u64;
        let entries = if self.model.is_dense() {
            self.policy().iter().filter(|x| **x > 0.0).count() as u64 * states
        } else {
            let used = self.policy().iter().enumerate().filter(|(_, x)| **x > 0.0);
            used.map(|(r, _)| self.model.span(r).len() as u64).sum::<u64>()
        };
        // Rows that sweeps read come faster than those of an iterative solver, against which eliminations
        // are priced elsewhere.
        let elimination = states.saturating_pow(3) / 48 + states * states;
        (entries, elimination.min(20 * (2 * entries + 6 * states)))
    }

    /// Freezes the choices of the last sweep, which was at v: nature's are her answer to the policy where
    /// the exact oracle has not made both.
    pub(crate) fn freeze(&mut self, v: &[f64], signal: &Signal<'_>) {
        match self.is_exact() {
            true => self.bellman.chain_of(None, &mut self.chain),
            false => self.respond(v, 0.0, signal),
        }
    }

    /// Goes back to a policy that was put aside, for [`respond`](Operator::respond).
    pub(crate) fn adopt(&mut self, x: &[f64]) {
        self.bellman.policy.copy_from_slice(x);
    }

    /// Encloses F_x(v) for the policy x of the last sweep, or the one adopted, with its chain.
    pub(crate) fn respond(&mut self, v: &[f64], tolerance: f64, signal: &Signal<'_>) {
        let x = std::mem::take(&mut self.bellman.policy);
        self.bellman.sweep_until(v, Player::Nature(&x), tolerance, &|| signal.raised());
        if !signal.raised() {
            self.bellman.chain_of(Some(&x), &mut self.chain);
        }
        self.bellman.policy = x;
    }

    /// A sweep in which every state sees the values of those before it; v moves to the upper bound.
    pub(crate) fn sweep_in_place(&mut self, v: &mut [f64], tolerance: f64, signal: &Signal<'_>) {
        match &mut self.games {
            None => self.bellman.sweep_in_place(v, tolerance, &|| signal.raised()),
            Some(games) => {
                let Bellman { lower, upper, policy, .. } = &mut self.bellman;
                games.sweep_in_place(v, tolerance, lower, upper, policy, signal);
            }
        }
    }

    pub(crate) fn lower(&self) -> &[f64] {
        &self.bellman.lower
    }

    pub(crate) fn upper(&self) -> &[f64] {
        &self.bellman.upper
    }

    pub(crate) fn policy(&self) -> &[f64] {
        &self.bellman.policy
    }

    /// Whether the pair that is frozen stays so after a Newton step.
    pub(crate) fn keeps_chain(&self) -> bool {
        self.chain.as_ref().is_some_and(|chain| !chain.is_used_up())
    }

    /// v ← v + (I − sλP)⁻¹(s·upper − v) for the `share` s: with s = 1 the value of the pair that the
    /// last sweep froze, else s times its value at discount sλ.
    pub(crate) fn newton_step(
        &mut self,
        v: &mut [f64],
        step: &mut [f64],
        share: f64,
        tolerance: f64,
        signal: &Signal<'_>,
    ) {
        let chain = self.chain.as_mut().expect("choices are frozen first");
        for ((cost, u), v) in chain.cost.iter_mut().zip(&self.bellman.upper).zip(&*v) {
            *cost = share * u - v;
        }
        step.copy_from_slice(&chain.cost);
        chain.solve(share * self.model.discount(), step, tolerance, &|| signal.raised());
        if !step.iter().all(|step| step.is_finite()) {
            step.copy_from_slice(&chain.cost); // no more than a step of value iteration
        }
        for (v, step) in v.iter_mut().zip(&*step) {
            *v += step;
        }
    }

    /// Δ = (I − λ'P)⁻¹(upper − v − middle) for the pair that the last sweep at v froze.
    pub(crate) fn correct(
        &mut self,
        v: &[f64],
        step: &mut [f64],
        middle: f64,
        discount: f64,
        tolerance: f64,
        signal: &Signal<'_>,
    ) {
        let chain = self.chain.as_mut().expect("choices are frozen first");
        for ((cost, u), v) in chain.cost.iter_mut().zip(&self.bellman.upper).zip(v) {
            *cost = u - v - middle;
        }
        step.copy_from_slice(&chain.cost);
        chain.solve(discount, step, tolerance, &|| signal.raised());
        if !step.iter().all(|step| step.is_finite()) {
            step.copy_from_slice(&chain.cost);
        }
    }

    /// Moves the work done since the last call to the account.
    pub(crate) fn account(&mut self, work: &mut Work) {
        work.entries += self.bellman.take_entries();
        if let Some(chain) = &mut self.chain {
            work.entries += std::mem::take(&mut chain.work);
        }
        if let Some(games) = &mut self.games {
            work.entries += games.take_entries();
            work.first_order_steps = games.steps;
        }
    }
}

impl Snapshot for Operator<'_> {
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        self.bellman.visit_fields(codec);
        if let Some(games) = &mut self.games {
            games.visit_fields(codec);
        }
        self.chain.visit_fields(codec);
    }
}

/// min_a c(s,a) in every state, 0 in terminal ones.
pub(crate) fn cheapest_costs(model: &Model) -> Vec<f64> {
    let least = |s| model.rows_of(s).map(|r| model.cost[r]).fold(f64::INFINITY, f64::min);
    (0..model.states()).map(|s| if model.is_terminal(s) { 0.0 } else { least(s) }).collect()
}

/// Values to begin with: F of a constant vector but for its constant.
pub(crate) fn first_values(model: &Model) -> Vec<f64> {
    let mut v = cheapest_costs(model);
    if (0..model.states()).all(|s| !model.is_terminal(s)) {
        // Values near the fixed point differ from these by a constant more than by anything else.
        let mean = v.iter().sum::<f64>() / v.len() as f64;
        let shift = model.discount() * mean / (1.0 - model.discount());
        v.iter_mut().for_each(|v| *v += shift);
    }
    v
}
