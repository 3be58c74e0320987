//! Small changes to an input, most of which leave it nearly what it was.

use std::io::{Cursor, Read, Write};

use robust_mdp::instances::Xoshiro256;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// What an input is made of.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Tokens of JSON, perhaps in lines.
    Json,
    /// Lines of fields.
    Lines,
    /// A zip archive of arrays.
    Archive,
    /// Bytes with a digest of them at the end, and what makes it fit again.
    Sealed(fn(&mut [u8])),
}

/// Tokens of the corpus.
pub struct Dictionary(Vec<Vec<u8>>);

impl Dictionary {
    /// Words, numbers and texts of these inputs.
    pub fn of(inputs: &[Vec<u8>]) -> Dictionary {
        let mut tokens: Vec<Vec<u8>> =
            inputs.iter().flat_map(|i| tokens(i)).map(<[u8]>::to_vec).collect();
        tokens.retain(|t| t.len() > 1 && t.len() <= 40);
        tokens.sort();
        tokens.dedup();
        tokens.truncate(4000);
        Dictionary(tokens)
    }
}

/// Numbers at the borders of what readers take.
const NUMBERS: [&str; 36] = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "0.5",
    "1e0",
    "1.0",
    "1e-9",
    "1e-300",
    "1e-301",
    "4.9e-324",
    "1e-400",
    "1e308",
    "1e309",
    "-1e309",
    "1e999999999",
    "1e-999999999",
    "4294967294",
    "4294967295",
    "4294967296",
    "1000000000000",
    "9007199254740993",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775809",
    "00",
    "0x10",
    "1_000",
    "NaN",
    "nan",
    "Infinity",
    "-inf",
    "",
    "true",
    "null",
];

/// Bytes that mean something somewhere.
const BYTES: [&[u8]; 20] = [
    b"\xEF\xBB\xBF",
    b"\xFF",
    b"\xC3",
    b"\xED\xA0\x80",
    b"\0",
    b"\r\n",
    b"\r",
    b"\n\n",
    b"\"",
    b"\"\"",
    b"\\u0000",
    b"\\ud800",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\x1a",
    b"\t",
];

/// Changes `input` once or a few times; `other` is another input of the same reader.
pub fn mutate(
    shape: Shape,
    input: &mut Vec<u8>,
    other: &[u8],
    dictionary: &Dictionary,
    random: &mut Xoshiro256,
) {
    let times = 1 + random.below(2) * random.below(4);
    if matches!(shape, Shape::Archive) && random.below(4) > 0 {
        if let Some(changed) = repacked(input, other, times, dictionary, random) {
            *input = changed;
        }
        return;
    }
    for _ in 0..times {
        match shape {
            Shape::Json | Shape::Lines if random.below(3) > 0 => {
                tokens_changed(input, other, dictionary, random);
            }
            _ => bytes_changed(input, other, random),
        }
    }
    // Without a fitting digest nothing behind it would ever be read.
    if let Shape::Sealed(seal) = shape
        && random.below(8) > 0
    {
        seal(input);
    }
}

fn below(n: usize, random: &mut Xoshiro256) -> usize {
    random.below(n.max(1) as u64) as usize
}

/// A range of at most `most` out of `n`.
fn range(n: usize, most: usize, random: &mut Xoshiro256) -> std::ops::Range<usize> {
    let start = below(n + 1, random);
    let length = below((n - start).min(most) + 1, random);
    start..start + length
}

fn bytes_changed(input: &mut Vec<u8>, other: &[u8], random: &mut Xoshiro256) {
    let at = below(input.len(), random);
    match random.below(9) {
        0 if !input.is_empty() => input[at] ^= 1 << random.below(8),
        1 if !input.is_empty() => input[at] = random.next_u64() as u8,
        2 => input.truncate(at),
        3 => {
            let part = range(input.len(), 64, random);
            input.drain(part);
        }
        4 => {
            let part = input[range(input.len(), 64, random)].to_vec();
            input.splice(at..at, part);
        }
        5 => {
            let part = other[range(other.len(), 256, random)].to_vec();
            input.splice(at..at, part);
        }
        6 => {
            // A number at a border, of some width and either order.
            let value = match random.below(6) {
                0 => 0,
                1 => u64::MAX,
                2 => 1 << random.below(64),
                3 => (1 << random.below(64)) - 1,
                4 => f64::NAN.to_bits() ^ random.below(1 << 20),
                _ => [1e300, -1.0, 1e-310, f64::INFINITY][below(4, random)].to_bits(),
            };
            let width = 1 << random.below(4);
            let mut bytes = value.to_le_bytes()[..width].to_vec();
            if random.below(4) == 0 {
                bytes.reverse();
            }
            let end = (at + width).min(input.len());
            input.splice(at.min(end)..end, bytes);
        }
        7 => {
            let bytes = BYTES[below(BYTES.len(), random)];
            input.splice(at..at, bytes.iter().copied());
        }
        _ => input.extend((0..random.below(16)).map(|_| 0)),
    }
}

/// Words and numbers, texts, single marks and runs of space.
fn tokens(input: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut rest = input;
    let word =
        |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'+' | b'_') || *b > 127;
    while let Some(first) = rest.first() {
        let length = match first {
            b'"' => rest[1..].iter().position(|b| *b == b'"').map_or(rest.len(), |n| n + 2),
            b if word(b) => rest.iter().position(|b| !word(b)).unwrap_or(rest.len()),
            b' ' => rest.iter().position(|b| *b != b' ').unwrap_or(rest.len()),
            _ => 1,
        };
        let (token, after) = rest.split_at(length);
        found.push(token);
        rest = after;
    }
    found
}

fn tokens_changed(
    input: &mut Vec<u8>,
    other: &[u8],
    dictionary: &Dictionary,
    random: &mut Xoshiro256,
) {
    let mut list = tokens(input);
    let numeric = |t: &&[u8]| t[0].is_ascii_digit() || t[0] == b'-';
    let at = below(list.len(), random);
    let theirs = tokens(other);
    let deep: Vec<u8>;
    match random.below(12) {
        0..=3 => {
            // A number becomes another one.
            let places: Vec<usize> = (0..list.len()).filter(|i| numeric(&list[*i])).collect();
            if let Some(&place) = places.get(below(places.len(), random)) {
                list[place] = NUMBERS[below(NUMBERS.len(), random)].as_bytes();
            }
        }
        4 if !list.is_empty() && !dictionary.0.is_empty() => {
            list[at] = &dictionary.0[below(dictionary.0.len(), random)];
        }
        5 => {
            let part = range(list.len(), 20, random);
            list.drain(part);
        }
        6 => {
            let part = list[range(list.len(), 20, random)].to_vec();
            list.splice(at..at, part);
        }
        7 => {
            let part = theirs[range(theirs.len(), 40, random)].to_vec();
            list.splice(at..at, part);
        }
        8 if list.len() > 1 => {
            let with = below(list.len(), random);
            list.swap(at, with);
        }
        9 => {
            // Whole lines go or come twice, or lines end otherwise.
            let mut lines: Vec<&[u8]> = input.split_inclusive(|b| *b == b'\n').collect();
            let line = below(lines.len(), random);
            match random.below(3) {
                0 if !lines.is_empty() => drop(lines.remove(line)),
                1 if !lines.is_empty() => lines.insert(below(lines.len(), random), lines[line]),
                _ => {
                    *input = input
                        .iter()
                        .flat_map(
                            |b| if *b == b'\n' { &b"\r\n"[..] } else { std::slice::from_ref(b) },
                        )
                        .copied()
                        .collect();
                    return;
                }
            }
            *input = lines.concat();
            return;
        }
        10 => {
            let mark = [&b"["[..], b"{\"a\":", b"\"", b"9", b" ", b"\n", b"1,"][below(7, random)];
            deep = mark.repeat(1 << random.below(11));
            list.insert(at, &deep);
        }
        _ => list.insert(at, BYTES[below(BYTES.len(), random)]),
    }
    *input = list.concat();
}

/// The archive with some of its files changed, renamed, doubled or left out.
fn repacked(
    input: &[u8],
    other: &[u8],
    times: u64,
    dictionary: &Dictionary,
    random: &mut Xoshiro256,
) -> Option<Vec<u8>> {
    let (mut files, theirs) = (unpacked(input)?, unpacked(other).unwrap_or_default());
    for _ in 0..times {
        if files.is_empty() {
            break;
        }
        let at = below(files.len(), random);
        match random.below(10) {
            0 => drop(files.remove(at)),
            1 => {
                let with = below(files.len(), random);
                files[at].1 = files[with].1.clone();
            }
            2 if !theirs.is_empty() => {
                let file = theirs[below(theirs.len(), random)].clone();
                match files.iter().position(|f| f.0 == file.0) {
                    Some(place) => files[place] = file,
                    None => files.push(file),
                }
            }
            3 => {
                let names = [
                    "P",
                    "R",
                    "C",
                    "R_next",
                    "C_next",
                    "discount",
                    "p0",
                    "data",
                    "indices",
                    "indptr",
                    "shape",
                    "state_ptr",
                    "format",
                    "other",
                ];
                let name = names[below(names.len(), random)];
                let mut file = files[at].clone();
                file.0 = format!("{name}.npy");
                files.retain(|f| f.0 != file.0);
                files.push(file);
            }
            4..=6 => {
                // The header, as text; its length is put right most of the time.
                let bytes = &mut files[at].1;
                let end = bytes.iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| n + 1);
                let mut header = bytes.get(10..end).unwrap_or_default().to_vec();
                tokens_changed(&mut header, b"", dictionary, random);
                if bytes.len() >= 10 {
                    let rest = bytes[end.max(10)..].to_vec();
                    bytes.truncate(10);
                    if random.below(8) > 0 {
                        let length = (header.len() as u16).to_le_bytes();
                        bytes[8..10].copy_from_slice(&length);
                    }
                    bytes.extend(header);
                    bytes.extend(rest);
                }
            }
            7 => {
                // Numbers of eight bytes, at borders.
                let bytes = &mut files[at].1;
                let numbers = bytes.len().saturating_sub(128) / 8;
                let place = 128 + 8 * below(numbers, random);
                let value = [0.0, -0.0, 1.0, 0.5, -1.0, f64::NAN, f64::INFINITY, 1e308, 1e-310]
                    [below(9, random)];
                if let Some(eight) = bytes.get_mut(place..place + 8) {
                    eight.copy_from_slice(&value.to_le_bytes());
                }
            }
            _ => bytes_changed(&mut files[at].1, b"", random),
        }
    }
    pack(&files, random.below(2) == 0)
}

fn unpacked(input: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
    let mut zip = ZipArchive::new(Cursor::new(input)).ok()?;
    let mut files = Vec::new();
    for i in 0..zip.len().min(30) {
        let file = zip.by_index(i).ok()?;
        let name = file.name().ok()?.into_owned();
        let mut bytes = Vec::new();
        // What was packed well is cut where inputs are.
        let _ = file.take(1 << 16).read_to_end(&mut bytes);
        files.push((name, bytes));
    }
    Some(files)
}

fn pack(files: &[(String, Vec<u8>)], compressed: bool) -> Option<Vec<u8>> {
    let method = if compressed { CompressionMethod::Deflated } else { CompressionMethod::Stored };
    let options = SimpleFileOptions::default().compression_method(method);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(name.as_str(), options).ok()?;
        zip.write_all(bytes).ok()?;
    }
    Some(zip.finish().ok()?.into_inner())
}
