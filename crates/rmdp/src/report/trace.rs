//! Traces of `rmdp solve --trace`, and which result each is of.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use robust_mdp::Error;
use robust_mdp_page::number::{gap_text, short};
use serde::Deserialize;

use super::solved::Solved;
use crate::failure::{Failure, json_in_words};

/// A line of a trace.
#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "an object")]
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

/// Longest line: those that `rmdp` writes have some 250 bytes.
const LONGEST_LINE: u64 = 1 << 16;

fn read(path: &Path) -> Result<Trace, Failure> {
    let failed = |source| Failure::input(Error::Io { path: path.to_owned(), source });
    let file = File::open(path).map_err(failed)?;
    parse(path, BufReader::new(file))
}

pub(super) fn parse(path: &Path, mut reader: impl BufRead) -> Result<Trace, Failure> {
    let (mut trace, mut line) = (Trace::new(), Vec::new());
    for number in 1.. {
        line.clear();
        let read = (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut line);
        match read {
            Ok(0) => break,
            Ok(_) if line.trim_ascii().is_empty() => continue,
            Ok(_) => {}
            Err(source) => {
                return Err(Failure::input(Error::Io { path: path.to_owned(), source }));
            }
        }
        let wrong =
            |what: String| Failure::usage(format!("{}, line {number}: {what}", path.display()));
        let found: Line = serde_json::from_slice(line.trim_ascii()).map_err(|e| {
            let (what, column) = (json_in_words(&e), e.column());
            wrong(format!("no line of `rmdp solve --trace`: column {column}: {what}"))
        })?;
        if found.lower > found.upper || found.gap < 0.0 || found.seconds < 0.0 {
            let told = "expected lower ≤ upper, gap ≥ 0 and seconds ≥ 0";
            let Line { lower, upper, gap, seconds, .. } = found;
            return Err(wrong(format!("{lower} to {upper}, gap {gap}, {seconds} seconds: {told}")));
        }
        trace.push(found);
    }
    match trace.is_empty() {
        true => Err(Failure::usage(format!("{}: no sweep in the trace", path.display()))),
        false => Ok(trace),
    }
}
