//! How a command ends: the meaning of exit codes, and errors that read well.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use robust_mdp::{Error, ModelError, Rejection, Status};

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
        let code = match &error {
            Error::Io { .. } => Ending::Trouble,
            _ => Ending::BadInput,
        };
        Failure { code, ..Failure::usage(in_words(&error)) }
    }

    /// A certificate proves nothing, or not what it claims.
    pub(crate) fn rejected(rejection: &Rejection) -> Failure {
        let message = format!("the certificate does not hold: {rejection}");
        Failure { code: Ending::Rejected, message, hint: None }
    }

    /// A file could not be written.
    pub(crate) fn write(path: &Path, source: io::Error) -> Failure {
        let path = path.to_owned();
        Failure::output(Error::Io { path, source })
    }

    /// A file could not be written for want of a folder.
    pub(crate) fn no_folder(path: &Path, folder: &Path) -> Failure {
        let (path, folder) = (path.display(), folder.display());
        Failure {
            code: Ending::Trouble,
            ..Failure::usage(format!("{path} cannot be written: there is no folder {folder}"))
        }
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
        _ => error.to_string(),
    }
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
