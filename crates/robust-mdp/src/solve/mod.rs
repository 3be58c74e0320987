//! The one entry point: a model, a set and a gap in; a policy with certified bounds out.
//!
//! No input or output is done here: a run tells its observer where it stands.

mod criterion;
mod ended;
mod limits;
mod options;
mod potential;
mod problem;
mod run;
mod total;
mod unused;

pub use self::criterion::{Criterion, Direction};
pub(crate) use self::ended::ended;
pub(crate) use self::limits::{check_memory, check_scale, default_setup, target_gap};
pub use self::options::{Method, Options, Oracle, Published, Status, Stop};
pub(crate) use self::problem::{Problem, model_of, row_by_row};
pub(crate) use self::run::Run;
pub use self::run::{DualityGap, Observer, Progress, Work};

use self::limits::{check_criterion, check_fom, check_oracle, check_start};
use self::run::Limits;
use self::unused::refuse_unused;
use crate::checkpoint::{Checkpointer, Checkpoints};
use crate::choice::{Chosen, choose};
use crate::error::Error;
use crate::loops;
use crate::loops::bounds::value_range;
use crate::loops::fom_vi::{self, FomSettings};
use crate::loops::games::Games;
use crate::loops::operator::Operator;
use crate::loops::{average, backward};
use crate::model::Model;
use crate::oracle::first_order::{Setup, prox_of};
use crate::pool::in_pool;
use crate::rows::widest_row;
use crate::sets::UncertaintySet;
use crate::signal::Interrupt;
use crate::solution::Solution;

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
    let criterion = options.criterion;
    let problem = Problem::new(model, set, criterion, options.direction, options.deterministic);
    let warnings: Vec<String> = set.vacuity(model).into_iter().collect();
    let (model, set): (&Model, &UncertaintySet) = (&problem.model, &problem.set);
    check_scale(model, criterion)?;
    let gap = target_gap(model, set, criterion, options.stop.gap)?;
    let fom = &options.fom.clone().unwrap_or_default();
    let setup = check_fom(set, fom)?;
    let start = check_start(model, options)?;
    let chosen = choose(options, set)?;
    refuse_unused(options, &chosen)?;
    check_oracle(set, chosen.oracle)?;
    check_criterion(options, &chosen, checkpointer.is_some())?;
    if chosen.oracle == Oracle::FirstOrder {
        prox_of(set.distance.set(), setup.y)?;
    }
    if chosen.oracle != Oracle::Exact {
        check_memory(model, set, 2)?;
    }
    let checkpoints = match checkpointer {
        None => Checkpoints::none(),
        Some(to) => Checkpoints::begin(to, model, set, options, &chosen, setup, gap)?,
    };
    let limits = Limits {
        gap,
        values: value_range(model, set, criterion),
        max_sweeps: options.stop.max_sweeps,
        cooperative: problem.cooperative,
        published: options.published,
    };
    let time_limit = options.stop.time_limit;
    let mut run = Run::new(model, limits, time_limit, interrupt, checkpoints, start, observer);
    let status = in_pool(options.threads, || {
        drive(&problem, setup, fom, options, &chosen, interrupt, &mut run)
    })??;
    run.checkpoints.end(status);
    let seconds = run.seconds();
    Ok(Solution::new(model, status, run, seconds, chosen, setup, warnings, options))
}

fn drive(
    problem: &Problem<'_>,
    setup: Setup,
    fom: &FomSettings,
    options: &Options,
    chosen: &Chosen,
    interrupt: &Interrupt,
    run: &mut Run<'_>,
) -> Result<Status, Error> {
    let (model, set): (&Model, &UncertaintySet) = (&problem.model, &problem.set);
    if chosen.method == Method::FomVi {
        return fom_vi::run(model, set, setup, fom, run);
    }
    run.work.kernel_entries = model.transitions() as u64;
    run.width = widest_row(model, set);
    let operator = match chosen.oracle {
        Oracle::Exact => {
            Operator::exact(model, set, options.bracketed).cooperative(problem.cooperative)
        }
        Oracle::InteriorPoint => {
            let games = Games::interior_point(model, set, options.whole_programs);
            Operator::of_games(model, set, games)
        }
        Oracle::FirstOrder => {
            let games = Games::first_order(model, set, setup, fom)?;
            Operator::of_games(model, set, games)
        }
    };
    match options.criterion {
        Criterion::Discounted => loops::run(chosen.method, options.anderson, operator, run),
        Criterion::Finite { horizon } => backward::run(horizon, operator, set, run),
        Criterion::Average => average::run(chosen.method, operator, run),
        Criterion::Total => total::run(problem, interrupt, run),
    }
}
