//! How a command ends: the meaning of exit codes, and errors that read well.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use robust_mdp::{Error, ModelError, Rejection, Status};
use serde_json::error::Category;

/// Exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Ending {
    /// Done; a solution is certified to the asked gap.
    Done = 0,
    /// Something outside the question went wrong, such as a full disk.
    Trouble = 1,
    /// Bad usage or bad input.
    BadInput = 2,
    /// Stopped early; the answer that was written is certified, to a larger gap.
    Early = 3,
    /// A certificate that does not hold.
    Rejected = 4,
}

impl From<Ending> for ExitCode {
    fn from(ending: Ending) -> ExitCode {
        ExitCode::from(ending as u8)
    }
}

impl From<Status> for Ending {
    fn from(status: Status) -> Ending {
        match status {
            Status::Certified => Ending::Done,
            _ => Ending::Early,
        }
    }
}

/// Why a command gave up.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: Ending,
    message: String,
    hint: Option<String>,
}

impl Failure {
    /// The question is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure { code: Ending::BadInput, message: message.into(), hint: None }
    }

    /// What the library says about an input.
    pub(crate) fn input(error: Error) -> Failure {
        let hint = hint_for(&error);
        Failure { hint, ..Failure::usage(in_words(&error)) }
    }

    /// What the library says about an output that it could not write.
    pub(crate) fn output(error: Error) -> Failure {
        match error {
            Error::Io { path, source } => Failure::write(&path, source),
            other => Failure::usage(in_words(&other)),
        }
    }

    /// A certificate proves nothing, or not what it claims.
    pub(crate) fn rejected(rejection: &Rejection) -> Failure {
        let message = match rejection {
            Rejection::Other { .. } => rejection.to_string(),
            _ => format!("the certificate does not hold: {rejection}"),
        };
        Failure { code: Ending::Rejected, message, hint: None }
    }

    /// A file could not be written.
    pub(crate) fn write(path: &Path, source: io::Error) -> Failure {
        let (path, reason) = (path.display(), io_in_words(&source));
        let message = format!("{path} could not be written: {reason}");
        Failure { code: Ending::Trouble, ..Failure::usage(message) }
    }

    /// A file could not be written for want of a folder.
    pub(crate) fn no_folder(path: &Path, folder: &Path) -> Failure {
        let (path, folder) = (path.display(), folder.display());
        let message = format!("{path} cannot be written: there is no folder {folder}");
        Failure { code: Ending::Trouble, ..Failure::usage(message) }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Failure {
        Failure { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

/// The library's message, without the numbers of system errors.
fn in_words(error: &Error) -> String {
    match error {
        Error::Io { path, source } => format!("{}: {}", path.display(), io_in_words(source)),
        _ => error.to_string(),
    }
}

fn io_in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder".into(),
        io::ErrorKind::IsADirectory => "is a folder, expected a file".into(),
        io::ErrorKind::NotADirectory => "a part of the path is no folder".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::StorageFull => "no space left on the disk".into(),
        // “File name too long (os error 36)”.
        _ => error.to_string().split(" (os error").next().unwrap_or_default().to_lowercase(),
    }
}

/// What is wrong with JSON, without the place, in the words of someone who wrote it and not of the
/// parser's types.
pub(crate) fn json_in_words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(before, _)| before);
    match error.classify() {
        Category::Io => io_in_words(&io::Error::other(text)),
        Category::Eof => "the text ends too early".into(),
        Category::Syntax if text.starts_with("number out of range") => "too large a number".into(),
        Category::Syntax => "unexpected text".into(),
        Category::Data => data_in_words(text),
    }
}

/// Of data that are JSON and something else than expected.
fn data_in_words(text: &str) -> String {
    let quoted = |name: &str| format!("“{}”", name.trim_matches('`'));
    if let Some(name) = text.strip_prefix("missing field ") {
        return format!("{} is missing", quoted(name));
    }
    if let Some(name) = text.strip_prefix("duplicate field ") {
        return format!("{} comes twice", quoted(name));
    }
    if let Some((name, names)) =
        text.strip_prefix("unknown variant ").and_then(|rest| rest.split_once(", expected "))
    {
        return format!("found {}, expected {}", quoted(name), names.replace('`', ""));
    }
    let Some((found, expected)) = text.split_once(", expected ") else {
        return text.to_owned();
    };
    let expected = match expected {
        "f64" => "a number",
        "u64" => "a whole number of at least 0",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a string" | "string or map" | "variant identifier" => "a text",
        other if other.starts_with("struct ") => "an object",
        other => other,
    };
    let found = found.trim_start_matches("invalid type: ").trim_start_matches("invalid value: ");
    let found = match found.split_once(' ') {
        None if found == "sequence" => "a list".to_owned(),
        None if found == "map" => "an object".to_owned(),
        Some(("string", text)) => format!("the text {text}"),
        Some(("integer" | "boolean", value)) => value.trim_matches('`').to_owned(),
        Some(("floating", value)) => {
            value.trim_start_matches("point ").trim_matches('`').to_owned()
        }
        Some(("invalid", length)) => length.replace("length", "a list of length"),
        _ => found.to_owned(),
    };
    format!("found {found}, expected {expected}")
}

fn hint_for(error: &Error) -> Option<String> {
    match error {
        Error::ModelAt { source: ModelError::RowSum { sum, .. }, .. }
            if (sum - 1.0).abs() < 1e-3 =>
        {
            Some("write the probabilities with more digits, so that they sum to 1".into())
        }
        Error::Memory { .. } => {
            Some("--support nominal keeps to the transitions of the model and needs less".into())
        }
        _ => None,
    }
}
