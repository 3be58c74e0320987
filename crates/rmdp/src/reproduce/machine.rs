//! machine.json: where and how a run was made.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use robust_mdp::machine;
use serde::{Deserialize, Serialize};

pub(crate) const FILE: &str = "machine.json";

/// The machine, the version and the command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) date: String,
    pub(crate) version: String,
    pub(crate) command: String,
    /// How many seeds, from 1 on, by experiment.
    pub(crate) seeds: BTreeMap<String, u64>,
    pub(crate) threads: usize,
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) instruction_set: String,
    /// Load average over a minute when the run began.
    pub(crate) load: Option<f64>,
}

impl Machine {
    pub(crate) fn here(command: String, seeds: BTreeMap<String, u64>, threads: usize) -> Machine {
        Machine {
            date: machine::today(),
            version: env!("CARGO_PKG_VERSION").into(),
            command,
            seeds,
            threads,
            cpu: machine::cpu().unwrap_or_else(|| std::env::consts::ARCH.into()),
            cores: machine::cores(),
            memory_bytes: machine::memory_bytes(),
            instruction_set: robust_mdp::lanes::instruction_set().into(),
            load: machine::load(),
        }
    }

    /// What machine.json in a folder says.
    pub(crate) fn read(folder: &Path) -> Option<Machine> {
        serde_json::from_str(&fs::read_to_string(folder.join(FILE)).ok()?).ok()
    }

    pub(crate) fn provenance(&self) -> Vec<(String, String)> {
        let mut lines = vec![
            ("Command", self.command.clone()),
            ("Version", format!("rmdp {}", self.version)),
            ("Date", self.date.clone()),
            ("Processor", format!("{}, {} cores", self.cpu, self.cores)),
            ("Instructions", self.instruction_set.clone()),
            ("Threads of a run", self.threads.to_string()),
            ("Seeds", self.seeds_text()),
        ];
        if let Some(bytes) = self.memory_bytes {
            lines.push(("Memory", format!("{:.0} GiB", bytes as f64 / (1u64 << 30) as f64)));
        }
        if let Some(load) = self.load {
            lines.push(("Load at the start", load.to_string()));
        }
        lines.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// “1 to 10 (epochs, weights), 1 to 3 (time)”.
    fn seeds_text(&self) -> String {
        let mut counts: Vec<u64> = self.seeds.values().copied().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts.dedup();
        let part = |count: &u64| {
            let names: Vec<&str> =
                self.seeds.iter().filter(|s| s.1 == count).map(|s| s.0.as_str()).collect();
            format!("1 to {count} ({})", names.join(", "))
        };
        counts.iter().map(part).collect::<Vec<_>>().join(", ")
    }
}
