//! Where a reader finds its bytes: a file, or memory that stands for one.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use crate::error::Error;

/// A file, or bytes that are read in its place; messages name its path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub(super) path: &'a Path,
    bytes: Option<&'a [u8]>,
}

impl<'a> From<&'a Path> for Source<'a> {
    fn from(path: &'a Path) -> Source<'a> {
        Source { path, bytes: None }
    }
}

#[cfg(test)]
impl<'a> From<&'a std::path::PathBuf> for Source<'a> {
    fn from(path: &'a std::path::PathBuf) -> Source<'a> {
        Source::from(path.as_path())
    }
}

impl<'a> Source<'a> {
    pub(super) fn in_memory(path: &'a Path, bytes: &'a [u8]) -> Source<'a> {
        Source { path, bytes: Some(bytes) }
    }

    pub(super) fn open(self) -> Result<Input<'a>, Error> {
        if let Some(bytes) = self.bytes {
            return Ok(Input::Memory(Cursor::new(bytes)));
        }
        let io_error = |source| Error::Io { path: self.path.to_owned(), source };
        let file = File::open(self.path).map_err(io_error)?;
        if file.metadata().map_err(io_error)?.is_dir() {
            return Err(io_error(io::ErrorKind::IsADirectory.into()));
        }
        Ok(Input::File(file))
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

/// An open source.
#[derive(Debug)]
pub(super) enum Input<'a> {
    File(File),
    Memory(Cursor<&'a [u8]>),
}

impl Read for Input<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Input::File(file) => file.read(out),
            Input::Memory(bytes) => bytes.read(out),
        }
    }
}

impl Seek for Input<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Input::File(file) => file.seek(to),
            Input::Memory(bytes) => bytes.seek(to),
        }
    }
}
