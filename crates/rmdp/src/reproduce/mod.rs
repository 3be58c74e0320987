//! `rmdp reproduce`: the paper's experiments, run again, with today's methods beside them.
//!
//! A plan lists cells; each finished cell is a line of the journal; figures, tables and verdicts are
//! made from the journal alone, so that a run can be interrupted and gone on with.

mod arrangement;
mod cell;
mod claims;
mod contents;
mod figures;
mod findings;
mod journal;
mod load;
mod machine;
mod measure;
mod plan;
mod problem;
mod progress;
mod runner;
mod select;
mod solver;
mod statistics;
mod tables;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use robust_mdp::io::write_atomically;

use self::cell::{Cell, Experiment, Record};
use self::journal::Journal;
use self::machine::Machine;
use self::plan::Plan;
use self::runner::Pace;
use self::select::Records;
use crate::args;
use crate::failure::{Ending, Failure};
use crate::interrupt;
use crate::output;
use crate::page;
use crate::render::number::time_text;

/// Reads the bytes of a journal; says the line and what is wrong with it.
pub(crate) fn check_journal(bytes: &[u8]) -> Result<(), (usize, String)> {
    journal::read(bytes).map(drop)
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Experiments by name, or all; --list shows them
    #[arg(value_name = "NAME", required_unless_present = "list")]
    names: Vec<String>,
    /// Folder for records, tables, figures and the page; a run that is there is gone on with
    #[arg(long, short, value_name = "DIR", required_unless_present = "list")]
    output: Option<PathBuf>,
    /// The paper's sizes and beyond, and 10 seeds: a night, see --list --full
    #[arg(long)]
    full: bool,
    /// Random instances of every kind [default: 10 where the paper averages, else 3; with --full 10]
    #[arg(long, value_name = "N", value_parser = args::count, allow_hyphen_values = true)]
    seeds: Option<u64>,
    /// Numbers of states, at least 4, instead of each experiment's own
    #[arg(long, value_name = "S,S,…", value_delimiter = ',', value_parser = states)]
    sizes: Option<Vec<usize>>,
    /// Threads of a run; only times depend on it
    #[arg(long, value_name = "N", default_value = "1", value_parser = args::threads)]
    #[arg(allow_hyphen_values = true)]
    threads: usize,
    /// Runs side by side where no time is compared; only times depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = args::threads, allow_hyphen_values = true)]
    jobs: Option<usize>,
    /// Only cells whose description has all of these words
    #[arg(long, value_name = "WORD", hide = true)]
    only: Vec<String>,
    /// Say which experiments there are, and about how long they take
    #[arg(long)]
    list: bool,
    #[arg(long, short, help = args::QUIET)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  rmdp reproduce all -o results            # every experiment, quick sizes: under ten minutes
  rmdp reproduce setups weights -o results
  rmdp reproduce all -o results --full     # the paper's sizes and beyond: a night
  rmdp reproduce --list

The page is DIR/index.html. A run that was interrupted goes on where it was when the same command
is given again. Exit codes: 0 all done; 3 interrupted; 2 bad usage; 1 anything else.";

/// A number of states that every family has.
fn states(text: &str) -> Result<usize, String> {
    match args::size(text) {
        Ok(n) if (4..=2_000).contains(&n) => Ok(n),
        _ => Err("expected a whole number from 4 to 2000".into()),
    }
}

pub(crate) fn run(args: &Args) -> Result<Ending, Failure> {
    let experiments = chosen(&args.names)?;
    if args.list {
        output::to_stdout(list(args).as_bytes())?;
        return Ok(Ending::Done);
    }
    let Some(folder) = args.output.as_deref() else {
        return Err(Failure::usage("-o names the folder to write to"));
    };
    if folder.exists() && !folder.is_dir() {
        let folder = folder.display();
        return Err(Failure::usage(format!("-o {folder}: is a file, expected a folder")));
    }
    fs::create_dir_all(folder).map_err(|e| Failure::write(folder, e))?;
    let cells: Vec<Cell> = experiments.iter().flat_map(|&e| args.cells(e)).collect();
    let mut journal = Journal::open(folder)?;
    let interrupt = interrupt::listen_saying(args.quiet, "interrupted: ending this cell\n")?;
    let machine = Machine::here(args.command(), args.seeds(&experiments), args.threads);
    let pace = Pace { threads: args.threads, jobs: args.jobs() };
    let done = runner::run(&cells, &mut journal, pace, interrupt, args.quiet)?;
    // Records that were all there were made where and how it is written beside them.
    let machine = match (done.before, Machine::read(folder)) {
        (before, Some(made)) if before == cells.len() => made,
        (0, _) => machine.after(done.load_by_others, None),
        (_, earlier) => machine.after(done.load_by_others, earlier),
    };
    let all: Vec<&Record> = cells.iter().filter_map(|cell| journal.get(cell)).collect();
    let count = all.len();
    publish(folder, &Records { all }, &experiments, &machine)?;
    let told = tell(folder, count, cells.len(), done.before);
    if done.interrupted {
        if !args.quiet {
            let hint = "the page shows what is there; the same command again goes on\n";
            output::to_stderr(&format!("{told}{hint}"));
        }
        return Ok(Ending::Early);
    }
    output::note(&told, false, args.quiet)?;
    Ok(Ending::Done)
}

fn tell(folder: &Path, done: usize, all: usize, before: usize) -> String {
    let page = folder.join("index.html");
    let skipped = match before {
        0 => String::new(),
        n => format!(" ({n} of them by an earlier run)"),
    };
    format!("{done} of {all} cells are done{skipped}\nwrote {}\n", page.display())
}

impl Args {
    fn plan(&self) -> Plan {
        let sizes = self.sizes.clone().map(|mut sizes| {
            sizes.sort_unstable();
            sizes.dedup();
            sizes
        });
        Plan { full: self.full, seeds: self.seeds, sizes }
    }

    fn cells(&self, experiment: Experiment) -> Vec<Cell> {
        let mut cells = self.plan().cells(experiment);
        cells.retain(|cell| {
            let key = cell.key();
            self.only.iter().all(|word| key.contains(word))
        });
        cells
    }

    fn jobs(&self) -> usize {
        self.jobs.unwrap_or_else(robust_mdp::machine::cores)
    }

    fn seeds(&self, experiments: &[Experiment]) -> BTreeMap<String, u64> {
        let plan = self.plan();
        experiments.iter().map(|&e| (e.name().to_owned(), plan.seeds(e))).collect()
    }

    /// The command, as it can be given again anywhere.
    fn command(&self) -> String {
        let mut text = format!("rmdp reproduce {} -o DIR", self.names.join(" "));
        if self.full {
            text += " --full";
        }
        if let Some(seeds) = self.seeds {
            text += &format!(" --seeds {seeds}");
        }
        if let Some(sizes) = &self.sizes {
            let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
            text += &format!(" --sizes {}", sizes.join(","));
        }
        if self.threads != 1 {
            text += &format!(" --threads {}", self.threads);
        }
        text
    }
}

/// The experiments of these names, each once, in the paper's order.
fn chosen(names: &[String]) -> Result<Vec<Experiment>, Failure> {
    let known = || Experiment::ALL.map(Experiment::name).join(", ");
    for name in names {
        if name != "all" && Experiment::ALL.iter().all(|e| e.name() != name) {
            return Err(Failure::usage(format!(
                "there is no experiment {name}, expected all or some of {}",
                known()
            )));
        }
    }
    let named = |e: &Experiment| names.iter().any(|n| n == "all" || n == e.name());
    Ok(Experiment::ALL.into_iter().filter(named).collect())
}

fn list(args: &Args) -> String {
    let mut total = 0.0;
    let line = |e: Experiment| {
        let cells = args.cells(e);
        let seconds = progress::seconds(&cells, args.jobs());
        total += seconds;
        let (name, count, time) = (e.name(), cells.len(), time_text(seconds));
        format!("{name:<9} {count:>5} cells  about {time:<9}  {}\n", e.title())
    };
    let lines = Experiment::ALL.map(line).concat();
    format!("{lines}all together about {}, by recorded runs\n", time_text(total))
}

/// Writes tables, machine and page from the records.
fn publish(
    folder: &Path,
    records: &Records<'_>,
    experiments: &[Experiment],
    machine: &Machine,
) -> Result<(), Failure> {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        write_atomically(&path, |w| w.write_all(text.as_bytes())).map_err(Failure::output)
    };
    for &experiment in experiments {
        let of = records.of(experiment);
        write(&format!("{}.csv", experiment.name()), &tables::runs(&of))?;
        if experiment.is_trace() {
            write(&format!("{}-traces.csv", experiment.name()), &tables::traces(&of))?;
        }
    }
    let text = serde_json::to_string_pretty(machine)
        .map_err(|e| Failure::write(&folder.join(machine::FILE), e.into()))?;
    write(machine::FILE, &(text + "\n"))?;
    let verdicts = claims::verdicts(records);
    write("claims.csv", &findings::csv(&verdicts))?;
    write("claims.md", &findings::markdown(&machine.warnings(), &verdicts))?;
    let page = contents::page(records, experiments, machine, verdicts);
    page::write(&folder.join("index.html"), &page)?;
    let figures = folder.join("figures");
    std::fs::create_dir_all(&figures).map_err(|e| Failure::write(&figures, e))?;
    page::write_figures(&figures, &page)?;
    Ok(())
}
