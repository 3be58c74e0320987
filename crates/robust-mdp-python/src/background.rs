//! Long work on a thread of its own, so that the interpreter can go on and Ctrl-C is heard.
//!
//! The calling thread gives the interpreter up and wakes now and then to look for signals and to
//! report progress. Work that does not end soon after it was asked to is left to itself: it holds
//! nothing of Python.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::Builder;
use std::time::Duration;

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use robust_mdp::Interrupt;

/// Between two looks at signals.
const TICK: Duration = Duration::from_millis(20);
/// For work to end after it was asked to.
const GRACE: Duration = Duration::from_millis(40);
/// Linear systems are solved on the stack's depth of the main thread, not of a small one.
const STACK: usize = 16 << 20;

/// Whether pools of threads were made, which a forked process would wait for in vain.
static POOLED: AtomicBool = AtomicBool::new(false);
static FORKED: AtomicBool = AtomicBool::new(false);

/// To be called in a process that was forked off.
#[pyfunction]
pub(crate) fn after_fork() {
    FORKED.store(POOLED.load(Ordering::Relaxed), Ordering::Relaxed);
}

/// Threads that may be used where so many were asked for.
pub(crate) fn threads(asked: Option<usize>) -> Option<usize> {
    if FORKED.load(Ordering::Relaxed) && asked != Some(0) {
        return Some(1);
    }
    POOLED.fetch_or(asked != Some(1), Ordering::Relaxed);
    asked
}

/// Why a job that was asked to end is waited for. A second exception gives up.
#[derive(Clone, Copy, Default)]
pub(crate) struct Patience {
    /// Ctrl-C: the answer is wanted, and no exception.
    pub(crate) keep: bool,
    /// Any exception: it is passed on after the job has put its state away.
    pub(crate) finish: bool,
}

/// Runs `job` and waits for it. An exception raised by a signal or by `tick` asks it to end and is passed
/// on, soon unless there is patience.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    patience: Patience,
    tick: impl FnMut(Python<'_>) -> PyResult<()>,
    job: impl FnOnce(&Interrupt) -> T + Send + 'static,
) -> PyResult<T> {
    let (send, receive) = sync_channel(1);
    let interrupt = Arc::new(Interrupt::new());
    let seen = interrupt.clone();
    worker().spawn(move || {
        // Nobody listens any more if the wait was given up.
        let _ = send.send(job(&seen));
    })?;
    attend(py, patience, tick, receive, &interrupt)
}

/// Runs a job that reads what Python owns, such as the memory of its arrays. It cannot be left behind:
/// the exception is passed on when it has heard of the interrupt.
pub(crate) fn run_borrowing<T: Send>(
    py: Python<'_>,
    job: impl FnOnce(&Interrupt) -> T + Send,
) -> PyResult<T> {
    let (send, receive) = sync_channel(1);
    let interrupt = Interrupt::new();
    let patience = Patience { keep: false, finish: true };
    std::thread::scope(|scope| {
        let seen = &interrupt;
        let thread = worker().spawn_scoped(scope, move || {
            let _ = send.send(job(seen));
        })?;
        let answer = attend(py, patience, |_| Ok(()), receive, &interrupt);
        // A panic was reported as such by the loop.
        let _ = py.detach(|| thread.join());
        answer
    })
}

fn worker() -> Builder {
    Builder::new().name("robust-mdp".into()).stack_size(STACK)
}

/// Waits for an answer, looking for signals meanwhile.
fn attend<T: Send>(
    py: Python<'_>,
    patience: Patience,
    mut tick: impl FnMut(Python<'_>) -> PyResult<()>,
    receive: Receiver<T>,
    interrupt: &Interrupt,
) -> PyResult<T> {
    let receive = Mutex::new(receive);
    let wait = |time: Duration| {
        py.detach(|| match receive.lock() {
            Ok(receive) => receive.recv_timeout(time),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        })
    };
    let mut stopped = None;
    loop {
        match wait(TICK) {
            Ok(answer) => return stopped.map_or(Ok(answer), Err),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the solver failed; this is a bug in it"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let seen = py.check_signals();
        // What raised once would raise again.
        let seen = if stopped.is_none() { seen.and_then(|()| tick(py)) } else { seen };
        if let Err(stop) = seen {
            let again = interrupt.is_raised();
            interrupt.raise();
            if patience.keep && !again && stop.is_instance_of::<PyKeyboardInterrupt>(py) {
                continue;
            }
            if patience.finish && !again {
                stopped = Some(stop);
                continue;
            }
            let _ = wait(GRACE);
            return Err(stop);
        }
    }
}

/// Runs a job that cannot be interrupted but can be left behind.
pub(crate) fn run_quietly<T: Send + 'static>(
    py: Python<'_>,
    job: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    run(py, Patience::default(), |_| Ok(()), |_| job())
}
