//! Parquet tables of transitions, with the columns of craam's CSV, one (s, a, s') a row. What is read are
//! numbers of columns without lists, plain or by a dictionary, packed by Snappy, gzip, Zstandard or not at
//! all, as pandas, Polars and others write them. In messages rows count as lines, from 1.

mod pages;
mod thrift;
mod write;

pub(super) use write::write;

use std::io::{Read, SeekFrom};
use std::path::Path;

use self::pages::Kind;
use self::thrift::Value;
use super::craam_csv::{Columns, Lines, Transition};
use super::source::{Input, Source};
use super::table::Header;
use super::{ModelFile, parse_error, within};
use crate::error::Error;

/// How every file begins and ends.
const MAGIC: &[u8] = b"PAR1";
/// Longest description of a file.
const FOOTER_LIMIT: u64 = 1 << 26;
/// Rows that any file may have, and so many more for each of its bytes: rows that are all the same take
/// none, and a small file must not fill the memory.
const ROOM: u64 = 1 << 22;
const ROOM_A_BYTE: u64 = 8;

/// Reads a model; the discount factor can only come from the caller.
pub(super) fn read(source: Source<'_>, discount: Option<f64>) -> Result<ModelFile, Error> {
    let path = source.path;
    let no_table = || {
        let message = "is not a Parquet file (or is cut off), expected one as pandas writes it";
        parse_error(path, None, message)
    };
    let (file, size) = source.open_whole(MAGIC)?.ok_or_else(no_table)?;
    let mut file = File { path, file, end: 0 };
    let footer = file.footer().map_err(|e| e.unwrap_or_else(no_table))?;
    let about = thrift::read(&mut &footer[..]).ok_or_else(no_table)?;
    let leaves = leaves(about.list(2)).ok_or_else(no_table)?;
    let names = leaves.iter().map(|leaf| leaf.name.to_ascii_lowercase()).collect();
    let columns = Columns::find(&Header { path, line: None, names })?;
    let mut lines = Lines::new(&columns);
    let mut rows = 0u64;
    for group in about.list(4) {
        let count = group.number(3).and_then(|n| u64::try_from(n).ok()).ok_or_else(no_table)?;
        let most = ROOM.saturating_add(ROOM_A_BYTE.saturating_mul(size));
        if rows.saturating_add(count) > most {
            let message = format!(
                "more than {most} rows, far more than a file of this size is likely to hold"
            );
            return Err(parse_error(path, None, message));
        }
        let mut read = |k: usize| file.column(group, &leaves[k], count as usize);
        let group = Group {
            path,
            first: rows + 1,
            names: &leaves,
            ids: [columns.from, columns.action, columns.to].map(|k| (k, read(k))),
            outcome: columns.outcome.map(|k| (k, read(k))),
            prob: read(columns.prob),
            cost: read(columns.cost),
            bounds: columns.bounds.map(|bounds| bounds.map(&mut read)),
        };
        group.add_to(&mut lines, count as usize)?;
        rows += count;
    }
    lines.into_model(path, discount)
}

/// A column without parts.
struct Leaf<'b> {
    name: &'b str,
    kind: Kind,
}

/// The columns of a table, without those that have parts.
fn leaves<'b>(schema: &[Value<'b>]) -> Option<Vec<Leaf<'b>>> {
    let (mut leaves, mut k) = (Vec::new(), 1);
    while let Some(element) = schema.get(k) {
        let parts = element.number(5).unwrap_or(0);
        if parts > 0 {
            // All that lies within is passed over.
            let mut left = parts;
            while left > 0 {
                k += 1;
                left = left.checked_add(schema.get(k)?.number(5).unwrap_or(0).max(0) - 1)?;
            }
        } else if element.number(3) != Some(2) {
            let name = element.field(4).and_then(Value::text)?;
            let physical = element.number(1).unwrap_or(-1);
            let optional = element.number(3) == Some(1);
            leaves.push(Leaf { name, kind: Kind { physical, optional } });
        }
        k += 1;
    }
    Some(leaves)
}

struct File<'p> {
    path: &'p Path,
    file: Box<dyn Input + 'p>,
    end: u64,
}

impl File<'_> {
    fn failed(&self, source: std::io::Error) -> Error {
        Error::Io { path: self.path.to_owned(), source }
    }

    /// The description at the end; `None` is the error of what is no such file.
    fn footer(&mut self) -> Result<Vec<u8>, Option<Error>> {
        self.end = self.file.seek(SeekFrom::End(0)).map_err(|e| Some(self.failed(e)))?;
        let start = self.end.checked_sub(8).filter(|start| *start >= 4).ok_or(None)?;
        let tail = self.bytes(start, 8).map_err(Some)?;
        let length = u64::from(u32::from_le_bytes(tail[..4].try_into().map_err(|_| None)?));
        let begin =
            start.checked_sub(length).filter(|_| tail[4..] == *MAGIC && length < FOOTER_LIMIT);
        self.bytes(begin.ok_or(None)?, length).map_err(Some)
    }

    /// So many bytes, of which there must be as many.
    fn bytes(&mut self, start: u64, length: u64) -> Result<Vec<u8>, Error> {
        if start.checked_add(length).is_none_or(|end| end > self.end) {
            let message = "is cut off, expected more behind its end";
            return Err(parse_error(self.path, None, message));
        }
        self.file.seek(SeekFrom::Start(start)).map_err(|e| self.failed(e))?;
        let mut bytes = Vec::new();
        let read = (&mut self.file).take(length).read_to_end(&mut bytes);
        read.map_err(|e| self.failed(e))?;
        Ok(bytes)
    }

    /// The numbers of a column in a group of rows.
    fn column(
        &mut self,
        group: &Value<'_>,
        leaf: &Leaf<'_>,
        count: usize,
    ) -> Result<Vec<f64>, Error> {
        let path = self.path;
        let wrong =
            |wrong: String| parse_error(path, None, format!("column “{}”: {wrong}", leaf.name));
        let is_it =
            |about: &&Value<'_>| matches!(about.list(3), [name] if name.text() == Some(leaf.name));
        let about = group.list(1).iter().filter_map(|chunk| chunk.field(3)).find(is_it);
        let about = about.ok_or_else(|| wrong("it is missing, expected it everywhere".into()))?;
        let size = |id| about.number(id).and_then(|n| u64::try_from(n).ok());
        let (Some(data), Some(length)) = (size(9), size(7)) else {
            return Err(wrong("it is nowhere, expected an intact file".into()));
        };
        let start = size(11).filter(|start| *start > 0).map_or(data, |start| start.min(data));
        let chunk = self.bytes(start, length)?;
        pages::read(&chunk, leaf.kind, about.number(4).unwrap_or(-1), count).map_err(wrong)
    }
}

type Numbers = Result<Vec<f64>, Error>;

/// Some rows, by columns.
struct Group<'p> {
    path: &'p Path,
    /// Number of its first row.
    first: u64,
    names: &'p [Leaf<'p>],
    ids: [(usize, Numbers); 3],
    outcome: Option<(usize, Numbers)>,
    prob: Numbers,
    cost: Numbers,
    bounds: Option<[Numbers; 2]>,
}

impl Group<'_> {
    fn add_to(self, lines: &mut Lines, count: usize) -> Result<(), Error> {
        let [from, action, to] = self.ids;
        let (from, action, to) = ((from.0, from.1?), (action.0, action.1?), (to.0, to.1?));
        let outcome = match self.outcome {
            Some((column, outcomes)) => Some((column, outcomes?)),
            None => None,
        };
        let (prob, cost) = (self.prob?, self.cost?);
        let bounds = match self.bounds {
            Some([lower, upper]) => Some((lower?, upper?)),
            None => None,
        };
        for k in 0..count {
            let line = self.first + k as u64;
            let id = |(column, numbers): &(usize, Vec<f64>)| {
                let x = numbers[k];
                match x.fract() == 0.0 && (0.0..f64::from(u32::MAX)).contains(&x) {
                    true => Ok(x as u32),
                    false => {
                        let (name, top) = (self.names[*column].name, u32::MAX - 1);
                        let message =
                            format!("{name} is {x}, expected a whole number from 0 to {top}");
                        Err(parse_error(self.path, Some(line), message))
                    }
                }
            };
            let (from, action) = (id(&from)?, id(&action)?);
            let at = |e| within(e, &format!("state {from}, action {action}"));
            let transition = Transition {
                from,
                action,
                to: id(&to).map_err(at)?,
                line: line.try_into().unwrap_or(u32::MAX),
                prob: prob[k],
                cost: cost[k],
            };
            let bounds = bounds.as_ref().map(|(lower, upper)| [lower[k], upper[k]]);
            lines.add(transition, outcome.as_ref().map(id).transpose()?, bounds);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
