//! Writing archives: dense where the model is and all states have as many actions, else CSR.
//! Arrays are stored uncompressed, as `numpy.savez` does.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::cost_names;
use crate::error::Error;
use crate::io::atomic::replace;
use crate::io::npy::write_header;
use crate::model::{Bounds, Model};

/// Writes a model, without names.
pub(in crate::io) fn write(model: &Model, file: &mut dyn Sink) -> io::Result<()> {
    let mut out = Output(ZipWriter::new(Held::new(file)));
    let actions = model.rows() / model.states();
    let even = |s| model.rows_of(s).len() == actions;
    let dense = model.is_dense() && !model.has_intervals();
    match dense && actions > 0 && (0..model.states()).all(even) {
        true => write_dense(model, actions, &mut out)?,
        false => write_csr(model, &mut out)?,
    }
    out.floats("discount", &[], [model.discount()].into_iter())?;
    if let Some(p) = model.initial() {
        out.floats("p0", &[p.len()], p.iter().copied())?;
    }
    out.finish()
}

/// What archives are written to, from both ends.
pub(in crate::io) trait Sink: Write + Seek {}

impl<T: Write + Seek> Sink for T {}

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
        let mut out = Output(ZipWriter::new(Held::new(file)));
        out.floats("data", &[rows.data.len()], rows.data.iter().copied())?;
        out.counts("indices", rows.indices.len(), rows.indices.iter().map(|i| *i as usize))?;
        out.counts("indptr", rows.indptr.len(), rows.indptr.iter().copied())?;
        write_shape(model, &mut out)?;
        if let Some(costs) = &rows.costs {
            out.floats(cost_names(model.objective()).0, &[costs.len()], costs.iter().copied())?;
        }
        out.finish()
    })
}

fn write_dense(model: &Model, actions: usize, out: &mut Output<'_>) -> io::Result<()> {
    let (states, sign) = (model.states(), model.objective().sign());
    let (name, next_name) = cost_names(model.objective());
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
    let (name, next_name) = cost_names(model.objective());
    let lengths = || (0..model.rows()).map(|r| model.row(r).listed().count());
    let count: usize = lengths().sum();
    let entries = || (0..model.rows()).flat_map(|r| model.row(r).listed());
    let ends = lengths().scan(0, |at, n| {
        *at += n;
        Some(*at)
    });
    out.floats("data", &[count], entries().map(|e| e.1))?;
    out.counts("indices", count, entries().map(|e| e.0))?;
    out.counts("indptr", model.rows() + 1, std::iter::once(0).chain(ends))?;
    if let Some(Bounds { lower, upper }) = model.intervals() {
        let listed = |r: usize| {
            let (row, start) = (model.row(r), model.span(r).start);
            (0..row.prob.len()).filter(move |k| row.lists(*k)).map(move |k| start + k)
        };
        let stored = || (0..model.rows()).flat_map(listed);
        out.floats("lower", &[count], stored().map(|k| lower[k]))?;
        out.floats("upper", &[count], stored().map(|k| upper[k]))?;
    }
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

/// An archive being written.
struct Output<'f>(ZipWriter<Held<'f>>);

/// A file that keeps its first error to itself, and then takes everything and writes nothing: a
/// `ZipWriter` that has seen an error prints it when it is dropped.
struct Held<'f> {
    file: &'f mut dyn Sink,
    /// Where the next byte goes, and the end of the file, written or not.
    at: u64,
    end: u64,
    failed: Option<io::Error>,
}

impl<'f> Held<'f> {
    fn new(file: &'f mut dyn Sink) -> Held<'f> {
        Held { file, at: 0, end: 0, failed: None }
    }

    fn attempt(&mut self, act: impl FnOnce(&mut dyn Sink) -> io::Result<()>) {
        if self.failed.is_none() {
            self.failed = act(self.file).err();
        }
    }
}

impl Write for Held<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.attempt(|file| file.write_all(bytes));
        self.at += bytes.len() as u64;
        self.end = self.end.max(self.at);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt(|file| file.flush());
        Ok(())
    }
}

impl Seek for Held<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.end.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        let at = at.ok_or(io::ErrorKind::InvalidInput)?;
        if at != self.at {
            self.attempt(|file| file.seek(SeekFrom::Start(at)).map(drop));
        }
        self.at = at;
        Ok(at)
    }
}

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

    fn finish(self) -> io::Result<()> {
        let mut file = self.0.finish()?;
        file.flush()?;
        file.failed.map_or(Ok(()), Err)
    }
}
