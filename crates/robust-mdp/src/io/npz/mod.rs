//! NumPy archives: a zip file of arrays, dense `P[S,A,S]` or sparse rows (CSR), with rewards `R`
//! or costs `C`, and optionally `discount` and `p0`.

mod csr;
mod dense;
mod write;

pub(super) use write::{Csr, write, write_kernel};

use std::io::BufReader;
use std::ops::Range;
use std::path::Path;

use zip::ZipArchive;
use zip::read::ZipFile;

use super::npy::{Array, Wrong};
use super::source::{Input, Source};
use super::{model_error, parse_error};
use crate::error::{Error, ModelError};
use crate::model::{Model, ModelBuilder, Objective};

/// Arrays a model may have; others are named in a warning.
#[rustfmt::skip]
const KNOWN: [&str; 17] = [
    "P", "R", "C", "R_next", "C_next", "discount", "p0",
    "data", "indices", "indptr", "shape", "state_ptr", "format",
    "P_lower", "P_upper", "lower", "upper",
];

/// Reads a model; `discount` overrides the file's.
pub(super) fn read(
    source: Source<'_>,
    discount: Option<f64>,
) -> Result<(Model, Vec<String>), Error> {
    let (path, mut archive) = (source.path, Archive::open(source)?);
    let mut warnings = archive.unused();
    let discount = discount.map_or_else(|| archive.one_number("discount"), |d| Ok(Some(d)))?;
    let discount = discount.ok_or_else(|| model_error(path, None, ModelError::MissingDiscount))?;
    let objective = archive.objective()?;
    let mut builder = ModelBuilder::new(discount).objective(objective);
    if archive.has("p0") {
        builder.set_initial(Some(archive.floats("p0")?));
    }
    archive.check_kernel()?;
    let name = if archive.has("P") { "P" } else { "data" };
    let single = archive.has(name) && archive.array(name)?.is_single();
    if single {
        warnings.push(format!("`{name}` is float32: its rows are rescaled to sum to one"));
    }
    let terminal = match archive.has("P") {
        true => dense::feed(&mut archive, objective, single, &mut builder)?,
        false => csr::feed(&mut archive, objective, single, &mut builder)?,
    };
    let model = builder.build().map_err(|e| model_error(path, None, e))?;
    warnings.extend(super::numbering_warning(&model));
    warnings.extend(super::terminal_warning(&terminal));
    Ok((model, warnings))
}

type Packed<'p> = BufReader<Box<dyn Input + 'p>>;

/// Numbers that any archive may hold, and so many more for each of its bytes: deflate shrinks zeros
/// a thousandfold, and a small file must not fill the memory.
const ROOM: u64 = 1 << 24;
const ROOM_A_BYTE: u64 = 8;

/// How every archive begins.
const MAGIC: &[u8] = b"PK";

struct Archive<'p> {
    path: &'p Path,
    zip: ZipArchive<Packed<'p>>,
    names: Vec<String>,
    /// Numbers that may still be held.
    room: u64,
}

impl<'p> Archive<'p> {
    fn open(source: Source<'p>) -> Result<Self, Error> {
        let path = source.path;
        let no_archive = || {
            parse_error(
                path,
                None,
                "is not a NumPy .npz archive (or is cut off), expected one as numpy.savez writes it",
            )
        };
        let (file, size) = source.open_whole(MAGIC)?.ok_or_else(no_archive)?;
        let zip = ZipArchive::new(BufReader::new(file)).map_err(|_| no_archive())?;
        let stems = (0..zip.len()).filter_map(|k| zip.name_for_index(k)?.ok());
        let names = stems.filter_map(|n| n.strip_suffix(".npy").map(str::to_owned)).collect();
        let room = ROOM + ROOM_A_BYTE * size;
        Ok(Archive { path, zip, names, room })
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|n| n == name)
    }

    fn wrong(&self, message: impl Into<String>) -> Error {
        parse_error(self.path, None, message)
    }

    fn unused(&self) -> Vec<String> {
        let unknown = self.names.iter().filter(|n| !KNOWN.contains(&n.as_str()));
        unknown.map(|n| format!("the array `{n}` is not used")).collect()
    }

    /// The names of the arrays, for messages.
    fn found(&self) -> String {
        match self.names.is_empty() {
            true => "no arrays".into(),
            false => self.names.join(", "),
        }
    }

    /// That there is a kernel: `P`, or sparse rows.
    fn check_kernel(&self) -> Result<(), Error> {
        let sparse = ["data", "indices", "indptr", "state_ptr"];
        if self.has("P") || sparse.iter().any(|n| self.has(n)) {
            return Ok(());
        }
        let found = self.found();
        Err(self.wrong(format!(
            "no transition probabilities, expected `P` of shape [S, A, S], or sparse rows \
             `data`, `indices`, `indptr`, `shape` and `state_ptr`; found {found}"
        )))
    }

    /// Whether rewards or costs are given.
    fn objective(&self) -> Result<Objective, Error> {
        match (self.has("R"), self.has("C")) {
            (true, false) => Ok(Objective::MaxReward),
            (false, true) => Ok(Objective::MinCost),
            (true, true) => Err(self.wrong("both `R` and `C`, expected rewards `R` or costs `C`")),
            (false, false) => {
                let found = self.found();
                Err(self.wrong(format!(
                    "neither `R` nor `C`, expected rewards `R` or costs `C`; found {found}"
                )))
            }
        }
    }

    /// Opens an array.
    fn array(&mut self, name: &str) -> Result<Array<ZipFile<'_, Packed<'p>>>, Error> {
        let path = self.path;
        if !self.has(name) {
            let found = self.found();
            return Err(self.wrong(format!("no array `{name}`, expected one; found {found}")));
        }
        let file = self.zip.by_name(&format!("{name}.npy")).map_err(|e| {
            let message = format!("array `{name}` cannot be unpacked: {e}");
            parse_error(path, None, message)
        })?;
        Array::new(file).map_err(|wrong| array_error(path, name, wrong))
    }

    fn shape(&mut self, name: &str) -> Result<Vec<u64>, Error> {
        Ok(self.array(name)?.header.shape)
    }

    fn floats(&mut self, name: &str) -> Result<Vec<f64>, Error> {
        self.read(name, |array| array.all_floats())
    }

    fn counts(&mut self, name: &str) -> Result<Vec<u64>, Error> {
        self.read(name, |array| array.counts())
    }

    /// Reads an array, unless it declares more numbers than the size of the archive makes likely.
    fn read<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(Array<ZipFile<'_, Packed<'p>>>) -> Result<T, Wrong>,
    ) -> Result<T, Error> {
        let path = self.path;
        let wrong = |wrong| array_error(path, name, wrong);
        let len = self.array(name)?.len().map_err(wrong)?;
        self.room = self.room.checked_sub(len).ok_or_else(|| no_room(path, name, len))?;
        read(self.array(name)?).map_err(wrong)
    }

    /// Bounds of probabilities, of the shape of these, if there are any.
    fn bounds(&mut self, names: [&str; 2], shape: &[u64]) -> Result<Option<[Vec<f64>; 2]>, Error> {
        if !names.iter().any(|name| self.has(name)) {
            return Ok(None);
        }
        for name in names {
            let found = self.shape(name)?;
            if found != shape {
                return Err(self.wrong(format!("`{name}` has shape {found:?}, expected {shape:?}")));
            }
        }
        Ok(Some([self.floats(names[0])?, self.floats(names[1])?]))
    }

    fn one_number(&mut self, name: &str) -> Result<Option<f64>, Error> {
        if !self.has(name) {
            return Ok(None);
        }
        let shape = self.shape(name)?;
        if shape.iter().any(|&d| d != 1) {
            return Err(self.wrong(format!("`{name}` has shape {shape:?}, expected one number")));
        }
        Ok(self.floats(name)?.first().copied())
    }

    /// The costs of a model with rows of shape `row_shape` and transitions of shape
    /// `transition_shape`.
    fn costs(
        &mut self,
        objective: Objective,
        row_shape: &[u64],
        transition_shape: &[u64],
    ) -> Result<CostArray, Error> {
        let (name, next_name) = cost_names(objective);
        let shape = self.shape(name)?;
        if shape != row_shape && shape != transition_shape {
            return Err(self.wrong(format!(
                "`{name}` has shape {shape:?}, expected {row_shape:?} or {transition_shape:?}"
            )));
        }
        if !self.has(next_name) {
            let values = self.floats(name)?;
            return Ok(match shape == row_shape {
                true => CostArray { own: Some(values), further: None },
                false => CostArray { own: None, further: Some(values) },
            });
        }
        let next_shape = self.shape(next_name)?;
        if shape != row_shape || next_shape != transition_shape {
            return Err(self.wrong(format!(
                "`{name}` has shape {shape:?} and `{next_name}` {next_shape:?}, \
                 expected {row_shape:?} and {transition_shape:?}"
            )));
        }
        let own = Some(self.floats(name)?);
        Ok(CostArray { own, further: Some(self.floats(next_name)?) })
    }
}

fn no_room(path: &Path, name: &str, len: u64) -> Error {
    let message = format!(
        "unpacks to {len} numbers, far more than a file of this size is likely to hold, expected \
         less (or the same without compression, as numpy.savez writes it)"
    );
    array_error(path, name, message)
}

/// The arrays of costs or rewards: of rows, and further ones of transitions.
fn cost_names(objective: Objective) -> (&'static str, &'static str) {
    match objective {
        Objective::MinCost => ("C", "C_next"),
        Objective::MaxReward => ("R", "R_next"),
    }
}

fn array_error(path: &Path, name: &str, wrong: Wrong) -> Error {
    parse_error(path, None, format!("array `{name}`: {wrong}"))
}

/// Costs of rows, of transitions, or both.
struct CostArray {
    own: Option<Vec<f64>>,
    further: Option<Vec<f64>>,
}

impl CostArray {
    /// The cost of row `r`, whose transitions lie at `span`, and whether transitions add to it.
    ///
    /// Where only transitions have costs, one that all of a row share is the action's own.
    fn of_row(&self, r: usize, span: Range<usize>) -> (f64, bool) {
        match (&self.own, &self.further) {
            (Some(own), further) => (own[r], further.is_some()),
            (None, Some(further)) => match &further[span] {
                [first, rest @ ..] if rest.iter().all(|c| c == first) => (*first, false),
                _ => (0.0, true),
            },
            (None, None) => (0.0, false),
        }
    }

    fn further(&self, at: usize) -> f64 {
        self.further.as_ref().map_or(0.0, |f| f[at])
    }
}

#[cfg(test)]
mod tests;
