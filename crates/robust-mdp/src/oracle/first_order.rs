//! The first-order oracle: T steps of a saddle-point method on one state's game.
//!
//! Steps (τ, σ) satisfy τ·σ·L² = 1 and balance the players' distances, τ/σ = Θ_X/Θ_Y:
//! - `centred`: b is centred, L = max_a‖b_a‖₂ (Euclidean y) or max_a‖b_a‖_∞ (entropy y; plain
//!   entropy is 1-strongly convex in the norms the coupling needs), recomputed at every epoch;
//!   Θ_Y is bounded through the budget, from a start at y⁰.
//! - `paper`: the fixed steps of \[GCK21\] from ‖v‖_∞ ≤ max|c|/(1−λ), with Θ_X = 1 or ln A,
//!   Θ_Y = A or A² ln S and the entropy scaled by A (its modulus in the ℓ1 norm).

use serde::{Deserialize, Serialize};

use super::nature::{Answered, Nature};
use crate::error::Error;
use crate::geometry::Geometry;
use crate::lanes::{exp, kernels};
use crate::model::{Model, range};
use crate::rows::{Budget, ExplicitRows, row_values, widest_row};
use crate::saddle::{self, FirstOrderMethod, Iterate, SaddlePoint, Schedule, Steps, Workspace};
use crate::sets::proximal::Nominal;
use crate::sets::{Block, Emit, Gain, Mirror, Prox, Scratch, Set, Step, UncertaintySet, Warm};
use crate::signal::Signal;

/// Rule for the step sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepRule {
    /// From the centred values, anew at every epoch.
    #[default]
    Centred,
    /// The paper's fixed steps.
    Paper,
}

/// Geometries of the two players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// Of the policy.
    pub x: Geometry,
    /// Of the kernel.
    pub y: Geometry,
}

/// The first-order oracle of a set.
pub(crate) struct FirstOrder<'a> {
    pub(crate) set: &'a UncertaintySet,
    prox: &'static dyn Prox,
    pub(crate) setup: Setup,
    pub(crate) rule: StepRule,
    pub(crate) method: FirstOrderMethod,
    /// Bound of |b|, for the paper's steps: λ·max|c|/(1−λ), or max|c|/(1−λ) where the cost depends on
    /// the next state.
    pub(crate) value_bound: f64,
    /// S, or more where rows list next states at several costs.
    pub(crate) states: usize,
}

/// The proximal steps of a set (`None`: no uncertainty), if it has any in this geometry.
pub(crate) fn prox_of(
    set: Option<&'static dyn Set>,
    geometry: Geometry,
) -> Result<&'static dyn Prox, Error> {
    let Some(set) = set else { return Ok(&Nominal) };
    set.prox(geometry).ok_or_else(|| {
        let other = [Geometry::Euclidean, Geometry::Entropy].into_iter().find(|g| set.prox(*g).is_some());
        let instead = match other {
            Some(other) => format!("it has one in {other}"),
            None => "use the exact oracle".to_owned(),
        };
        Error::Input(format!(
            "the {} set has no proximal step in the kernel's geometry {geometry}, which first-order methods \
             need; {instead}",
            set.title()
        ))
    })
}

/// What a state keeps between epochs, and what an epoch leaves.
#[derive(Debug)]
pub(crate) struct StateSlot<'a> {
    pub(crate) s: usize,
    pub(crate) first_row: usize,
    pub(crate) iterate: Iterate<'a>,
    pub(crate) budget: &'a mut [f64],
    pub(crate) row: &'a mut [f64],
}

/// What a thread works with.
#[derive(Debug)]
pub(crate) struct Hand {
    scratch: Scratch,
    workspace: Workspace,
    pub(crate) answered: Answered,
}

impl Hand {
    /// For states of up to so many rows and entries.
    pub(crate) fn new(method: FirstOrderMethod, rows: usize, entries: usize) -> Hand {
        Hand {
            scratch: Scratch::new(rows, entries),
            workspace: Workspace::new(method, rows, entries),
            answered: Answered::default(),
        }
    }

    /// Row entries visited since the last call.
    pub(crate) fn take_entries(&mut self) -> u64 {
        std::mem::take(&mut self.scratch.entries) + self.answered.take_entries()
    }

    /// Gives back what was taken, to be counted later.
    pub(crate) fn give_entries(&mut self, entries: u64) {
        self.scratch.entries += entries;
    }
}

impl<'a> FirstOrder<'a> {
    pub(crate) fn new(
        model: &Model,
        set: &'a UncertaintySet,
        setup: Setup,
        rule: StepRule,
        method: FirstOrderMethod,
    ) -> Result<FirstOrder<'a>, Error> {
        let (low, high) = model.cost_range(set.leads());
        let bound = low.abs().max(high.abs()) / (1.0 - model.discount());
        Ok(FirstOrder {
            set,
            prox: prox_of(set.distance.set(), setup.y)?,
            setup,
            rule,
            method,
            value_bound: if model.has_transition_costs() {
                bound
            } else {
                model.discount() * bound
            },
            states: model.states().max(widest_row(model, set)),
        })
    }

    /// Starting point: x uniform, y nominal (with a little mass everywhere for the entropy).
    pub(crate) fn start(&self, game: &ExplicitRows<'_>, x: &mut [f64], y: &mut [f64]) {
        self.setup.x.uniform(x);
        self.prox.mirror().start(game.block(0.0), y);
    }

    /// Steps for a game of several actions, or `None` when no game is played: nothing to choose for
    /// nature, or nothing at stake. The paper's steps are played at any stakes that can ever arise.
    fn steps(&self, game: &ExplicitRows<'_>, budget: f64) -> Option<Steps> {
        let rows = game.actions() as f64;
        let euclidean_x = self.setup.x == Geometry::Euclidean;
        let (coupling, theta_x, theta_y, modulus) = match self.rule {
            StepRule::Centred => {
                let block = game.block(0.0);
                let width =
                    (0..block.rows()).map(|k| block.span(k).len()).max().unwrap_or(0) as f64;
                // Objectives that differ by rounding alone leave nothing at stake.
                let largest = game.base.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
                let noise = 64.0 * f64::EPSILON * largest;
                let coupling = coupling(block, self.setup.y);
                if budget <= 0.0 || width <= 1.0 || coupling <= noise {
                    return None;
                }
                let theta_x = if euclidean_x { 0.5 * (1.0 - 1.0 / rows) } else { rows.ln() };
                let theta_y = self.prox.diameter(budget, rows, width);
                (coupling, theta_x, theta_y, 1.0)
            }
            // One state, or no value but 0: steps would be infinite, and x at the least cost at once.
            StepRule::Paper if self.states <= 1 || self.value_bound <= 0.0 => return None,
            StepRule::Paper => {
                let theta_x = if euclidean_x { 1.0 } else { rows.ln() };
                let states = self.states as f64;
                match self.setup.y {
                    Geometry::Euclidean => (self.value_bound * states.sqrt(), theta_x, rows, 1.0),
                    Geometry::Entropy => {
                        (self.value_bound, theta_x, rows * rows * states.ln(), rows)
                    }
                }
            }
        };
        let balance = (theta_x / theta_y).sqrt();
        Some(Steps { tau: balance / coupling, sigma: 1.0 / (balance * coupling * modulus) })
    }

    /// Runs one epoch from the slot's iterates, adding to its sums; returns the weight added.
    pub(crate) fn epoch(
        &self,
        game: &ExplicitRows<'_>,
        schedule: Schedule,
        slot: StateSlot<'_>,
        nature: &Nature<'_>,
        hand: &mut Hand,
        signal: &Signal<'_>,
    ) -> f64 {
        let budgets = game.budgets(self.set, slot.s, slot.first_row);
        // Σ κ_a·d_a ≤ α bounds Σ d_a by α/min κ.
        let total_budget = budgets.map(|b| b.block.radius / b.block.least_kappa()).sum();
        let steps = if game.actions() > 1 { self.steps(game, total_budget) } else { None };
        let Hand { scratch, workspace, answered } = hand;
        match steps {
            Some(steps) => {
                let StateSlot { s, first_row, iterate, budget, row } = slot;
                let mut problem =
                    StateProblem { oracle: self, s, first_row, game, budget, row, scratch, signal };
                saddle::run(self.method, &mut problem, steps, schedule, iterate, workspace)
            }
            None if game.actions() == 1 => self.answer(game, schedule, slot, nature, answered),
            None => without_a_game(game, schedule, slot.iterate, scratch),
        }
    }

    /// One action: nature's answer to it.
    fn answer(
        &self,
        game: &ExplicitRows<'_>,
        schedule: Schedule,
        slot: StateSlot<'_>,
        nature: &Nature<'_>,
        answered: &mut Answered,
    ) -> f64 {
        let weight = last_weights(schedule);
        let Iterate { x_sum, y, y_sum, gradient_sum, .. } = slot.iterate;
        x_sum[0] += weight;
        gradient_sum[0] += weight * nature.respond(game, slot.s, &[1.0], answered).upper;
        match self.set.distance.set() {
            Some(set) => answered.write(set.curve(), game.block(0.0), 0, y),
            None => y.copy_from_slice(game.nominal()),
        }
        for (sum, y) in y_sum.iter_mut().zip(y) {
            *sum += weight * *y;
        }
        weight
    }
}

/// max_a ‖b_a‖, less the constant that makes it least: ‖·‖₂ about the mean, ‖·‖_∞ about the midrange.
fn coupling(block: Block<'_>, geometry: Geometry) -> f64 {
    let norm = |b: &[f64]| {
        let (low, high) = range(b);
        if geometry == Geometry::Entropy {
            return 0.5 * (high - low);
        }
        let mid = 0.5 * (low + high);
        let mean = mid + b.iter().map(|b| b - mid).sum::<f64>() / b.len() as f64;
        b.iter().map(|b| (b - mean) * (b - mean)).sum::<f64>().sqrt()
    };
    match block.gain {
        Gain::Shared(b) => norm(b),
        Gain::PerRow(_) => (0..block.rows()).map(|k| norm(block.gain(k))).fold(0.0, f64::max),
    }
}

/// Nothing for nature to choose: x is a best action, y the nominal kernel.
fn without_a_game(
    game: &ExplicitRows<'_>,
    schedule: Schedule,
    iterate: Iterate<'_>,
    scratch: &mut Scratch,
) -> f64 {
    let weight = last_weights(schedule);
    scratch.entries += 2 * game.nominal().len() as u64;
    iterate.x_sum[game.greedy()] += weight;
    for (sum, y) in iterate.y_sum.iter_mut().zip(game.nominal()) {
        *sum += weight * y;
    }
    for (k, sum) in iterate.gradient_sum.iter_mut().enumerate() {
        *sum += weight * game.nominal_value(k);
    }
    weight
}

/// The weight of an epoch without steps: later epochs count more, as with a game.
fn last_weights(schedule: Schedule) -> f64 {
    schedule.steps as f64 * schedule.weight(schedule.steps - 1)
}

/// One state's game as a saddle-point problem.
struct StateProblem<'a> {
    oracle: &'a FirstOrder<'a>,
    s: usize,
    first_row: usize,
    game: &'a ExplicitRows<'a>,
    budget: &'a mut [f64],
    row: &'a mut [f64],
    scratch: &'a mut Scratch,
    signal: &'a Signal<'a>,
}

impl StateProblem<'_> {
    fn add_base(&self, gradient: &mut [f64]) {
        for (g, c) in gradient.iter_mut().zip(self.game.base) {
            *g += c;
        }
    }
}

impl SaddlePoint for StateProblem<'_> {
    fn gradient_x(&mut self, y: &[f64], gradient: &mut [f64]) {
        let block = self.game.block(0.0);
        self.scratch.entries += block.entries() as u64;
        match self.oracle.prox.mirror() {
            Mirror::Point => row_values(block, y, gradient),
            Mirror::Log => {
                log_values(block, y, false, gradient);
            }
            Mirror::LogRatio => {
                log_values(block, y, true, gradient);
            }
        }
        self.add_base(gradient);
    }

    fn stopped(&self) -> bool {
        self.signal.raised()
    }

    fn step_x(&mut self, step: f64, gradient: &[f64], x: &mut [f64], point: &mut [f64]) {
        self.oracle.setup.x.step(step, gradient, x, point);
    }

    fn step_y(
        &mut self,
        step: f64,
        x: &[f64],
        y: &mut [f64],
        weight: f64,
        sum: &mut [f64],
        gradient: &mut [f64],
    ) {
        let FirstOrder { set, prox, .. } = *self.oracle;
        for (j, budget) in self.game.budgets(set, self.s, self.first_row).enumerate() {
            let Budget { block, rows, entries } = budget;
            let warm = Warm { budget: &mut self.budget[j], row: &mut self.row[rows.clone()] };
            let (sum, value) = (&mut sum[entries.clone()], &mut gradient[rows.clone()]);
            let emit = Emit { weight, sum, value };
            let (x, y) = (&x[rows], &mut y[entries]);
            prox.step(Step { block, sigma: step, x, y, warm, emit }, self.scratch);
        }
        self.add_base(gradient);
    }
}

kernels! {
    /// ⟨b_a, y_a⟩ from log-weights: y = eˡ, or y⁰eˡ.
    fn log_values<'a>(
        simd,
        block: Block<'a>,
        log: &'a [f64],
        times_nominal: bool,
        out: &'a mut [f64],
    ) -> () {
        for k in 0..block.rows() {
            let span = block.span(k);
            let (nominal, gain) = (&block.nominal[span.clone()], block.gain(k));
            let log = &log[span];
            let mut value = simd.splat_f64s(0.0);
            crate::lanes::walk!(simd, [log, nominal, gain] => |l, y0, b| {
                let e = exp(simd, l);
                let y = if times_nominal { simd.mul_f64s(e, y0) } else { e };
                value = simd.mul_add_e_f64s(y, b, value);
            });
            out[k] = simd.reduce_sum_f64s(value);
        }
    }
}
