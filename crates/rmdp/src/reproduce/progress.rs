//! How far a run is, and how long it will still take.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use robust_mdp::uncertainty::Distance;

use super::cell::{Cell, Task};
use super::problem::Regime;
use super::solver::{Geometries, Solver};
use crate::output;
use crate::render::number::time_text;

/// Seconds between two lines where there is no terminal.
const LINE_EVERY: f64 = 10.0;

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

pub(super) struct Progress {
    all: usize,
    done: usize,
    all_weight: f64,
    done_weight: f64,
    started: Instant,
    next_line: f64,
    bar: Option<ProgressBar>,
    quiet: bool,
    jobs: usize,
}

impl Progress {
    pub(super) fn new(cells: &[&Cell], jobs: usize, quiet: bool) -> Progress {
        let bar = (!quiet && io::stderr().is_terminal()).then(|| {
            let style = ProgressStyle::with_template("{spinner} {elapsed} [{bar:24}] {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("=> ");
            let bar = ProgressBar::new(cells.len() as u64).with_style(style);
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Progress {
            all: cells.len(),
            done: 0,
            all_weight: cells.iter().map(|c| share(c, jobs)).sum(),
            done_weight: 0.0,
            started: Instant::now(),
            next_line: LINE_EVERY,
            bar,
            quiet,
            jobs,
        }
    }

    pub(super) fn one_done(&mut self, cell: &Cell) {
        self.done += 1;
        self.done_weight += share(cell, self.jobs);
        let seconds = self.started.elapsed().as_secs_f64();
        if let Some(bar) = &self.bar {
            bar.set_position(self.done as u64);
            bar.set_message(self.sentence(cell, seconds));
        } else if !self.quiet && seconds >= self.next_line {
            output::to_stderr(&format!("{}\n", self.sentence(cell, seconds)));
            self.next_line = seconds + LINE_EVERY;
        }
    }

    fn sentence(&self, cell: &Cell, seconds: f64) -> String {
        let left = seconds * (self.all_weight / self.done_weight - 1.0).max(0.0);
        format!(
            "{}: cell {} of {}, about {} left",
            cell.experiment.name(),
            self.done,
            self.all,
            time_text(left)
        )
    }

    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
