//! Traces of `rmdp solve --trace`, and which result each is of.

use std::fs;
use std::path::{Path, PathBuf};

use robust_mdp::Error;
use serde::Deserialize;

use super::solved::Solved;
use crate::failure::Failure;
use crate::render::number::{gap_text, short};

/// A line of a trace.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Line {
    pub(super) sweep: u64,
    pub(super) seconds: f64,
    pub(super) lower: f64,
    pub(super) upper: f64,
    pub(super) gap: f64,
}

/// The lines, in order of sweeps.
pub(super) type Trace = Vec<Line>;

/// Reads traces and finds the result of each.
pub(super) fn read_all(
    paths: &[PathBuf],
    results: &[Solved],
) -> Result<Vec<(usize, Trace)>, Failure> {
    let mut found: Vec<(usize, Trace)> = Vec::new();
    for path in paths {
        let trace = read(path)?;
        let last = &trace[trace.len() - 1];
        let free = |i: &usize| found.iter().all(|(j, _)| j != i);
        let fits = |i: &usize| of(last, &results[*i]);
        let Some(i) = (0..results.len()).filter(free).find(fits) else {
            let told = format!(
                "ends after {} sweeps with bounds {} and {}",
                last.sweep,
                short(last.lower),
                short(last.upper)
            );
            return Err(Failure::usage(format!(
                "{}: the trace of none of the results (or of one that has its trace already): \
                 it {told}, gap {}",
                path.display(),
                gap_text(last.gap)
            ))
            .hint("--json and --trace of the same `rmdp solve` belong together"));
        };
        found.push((i, trace));
    }
    found.sort_by_key(|(i, _)| *i);
    Ok(found)
}

/// A run ends where its trace does.
fn of(last: &Line, result: &Solved) -> bool {
    let file = &result.file;
    // A certificate has moved the bounds a little.
    let same = |a: f64, b: f64| a == b || file.verified && (a - b).abs() <= file.gap;
    last.sweep == file.sweeps
        && same(last.gap, file.gap)
        && same(last.lower, file.value.lower)
        && same(last.upper, file.value.upper)
}

fn read(path: &Path) -> Result<Trace, Failure> {
    let text = fs::read_to_string(path)
        .map_err(|source| Failure::input(Error::Io { path: path.to_owned(), source }))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let parsed = lines.map(|(i, line)| {
        serde_json::from_str(line).map_err(|e| {
            let (path, line) = (path.display(), i + 1);
            Failure::usage(format!("{path}: line {line}: no line of `rmdp solve --trace`: {e}"))
        })
    });
    let trace = parsed.collect::<Result<Trace, Failure>>()?;
    match trace.is_empty() {
        true => Err(Failure::usage(format!("{}: no sweep in the trace", path.display()))),
        false => Ok(trace),
    }
}
