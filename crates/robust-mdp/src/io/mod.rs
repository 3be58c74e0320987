//! Files: models, radii, policies and kernels. One file or folder a format.
//!
//! Readers stream, never trust a declared size, and say the line where something is wrong.
//! Writers replace a file in one step, so that a reader sees the old one or the new one whole.

mod atomic;
mod bmdp;
mod checkpoint;
mod craam_csv;
mod drn;
mod entry_weights;
mod explicit;
mod format;
mod ground;
mod gzip;
mod json;
mod kernel;
mod labels;
mod lines;
mod losses;
mod mdp;
mod names;
mod npy;
mod npz;
mod numbers;
#[cfg(feature = "parquet")]
mod parquet;
mod policy;
mod prism;
mod radius;
mod rounded;
mod rows;
mod scenarios;
mod source;
mod table;
#[cfg(test)]
mod tests;
mod words;

pub use atomic::write_atomically;
pub use checkpoint::{read_checkpoint, remove_checkpoint};
pub use craam_csv::Outcomes;
pub use entry_weights::read_entry_weights;
pub use format::Format;
pub use ground::read_ground;
pub use json::write_json;
pub use kernel::{KernelRows, write_kernel};
pub use losses::losses;
pub use mdp::{Ambiguity, read_ambiguity, write_ambiguity};
pub use policy::{read_policy, write_policy, write_staged_policy};
pub use radius::{RadiusTable, read_radii, read_weights, write_radii};
pub use scenarios::read_scenarios;
pub use source::Source;

use std::io::{self, Cursor, Write};
use std::path::Path;

use crate::error::{Error, ModelError};
use crate::model::{Model, Objective};

/// What a reader is told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// The format; it follows from the file's ending unless given.
    pub format: Option<Format>,
    /// In place of the file's discount factor.
    pub discount: Option<f64>,
    /// Labels of states that are to be reached, in place of the file's rewards: a transition into one of
    /// them has reward 1, and they are terminal. For formats with labels.
    pub reach: Vec<String>,
    /// The rewards to take, where a file has several. For formats that name them.
    pub rewards: Option<String>,
    /// What is optimised, where the format does not say it.
    pub objective: Option<Objective>,
}

/// What a file holds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ModelFile {
    /// The model.
    pub model: Model,
    /// What the reader took for granted, to be shown.
    pub warnings: Vec<String>,
    /// The outcomes of actions, where some have several; nominal rows are then their even mixtures, within the
    /// smallest intervals that hold them all.
    pub outcomes: Option<Outcomes>,
}

impl From<(Model, Vec<String>)> for ModelFile {
    fn from((model, warnings): (Model, Vec<String>)) -> ModelFile {
        ModelFile { model, warnings, outcomes: None }
    }
}

/// Reads a model; also returns what the reader took for granted, to be shown as warnings.
///
/// The format follows from the file's ending unless given; `discount` overrides the file's.
pub fn read_model<'a>(
    source: impl Into<Source<'a>>,
    format: Option<Format>,
    discount: Option<f64>,
) -> Result<(Model, Vec<String>), Error> {
    let options = ReadOptions { format, discount, ..ReadOptions::default() };
    read_model_file(source, &options).map(|file| (file.model, file.warnings))
}

/// Reads a model and what else its file holds.
pub fn read_model_file<'a>(
    source: impl Into<Source<'a>>,
    options: &ReadOptions,
) -> Result<ModelFile, Error> {
    let (source, discount) = (source.into(), options.discount);
    let format = options.format.map_or_else(|| Format::of(source.path), Ok)?;
    options.check(format)?;
    match format {
        Format::Json => Ok((json::read(source, discount)?, Vec::new()).into()),
        Format::Csv => craam_csv::read(source, discount),
        Format::Npz => Ok(npz::read(source, discount)?.into()),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::read(source, discount),
        Format::Mdp => Ok(mdp::read(source, discount)?.into()),
        Format::Prism => Ok(prism::read(source, options)?.into()),
        Format::Drn => Ok(drn::read(source, options)?.into()),
        Format::Bmdp => Ok(bmdp::read(source, discount)?.into()),
    }
}

impl ReadOptions {
    /// Refuses what a format has no use for.
    fn check(&self, format: Format) -> Result<(), Error> {
        let labelled = matches!(format, Format::Prism | Format::Drn);
        let unused = [
            ("labels to be reached are", !self.reach.is_empty() && !labelled),
            ("a choice of rewards is", self.rewards.is_some() && format != Format::Drn),
            ("an objective is", self.objective.is_some() && !labelled),
        ];
        match unused.iter().find(|(_, given)| *given) {
            Some((what, _)) => {
                let name = format.name();
                Err(Error::Input(format!("{what} of no use to the format {name}, expected none")))
            }
            None => Ok(()),
        }
    }
}

/// Writes a model; the format follows from the file's ending unless given, and `.gz` behind it asks for a
/// packed file. Also returns what the file does not hold of the model, see [`losses`], to be shown as
/// warnings.
pub fn write_model(
    model: &Model,
    path: &Path,
    format: Option<Format>,
) -> Result<Vec<String>, Error> {
    write_at(model, None, path, format)
}

/// As [`write_model`], with the outcomes of the file where the format holds them: those of craam's tables.
pub fn write_model_file(
    file: &ModelFile,
    path: &Path,
    format: Option<Format>,
) -> Result<Vec<String>, Error> {
    write_at(&file.model, file.outcomes.as_ref(), path, format)
}

fn write_at(
    model: &Model,
    outcomes: Option<&Outcomes>,
    path: &Path,
    format: Option<Format>,
) -> Result<Vec<String>, Error> {
    let format = format.map_or_else(|| Format::of(path), Ok)?;
    check_writable(model, outcomes, format)?;
    match format {
        Format::Prism => prism::write(model, path)?,
        Format::Npz if !gzip::is_asked(path) => atomic::replace(path, |w| npz::write(model, w))?,
        _ => replace_packed(path, |w| write_stream(model, outcomes, w, format))?,
    }
    Ok(all_losses(model, outcomes, format))
}

/// As [`write_atomically`], packed where the ending asks for that.
fn replace_packed(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    atomic::replace(path, |w| match gzip::is_asked(path) {
        true => gzip::pack(w, write),
        false => write(w),
    })
}

/// Writes a model to any sink, such as the standard output. Also returns what is lost, as
/// [`write_model`] does.
pub fn write_model_to(
    model: &Model,
    w: &mut dyn Write,
    format: Format,
) -> Result<Vec<String>, Error> {
    write_to(model, None, w, format)
}

/// As [`write_model_to`], with the outcomes of the file where the format holds them.
pub fn write_model_file_to(
    file: &ModelFile,
    w: &mut dyn Write,
    format: Format,
) -> Result<Vec<String>, Error> {
    write_to(&file.model, file.outcomes.as_ref(), w, format)
}

fn write_to(
    model: &Model,
    outcomes: Option<&Outcomes>,
    w: &mut dyn Write,
    format: Format,
) -> Result<Vec<String>, Error> {
    check_writable(model, outcomes, format)?;
    let failed = |source| Error::Io { path: "standard output".into(), source };
    write_stream(model, outcomes, w, format).and_then(|()| w.flush()).map_err(failed)?;
    Ok(all_losses(model, outcomes, format))
}

/// Refuses a model of which the format can say nothing right, and outcomes of another model.
fn check_writable(model: &Model, outcomes: Option<&Outcomes>, format: Format) -> Result<(), Error> {
    let wrong = match format {
        _ if outcomes.is_some_and(|outcomes| !outcomes.fit(model)) => {
            Some("the outcomes are of another model, expected those that were read with it".into())
        }
        _ if format.is_table() => craam_csv::refusal(model),
        Format::Mdp => mdp::refusal(model),
        _ => None,
    };
    wrong.map_or(Ok(()), |message| Err(Error::Input(message)))
}

fn all_losses(model: &Model, outcomes: Option<&Outcomes>, format: Format) -> Vec<String> {
    let mut lost = losses(model, format);
    if outcomes.is_some() && !format.is_table() {
        lost.push("the outcomes are lost: only .csv and .parquet keep them".into());
    }
    lost
}

fn write_stream(
    model: &Model,
    outcomes: Option<&Outcomes>,
    w: &mut dyn Write,
    format: Format,
) -> io::Result<()> {
    match format {
        Format::Json => write_json(model, w),
        Format::Csv => craam_csv::write(model, outcomes, w),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::write(model, outcomes, w),
        Format::Mdp => mdp::write(model, w),
        Format::Prism => prism::write_transitions(model, w),
        Format::Drn => drn::write(model, w),
        Format::Bmdp => bmdp::write(model, w),
        Format::Npz => {
            // An archive is written from both ends.
            let mut held = Cursor::new(Vec::new());
            npz::write(model, &mut held)?;
            w.write_all(held.get_ref())
        }
    }
}

fn parse_error(path: &Path, line: Option<u64>, message: impl Into<String>) -> Error {
    Error::Parse { path: path.to_owned(), line, message: message.into() }
}

/// The same error, naming the place within the model that was being read.
fn within(error: Error, place: &str) -> Error {
    match error {
        Error::Parse { path, line, message } => {
            Error::Parse { path, line, message: format!("{place}: {message}") }
        }
        other => other,
    }
}

fn model_error(path: &Path, line: Option<u64>, source: ModelError) -> Error {
    Error::ModelAt { path: path.to_owned(), line, source }
}

/// A warning where state 0 looks like one that nobody meant: without actions, and without a way to it.
fn numbering_warning(model: &Model) -> Option<String> {
    let reached = || (0..model.rows()).any(|r| model.row(r).listed().any(|e| e.0 == 0));
    let started = model.initial().is_some_and(|p| p[0] > 0.0);
    let unused = model.states() > 1 && model.is_terminal(0) && !started && !reached();
    unused.then(|| {
        "state 0 has no actions and nothing leads to it: the states look numbered from 1, and are \
         taken as numbered from 0, with one state too many; subtract 1 from every state"
            .to_owned()
    })
}

/// “3 states have no actions: 1, 4, 5”, naming at most five.
fn terminal_warning(terminal: &[usize]) -> Option<String> {
    let first: Vec<String> = terminal.iter().take(5).map(usize::to_string).collect();
    let dots = if terminal.len() > 5 { ", …" } else { "" };
    let list = format!("{}{dots}", first.join(", "));
    match terminal.len() {
        0 => None,
        1 => Some(format!("state {list} has no actions: taken as terminal with value 0")),
        n => Some(format!("{n} states have no actions: taken as terminal with value 0: {list}")),
    }
}
