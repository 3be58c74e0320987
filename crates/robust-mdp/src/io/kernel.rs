//! A kernel y(s'|s,a), such as the worst one: a table `state,action,next,probability` of its
//! positive entries, or an `.npz` archive of compressed rows.
//!
//! Where a model lists a next state at several costs, a kernel says what each of them gets: all of
//! them are written, with what they cost in one more column or array.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use super::names::Names;
use super::npz::{self, Csr};
use super::table::quoted;
use super::{Format, gzip, write_atomically};
use crate::error::Error;
use crate::model::{Model, NominalRow};

/// Fills an empty vector with the (next state, probability) pairs of a row. A next state that the
/// model lists at several costs comes as often, in the order of the model.
pub type KernelRows<'a> = dyn FnMut(usize, &mut Vec<(u32, f64)>) + 'a;

/// Writes a kernel with the rows of `model` as `.csv` or `.npz`.
///
/// `row` is called once for each row, in order. CSV streams; `.npz` needs the number of entries first and holds them all.
pub fn write_kernel(path: &Path, model: &Model, row: &mut KernelRows<'_>) -> Result<(), Error> {
    let mut kernel = Kernel { model, costs: model.repeated_transitions() > 0, row };
    match Format::of(path).map(|format| (format, gzip::is_asked(path))) {
        Ok((Format::Csv, false)) => write_atomically(path, |w| kernel.write_csv(w)),
        Ok((Format::Npz, false)) => npz::write_kernel(path, model, &kernel.collect()),
        _ => {
            let path = path.display();
            Err(Error::Input(format!("{path}: a kernel is written as .csv or .npz")))
        }
    }
}

/// A kernel being written.
struct Kernel<'k, 'r> {
    model: &'k Model,
    /// Whether next states do not tell what entries cost.
    costs: bool,
    row: &'k mut KernelRows<'r>,
}

/// (Next state, probability, cost or reward).
type Entry = (u32, f64, f64);

impl Kernel<'_, '_> {
    /// The entries of row `r` that are written.
    fn entries(&mut self, r: usize) -> Vec<Entry> {
        let mut given = Vec::new();
        (self.row)(r, &mut given);
        let row = self.model.row(r);
        if !self.costs {
            return given.into_iter().filter(|e| e.1 > 0.0).map(|(to, p)| (to, p, 0.0)).collect();
        }
        let sign = self.model.objective().sign();
        // How many entries of each listed state have come.
        let mut seen = vec![0; row.prob.len()];
        let priced = given.into_iter().filter_map(|(to, p)| {
            let listed = listed(row, to);
            let further = match seen.get_mut(listed.start).filter(|_| !listed.is_empty()) {
                Some(seen) => {
                    let at = (listed.start + *seen).min(listed.end - 1);
                    *seen += 1;
                    row.transition_cost.map_or(0.0, |c| c[at])
                }
                None => 0.0,
            };
            let written = p > 0.0 || listed.len() > 1;
            written.then_some((to, p, sign * (row.cost + further) + 0.0))
        });
        priced.collect()
    }

    fn write_csv(&mut self, w: &mut dyn Write) -> io::Result<()> {
        let (names, what) = (Names::new(self.model), self.model.objective().noun());
        let more = if self.costs { format!(",{what}") } else { String::new() };
        writeln!(w, "state,action,next,probability{more}")?;
        for s in 0..self.model.states() {
            let state = names.state_text(s);
            for r in self.model.rows_of(s) {
                let action = names.action_text(s, r);
                for (next, p, cost) in self.entries(r) {
                    let next = names.state_text(next as usize);
                    write!(w, "{},{},{}", quoted(&state), quoted(&action), quoted(&next))?;
                    match self.costs {
                        true => writeln!(w, ",{p:?},{cost:?}")?,
                        false => writeln!(w, ",{p:?}")?,
                    }
                }
            }
        }
        Ok(())
    }

    fn collect(&mut self) -> Csr {
        let mut costs = Vec::new();
        let mut rows = Csr { data: Vec::new(), indices: Vec::new(), indptr: vec![0], costs: None };
        for r in 0..self.model.rows() {
            for (next, p, cost) in self.entries(r) {
                rows.indices.push(next);
                rows.data.push(p);
                self.costs.then(|| costs.push(cost));
            }
            rows.indptr.push(rows.data.len());
        }
        rows.costs = self.costs.then_some(costs);
        rows
    }
}

/// Where a sparse row lists a state.
fn listed(row: NominalRow<'_>, to: u32) -> Range<usize> {
    let next = row.next.unwrap_or(&[]);
    let start = next.partition_point(|&n| n < to);
    start..start + next[start..].iter().take_while(|n| **n == to).count()
}
