//! `rmdp evaluate`: bounds of the worst-case and nominal value of a given policy.

use std::path::PathBuf;

use robust_mdp::io::read_policy;

use crate::args;
use crate::failure::{Ending, Failure};
use crate::interrupt;
use crate::model::Reading;
use crate::output::{self, Sink};
use crate::render::evaluation::{Heading, page};
use crate::render::solution::Asked;
use crate::result::EvaluateReport;
use crate::set::SetArgs;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Model file (.json, .csv or .npz)
    model: PathBuf,
    /// Policy: a table state,action,probability; actions left out have probability 0
    #[arg(long, value_name = "CSV")]
    policy: PathBuf,
    #[command(flatten)]
    reading: Reading,
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
    /// No warnings on the standard error
    #[arg(long, short)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  rmdp generate machine -o m.json
  rmdp solve m.json --radius 0.01 --policy policy.csv
  rmdp evaluate m.json --policy policy.csv --radius 0.02  # the same policy, a larger set";

pub(crate) fn run(args: &Args) -> Result<Ending, Failure> {
    args.set.check(false)?;
    let rest = &args.rest;
    let file = rest.json.as_ref().and_then(Sink::file).map(|path| ("--json", path));
    output::check(file, &[&args.model, &args.policy])?;
    let interrupt = interrupt::listen(rest.quiet)?;
    let source = args.reading.read(&args.model)?;
    let model = &source.model;
    let chosen = args.set.build(model)?;
    let policy = read_policy(&args.policy, model).map_err(Failure::input)?;
    let evaluated =
        robust_mdp::evaluate(model, &chosen.set, &policy, rest.gap, rest.threads, interrupt)
            .map_err(Failure::input)?;
    let mut warnings = source.warnings;
    warnings.extend(chosen.set.vacuity(model));
    if let Some(sink) = &rest.json {
        sink.write_json(&EvaluateReport::new(model, &chosen.set, &evaluated, &warnings))?;
    }
    output::warn(&warnings, rest.quiet);
    let heading = Heading {
        name: source.name,
        policy: args.policy.display().to_string(),
        set: chosen.describe(),
        asked: Asked::by(rest.gap),
    };
    let text = page(model, heading, &evaluated, rest.all_states);
    output::tell(&text, rest.json == Some(Sink::Stdout), rest.quiet)?;
    Ok(evaluated.status.into())
}
