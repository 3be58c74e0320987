//! Inputs to begin with.

use std::fs;
use std::path::PathBuf;

use crate::readers::{QUESTIONS, Reader, ask, certificates};

/// The committed inputs of a reader, in the order of their names. Checkpoints serve the version that
/// wrote them, and certificates one model, so that these are made here.
pub fn of(reader: &Reader) -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(reader.name);
    let mut paths: Vec<_> = match fs::read_dir(&folder) {
        Ok(entries) => entries.filter_map(|e| Some(e.ok()?.path())).collect(),
        Err(_) => Vec::new(),
    };
    paths.sort();
    let mut inputs: Vec<Vec<u8>> = paths.iter().filter_map(|p| fs::read(p).ok()).collect();
    if reader.name == "checkpoint" {
        for q in 0..QUESTIONS.len() {
            let memory = ask(q, 4, None).expect("a valid question");
            inputs.extend(memory.kept);
        }
    }
    if reader.name == "certificate" {
        inputs.extend(certificates());
    }
    assert!(!inputs.is_empty(), "no corpus in {}", folder.display());
    inputs
}
