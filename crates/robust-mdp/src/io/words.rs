//! Text made of words between blanks, whatever the lines: formats of numbers, one after the other. Lines
//! are counted, and may be of any length.

use std::fmt::Display;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::source::Source;
use crate::error::Error;

/// Longest word: a longer one is neither a number nor a name.
const WORD_LIMIT: usize = 400;

/// A byte-order mark.
const MARK: &[u8] = b"\xEF\xBB\xBF";

pub(super) struct Words<'a> {
    reader: BufReader<Box<dyn Read + 'a>>,
    path: &'a Path,
    /// Line of the latest word, and the one that is being read.
    line: u64,
    at: u64,
    word: Vec<u8>,
    /// A byte-order mark has been left out.
    begun: bool,
}

impl<'a> Words<'a> {
    pub(super) fn open(source: Source<'a>) -> Result<Words<'a>, Error> {
        let reader = BufReader::with_capacity(1 << 16, source.open()?);
        Ok(Words { reader, path: source.path, line: 0, at: 1, word: Vec::new(), begun: false })
    }

    /// The next word; `None` at the end of the text.
    pub(super) fn next(&mut self) -> Result<Option<&str>, Error> {
        self.word.clear();
        loop {
            let failed = |source| Error::Io { path: self.path.to_owned(), source };
            let bytes = self.reader.fill_buf().map_err(failed)?;
            if bytes.is_empty() {
                break;
            }
            let skipped = match self.word.is_empty() {
                true => bytes.iter().take_while(|b| b.is_ascii_whitespace()).count(),
                false => 0,
            };
            self.at += bytes[..skipped].iter().filter(|b| **b == b'\n').count() as u64;
            let rest = &bytes[skipped..];
            let length = rest.iter().take_while(|b| !b.is_ascii_whitespace()).count();
            self.line = self.at;
            let room = WORD_LIMIT - self.word.len();
            self.word.extend(&rest[..length.min(room)]);
            let ends = length < rest.len();
            self.reader.consume(skipped + length);
            if length > room {
                return Err(self.error(format!("a word is longer than {WORD_LIMIT} bytes")));
            }
            if ends {
                break;
            }
        }
        if self.line == 1
            && self.word.starts_with(MARK)
            && !std::mem::replace(&mut self.begun, true)
        {
            self.word.drain(..MARK.len());
            if self.word.is_empty() {
                return self.next();
            }
        }
        match std::str::from_utf8(&self.word) {
            Ok("") => Ok(None),
            Ok(word) => Ok(Some(word)),
            Err(_) => Err(super::parse_error(self.path, Some(self.at), "the text is not UTF-8")),
        }
    }

    /// The next word, whatever it is.
    pub(super) fn word(&mut self, what: impl Display) -> Result<&str, Error> {
        if self.next()?.is_none() {
            let message = format!("the file ends too early, expected {what}");
            return Err(super::parse_error(self.path, Some(self.at), message));
        }
        Ok(self.latest())
    }

    pub(super) fn number(&mut self, what: impl Display) -> Result<f64, Error> {
        match self.word(&what)?.parse() {
            Ok(number) => Ok(number),
            Err(_) => Err(self.unexpected(what)),
        }
    }

    /// A number below 2³² − 1.
    pub(super) fn count(&mut self, what: impl Display) -> Result<usize, Error> {
        match self.word(&what)?.parse::<u32>() {
            Ok(count) if count < u32::MAX => Ok(count as usize),
            _ => Err(self.unexpected(what)),
        }
    }

    /// The latest word.
    pub(super) fn latest(&self) -> &str {
        std::str::from_utf8(&self.word).unwrap_or_default()
    }

    /// An error about the latest word.
    pub(super) fn unexpected(&self, expected: impl Display) -> Error {
        let word = String::from_utf8_lossy(&self.word);
        self.error(format!("found “{word}”, expected {expected}"))
    }

    /// Line of the latest word.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// An error on the line of the latest word.
    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        super::parse_error(self.path, Some(self.line.max(1)), message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[u8]) -> Result<Vec<(u64, String)>, Error> {
        let mut words = Words::open(Source::in_memory(Path::new("t.mdp"), text))?;
        let mut all = Vec::new();
        while let Some(word) = words.next()?.map(str::to_owned) {
            all.push((words.line(), word));
        }
        Ok(all)
    }

    #[test]
    fn words_and_their_lines() {
        let found = words(b"\xEF\xBB\xBFone  2\r\n\n\t three").unwrap();
        assert_eq!(found, [(1, "one".into()), (1, "2".into()), (3, "three".into())]);
        assert_eq!(words(b" \n ").unwrap(), []);
        let long = [b"1\n".as_slice(), &[b'x'; WORD_LIMIT]].concat();
        assert_eq!(words(&long).unwrap().len(), 2);
        let message = words(&[&long[..], b"x"].concat()).unwrap_err().to_string();
        assert_eq!(message, "t.mdp, line 2: a word is longer than 400 bytes");
        assert_eq!(
            words(b"a\n\xFF").unwrap_err().to_string(),
            "t.mdp, line 2: the text is not UTF-8"
        );
        // Words that lie on the border of what is read at a time.
        let many = "12345 ".repeat(40_000);
        let found = words(many.as_bytes()).unwrap();
        assert!(found.len() == 40_000 && found.iter().all(|(_, word)| word == "12345"));
    }

    #[test]
    fn numbers() {
        let mut words =
            Words::open(Source::in_memory(Path::new("t"), b"1e-3 7\n-1\n4294967295 x")).unwrap();
        assert_eq!((words.number("a number").unwrap(), words.count("a count").unwrap()), (1e-3, 7));
        let message = words.count("a state").unwrap_err().to_string();
        assert_eq!(message, "t, line 2: found “-1”, expected a state");
        assert!(words.count("a state").is_err() && words.number("a number").is_err());
        let message = words.number("a number").unwrap_err().to_string();
        assert_eq!(message, "t, line 3: the file ends too early, expected a number");
    }
}
