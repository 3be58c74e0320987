//! The page "Which method to use when": tables and the sentences about them, all computed from the
//! results of a run.

mod advice;
mod first_order;
mod interior_point;
mod quotient;
mod scale;
mod solves;

use std::path::Path;

use crate::machine::Provenance;
use crate::record::Record;

/// Where the results lie and how they were made.
pub(crate) struct Source {
    folder: String,
    page: String,
    quick: bool,
}

impl Source {
    pub(crate) fn new(folder: &Path, made: &Provenance, page: &Path) -> Source {
        Source { folder: shown(folder), page: shown(page), quick: made.quick }
    }

    /// The line under a table: the folder and the command that fills it.
    fn of(&self, part: &str) -> String {
        let quick = if self.quick { " --quick" } else { "" };
        let folder = &self.folder;
        format!(
            "\nResults: `{folder}`, part `{part}`; made by `{RUN}{quick} --only {part}/ -o {folder}`.\n"
        )
    }
}

const RUN: &str = "cargo run --release -p robust-mdp-bench --";

/// A path as others can use it: from the current folder, or else only its name.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path = path.strip_prefix(here).unwrap_or(path);
    let name = path.file_name().map(Path::new).unwrap_or(path);
    if path.is_absolute() { name } else { path }.display().to_string()
}

/// The whole page.
pub(crate) fn page(records: &[Record], made: &Provenance, source: &Source) -> String {
    let of = |suite: &str| -> Vec<&Record> {
        records.iter().filter(|r| r.suite == suite && r.case.radius > 0.0).collect()
    };
    let (solve, paper, scale) = (of("solve"), of("paper"), of("scale"));
    let Source { folder, page, quick } = source;
    let mut text = format!(
        "# Which method to use when\n\nNumbers and counts on this page come from `{folder}` by \
         `{RUN} --render -o {folder} --methods-page {page}`; edit the generator, not the page. \
         What the regimes and sets are is in `bench/README.md`. {}; {} cores; {}; {}.\n",
        made.date, made.machine.cores, made.machine.cpu, made.machine.instruction_set
    );
    if *quick {
        text +=
            "\n**These are numbers of a quick run: tiny models, few repeats. They mean little.**\n";
    }
    text += &advice::section(&solve, &paper, &scale);
    text += &solves::section(&solve, source);
    text += &first_order::section(&solve, &paper, source);
    text += &interior_point::section(&paper, source);
    text + &scale::section(&scale, source)
}

fn is_banded(record: &Record) -> bool {
    record.case.instance.band.is_some()
}
