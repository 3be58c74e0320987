//! Units of work for benchmarks: one nominal Bellman sweep, first-order steps over all states.
//!
//! Not part of the public interface; it may change without notice.

use std::time::Instant;

use crate::certificate::emit::emit;
use crate::chain::Chain;
use crate::error::Error;
use crate::lanes::{dot, kernels};
use crate::loops::bellman::{Bellman, Player};
use crate::loops::evaluation::Evaluation;
pub use crate::loops::fom_vi::gap_trace::GapAt;
use crate::loops::fom_vi::gap_trace::gap_trace;
use crate::loops::fom_vi::response::Response;
use crate::loops::fom_vi::{FomSettings, FomVi};
use crate::loops::games::Games;
use crate::model::{Model, Storage};
use crate::oracle::exact::{Exact, ExactScratch, RowMemory};
use crate::oracle::first_order::Setup;
use crate::pool::in_pool;
use crate::rows::Layout;
use crate::sets::UncertaintySet;
use crate::signal::Interrupt;
use crate::solution::Solution;
use crate::solve::{Oracle, default_setup};

/// out_s = min_a c_a + λ⟨y⁰_a, v⟩ where only actions cost, one thread: the unit that other costs are
/// measured in. It runs at the speed of the dot products, i.e. of memory.
pub fn nominal_sweep(model: &Model, values: &[f64], out: &mut [f64]) {
    assert!(model.transition_cost.is_none(), "the nominal unit has no costs of transitions");
    match &model.storage {
        Storage::Dense => dense_sweep(model, values, out),
        Storage::Sparse { next, .. } => {
            let own = |r: usize| {
                let span = model.span(r);
                let pairs = model.prob[span.clone()].iter().zip(&next[span]);
                let mean: f64 = pairs.map(|(p, &i)| p * values[i as usize]).sum();
                model.cost[r] + model.discount * mean
            };
            for (s, out) in out.iter_mut().enumerate() {
                *out = model.rows_of(s).map(own).fold(f64::INFINITY, f64::min);
            }
        }
    }
}

kernels! {
    fn dense_sweep<'a>(simd, model: &'a Model, values: &'a [f64], out: &'a mut [f64]) -> () {
        let width = model.states();
        for (s, out) in out.iter_mut().enumerate() {
            let rows = model.rows_of(s);
            let probabilities =
                model.prob[rows.start * width..rows.end * width].chunks_exact(width);
            let mut least = f64::INFINITY;
            for (row, cost) in probabilities.zip(&model.cost[rows]) {
                least = least.min(cost + model.discount * dot(simd, row, values));
            }
            *out = least;
        }
    }
}

/// Seconds that `repeats` runs of `steps` first-order steps in every state take, each measured on
/// its own after a warm-up, from the values given.
pub fn first_order_seconds(
    model: &Model,
    set: &UncertaintySet,
    setup: Setup,
    settings: &FomSettings,
    values: &[f64],
    steps: u64,
    repeats: usize,
    threads: usize,
) -> Result<Vec<f64>, Error> {
    set.validate(model)?;
    let interrupt = Interrupt::new();
    in_pool(Some(threads), || {
        let layout = Layout::new(model, set);
        let mut fom = FomVi::new(model, &layout, set, setup, settings)?;
        fom.begin_at(values);
        let signal = interrupt.signal();
        let mut done = 0;
        let times = (0..=repeats).map(|_| {
            let started = Instant::now();
            fom.repeat_epoch(steps, done, &signal);
            done += steps;
            started.elapsed().as_secs_f64()
        });
        Ok(times.skip(1).collect())
    })?
}

/// Kernel passes that a certificate of a solution takes to make and to verify.
pub fn certificate_passes(
    model: &Model,
    set: &UncertaintySet,
    solution: &Solution,
) -> Result<f64, Error> {
    set.validate(model)?;
    let (_, entries) = in_pool(Some(1), || emit(model, set, solution))?;
    Ok(entries as f64 / model.transitions().max(1) as f64)
}

/// Encloses F(v) state by state after `steps` first-order steps at v: the averaged policy's worst
/// case from above, the best answer to the averaged kernel from below.
pub fn bellman_enclosure(
    model: &Model,
    set: &UncertaintySet,
    setup: Setup,
    values: &[f64],
    steps: u64,
) -> Result<(Vec<f64>, Vec<f64>), Error> {
    set.validate(model)?;
    set.expect_exact_updates("an exact sweep")?;
    let interrupt = Interrupt::new();
    in_pool(Some(1), || {
        let layout = Layout::new(model, set);
        let settings = FomSettings::default();
        let mut fom = FomVi::new(model, &layout, set, setup, &settings)?;
        fom.begin_at(values);
        fom.repeat_epoch(steps, 0, &interrupt.signal());
        let answer = fom.answer();
        let lower = Response::new(model, set, &layout).image_of(answer.kernel, values);
        let upper = Evaluation::new(model, set).image_of(&answer.policy, values);
        Ok((lower, upper))
    })?
}

/// Encloses F(v) state by state with the chosen oracle, and the policy (flat over rows) whose worst
/// case at v is at most the upper bound.
#[allow(clippy::type_complexity)] // lower, upper, policy
pub fn bellman(
    model: &Model,
    set: &UncertaintySet,
    oracle: Oracle,
    values: &[f64],
) -> Result<(Vec<f64>, Vec<f64>, Vec<f64>), Error> {
    set.validate(model)?;
    if oracle == Oracle::Exact {
        set.expect_exact_updates("the exact oracle")?;
        let mut bellman = Bellman::new(model, set);
        bellman.sweep(values, Player::Both, 0.0);
        return Ok((bellman.lower, bellman.upper, bellman.policy));
    }
    let games = match oracle {
        Oracle::InteriorPoint => Games::interior_point(model, set, false),
        Oracle::Exact | Oracle::FirstOrder => {
            Games::first_order(model, set, default_setup(set), &FomSettings::default())?
        }
    };
    let mut bellman = Bellman::new(model, set);
    let (mut games, interrupt) = (games, Interrupt::new());
    let Bellman { lower, upper, policy, .. } = &mut bellman;
    let tolerance = 1e-4 * values.iter().fold(model.largest_cost(), |m, v| m.max(v.abs()));
    games.sweep(values, tolerance, lower, upper, policy, &interrupt.signal());
    Ok((bellman.lower, bellman.upper, bellman.policy))
}

/// The convex programs of one sweep of the interior-point oracle at v, whole or spared the rows that
/// cannot matter: how many there are and how many of them its solver gives up on.
pub fn programs(
    model: &Model,
    set: &UncertaintySet,
    values: &[f64],
    whole: bool,
) -> Result<[u64; 2], Error> {
    set.validate(model)?;
    let (mut games, interrupt) = (Games::interior_point(model, set, whole), Interrupt::new());
    let Bellman { lower, upper, policy, .. } = &mut Bellman::new(model, set);
    games.sweep(values, 0.0, lower, upper, policy, &interrupt.signal());
    Ok(games.take_programs())
}

/// What a sweep of the exact oracle leaves: bounds, policy and chain, states × states.
#[derive(Debug)]
pub struct ExactSweep {
    /// lower ≤ F(v).
    pub lower: Vec<f64>,
    /// F_x(v) ≤ upper.
    pub upper: Vec<f64>,
    /// x.
    pub policy: Vec<f64>,
    /// Σ_a x_a·y_a.
    pub chain: Vec<f64>,
}

/// Exact sweeps at one value vector after another, each with the memory of those before; where a
/// policy is given, for that policy. With rows priced one by one if so, whatever their kind.
pub fn exact_sweeps(
    model: &Model,
    set: &UncertaintySet,
    sweeps: &[(Vec<f64>, Option<Vec<f64>>)],
    bracketed: bool,
) -> Result<Vec<ExactSweep>, Error> {
    set.validate(model)?;
    set.expect_exact_updates("an exact sweep")?;
    let states = model.states();
    let mut bellman = Bellman::new(model, set).bracketed(bracketed);
    let mut chain = Chain::new(states, |_| states);
    let mut all = Vec::new();
    for (values, policy) in sweeps {
        let player = policy.as_deref().map_or(Player::Both, Player::Nature);
        bellman.sweep(values, player, 0.0);
        let policy = policy.clone().unwrap_or_else(|| bellman.policy.clone());
        bellman.fill_chain(&policy, &mut chain);
        all.push(ExactSweep {
            lower: bellman.lower.clone(),
            upper: bellman.upper.clone(),
            policy,
            chain: chain.entries.clone(),
        });
    }
    Ok(all)
}

/// Exact sweeps in which every state's value is replaced at once (Gauss–Seidel); `visit` sees the
/// state, the values that its update was computed at and the bounds.
pub fn exact_in_place(
    model: &Model,
    set: &UncertaintySet,
    values: &[f64],
    sweeps: usize,
    visit: &mut impl FnMut(usize, &[f64], f64, f64),
) -> Result<(), Error> {
    set.validate(model)?;
    set.expect_exact_updates("an exact sweep")?;
    let oracle = Exact::new(model, set);
    let (mut sweep_values, mut worker) = (oracle.values(), ExactScratch::default());
    let rows = model.rows();
    let (mut t, mut nu, mut x) = (vec![0.0; rows], vec![0.0; rows], vec![0.0; rows]);
    let mut screen = vec![f64::NEG_INFINITY; rows];
    sweep_values.set(values);
    for _ in 0..sweeps {
        sweep_values.begin_in_place();
        for s in 0..model.states() {
            let of = model.rows_of(s);
            let mut value = crate::sets::Enclosure { lower: 0.0, upper: 0.0 };
            if !of.is_empty() {
                let memory = RowMemory {
                    t: &mut t[of.clone()],
                    nu: &mut nu[of.clone()],
                    screen: &mut screen[of.clone()],
                };
                value = oracle.update(s, &sweep_values, 0.0, memory, &mut x[of], &mut worker);
            }
            visit(s, &sweep_values.v, value.lower, value.upper);
            sweep_values.set_one(s, value.upper);
        }
    }
    Ok(())
}

/// Seconds of exact sweeps, each after the memory of the one before: alternately at `values` and at
/// values that differ by `shift` times a fixed pattern.
pub fn exact_sweep_seconds(
    model: &Model,
    set: &UncertaintySet,
    values: &[f64],
    shift: f64,
    tolerance: f64,
    repeats: usize,
    threads: usize,
) -> Result<(Vec<f64>, f64), Error> {
    set.validate(model)?;
    set.expect_exact_updates("an exact sweep")?;
    in_pool(Some(threads), || {
        let mut bellman = Bellman::new(model, set);
        let moved: Vec<f64> = (values.iter().enumerate())
            .map(|(s, v)| v + shift * ((s * 7919 % 1009) as f64 / 1009.0 - 0.5))
            .collect();
        for _ in 0..2 {
            bellman.sweep(&moved, Player::Both, tolerance);
            bellman.sweep(values, Player::Both, tolerance);
        }
        bellman.take_entries();
        let mut times = Vec::new();
        for i in 0..repeats {
            let started = Instant::now();
            bellman.sweep(if i % 2 == 0 { &moved } else { values }, Player::Both, tolerance);
            times.push(started.elapsed().as_secs_f64());
        }
        let passes = bellman.take_entries() as f64 / model.transitions() as f64;
        (times, passes / repeats as f64)
    })
}

/// The duality gap of FOM-VI's answer after the first epoch that reaches each of the checkpoints
/// (steps, increasing), up to twice the tolerance; `None` if the run was interrupted.
pub fn fom_vi_gaps(
    model: &Model,
    set: &UncertaintySet,
    settings: &FomSettings,
    checkpoints: &[u64],
    tolerance: f64,
    threads: usize,
    interrupt: &Interrupt,
) -> Result<Option<Vec<GapAt>>, Error> {
    set.validate(model)?;
    let setup = settings.setup.unwrap_or(default_setup(set));
    let signal = interrupt.signal();
    in_pool(Some(threads), || {
        let mut gaps = Vec::new();
        let visit = &mut |at| gaps.push(at);
        let done = gap_trace(model, set, setup, settings, checkpoints, tolerance, &signal, visit)?;
        Ok(done.then_some(gaps))
    })?
}

/// Exact sweeps one after another, of F or, where a policy is given, of F_x; upper bounds, tight up
/// to rounding.
#[allow(missing_debug_implementations)]
pub struct Sweeps<'a> {
    bellman: Bellman<'a>,
    policy: Option<&'a [f64]>,
}

impl<'a> Sweeps<'a> {
    /// Sweeps of this model and set.
    pub fn new(
        model: &'a Model,
        set: &'a UncertaintySet,
        policy: Option<&'a [f64]>,
    ) -> Result<Sweeps<'a>, Error> {
        set.validate(model)?;
        set.expect_exact_updates("an exact sweep")?;
        Ok(Sweeps { bellman: Bellman::new(model, set), policy })
    }

    /// F(v) or F_x(v).
    pub fn image(&mut self, values: &[f64]) -> &[f64] {
        let player = self.policy.map_or(Player::Both, Player::Nature);
        self.bellman.sweep(values, player, 0.0);
        &self.bellman.upper
    }

    /// Row entries visited since the last call.
    pub fn take_entries(&mut self) -> u64 {
        self.bellman.take_entries()
    }
}
