//! Text in lines, for formats in which a line says one thing. Blank ones are left out.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::source::Source;
use crate::error::Error;

/// Longest line: a longer one means that the file is something else.
const LINE_LIMIT: usize = 1 << 20;

/// Digits of a whole number that an f64 holds the size of.
const DIGITS: usize = 300;

pub(super) struct Lines<'a> {
    reader: BufReader<Box<dyn Read + 'a>>,
    path: &'a Path,
    line: u64,
    raw: Vec<u8>,
    /// The latest line is to be given again.
    again: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn open(source: Source<'a>) -> Result<Lines<'a>, Error> {
        let reader = BufReader::with_capacity(1 << 16, source.open()?);
        Ok(Lines { reader, path: source.path, line: 0, raw: Vec::new(), again: false })
    }

    /// The next line that is not blank, without blanks around it; `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<&str>, Error> {
        while !std::mem::take(&mut self.again) {
            self.raw.clear();
            let read =
                (&mut self.reader).take(LINE_LIMIT as u64 + 1).read_until(b'\n', &mut self.raw);
            let read = read.map_err(|source| Error::Io { path: self.path.to_owned(), source })?;
            if read == 0 {
                return Ok(None);
            }
            self.line += 1;
            if read > LINE_LIMIT {
                return Err(self.error(format!("the line is longer than {LINE_LIMIT} bytes")));
            }
            if self.line == 1 && self.raw.starts_with(b"\xEF\xBB\xBF") {
                self.raw.drain(..3);
            }
            self.again = !self.raw.iter().all(u8::is_ascii_whitespace);
        }
        self.latest()
    }

    /// The latest line once more; `None` before the first and behind the last.
    pub(super) fn latest(&self) -> Result<Option<&str>, Error> {
        match std::str::from_utf8(&self.raw) {
            Ok("") => Ok(None),
            Ok(text) => Ok(Some(text.trim_ascii())),
            Err(_) => Err(self.error("the line is not UTF-8 text")),
        }
    }

    /// Lets the latest line be the next one too.
    pub(super) fn put_back(&mut self) {
        self.again = true;
    }

    /// Number of the latest line.
    pub(super) fn number(&self) -> u64 {
        self.line
    }

    /// An error on the latest line.
    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        super::parse_error(self.path, Some(self.line.max(1)), message)
    }
}

/// A number below 2³² − 1.
pub(super) fn index(text: &str) -> Option<usize> {
    text.parse::<u32>().ok().filter(|n| *n < u32::MAX).map(|n| n as usize)
}

/// A number, or a fraction of two. Whole numbers of a fraction may be longer than any f64.
pub(super) fn number(text: &str) -> Option<f64> {
    let Some((above, below)) = text.split_once('/') else { return text.trim().parse().ok() };
    let (above, below) = (above.trim(), below.trim());
    let ratio = |above: &str, below: &str| -> Option<f64> {
        Some(above.parse::<f64>().ok()? / below.parse::<f64>().ok()?)
    };
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let unsigned = above.strip_prefix('-').unwrap_or(above);
    if unsigned.len().max(below.len()) <= DIGITS || !digits(unsigned) || !digits(below) {
        return ratio(above, below);
    }
    // The first digits of each, and how many are left out.
    let cut = |text: &str| {
        let text = text.trim_start_matches('0');
        let kept = text.len().min(DIGITS);
        (format!("0{}", &text[..kept]), (text.len() - kept) as i32)
    };
    let ((a, further), (b, other)) = (cut(unsigned), cut(below));
    let size = ratio(&a, &b)? * 10f64.powi(further - other);
    Some(if unsigned.len() < above.len() { -size } else { size })
}

/// A probability, or the ends of an interval `[low, high]`.
pub(super) fn bounds_of(text: &str) -> Option<(f64, Option<f64>)> {
    match text.strip_prefix('[') {
        Some(inside) => {
            let (low, high) = inside.strip_suffix(']')?.split_once(',')?;
            Some((number(low)?, Some(number(high)?)))
        }
        None => Some((number(text)?, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_their_numbers() {
        let text = b"\xEF\xBB\xBF one\r\n\n \t\nthree  x\n\xFF";
        let mut lines = Lines::open(Source::in_memory(Path::new("t.tra"), text)).unwrap();
        assert_eq!(lines.next().unwrap(), Some("one"));
        assert_eq!(lines.next().unwrap(), Some("three  x"));
        assert_eq!(lines.number(), 4);
        lines.put_back();
        assert_eq!(lines.next().unwrap(), Some("three  x"));
        assert_eq!(lines.number(), 4);
        let message = lines.next().unwrap_err().to_string();
        assert_eq!(message, "t.tra, line 5: the line is not UTF-8 text");
        assert_eq!(lines.next().unwrap(), None);
        let long = vec![b'x'; LINE_LIMIT + 1];
        let mut lines = Lines::open(Source::in_memory(Path::new("t.tra"), &long)).unwrap();
        assert!(lines.next().unwrap_err().to_string().contains("longer than 1048576 bytes"));
    }

    #[test]
    fn numbers_and_intervals() {
        assert_eq!(
            (number("0.25"), number("1/4"), number("x"), number("1/")),
            (Some(0.25), Some(0.25), None, None)
        );
        let (long, longer) = ("1".repeat(400), "3".repeat(400));
        assert_eq!(number(&format!("{long}/{longer}")), Some(1.0 / 3.0));
        assert_eq!(number(&format!("-{long}/{long}")), Some(-1.0));
        assert_eq!(number(&format!("1/{long}")), Some(0.0));
        let zeros = format!("{}3/{}", "0".repeat(400), "4");
        assert_eq!(number(&zeros), Some(0.75));
        let large = number(&format!("1{}/1{}", "0".repeat(301), "0".repeat(10))).unwrap();
        assert!((large / 1e291 - 1.0).abs() < 1e-12, "{large:e}");
        assert_eq!((number(&format!("{long}/1x")), number("-1/4")), (None, Some(-0.25)));
        assert_eq!(bounds_of("[0.1,0.5]"), Some((0.1, Some(0.5))));
        assert_eq!(bounds_of("[1/4, 1]"), Some((0.25, Some(1.0))));
        assert_eq!(
            (bounds_of("0.5"), bounds_of("[0.5"), bounds_of("[1]")),
            (Some((0.5, None)), None, None)
        );
        assert_eq!((index("7"), index("-1"), index("4294967295")), (Some(7), None, None));
    }
}
