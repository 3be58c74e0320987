//! machine.json: where and when a run was made.

use std::path::Path;
use std::process::Command;

use robust_mdp::machine;
use serde::{Deserialize, Serialize};

use crate::Failure;

/// The machine, the compiler and the state of the source.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) date: String,
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) instruction_set: String,
    pub(crate) rustc: Option<String>,
    pub(crate) commit: Option<String>,
    /// Load average over a minute when the run began: numbers of a busy machine mean little.
    pub(crate) load: Option<f64>,
    /// Tiny sizes and few repeats.
    #[serde(default)]
    pub(crate) quick: bool,
}

impl Machine {
    pub(crate) fn here(date: &str, quick: bool) -> Machine {
        Machine {
            date: date.into(),
            cpu: machine::cpu().unwrap_or_else(|| "unknown".into()),
            cores: machine::cores(),
            memory_bytes: machine::memory_bytes(),
            instruction_set: robust_mdp::lanes::instruction_set().into(),
            rustc: output("rustc", &["--version"]),
            commit: output("git", &["describe", "--always", "--dirty", "--abbrev=12"]),
            load: machine::load(),
            quick,
        }
    }

    pub(crate) fn write(&self, path: &Path) -> Result<(), Failure> {
        Ok(std::fs::write(path, serde_json::to_string_pretty(self)? + "\n")?)
    }
}

pub(crate) fn read(path: &Path) -> Result<Machine, Failure> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(serde_json::from_str(&text)?)
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}
