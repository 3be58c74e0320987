//! Runs the cells that are not in the journal yet, and says how far it is.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use robust_mdp::Interrupt;

use super::cell::{Cell, Counts, Outcome, Record, Seconds, Task};
use super::journal::Journal;
use super::measure;
use super::solver::{Geometries, Solver};
use crate::failure::Failure;
use crate::output;
use crate::render::number::time_text;

/// Seconds between two lines where there is no terminal.
const LINE_EVERY: f64 = 10.0;

/// What a run came to.
pub(crate) struct Done {
    /// Cells that were in the journal.
    pub(crate) before: usize,
    pub(crate) interrupted: bool,
}

pub(crate) fn run(
    cells: &[Cell],
    journal: &mut Journal,
    threads: usize,
    interrupt: &Interrupt,
    quiet: bool,
) -> Result<Done, Failure> {
    let missing: Vec<&Cell> = cells.iter().filter(|c| journal.get(c).is_none()).collect();
    let before = cells.len() - missing.len();
    if before > 0 && !quiet {
        let all = cells.len();
        output::to_stderr(&format!("{before} of {all} cells are in the journal and are skipped\n"));
    }
    let mut progress = Progress::new(&missing, quiet);
    for cell in missing {
        let record = match measure::run(cell, threads, interrupt) {
            Ok(Some(record)) => record,
            Ok(None) => {
                progress.finish();
                return Ok(Done { before, interrupted: true });
            }
            Err(error) => failed(cell, &error.to_string()),
        };
        journal.add(record)?;
        progress.one_done(cell);
        if interrupt.is_raised() {
            progress.finish();
            return Ok(Done { before, interrupted: true });
        }
    }
    progress.finish();
    Ok(Done { before, interrupted: false })
}

/// A cell that the library refuses is kept with what it said.
fn failed(cell: &Cell, note: &str) -> Record {
    let outcome = Outcome {
        status: "failed".into(),
        radius: 0.0,
        saturated: None,
        own: None,
        certified: None,
        work: Counts::default(),
        gap: f64::MAX,
        lower: f64::MIN,
        upper: f64::MAX,
        trace: Vec::new(),
        note: Some(note.into()),
    };
    Record { cell: *cell, outcome, seconds: Seconds::default() }
}

/// About how many seconds a cell takes, by the recorded run in docs/reproduce: what the time left is
/// estimated with.
fn weight(cell: &Cell) -> f64 {
    let entries = cell.problem.entries() as f64;
    match cell.task {
        Task::Trace(course) => {
            let step = if course.setup == Geometries::L1L1 { 7.0 } else { 1.0 };
            4.5e-9 * entries * cell.limit as f64 * step
        }
        Task::Solve(solver) if solver.solves_programs() => {
            5.5e-6 * entries * cell.limit.min(40) as f64
        }
        Task::Solve(Solver::FomPaper) => 5e-10 * entries * (cell.limit as f64).powi(3),
        Task::Solve(Solver::FomCentred) => 5e-12 * entries * (cell.limit as f64).powi(3),
        _ => 3e-7 * entries,
    }
    .max(1e-4)
}

struct Progress {
    all: usize,
    done: usize,
    all_weight: f64,
    done_weight: f64,
    started: Instant,
    next_line: f64,
    bar: Option<ProgressBar>,
    quiet: bool,
}

impl Progress {
    fn new(cells: &[&Cell], quiet: bool) -> Progress {
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
            all_weight: cells.iter().map(|c| weight(c)).sum(),
            done_weight: 0.0,
            started: Instant::now(),
            next_line: LINE_EVERY,
            bar,
            quiet,
        }
    }

    fn one_done(&mut self, cell: &Cell) {
        self.done += 1;
        self.done_weight += weight(cell);
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

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
