//! Where a reader finds its bytes: a file, or memory that stands for one.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::Path;

use crate::error::Error;

/// A file, or bytes that are read in its place; messages name its path.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    pub(super) path: &'a Path,
    bytes: Option<&'a [u8]>,
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for Source<'a> {
    fn from(path: &'a P) -> Source<'a> {
        Source { path: path.as_ref(), bytes: None }
    }
}

/// An open source.
pub(super) trait Input: Read + Seek {}

impl<T: Read + Seek> Input for T {}

impl<'a> Source<'a> {
    /// These bytes; messages call them by `path`.
    pub fn in_memory(path: &'a Path, bytes: &'a [u8]) -> Source<'a> {
        Source { path, bytes: Some(bytes) }
    }

    pub(super) fn open(self) -> Result<Box<dyn Input + 'a>, Error> {
        if let Some(bytes) = self.bytes {
            return Ok(Box::new(Cursor::new(bytes)));
        }
        let io_error = |source| Error::Io { path: self.path.to_owned(), source };
        let file = File::open(self.path).map_err(io_error)?;
        if file.metadata().map_err(io_error)?.is_dir() {
            return Err(io_error(io::ErrorKind::IsADirectory.into()));
        }
        Ok(Box::new(file))
    }

    /// Whether it can be read again or from the middle, as a pipe cannot.
    pub(super) fn is_file(self) -> bool {
        self.bytes.is_some() || self.path.is_file()
    }

    /// Its length, where it has one.
    pub(super) fn len(self) -> u64 {
        match self.bytes {
            Some(bytes) => bytes.len() as u64,
            None => self.path.metadata().map_or(0, |about| about.len()),
        }
    }
}
