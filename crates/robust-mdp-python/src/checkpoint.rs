//! Checkpoints in a file.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use robust_mdp::io::{read_checkpoint, remove_checkpoint, write_atomically};
use robust_mdp::{Checkpointer, Error, Status};

/// Where the state of a run is kept, and how often.
pub(crate) struct CheckpointFile {
    path: PathBuf,
    every: Duration,
    last: Instant,
    /// Why the last state could not be written.
    failed: Option<Error>,
}

impl CheckpointFile {
    pub(crate) fn new(path: PathBuf, seconds: f64) -> CheckpointFile {
        // A time too long for the clock is never over.
        let every = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        CheckpointFile { path, every, last: Instant::now(), failed: None }
    }

    /// After a run: removes a checkpoint that can lead no further. What went wrong is no reason to lose
    /// the answer.
    pub(crate) fn finish(self, status: Status) -> Option<Error> {
        match status {
            Status::Certified | Status::PrecisionLimit => remove_checkpoint(&self.path).err(),
            _ => self.failed,
        }
    }

    /// Puts the file's name before what is wrong with it.
    pub(crate) fn explain(&self, error: Error) -> Error {
        match error {
            Error::Checkpoint(reason) => {
                let path = self.path.display();
                Error::Checkpoint(format!("{path}: {reason}; name another file or remove this one"))
            }
            other => other,
        }
    }
}

impl Checkpointer for CheckpointFile {
    fn resume(&mut self, most: u64) -> Result<Option<Vec<u8>>, Error> {
        read_checkpoint(&self.path, most)
    }

    fn is_due(&mut self) -> bool {
        self.last.elapsed() >= self.every
    }

    fn keep(&mut self, state: &[u8]) {
        self.failed = write_atomically(&self.path, |w| w.write_all(state)).err();
        self.last = Instant::now();
    }
}
