//! What records of measurements say of the machine and the day.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Where something was measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name, or its architecture where the system does not tell.
    pub cpu: String,
    /// Cores that the process may use.
    pub cores: usize,
    /// All of the memory.
    pub memory_bytes: Option<u64>,
    /// The vector instructions that the library uses.
    pub instruction_set: String,
    /// Load average over a minute when the run began.
    pub load: Option<f64>,
}

impl Machine {
    /// This one, now.
    pub fn here() -> Machine {
        let cpu = field(&read("/proc/cpuinfo"), "model name").map(str::to_owned);
        Machine {
            cpu: cpu.unwrap_or_else(|| std::env::consts::ARCH.into()),
            cores: cores(),
            memory_bytes: kilobytes("/proc/meminfo", "MemTotal"),
            instruction_set: robust_mdp::lanes::instruction_set().into(),
            load: load(),
        }
    }

    /// “16 GiB”, where the system tells.
    pub fn memory(&self) -> Option<String> {
        self.memory_bytes.map(|bytes| format!("{:.0} GiB", bytes as f64 / (1u64 << 30) as f64))
    }
}

/// Cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// Load average over a minute: numbers of a busy machine mean little.
pub fn load() -> Option<f64> {
    read("/proc/loadavg").split_whitespace().next()?.parse().ok()
}

/// A field such as `VmHWM: 1234 kB` of a file, in bytes.
pub fn kilobytes(path: &str, name: &str) -> Option<u64> {
    let number = field(&read(path), name)?.trim_end_matches("kB").trim().parse::<u64>().ok()?;
    Some(1024 * number)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// The value of a line `name : value`.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim())
}

/// Today's date in UTC as YYYY-MM-DD.
pub fn today() -> String {
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
