//! `rmdp verify`: whether a certificate proves what it claims about a model.

use std::path::PathBuf;

use robust_mdp::{Certificate, Error, Rejection, Verified};
use robust_mdp_measure::table::Table;
use robust_mdp_page::number::{gap_text, rounded_down, rounded_up};

use crate::args;
use crate::failure::{Ending, Failure};
use crate::method;
use crate::model::{NamedModel, ReadArgs};
use crate::output::{self, Losses, Sink};
use crate::question::Question;
use crate::render::solution::{STATE_NAME, between, start, table_decimals};
use crate::render::{SHOWN, facts, left_out, objective, shown_name, sizes};
use crate::result::VerifyReport;
use crate::set::{ChosenSet, SetArgs};

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Model file; - is the standard input
    model: PathBuf,
    /// Certificate, as `rmdp solve --certificate` writes it
    certificate: PathBuf,
    #[command(flatten)]
    reading: ReadArgs,
    #[command(flatten)]
    set: SetArgs,
    #[command(flatten)]
    rest: Rest,
}

/// Output.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
struct Rest {
    /// Threads; the answer does not depend on their number [default: all cores]
    #[arg(long, value_name = "N", value_parser = args::threads, allow_hyphen_values = true)]
    threads: Option<usize>,
    /// Write what is proved as JSON; - is the standard output
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    json: Option<Sink>,
    /// Show all states, not only the first 20
    #[arg(long)]
    all_states: bool,
    #[arg(long, short, help = args::QUIET)]
    quiet: bool,
}

const EXAMPLES: &str = "\
The certificate says which set it is about; with --radius or --radius-file (and --set,
--rectangular, --support as in `rmdp solve`), it must be this one.

Examples:
  rmdp generate machine -o m.json
  rmdp solve m.json --radius 0.01 --certificate c.cert
  rmdp verify m.json c.cert                  # what is proved, about the set in the certificate
  rmdp verify m.json c.cert --radius 0.01    # about this set and no other

Exit codes: 0 the certificate holds; 4 it does not, or is for something else; 2 bad usage or bad
input; 1 anything else.";

pub(crate) fn run(args: &Args) -> Result<Ending, Failure> {
    let rest = &args.rest;
    output::check_page(rest.all_states, rest.json.as_ref(), rest.quiet)?;
    let file = rest.json.as_ref().and_then(Sink::file).map(|path| ("--json", path));
    output::check(file, &[&args.model, &args.certificate])?;
    let source = args.reading.read_for_proof(&args.model)?;
    let model = &source.model;
    let certificate = Certificate::read(&args.certificate, model).map_err(unread)?;
    if let Some(expected) = args.set.if_given(model)? {
        certificate.expect_set(&expected).map_err(|e| Failure::rejected(&e))?;
    }
    let proved = robust_mdp::verify(model, &certificate, rest.threads)
        .map_err(|rejection| Failure::rejected(&rejection))?;
    let mut losses = Losses::default();
    if let Some(sink) = &rest.json {
        losses.note(sink.write_json(&VerifyReport::new(model, &certificate, &proved)));
    }
    output::warn(&source.warnings, rest.quiet);
    let text = page(&source, certificate, &proved, rest.all_states);
    losses.note(output::tell(&text, rest.json == Some(Sink::Stdout), rest.quiet));
    Ok(losses.end(Ending::Done))
}

/// A certificate for another model is one that does not hold; a damaged file is bad input.
pub(crate) fn unread(error: Error) -> Failure {
    match &error {
        Error::Certificate { source, .. } if matches!(**source, Rejection::Other { .. }) => {
            Failure::rejected(source)
        }
        _ => Failure::input(error),
    }
}

fn page(
    source: &NamedModel,
    certificate: Certificate,
    proved: &Verified,
    all_states: bool,
) -> String {
    let model = &source.model;
    let found = method::spoken(certificate.method, certificate.oracle);
    let distance = certificate.set.distance;
    let question = Question::of(&certificate);
    let set = ChosenSet::from(certificate.set);
    let header = facts(&[
        ("model", format!("{} ({})", source.name, sizes(model))),
        ("objective", objective(model, question, distance)),
        ("set", set.describe()),
        ("method", found),
    ]);
    let digits = table_decimals(proved.gap, &[&proved.lower, &proved.upper]);
    let result = facts(&[
        ("status", "proved".into()),
        ("value", format!("{} {}", between(proved.initial, digits), start(model))),
        ("gap", format!("at most {} in every state", gap_text(proved.gap))),
    ]);
    let mut table = Table::new(&["state", "lower", "upper"]);
    let shown = if all_states { model.states() } else { model.states().min(SHOWN) };
    for s in 0..shown {
        table.row([
            shown_name(&model.state_name(s), STATE_NAME),
            rounded_down(proved.lower[s], digits),
            rounded_up(proved.upper[s], digits),
        ]);
    }
    let rest = left_out(model.states(), shown, "--json writes all of them");
    format!("{header}\n{result}\n{}{rest}", table.text(1))
}
