//! Writing: groups of rows, of every column a page of plain numbers, packed by Snappy.

use std::io::{self, Write};

use super::MAGIC;
use super::thrift::Writer;
use crate::io::craam_csv::{Line, Outcomes, each_line};
use crate::model::Model;

/// Rows of a group: a page of 1 MiB a column.
const ROWS: usize = 1 << 17;

/// Writes a model, without names, discount factor and initial distribution; in place of its rows their outcomes,
/// where there are any.
pub(in crate::io) fn write(
    model: &Model,
    outcomes: Option<&Outcomes>,
    w: &mut dyn Write,
) -> io::Result<()> {
    let mut names = vec!["idstatefrom", "idaction"];
    names.extend(outcomes.map(|_| "idoutcome"));
    names.extend(["idstateto", "probability", model.objective().noun()]);
    let intervals = outcomes.is_none() && model.has_intervals();
    names.extend(["lower", "upper"].iter().filter(|_| intervals));
    let columns = vec![Vec::new(); names.len()];
    let mut table = Table { w, at: 0, rows: 0, names, columns, groups: Vec::new() };
    table.put(MAGIC)?;
    each_line(model, outcomes, |Line { ids: [s, action, to], outcome, prob, cost, bounds }| {
        let ids = [Some(s), Some(action), outcome.map(|id| id as usize), Some(to)];
        let ids = ids.into_iter().flatten().map(|id| (id as i64).to_le_bytes());
        let numbers = [prob, cost].into_iter().chain(bounds.into_iter().flatten());
        let words = ids.chain(numbers.map(f64::to_le_bytes));
        table.columns.iter_mut().zip(words).for_each(|(column, word)| column.extend(word));
        table.rows += 1;
        if table.rows.is_multiple_of(ROWS) { table.group() } else { Ok(()) }
    })?;
    table.group()?;
    let footer = table.footer();
    table.put(&footer)?;
    table.put(&(footer.len() as u32).to_le_bytes())?;
    table.put(MAGIC)
}

/// A file being written.
struct Table<'w> {
    w: &'w mut dyn Write,
    at: u64,
    rows: usize,
    names: Vec<&'static str>,
    columns: Vec<Vec<u8>>,
    /// Rows of every group, and where its columns lie: first byte, bytes unpacked and packed.
    groups: Vec<(usize, Vec<[u64; 3]>)>,
}

impl Table<'_> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        self.w.write_all(bytes)
    }

    /// Writes the rows that have come.
    fn group(&mut self) -> io::Result<()> {
        let count = self.columns[0].len() / 8;
        if count == 0 {
            return Ok(());
        }
        let mut places = vec![[0; 3]; self.columns.len()];
        for k in 0..self.columns.len() {
            let plain = std::mem::take(&mut self.columns[k]);
            let packed =
                snap::raw::Encoder::new().compress_vec(&plain).map_err(io::Error::other)?;
            let header = page(count, plain.len(), packed.len());
            let head = header.len() as u64;
            places[k] = [self.at, head + plain.len() as u64, head + packed.len() as u64];
            self.put(&header)?;
            self.put(&packed)?;
        }
        self.groups.push((count, places));
        Ok(())
    }

    /// The description at the end of the file.
    fn footer(&self) -> Vec<u8> {
        let names = &self.names;
        // Whole numbers, and others.
        let kind = |name: &str| if name.starts_with("id") { 2 } else { 5 };
        let mut w = Writer::begin();
        w.i32(1, 1);
        w.list(2, 12, 1 + names.len());
        w.item(|w| {
            w.text(4, "schema");
            w.i32(5, names.len() as i32);
        });
        for name in names {
            w.item(|w| {
                w.i32(1, kind(name));
                w.i32(3, 0);
                w.text(4, name);
            });
        }
        w.i64(3, self.rows as i64);
        w.list(4, 12, self.groups.len());
        for (count, places) in &self.groups {
            w.item(|w| {
                w.list(1, 12, names.len());
                for (name, place) in names.iter().zip(places) {
                    w.item(|w| column(w, name, kind(name), *count, *place));
                }
                w.i64(2, places.iter().map(|place| place[1] as i64).sum());
                w.i64(3, *count as i64);
            });
        }
        w.text(6, "robust-mdp");
        w.end()
    }
}

/// Where a column of a group lies.
fn column(w: &mut Writer, name: &str, kind: i32, count: usize, [start, plain, packed]: [u64; 3]) {
    w.i64(2, start as i64);
    w.structure(3, |w| {
        w.i32(1, kind);
        w.list(2, 5, 1);
        w.number(0);
        w.list(3, 8, 1);
        w.element(name);
        w.i32(4, 1);
        w.i64(5, count as i64);
        w.i64(6, plain as i64);
        w.i64(7, packed as i64);
        w.i64(9, start as i64);
    });
}

/// The header of a page of plain numbers.
fn page(count: usize, plain: usize, packed: usize) -> Vec<u8> {
    let mut w = Writer::begin();
    w.i32(1, 0);
    w.i32(2, plain as i32);
    w.i32(3, packed as i32);
    w.structure(5, |w| {
        w.i32(1, count as i32);
        w.i32(2, 0);
        w.i32(3, 3);
        w.i32(4, 3);
    });
    w.end()
}
