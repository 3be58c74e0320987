//! Results and traces from bytes, up to the pages that show them, for the fuzzer.

use std::path::Path;

use robust_mdp::Interrupt;
use robust_mdp_page::{Page, html};

use super::solved::{self, Solved};
use super::trace::{self, Trace};
use super::{Material, convergence, overview, policy, worst_case};
use crate::failure::Failure;

/// Reads a result and draws its page.
pub(crate) fn result(bytes: &[u8]) -> Result<(), Failure> {
    draw(solved::parse(Path::new("result"), bytes)?, Vec::new())
}

/// Reads a trace and draws it, as that of some result.
pub(crate) fn trace(bytes: &[u8]) -> Result<(), Failure> {
    let trace = trace::parse(Path::new("trace"), bytes)?;
    draw(solved::parse(Path::new("result"), SOME_RESULT.as_bytes())?, vec![(0, trace)])
}

fn draw(result: Solved, traces: Vec<(usize, Trace)>) -> Result<(), Failure> {
    let (results, proved) = (vec![result], vec![false]);
    let material = Material { results, source: None, evaluated: Vec::new(), traces, proved };
    let mut sections = vec![overview::section(&material)];
    sections.extend(convergence::section(&material));
    sections.push(policy::section(&material));
    sections.extend(worst_case::section(&material, None, &Interrupt::new())?);
    let (title, summary) = ("a page".to_owned(), overview::summary(&material));
    html(&Page { title, summary, sections, provenance: Vec::new() });
    Ok(())
}

pub(super) const SOME_RESULT: &str = r#"{"status":"certified","objective":"min-cost","discount":0.5,
"set":"kl","radius":0.1,"rectangular":"s","support":"nominal","method":"vi","oracle":"exact",
"value":{"lower":1,"upper":2},"lower":[1],"upper":[2],"gap":1,"policy":[[1]],"sweeps":3,
"seconds":0.1,"warnings":[]}"#;
