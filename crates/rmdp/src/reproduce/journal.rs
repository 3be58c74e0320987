//! cells.jsonl: one finished cell a line, appended as soon as it is done, so that an interrupted
//! run goes on where it was.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::cell::{Cell, FORMAT, Record};
use crate::failure::{Failure, json_in_words};

pub(crate) const FILE: &str = "cells.jsonl";

/// The finished cells of a folder, open for more.
///
/// The file is locked for as long as it is open, so that two runs cannot write into each other's
/// records. The system holds the lock, not the file: it ends with the process, however that ends.
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    records: HashMap<String, Record>,
}

impl Journal {
    /// Reads what there is. A last line without its end was being written when a run was killed:
    /// it is cut off.
    pub(crate) fn open(folder: &Path) -> Result<Journal, Failure> {
        let path = folder.join(FILE);
        let failed = |e: io::Error| Failure::write(&path, e);
        // A pipe would be waited for, and cannot be gone on with.
        if std::fs::metadata(&path).is_ok_and(|about| !about.is_file()) {
            return Err(Failure::usage(format!("{}: expected a plain file", path.display())));
        }
        let mut options = OpenOptions::new();
        let mut file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        lock(&file, folder)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(failed)?;
        let whole = text.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        file.set_len(whole as u64).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        let records = read(&text[..whole]).map_err(|(line, error)| {
            let place = format!("{}, line {line}", path.display());
            Failure::usage(format!("{place}: expected the record of a finished cell: {error}"))
                .hint("remove the line, or choose another folder with -o")
        })?;
        Ok(Journal { path, file, records })
    }

    pub(crate) fn get(&self, cell: &Cell) -> Option<&Record> {
        self.records.get(&cell.key())
    }

    /// Appends a record in one write.
    pub(crate) fn add(&mut self, record: Record) -> Result<(), Failure> {
        let failed = |e: io::Error| Failure::write(&self.path, e);
        let mut line = serde_json::to_vec(&record).map_err(|e| failed(e.into()))?;
        line.push(b'\n');
        self.file.write_all(&line).and_then(|()| self.file.flush()).map_err(failed)?;
        self.records.insert(record.cell.key(), record);
        Ok(())
    }
}

/// Refuses a folder in which another run is at work.
fn lock(file: &File, folder: &Path) -> Result<(), Failure> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            let folder = folder.display();
            Err(Failure::usage(format!("-o {folder}: another run of reproduce is at work there"))
                .hint("wait until it has ended, or choose another folder with -o"))
        }
        // Some network folders have no locks.
        Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => Ok(()),
        Err(TryLockError::Error(e)) => Err(Failure::write(&folder.join(FILE), e)),
    }
}

/// Records by key; the last of those with the same one. Records of another format are left alone.
pub(super) fn read(text: &[u8]) -> Result<HashMap<String, Record>, (usize, String)> {
    let mut records = HashMap::new();
    let text = std::str::from_utf8(text).map_err(|e| (1, e.to_string()))?;
    for (number, line) in text.lines().enumerate() {
        let value: serde_json::Value =
            serde_json::from_str(line).map_err(|e| (number + 1, json_in_words(&e)))?;
        if value["cell"]["format"] != FORMAT {
            continue;
        }
        let record: Record =
            serde_json::from_value(value).map_err(|e| (number + 1, json_in_words(&e)))?;
        records.insert(record.cell.key(), record);
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::super::claims::tests::solved;
    use super::*;

    #[test]
    fn a_truncated_line_is_cut_off() {
        let folder = std::env::temp_dir().join(format!("rmdp-journal-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(FILE);
        let _ = std::fs::remove_file(&path);
        let (one, two) = (solved(10, 1.0), solved(20, 2.5));
        {
            let mut journal = Journal::open(&folder).unwrap();
            journal.add(one.clone()).unwrap();
            journal.add(two.clone()).unwrap();
        }
        let text = std::fs::read(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 7]).unwrap();
        let mut journal = Journal::open(&folder).unwrap();
        assert_eq!(journal.get(&one.cell), Some(&one));
        assert_eq!(journal.get(&two.cell), None);
        journal.add(two.clone()).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), text);
        drop(journal);
        // A bad line elsewhere is not overlooked.
        std::fs::write(&path, [b"{\n".as_slice(), &text].concat()).unwrap();
        let error = Journal::open(&folder).err().unwrap().to_string();
        assert!(error.contains("line 1"), "{error}");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_folder_is_one_runs_at_a_time() {
        let folder = std::env::temp_dir().join(format!("rmdp-lock-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut first = Journal::open(&folder).unwrap();
        first.add(solved(10, 1.0)).unwrap();
        let text = std::fs::read(folder.join(FILE)).unwrap();
        let refused = Journal::open(&folder).err().unwrap();
        assert_eq!(refused.code, crate::failure::Ending::BadInput);
        assert!(refused.to_string().contains("another run of reproduce is at work there"));
        assert_eq!(std::fs::read(folder.join(FILE)).unwrap(), text);
        drop(first);
        assert!(Journal::open(&folder).is_ok());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
