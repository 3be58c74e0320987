//! Checkpoints: what a run needs to go on after an interruption, with the bits that it would have
//! had without one.
//!
//! A checkpoint is taken between two sweeps, where the state of a loop is what its next sweep reads:
//! values, the best answer so far, what rows remember, the loop's own memory and the counts of work.
//! What can be computed again from these, such as chains and tables, is left out. The solver neither
//! reads nor writes files: it asks a [`Checkpointer`].
//!
//! The bytes are private to one version: a mark, the question that they belong to, the state, and a
//! checksum of all of it. Change [`FORMAT`] with what any `Snapshot` or the question lists.

mod identity;

use std::time::{Duration, Instant};

pub(crate) use identity::Identity;

use crate::choice::Chosen;
use crate::codec::Codec;
use crate::error::Error;
use crate::loops::anderson;
use crate::model::{Model, checksum};
use crate::oracle::first_order::Setup;
use crate::rows::Layout;
use crate::sets::UncertaintySet;
use crate::solve::{Options, Status};

const MARK: &[u8; 8] = b"rmdpckpt";
const FORMAT: u64 = 7;
/// Bytes that the question may take in a file.
const LONGEST_IDENTITY: usize = 1 << 12;
/// Snapshots that nobody asked for, in case the run is stopped, may take this share of the time.
const SHARE: u32 = 50;

/// Keeps the state of a run somewhere, for a later run of the same question to go on from.
pub trait Checkpointer: Send {
    /// What an earlier run left; `None` starts from the beginning. No checkpoint of this question
    /// is longer than `most` bytes.
    fn resume(&mut self, most: u64) -> Result<Option<Vec<u8>>, Error>;

    /// Whether the state should be kept now. Asked between sweeps.
    fn is_due(&mut self) -> bool;

    /// Keeps the state in place of the last one. Also called when a run is stopped by a limit or
    /// an interrupt, with the state before its last sweep (or one shortly before, where sweeps
    /// take less time than a copy of the state).
    fn keep(&mut self, state: &[u8]);
}

/// Whether a file that begins with these bytes is a checkpoint, of whatever run and version.
pub fn is_checkpoint(start: &[u8]) -> bool {
    start.starts_with(MARK)
}

/// Puts the checksum at the end of a checkpoint right, for the fuzzer.
#[doc(hidden)]
pub fn seal_checkpoint(bytes: &mut [u8]) {
    if let Some((state, end)) = bytes.split_last_chunk_mut::<8>() {
        *end = checksum(state).to_le_bytes();
    }
}

/// The checkpoints of one run.
pub(crate) struct Checkpoints<'a> {
    to: Option<&'a mut (dyn Checkpointer + 'a)>,
    identity: Identity,
    /// The state to begin with, as it came.
    found: Option<Vec<u8>>,
    /// The last state, whether it was asked for and whether it has been handed over.
    latest: Vec<u8>,
    due: bool,
    kept: bool,
    /// Time that snapshots have taken.
    spent: Duration,
    started: Instant,
}

impl<'a> Checkpoints<'a> {
    /// A run that keeps none.
    pub(crate) fn none() -> Checkpoints<'a> {
        Checkpoints {
            to: None,
            identity: Identity::new(),
            found: None,
            latest: Vec::new(),
            due: false,
            kept: true,
            spent: Duration::ZERO,
            started: Instant::now(),
        }
    }

    /// Those of a run that begins now, perhaps where an earlier one ended.
    pub(crate) fn begin(
        to: &'a mut (dyn Checkpointer + 'a),
        model: &Model,
        set: &UncertaintySet,
        options: &Options,
        chosen: &Chosen,
        setup: Setup,
        gap: f64,
    ) -> Result<Checkpoints<'a>, Error> {
        let identity = identity::of_run(model, set, options, chosen, setup, gap);
        let found = to.resume(longest(model, set, options))?;
        Ok(Checkpoints { to: Some(to), identity, found, ..Checkpoints::none() })
    }

    /// Whether there is a state to begin with.
    pub(crate) fn has_found(&self) -> bool {
        self.found.is_some()
    }

    /// The state to begin with, checked against the question.
    pub(crate) fn take_found(&mut self) -> Result<Option<Found>, Error> {
        let Some(bytes) = self.found.take() else { return Ok(None) };
        match open(&bytes, &self.identity) {
            Ok(start) => Ok(Some(Found { bytes, start })),
            Err(reason) => Err(Error::Checkpoint(reason)),
        }
    }

    /// A codec to write the state, if it is wanted now.
    pub(crate) fn writer(&mut self, model: &Model) -> Option<Codec<'static>> {
        self.due = self.to.as_mut()?.is_due();
        let cheap = self.spent * SHARE <= self.started.elapsed();
        if !self.due && !cheap {
            return None;
        }
        let mut bytes = std::mem::take(&mut self.latest);
        bytes.clear();
        bytes.extend_from_slice(MARK);
        bytes.extend_from_slice(&FORMAT.to_le_bytes());
        let identity = identity::to_text(&self.identity);
        bytes.extend_from_slice(&(identity.len() as u64).to_le_bytes());
        bytes.extend_from_slice(identity.as_bytes());
        Some(Codec::writing(bytes, model.states(), model.rows()))
    }

    /// Takes the state that the codec wrote, which took since `from`.
    pub(crate) fn keep(&mut self, codec: Codec<'static>, from: Instant) {
        self.latest = codec.into_bytes();
        self.latest.extend_from_slice(&checksum(&self.latest).to_le_bytes());
        self.spent += from.elapsed();
        self.kept = false;
        if self.due {
            self.hand_over();
        }
    }

    /// Hands over the last state of a run that could go on.
    pub(crate) fn end(&mut self, status: Status) {
        let over = matches!(status, Status::Certified | Status::PrecisionLimit);
        if !over {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        if let Some(to) = self.to.as_mut().filter(|_| !self.kept) {
            to.keep(&self.latest);
            self.kept = true;
        }
    }
}

/// A state that belongs to this question.
pub(crate) struct Found {
    bytes: Vec<u8>,
    start: usize,
}

impl Found {
    pub(crate) fn reader(&self, model: &Model) -> Codec<'_> {
        let state = &self.bytes[self.start..self.bytes.len() - 8];
        Codec::reading(state, model.states(), model.rows())
    }
}

/// What is said of bytes that the checksum does not explain.
pub(crate) fn does_not_fit() -> Error {
    Error::Checkpoint("its state does not fit the model".to_owned())
}

/// Where the state begins.
fn open(bytes: &[u8], identity: &Identity) -> Result<usize, String> {
    let word = |at: usize| -> Option<u64> {
        let word = bytes.get(at..)?.first_chunk::<8>()?;
        Some(u64::from_le_bytes(*word))
    };
    if !is_checkpoint(bytes) {
        return Err("it is not a checkpoint".to_owned());
    }
    let damaged = || "it is damaged or cut off".to_owned();
    let format = word(8).ok_or_else(damaged)?;
    if format != FORMAT {
        return Err(format!(
            "it is of format {format} and this version has format {FORMAT}; \
             a checkpoint serves the version that wrote it"
        ));
    }
    let length = word(16).and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= LONGEST_IDENTITY);
    let start = 24 + length.ok_or_else(damaged)?;
    let end = bytes.len().checked_sub(8).filter(|end| *end >= start).ok_or_else(damaged)?;
    if word(end) != Some(checksum(&bytes[..end])) {
        return Err(damaged());
    }
    let text = std::str::from_utf8(&bytes[24..start]).map_err(|_| damaged())?;
    match identity::difference(text, identity) {
        Some(difference) => Err(difference),
        None => Ok(start),
    }
}

/// Bytes that no checkpoint of a run exceeds.
fn longest(model: &Model, set: &UncertaintySet, options: &Options) -> u64 {
    let (states, rows) = (model.states() as u64, model.rows() as u64);
    let entries = match Layout::new(model, set) {
        Layout::Full(width) => rows.saturating_mul(width as u64),
        Layout::Everywhere(pointers) | Layout::Positive(pointers) => {
            pointers.last().map_or(0, |n| *n as u64)
        }
    };
    let memory = (options.anderson.unwrap_or(0).max(anderson::MEMORY) as u64).min(states);
    let numbers = (states.saturating_mul(16 + 2 * memory))
        .saturating_add(rows.saturating_mul(24))
        .saturating_add(entries.saturating_mul(2));
    numbers.saturating_mul(8).saturating_add(1 << 16)
}
