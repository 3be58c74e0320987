//! `rmdp report`: a page about a user's own solves.

pub(crate) mod check;
mod consistency;
mod convergence;
mod overview;
mod policy;
mod price;
mod proof;
mod radii;
mod solved;
mod trace;
mod worst_case;

use std::path::PathBuf;

use robust_mdp::io::Format;
use robust_mdp::{Evaluated, Interrupt, Model, Status, evaluate};
use robust_mdp_page::number::{TINY, rounded_down, rounded_up};
use robust_mdp_page::{Block, Page, Section, write_figures};

use crate::args;
use crate::failure::{Ending, Failure};
use crate::interrupt;
use crate::model::{AskedArgs, NamedModel, ReadArgs, formats};
use crate::output::{self, Losses};
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
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<Format>,
    #[command(flatten)]
    asked: AskedArgs,
    /// A trace of one of the results, from `rmdp solve --trace`; may be repeated
    #[arg(long, value_name = "JSONL")]
    trace: Vec<PathBuf>,
    /// A certificate of one of the results, from `rmdp solve --certificate`, to be verified; may be
    /// repeated
    #[arg(long, value_name = "FILE")]
    certificate: Vec<PathBuf>,
    /// Solve for n radii from a to b; n points are evenly spaced (linear) or in ratio (log)
    /// [default: log where a > 0 and b ≥ 10 a]
    #[arg(long, value_name = "a:b:n[:log|:linear]", allow_hyphen_values = true)]
    radii: Option<Radii>,
    /// Gap of what is solved for the page [default: 1e-7 × (largest − least cost) / (1 − λ), seven
    /// digits of the range of values]
    #[arg(long, value_name = "ε", value_parser = args::positive, allow_hyphen_values = true)]
    gap: Option<f64>,
    /// Threads; the answer does not depend on their number [default: all cores]
    #[arg(long, value_name = "N", value_parser = args::threads, allow_hyphen_values = true)]
    threads: Option<usize>,
    /// Title of the page
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Write every figure as an .svg file into this folder too; it is made where there is none
    #[arg(long, value_name = "FOLDER")]
    svg: Option<PathBuf>,
    #[arg(long, short, help = args::QUIET)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  rmdp generate machine -o m.json
  rmdp solve m.json --radius 0.01 --json r.json --trace t.jsonl
  rmdp report r.json -o page.html                             # bounds and policy
  rmdp report r.json -o page.html --model m.json --trace t.jsonl --radii 0.0001:0.1:13
  rmdp solve m.json --radius 0.01 --json r.json --certificate c.cert
  rmdp report r.json -o page.html --model m.json --certificate c.cert   # proved bounds";

/// All that a page is made from.
struct Material<'a> {
    results: Vec<Solved>,
    source: Option<&'a NamedModel>,
    /// One a result where there is a model: worst case and nominal value of its policy; none of other questions
    /// than that of discounted costs.
    evaluated: Vec<Evaluated>,
    /// With the index of the result that each is of.
    traces: Vec<(usize, Trace)>,
    /// Whether a certificate of each result was verified for this page.
    proved: Vec<bool>,
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
    args.check()?;
    let results = solved::read_all(&args.results)?;
    let traces = trace::read_all(&args.trace, &results)?;
    let source = match &args.model {
        Some(path) => {
            let (discount, asked) = (Some(results[0].discount()), args.asked.clone());
            let reading = ReadArgs { format: args.format, discount, asked };
            Some(reading.read(path)?)
        }
        None => None,
    };
    let question = results[0].question;
    if args.radii.is_some() && !question.is_discounted_worst() {
        return Err(Failure::usage(format!(
            "--radii compares worst cases of discounted costs: not available for results of {}",
            question.flags()
        )));
    }
    let proved = match &source {
        Some(source) => proof::of_all(&args.certificate, &results, source, args.threads)?,
        None => vec![false; results.len()],
    };
    // Until here there is nothing that would be lost.
    let interrupt = interrupt::listen(args.quiet)?;
    let evaluated = match &source {
        Some(source) => evaluate_all(&results, source, args, interrupt)?,
        None => Vec::new(),
    };
    let material = Material { results, source: source.as_ref(), evaluated, traces, proved };
    let (page, ending) = args.page(&material, interrupt)?;
    Ok(args.write(&page).end(ending))
}

impl Args {
    /// What can be known before anything is read.
    fn check(&self) -> Result<(), Failure> {
        let read = [&self.results[..], &self.trace[..], &self.certificate[..]].concat();
        let inputs = read.iter().chain(&self.model).map(PathBuf::as_path).collect::<Vec<_>>();
        output::check([("--output", self.output.as_path())], &inputs)?;
        if self.svg.as_deref().is_some_and(|f| f.as_os_str().is_empty()) {
            return Err(Failure::usage("--svg is empty, expected the name of a folder"));
        }
        if let Some(folder) = self.svg.as_deref().filter(|f| f.exists() && !f.is_dir()) {
            let folder = folder.display();
            return Err(Failure::usage(format!("--svg {folder}: is a file, expected a folder")));
        }
        let idle = [
            ("--format", "says how to read a MODEL", self.format.is_some()),
            ("--radii", "solves the MODEL again", self.radii.is_some()),
            ("--gap", "is for what is solved in the MODEL", self.gap.is_some()),
            ("--threads", "is for what is solved in the MODEL", self.threads.is_some()),
            ("--certificate", "is verified against the MODEL", !self.certificate.is_empty()),
        ];
        let asked =
            self.asked.given().map(|(flag, given)| (flag, "says how to read a MODEL", given));
        let without_model =
            asked.into_iter().chain(idle).find(|(.., given)| *given && self.model.is_none());
        match without_model {
            Some((flag, what, _)) => {
                Err(Failure::usage(format!("{flag} {what}, and there is none: give --model MODEL")))
            }
            None => Ok(()),
        }
    }

    /// Writes the page, then the figures, and says so.
    fn write(&self, page: &Page) -> Losses {
        let mut losses = Losses::default();
        let mut told = String::new();
        let drawn = page.sections.iter().flat_map(|s| &s.blocks);
        let drawn = drawn.filter(|b| matches!(b, Block::Figure(_) | Block::HeatMap(_))).count();
        if losses
            .note(robust_mdp_page::write(&self.output, page).map_err(Failure::output))
            .is_some()
        {
            let many = if drawn == 1 { "" } else { "s" };
            told += &format!("wrote {}: {drawn} figure{many}\n", self.output.display());
        }
        if let Some(folder) = &self.svg
            && let Some(files) = losses.note(write_figures(folder, page).map_err(Failure::output))
        {
            let many = if files.len() == 1 { "" } else { "s" };
            told += &format!("wrote {} .svg file{many} into {}\n", files.len(), folder.display());
        }
        losses.note(output::note(&told, false, self.quiet));
        losses
    }
}

/// Evaluates every policy in the model, and so finds out whether the results are of this model.
fn evaluate_all(
    results: &[Solved],
    source: &NamedModel,
    args: &Args,
    interrupt: &Interrupt,
) -> Result<Vec<Evaluated>, Failure> {
    let mut all = Vec::new();
    for result in results {
        result.check_shape(source)?;
        if !result.question.is_discounted_worst() {
            result.set(&source.model)?;
            result.check_start(source)?;
            continue;
        }
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
        sections.extend(worst_case::section(material, self.threads, interrupt)?);
        let price = price::section(material, self, interrupt)?;
        let ending = match &price {
            _ if interrupt.is_raised() => Ending::Early,
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
    let largest = lower.abs().max(upper.abs());
    // Digits before the point leave fewer; very small numbers have an exponent.
    let size = if largest > 0.0 && largest < TINY { largest } else { largest.max(1.0) };
    let most = (6.0 - size.log10().floor()).max(0.0) as usize;
    table_decimals(upper - lower, &[&[lower, upper]]).min(most)
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
