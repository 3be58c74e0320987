//! machine.json: where and how a run was made.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use robust_mdp_measure::machine::{Machine, today};
use serde::{Deserialize, Serialize};

pub(crate) const FILE: &str = "machine.json";

/// The machine, the version and the command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Provenance {
    pub(crate) date: String,
    pub(crate) version: String,
    pub(crate) command: String,
    /// How many seeds, from 1 on, by experiment.
    pub(crate) seeds: BTreeMap<String, u64>,
    pub(crate) threads: usize,
    #[serde(flatten)]
    pub(crate) machine: Machine,
    /// The most that others made of the load during the run; not there in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) load_by_others: Option<f64>,
}

/// A load above this when a run begins is another process at work.
const BUSY: f64 = 1.0;
/// A load that grew by more than this during a run is one that began.
const GREW: f64 = 0.5;

impl Provenance {
    pub(crate) fn here(
        command: String,
        seeds: BTreeMap<String, u64>,
        threads: usize,
    ) -> Provenance {
        Provenance {
            date: today(),
            version: env!("CARGO_PKG_VERSION").into(),
            command,
            seeds,
            threads,
            machine: Machine::here(),
            load_by_others: None,
        }
    }

    /// With what was seen in the run, and in an earlier one that it went on with.
    pub(crate) fn after(
        mut self,
        load_by_others: Option<f64>,
        earlier: Option<Provenance>,
    ) -> Provenance {
        let (load, others) = earlier.map_or((None, None), |e| (e.machine.load, e.load_by_others));
        self.machine.load = most(self.machine.load, load);
        self.load_by_others = most(load_by_others, others);
        self
    }

    /// What makes the times doubtful.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(load) = self.machine.load.filter(|&load| load > BUSY) {
            warnings.push(format!(
                "The load average was {load} when the run began: others kept the machine busy, and \
                 times, with every claim that rests on them, are not to be trusted."
            ));
        }
        let (begun, most) = (self.machine.load.unwrap_or(0.0), self.load_by_others.unwrap_or(0.0));
        if most > begun + GREW {
            warnings.push(format!(
                "The load average grew during the run: others made {most} of it at most, in place of \
                 {begun} at the start. Times, with every claim that rests on them, are not to be \
                 trusted."
            ));
        }
        warnings
    }

    /// What machine.json in a folder says.
    pub(crate) fn read(folder: &Path) -> Option<Provenance> {
        serde_json::from_str(&fs::read_to_string(folder.join(FILE)).ok()?).ok()
    }

    pub(crate) fn provenance(&self) -> Vec<(String, String)> {
        let mut lines = vec![
            ("Command", self.command.clone()),
            ("Version", format!("rmdp {}", self.version)),
            ("Date", self.date.clone()),
            ("Processor", format!("{}, {} cores", self.machine.cpu, self.machine.cores)),
            ("Instructions", self.machine.instruction_set.clone()),
            ("Threads of a run", self.threads.to_string()),
            ("Seeds", self.seeds_text()),
        ];
        lines.extend(self.machine.memory().map(|memory| ("Memory", memory)));
        lines.extend(self.machine.load.map(|load| ("Load at the start", load.to_string())));
        lines.push((
            "Load by others, at most",
            self.load_by_others.map_or("not recorded".into(), |load| load.to_string()),
        ));
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

/// The larger of what is known.
pub(crate) fn most(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.zip(b).map(|(a, b)| a.max(b)).or(a).or(b)
}

#[cfg(test)]
mod tests {
    use super::Provenance;

    fn machine(load: Option<f64>, by_others: Option<f64>) -> Provenance {
        let text = r#"{"date": "", "version": "", "command": "", "seeds": {}, "threads": 1, "cpu": "",
            "cores": 2, "memory_bytes": null, "instruction_set": "", "load": null}"#;
        let old: Provenance = serde_json::from_str(text).unwrap();
        let machine = super::Machine { load, ..old.machine };
        Provenance { machine, load_by_others: by_others, ..old }
    }

    #[test]
    fn busy_machines_are_warned_of() {
        let warned = |load, by_others| machine(load, by_others).warnings();
        assert!(warned(Some(0.95), Some(1.2)).is_empty());
        assert!(warned(Some(1.0), None).is_empty());
        let busy = warned(Some(1.26), Some(1.3));
        assert!(busy.len() == 1 && busy[0].contains("was 1.26 when the run began"), "{busy:?}");
        let grew = warned(Some(0.2), Some(1.7));
        assert!(grew.len() == 1 && grew[0].contains("made 1.7 of it at most"), "{grew:?}");
        assert_eq!(warned(Some(2.0), Some(3.0)).len(), 2);
        assert!(warned(None, None).is_empty());
    }

    #[test]
    fn a_run_that_goes_on_keeps_what_was_seen_before() {
        let earlier = machine(Some(1.5), Some(0.1));
        let both = machine(Some(0.3), None).after(Some(0.4), Some(earlier));
        assert_eq!((both.machine.load, both.load_by_others), (Some(1.5), Some(0.4)));
        let fresh = machine(Some(0.3), None).after(Some(0.4), None);
        assert_eq!((fresh.machine.load, fresh.load_by_others), (Some(0.3), Some(0.4)));
    }

    #[test]
    fn older_files_stay_as_they_were() {
        let text = serde_json::to_string(&machine(Some(0.95), None)).unwrap();
        assert!(!text.contains("load_by_others"), "{text}");
        let lines = machine(Some(0.95), None).provenance();
        assert!(lines.contains(&("Load by others, at most".into(), "not recorded".into())));
    }
}
