//! `--checkpoint`: the state of a long run in a file, to go on from after an interruption.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use robust_mdp::io::write_atomically;
use robust_mdp::{Checkpointer, Error, Status, is_checkpoint};

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

    /// Something else stands where the checkpoint should; not even `--restart` replaces it.
    fn no_checkpoint(&self, what: &str) -> Error {
        Error::Input(format!("{} {what}, expected one or no such file", self.path.display()))
    }

    /// After a run whose answer has been written: a checkpoint that can lead no further is removed.
    pub(crate) fn finish(self, status: Status) -> Result<(), Failure> {
        if matches!(status, Status::Certified | Status::PrecisionLimit) {
            // What a link leads to, not the link.
            let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
            return match fs::remove_file(path) {
                Err(e) if e.kind() != ErrorKind::NotFound => Err(Failure::write(&self.path, e)),
                _ => Ok(()),
            };
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
        let failed = |source| Error::Io { path: self.path.clone(), source };
        match fs::metadata(&self.path) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(failed(e)),
            Ok(about) if about.is_dir() => return Err(failed(ErrorKind::IsADirectory.into())),
            Ok(about) if !about.is_file() => {
                return Err(self.no_checkpoint("is not a plain file"));
            }
            Ok(_) => {}
        }
        let (mut bytes, mut file) = (Vec::new(), File::open(&self.path).map_err(failed)?);
        // The first bytes tell whether the rest is worth reading.
        (&mut file).take(8).read_to_end(&mut bytes).map_err(failed)?;
        if !is_checkpoint(&bytes) {
            return Err(self.no_checkpoint("is not a checkpoint"));
        }
        if self.restart {
            return Ok(None);
        }
        file.take(most).read_to_end(&mut bytes).map_err(failed)?;
        self.say("found a checkpoint");
        Ok(Some(bytes))
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
