//! The model of a command: a file or the embedded example.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use robust_mdp::instances::{Calibration, DEFAULT_DISCOUNT, machine_replacement};
use robust_mdp::io::{Format, ModelFile, Outcomes, ReadOptions, Source, read_model_file};
use robust_mdp::sets::Distance;
use robust_mdp::{Criterion, Error, Model, ModelError, Objective};

use crate::choice::{Choice, in_a_row};
use crate::failure::Failure;
use crate::question::Question;

/// States of the embedded example.
const EXAMPLE_STATES: usize = 10;

/// Names of the model formats.
pub(crate) fn formats() -> Choice<Format> {
    static NAMES: LazyLock<Vec<(&'static str, Format, &'static str)>> =
        LazyLock::new(|| Format::ALL.iter().map(|&f| (f.name(), f, "")).collect());
    Choice { names: &NAMES }
}

/// “--format json, csv or npz names it”.
pub(crate) fn naming(flag: &str) -> String {
    let names: Vec<&str> = Format::ALL.iter().map(|f| f.name()).collect();
    format!("{flag} {} names it", in_a_row(&names, "or"))
}

/// Whether a model is read from the standard input, or written to the standard output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// How to read a model file.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct ReadArgs {
    /// Format of MODEL [default: by its ending]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub(crate) format: Option<Format>,
    /// Discount factor in [0, 1]; overrides the file's; needed where the format has none
    #[arg(long, value_name = "λ", value_parser = crate::args::discount)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) discount: Option<f64>,
    #[command(flatten)]
    pub(crate) asked: AskedArgs,
}

const OBJECTIVES: Choice<Objective> = Choice {
    names: &[
        ("min-cost", Objective::MinCost, "the file's rewards are costs"),
        ("max-reward", Objective::MaxReward, ""),
    ],
};

/// What is asked of a model, of formats that leave it open.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct AskedArgs {
    /// How likely states with this label are reached, in place of the rewards of the file: it is 1 to
    /// enter one of them, and they are terminal; may be repeated (prism and drn files)
    #[arg(long, value_name = "LABEL")]
    pub(crate) reach: Vec<String>,
    /// Which of the file's rewards count [default: the first] (drn files)
    #[arg(long, value_name = "NAME", conflicts_with = "reach")]
    pub(crate) rewards: Option<String>,
    /// What is optimised, of files that do not say it [default: min-cost where rewards are named cost,
    /// else max-reward] (prism and drn files)
    #[arg(long, value_name = "WHICH", value_parser = OBJECTIVES)]
    pub(crate) optimise: Option<Objective>,
}

impl AskedArgs {
    /// The flags that say how to read a model, with whether they are given.
    pub(crate) fn given(&self) -> [(&'static str, bool); 3] {
        [
            ("--reach", !self.reach.is_empty()),
            ("--rewards", self.rewards.is_some()),
            ("--optimise", self.optimise.is_some()),
        ]
    }
}

/// A model with what the reader took for granted.
#[derive(Debug)]
pub(crate) struct NamedModel {
    pub(crate) model: Model,
    pub(crate) warnings: Vec<String>,
    /// The outcomes that a file gives actions, for files that keep them.
    pub(crate) outcomes: Option<Outcomes>,
    /// What the output calls it.
    pub(crate) name: String,
}

impl ReadArgs {
    /// Reads the model at `path`.
    pub(crate) fn read(&self, path: &Path) -> Result<NamedModel, Failure> {
        self.named(path, self.attempt(path, self.discount))
    }

    fn attempt(&self, path: &Path, discount: Option<f64>) -> Result<ModelFile, Error> {
        let source = match is_standard(path) {
            true if self.format.is_none() => {
                let message = "the standard input has no ending that would tell its format";
                return Err(Error::Input(message.into()));
            }
            true => Source::standard_input(),
            false => Source::from(path),
        };
        let AskedArgs { reach, rewards, optimise: objective } = self.asked.clone();
        let options = ReadOptions { format: self.format, discount, reach, rewards, objective };
        read_model_file(source, &options)
    }

    fn named(&self, path: &Path, read: Result<ModelFile, Error>) -> Result<NamedModel, Failure> {
        let file = read.map_err(|e| self.explain(path, e))?;
        let name = match is_standard(path) {
            true => "standard input".to_owned(),
            false => path.display().to_string(),
        };
        let ModelFile { model, warnings, outcomes, .. } = file;
        Ok(NamedModel { model, warnings, outcomes, name })
    }

    /// As [`ReadArgs::read`]; a missing discount factor is taken as this one, and told.
    pub(crate) fn read_or_discount(
        &self,
        path: &Path,
        otherwise: f64,
    ) -> Result<(NamedModel, bool), Failure> {
        let format = self.format.or_else(|| Format::of(path).ok());
        if self.discount.is_none() && format.is_some_and(|f| !f.holds_discount()) {
            return Ok((self.named(path, self.attempt(path, Some(otherwise)))?, true));
        }
        let missing = |e: &Error| {
            let source = match e {
                Error::ModelAt { source, .. } | Error::Model(source) => source,
                _ => return false,
            };
            *source == ModelError::MissingDiscount
        };
        match self.attempt(path, self.discount) {
            // A pipe cannot be read twice.
            Err(e) if missing(&e) && path.is_file() => {
                Ok((self.named(path, self.attempt(path, Some(otherwise)))?, true))
            }
            read => Ok((self.named(path, read)?, false)),
        }
    }

    fn explain(&self, path: &Path, error: Error) -> Failure {
        let unknown = self.format.is_none() && Format::of(path).is_err();
        if unknown && !is_standard(path) && !path.exists() {
            let source = std::io::ErrorKind::NotFound.into();
            return Failure::input(Error::Io { path: path.to_owned(), source });
        }
        let failure = Failure::input(error);
        if unknown { failure.hint(naming("--format")) } else { failure }
    }

    /// Whether the discount factor goes with the question: one that would not count is a mistake.
    pub(crate) fn check(&self, question: Question) -> Result<(), Failure> {
        match self.discount.filter(|discount| question.ignores_discount() && *discount != 1.0) {
            Some(discount) => Err(Failure::usage(format!(
                "--discount {discount}: all steps count alike with --objective {}, expected no discount factor",
                question.criterion
            ))),
            None => Ok(()),
        }
    }

    /// Reads what a certificate is about, which may be costs that need no discount factor.
    pub(crate) fn read_for_proof(&self, path: &Path) -> Result<NamedModel, Failure> {
        Ok(self.read_or_discount(path, 1.0)?.0)
    }

    /// Reads `path`, or takes the embedded example, with the discount factor that counts: questions other than that of
    /// discounted costs need none.
    pub(crate) fn read_for(
        &self,
        question: Question,
        path: Option<&PathBuf>,
    ) -> Result<NamedModel, Failure> {
        if let Some(path) = path {
            return match question.criterion {
                Criterion::Discounted => self.read(path),
                Criterion::Finite { .. } => Ok(self.read_or_discount(path, 1.0)?.0),
                Criterion::Total | Criterion::Average => {
                    self.named(path, self.attempt(path, Some(1.0)))
                }
            };
        }
        let given = [&[("--format", self.format.is_some())], &self.asked.given()[..]].concat();
        if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
            return Err(Failure::usage(format!("{flag} goes with a MODEL")));
        }
        let own = if question.ignores_discount() { 1.0 } else { DEFAULT_DISCOUNT };
        let discount = self.discount.unwrap_or(own);
        let model = machine_replacement(EXAMPLE_STATES, discount).map_err(Failure::input)?;
        Ok(NamedModel {
            model,
            warnings: Vec::new(),
            outcomes: None,
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
