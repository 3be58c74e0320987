//! `rmdp report`: a page about a user's own solves.

pub(crate) mod check;
mod convergence;
mod overview;
mod policy;
mod price;
mod radii;
mod solved;
mod trace;
mod worst_case;

use std::path::PathBuf;

use robust_mdp::io::Format;
use robust_mdp::{Evaluated, Interrupt, Model, Status, evaluate};

use crate::args;
use crate::failure::{Ending, Failure};
use crate::interrupt;
use crate::model::{FORMATS, Reading, Source};
use crate::output;
use crate::page::{self, Block, Page, Section};
use crate::render::number::{rounded_down, rounded_up};
use crate::render::solution::table_decimals;
use radii::Radii;
use solved::Solved;
use trace::Trace;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Results of `rmdp solve --json`, all of the same model
    #[arg(value_name = "RESULT", required = true)]
    results: Vec<PathBuf>,
    /// HTML file to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// The model that was solved: names, worst-case transitions, nominal values
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,
    /// Format of MODEL [default: by its ending]
    #[arg(long, value_name = "FORMAT", value_parser = FORMATS, requires = "model")]
    format: Option<Format>,
    /// A trace of one of the results, from `rmdp solve --trace`; may be repeated
    #[arg(long, value_name = "JSONL")]
    trace: Vec<PathBuf>,
    /// Solve for n radii from a to b; n points are evenly spaced (linear) or in ratio (log)
    /// [default: log where a > 0 and b ≥ 10 a]
    #[arg(long, value_name = "a:b:n[:log|:linear]", requires = "model")]
    #[arg(allow_hyphen_values = true)]
    radii: Option<Radii>,
    /// Gap of what is solved here [default: 1e-7 ×
    /// (largest − least cost) / (1 − λ), seven digits of the range of values]
    #[arg(long, value_name = "ε", value_parser = args::positive, allow_hyphen_values = true)]
    gap: Option<f64>,
    /// Threads; the answer does not depend on their number [default: all cores]
    #[arg(long, value_name = "N", value_parser = args::threads, allow_hyphen_values = true)]
    threads: Option<usize>,
    /// Title of the page
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Write every figure as an .svg file into this folder too
    #[arg(long, value_name = "FOLDER")]
    svg: Option<PathBuf>,
    /// Do not say what was written
    #[arg(long, short)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  rmdp generate machine -o m.json
  rmdp solve m.json --radius 0.01 --json r.json --trace t.jsonl
  rmdp report r.json -o page.html                             # bounds and policy
  rmdp report r.json -o page.html --model m.json --trace t.jsonl --radii 0.0001:0.1:13";

/// All that a page is made from.
struct Material<'a> {
    results: Vec<Solved>,
    source: Option<&'a Source>,
    /// One a result where there is a model: worst case and nominal value of its policy.
    evaluated: Vec<Evaluated>,
    /// With the index of the result that each is of.
    traces: Vec<(usize, Trace)>,
}

impl Material<'_> {
    fn model(&self) -> Option<&Model> {
        self.source.map(|s| &s.model)
    }

    fn state(&self, s: usize) -> String {
        self.model().map_or_else(|| s.to_string(), |m| m.state_name(s).into_owned())
    }

    fn action(&self, s: usize, a: usize) -> String {
        match self.model() {
            Some(model) => model.action_name(s, model.rows_of(s).start + a).into_owned(),
            None => a.to_string(),
        }
    }

    /// The state's name, or “state 3” where it has only a number.
    fn state_in_words(&self, s: usize) -> String {
        in_words("state", self.state(s))
    }

    /// As [`Material::state_in_words`], for an action.
    fn action_in_words(&self, s: usize, a: usize) -> String {
        in_words("action", self.action(s, a))
    }

    /// “ of r.json”, where there are several results.
    fn of(&self, i: usize) -> String {
        match self.results.len() {
            1 => String::new(),
            _ => format!(" of {}", self.results[i].name),
        }
    }

    /// The results that figures of single results are about, and what was left out.
    fn pictured(&self) -> (Vec<usize>, Option<String>) {
        const MOST: usize = 3;
        let count = self.results.len();
        if count <= MOST {
            return ((0..count).collect(), None);
        }
        let chosen = vec![0, count / 2, count - 1];
        let told = format!(
            "Of {count} results the first, the middle and the last one are shown; give fewer \
             results to see others."
        );
        (chosen, Some(told))
    }
}

fn in_words(what: &str, name: String) -> String {
    match name.bytes().all(|b| b.is_ascii_digit()) {
        true => format!("{what} {name}"),
        false => name,
    }
}

pub(crate) fn run(args: &Args) -> Result<Ending, Failure> {
    let interrupt = interrupt::listen(args.quiet)?;
    let read = [&args.results[..], &args.trace[..]].concat();
    let inputs = read.iter().chain(&args.model).map(PathBuf::as_path).collect::<Vec<_>>();
    output::check([("--output", args.output.as_path())], &inputs)?;
    if let Some(folder) = args.svg.as_deref().filter(|f| !f.is_dir()) {
        let folder = folder.display();
        return Err(Failure::usage(format!("--svg {folder}: expected a folder that exists")));
    }
    let results = solved::read_all(&args.results)?;
    let traces = trace::read_all(&args.trace, &results)?;
    let source = match &args.model {
        Some(path) => {
            let reading = Reading { format: args.format, discount: Some(results[0].discount()) };
            Some(reading.read(path)?)
        }
        None => None,
    };
    let evaluated = match &source {
        Some(source) => evaluate_all(&results, source, args, interrupt)?,
        None => Vec::new(),
    };
    let material = Material { results, source: source.as_ref(), evaluated, traces };
    let (page, ending) = args.page(&material, interrupt)?;
    page::write(&args.output, &page)?;
    let drawn = page.sections.iter().flat_map(|s| &s.blocks);
    let drawn = drawn.filter(|b| matches!(b, Block::Figure(_) | Block::HeatMap(_))).count();
    let mut told = format!(
        "wrote {}: {drawn} figure{}\n",
        args.output.display(),
        if drawn == 1 { "" } else { "s" }
    );
    if let Some(folder) = &args.svg {
        let files = page::write_figures(folder, &page)?;
        told += &format!("wrote {} .svg files into {}\n", files.len(), folder.display());
    }
    if !args.quiet {
        output::to_stdout(told.as_bytes())?;
    }
    Ok(ending)
}

/// Evaluates every policy in the model, and so finds out whether the results are of this model.
fn evaluate_all(
    results: &[Solved],
    source: &Source,
    args: &Args,
    interrupt: &Interrupt,
) -> Result<Vec<Evaluated>, Failure> {
    let mut all = Vec::new();
    for result in results {
        result.check_shape(source)?;
        let (model, set, policy) = (&source.model, result.set(&source.model)?, result.policy());
        let evaluated = evaluate(model, &set, &policy, args.gap, args.threads, interrupt)
            .map_err(Failure::input)?;
        result.check_values(source, &evaluated)?;
        all.push(evaluated);
    }
    Ok(all)
}

impl Args {
    fn page(
        &self,
        material: &Material<'_>,
        interrupt: &Interrupt,
    ) -> Result<(Page, Ending), Failure> {
        let mut sections = vec![overview::section(material)];
        sections.extend(convergence::section(material));
        sections.push(policy::section(material));
        sections.extend(worst_case::section(material)?);
        let price = price::section(material, self, interrupt)?;
        let interrupted = material.evaluated.iter().any(|e| e.status == Status::Interrupted);
        let ending = match &price {
            _ if interrupted => Ending::Early,
            Some((_, ending)) => *ending,
            None => Ending::Done,
        };
        sections.extend(price.map(|(section, _)| section));
        let subject = match (material.source, &material.results[..]) {
            (Some(source), _) => file_name(&source.name),
            (None, [one]) => one.name.clone(),
            (None, all) => format!("{} results", all.len()),
        };
        let title = self.title.clone().unwrap_or_else(|| format!("Robust solution: {subject}"));
        let provenance = vec![
            ("made by".to_owned(), format!("rmdp {}", env!("CARGO_PKG_VERSION"))),
            ("command".to_owned(), command_line()),
        ];
        let page = Page { title, summary: overview::summary(material), sections, provenance };
        Ok((page, ending))
    }
}

/// The command of this run, as a shell would take it.
fn command_line() -> String {
    let quoted = |word: String| {
        let plain = |c: char| c.is_alphanumeric() || "-_./:=,+%@".contains(c);
        match !word.is_empty() && word.chars().all(plain) {
            true => word,
            false => format!("'{}'", word.replace('\'', "'\\''")),
        }
    };
    let words = std::env::args_os().skip(1).map(|w| quoted(w.to_string_lossy().into_owned()));
    std::iter::once("rmdp".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// The last part of a path.
fn file_name(path: &str) -> String {
    let name = std::path::Path::new(path).file_name();
    name.map_or_else(|| path.to_owned(), |n| n.to_string_lossy().into_owned())
}

/// Decimals that show bounds, seven digits in all at most.
fn digits_of(lower: f64, upper: f64) -> usize {
    let whole = lower.abs().max(upper.abs()).max(1.0).log10().floor() as usize;
    table_decimals(upper - lower, &[&[lower, upper]]).min(6_usize.saturating_sub(whole))
}

/// “between 1.2 and 1.3”, rounded outwards.
fn between((lower, upper): (f64, f64)) -> String {
    let digits = digits_of(lower, upper);
    format!("between {} and {}", rounded_down(lower, digits), rounded_up(upper, digits))
}

/// “1.2 to 1.3”, rounded outwards.
fn interval((lower, upper): (f64, f64)) -> String {
    let digits = digits_of(lower, upper);
    format!("{} to {}", rounded_down(lower, digits), rounded_up(upper, digits))
}

fn section(id: &str, title: &str, blocks: Vec<Block>) -> Section {
    Section { id: id.into(), title: title.into(), blocks }
}

/// How a solve that was made here ended.
fn ending_of(statuses: &[Status]) -> Ending {
    match statuses.iter().all(|s| *s == Status::Certified) {
        true => Ending::Done,
        false => Ending::Early,
    }
}
