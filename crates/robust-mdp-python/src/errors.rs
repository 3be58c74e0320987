//! Errors of the library as Python exceptions.

use std::io::ErrorKind;

use pyo3::create_exception;
use pyo3::exceptions::{
    PyFileNotFoundError, PyIsADirectoryError, PyMemoryError, PyOSError, PyValueError,
};
use pyo3::prelude::*;
use robust_mdp::{Error, Rejection};

create_exception!(
    robust_mdp,
    ModelError,
    PyValueError,
    "The model is not a Markov decision process; `state` and `action` say where, if in one place."
);
create_exception!(
    robust_mdp,
    CertificateError,
    PyValueError,
    "A certificate does not prove what it claims."
);

/// The exception for an error.
pub(crate) fn raised(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::Model(source) => of_model(py, &source, source.to_string()),
        Error::ModelAt { ref source, .. } => of_model(py, source, error.to_string()),
        Error::Io { path, source } => match source.raw_os_error() {
            // Three arguments make the interpreter choose FileNotFoundError and its like.
            Some(number) => {
                let text = source.to_string();
                let text = text.split(" (os error").next().unwrap_or_default().to_owned();
                PyOSError::new_err((number, text, path.into_os_string()))
            }
            None => {
                let text = format!("{}: {source}", path.display());
                match source.kind() {
                    ErrorKind::IsADirectory => PyIsADirectoryError::new_err(text),
                    ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
                    _ => PyOSError::new_err(text),
                }
            }
        },
        Error::Memory { .. } => PyMemoryError::new_err(in_python(error.to_string())),
        Error::Certificate { .. } => CertificateError::new_err(error.to_string()),
        other => PyValueError::new_err(in_python(other.to_string())),
    }
}

/// A model error in one place.
pub(crate) fn at(py: Python<'_>, message: String, state: usize, action: Option<usize>) -> PyErr {
    let error = ModelError::new_err(message);
    place(py, error, Some(state), action)
}

pub(crate) fn rejected(rejection: Rejection) -> PyErr {
    match rejection {
        Rejection::Input(message) => PyValueError::new_err(message),
        other => CertificateError::new_err(other.to_string()),
    }
}

fn of_model(py: Python<'_>, source: &robust_mdp::ModelError, message: String) -> PyErr {
    let (state, action) = match source.place() {
        Some((state, action)) => (Some(state), action),
        None => (None, None),
    };
    place(py, ModelError::new_err(in_python(message)), state, action)
}

fn place(py: Python<'_>, error: PyErr, state: Option<usize>, action: Option<usize>) -> PyErr {
    let value = error.value(py);
    let set = value.setattr("state", state).and_then(|()| value.setattr("action", action));
    match set {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// Flags of the tool and the arguments that mean the same.
const FLAGS: [(&str, &str); 4] = [
    ("--support all", "support=\"all\""),
    ("--support nominal", "support=\"nominal\""),
    ("--rectangular sa", "rectangular=\"sa\""),
    ("--discount", "discount="),
];

/// The library speaks of flags where Python has arguments.
fn in_python(message: String) -> String {
    FLAGS.iter().fold(message, |message, (flag, argument)| message.replace(flag, argument))
}
