//! The formats of models, by name and by ending.

use std::path::Path;
use std::str::FromStr;

use super::gzip;
use crate::error::Error;

/// A model file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// The native format: everything a model holds.
    Json,
    /// craam's table of transitions, one a line.
    Csv,
    /// NumPy arrays.
    Npz,
    /// The columns of craam's table as Parquet.
    #[cfg(feature = "parquet")]
    Parquet,
    /// The dense models of the fast-robust-mdps programs.
    Mdp,
    /// PRISM's explicit files.
    Prism,
    /// Storm's explicit file.
    Drn,
    /// Intervals and terminal states to be reached, as bmdp-tool has them.
    Bmdp,
}

impl Format {
    /// All of them.
    pub const ALL: &'static [Format] = &[
        Format::Json,
        Format::Csv,
        Format::Npz,
        #[cfg(feature = "parquet")]
        Format::Parquet,
        Format::Mdp,
        Format::Prism,
        Format::Drn,
        Format::Bmdp,
    ];

    /// As the command line and Python call it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Csv => "csv",
            Format::Npz => "npz",
            #[cfg(feature = "parquet")]
            Format::Parquet => "parquet",
            Format::Mdp => "mdp",
            Format::Prism => "prism",
            Format::Drn => "drn",
            Format::Bmdp => "bmdp",
        }
    }

    /// The endings of its files, without dots, the one that is written first.
    pub fn endings(self) -> &'static [&'static str] {
        match self {
            Format::Json => &["json"],
            Format::Csv => &["csv"],
            Format::Npz => &["npz"],
            #[cfg(feature = "parquet")]
            Format::Parquet => &["parquet"],
            Format::Mdp => &["mdp"],
            Format::Prism => &["tra"],
            Format::Drn => &["drn"],
            Format::Bmdp => &["bmdp", "txt"],
        }
    }

    /// Whether it is craam's table, as a text or not.
    pub(super) fn is_table(self) -> bool {
        match self {
            Format::Csv => true,
            #[cfg(feature = "parquet")]
            Format::Parquet => true,
            _ => false,
        }
    }

    /// Whether a file holds a discount factor.
    pub fn holds_discount(self) -> bool {
        matches!(self, Format::Json | Format::Npz | Format::Mdp)
    }

    /// The format that the ending of `path` names; `.gz` behind it says that the file is packed.
    pub fn of(path: &Path) -> Result<Format, Error> {
        let stem = if gzip::is_asked(path) { path.with_extension("") } else { path.to_owned() };
        let ending = stem.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        let ending = ending.as_deref().unwrap_or("");
        let found = Format::ALL.iter().find(|format| format.endings().contains(&ending));
        found.copied().ok_or_else(|| {
            let all = Format::ALL.iter().flat_map(|f| f.endings());
            Error::Input(format!(
                "{}: the format cannot be told from the file's ending, \
                 expected {} (or name the format)",
                path.display(),
                in_a_row(all.map(|ending| format!(".{ending}")))
            ))
        })
    }
}

/// “a, b or c”.
fn in_a_row(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Format, Error> {
        Format::ALL.iter().find(|format| format.name() == name).copied().ok_or_else(|| {
            let names = in_a_row(Format::ALL.iter().map(|f| f.name().to_owned()));
            Error::Input(format!("format “{name}”, expected {names}"))
        })
    }
}
