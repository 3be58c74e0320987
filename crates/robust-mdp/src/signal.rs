//! What ends a run early: a flag that anyone may raise, and a deadline.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A flag that ends a run cleanly, from another thread or a signal handler.
#[derive(Debug, Default)]
pub struct Interrupt(AtomicBool);

impl Interrupt {
    /// A flag that is down.
    pub const fn new() -> Interrupt {
        Interrupt(AtomicBool::new(false))
    }

    /// Asks the run to end with the best certified answer so far.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked for.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn signal(&self) -> Signal<'_> {
        self.signal_until(None)
    }

    pub(crate) fn signal_until(&self, deadline: Option<Instant>) -> Signal<'_> {
        Signal { interrupt: self, deadline }
    }
}

/// What ends a run early.
pub(crate) struct Signal<'a> {
    interrupt: &'a Interrupt,
    deadline: Option<Instant>,
}

/// Why a run ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The flag was raised.
    Interrupted,
    /// The deadline has passed.
    TimeLimit,
}

impl Signal<'_> {
    pub(crate) fn raised(&self) -> bool {
        self.reason().is_some()
    }

    pub(crate) fn reason(&self) -> Option<Reason> {
        if self.interrupt.is_raised() {
            Some(Reason::Interrupted)
        } else if self.deadline.is_some_and(|d| Instant::now() >= d) {
            Some(Reason::TimeLimit)
        } else {
            None
        }
    }
}
