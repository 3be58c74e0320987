//! The line of a value, for messages. The parser looks a byte beyond a number, and past a value that
//! was refused it goes on to the next text, so that its own position may be lines below what is
//! wrong. Therefore lines can be counted here, and noted where a value or a key has just been read.
//! As this costs time, a file is first read without, and again if something is wrong.

use std::cell::Cell;
use std::io::{self, BufReader, Read};
use std::rc::Rc;

/// The place in a file that is being read, if it is followed.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines(Option<Rc<Place>>);

#[derive(Debug, Default)]
struct Place {
    /// Of the last byte read that is no white space.
    last: Cell<u64>,
    noted: Cell<u64>,
}

impl Lines {
    pub(super) fn counted() -> Lines {
        Lines(Some(Rc::default()))
    }

    /// Notes the line of what was read last.
    pub(super) fn note(&self) {
        if let Some(place) = &self.0 {
            place.noted.set(place.last.get());
        }
    }

    pub(super) fn noted(&self) -> Option<u64> {
        self.0.as_ref().map(|place| place.noted.get())
    }

    /// What the parser is to read from. Where lines are counted it gets one byte at a time, so that
    /// the count is at its own place.
    pub(super) fn count<R: Read>(&self, reader: R, buffer: usize) -> BufReader<Counted<R>> {
        let ahead = if self.0.is_some() { 1 } else { buffer };
        BufReader::with_capacity(ahead, Counted { reader, line: 1, lines: self.clone() })
    }
}

/// A reader that counts its lines.
pub(super) struct Counted<R> {
    reader: R,
    line: u64,
    lines: Lines,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(out)?;
        let Some(place) = &self.lines.0 else { return Ok(read) };
        for byte in &out[..read] {
            match byte {
                b'\n' => self.line += 1,
                b' ' | b'\t' | b'\r' => {}
                _ => place.last.set(self.line),
            }
        }
        Ok(read)
    }
}
