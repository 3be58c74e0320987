//! How far a run is, and how long it will still take.

use std::time::Instant;

use robust_mdp::sets::Distance;

use super::cell::{Cell, Experiment, Task};
use super::problem::Regime;
use super::solver::{Geometries, Solver};

/// About how many seconds a cell takes, by recorded runs: what the time left is estimated with.
fn weight(cell: &Cell) -> f64 {
    let entries = cell.problem.entries() as f64;
    match cell.task {
        Task::Trace(course) => {
            let step = if course.setup == Geometries::L1L1 { 7.0 } else { 1.0 };
            4.5e-9 * entries * cell.limit as f64 * step
        }
        Task::Solve(solver) if solver.solves_programs() => {
            let sweeps = if cell.problem.discount > 0.9 { cell.limit } else { cell.limit.min(22) };
            let binds = cell.problem.regime != Regime::Paper;
            let entry = if binds { 1.3e-5 } else { 9e-6 };
            entry * entries * sweeps as f64
        }
        Task::Solve(solver) if solver.is_fom() => {
            let most = match (solver, cell.problem.set) {
                (Solver::FomPaper, Distance::Kl) => 6e4,
                (Solver::FomPaper, _) => 1e4,
                _ => 200.0,
            };
            2.5e-9 * entries * ((cell.limit as f64).powi(3) / 3.0).min(most)
        }
        // Sweeps follow the horizon.
        Task::Gap(_) => 1e-8 * entries / (1.0 - cell.problem.discount),
        _ => 3e-7 * entries,
    }
    .max(1e-4)
}

/// The same of a run in which some go side by side.
fn share(cell: &Cell, jobs: usize) -> f64 {
    weight(cell) / if cell.is_counted() { jobs as f64 } else { 1.0 }
}

/// About how many seconds all of them take.
pub(super) fn seconds(cells: &[Cell], jobs: usize) -> f64 {
    cells.iter().map(|c| share(c, jobs)).sum()
}

/// How far a run is.
#[derive(Clone, Debug)]
pub struct Progress {
    /// That of the last cell.
    pub experiment: Experiment,
    /// Cells that are done.
    pub done: usize,
    /// Cells to do.
    pub all: usize,
    /// About how long the others will take.
    pub seconds_left: f64,
}

/// What is done of all that is to do.
pub(super) struct Tracker {
    all: usize,
    done: usize,
    all_weight: f64,
    done_weight: f64,
    started: Instant,
    jobs: usize,
}

impl Tracker {
    pub(super) fn new(cells: &[&Cell], jobs: usize) -> Tracker {
        Tracker {
            all: cells.len(),
            done: 0,
            all_weight: cells.iter().map(|c| share(c, jobs)).sum(),
            done_weight: 0.0,
            started: Instant::now(),
            jobs,
        }
    }

    pub(super) fn one_done(&mut self, cell: &Cell) -> Progress {
        self.done += 1;
        self.done_weight += share(cell, self.jobs);
        let left = (self.all_weight / self.done_weight - 1.0).max(0.0);
        Progress {
            experiment: cell.experiment,
            done: self.done,
            all: self.all,
            seconds_left: self.started.elapsed().as_secs_f64() * left,
        }
    }
}
