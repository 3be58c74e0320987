//! Names of methods, oracles and sets: those that the library gives them in files.

use pyo3::PyResult;
use pyo3::exceptions::PyValueError;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What `name` stands for.
pub(crate) fn parse<T: DeserializeOwned>(what: &str, name: &str) -> PyResult<T> {
    serde_json::from_value(Value::String(name.to_owned()))
        .map_err(|e| PyValueError::new_err(format!("{what}: {e}")))
}
