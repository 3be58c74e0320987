//! Threads: pools, one for each number of threads that was ever asked for, and none for one thread.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::Error;

/// Threads to begin with, where so many were asked for: more than there are cores help nobody, and
/// very many would bring the system down. The answer does not depend on them.
pub(crate) fn at_most(asked: usize) -> usize {
    const ALWAYS: usize = 64;
    asked.min(cores().max(ALWAYS))
}

pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

thread_local! {
    /// Whether the job of this thread was asked to stay on it.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Runs a job on so many threads. Pools are kept: starting one takes longer than many a solve; so
/// does waking one, and a job for one thread stays where it is.
pub(crate) fn in_pool<T: Send>(
    threads: Option<usize>,
    job: impl FnOnce() -> T + Send,
) -> Result<T, Error> {
    static POOLS: Mutex<BTreeMap<usize, Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());
    if threads == Some(0) {
        return Err(Error::Input("the number of threads must be at least 1".into()));
    }
    if threads == Some(1) {
        let _alone = Alone::begin();
        return Ok(job());
    }
    let threads = at_most(threads.unwrap_or(0));
    let pool = {
        let mut pools = POOLS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match pools.get(&threads) {
            Some(pool) => pool.clone(),
            None => {
                let pool = ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .map_err(|e| Error::Input(format!("threads could not be started: {e}")))?;
                pools.entry(threads).or_insert(Arc::new(pool)).clone()
            }
        }
    };
    Ok(pool.install(job))
}

/// While it lives, [`alone`] holds; it ends with a panic too.
struct Alone {
    before: bool,
}

impl Alone {
    fn begin() -> Alone {
        Alone { before: ALONE.replace(true) }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        ALONE.set(self.before);
    }
}

/// Whether all work is to be done on this thread.
pub(crate) fn alone() -> bool {
    ALONE.get()
}

/// How many threads there are to work with.
pub(crate) fn threads() -> usize {
    if alone() { 1 } else { rayon::current_num_threads() }
}

/// Which of them this is.
pub(crate) fn this_thread() -> usize {
    if alone() { 0 } else { rayon::current_thread_index().unwrap_or(0) }
}

/// Both jobs, side by side if there is another thread.
pub(crate) fn join<A: Send, B: Send>(
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if alone() { (a(), b()) } else { rayon::join(a, b) }
}

#[cfg(test)]
mod tests {
    use super::{alone, at_most, in_pool, threads};

    #[test]
    fn one_thread_is_the_callers() {
        let here = std::thread::current().id();
        let job = || (std::thread::current().id(), threads(), alone());
        assert_eq!(in_pool(Some(1), job).ok(), Some((here, 1, true)));
        assert!(!alone());
        assert_eq!(in_pool(Some(2), || (threads(), alone())).ok(), Some((2, false)));
    }

    #[test]
    fn there_is_an_end_to_threads() {
        assert_eq!(in_pool(Some(usize::MAX), threads).ok(), Some(at_most(usize::MAX)));
        assert!(at_most(usize::MAX) < 100_000 && at_most(7) == 7);
    }

    #[test]
    fn a_pool_inside_of_one_thread_is_a_pool() {
        let inner = in_pool(Some(1), || in_pool(Some(2), || (threads(), alone())).ok());
        assert_eq!(inner.ok().flatten(), Some((2, false)));
    }

    #[test]
    fn a_panic_leaves_nothing_behind() {
        let caught = std::panic::catch_unwind(|| in_pool(Some(1), || panic!("on purpose")));
        assert!(caught.is_err() && !alone());
    }
}
