//! machine.json: where and how a run was made.

use robust_mdp::machine;
use serde::{Deserialize, Serialize};

/// The machine, the version and the command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) date: String,
    pub(crate) version: String,
    pub(crate) command: String,
    pub(crate) seeds: Vec<u64>,
    pub(crate) threads: usize,
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) instruction_set: String,
    /// Load average over a minute when the run began.
    pub(crate) load: Option<f64>,
}

impl Machine {
    pub(crate) fn here(command: String, seeds: u64, threads: usize) -> Machine {
        Machine {
            date: machine::today(),
            version: env!("CARGO_PKG_VERSION").into(),
            command,
            seeds: (1..=seeds).collect(),
            threads,
            cpu: machine::cpu().unwrap_or_else(|| std::env::consts::ARCH.into()),
            cores: machine::cores(),
            memory_bytes: machine::memory_bytes(),
            instruction_set: robust_mdp::lanes::instruction_set().into(),
            load: machine::load(),
        }
    }

    pub(crate) fn provenance(&self) -> Vec<(String, String)> {
        let seeds = format!("1 to {}", self.seeds.len());
        let mut lines = vec![
            ("Command", self.command.clone()),
            ("Version", format!("rmdp {}", self.version)),
            ("Date", self.date.clone()),
            ("Processor", format!("{}, {} cores", self.cpu, self.cores)),
            ("Instructions", self.instruction_set.clone()),
            ("Threads of a run", self.threads.to_string()),
            ("Seeds", seeds),
        ];
        if let Some(bytes) = self.memory_bytes {
            lines.push(("Memory", format!("{:.0} GiB", bytes as f64 / (1u64 << 30) as f64)));
        }
        if let Some(load) = self.load {
            lines.push(("Load at the start", load.to_string()));
        }
        lines.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}
