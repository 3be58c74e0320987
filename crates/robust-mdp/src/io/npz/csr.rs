//! Sparse kernels: compressed rows `data`, `indices`, `indptr` of shape `shape` = [rows, S], one
//! row a state–action pair, where state s owns the rows `state_ptr[s]..state_ptr[s+1]`.

use super::Archive;
use crate::error::{Error, counted};
use crate::io::rounded;
use crate::model::{ModelBuilder, Objective};

/// Gives all states to the builder; returns the terminal ones.
pub(super) fn feed(
    archive: &mut Archive<'_>,
    objective: Objective,
    single: bool,
    builder: &mut ModelBuilder,
) -> Result<Vec<usize>, Error> {
    let mut rows = CsrRows::read(archive)?;
    if single {
        for span in rows.indptr.windows(2) {
            rounded::rescale(&mut rows.data[span[0] as usize..span[1] as usize]);
        }
    }
    let count = rows.indptr.len() as u64 - 1;
    let costs = archive.costs(objective, &[count], &[rows.data.len() as u64])?;
    let bounds = archive.bounds(["lower", "upper"], &[rows.data.len() as u64])?;
    let mut terminal = Vec::new();
    for (s, owned) in rows.state_ptr.windows(2).enumerate() {
        builder.add_state(None);
        if owned[0] == owned[1] {
            builder.mark_terminal();
            terminal.push(s);
        }
        for r in owned[0] as usize..owned[1] as usize {
            let span = rows.indptr[r] as usize..rows.indptr[r + 1] as usize;
            let (cost, further) = costs.of_row(r, span.clone());
            builder.add_action(None, cost);
            for k in span {
                let c = if further { costs.further(k) } else { 0.0 };
                let to = usize::try_from(rows.indices[k]).unwrap_or(usize::MAX);
                let prob = rows.data[k];
                match &bounds {
                    Some([l, u]) => builder.add_interval(to, Some(prob), [l[k], u[k]], c),
                    None => builder.add_transition(to, prob, c),
                }
            }
        }
    }
    Ok(terminal)
}

/// Arrays that fit together.
struct CsrRows {
    data: Vec<f64>,
    indices: Vec<u64>,
    indptr: Vec<u64>,
    state_ptr: Vec<u64>,
}

impl CsrRows {
    fn read(archive: &mut Archive<'_>) -> Result<CsrRows, Error> {
        check_format(archive)?;
        let rows = CsrRows {
            indptr: archive.counts("indptr")?,
            state_ptr: archive.counts("state_ptr")?,
            indices: archive.counts("indices")?,
            data: archive.floats("data")?,
        };
        if rows.indices.len() != rows.data.len() {
            let (n, m) = (rows.data.len(), rows.indices.len());
            return Err(archive.wrong(format!(
                "`data` has {n} and `indices` {m}, expected as many",
                n = counted(n, "entry", "entries")
            )));
        }
        check_pointers(archive, "indptr", &rows.indptr, rows.data.len())?;
        let count = rows.indptr.len() - 1;
        check_pointers(archive, "state_ptr", &rows.state_ptr, count)?;
        let states = rows.state_ptr.len() - 1;
        let shape = archive.counts("shape")?;
        if shape != [count as u64, states as u64] {
            return Err(archive.wrong(format!(
                "`shape` is {shape:?}, expected [{count}, {states}] from `indptr` and `state_ptr`"
            )));
        }
        Ok(rows)
    }
}

/// SciPy names the layout; columns would be read as rows.
fn check_format(archive: &mut Archive<'_>) -> Result<(), Error> {
    if !archive.has("format") {
        return Ok(());
    }
    let path = archive.path;
    let text = archive.array("format")?.text();
    let format = text.map_err(|w| super::array_error(path, "format", w))?;
    match format == "csr" {
        true => Ok(()),
        false => Err(archive.wrong(format!("`format` is “{format}”, expected csr"))),
    }
}

/// Pointers must rise from 0 to `end`.
fn check_pointers(
    archive: &Archive<'_>,
    name: &str,
    pointers: &[u64],
    end: usize,
) -> Result<(), Error> {
    let ends = (pointers.first(), pointers.last()) == (Some(&0), Some(&(end as u64)));
    match ends && pointers.is_sorted() {
        true => Ok(()),
        false => Err(archive.wrong(format!("`{name}` must rise from 0 to {end} and does not"))),
    }
}
