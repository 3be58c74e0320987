//! Where a reader finds its bytes: a file, the standard input, or memory that stands for a file. What is
//! packed by gzip is unpacked on the way.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use super::gzip;
use crate::error::{Error, MEMORY};

/// A file, the standard input, or bytes that are read in place of a file; messages name its path.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    pub(super) path: &'a Path,
    place: Place<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Place<'a> {
    File,
    StandardInput,
    Memory {
        bytes: &'a [u8],
        /// Files of the same name with other endings.
        beside: &'a [(&'a str, &'a [u8])],
    },
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for Source<'a> {
    fn from(path: &'a P) -> Source<'a> {
        Source { path: path.as_ref(), place: Place::File }
    }
}

/// An open source that can be read from the middle.
pub(super) trait Input: Read + Seek {}

impl<T: Read + Seek> Input for T {}

/// One, with the size that it has as it is, packed or not.
pub(super) type Whole<'a> = (Box<dyn Input + 'a>, u64);

impl<'a> Source<'a> {
    /// These bytes; messages call them by `path`.
    pub fn in_memory(path: &'a Path, bytes: &'a [u8]) -> Source<'a> {
        Source { path, place: Place::Memory { bytes, beside: &[] } }
    }

    /// These bytes, and others that stand for files beside `path`, each with its ending: for formats whose
    /// models are several files.
    pub fn in_memory_with(
        path: &'a Path,
        bytes: &'a [u8],
        beside: &'a [(&'a str, &'a [u8])],
    ) -> Source<'a> {
        Source { path, place: Place::Memory { bytes, beside } }
    }

    /// The standard input.
    pub fn standard_input() -> Source<'static> {
        Source { path: Path::new("standard input"), place: Place::StandardInput }
    }

    /// Opens it, to be read once from the start.
    pub(super) fn open(self) -> Result<Box<dyn Read + 'a>, Error> {
        gzip::unpacked(self.packed()?).map_err(|e| self.failed(e))
    }

    /// Its bytes as they are.
    fn packed(self) -> Result<Box<dyn Read + 'a>, Error> {
        Ok(match self.place {
            Place::Memory { bytes, .. } => Box::new(bytes),
            Place::StandardInput => Box::new(io::stdin().lock()),
            Place::File => Box::new(self.file()?),
        })
    }

    fn file(self) -> Result<File, Error> {
        let file = File::open(self.path).map_err(|e| self.failed(e))?;
        match file.metadata().map_err(|e| self.failed(e))?.is_dir() {
            true => Err(self.failed(io::ErrorKind::IsADirectory.into())),
            false => Ok(file),
        }
    }

    fn failed(self, source: io::Error) -> Error {
        Error::Io { path: self.path.to_owned(), source }
    }

    /// Opens it, to be read from the middle too, with the size that it has as it is. What is packed or no
    /// plain file is held in memory. `None` if it does not start with `magic`.
    pub(super) fn open_whole(self, magic: &[u8]) -> Result<Option<Whole<'a>>, Error> {
        let mut start = Vec::new();
        let most = magic.len().max(gzip::MAGIC.len()) as u64;
        let mut packed = self.packed()?;
        (&mut packed).take(most).read_to_end(&mut start).map_err(|e| self.failed(e))?;
        let is_packed = start.starts_with(&gzip::MAGIC);
        if !is_packed && !start.starts_with(magic) {
            return Ok(None);
        }
        match self.place {
            Place::Memory { bytes, .. } if !is_packed => {
                return Ok(Some((Box::new(Cursor::new(bytes)), bytes.len() as u64)));
            }
            Place::File if !is_packed && self.is_file() => {
                let mut file = self.file()?;
                let size = file.seek(SeekFrom::End(0)).and_then(|n| file.rewind().map(|()| n));
                return Ok(Some((Box::new(file), size.map_err(|e| self.failed(e))?)));
            }
            _ => {}
        }
        let mut held = start;
        packed.take(MEMORY).read_to_end(&mut held).map_err(|e| self.failed(e))?;
        let size = held.len() as u64;
        if size > MEMORY {
            let what = format!("{}, which is no plain file,", self.path.display());
            return Err(Error::Memory { what, needed: size, allowed: MEMORY });
        }
        if is_packed {
            let mut whole = Vec::new();
            let read = gzip::unpacked(Box::new(&held[..]))
                .and_then(|r| r.take(MEMORY).read_to_end(&mut whole));
            read.map_err(|e| self.failed(e))?;
            held = whole;
        }
        Ok(held.starts_with(magic).then(|| (Box::new(Cursor::new(held)) as Box<dyn Input>, size)))
    }

    /// Whether it can be read again or from the middle, as a pipe cannot.
    pub(super) fn is_file(self) -> bool {
        match self.place {
            Place::Memory { .. } => true,
            Place::StandardInput => false,
            Place::File => self.path.is_file(),
        }
    }

    /// The bytes that stand for the file beside it with this ending; `None` where files are looked for on
    /// the disk.
    pub(super) fn beside_in_memory(self, ending: &str) -> Option<Option<&'a [u8]>> {
        match self.place {
            Place::Memory { beside, .. } => {
                Some(beside.iter().find(|(name, _)| *name == ending).map(|(_, bytes)| *bytes))
            }
            Place::StandardInput => Some(None),
            Place::File => None,
        }
    }
}
