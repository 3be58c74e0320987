//! The numbers of a column: pages, packed or not, of plain numbers or of numbers into a dictionary.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

use super::thrift::{self, Value, take, unsigned};

/// What is wrong with a column.
type Wrong = String;

/// Longest page, unpacked.
const PAGE_LIMIT: usize = 1 << 28;

/// A column as the end of the file describes it.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    /// 1: i32, 2: i64, 4: f32, 5: f64.
    pub(super) physical: i64,
    /// Whether numbers may be missing.
    pub(super) optional: bool,
}

/// The numbers of a chunk of a column; there must be so many.
pub(super) fn read(
    mut chunk: &[u8],
    kind: Kind,
    codec: i64,
    count: usize,
) -> Result<Vec<f64>, Wrong> {
    let (mut values, mut dictionary) = (Vec::new(), Vec::new());
    while values.len() < count {
        let damaged = || "a page is damaged or cut off, expected an intact file".to_owned();
        let header = thrift::read(&mut chunk).ok_or_else(damaged)?;
        let size = |id| header.number(id).and_then(|n| usize::try_from(n).ok());
        let (unpacked, packed) = (size(2).ok_or_else(damaged)?, size(3).ok_or_else(damaged)?);
        let body = take(&mut chunk, packed).ok_or_else(damaged)?;
        if unpacked > PAGE_LIMIT {
            return Err(format!("a page of {unpacked} bytes, expected at most {PAGE_LIMIT}"));
        }
        let room = count - values.len();
        match (header.number(1), header.field(5), header.field(7), header.field(8)) {
            (Some(0), Some(about), ..) => {
                let body = unpack(body, codec, unpacked)?;
                let page = Page { body: &body, kind, dictionary: &dictionary };
                values.extend(page.first_version(about, room)?);
            }
            (Some(2), _, Some(about), _) => {
                let body = unpack(body, codec, unpacked)?;
                let mut body = &body[..];
                let numbers = counted(about, unpacked)?;
                dictionary = plain(&mut body, kind, numbers)?;
            }
            (Some(3), .., Some(about)) => {
                let levels =
                    [5, 6].map(|id| about.number(id).and_then(|n| usize::try_from(n).ok()));
                let [Some(definition), Some(0)] = levels else {
                    return Err("lists of numbers, expected one number a row".into());
                };
                let mut rest = body;
                let levels = take(&mut rest, definition).ok_or_else(damaged)?;
                let body = match about.number(7) {
                    Some(0) => rest.to_vec(),
                    _ => unpack(rest, codec, unpacked.saturating_sub(definition))?,
                };
                let page = Page { body: &body, kind, dictionary: &dictionary };
                values.extend(page.second_version(about, levels, room)?);
            }
            (Some(1), ..) => {}
            _ => return Err(damaged()),
        }
    }
    Ok(values)
}

/// How many numbers a page has.
fn counted(about: &Value<'_>, most: usize) -> Result<usize, Wrong> {
    let count = about.number(1).and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= most);
    count.ok_or_else(|| "a page has more numbers than there are, expected an intact file".into())
}

/// What a packed page holds.
fn unpack(body: &[u8], codec: i64, size: usize) -> Result<Vec<u8>, Wrong> {
    let damaged = || "a page cannot be unpacked, expected an intact file".to_owned();
    let mut out = Vec::new();
    // One byte more tells of those that are too long.
    let most = size as u64 + 1;
    match codec {
        0 => out.extend(body),
        1 => {
            let length = snap::raw::decompress_len(body).map_err(|_| damaged())?;
            if length != size {
                return Err(damaged());
            }
            out = snap::raw::Decoder::new().decompress_vec(body).map_err(|_| damaged())?;
        }
        2 => {
            let unpacked = MultiGzDecoder::new(body).take(most).read_to_end(&mut out);
            unpacked.map_err(|_| damaged())?;
        }
        6 if body.is_empty() => {}
        6 => {
            let decoder = StreamingDecoder::new(body).map_err(|_| damaged())?;
            decoder.take(most).read_to_end(&mut out).map_err(|_| damaged())?;
        }
        _ => {
            let name = ["", "", "", "LZO", "Brotli", "LZ4", "", "LZ4"].get(codec as usize);
            let name = name.copied().unwrap_or("an unknown program");
            return Err(format!(
                "packed by {name}, expected Snappy, gzip, Zstandard or no packing"
            ));
        }
    }
    match out.len() == size {
        true => Ok(out),
        false => Err(damaged()),
    }
}

/// A page of numbers.
struct Page<'p> {
    body: &'p [u8],
    kind: Kind,
    dictionary: &'p [f64],
}

impl Page<'_> {
    fn first_version(&self, about: &Value<'_>, room: usize) -> Result<Vec<f64>, Wrong> {
        let (count, mut body) = (counted(about, room)?, self.body);
        if self.kind.optional {
            let cut = || "a page is cut off, expected an intact file".to_owned();
            let length = take(&mut body, 4).ok_or_else(cut)?;
            let length = u32::from_le_bytes(length.try_into().map_err(|_| cut())?);
            none_missing(take(&mut body, length as usize).ok_or_else(cut)?, count)?;
        }
        self.numbers(body, about.number(2), count)
    }

    fn second_version(
        &self,
        about: &Value<'_>,
        levels: &[u8],
        room: usize,
    ) -> Result<Vec<f64>, Wrong> {
        let count = counted(about, room)?;
        if self.kind.optional {
            none_missing(levels, count)?;
        }
        self.numbers(self.body, about.number(4), count)
    }

    fn numbers(
        &self,
        mut body: &[u8],
        encoding: Option<i64>,
        count: usize,
    ) -> Result<Vec<f64>, Wrong> {
        match encoding {
            Some(0) => plain(&mut body, self.kind, count),
            Some(2 | 8) => {
                let width = take(&mut body, 1).map_or(0, |width| width[0]);
                let places = hybrid(body, width, count)?;
                let found =
                    places.iter().map(|&place| self.dictionary.get(place as usize).copied());
                found.collect::<Option<Vec<f64>>>().ok_or_else(|| {
                    "a number that the dictionary does not have, expected an intact file".into()
                })
            }
            other => Err(format!(
                "numbers in the encoding {}, expected plain ones or a dictionary",
                other.unwrap_or(-1)
            )),
        }
    }
}

fn plain(body: &mut &[u8], kind: Kind, count: usize) -> Result<Vec<f64>, Wrong> {
    let width = match kind.physical {
        1 | 4 => 4,
        2 | 5 => 8,
        _ => return Err("no numbers, expected whole ones or floats of 4 or 8 bytes".into()),
    };
    let bytes = count.checked_mul(width).and_then(|length| take(body, length));
    let bytes = bytes.ok_or("a page is cut off, expected an intact file")?;
    Ok(bytes
        .chunks_exact(width)
        .map(|bytes| {
            let mut word = [0; 8];
            word[..width].copy_from_slice(bytes);
            let word = u64::from_le_bytes(word);
            match kind.physical {
                1 => f64::from(word as i32),
                2 => word as i64 as f64,
                4 => f64::from(f32::from_bits(word as u32)),
                _ => f64::from_bits(word),
            }
        })
        .collect())
}

/// Refuses a page in which not every row has a number.
fn none_missing(levels: &[u8], count: usize) -> Result<(), Wrong> {
    match hybrid(levels, 1, count)?.iter().position(|level| *level == 0) {
        Some(_) => Err("a row without a number, expected one in every row".into()),
        None => Ok(()),
    }
}

/// Numbers in runs, or packed bit by bit.
fn hybrid(mut bytes: &[u8], width: u8, count: usize) -> Result<Vec<u32>, Wrong> {
    let cut = || "a page is cut off, expected an intact file".to_owned();
    if width > 32 {
        return Err(format!("numbers of {width} bits, expected at most 32"));
    }
    let mut found: Vec<u32> = Vec::new();
    while found.len() < count {
        let (header, left) = (unsigned(&mut bytes).ok_or_else(cut)?, count - found.len());
        if header & 1 == 0 {
            let run = take(&mut bytes, usize::from(width).div_ceil(8)).ok_or_else(cut)?;
            let mut word = [0; 4];
            word[..run.len()].copy_from_slice(run);
            let length = usize::try_from(header >> 1).unwrap_or(usize::MAX).min(left);
            if length == 0 {
                return Err(cut());
            }
            found.resize(found.len() + length, u32::from_le_bytes(word));
            continue;
        }
        let groups = usize::try_from(header >> 1).map_err(|_| cut())?;
        let length = groups.checked_mul(usize::from(width)).ok_or_else(cut)?;
        // Writers may leave out the end of the last group.
        let length = length.min(bytes.len());
        let packed = take(&mut bytes, length).ok_or_else(cut)?;
        let wanted = left.min(groups.saturating_mul(8));
        if wanted == 0 || packed.len() * 8 < wanted * usize::from(width) {
            return Err(cut());
        }
        let bit = |at: usize| u32::from(packed[at / 8] >> (at % 8) & 1);
        let width = usize::from(width);
        found.extend((0..wanted).map(|k| (0..width).map(|b| bit(k * width + b) << b).sum::<u32>()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_bits() {
        // Eight numbers of three bits, then four sevens.
        let bytes = [0b11, 0b1000_1000, 0b1100_0110, 0b1111_1010, 4 << 1, 7];
        assert_eq!(hybrid(&bytes, 3, 12).unwrap(), [0, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7, 7]);
        assert_eq!(hybrid(&[0xFE, 0xFF, 0xFF, 0xFF, 0x0F, 1], 1, 3).unwrap(), [1, 1, 1]);
        assert!(hybrid(&bytes, 3, 13).is_err() && hybrid(&bytes, 33, 1).is_err());
        assert!(hybrid(&[0, 0], 1, 1).is_err() && hybrid(&[1], 1, 1).is_err());
    }
}
