//! Where results go: the standard output, the standard error, and files that are checked before
//! the work and written after it.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use robust_mdp::Error;
use robust_mdp::io::write_atomically;
use serde::Serialize;

use crate::failure::{Ending, Failure};

/// A file, or `-` for the standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sink {
    Stdout,
    File(PathBuf),
}

impl FromStr for Sink {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Sink, Self::Err> {
        Ok(match text {
            "-" => Sink::Stdout,
            _ => Sink::File(text.into()),
        })
    }
}

impl Sink {
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Sink::Stdout => None,
            Sink::File(path) => Some(path),
        }
    }

    /// Writes `value` as one line of JSON.
    pub(crate) fn write_json(&self, value: &impl Serialize) -> Result<(), Failure> {
        match self {
            Sink::Stdout => {
                let mut text = serde_json::to_vec(value)
                    .map_err(|e| Failure::write(Path::new("standard output"), e.into()))?;
                text.push(b'\n');
                to_stdout(&text)
            }
            Sink::File(path) => write_atomically(path, |w| {
                serde_json::to_writer(&mut *w, value)?;
                w.write_all(b"\n")
            })
            .map_err(Failure::output),
        }
    }
}

/// Writes to the standard output. A reader who has left is no error.
pub(crate) fn to_stdout(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::write(Path::new("standard output"), e))
        }
        _ => Ok(()),
    }
}

/// Writes a model to the standard output, as `write` does.
pub(crate) fn model_to_stdout(
    write: impl FnOnce(&mut dyn Write) -> Result<Vec<String>, Error>,
) -> Result<Vec<String>, Failure> {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    match write(&mut out) {
        // What the buffer still holds must not be tried again.
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe => {
            drop(out.into_parts());
            Ok(Vec::new())
        }
        written => written.map_err(Failure::output),
    }
}

/// Writes to the standard error; nothing can be done where that fails.
pub(crate) fn to_stderr(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Shows warnings, unless asked to be quiet.
pub(crate) fn warn(warnings: &[String], quiet: bool) {
    for warning in warnings.iter().filter(|_| !quiet) {
        to_stderr(&format!("warning: {warning}\n"));
    }
}

/// What a command could not write. The answer is printed and everything else written all the same; the
/// errors come last.
#[derive(Debug, Default)]
pub(crate) struct Losses(Vec<Failure>);

impl Losses {
    /// What was done, if it was.
    pub(crate) fn note<T>(&mut self, done: Result<T, Failure>) -> Option<T> {
        done.map_err(|failure| self.0.push(failure)).ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Says what is lost, and how the command ends.
    pub(crate) fn end(self, otherwise: Ending) -> Ending {
        for failure in &self.0 {
            to_stderr(&format!("{failure}\n"));
        }
        if self.0.is_empty() { otherwise } else { Ending::Trouble }
    }
}

/// A word on what was written, unless asked to be quiet.
pub(crate) fn note(text: &str, data_on_stdout: bool, quiet: bool) -> Result<(), Failure> {
    if quiet { Ok(()) } else { tell(text, data_on_stdout, quiet) }
}

/// The answer to people: to the standard output, or to the standard error where the standard output
/// carries it as data, unless asked to be quiet.
pub(crate) fn tell(text: &str, data_on_stdout: bool, quiet: bool) -> Result<(), Failure> {
    match (data_on_stdout, quiet) {
        (false, _) => to_stdout(text.as_bytes()),
        (true, false) => {
            to_stderr(text);
            Ok(())
        }
        (true, true) => Ok(()),
    }
}

/// Whether `--all-states` has a page to show them on.
pub(crate) fn check_page(
    all_states: bool,
    json: Option<&Sink>,
    quiet: bool,
) -> Result<(), Failure> {
    if all_states && quiet && json == Some(&Sink::Stdout) {
        return Err(Failure::usage(
            "--all-states is about the page for people, which --json - and --quiet leave out",
        )
        .hint("leave out --all-states: JSON has all states; or --quiet, to see the page too"));
    }
    Ok(())
}

/// Finds out before the work what would keep its outputs from being written after it.
pub(crate) fn check<'p>(
    outputs: impl IntoIterator<Item = (&'static str, &'p Path)>,
    inputs: &[&Path],
) -> Result<(), Failure> {
    let mut seen: Vec<(&str, PathBuf)> = Vec::new();
    for (flag, path) in outputs {
        if path.as_os_str().is_empty() {
            return Err(Failure::usage(format!("{flag} is empty, expected the name of a file")));
        }
        if path == Path::new("-") {
            return Err(Failure::usage(format!("{flag} is -, expected the name of a file")));
        }
        let folder = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let about = match fs::metadata(folder) {
            Ok(about) if about.is_dir() => about,
            _ => return Err(Failure::no_folder(path, folder)),
        };
        let existing = fs::metadata(path).ok();
        if existing.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(Failure::write(path, io::ErrorKind::IsADirectory.into()));
        }
        let read_only = |m: &fs::Metadata| m.permissions().readonly();
        if read_only(&about) || existing.as_ref().is_some_and(read_only) {
            return Err(Failure::write(path, io::ErrorKind::PermissionDenied.into()));
        }
        if existing.is_some_and(|m| !m.is_file()) {
            continue;
        }
        let place = fs::canonicalize(path).unwrap_or_else(|_| {
            let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
            folder.join(path.file_name().unwrap_or_default())
        });
        if let Some((other, _)) = seen.iter().find(|(_, p)| *p == place) {
            let path = path.display();
            return Err(Failure::usage(format!(
                "{other} and {flag} both name {path}, expected different files"
            )));
        }
        if inputs.iter().any(|i| fs::canonicalize(i).is_ok_and(|i| i == place)) {
            let path = path.display();
            return Err(Failure::usage(format!(
                "{flag} would overwrite the input {path}, expected another file"
            )));
        }
        seen.push((flag, place));
    }
    Ok(())
}
