//! The one entry point: a model, a set and a gap in; a policy with certified bounds out.
//!
//! This file owns the clock, the limits and the observer; it does no input or output.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::algorithm::bounds::rounding;
use crate::algorithm::fom_vi::{self, FomSettings};
use crate::algorithm::games::Games;
use crate::algorithm::operator::Operator;
use crate::algorithm::outer;
use crate::checkpoint::{Checkpointer, Checkpoints, Snapshot, Tape};
use crate::choice::{Chosen, choose};
use crate::error::Error;
use crate::game::Layout;
use crate::geometry::Geometry;
use crate::incumbent::{Incumbent, width};
use crate::kept_policy::KeptPolicy;
use crate::model::Model;
use crate::oracle::first_order::Setup;
use crate::pool::in_pool;
use crate::solution::Solution;
use crate::uncertainty::{Distance, Support, UncertaintySet};

/// The algorithm of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Chosen by the library from the model and the set; the solution says what and why.
    #[default]
    Auto,
    /// First-order value iteration (Algorithm 1 of the paper).
    FomVi,
    /// Value iteration v ← F(v).
    Vi,
    /// Value iteration, each state using the values already updated in the same sweep.
    GsVi,
    /// Anderson-accelerated value iteration, safeguarded.
    Anderson,
    /// Accelerated value iteration (Nesterov's momentum), safeguarded.
    Avi,
    /// Policy iteration in the Hoffman–Karp form; its work hardly depends on the discount.
    Pi,
    /// Newton's method on v = F(v), safeguarded by Hoffman–Karp steps.
    Newton,
}

/// What solves the game of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Oracle {
    /// Newton's method on the multipliers, to rounding.
    Exact,
    /// First-order steps on the saddle-point problem.
    FirstOrder,
    /// A conic interior-point solver, its answer repaired and bounded again.
    InteriorPoint,
}

/// How a valid run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// upper − lower ≤ gap in every state.
    Certified,
    /// Out of sweeps; the bounds hold.
    SweepLimit,
    /// Out of time; the bounds hold.
    TimeLimit,
    /// Rounding does not allow a smaller gap; the bounds hold.
    PrecisionLimit,
    /// Stopped by the caller; the bounds hold.
    Interrupted,
}

/// When a run ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    /// When upper − lower ≤ gap in every state; `None` means 1e-6·max(1, largest |cost|).
    pub gap: Option<f64>,
    /// After so many epochs or sweeps.
    pub max_sweeps: u64,
    /// After so much wall-clock time.
    pub time_limit: Option<Duration>,
}

impl Stop {
    /// At this certified gap and no earlier.
    pub fn at_gap(gap: f64) -> Stop {
        Stop { gap: Some(gap), ..Stop::default() }
    }
}

impl Default for Stop {
    fn default() -> Self {
        Stop { gap: None, max_sweeps: u64::MAX, time_limit: None }
    }
}

/// What to ask of a run. All fields have defaults.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The algorithm.
    pub method: Method,
    /// What solves the game of a state; `None` means the best the set offers.
    pub oracle: Option<Oracle>,
    /// When it ends.
    pub stop: Stop,
    /// Threads; `None` means all cores. The answer does not depend on it.
    pub threads: Option<usize>,
    /// Settings of FOM-VI.
    pub fom: FomSettings,
    /// Differences that Anderson's method combines; `None` means 5.
    pub anderson: Option<usize>,
    /// Value iteration as \[GCK21\] runs it, for comparison; see [`Published`].
    #[doc(hidden)]
    pub published: Option<Published>,
}

/// How \[GCK21\] runs value iteration and its relatives: from v = 0, with every state's convex
/// program handed to the interior-point solver whole, until ‖v⁺ − v‖_∞ is small.
///
/// Not part of the public interface; it may change without notice.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// The run ends when ‖v⁺ − v‖_∞ is at most this and the asked gap is certified.
    pub residual: f64,
}

/// Work counted independently of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Epochs (FOM-VI) or sweeps, those of nature alone included.
    pub sweeps: u64,
    /// Sweeps of nature alone, against a fixed policy.
    pub evaluations: u64,
    /// State games and evaluations solved.
    pub oracle_calls: u64,
    /// First-order steps taken in each state.
    pub first_order_steps: u64,
    /// Entries of kernel rows visited.
    pub entries: u64,
    /// Entries of one kernel.
    pub kernel_entries: u64,
}

impl Work {
    /// Entries visited, in kernels.
    pub fn kernel_passes(&self) -> f64 {
        self.entries as f64 / self.kernel_entries.max(1) as f64
    }
}

/// State of a run after a sweep.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Wall-clock time so far.
    pub seconds: f64,
    /// Best certified lower bound at p₀, in the model's own sign.
    pub lower: f64,
    /// Best certified upper bound at p₀, in the model's own sign.
    pub upper: f64,
    /// Largest certified upper − lower over states.
    pub gap: f64,
    /// The gap that was asked for.
    pub target: f64,
    /// ‖v⁺ − v‖_∞ of the last sweep.
    pub residual: f64,
    /// Work so far.
    pub work: Work,
}

/// Watches a run and may stop it.
pub trait Observer: Sync {
    /// Called after every sweep.
    fn progress(&mut self, _: &Progress) {}
}

impl Observer for () {}

/// A flag that ends a run cleanly, from another thread or a signal handler.
#[derive(Debug, Default)]
pub struct Interrupt(AtomicBool);

impl Interrupt {
    /// A flag that is down.
    pub const fn new() -> Interrupt {
        Interrupt(AtomicBool::new(false))
    }

    /// Asks the run to end with the best certified answer so far.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked for.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn signal(&self) -> Signal<'_> {
        Signal { interrupt: self, deadline: None }
    }
}

/// What ends a run early.
pub(crate) struct Signal<'a> {
    interrupt: &'a Interrupt,
    deadline: Option<Instant>,
}

impl Signal<'_> {
    pub(crate) fn raised(&self) -> bool {
        self.status().is_some()
    }

    pub(crate) fn status(&self) -> Option<Status> {
        if self.interrupt.is_raised() {
            Some(Status::Interrupted)
        } else if self.deadline.is_some_and(|d| Instant::now() >= d) {
            Some(Status::TimeLimit)
        } else {
            None
        }
    }
}

pub(crate) struct Limits {
    pub(crate) gap: f64,
    pub(crate) max_sweeps: u64,
    pub(crate) published: Option<Published>,
}

/// A run in progress.
pub(crate) struct Run<'a> {
    pub(crate) limits: Limits,
    pub(crate) signal: Signal<'a>,
    pub(crate) work: Work,
    pub(crate) incumbent: Incumbent,
    /// Time spent in checks of the gap, the one at the start included.
    pub(crate) check_seconds: f64,
    /// Entries of the widest row.
    pub(crate) width: usize,
    pub(crate) largest_cost: f64,
    pub(crate) checkpoints: Checkpoints<'a>,
    model: &'a Model,
    started: Instant,
    /// Seconds that the run took before it was interrupted and went on.
    seconds_before: f64,
    observer: &'a mut (dyn Observer + Send),
}

impl Run<'_> {
    /// Bounds that need no work: no step costs more than the largest cost.
    pub(crate) fn begin(&mut self, model: &Model) {
        // Next states that a row does not list cost what the row costs.
        let largest = model.cost.iter().fold(self.largest_cost, |m, c| m.max(c.abs()));
        let bound = largest / (1.0 - model.discount());
        let of = |bound: f64| {
            (0..model.states()).map(|s| if model.is_terminal(s) { 0.0 } else { bound }).collect()
        };
        let policy = KeptPolicy::of_first_actions(model);
        self.incumbent = Incumbent { policy, lower: of(-bound), upper: of(bound) };
    }

    /// Offers lower + low ≤ v* ≤ v^policy ≤ upper + high as an answer.
    pub(crate) fn offer(
        &mut self,
        lower: &[f64],
        low: f64,
        upper: &[f64],
        high: f64,
        policy: &[f64],
    ) {
        let terminal = |s: usize| self.model.is_terminal(s);
        let best = &mut self.incumbent;
        for (s, (best, lower)) in best.lower.iter_mut().zip(lower).enumerate() {
            if !terminal(s) {
                *best = best.max(lower + low); // a NaN changes nothing
            }
        }
        let width = |s: usize, u: f64, l: f64| if terminal(s) { 0.0 } else { width(l, u + high) };
        let gap = (upper.iter().zip(&best.lower).enumerate())
            .fold(0.0_f64, |m, (s, (&u, &l))| m.max(width(s, u, l)));
        if gap < best.gap() {
            best.policy.keep(policy);
            for (s, (best, u)) in best.upper.iter_mut().zip(upper).enumerate() {
                *best = if terminal(s) { 0.0 } else { u + high };
            }
        }
    }

    /// What rounding alone leaves between the bounds: twice the allowance on either side.
    pub(crate) fn rounding_floor(&self) -> f64 {
        let scale = self.incumbent.scale().max(self.largest_cost);
        4.0 * rounding(scale, self.model.discount(), self.width)
    }

    fn seconds(&self) -> f64 {
        self.seconds_before + self.started.elapsed().as_secs_f64()
    }

    /// Tells the observer where the run stands.
    pub(crate) fn report(&mut self, residual: f64) {
        let sign = self.model.objective().sign();
        let a = sign * self.model.initial_mean(&self.incumbent.lower);
        let b = sign * self.model.initial_mean(&self.incumbent.upper);
        let progress = Progress {
            seconds: self.seconds(),
            lower: a.min(b),
            upper: a.max(b),
            gap: self.incumbent.gap(),
            target: self.limits.gap,
            residual,
            work: self.work,
        };
        self.observer.progress(&progress);
    }
}

impl Snapshot for Run<'_> {
    fn pass(&mut self, tape: &mut Tape<'_>) {
        let Work { sweeps, evaluations, oracle_calls, first_order_steps, entries, .. } =
            &mut self.work;
        for count in [sweeps, evaluations, oracle_calls, first_order_steps, entries] {
            tape.count(count);
        }
        self.incumbent.pass(tape);
        tape.number(&mut self.check_seconds);
        let mut seconds = self.seconds();
        tape.number(&mut seconds);
        if tape.is_reading() {
            self.seconds_before = seconds;
        }
    }
}

/// Solves the robust problem; see [`solve_observed`] for progress and interruption.
pub fn solve(model: &Model, set: &UncertaintySet, options: &Options) -> Result<Solution, Error> {
    solve_observed(model, set, options, &mut (), &Interrupt::new())
}

/// Solves min over policies, max over kernels of the set, of the expected discounted cost.
///
/// The solution's policy x, bounds and gap satisfy lower ≤ v* ≤ v^x ≤ upper in every state, where
/// v^x is the worst case of x over the set, and upper − lower ≤ gap if the status is
/// [`Status::Certified`]. The same input gives the same bits for any number of threads (unless a
/// time limit or an interrupt ends the run).
pub fn solve_observed(
    model: &Model,
    set: &UncertaintySet,
    options: &Options,
    observer: &mut (dyn Observer + Send),
    interrupt: &Interrupt,
) -> Result<Solution, Error> {
    solve_with(model, set, options, observer, interrupt, None)
}

/// [`solve_observed`] that can be interrupted by anything, a loss of power included, and go on.
///
/// A run that goes on from a checkpoint ends with the bits (policy, bounds and counts of work) that
/// it would have had without the interruption, for any number of threads; seconds add up. Limits
/// and threads may differ from the run that left it, anything else may not.
pub fn solve_checkpointed(
    model: &Model,
    set: &UncertaintySet,
    options: &Options,
    observer: &mut (dyn Observer + Send),
    interrupt: &Interrupt,
    checkpointer: &mut dyn Checkpointer,
) -> Result<Solution, Error> {
    solve_with(model, set, options, observer, interrupt, Some(checkpointer))
}

fn solve_with<'a>(
    model: &'a Model,
    set: &UncertaintySet,
    options: &Options,
    observer: &'a mut (dyn Observer + Send),
    interrupt: &'a Interrupt,
    checkpointer: Option<&'a mut (dyn Checkpointer + 'a)>,
) -> Result<Solution, Error> {
    set.validate(model)?;
    check_scale(model)?;
    let gap = target_gap(model, options.stop.gap)?;
    let setup = check_fom(set, &options.fom)?;
    let chosen = choose(model, set, options)?;
    if chosen.oracle != Oracle::Exact {
        check_memory(model, set, 2)?;
    }
    let warnings: Vec<String> = set.vacuity(model).into_iter().collect();
    let checkpoints = match checkpointer {
        None => Checkpoints::none(),
        Some(to) => Checkpoints::begin(to, model, set, options, &chosen, setup, gap)?,
    };
    let started = Instant::now();
    let deadline = options.stop.time_limit.and_then(|limit| started.checked_add(limit));
    let mut run = Run {
        limits: Limits { gap, max_sweeps: options.stop.max_sweeps, published: options.published },
        signal: Signal { interrupt, deadline },
        work: Work::default(),
        incumbent: Incumbent::default(),
        check_seconds: 0.0,
        width: 0,
        largest_cost: model.largest_cost(),
        checkpoints,
        model,
        started,
        seconds_before: 0.0,
        observer,
    };
    let status =
        in_pool(options.threads, || drive(model, set, setup, options, &chosen, &mut run))??;
    run.checkpoints.end(status);
    let seconds = run.seconds();
    Ok(Solution::new(model, status, run, seconds, chosen, setup, warnings))
}

fn drive(
    model: &Model,
    set: &UncertaintySet,
    setup: Setup,
    options: &Options,
    chosen: &Chosen,
    run: &mut Run<'_>,
) -> Result<Status, Error> {
    if chosen.method == Method::FomVi {
        return fom_vi::run(model, set, setup, &options.fom, run);
    }
    run.work.kernel_entries = model.transitions() as u64;
    let spreads = set.distance == Distance::Ellipsoid && set.support == Support::All;
    run.width = if spreads {
        model.states()
    } else {
        (0..model.rows()).map(|r| model.span(r).len()).max().unwrap_or(0)
    };
    let operator = match chosen.oracle {
        Oracle::Exact => Operator::exact(model, set),
        Oracle::InteriorPoint => {
            let games = Games::interior_point(model, set, options.published.is_some());
            Operator::of_games(model, set, games)
        }
        Oracle::FirstOrder => {
            let games = Games::first_order(model, set, setup, &options.fom);
            Operator::of_games(model, set, games)
        }
    };
    outer::run(chosen.method, options.anderson.unwrap_or(5), operator, run)
}

pub(crate) fn target_gap(model: &Model, gap: Option<f64>) -> Result<f64, Error> {
    match gap {
        None => Ok(1e-6 * model.largest_cost().max(1.0)),
        Some(gap) if gap.is_finite() && gap > 0.0 => Ok(gap),
        Some(gap) => Err(Error::Input(format!("the gap must be a number > 0, not {gap}"))),
    }
}

fn check_fom(set: &UncertaintySet, fom: &FomSettings) -> Result<Setup, Error> {
    for (name, exponent) in [("weights", fom.weights), ("epochs", fom.epochs)] {
        if !(exponent.is_finite() && (0.0..=10.0).contains(&exponent)) {
            return Err(Error::Input(format!(
                "the exponent of the {name} must lie in [0, 10], not {exponent}"
            )));
        }
    }
    Ok(fom.setup.unwrap_or(default_setup(set)))
}

/// The geometries that serve a set best.
pub(crate) fn default_setup(set: &UncertaintySet) -> Setup {
    // Measured on Garnet, banded and healthcare instances: the policy is best kept Euclidean with
    // either set, the kernel in the set's own geometry.
    let y = if set.distance == Distance::Kl { Geometry::Entropy } else { Geometry::Euclidean };
    Setup { x: Geometry::Euclidean, y }
}

/// Values are squared on the way; they must stay far from overflow.
pub(crate) fn check_scale(model: &Model) -> Result<(), Error> {
    const LARGEST: f64 = 1e100;
    let (cost, discount) = (model.largest_cost(), model.discount());
    let value = cost / (1.0 - discount);
    if value <= LARGEST {
        return Ok(());
    }
    Err(Error::Input(format!(
        "costs of size {cost:e} at discount {discount} give values up to {value:e}; values up to \
         {LARGEST:e} can be computed: rescale the costs"
    )))
}

/// Sets that may leave the nominal support need an entry for every state in each of the `kernels`
/// arrays that a method keeps, and a dense chain.
pub(crate) fn check_memory(model: &Model, set: &UncertaintySet, kernels: u64) -> Result<(), Error> {
    const ALLOWED: u64 = 16 << 30;
    let Layout::Full(width) = Layout::new(model, set) else { return Ok(()) };
    let (rows, width) = (model.rows() as u64, width as u64);
    let needed = 8 * width * (kernels * rows + width);
    if needed > ALLOWED && !model.is_dense() {
        return Err(Error::Memory {
            what: "an ellipsoid that may put mass on every state (--support all)".into(),
            needed,
            allowed: ALLOWED,
        });
    }
    Ok(())
}
