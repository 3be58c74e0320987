//! `rmdp solve`: a policy whose worst case is best, with certified bounds.

use std::path::{Path, PathBuf};
use std::time::Duration;

use robust_mdp::io::{Format, write_kernel, write_policy, write_staged_policy};
use robust_mdp::sets::UncertaintySet;
use robust_mdp::{
    Criterion, Direction, Error, Interrupt, Model, Options, Solution, Status, Stop,
    solve_checkpointed, solve_observed, worst_kernel_rows,
};

use crate::args;
use crate::checkpoint::{CheckpointArgs, CheckpointFile};
use crate::failure::{Ending, Failure};
use crate::interrupt;
use crate::method::{self, MethodArgs};
use crate::model::{NamedModel, ReadArgs};
use crate::output::{self, Losses, Sink};
use crate::question::{Question, QuestionArgs};
use crate::randomised;
use crate::render::solution::{Asked, Heading, page};
use crate::result::SolveReport;
use crate::set::{ChosenSet, SetArgs};
use crate::watch::Watch;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Model file; - is the standard input [default: the embedded machine-replacement example]
    model: Option<PathBuf>,
    #[command(flatten)]
    reading: ReadArgs,
    #[command(flatten)]
    set: SetArgs,
    #[command(flatten)]
    question: QuestionArgs,
    #[command(flatten)]
    method: MethodArgs,
    #[command(flatten)]
    limits: StopArgs,
    #[command(flatten)]
    checkpoints: CheckpointArgs,
    #[command(flatten)]
    outputs: Outputs,
}

const EXAMPLES: &str = "\
Examples:
  rmdp solve                                         # the embedded example
  rmdp generate machine -o m.json --radii radii.csv  # a model for the lines below
  rmdp solve m.json --radius 0.01                    # an ellipsoid, as in the paper
  rmdp solve m.json --set kl --radius 0.1 --gap 1e-4 --json out.json
  rmdp solve m.json --radius-file radii.csv --policy policy.csv
  rmdp solve m.json --set none                       # the nominal problem
  rmdp solve m.json --radius 0.01 --objective average        # the long run, without a discount
  rmdp solve m.json --radius 0.01 --objective finite --horizon 12 --policy policy.csv
  rmdp solve m.json --radius 0.01 --checkpoint m.checkpoint  # can be killed and run again
  rmdp solve m.json --radius 0.01 --certificate c.cert && rmdp verify m.json c.cert

Exit codes: 0 solved to the asked gap; 2 bad usage or bad input; 3 stopped early (a limit,
Ctrl-C) with a certified answer written; 1 anything else, such as a file that could not be
written (the answer is printed all the same).";

/// When to stop.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Limits")]
struct StopArgs {
    /// Stop when upper − lower ≤ ε in every state [default: 1e-7 ×
    /// (largest − least cost) / (1 − λ), seven digits of the range of values]
    #[arg(long, value_name = "ε", value_parser = args::positive, allow_hyphen_values = true)]
    gap: Option<f64>,
    /// Stop after this many sweeps (epochs of FOM-VI) [default: none]
    #[arg(long, value_name = "N", value_parser = args::count, allow_hyphen_values = true)]
    max_sweeps: Option<u64>,
    /// Stop after this time [default: none]
    #[arg(long, value_name = "SECONDS", value_parser = args::positive)]
    #[arg(allow_hyphen_values = true)]
    time_limit: Option<f64>,
    /// Threads; the answer does not depend on their number [default: all cores]
    #[arg(long, value_name = "N", value_parser = args::threads, allow_hyphen_values = true)]
    threads: Option<usize>,
    /// Changes nothing: nothing in a solve is random, and every seed gives the same answer
    #[arg(long, value_name = "N", value_parser = args::seed, allow_hyphen_values = true)]
    seed: Option<u64>,
}

/// What to write.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
struct Outputs {
    /// Write the result as JSON; - is the standard output
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    json: Option<Sink>,
    /// Write the policy as a table state,action,probability; of a finite horizon with a column step,
    /// from 0, before these
    #[arg(long, value_name = "CSV")]
    policy: Option<PathBuf>,
    /// Write the worst-case kernel of the policy, as .npz or .csv
    #[arg(long, value_name = "FILE")]
    kernel: Option<PathBuf>,
    /// Write a proof of the bounds that `rmdp verify` checks
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Verify the answer and print what is proved; without it, only where that costs under a tenth
    /// of the run
    #[arg(long)]
    certify: bool,
    /// Write one line of JSON a sweep, while the run goes on; with fom-vi also the gap of the epoch's
    /// output
    #[arg(long, value_name = "JSONL")]
    trace: Option<PathBuf>,
    /// Show all states, not only the first 20
    #[arg(long)]
    all_states: bool,
    #[arg(long, short, help = args::QUIET)]
    quiet: bool,
}

pub(crate) fn run(args: &Args) -> Result<Ending, Failure> {
    args.set.check(args.model.is_none())?;
    let question = args.question.question()?;
    args.check(question)?;
    args.method.check()?;
    args.outputs.check(args)?;
    let source = args.reading.read_for(question, args.model.as_ref())?;
    let chosen = args.set.build(&source.model)?;
    let options = question.options(args.options());
    // Until here there is nothing that would be lost.
    let interrupt = interrupt::listen(args.outputs.quiet)?;
    let (trace, goes_on) = (args.outputs.trace.as_deref(), args.checkpoints.resumes());
    let mut watch = Watch::new(args.outputs.quiet, question.horizon(), trace, goes_on)?;
    let mut checkpoints = args.checkpoints.file(args.outputs.quiet);
    let (model, set, watching) = (&source.model, &chosen.set, &mut watch);
    let solved = match &mut checkpoints {
        None => solve_observed(model, set, &options, watching, interrupt),
        Some(file) => solve_checkpointed(model, set, &options, watching, interrupt, file),
    };
    let watched = watch.finish();
    let mut solution = solved.map_err(|e| args.unsolved(e))?;
    let mut losses = Losses::default();
    let verified = args.certify(&source.model, &chosen.set, &mut solution, &mut losses);
    let randomised =
        randomised::solve(&source.model, &chosen.set, &options, question, &solution, interrupt);
    let randomised = randomised.and_then(|r| losses.note(r.map_err(Failure::input)));
    let found = Found { question, solution: &solution, randomised: randomised.as_ref(), verified };
    args.publish(&source, &chosen, &options, found, &mut losses);
    losses.note(watched);
    if let Some(file) = checkpoints {
        let written = losses.is_empty();
        losses.note(file.finish(solution.status, written));
    }
    Ok(losses.end(solution.status.into()))
}

/// An answer and what is known about it.
#[derive(Clone, Copy)]
pub(crate) struct Found<'a> {
    pub(crate) question: Question,
    pub(crate) solution: &'a Solution,
    /// The best policy of all, where a deterministic one was asked for and others may be better.
    pub(crate) randomised: Option<&'a Solution>,
    /// Whether the bounds were proved again by the verifier.
    pub(crate) verified: bool,
}

impl Args {
    /// Whether the question goes with the other flags.
    fn check(&self, question: Question) -> Result<(), Failure> {
        self.reading.check(question)?;
        let Outputs { kernel, trace, .. } = &self.outputs;
        let flags = question.flags();
        if question.direction == Direction::Best && self.set.is_certain() {
            let message = "--set none is the nominal kernel alone, expected no --direction best";
            return Err(Failure::usage(message));
        }
        let finite = question.horizon().is_some();
        let best = question.direction == Direction::Best;
        let refused = [
            (
                kernel.is_some(),
                finite || best,
                "--kernel is the worst case of one policy, the same at all times",
            ),
            (
                trace.is_some(),
                finite,
                "--trace is about bounds that meet sweep by sweep, and a finite horizon takes each step once",
            ),
            (
                self.checkpoints.checkpoint.is_some(),
                question.criterion != Criterion::Discounted,
                "--checkpoint is for discounted costs",
            ),
        ];
        match refused.iter().find(|(given, wrong, _)| *given && *wrong) {
            Some((.., what)) => Err(Failure::usage(format!("{what}: not available with {flags}"))),
            None => Ok(()),
        }
    }

    fn options(&self) -> Options {
        // A limit too long for the clock is none.
        let limit = |s: f64| Duration::try_from_secs_f64(s).ok();
        self.method.options(Options {
            stop: Stop {
                gap: self.limits.gap,
                max_sweeps: self.limits.max_sweeps.unwrap_or(u64::MAX),
                time_limit: self.limits.time_limit.and_then(limit),
            },
            threads: self.limits.threads,
            ..Options::default()
        })
    }

    /// Why there is no answer, and what would help.
    fn unsolved(&self, error: Error) -> Failure {
        match &self.checkpoints.checkpoint {
            Some(path) => CheckpointFile::explain(path, error),
            None => unsolved(error),
        }
    }

    /// Makes a certificate where asked for or cheap, and takes its bounds over; whether there is one.
    fn certify(
        &self,
        model: &Model,
        set: &UncertaintySet,
        solution: &mut Solution,
        losses: &mut Losses,
    ) -> bool {
        let Outputs { certificate, certify: asked, .. } = &self.outputs;
        let asked = *asked || certificate.is_some();
        let stopped = matches!(solution.status, Status::Interrupted | Status::TimeLimit);
        if !asked && (stopped || !solution.is_cheap_to_certify()) {
            return false;
        }
        let made = robust_mdp::certify(model, set, solution, self.limits.threads);
        // An answer without the certificate that was asked for is better than none.
        let made = match made {
            Err(_) if !asked => None,
            made => losses.note(made.map_err(Failure::input)),
        };
        let Some((made, proved)) = made else { return false };
        // What was certified stays so where nobody asked for more.
        if !asked && proved.gap > solution.target_gap {
            return false;
        }
        solution.adopt(proved);
        if let Some(path) = certificate {
            losses.note(made.write(path).map_err(Failure::output));
        }
        true
    }

    /// Files first, so that the answer is safe; then the page.
    fn publish(
        &self,
        source: &NamedModel,
        chosen: &ChosenSet,
        options: &Options,
        found: Found<'_>,
        losses: &mut Losses,
    ) {
        let Found { question, solution, .. } = found;
        let (model, set, outputs) = (&source.model, &chosen.set, &self.outputs);
        let warnings = [&source.warnings[..], &solution.warnings[..]].concat();
        if let Some(sink) = &outputs.json {
            let report = SolveReport::new(model, set, found, &warnings);
            losses.note(sink.write_json(&report));
        }
        if let Some(path) = &outputs.policy {
            let written = match question.horizon() {
                Some(_) => {
                    let policies = solution.stages.iter().map(|stage| &stage.policy[..]);
                    write_staged_policy(path, model, policies)
                }
                None => write_policy(path, model, &solution.policy),
            };
            losses.note(written.map_err(Failure::output));
        }
        if let Some(path) = &outputs.kernel {
            losses.note(save_kernel(path, model, set, solution, self.limits.threads));
        }
        output::warn(&warnings, outputs.quiet);
        let heading = Heading {
            name: source.name.clone(),
            set: chosen.describe(),
            distance: set.distance,
            method: method::describe(solution),
            settings: method::describe_settings(options, solution),
            asked: Asked::by(self.limits.gap),
        };
        let text = page(model, heading, found, outputs.all_states);
        losses.note(output::tell(&text, outputs.json == Some(Sink::Stdout), outputs.quiet));
    }
}

impl Outputs {
    fn check(&self, args: &Args) -> Result<(), Failure> {
        output::check_page(self.all_states, self.json.as_ref(), self.quiet)?;
        let kernel = self.kernel.as_deref();
        if let Some(path) = kernel.filter(|p| !is_kernel_file(p)) {
            let path = path.display();
            return Err(Failure::usage(format!(
                "--kernel {path}: a kernel is written as .csv or .npz"
            )));
        }
        let outputs = [
            ("--json", self.json.as_ref().and_then(Sink::file)),
            ("--policy", self.policy.as_deref()),
            ("--kernel", kernel),
            ("--certificate", self.certificate.as_deref()),
            ("--trace", self.trace.as_deref()),
            ("--checkpoint", args.checkpoints.checkpoint.as_deref()),
        ];
        let named = outputs.into_iter().filter_map(|(flag, path)| Some((flag, path?)));
        let set = &args.set;
        let inputs = [&args.model, &set.radius_file, &set.weights_file].into_iter().flatten();
        let inputs: Vec<&Path> = inputs.map(PathBuf::as_path).chain(set.data.files()).collect();
        output::check(named, &inputs)
    }
}

/// What helps where memory is short.
pub(crate) fn unsolved(error: Error) -> Failure {
    let too_large = matches!(error, Error::Memory { .. });
    let failure = Failure::input(error);
    match too_large {
        true => failure.hint(
            "the exact oracle (--method newton, vi and others) needs far less memory; so does \
             --support nominal, which keeps to the transitions of the model",
        ),
        false => failure,
    }
}

fn is_kernel_file(path: &Path) -> bool {
    let packed = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
    !packed && matches!(Format::of(path), Ok(Format::Csv | Format::Npz))
}

/// Writes the kernel that is worst for the policy at the middle of its bounds.
fn save_kernel(
    path: &Path,
    model: &Model,
    set: &UncertaintySet,
    solution: &Solution,
    threads: Option<usize>,
) -> Result<(), Failure> {
    // A run that was interrupted has a policy too; whoever cannot wait for its kernel interrupts again.
    // An average has relative values in place of values.
    let values = if solution.bias.is_empty() { &solution.values } else { &solution.bias };
    let policy = &solution.policy;
    let kernel = worst_kernel_rows(model, set, policy, values, threads, &Interrupt::new())
        .map_err(Failure::input)?;
    let Some(kernel) = kernel else { return Ok(()) };
    let mut row = |r: usize, entries: &mut Vec<(u32, f64)>| entries.extend(kernel.row(r));
    write_kernel(path, model, &mut row).map_err(Failure::output)
}
