//! `rmdp evaluate`: bounds of the worst-case and nominal value of a given policy.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;

use robust_mdp::Error;
use robust_mdp::io::read_policy;

use crate::args;
use crate::failure::{Ending, Failure};
use crate::interrupt;
use crate::model::ReadArgs;
use crate::output::{self, Losses, Sink};
use crate::render::evaluation::{Heading, page};
use crate::render::solution::Asked;
use crate::result::EvaluateReport;
use crate::set::SetArgs;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Model file; - is the standard input
    model: PathBuf,
    /// Policy: a table state,action,probability; actions left out have probability 0
    #[arg(long, value_name = "CSV")]
    policy: PathBuf,
    #[command(flatten)]
    reading: ReadArgs,
    #[command(flatten)]
    set: SetArgs,
    #[command(flatten)]
    rest: Rest,
}

/// Precision and output.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
struct Rest {
    /// Stop when upper − lower ≤ ε in every state [default: 1e-7 ×
    /// (largest − least cost) / (1 − λ), seven digits of the range of values]
    #[arg(long, value_name = "ε", value_parser = args::positive, allow_hyphen_values = true)]
    gap: Option<f64>,
    /// Threads; the answer does not depend on their number [default: all cores]
    #[arg(long, value_name = "N", value_parser = args::threads, allow_hyphen_values = true)]
    threads: Option<usize>,
    /// Write the result as JSON; - is the standard output
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    json: Option<Sink>,
    /// Show all states, not only the first 20
    #[arg(long)]
    all_states: bool,
    #[arg(long, short, help = args::QUIET)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  rmdp generate machine -o m.json
  rmdp solve m.json --radius 0.01 --policy policy.csv
  rmdp evaluate m.json --policy policy.csv --radius 0.02  # the same policy, a larger set";

impl Args {
    /// Why there is no policy; a file of another kind is explained badly by its first line.
    fn unread(&self, error: Error) -> Failure {
        let staged = File::open(&self.policy).is_ok_and(|file| {
            let mut header = String::new();
            let read = BufReader::new(file).take(1 << 10).read_line(&mut header);
            read.is_ok() && header.split(',').any(|name| name.trim() == "step")
        });
        if staged {
            let path = self.policy.display();
            return Failure::usage(format!(
                "{path}: a policy for each step of a finite horizon, expected one for all time"
            ));
        }
        let table = self.policy.extension().is_none_or(|ending| ending == "csv");
        match error {
            Error::Parse { .. } if !table => Failure::input(error).hint(
                "--policy is a table state,action,probability, as `rmdp solve --policy` writes it",
            ),
            _ => Failure::input(error),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Ending, Failure> {
    args.set.check(false)?;
    let rest = &args.rest;
    output::check_page(rest.all_states, rest.json.as_ref(), rest.quiet)?;
    let file = rest.json.as_ref().and_then(Sink::file).map(|path| ("--json", path));
    output::check(file, &[&args.model, &args.policy])?;
    let source = args.reading.read(&args.model)?;
    let model = &source.model;
    if model.discount() == 1.0 {
        return Err(Failure::usage(
            "the discount factor is 1, and `rmdp evaluate` is about discounted costs: expected --discount below 1",
        ));
    }
    let chosen = args.set.build(model)?;
    let policy = read_policy(&args.policy, model).map_err(|e| args.unread(e))?;
    let interrupt = interrupt::listen(rest.quiet)?;
    let evaluated =
        robust_mdp::evaluate(model, &chosen.set, &policy, rest.gap, rest.threads, interrupt)
            .map_err(Failure::input)?;
    let mut warnings = source.warnings;
    warnings.extend(chosen.set.vacuity(model));
    let mut losses = Losses::default();
    if let Some(sink) = &rest.json {
        let report = EvaluateReport::new(model, &chosen.set, &evaluated, &warnings);
        losses.note(sink.write_json(&report));
    }
    output::warn(&warnings, rest.quiet);
    let heading = Heading {
        name: source.name,
        policy: args.policy.display().to_string(),
        set: chosen.describe(),
        distance: chosen.set.distance,
        asked: Asked::by(rest.gap),
    };
    let text = page(model, heading, &evaluated, rest.all_states);
    losses.note(output::tell(&text, rest.json == Some(Sink::Stdout), rest.quiet));
    Ok(losses.end(evaluated.status.into()))
}
