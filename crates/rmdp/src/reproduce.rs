//! `rmdp reproduce`: the paper's experiments, run again, with today's methods beside them.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use robust_mdp_measure::{journal, machine};
use robust_mdp_page::number::time_text;
use robust_mdp_reproduce::{Error, Experiment, Pace, Plan, Progress, Reproduction};

use crate::args;
use crate::failure::{Ending, Failure, json_in_words};
use crate::interrupt;
use crate::output;

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
    let pace = Pace { threads: args.threads, jobs: args.jobs() };
    let mut run = Reproduction::open(folder, &experiments, &args.plan(), pace, args.command())
        .map_err(failure)?;
    let interrupt = interrupt::listen_saying(args.quiet, "interrupted: ending this cell\n")?;
    let (before, all) = (run.before(), run.cells());
    if before > 0 && !args.quiet {
        output::to_stderr(&format!("{before} of {all} cells are in the journal and are skipped\n"));
    }
    let mut shown = Shown::new(all - before, args.quiet);
    run.measure(interrupt, &mut |progress| shown.update(progress)).map_err(failure)?;
    shown.finish();
    let interrupted = interrupt.is_raised();
    let (page, done) = run.publish().map_err(failure)?;
    let skipped = match before {
        0 => String::new(),
        n => format!(" ({n} of them by an earlier run)"),
    };
    let told = format!("{done} of {all} cells are done{skipped}\nwrote {}\n", page.display());
    if interrupted {
        if !args.quiet {
            let hint = "the page shows what is there; the same command again goes on\n";
            output::to_stderr(&format!("{told}{hint}"));
        }
        return Ok(Ending::Early);
    }
    output::note(&told, false, args.quiet)?;
    Ok(Ending::Done)
}

fn failure(error: Error) -> Failure {
    let elsewhere = "choose another folder with -o";
    match error {
        Error::Output(error) => Failure::output(error),
        Error::Journal(journal::Error::Io(path, source)) => Failure::write(&path, source),
        Error::Journal(journal::Error::NotAFile(path)) => {
            Failure::usage(format!("{}: expected a plain file", path.display()))
        }
        Error::Journal(journal::Error::Busy(path)) => {
            let folder = path.parent().unwrap_or(&path).display();
            Failure::usage(format!("-o {folder}: another run of reproduce is at work there"))
                .hint(format!("wait until it has ended, or {elsewhere}"))
        }
        Error::Journal(journal::Error::Line(path, (line, source))) => {
            let (path, error) = (path.display(), json_in_words(&source));
            let expected = "expected the record of a finished cell";
            Failure::usage(format!("{path}, line {line}: {expected}: {error}"))
                .hint(format!("remove the line, or {elsewhere}"))
        }
    }
}

impl Args {
    fn plan(&self) -> Plan {
        let sizes = self.sizes.clone().map(|mut sizes| {
            sizes.sort_unstable();
            sizes.dedup();
            sizes
        });
        Plan { full: self.full, seeds: self.seeds, sizes, only: self.only.clone() }
    }

    fn jobs(&self) -> usize {
        self.jobs.unwrap_or_else(machine::cores)
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
        let (count, seconds) = args.plan().expected(e, args.jobs());
        total += seconds;
        let (name, time) = (e.name(), time_text(seconds));
        format!("{name:<9} {count:>5} cells  about {time:<9}  {}\n", e.title())
    };
    let lines = Experiment::ALL.map(line).concat();
    format!("{lines}all together about {}, by recorded runs\n", time_text(total))
}

/// Seconds between two lines where there is no terminal.
const LINE_EVERY: f64 = 10.0;

/// How far a run is: a bar on a terminal, otherwise a line now and then.
struct Shown {
    bar: Option<ProgressBar>,
    started: Instant,
    next_line: f64,
}

impl Shown {
    fn new(cells: usize, quiet: bool) -> Shown {
        let bar = (!quiet && io::stderr().is_terminal()).then(|| {
            let style = ProgressStyle::with_template("{spinner} {elapsed} [{bar:24}] {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("=> ");
            let bar = ProgressBar::new(cells as u64).with_style(style);
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        let next_line = if quiet { f64::INFINITY } else { LINE_EVERY };
        Shown { bar, started: Instant::now(), next_line }
    }

    fn update(&mut self, progress: &Progress) {
        let Progress { experiment, done, all, seconds_left } = progress;
        let (name, left) = (experiment.name(), time_text(*seconds_left));
        let sentence = format!("{name}: cell {done} of {all}, about {left} left");
        let seconds = self.started.elapsed().as_secs_f64();
        if let Some(bar) = &self.bar {
            bar.set_position(*done as u64);
            bar.set_message(sentence);
        } else if seconds >= self.next_line {
            output::to_stderr(&format!("{sentence}\n"));
            self.next_line = seconds + LINE_EVERY;
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
