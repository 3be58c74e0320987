//! The readers of what `rmdp` itself has written, on bytes, for the fuzzer. What they find is thrown
//! away; what is wrong comes back as the message that the program would print.

use crate::failure::json_in_words;
use crate::report;

/// A result of `rmdp solve --json`, with the page that shows it.
pub fn result(bytes: &[u8]) -> Result<(), String> {
    report::check::result(bytes).map_err(|failure| failure.to_string())
}

/// A trace of `rmdp solve --trace`, with its figure.
pub fn trace(bytes: &[u8]) -> Result<(), String> {
    report::check::trace(bytes).map_err(|failure| failure.to_string())
}

/// A journal of `rmdp reproduce`.
pub fn journal(bytes: &[u8]) -> Result<(), String> {
    robust_mdp_reproduce::check_journal(bytes)
        .map_err(|(line, error)| format!("line {line}: {}", json_in_words(&error)))
}
