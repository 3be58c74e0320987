//! `rmdp convert`: a model in another format, and what gets lost on the way.

use std::path::PathBuf;

use robust_mdp::Model;
use robust_mdp::io::{Format, write_model};
use robust_mdp::model::NominalRow;
use robust_mdp_page::number::grouped;

use crate::args;
use crate::failure::{Ending, Failure};
use crate::model::{FORMATS, ReadArgs};
use crate::output;
use crate::render::sizes;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Model to read
    #[arg(value_name = "IN")]
    from_file: PathBuf,
    /// Model to write
    #[arg(value_name = "OUT")]
    to_file: PathBuf,
    /// Format of IN [default: by its ending]
    #[arg(long, value_name = "FORMAT", value_parser = FORMATS)]
    from: Option<Format>,
    /// Format of OUT [default: by its ending]
    #[arg(long, value_name = "FORMAT", value_parser = FORMATS)]
    to: Option<Format>,
    /// Discount factor in [0, 1); overrides the model's, and a CSV model needs it
    #[arg(long, value_name = "λ", value_parser = args::discount, allow_hyphen_values = true)]
    discount: Option<f64>,
    /// Cost or reward of next states that are not listed, in place of their action's own; what
    /// listed transitions cost stays the same; refused where a CSV file would not keep it
    #[arg(long, value_name = "C", value_parser = args::finite, allow_hyphen_values = true)]
    unlisted_cost: Option<f64>,
    #[arg(long, short, help = args::QUIET)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  rmdp convert m.csv m.json --discount 0.95
  rmdp convert m.json m.npz
  rmdp convert m.csv m.json --discount 0.95 --unlisted-cost 100
  rmdp convert model.txt m.json --from csv --discount 0.9";

pub(crate) fn run(args: &Args) -> Result<Ending, Failure> {
    let to = match args.to {
        Some(format) => format,
        None => Format::of(&args.to_file)
            .map_err(|e| Failure::input(e).hint("--to json, csv or npz names it"))?,
    };
    output::check([("OUT", args.to_file.as_path())], &[])?;
    if let (Some(discount), Format::Csv) = (args.discount, to) {
        return Err(Failure::usage(format!(
            "--discount {discount} has no place in a .csv file, expected none"
        ))
        .hint("give it when the .csv file is read, as in `rmdp solve`"));
    }
    let reading = ReadArgs { format: args.from, discount: args.discount };
    let read = match to {
        Format::Csv => reading.read_undiscounted(&args.from_file).map(|(source, _)| source),
        Format::Json | Format::Npz => reading.read(&args.from_file),
    };
    let unknown = args.from.is_none() && Format::of(&args.from_file).is_err();
    let source = read.map_err(|failure| match unknown {
        true => failure.hint("--from json, csv or npz names it"),
        false => failure,
    })?;
    let model = match args.unlisted_cost {
        Some(cost) => &source.model.with_unlisted_cost(cost).map_err(Failure::input)?,
        None => &source.model,
    };
    if let (Some(cost), Format::Csv) = (args.unlisted_cost, to)
        && !is_kept_in_csv(model)
    {
        return Err(Failure::usage(format!(
            "--unlisted-cost {cost} has no place in a .csv file, which holds what a transition costs \
             in all: expected 0, or a .json or .npz file"
        )));
    }
    let lost = write_model(model, &args.to_file, Some(to)).map_err(Failure::output)?;
    output::warn(&source.warnings, args.quiet);
    output::warn(&lost, args.quiet);
    let text = format!(
        "wrote {}: {}, {} transitions\n",
        args.to_file.display(),
        sizes(model),
        grouped(model.positive_transitions() as u64)
    );
    output::note(&text, false, args.quiet)?;
    Ok(Ending::Done)
}

/// Whether a CSV file tells what unlisted next states cost. That is what its lines of an action cost if
/// all cost the same, and otherwise 0.
fn is_kept_in_csv(model: &Model) -> bool {
    let lists_all = |row: NominalRow<'_>| {
        let mut next: Vec<usize> = row.listed().map(|(next, ..)| next).collect();
        next.dedup();
        next.len() == model.states()
    };
    (0..model.rows()).map(|r| model.row(r)).all(|row| {
        row.cost == 0.0 || row.listed().all(|(.., further)| further == 0.0) || lists_all(row)
    })
}
