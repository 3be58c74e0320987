//! Runs the cells that are not in the journal yet.
//!
//! Cells whose time is compared run alone. Those that only count go side by side; what they leave
//! does not depend on it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use robust_mdp::Interrupt;

use super::cell::{Cell, Counts, Outcome, Record, Seconds};
use super::journal::Journal;
use super::load::Load;
use super::measure;
use super::progress::Progress;
use crate::failure::Failure;
use crate::output;

/// What a run came to.
pub(crate) struct Done {
    /// Cells that were in the journal.
    pub(crate) before: usize,
    pub(crate) interrupted: bool,
    /// The most that others made of the load average.
    pub(crate) load_by_others: Option<f64>,
}

/// How many threads a run has, and how many runs go side by side where no time is compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) threads: usize,
    pub(crate) jobs: usize,
}

pub(crate) fn run(
    cells: &[Cell],
    journal: &mut Journal,
    pace: Pace,
    interrupt: &Interrupt,
    quiet: bool,
) -> Result<Done, Failure> {
    let missing: Vec<&Cell> = cells.iter().filter(|c| journal.get(c).is_none()).collect();
    let before = cells.len() - missing.len();
    if before > 0 && !quiet {
        let all = cells.len();
        output::to_stderr(&format!("{before} of {all} cells are in the journal and are skipped\n"));
    }
    let mut progress = Progress::new(&missing, pace.jobs, quiet);
    let mut rest = missing.as_slice();
    let mut interrupted = false;
    let mut load = Load::begin();
    while !rest.is_empty() && !interrupted {
        let counted = rest.iter().take_while(|c| c.is_counted()).count();
        let (now, later) = rest.split_at(counted.max(1));
        rest = later;
        let mut keep = |cell: &Cell, record| {
            journal.add(record)?;
            progress.one_done(cell);
            Ok(())
        };
        if counted > 1 && pace.jobs > 1 {
            side_by_side(now, pace, interrupt, &mut keep)?;
            load.look(pace.jobs.min(now.len()) * pace.threads);
        } else {
            for cell in now {
                let Some(record) = outcome(cell, pace.threads, interrupt) else { break };
                keep(cell, record)?;
                load.look(pace.threads);
                if interrupt.is_raised() {
                    break;
                }
            }
        }
        interrupted = interrupt.is_raised();
    }
    progress.finish();
    Ok(Done { before, interrupted, load_by_others: load.most() })
}

/// Runs cells on several threads and keeps their records in the order of the cells; those that an
/// interruption leaves behind a missing one as well.
fn side_by_side(
    cells: &[&Cell],
    pace: Pace,
    interrupt: &Interrupt,
    keep: &mut impl FnMut(&Cell, Record) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (next, halt) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..pace.jobs.min(cells.len()) {
            let (sender, next, halt) = (sender.clone(), &next, &halt);
            scope.spawn(move || {
                while !interrupt.is_raised() && !halt.load(Ordering::Relaxed) {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(cell) = cells.get(at) else { break };
                    let Some(record) = outcome(cell, pace.threads, interrupt) else { break };
                    if sender.send((at, record)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut kept = 0;
        let mut all_kept = Ok(());
        for (at, record) in &receiver {
            waiting.insert(at, record);
            while let Some(record) = waiting.remove(&kept) {
                all_kept = all_kept.and_then(|()| keep(cells[kept], record));
                kept += 1;
            }
            if all_kept.is_err() {
                halt.store(true, Ordering::Relaxed);
            }
        }
        all_kept?;
        waiting.into_iter().try_for_each(|(at, record)| keep(cells[at], record))
    })
}

/// `None` where it was interrupted.
fn outcome(cell: &Cell, threads: usize, interrupt: &Interrupt) -> Option<Record> {
    match measure::run(cell, threads, interrupt) {
        Ok(record) => record,
        Err(error) => Some(failed(cell, &error.to_string())),
    }
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
