//! A journal: one JSON object a line, appended as soon as it is measured, so that an interrupted run
//! goes on where it was.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A line of a journal.
pub trait Entry: Serialize + DeserializeOwned {
    /// Later entries replace earlier ones of the same key.
    fn key(&self) -> String;

    /// Entries of other formats are left alone.
    fn is_known(_line: &Value) -> bool {
        true
    }
}

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A pipe would be waited for, and cannot be gone on with.
    #[error("{}: expected a plain file", .0.display())]
    NotAFile(PathBuf),
    /// Another run writes to it.
    #[error("{}: another run is at work there", .0.display())]
    Busy(PathBuf),
    /// A line, counted from 1, is no entry.
    #[error("{}, line {}: {}", .0.display(), .1.0, .1.1)]
    Line(PathBuf, BadLine),
    /// It cannot be read or written.
    #[error("{}: {}", .0.display(), .1)]
    Io(PathBuf, io::Error),
}

/// A line, counted from 1, and what is wrong with it.
pub type BadLine = (usize, serde_json::Error);

/// The entries of a text, each key once, in the order in which the keys first came.
pub fn parse<E: Entry>(text: &[u8]) -> Result<Vec<E>, BadLine> {
    let (mut entries, mut places) = (Vec::new(), HashMap::new());
    for (number, line) in text.split_inclusive(|&b| b == b'\n').enumerate() {
        let failed = |e| (number + 1, e);
        let value: Value = serde_json::from_slice(line).map_err(failed)?;
        if !E::is_known(&value) {
            continue;
        }
        let entry: E = serde_json::from_value(value).map_err(failed)?;
        match *places.entry(entry.key()).or_insert(entries.len()) {
            at if at < entries.len() => entries[at] = entry,
            _ => entries.push(entry),
        }
    }
    Ok(entries)
}

/// The entries of a journal that nobody writes to.
pub fn read<E: Entry>(path: &Path) -> Result<Vec<E>, Error> {
    let text = std::fs::read(path).map_err(|e| Error::Io(path.into(), e))?;
    parse(&text).map_err(|bad| Error::Line(path.into(), bad))
}

/// The entries of a file, open for more.
///
/// The file is locked for as long as it is open, so that two runs cannot write into each other's
/// records. The system holds the lock, not the file: it ends with the process, however that ends.
#[derive(Debug)]
pub struct Journal<E> {
    path: PathBuf,
    file: File,
    entries: HashMap<String, E>,
}

impl<E: Entry> Journal<E> {
    /// Reads what there is. A last line without its end was being written when a run was killed:
    /// it is cut off.
    pub fn open(path: PathBuf) -> Result<Journal<E>, Error> {
        if std::fs::metadata(&path).is_ok_and(|about| !about.is_file()) {
            return Err(Error::NotAFile(path));
        }
        let (file, text) = match opened(&path) {
            Ok(opened) => opened,
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Err(Error::Busy(path)),
            Err(e) => return Err(Error::Io(path, e)),
        };
        match parse::<E>(&text) {
            Ok(all) => {
                let entries = all.into_iter().map(|entry| (entry.key(), entry)).collect();
                Ok(Journal { path, file, entries })
            }
            Err(bad) => Err(Error::Line(path, bad)),
        }
    }

    /// The entry of a key.
    pub fn get(&self, key: &str) -> Option<&E> {
        self.entries.get(key)
    }

    /// Appends entries in one write.
    pub fn add(&mut self, entries: impl IntoIterator<Item = E>) -> Result<(), Error> {
        let mut lines = Vec::new();
        for entry in entries {
            let line = serde_json::to_vec(&entry);
            lines.extend(line.map_err(|e| Error::Io(self.path.clone(), e.into()))?);
            lines.push(b'\n');
            self.entries.insert(entry.key(), entry);
        }
        self.file.write_all(&lines).map_err(|e| Error::Io(self.path.clone(), e))
    }
}

/// The file, locked and at its end, and its whole lines.
fn opened(path: &Path) -> io::Result<(File, Vec<u8>)> {
    let mut options = OpenOptions::new();
    let mut file = options.read(true).write(true).create(true).truncate(false).open(path)?;
    match file.try_lock().map_err(io::Error::from) {
        // Some network folders have no locks.
        Err(e) if e.kind() == io::ErrorKind::Unsupported => {}
        locked => locked?,
    }
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    text.truncate(text.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1));
    file.set_len(text.len() as u64)?;
    file.seek(SeekFrom::End(0))?;
    Ok((file, text))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Run {
        states: u64,
        seconds: f64,
    }

    impl Entry for Run {
        fn key(&self) -> String {
            self.states.to_string()
        }

        fn is_known(line: &Value) -> bool {
            line["format"].is_null()
        }
    }

    const ONE: Run = Run { states: 10, seconds: 1.0 };
    const TWO: Run = Run { states: 20, seconds: 2.5 };

    #[test]
    fn a_truncated_line_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        Journal::open(path.clone()).unwrap().add([ONE, TWO]).unwrap();
        let text = std::fs::read(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 7]).unwrap();
        let mut journal = Journal::open(path.clone()).unwrap();
        assert_eq!(journal.get("10"), Some(&ONE));
        assert_eq!(journal.get("20"), None);
        journal.add([TWO]).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), text);
        drop(journal);
        // A bad line elsewhere is not overlooked.
        std::fs::write(&path, [b"{\n".as_slice(), &text].concat()).unwrap();
        let error = Journal::<Run>::open(path.clone()).unwrap_err().to_string();
        assert!(error.contains("line 1"), "{error}");
    }

    #[test]
    fn a_journal_is_one_runs_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut first = Journal::open(path.clone()).unwrap();
        first.add([ONE]).unwrap();
        let text = std::fs::read(&path).unwrap();
        assert!(matches!(Journal::<Run>::open(path.clone()), Err(Error::Busy(_))));
        assert_eq!(std::fs::read(&path).unwrap(), text);
        drop(first);
        assert!(Journal::<Run>::open(path.clone()).is_ok());
    }

    #[test]
    fn later_entries_take_the_place_of_earlier_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut journal = Journal::open(path.clone()).unwrap();
        let again = Run { seconds: 0.5, ..ONE };
        journal.add([ONE, TWO]).unwrap();
        journal.add([again.clone()]).unwrap();
        assert_eq!(journal.get("10"), Some(&again));
        let text = std::fs::read_to_string(&path).unwrap() + "{\"format\": 2}\n";
        std::fs::write(&path, text).unwrap();
        assert_eq!(read::<Run>(&path).unwrap(), [again, TWO]);
    }
}
