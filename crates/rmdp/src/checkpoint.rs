//! `--checkpoint`: the state of a long run in a file, to go on from after an interruption.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use robust_mdp::io::{read_checkpoint, remove_checkpoint, write_atomically};
use robust_mdp::{Checkpointer, Error, Status};

use crate::args;
use crate::failure::Failure;
use crate::output;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Checkpoints")]
pub(crate) struct CheckpointArgs {
    /// Keep the state of the run in this file; the same command goes on from it
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Time between checkpoints; 0 takes one after every sweep
    #[arg(long, value_name = "SECONDS", value_parser = args::non_negative)]
    #[arg(default_value = "60", requires = "checkpoint", allow_hyphen_values = true)]
    checkpoint_every: f64,
    /// Start anew, whatever the checkpoint holds
    #[arg(long, requires = "checkpoint")]
    restart: bool,
}

/// Checkpoints in a file.
pub(crate) struct CheckpointFile {
    path: PathBuf,
    every: Duration,
    last: Instant,
    restart: bool,
    quiet: bool,
    /// Whether the last state could not be written.
    failed: Option<Error>,
    written: bool,
}

impl CheckpointArgs {
    pub(crate) fn file(&self, quiet: bool) -> Option<CheckpointFile> {
        Some(CheckpointFile {
            path: self.checkpoint.clone()?,
            // A time too long for the clock is never over.
            every: Duration::try_from_secs_f64(self.checkpoint_every).unwrap_or(Duration::MAX),
            last: Instant::now(),
            restart: self.restart,
            quiet,
            failed: None,
            written: false,
        })
    }

    /// Whether there is something to go on from.
    pub(crate) fn resumes(&self) -> bool {
        !self.restart && self.checkpoint.as_deref().is_some_and(Path::exists)
    }
}

impl CheckpointFile {
    fn say(&self, words: &str) {
        if !self.quiet {
            output::to_stderr(&format!("{}: {words}\n", self.path.display()));
        }
    }

    /// After a run: a checkpoint that can lead no further is removed, if everything else was `written`.
    pub(crate) fn finish(self, status: Status, written: bool) -> Result<(), Failure> {
        if written && matches!(status, Status::Certified | Status::PrecisionLimit) {
            return remove_checkpoint(&self.path).map_err(Failure::output);
        }
        if let Some(error) = self.failed {
            return Err(Failure::output(error));
        }
        if self.written {
            self.say("the checkpoint; the same command goes on from it");
        }
        Ok(())
    }

    /// Puts the file's name before what is wrong with it.
    pub(crate) fn explain(path: &Path, error: Error) -> Failure {
        let path = path.display();
        match error {
            Error::Checkpoint(_) => Failure::usage(format!("{path}: {error}"))
                .hint("name another file, or start anew with --restart"),
            other => crate::solve::unsolved(other),
        }
    }
}

impl Checkpointer for CheckpointFile {
    fn resume(&mut self, most: u64) -> Result<Option<Vec<u8>>, Error> {
        // Not even `--restart` replaces what is no checkpoint.
        let found = read_checkpoint(&self.path, if self.restart { 0 } else { most })?;
        let found = found.filter(|_| !self.restart);
        if found.is_some() {
            self.say("found a checkpoint");
        }
        Ok(found)
    }

    fn is_due(&mut self) -> bool {
        self.last.elapsed() >= self.every
    }

    fn keep(&mut self, state: &[u8]) {
        let written = write_atomically(&self.path, |w| w.write_all(state));
        if let Err(error) = &written
            && self.failed.is_none()
        {
            self.say(&format!("the checkpoint could not be written: {error}"));
        }
        self.written |= written.is_ok();
        self.failed = written.err();
        self.last = Instant::now();
    }
}
