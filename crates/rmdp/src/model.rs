//! The model of a command: a file or the embedded example.

use std::path::{Path, PathBuf};

use robust_mdp::instances::{Calibration, DEFAULT_DISCOUNT, machine_replacement};
use robust_mdp::io::{Format, read_model};
use robust_mdp::sets::Distance;
use robust_mdp::{Error, Model, ModelError};

use crate::choice::Choice;
use crate::failure::Failure;

/// States of the embedded example.
const EXAMPLE_STATES: usize = 10;

/// Names of the model formats.
pub(crate) const FORMATS: Choice<Format> = Choice {
    names: &[("json", Format::Json, ""), ("csv", Format::Csv, ""), ("npz", Format::Npz, "")],
    later: &[],
};

/// How to read a model file.
#[derive(Debug, clap::Args)]
pub(crate) struct ReadArgs {
    /// Format of MODEL [default: by its ending]
    #[arg(long, value_name = "FORMAT", value_parser = FORMATS)]
    pub(crate) format: Option<Format>,
    /// Discount factor in [0, 1); overrides the model's, and a CSV model needs it
    #[arg(long, value_name = "λ", value_parser = crate::args::discount)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) discount: Option<f64>,
}

/// A model with what the reader took for granted.
#[derive(Debug)]
pub(crate) struct NamedModel {
    pub(crate) model: Model,
    pub(crate) warnings: Vec<String>,
    /// What the output calls it.
    pub(crate) name: String,
}

impl ReadArgs {
    /// Reads the model at `path`.
    pub(crate) fn read(&self, path: &Path) -> Result<NamedModel, Failure> {
        self.source(path, read_model(path, self.format, self.discount))
    }

    fn source(
        &self,
        path: &Path,
        read: Result<(Model, Vec<String>), Error>,
    ) -> Result<NamedModel, Failure> {
        let (model, warnings) = read.map_err(|e| self.explain(path, e))?;
        let name = path.display().to_string();
        Ok(NamedModel { model, warnings, name })
    }

    /// As [`ReadArgs::read`]; a missing discount factor is taken as 0, and told.
    pub(crate) fn read_undiscounted(&self, path: &Path) -> Result<(NamedModel, bool), Failure> {
        let missing = |e: &Error| {
            let source = match e {
                Error::ModelAt { source, .. } | Error::Model(source) => source,
                _ => return false,
            };
            *source == ModelError::MissingDiscount
        };
        match read_model(path, self.format, self.discount) {
            // A pipe cannot be read twice.
            Err(e) if missing(&e) && path.is_file() => {
                let again = ReadArgs { format: self.format, discount: Some(0.0) };
                Ok((again.read(path)?, true))
            }
            read => Ok((self.source(path, read)?, false)),
        }
    }

    fn explain(&self, path: &Path, error: Error) -> Failure {
        let unknown = self.format.is_none() && Format::of(path).is_err();
        if unknown && !path.exists() {
            let source = std::io::ErrorKind::NotFound.into();
            return Failure::input(Error::Io { path: path.to_owned(), source });
        }
        let failure = Failure::input(error);
        match unknown {
            true => failure.hint("--format json, csv or npz names it"),
            false => failure,
        }
    }

    /// Reads `path`, or takes the embedded example.
    pub(crate) fn read_or_example(&self, path: Option<&PathBuf>) -> Result<NamedModel, Failure> {
        if let Some(path) = path {
            return self.read(path);
        }
        if self.format.is_some() {
            return Err(Failure::usage("--format goes with a MODEL"));
        }
        let discount = self.discount.unwrap_or(DEFAULT_DISCOUNT);
        let model = machine_replacement(EXAMPLE_STATES, discount).map_err(Failure::input)?;
        Ok(NamedModel {
            model,
            warnings: Vec::new(),
            name: "machine replacement, the embedded example".into(),
        })
    }
}

/// The calibrated radius of a model for a set: the largest distance of sampled kernels.
pub(crate) fn calibrated(
    model: &Model,
    distance: Distance,
    seed: u64,
) -> Result<Vec<f64>, Failure> {
    let calibration = Calibration { distance, seed, ..Calibration::default() };
    calibration.radii(model).map_err(Failure::input)
}
