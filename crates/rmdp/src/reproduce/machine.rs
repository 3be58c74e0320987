//! machine.json: where and how a run was made.

use std::time::{SystemTime, UNIX_EPOCH};

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
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let (cpu, load) = (read("/proc/cpuinfo"), read("/proc/loadavg"));
        let memory = field(&read("/proc/meminfo"), "MemTotal")
            .and_then(|text| text.trim_end_matches("kB").trim().parse::<u64>().ok());
        Machine {
            date: today(),
            version: env!("CARGO_PKG_VERSION").into(),
            command,
            seeds: (1..=seeds).collect(),
            threads,
            cpu: field(&cpu, "model name").unwrap_or_else(|| std::env::consts::ARCH.into()),
            cores: std::thread::available_parallelism().map_or(1, |n| n.get()),
            memory_bytes: memory.map(|kilobytes| 1024 * kilobytes),
            instruction_set: robust_mdp::lanes::instruction_set().into(),
            load: load.split_whitespace().next().and_then(|l| l.parse().ok()),
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

/// The value of a line `name : value`.
fn field(text: &str, name: &str) -> Option<String> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim().to_owned())
}

/// Today's date in UTC as YYYY-MM-DD.
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (year, month, day) = civil(seconds / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The date of a number of days since 1 January 1970: days are counted from 1 March of year 0, in
/// eras of 400 years, so that leap days come last.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (400 * era + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::civil;

    #[test]
    fn dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29)); // 30 years, 7 of them leap, and 59 days
        assert_eq!(civil(11_017), (2000, 3, 1));
        assert_eq!(civil(20_818), (2026, 12, 31));
    }
}
