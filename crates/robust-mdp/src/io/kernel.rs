//! A kernel y(s'|s,a), such as the worst one: a table `state,action,next,probability` of its
//! positive entries, or an `.npz` archive of compressed rows.

use std::io::{self, Write};
use std::path::Path;

use super::names::Names;
use super::npz::{self, Csr};
use super::table::write_field;
use super::{Format, write_atomically};
use crate::error::Error;
use crate::model::Model;

/// Fills an empty vector with the (next state, probability) pairs of a row.
pub type KernelRows<'a> = dyn FnMut(usize, &mut Vec<(u32, f64)>) + 'a;

/// Writes a kernel with the rows of `model` as `.csv` or `.npz`.
///
/// `row` is called once for each row, in order. CSV streams; `.npz` needs the number of entries first and holds them all.
pub fn write_kernel(path: &Path, model: &Model, row: &mut KernelRows<'_>) -> Result<(), Error> {
    match Format::of(path) {
        Ok(Format::Csv) => write_atomically(path, |w| write_csv(model, row, w)),
        Ok(Format::Npz) => npz::write_kernel(path, model, &collect(model, row)),
        _ => {
            let path = path.display();
            Err(Error::Input(format!("{path}: a kernel is written as .csv or .npz")))
        }
    }
}

fn write_csv(model: &Model, row: &mut KernelRows<'_>, w: &mut dyn Write) -> io::Result<()> {
    let names = Names::new(model);
    let mut entries = Vec::new();
    w.write_all(b"state,action,next,probability\n")?;
    for s in 0..model.states() {
        let state = names.state_text(s);
        for r in model.rows_of(s) {
            let action = names.action_text(s, r);
            entries.clear();
            row(r, &mut entries);
            for &(next, p) in entries.iter().filter(|e| e.1 > 0.0) {
                write_field(w, &state)?;
                w.write_all(b",")?;
                write_field(w, &action)?;
                w.write_all(b",")?;
                write_field(w, &names.state_text(next as usize))?;
                writeln!(w, ",{p:?}")?;
            }
        }
    }
    Ok(())
}

fn collect(model: &Model, row: &mut KernelRows<'_>) -> Csr {
    let mut rows = Csr { data: Vec::new(), indices: Vec::new(), indptr: vec![0] };
    let mut entries = Vec::new();
    for r in 0..model.rows() {
        entries.clear();
        row(r, &mut entries);
        let positive = entries.iter().filter(|e| e.1 > 0.0);
        rows.indices.extend(positive.clone().map(|e| e.0));
        rows.data.extend(positive.map(|e| e.1));
        rows.indptr.push(rows.data.len());
    }
    rows
}
