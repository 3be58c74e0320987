//! Thread pools, one for each number of threads that was ever asked for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::Error;

/// Runs a job on so many threads. Pools are kept: starting one takes longer than many a solve.
pub(crate) fn in_pool<T: Send>(
    threads: Option<usize>,
    job: impl FnOnce() -> T + Send,
) -> Result<T, Error> {
    static POOLS: Mutex<BTreeMap<usize, Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());
    if threads == Some(0) {
        return Err(Error::Input("the number of threads must be at least 1".into()));
    }
    let threads = threads.unwrap_or(0);
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
