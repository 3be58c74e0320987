//! Writing archives: dense where the model is and all states have as many actions, else CSR.
//! Arrays are stored uncompressed, as `numpy.savez` does.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::error::Error;
use crate::io::atomic::replace;
use crate::io::npy::write_header;
use crate::model::{Model, Objective};

/// Writes a model, without names.
pub(in crate::io) fn write(model: &Model, path: &Path) -> Result<(), Error> {
    replace(path, |file| {
        let mut out = Output(ZipWriter::new(file));
        let actions = model.rows() / model.states();
        let even = |s| model.rows_of(s).len() == actions;
        match model.is_dense() && actions > 0 && (0..model.states()).all(even) {
            true => write_dense(model, actions, &mut out)?,
            false => write_csr(model, &mut out)?,
        }
        out.floats("discount", &[], [model.discount()].into_iter())?;
        if let Some(p) = model.initial() {
            out.floats("p0", &[p.len()], p.iter().copied())?;
        }
        out.finish()
    })
}

/// Compressed rows held in memory.
pub(in crate::io) struct Csr {
    pub(in crate::io) data: Vec<f64>,
    pub(in crate::io) indices: Vec<u32>,
    pub(in crate::io) indptr: Vec<usize>,
    /// What each entry costs, where that must be said.
    pub(in crate::io) costs: Option<Vec<f64>>,
}

/// Writes a kernel with the rows of `model`.
pub(in crate::io) fn write_kernel(path: &Path, model: &Model, rows: &Csr) -> Result<(), Error> {
    replace(path, |file| {
        let mut out = Output(ZipWriter::new(file));
        out.floats("data", &[rows.data.len()], rows.data.iter().copied())?;
        out.indices(rows.indices.len(), rows.indices.iter().copied())?;
        out.counts("indptr", rows.indptr.len(), rows.indptr.iter().copied())?;
        write_shape(model, &mut out)?;
        if let Some(costs) = &rows.costs {
            out.floats(cost_names(model).0, &[costs.len()], costs.iter().copied())?;
        }
        out.finish()
    })
}

fn write_dense(model: &Model, actions: usize, out: &mut Output<'_>) -> io::Result<()> {
    let (states, sign) = (model.states(), model.objective().sign());
    let (name, next_name) = cost_names(model);
    out.floats("P", &[states, actions, states], model.prob.iter().copied())?;
    out.floats(name, &[states, actions], model.cost.iter().map(|c| sign * c + 0.0))?;
    if let Some(costs) = &model.transition_cost {
        let shape = [states, actions, states];
        out.floats(next_name, &shape, costs.iter().map(|c| sign * c + 0.0))?;
    }
    Ok(())
}

fn write_csr(model: &Model, out: &mut Output<'_>) -> io::Result<()> {
    let sign = model.objective().sign();
    let (name, next_name) = cost_names(model);
    let lengths = || (0..model.rows()).map(|r| model.row(r).listed().count());
    let count: usize = lengths().sum();
    let entries = || (0..model.rows()).flat_map(|r| model.row(r).listed());
    let ends = lengths().scan(0, |at, n| {
        *at += n;
        Some(*at)
    });
    out.floats("data", &[count], entries().map(|e| e.1))?;
    out.indices(count, entries().map(|e| e.0 as u32))?;
    out.counts("indptr", model.rows() + 1, std::iter::once(0).chain(ends))?;
    write_shape(model, out)?;
    out.floats(name, &[model.rows()], model.cost.iter().map(|c| sign * c + 0.0))?;
    if model.has_transition_costs() {
        out.floats(next_name, &[count], entries().map(|e| sign * e.2 + 0.0))?;
    }
    Ok(())
}

/// `shape`, `state_ptr` and the `format` that `scipy.sparse.load_npz` asks for.
fn write_shape(model: &Model, out: &mut Output<'_>) -> io::Result<()> {
    out.counts("shape", 2, [model.rows(), model.states()].into_iter())?;
    out.counts("state_ptr", model.states() + 1, model.state_ptr.iter().copied())?;
    out.array("format", "|S3", &[], std::iter::once(*b"csr"))
}

fn cost_names(model: &Model) -> (&'static str, &'static str) {
    match model.objective() {
        Objective::MinCost => ("C", "C_next"),
        Objective::MaxReward => ("R", "R_next"),
    }
}

/// An archive being written.
struct Output<'f>(ZipWriter<&'f mut BufWriter<File>>);

impl Output<'_> {
    fn array<const N: usize>(
        &mut self,
        name: &str,
        descr: &str,
        shape: &[usize],
        elements: impl Iterator<Item = [u8; N]>,
    ) -> io::Result<()> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(true);
        self.0.start_file(format!("{name}.npy"), options)?;
        let mut buffered = BufWriter::with_capacity(1 << 16, &mut self.0);
        write_header(&mut buffered, descr, shape)?;
        for element in elements {
            buffered.write_all(&element)?;
        }
        buffered.flush()
    }

    fn floats(
        &mut self,
        name: &str,
        shape: &[usize],
        values: impl Iterator<Item = f64>,
    ) -> io::Result<()> {
        self.array(name, "<f8", shape, values.map(f64::to_le_bytes))
    }

    fn counts(
        &mut self,
        name: &str,
        length: usize,
        values: impl Iterator<Item = usize>,
    ) -> io::Result<()> {
        self.array(name, "<i8", &[length], values.map(|v| (v as i64).to_le_bytes()))
    }

    fn indices(&mut self, length: usize, values: impl Iterator<Item = u32>) -> io::Result<()> {
        self.array("indices", "<i8", &[length], values.map(|v| i64::from(v).to_le_bytes()))
    }

    fn finish(self) -> io::Result<()> {
        self.0.finish()?.flush()
    }
}
