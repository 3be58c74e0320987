//! Comma-separated tables with a header (RFC 4180): fields may be quoted, with doubled quotes
//! inside; lines end in LF or CRLF; a byte-order mark, spaces around fields and blank lines are
//! let through. Columns go by their name in the header, in any order.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::source::Source;
use crate::error::Error;

/// Longest record: a longer one means that the file is no table.
const RECORD_LIMIT: usize = 1 << 20;

pub(super) struct Table<'a> {
    reader: BufReader<Box<dyn Read + 'a>>,
    path: &'a Path,
    header: Header<'a>,
    /// Line where the latest record begins, and the number of lines read.
    line: u64,
    lines_read: u64,
    raw: Vec<u8>,
    record: Record,
}

impl<'a> Table<'a> {
    /// Reads the header.
    pub(super) fn open(source: Source<'a>) -> Result<Self, Error> {
        let mut table = Table {
            reader: BufReader::with_capacity(1 << 16, source.open()?),
            path: source.path,
            header: Header { path: source.path, line: None, names: Vec::new() },
            line: 0,
            lines_read: 0,
            raw: Vec::new(),
            record: Record::default(),
        };
        if !table.advance()? {
            let message = "the file is empty, expected a header line";
            return Err(super::parse_error(source.path, None, message));
        }
        let name = |k| table.record.field(k).to_ascii_lowercase();
        table.header.names = (0..table.record.ends.len()).map(name).collect();
        table.header.line = Some(table.line);
        Ok(table)
    }

    /// See [`Header::column`].
    pub(super) fn column(&self, names: &[&str]) -> Result<Option<usize>, Error> {
        self.header.column(names)
    }

    /// See [`Header::require`].
    pub(super) fn require(&self, names: &[&str]) -> Result<usize, Error> {
        self.header.require(names)
    }

    /// The names of the columns.
    pub(super) fn header(&self) -> &Header<'a> {
        &self.header
    }

    /// Goes to the next record; false at the end of the file.
    pub(super) fn advance(&mut self) -> Result<bool, Error> {
        self.raw.clear();
        while self.raw.iter().all(u8::is_ascii_whitespace) {
            self.line = self.lines_read + 1;
            self.raw.clear();
            if !self.read_line()? {
                return Ok(false);
            }
        }
        self.record.text.clear();
        self.record.ends.clear();
        self.record.open = false;
        let mut taken = 0;
        loop {
            let Ok(line) = std::str::from_utf8(&self.raw[taken..]) else {
                return Err(self.error("the line is not UTF-8 text"));
            };
            if !self.record.take(line) {
                return Err(self.error("text after a closing \", expected a comma"));
            }
            if !self.record.open {
                break;
            }
            taken = self.raw.len();
            if !self.read_line()? {
                return Err(self.error("a quoted field does not end, expected a closing \""));
            }
        }
        self.no_more_than_the_header()?;
        Ok(true)
    }

    /// Fields without a column mean that the others are not where the header says; empty ones are commas
    /// at the end.
    fn no_more_than_the_header(&self) -> Result<(), Error> {
        let (found, expected) = (self.record.ends.len(), self.header.names.len());
        if expected > 0 && (expected..found).any(|k| !self.record.field(k).is_empty()) {
            let message = format!("{found} columns, expected {expected}, as in the header");
            return Err(self.error(message));
        }
        Ok(())
    }

    /// Line where the latest record begins.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    pub(super) fn field(&self, column: usize) -> Result<&str, Error> {
        if column >= self.record.ends.len() {
            let (n, name) = (self.record.ends.len(), &self.header.names[column]);
            let expected = self.header.names.len();
            return Err(self
                .error(format!("only {n} of {expected} columns, expected one for “{name}” too")));
        }
        Ok(self.record.field(column))
    }

    pub(super) fn number(&self, column: usize) -> Result<f64, Error> {
        let text = self.field(column)?;
        text.parse().map_err(|_| {
            self.error(format!("{} is “{text}”, expected a number", self.header.names[column]))
        })
    }

    /// A number from 0 to 2³² − 2; `1e5` and `3.0` are taken too, as R writes them.
    pub(super) fn id(&self, column: usize) -> Result<u32, Error> {
        let text = self.field(column)?;
        let whole = |x: f64| (x.fract() == 0.0 && (0.0..1e15).contains(&x)).then_some(x as u64);
        let id = text.parse::<u64>().ok().or_else(|| text.parse().ok().and_then(whole));
        id.filter(|&id| id < u64::from(u32::MAX)).map(|id| id as u32).ok_or_else(|| {
            let (name, top) = (&self.header.names[column], u32::MAX - 1);
            self.error(format!("{name} is “{text}”, expected a whole number from 0 to {top}"))
        })
    }

    /// An error at the latest record.
    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        super::parse_error(self.path, Some(self.line.max(1)), message)
    }

    /// Appends one line to `raw`.
    fn read_line(&mut self) -> Result<bool, Error> {
        let room = (RECORD_LIMIT - self.raw.len().min(RECORD_LIMIT)) as u64 + 1;
        let read = (&mut self.reader).take(room).read_until(b'\n', &mut self.raw);
        let read = read.map_err(|source| Error::Io { path: self.path.to_owned(), source })?;
        if self.raw.len() > RECORD_LIMIT {
            return Err(self.error(format!("the line is longer than {RECORD_LIMIT} bytes")));
        }
        if self.lines_read == 0 && self.raw.starts_with(b"\xEF\xBB\xBF") {
            self.raw.drain(..3);
        }
        self.lines_read += u64::from(read > 0);
        Ok(read > 0)
    }
}

/// The names of columns, in small letters.
pub(super) struct Header<'a> {
    pub(super) path: &'a Path,
    /// Where it stands, in a file of lines.
    pub(super) line: Option<u64>,
    pub(super) names: Vec<String>,
}

impl Header<'_> {
    /// The column that is called by one of `names`; two of them are an error.
    pub(super) fn column(&self, names: &[&str]) -> Result<Option<usize>, Error> {
        let mut found = (0..self.names.len()).filter(|&k| names.contains(&self.names[k].as_str()));
        let (first, second) = (found.next(), found.next());
        match (first, second) {
            (Some(first), Some(second)) => {
                let (one, two) = (&self.names[first], &self.names[second]);
                let what = match one == two {
                    true => format!("“{one}” twice"),
                    false => format!("“{one}” and “{two}”, which mean the same"),
                };
                let (first, second) = (first + 1, second + 1);
                Err(self.error(format!(
                    "the header has {what} (columns {first} and {second}), expected one of them"
                )))
            }
            _ => Ok(first),
        }
    }

    /// As [`Header::column`]; its absence is an error.
    pub(super) fn require(&self, names: &[&str]) -> Result<usize, Error> {
        self.column(names)?.ok_or_else(|| {
            let wanted = names.join("” or “");
            let found = self.names.join(", ");
            self.error(format!("the header has no column “{wanted}”; it has: {found}"))
        })
    }

    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        super::parse_error(self.path, self.line, message)
    }
}

/// The fields of a record, one after the other.
#[derive(Default)]
struct Record {
    text: String,
    ends: Vec<usize>,
    /// The last of them is quoted and goes on.
    open: bool,
}

impl Record {
    fn field(&self, column: usize) -> &str {
        let start = if column == 0 { 0 } else { self.ends[column - 1] };
        &self.text[start..self.ends[column]]
    }

    /// Takes in a line; false if it has text where a comma must be.
    fn take(&mut self, mut line: &str) -> bool {
        loop {
            if !self.open {
                line = line.trim_ascii_start();
                if let Some(quoted) = line.strip_prefix('"') {
                    (self.open, line) = (true, quoted);
                } else {
                    let end = line.find(',').unwrap_or(line.len());
                    self.text.push_str(line[..end].trim_ascii_end());
                    line = &line[end..];
                }
            }
            while self.open {
                let Some(end) = line.find('"') else {
                    self.text.push_str(line);
                    return true;
                };
                self.text.push_str(&line[..end]);
                line = &line[end + 1..];
                self.open = line.starts_with('"');
                if self.open {
                    // A doubled quote is one of the text.
                    self.text.push('"');
                    line = &line[1..];
                }
            }
            self.ends.push(self.text.len());
            line = line.trim_ascii_start();
            match line.strip_prefix(',') {
                Some(next) => line = next,
                None => return line.is_empty(),
            }
        }
    }
}

/// A field as it is written: quoted where it must be.
pub(super) fn quoted(field: &str) -> Cow<'_, str> {
    let plain = !field.contains([',', '"', '\n', '\r']) && field.trim_ascii() == field;
    match plain && !field.is_empty() {
        true => field.into(),
        false => format!("\"{}\"", field.replace('"', "\"\"")).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &[u8]) -> Result<Table<'_>, Error> {
        Table::open(Source::in_memory(Path::new("t.csv"), text))
    }

    fn records(text: &[u8]) -> Result<Vec<Vec<String>>, Error> {
        let mut table = table(text)?;
        let mut all = vec![table.header.names.clone()];
        while table.advance()? {
            let fields = 0..table.record.ends.len();
            all.push(fields.map(|k| table.record.field(k).to_owned()).collect());
        }
        Ok(all)
    }

    #[test]
    fn quotes_spaces_endings() {
        let text =
            b"\xEF\xBB\xBF\"A\" , b\r\n\r\n 1 ,\" x, \"\"y\"\" \"\r\n,\n\"two\nlines\",\xC3\xA9";
        let all = records(text).unwrap();
        assert_eq!(all, [["a", "b"], ["1", " x, \"y\" "], ["", ""], ["two\nlines", "é"]]);
    }

    #[test]
    fn fields_round_trip() {
        for field in ["plain", "a,b", "say \"so\"", " padded ", "two\nlines", "", "\"\"", "é"] {
            let text = format!("x,y\n{},1\n", quoted(field));
            assert_eq!(records(text.as_bytes()).unwrap()[1], [field, "1"], "{field:?}");
        }
    }

    #[test]
    fn malformed() {
        for (text, message) in [
            (&b""[..], "t.csv: the file is empty, expected a header line"),
            (b"\n \n", "t.csv: the file is empty, expected a header line"),
            (
                b"a\n\"b\"\" \n\n",
                "t.csv, line 2: a quoted field does not end, expected a closing \"",
            ),
            (b"a\n\"b\"c", "t.csv, line 2: text after a closing \", expected a comma"),
            (b"a,b\n1,2,\n1,2,3\n", "t.csv, line 3: 3 columns, expected 2, as in the header"),
            (b"a\n\xFF", "t.csv, line 2: the line is not UTF-8 text"),
        ] {
            assert_eq!(records(text).unwrap_err().to_string(), message);
        }
        let long = vec![b'x'; RECORD_LIMIT + 1];
        assert!(records(&long).is_err());
        assert!(records(&long[1..]).is_ok());
    }

    #[test]
    fn ids_and_lines() {
        let mut table = table(b"id,n\n\n7,1\n1e+05,x\n-1\n4294967295\n1.5\n").unwrap();
        table.advance().unwrap();
        assert_eq!((table.id(0).unwrap(), table.number(1).unwrap(), table.line()), (7, 1.0, 3));
        table.advance().unwrap();
        assert_eq!(table.id(0).unwrap(), 100_000);
        let message = table.number(1).unwrap_err().to_string();
        assert_eq!(message, "t.csv, line 4: n is “x”, expected a number");
        while table.advance().unwrap() {
            assert!(table.id(0).is_err() && table.number(1).is_err());
        }
        assert!(table.require(&["m"]).is_err());
    }
}
