//! Shared by the tests: a temporary folder, the real binary with a hard time limit, and archives.
#![allow(dead_code)] // each test uses its part

pub(crate) mod npz;

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// No run of a test may take longer; the longest take a second or two.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder that is removed with its content.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub(crate) fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Runs `rmdp` in the folder.
    pub(crate) fn rmdp(&self, args: &[&str]) -> Outcome {
        finish(self.start(args))
    }

    /// Starts `rmdp` in the folder.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_rmdp"))
            .args(args)
            .current_dir(self.path())
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }
}

/// Waits until a process catches SIGINT, and sends it one.
#[cfg(target_os = "linux")]
pub(crate) fn interrupt_when_it_listens(child: &Child) {
    let status = format!("/proc/{}/status", child.id());
    let catches = || {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:")).map(str::trim);
        mask.and_then(|mask| u64::from_str_radix(mask, 16).ok()).is_some_and(|m| m >> 1 & 1 == 1)
    };
    let started = Instant::now();
    while !catches() {
        assert!(started.elapsed() < PATIENCE, "no handler");
        thread::sleep(Duration::from_millis(1));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Outcome {
        assert_eq!(self.code, Some(code), "{}{}", self.stdout, self.stderr);
        self
    }
}

/// Waits for a run to end.
pub(crate) fn finish(mut child: Child) -> Outcome {
    let read = |mut stream: Box<dyn Read + Send>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).unwrap();
            String::from_utf8(bytes).unwrap()
        })
    };
    let stdout = read(Box::new(child.stdout.take().unwrap()));
    let stderr = read(Box::new(child.stderr.take().unwrap()));
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("the run did not end within {PATIENCE:?}");
        }
        thread::sleep(Duration::from_millis(5));
    };
    Outcome { code: status.code(), stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
}

/// Cuts a decimal number after three digits behind the point.
fn three_digits(word: &str) -> String {
    match word.split_once('.') {
        Some((whole, decimals))
            if decimals.len() > 3 && word.chars().all(|c| c.is_ascii_digit() || c == '.') =>
        {
            format!("{whole}.{}_", &decimals[..3])
        }
        _ => word.to_owned(),
    }
}

/// A page as it is on every machine. Times differ from run to run, work and last digits from one instruction set to
/// another: it keeps three digits of the values and none of what was done to get them. How wide a column is
/// follows from the digits.
pub(crate) fn masked(page: &str) -> String {
    let mask = |line: &str| {
        for label in ["  gap ", "  time ", "  work "] {
            if line.starts_with(label) {
                return format!("{label}…");
            }
        }
        let cells = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
        let cut = |cell: &str| cell.split(' ').map(three_digits).collect::<Vec<_>>().join(" ");
        cells.map(|cell| format!("  {}", cut(cell))).collect()
    };
    let lines: Vec<String> = page.lines().map(mask).collect();
    lines.join("\n") + "\n"
}
