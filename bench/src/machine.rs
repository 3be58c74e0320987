//! machine.json: where and when a run was made.

use std::path::Path;
use std::process::Command;

use robust_mdp_measure::machine::Machine;
use serde::{Deserialize, Serialize};

use crate::Failure;

/// The machine, the compiler and the state of the source.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Provenance {
    pub(crate) date: String,
    #[serde(flatten)]
    pub(crate) machine: Machine,
    pub(crate) rustc: Option<String>,
    pub(crate) commit: Option<String>,
    /// Tiny sizes and few repeats.
    #[serde(default)]
    pub(crate) quick: bool,
}

impl Provenance {
    pub(crate) fn here(date: &str, quick: bool) -> Provenance {
        Provenance {
            date: date.into(),
            machine: Machine::here(),
            rustc: output("rustc", &["--version"]),
            commit: output("git", &["describe", "--always", "--dirty", "--abbrev=12"]),
            quick,
        }
    }

    pub(crate) fn write(&self, path: &Path) -> Result<(), Failure> {
        Ok(std::fs::write(path, serde_json::to_string_pretty(self)? + "\n")?)
    }
}

pub(crate) fn read(path: &Path) -> Result<Provenance, Failure> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(serde_json::from_str(&text)?)
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}
