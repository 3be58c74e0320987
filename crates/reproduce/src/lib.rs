//! The experiments of Grand-Clément and Kroer, *Scalable First-Order Methods for Robust MDPs* (AAAI
//! 2021), run again, with today's methods beside them.
//!
//! A [`Plan`] lists cells; each finished cell is a line of the journal; figures, tables and verdicts are
//! made from the journal alone, so that a [`Reproduction`] can be interrupted and gone on with.

mod arrangement;
mod cell;
mod claims;
mod contents;
mod figures;
mod findings;
mod load;
mod machine;
mod measure;
mod plan;
mod problem;
mod progress;
mod runner;
mod select;
mod solver;
mod tables;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use robust_mdp::Interrupt;
use robust_mdp::io::write_atomically;
use robust_mdp_measure::journal::{self, Journal};

use cell::{Cell, Record};
use machine::Provenance;
use select::Records;

pub use cell::Experiment;
pub use plan::Plan;
pub use progress::Progress;
pub use runner::Pace;

/// The name of the journal in its folder.
const JOURNAL: &str = "cells.jsonl";

/// Why experiments cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] journal::Error),
    /// A file cannot be written.
    #[error(transparent)]
    Output(#[from] robust_mdp::Error),
}

/// Reads the bytes of a journal; says the line and what is wrong with it.
pub fn check_journal(bytes: &[u8]) -> Result<(), journal::BadLine> {
    journal::parse::<Record>(bytes).map(drop)
}

/// Experiments in a folder, with what earlier runs have left there.
pub struct Reproduction {
    folder: PathBuf,
    experiments: Vec<Experiment>,
    cells: Vec<Cell>,
    journal: Journal<Record>,
    pace: Pace,
    before: usize,
    provenance: Provenance,
}

impl Reproduction {
    /// Opens the journal of a folder, which is made where it is not there. `command` tells others how to
    /// make the same records.
    pub fn open(
        folder: &Path,
        experiments: &[Experiment],
        plan: &Plan,
        pace: Pace,
        command: String,
    ) -> Result<Reproduction, Error> {
        fs::create_dir_all(folder)
            .map_err(|source| robust_mdp::Error::Io { path: folder.into(), source })?;
        let journal: Journal<Record> = Journal::open(folder.join(JOURNAL))?;
        let cells: Vec<Cell> = experiments.iter().flat_map(|&e| plan.cells(e)).collect();
        let seeds: BTreeMap<String, u64> =
            experiments.iter().map(|&e| (e.name().to_owned(), plan.seeds(e))).collect();
        Ok(Reproduction {
            folder: folder.into(),
            experiments: experiments.to_vec(),
            before: cells.iter().filter(|c| journal.get(&c.key()).is_some()).count(),
            cells,
            journal,
            pace,
            provenance: Provenance::here(command, seeds, pace.threads),
        })
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.cells.len()
    }

    /// How many of them were in the journal when it was opened.
    pub fn before(&self) -> usize {
        self.before
    }

    /// Runs what is not in the journal yet, until it is done or interrupted.
    pub fn measure(
        &mut self,
        interrupt: &Interrupt,
        observe: &mut dyn FnMut(&Progress),
    ) -> Result<(), Error> {
        let load = runner::run(&self.cells, &mut self.journal, self.pace, interrupt, observe)?;
        // Records that were all there were made where and how it is written beside them.
        let made = self.provenance.clone();
        self.provenance = match (self.before, Provenance::read(&self.folder)) {
            (before, Some(earlier)) if before == self.cells.len() => earlier,
            (0, _) => made.after(load, None),
            (_, earlier) => made.after(load, earlier),
        };
        Ok(())
    }

    /// Writes tables, machine and page from the records; returns the page, and how many cells are done.
    pub fn publish(&self) -> Result<(PathBuf, usize), Error> {
        let write = |name: &str, text: &str| {
            write_atomically(&self.folder.join(name), |w| w.write_all(text.as_bytes()))
        };
        let found = |cell: &Cell| self.journal.get(&cell.key());
        let records = Records { all: self.cells.iter().filter_map(found).collect() };
        for &experiment in &self.experiments {
            let of = records.of(experiment);
            write(&format!("{}.csv", experiment.name()), &tables::runs(&of))?;
            if experiment.is_trace() {
                write(&format!("{}-traces.csv", experiment.name()), &tables::traces(&of))?;
            }
        }
        write_atomically(&self.folder.join(machine::FILE), |w| {
            serde_json::to_writer_pretty(&mut *w, &self.provenance)?;
            w.write_all(b"\n")
        })?;
        let verdicts = claims::verdicts(&records);
        write("claims.csv", &findings::csv(&verdicts))?;
        write("claims.md", &findings::markdown(&self.provenance.warnings(), &verdicts))?;
        let page = contents::page(&records, &self.experiments, &self.provenance, verdicts);
        let path = self.folder.join("index.html");
        robust_mdp_page::write(&path, &page)?;
        robust_mdp_page::write_figures(&self.folder.join("figures"), &page)?;
        Ok((path, records.all.len()))
    }
}
