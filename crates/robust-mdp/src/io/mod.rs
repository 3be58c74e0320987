//! Files: models, radii, policies and kernels. One file a format.
//!
//! Readers stream, never trust a declared size, and say the line where something is wrong.
//! Writers replace a file in one step, so that a reader sees the old one or the new one whole.

mod atomic;
mod checkpoint;
mod craam_csv;
mod json;
mod kernel;
mod losses;
mod names;
mod npy;
mod npz;
mod numbers;
mod policy;
mod radius;
mod source;
mod table;
#[cfg(test)]
mod tests;

pub use atomic::write_atomically;
pub use checkpoint::{read_checkpoint, remove_checkpoint};
pub use json::write_json;
pub use kernel::{KernelRows, write_kernel};
pub use losses::losses;
pub use policy::{read_policy, write_policy};
pub use radius::{RadiusTable, read_radii, read_weights, write_radii};
pub use source::Source;

use std::path::Path;
use std::str::FromStr;

use crate::error::{Error, ModelError};
use crate::model::Model;

/// A model file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The native format: everything a model holds.
    Json,
    /// craam's table of transitions, one a line.
    Csv,
    /// NumPy arrays.
    Npz,
}

impl Format {
    /// The format that the ending of `path` names.
    pub fn of(path: &Path) -> Result<Format, Error> {
        let ending = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        ending.as_deref().unwrap_or("").parse().map_err(|_| {
            Error::Input(format!(
                "{}: the format cannot be told from the file's ending, \
                 expected .json, .csv or .npz (or name the format)",
                path.display()
            ))
        })
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Format, Error> {
        match name {
            "json" => Ok(Format::Json),
            "csv" => Ok(Format::Csv),
            "npz" => Ok(Format::Npz),
            _ => Err(Error::Input(format!("format “{name}”, expected json, csv or npz"))),
        }
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
    let source = source.into();
    match format.map_or_else(|| Format::of(source.path), Ok)? {
        Format::Json => Ok((json::read(source, discount)?, Vec::new())),
        Format::Csv => craam_csv::read(source, discount),
        Format::Npz => npz::read(source, discount),
    }
}

/// Writes a model; the format follows from the file's ending unless given. Also returns what the file
/// does not hold of the model, see [`losses`], to be shown as warnings.
pub fn write_model(
    model: &Model,
    path: &Path,
    format: Option<Format>,
) -> Result<Vec<String>, Error> {
    let format = format.map_or_else(|| Format::of(path), Ok)?;
    match format {
        Format::Json => json::write(model, path)?,
        Format::Csv => craam_csv::write(model, path)?,
        Format::Npz => npz::write(model, path)?,
    }
    Ok(losses(model, format))
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
