//! The readers of what `rmdp` itself has written, on bytes, for the fuzzer. What they find is thrown
//! away; what is wrong comes back as the message that the program would print.

use std::path::Path;

use crate::{report, reproduce};

/// A result of `rmdp solve --json`.
pub fn result(bytes: &[u8]) -> Result<(), String> {
    report::check_result(Path::new("result"), bytes).map_err(|failure| failure.to_string())
}

/// A trace of `rmdp solve --trace`.
pub fn trace(bytes: &[u8]) -> Result<(), String> {
    report::check_trace(Path::new("trace"), bytes).map_err(|failure| failure.to_string())
}

/// A journal of `rmdp reproduce`.
pub fn journal(bytes: &[u8]) -> Result<(), String> {
    reproduce::check_journal(bytes).map_err(|(line, message)| format!("line {line}: {message}"))
}
