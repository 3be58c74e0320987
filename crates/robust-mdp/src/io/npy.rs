//! One NumPy array in a stream, format versions 1 to 3: a magic number, a header that is a Python
//! dictionary of `descr`, `fortran_order` and `shape`, and the raw numbers.
//!
//! Floats of 4 or 8 bytes, whole numbers of 1 to 8 bytes and booleans are read, in either byte
//! order. Memory grows with what is there, never with what the header claims.

use std::io::{self, Read, Write};

const MAGIC: &[u8] = b"\x93NUMPY";
/// Longest header: those of plain arrays take about a hundred bytes.
const HEADER_LIMIT: usize = 1 << 16;
const CHUNK: usize = 1 << 16;

/// What is wrong with an array.
pub(super) type Wrong = String;

#[derive(Debug, PartialEq)]
pub(super) struct Header {
    /// `f`, `i`, `u` or `b`; `S` or `U` for text.
    kind: char,
    width: usize,
    big_endian: bool,
    pub(super) fortran: bool,
    pub(super) shape: Vec<u64>,
}

/// An array whose header has been read.
pub(super) struct Array<R> {
    pub(super) header: Header,
    reader: R,
}

impl<R: Read> Array<R> {
    pub(super) fn new(mut reader: R) -> Result<Self, Wrong> {
        let header = Header::read(&mut reader)?;
        Ok(Array { header, reader })
    }

    /// Number of elements.
    pub(super) fn len(&self) -> Result<u64, Wrong> {
        let product = self.header.shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d));
        product.ok_or_else(|| format!("shape {:?} is too large", self.header.shape))
    }

    /// Whether the numbers are floats of 4 bytes.
    pub(super) fn is_single(&self) -> bool {
        (self.header.kind, self.header.width) == ('f', 4)
    }

    /// Appends the next `n` numbers, in the order of the file.
    pub(super) fn floats(&mut self, n: u64, out: &mut Vec<f64>) -> Result<(), Wrong> {
        let (kind, width) = (self.header.kind, self.header.width);
        if !matches!((kind, width), ('f', 4 | 8) | ('i' | 'u', 1 | 2 | 4 | 8) | ('b', 1)) {
            return Err(format!(
                "numbers of type {kind}{width}, expected float64, float32 or whole numbers"
            ));
        }
        self.elements(n, |bytes| {
            out.push(match (kind, width) {
                ('f', 8) => f64::from_bits(little(bytes)),
                ('f', _) => f64::from(f32::from_bits(little(bytes) as u32)),
                ('i', _) => signed(bytes) as f64,
                _ => little(bytes) as f64,
            });
            Ok(())
        })
    }

    /// Reads to the end of the data, where the archive compares its checksum: only then are the
    /// numbers those that were written.
    pub(super) fn finish(&mut self) -> Result<(), Wrong> {
        match self.reader.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(format!("the data go on beyond shape {:?}", self.header.shape)),
            Err(e) => Err(damaged(&e)),
        }
    }

    /// All elements as whole numbers of at least 0.
    pub(super) fn counts(mut self) -> Result<Vec<u64>, Wrong> {
        let (kind, width) = (self.header.kind, self.header.width);
        if !matches!((kind, width), ('i' | 'u', 1 | 2 | 4 | 8)) {
            return Err(format!("numbers of type {kind}{width}, expected whole numbers"));
        }
        let mut out = Vec::new();
        self.elements(self.len()?, |bytes| {
            let value = if kind == 'i' { signed(bytes) } else { 0 };
            if value < 0 {
                return Err(format!("{value}, expected whole numbers of at least 0"));
            }
            out.push(little(bytes));
            Ok(())
        })?;
        self.finish()?;
        Ok(out)
    }

    /// All elements as floats, in C order whatever the file's.
    pub(super) fn all_floats(mut self) -> Result<Vec<f64>, Wrong> {
        let mut values = Vec::new();
        self.floats(self.len()?, &mut values)?;
        self.finish()?;
        match self.header.fortran && self.header.shape.len() > 1 {
            true => Ok(to_c_order(&values, &self.header.shape)),
            false => Ok(values),
        }
    }

    /// A short text held as one element.
    pub(super) fn text(mut self) -> Result<String, Wrong> {
        let (kind, width) = (self.header.kind, self.header.width);
        let bytes = if kind == 'U' { width.saturating_mul(4) } else { width };
        if !matches!(kind, 'S' | 'U') || self.len()? != 1 || bytes > 64 {
            return Err("expected a short text".into());
        }
        let mut text = vec![0; bytes];
        self.reader
            .read_exact(&mut text)
            .map_err(|_| "the data end early, expected a short text")?;
        self.finish()?;
        // The texts of interest are ASCII: dropping zeros decodes both kinds.
        text.retain(|&b| b != 0);
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Calls `take` with the bytes of each of the next `n` elements, made little endian.
    fn elements(
        &mut self,
        n: u64,
        mut take: impl FnMut(&[u8]) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        let width = self.header.width;
        let mut chunk = vec![0; CHUNK];
        let mut left = n;
        while left > 0 {
            let now = left.min((CHUNK / width) as u64);
            let bytes = &mut chunk[..now as usize * width];
            self.reader.read_exact(bytes).map_err(|e| match e.kind() {
                io::ErrorKind::UnexpectedEof => {
                    format!("the data end early, expected shape {:?}", self.header.shape)
                }
                _ => damaged(&e),
            })?;
            for element in bytes.chunks_exact_mut(width) {
                if self.header.big_endian {
                    element.reverse();
                }
                take(element)?;
            }
            left -= now;
        }
        Ok(())
    }
}

/// What a reader says of data that cannot be unpacked, or do not have the archive's checksum.
fn damaged(error: &io::Error) -> Wrong {
    format!("the data are damaged ({error}), expected an intact file")
}

fn little(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

fn signed(bytes: &[u8]) -> i64 {
    let unused = 64 - 8 * bytes.len() as u32;
    ((little(bytes) << unused) as i64) >> unused
}

/// Numbers in C order, of which those with neighbouring first indices are next to each other.
fn to_c_order(values: &[f64], shape: &[u64]) -> Vec<f64> {
    let place = |mut k: u64| {
        let (mut at, mut stride) = (0, values.len() as u64);
        for size in shape.iter().rev() {
            stride /= size;
            at += k % size * stride;
            k /= size;
        }
        at as usize
    };
    (0..values.len() as u64).map(|k| values[place(k)]).collect()
}

impl Header {
    fn read(reader: &mut impl Read) -> Result<Header, Wrong> {
        let mut start = [0; 8];
        let no_array = |_| "not a NumPy array".to_owned();
        reader.read_exact(&mut start).map_err(no_array)?;
        if !start.starts_with(MAGIC) || !(1..=3).contains(&start[6]) {
            return Err("not a NumPy array of format 1 to 3".into());
        }
        let mut length = [0; 4];
        let bytes = if start[6] == 1 { 2 } else { 4 };
        reader.read_exact(&mut length[..bytes]).map_err(no_array)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > HEADER_LIMIT {
            return Err(format!("a header of {length} bytes, expected at most {HEADER_LIMIT}"));
        }
        let mut text = vec![0; length];
        reader.read_exact(&mut text).map_err(no_array)?;
        let text = String::from_utf8_lossy(&text);
        Header::parse(&text).ok_or_else(|| {
            let text: String = text.trim().chars().take(200).collect();
            format!("unknown array header {text}, expected a plain array of numbers")
        })
    }

    fn parse(text: &str) -> Option<Header> {
        let mut rest = text.trim().strip_prefix('{')?.trim_start();
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        while !rest.starts_with('}') {
            let (key, after) = quoted(rest)?;
            rest = after.trim_start().strip_prefix(':')?.trim_start();
            match key {
                "descr" => (descr, rest) = quoted(rest).map(|(d, r)| (Some(d), r))?,
                "shape" => {
                    let (inside, after) = rest.strip_prefix('(')?.split_once(')')?;
                    let sizes = inside.split(',').map(str::trim).filter(|d| !d.is_empty());
                    let parsed = sizes.map(|d| d.trim_end_matches('L').parse::<u64>().ok());
                    shape = Some(parsed.collect::<Option<Vec<u64>>>()?);
                    rest = after;
                }
                "fortran_order" => {
                    let order = ["False", "True"].iter().position(|word| rest.starts_with(word))?;
                    rest = &rest[if order == 0 { 5 } else { 4 }..];
                    fortran = Some(order == 1);
                }
                _ => return None,
            }
            rest = rest.trim_start();
            rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        }
        let (order, kind) = descr?.split_at_checked(1)?;
        let width: usize = kind.get(1..)?.parse().ok().filter(|w| (1..=64).contains(w))?;
        Some(Header {
            kind: kind.chars().next()?,
            width,
            big_endian: match order {
                ">" => true,
                "<" | "|" | "=" => false,
                _ => return None,
            },
            fortran: fortran?,
            shape: shape?,
        })
    }
}

/// A quoted Python string without escapes, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let mark = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split_once(mark)
}

/// Writes the header of a C-ordered array, padded so that the numbers start at a multiple of 64.
pub(super) fn write_header(w: &mut dyn Write, descr: &str, shape: &[usize]) -> io::Result<()> {
    let mut sizes: String = shape.iter().map(|d| format!("{d}, ")).collect();
    sizes.truncate(sizes.len().saturating_sub(if shape.len() == 1 { 1 } else { 2 }));
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}");
    let length = (MAGIC.len() + 4 + text.len() + 1).next_multiple_of(64) - MAGIC.len() - 4;
    w.write_all(MAGIC)?;
    w.write_all(&[1, 0])?;
    w.write_all(&(length as u16).to_le_bytes())?;
    writeln!(w, "{text:<width$}", width = length - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(descr: &str, shape: &[usize], data: &[u8]) -> Array<io::Cursor<Vec<u8>>> {
        let mut bytes = Vec::new();
        write_header(&mut bytes, descr, shape).unwrap();
        assert_eq!(bytes.len() % 64, 0);
        bytes.extend(data);
        Array::new(io::Cursor::new(bytes)).unwrap()
    }

    #[test]
    fn headers_round_trip() {
        for shape in [&[][..], &[3], &[2, 3], &[1, 2, 3]] {
            let header = array("<f8", shape, &[]).header;
            assert_eq!(header.shape, shape.iter().map(|&d| d as u64).collect::<Vec<_>>());
            assert_eq!((header.kind, header.width, header.fortran), ('f', 8, false));
        }
    }

    #[test]
    fn numbers_of_all_kinds() {
        let floats = |descr, data: &[u8]| array(descr, &[1], data).all_floats().unwrap()[0];
        assert_eq!(floats("<f8", &2.5f64.to_le_bytes()), 2.5);
        assert_eq!(floats(">f4", &2.5f32.to_be_bytes()), 2.5);
        assert_eq!(floats("<i2", &(-7i16).to_le_bytes()), -7.0);
        assert_eq!(floats("|u1", &[200]), 200.0);
        assert_eq!(array("<i4", &[1], &9i32.to_le_bytes()).counts().unwrap(), [9]);
        assert_eq!(array(">u8", &[1], &9u64.to_be_bytes()).counts().unwrap(), [9]);
        assert!(array("<i8", &[1], &(-1i64).to_le_bytes()).counts().is_err());
        assert!(array("<f8", &[1], &[0; 8]).counts().is_err());
        assert!(array("<c16", &[1], &[0; 16]).all_floats().is_err());
        assert_eq!(array("|S3", &[], b"csr").text().unwrap(), "csr");
    }

    #[test]
    fn fortran_order() {
        // The 2 × 3 array [[0,1,2],[3,4,5]] by columns.
        assert_eq!(
            to_c_order(&[0.0, 3.0, 1.0, 4.0, 2.0, 5.0], &[2, 3]),
            [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
        );
    }

    #[test]
    fn claims_are_not_believed() {
        let huge = array("<f8", &[usize::MAX >> 1], &[0; 16]);
        assert!(huge.all_floats().unwrap_err().contains("end early"));
        assert!(array("<f8", &[usize::MAX, 3], &[]).all_floats().unwrap_err().contains("large"));
        for text in ["", "{", "{'shape'", "{'descr': 'é', 'fortran_order': False, 'shape': (), }"]
        {
            assert_eq!(Header::parse(text), None, "{text}");
        }
        assert!(Array::new(&b"\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF"[..]).is_err());
    }
}
