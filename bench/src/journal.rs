//! results.jsonl: one object a line, appended as soon as it is measured.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use crate::Failure;
use crate::record::Record;

const FILE: &str = "results.jsonl";

/// The results of a run, open for more.
pub(crate) struct Journal {
    file: File,
}

impl Journal {
    pub(crate) fn open(folder: &Path) -> Result<Journal, Failure> {
        std::fs::create_dir_all(folder)
            .map_err(|e| format!("{} cannot be created: {e}", folder.display()))?;
        let file = OpenOptions::new().create(true).append(true).open(folder.join(FILE))?;
        Ok(Journal { file })
    }

    pub(crate) fn add(&mut self, records: &[Record]) -> Result<(), Failure> {
        let mut text = String::new();
        for record in records {
            text += &serde_json::to_string(record)?;
            text.push('\n');
        }
        self.file.write_all(text.as_bytes())?;
        Ok(())
    }
}

/// The results in a folder; of those with the same key the last one.
pub(crate) fn read(folder: &Path) -> Result<Vec<Record>, Failure> {
    let path = folder.join(FILE);
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut records: Vec<Record> = Vec::new();
    let mut place = std::collections::HashMap::new();
    for (number, line) in text.lines().enumerate() {
        let record: Record = serde_json::from_str(line)
            .map_err(|e| format!("{}, line {}: {e}", path.display(), number + 1))?;
        match place.entry(record.key()) {
            std::collections::hash_map::Entry::Occupied(at) => records[*at.get()] = record,
            std::collections::hash_map::Entry::Vacant(at) => {
                at.insert(records.len());
                records.push(record);
            }
        }
    }
    Ok(records)
}
