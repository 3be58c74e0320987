//! Ctrl-C and SIGTERM: the first ends the run with its best certified answer, the second leaves at
//! once.

use std::sync::atomic::{AtomicBool, Ordering};

use robust_mdp::Interrupt;

use crate::failure::Failure;
use crate::output;

/// The exit code of a process that SIGINT killed, as shells report it.
const KILLED: i32 = 130;

static INTERRUPT: Interrupt = Interrupt::new();
static RAISED: AtomicBool = AtomicBool::new(false);

/// The flag that the first signal raises. To be called once.
pub(crate) fn listen(quiet: bool) -> Result<&'static Interrupt, Failure> {
    listen_saying(quiet, "interrupted: ending with the best certified answer so far\n")
}

/// The same, with something else to say.
pub(crate) fn listen_saying(
    quiet: bool,
    words: &'static str,
) -> Result<&'static Interrupt, Failure> {
    let handler = move || {
        if RAISED.swap(true, Ordering::Relaxed) {
            std::process::exit(KILLED);
        }
        INTERRUPT.raise();
        if !quiet {
            output::to_stderr(words);
        }
    };
    ctrlc::set_handler(handler)
        .map_err(|e| Failure::usage(format!("signals cannot be caught: {e}")))?;
    Ok(&INTERRUPT)
}
