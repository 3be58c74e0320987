//! Runs the cells that are not in the journal yet.
//!
//! Cells whose time is compared run alone. Those that only count go side by side; what they leave
//! does not depend on it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use robust_mdp::Interrupt;
use robust_mdp_measure::journal::{Error, Journal};

use super::cell::{Cell, Outcome, Record, Seconds};
use super::load::Load;
use super::measure;
use super::progress::{Progress, Tracker};

/// How much goes on at once.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Threads of a run.
    pub threads: usize,
    /// Runs side by side where no time is compared.
    pub jobs: usize,
}

/// Returns the most that others made of the load average.
pub(crate) fn run(
    cells: &[Cell],
    journal: &mut Journal<Record>,
    pace: Pace,
    interrupt: &Interrupt,
    observe: &mut dyn FnMut(&Progress),
) -> Result<Option<f64>, Error> {
    let is_missing = |c: &&Cell| journal.get(&c.key()).is_none();
    let missing: Vec<&Cell> = cells.iter().filter(is_missing).collect();
    let mut tracker = Tracker::new(&missing, pace.jobs);
    let mut rest = missing.as_slice();
    let mut load = Load::begin();
    while !rest.is_empty() && !interrupt.is_raised() {
        let counted = rest.iter().take_while(|c| c.is_counted()).count();
        let (now, later) = rest.split_at(counted.max(1));
        rest = later;
        let mut keep = |cell: &Cell, record| {
            journal.add([record])?;
            observe(&tracker.one_done(cell));
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
    }
    Ok(load.most())
}

/// Runs cells on several threads and keeps their records in the order of the cells; those that an
/// interruption leaves behind a missing one as well.
fn side_by_side(
    cells: &[&Cell],
    pace: Pace,
    interrupt: &Interrupt,
    keep: &mut impl FnMut(&Cell, Record) -> Result<(), Error>,
) -> Result<(), Error> {
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
        gap: f64::MAX,
        lower: f64::MIN,
        upper: f64::MAX,
        note: Some(note.into()),
        ..Outcome::default()
    };
    Record { cell: *cell, outcome, seconds: Seconds::default() }
}
