//! machine.json: where and when a run was made.

use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

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
        let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Machine {
            date: date.into(),
            cpu: field(&cpu, "model name").unwrap_or("unknown").into(),
            cores: std::thread::available_parallelism().map_or(1, |n| n.get()),
            memory_bytes: kilobytes("/proc/meminfo", "MemTotal"),
            instruction_set: robust_mdp::lanes::instruction_set().into(),
            rustc: output("rustc", &["--version"]),
            commit: output("git", &["describe", "--always", "--dirty", "--abbrev=12"]),
            load: load.split_whitespace().next().and_then(|l| l.parse().ok()),
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

/// The value of `name : value` lines.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim())
}

/// A field such as `VmHWM: 1234 kB`, in bytes.
pub(crate) fn kilobytes(path: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(path).ok()?;
    let number = field(&text, name)?.trim_end_matches("kB").trim().parse::<u64>().ok()?;
    Some(1024 * number)
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}

/// Today's date in UTC as YYYY-MM-DD.
pub(crate) fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (year, month, day) = civil(since / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Year, month and day of a number of days since 1 January 1970.
fn civil(mut days: u64) -> (u64, u64, u64) {
    let leap = |y: u64| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

#[cfg(test)]
mod tests {
    use super::civil;

    #[test]
    fn dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29)); // 30 years, 7 of them leap, and 59 days
        assert_eq!(civil(11_017), (2000, 3, 1));
        assert_eq!(civil(20_818), (2026, 12, 31)); // 57 years of 365, 14 leap days, less one
    }
}
