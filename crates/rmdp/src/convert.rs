//! `rmdp convert`: a model in another format, and what gets lost on the way.

use std::path::PathBuf;

use robust_mdp::Model;
use robust_mdp::io::{Format, ModelFile, write_model_file, write_model_file_to};
use robust_mdp::model::NominalRow;
use robust_mdp_page::number::grouped;

use crate::args;
use crate::failure::{Ending, Failure};
use crate::model::{AskedArgs, NamedModel, ReadArgs, formats, is_standard, naming};
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
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    from: Option<Format>,
    /// Format of OUT [default: by its ending]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    to: Option<Format>,
    /// Discount factor in [0, 1]; overrides the file's; needed where IN has none and OUT holds one
    #[arg(long, value_name = "λ", value_parser = args::discount, allow_hyphen_values = true)]
    discount: Option<f64>,
    /// Cost or reward of next states that are not listed, in place of their action's own; what
    /// listed transitions cost stays the same; refused where a CSV or Parquet file would not keep it
    #[arg(long, value_name = "C", value_parser = args::finite, allow_hyphen_values = true)]
    unlisted_cost: Option<f64>,
    #[command(flatten)]
    asked: AskedArgs,
    #[arg(long, short, help = args::QUIET)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  rmdp convert m.csv m.json --discount 0.95
  rmdp convert m.json m.npz
  rmdp convert m.csv m.json --discount 0.95 --unlisted-cost 100
  rmdp convert m.tra m.json --discount 0.99 --reach goal
  rmdp convert model.dat m.json --from csv --discount 0.9
  zcat m.csv.gz | rmdp convert - - --from csv --to json --discount 0.9 | jq .states[0]";

pub(crate) fn run(args: &Args) -> Result<Ending, Failure> {
    let to = args.target()?;
    let source = args.source(to)?;
    let NamedModel { model, warnings, outcomes, .. } = source;
    let mut file = ModelFile::from((model, warnings));
    file.outcomes = outcomes;
    if let Some(cost) = args.unlisted_cost {
        file.model = file.model.with_unlisted_cost(cost).map_err(Failure::input)?;
        // They are about the transitions as they were.
        if file.outcomes.take().is_some() && ["csv", "parquet"].contains(&to.name()) {
            file.warnings.push("the outcomes are lost: --unlisted-cost changes transitions".into());
        }
    }
    let model = &file.model;
    if let Some(cost) = args.unlisted_cost.filter(|_| ["csv", "parquet"].contains(&to.name()))
        && !is_kept_in_table(model)
    {
        return Err(Failure::usage(format!(
            "--unlisted-cost {cost} has no place in a .{} file, which holds what a transition costs in \
             all: expected 0, or a .json or .npz file",
            to.name()
        )));
    }
    let standard = is_standard(&args.to_file);
    let lost = match standard {
        true => output::model_to_stdout(|w| write_model_file_to(&file, w, to))?,
        false => write_model_file(&file, &args.to_file, Some(to)).map_err(Failure::output)?,
    };
    output::warn(&file.warnings, args.quiet);
    output::warn(&lost, args.quiet);
    let text = format!(
        "wrote {}: {}, {} transitions\n",
        if standard { "to the standard output".into() } else { args.to_file.display().to_string() },
        sizes(model),
        grouped(model.positive_transitions() as u64)
    );
    output::note(&text, standard, args.quiet)?;
    Ok(Ending::Done)
}

impl Args {
    /// The format to write, once it is known that this makes sense.
    fn target(&self) -> Result<Format, Failure> {
        let to = match self.to {
            Some(format) => format,
            None if is_standard(&self.to_file) => {
                let message = "the standard output has no ending that would tell its format";
                return Err(Failure::usage(message).hint(naming("--to")));
            }
            None => {
                Format::of(&self.to_file).map_err(|e| Failure::input(e).hint(naming("--to")))?
            }
        };
        let file = Some(self.to_file.as_path()).filter(|path| !is_standard(path));
        output::check(file.map(|path| ("OUT", path)), &[])?;
        match self.discount.filter(|_| !to.holds_discount()) {
            Some(discount) => Err(Failure::usage(format!(
                "--discount {discount} has no place in a .{} file, expected none",
                to.endings()[0]
            ))
            .hint("give it when the file is read, as in `rmdp solve`")),
            None => Ok(to),
        }
    }

    /// Reads the model.
    fn source(&self, to: Format) -> Result<NamedModel, Failure> {
        let asked = self.asked.clone();
        let reading = ReadArgs { format: self.from, discount: self.discount, asked };
        let read = match to.holds_discount() {
            true => reading.read(&self.from_file),
            false => reading.read_or_discount(&self.from_file, 0.0).map(|(source, _)| source),
        };
        let unknown = self.from.is_none() && Format::of(&self.from_file).is_err();
        read.map_err(|failure| if unknown { failure.hint(naming("--from")) } else { failure })
    }
}

/// Whether a table of transitions tells what unlisted next states cost. That is what its lines of an action cost if
/// all cost the same, and otherwise 0.
fn is_kept_in_table(model: &Model) -> bool {
    let lists_all = |row: NominalRow<'_>| {
        let mut next: Vec<usize> = row.listed().map(|(next, ..)| next).collect();
        next.dedup();
        next.len() == model.states()
    };
    (0..model.rows()).map(|r| model.row(r)).all(|row| {
        row.cost == 0.0 || row.listed().all(|(.., further)| further == 0.0) || lists_all(row)
    })
}
