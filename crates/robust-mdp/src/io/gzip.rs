//! gzip (RFC 1952), recognised by its first bytes, whatever a file is called. Members one after the other
//! are one text.
//!
//! A packed file is never held unpacked, and one that unpacks to far more than its size is refused.

use std::io::{self, BufWriter, Cursor, Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

/// The first bytes of every gzip member.
pub(super) const MAGIC: [u8; 2] = [0x1F, 0x8B];

/// Bytes that any packed file may unpack to, and so many more for each of its own. Deflate reaches 1032
/// for one, but only on text that repeats itself without end.
const ROOM: u64 = 1 << 30;
const ROOM_A_BYTE: u64 = 256;

/// What `packed` holds, unpacked if it is packed.
pub(super) fn unpacked<'a>(packed: Box<dyn Read + 'a>) -> io::Result<Box<dyn Read + 'a>> {
    within(packed, ROOM)
}

fn within<'a>(mut packed: Box<dyn Read + 'a>, room: u64) -> io::Result<Box<dyn Read + 'a>> {
    let mut start = Vec::new();
    (&mut packed).take(MAGIC.len() as u64).read_to_end(&mut start)?;
    let is_packed = start == MAGIC;
    let whole = Cursor::new(start).chain(packed);
    match is_packed {
        true => Ok(Box::new(Unpacked {
            decoder: MultiGzDecoder::new(Counted { reader: whole, taken: 0 }),
            given: 0,
            room,
        })),
        false => Ok(Box::new(whole)),
    }
}

/// Whether the ending of `path` asks for a packed file.
pub(super) fn is_asked(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"))
}

/// Packs what `write` writes. The same text gives the same bytes: no time is noted.
pub(super) fn pack(
    w: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffered = BufWriter::with_capacity(1 << 16, GzEncoder::new(w, Compression::default()));
    write(&mut buffered)?;
    buffered.into_inner().map_err(io::IntoInnerError::into_error)?.finish().map(drop)
}

/// A reader that counts its bytes.
struct Counted<R> {
    reader: R,
    taken: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(bytes)?;
        self.taken += read as u64;
        Ok(read)
    }
}

/// A packed file being unpacked.
struct Unpacked<R: Read> {
    decoder: MultiGzDecoder<Counted<R>>,
    given: u64,
    room: u64,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(bytes).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::other("the packed file is cut off"),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                io::Error::other("the packed file is damaged, expected what gzip writes")
            }
            _ => e,
        })?;
        self.given += read as u64;
        let taken = self.decoder.get_ref().taken;
        if self.given > self.room.saturating_add(ROOM_A_BYTE.saturating_mul(taken)) {
            let message =
                "the file unpacks to far more than its size, expected less (or unpack it first)";
            return Err(io::Error::other(message));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        pack(&mut bytes, |w| w.write_all(text)).unwrap();
        bytes
    }

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        unpacked(Box::new(bytes))?.read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn texts_come_back() {
        for text in [&b""[..], b"a", b"some lines\n", &[7; 300_000]] {
            assert_eq!(read(&packed(text)).unwrap(), text);
            assert_eq!(read(text).unwrap(), text);
            assert_eq!(packed(text), packed(text));
        }
        let two = [packed(b"one "), packed(b"two")].concat();
        assert_eq!(read(&two).unwrap(), b"one two");
    }

    #[test]
    fn damaged_and_cut() {
        let whole = packed(b"some lines that are long enough");
        for at in 2..whole.len() {
            let error = read(&whole[..at]).unwrap_err().to_string();
            assert!(error.contains("the packed file is"), "{at}: {error}");
            let mut flipped = whole.clone();
            flipped[at] ^= 0x55;
            // Some bytes of the header mean nothing.
            let _ = read(&flipped);
        }
        assert!(is_asked(Path::new("m.csv.GZ")) && !is_asked(Path::new("m.csv")));
    }

    #[test]
    fn bombs() {
        let bomb = packed(&vec![0; 1 << 20]);
        let mut reader = within(Box::new(&bomb[..]), 1 << 19).unwrap();
        let error = io::copy(&mut reader, &mut io::sink()).unwrap_err();
        assert!(error.to_string().contains("far more than its size"), "{error}");
    }
}
