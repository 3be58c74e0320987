//! What sets are told of entries, from flags: weights of next states, distances between states, other kernels.
//! Intervals come with the model.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use robust_mdp::io::{read_entry_weights, read_ground, read_scenarios};
use robust_mdp::sets::{Distance, EntryWeights, Ground, Needs, Scenarios, UncertaintySet};
use robust_mdp::{Error, Model};
use serde::{Deserialize, Serialize};

use crate::choice::{in_a_row, sets_with};
use crate::failure::Failure;
use crate::output;

#[derive(Debug, clap::Args)]
pub(crate) struct DataArgs {
    #[arg(long, value_name = "CSV")]
    #[arg(help = format!(
        "Weights w of next states in the norm of {} [default: 1], from a table state,weight or \
         state,action,next,weight",
        in_a_row(&sets_with(Needs::Weights), "and")
    ))]
    pub(crate) entry_weights_file: Option<PathBuf>,
    #[arg(long, value_name = "CSV")]
    #[arg(help = format!(
        "Distances between states, which {} needs, from a table state,x (places on a line) or \
         from,to,distance",
        in_a_row(&sets_with(Needs::Ground), "and")
    ))]
    pub(crate) ground_file: Option<PathBuf>,
    #[arg(long, value_name = "MODEL", value_delimiter = ',')]
    #[arg(help = format!(
        "Other kernels, which {} needs: models of the same states, actions and next states, in files of any format; \
         may be repeated",
        in_a_row(&sets_with(Needs::Scenarios), "and")
    ))]
    pub(crate) scenarios_file: Vec<PathBuf>,
}

/// How distances are given.
const GROUND: &str = "a table state,x gives every state a place x on a line, where distances are differences; a \
                      table from,to,distance gives a distance for every pair of states";

impl DataArgs {
    pub(crate) fn is_given(&self) -> bool {
        !self.files().is_empty()
    }

    /// All files that are read.
    pub(crate) fn files(&self) -> Vec<&Path> {
        let one = [&self.entry_weights_file, &self.ground_file].into_iter().flatten();
        one.chain(&self.scenarios_file).map(PathBuf::as_path).collect()
    }

    /// Whether the set has use for what is given, and what it needs.
    pub(crate) fn check(&self, distance: Distance) -> Result<(), Failure> {
        let (needs, name) = (distance.needs(), distance.name());
        let given = [
            (
                "--entry-weights-file",
                "weights of next states",
                Needs::Weights,
                self.entry_weights_file.is_some(),
            ),
            (
                "--ground-file",
                "distances between states",
                Needs::Ground,
                self.ground_file.is_some(),
            ),
            (
                "--scenarios-file",
                "other kernels",
                Needs::Scenarios,
                !self.scenarios_file.is_empty(),
            ),
        ];
        for (flag, what, of, _) in given.iter().filter(|(.., given)| *given) {
            if needs != *of {
                let sets = in_a_row(&sets_with(*of), "or");
                return Err(Failure::usage(format!(
                    "{flag} has {what}, which --set {name} does not read, expected --set {sets}"
                )));
            }
        }
        if needs == Needs::Ground && self.ground_file.is_none() {
            let message =
                format!("--set {name} needs distances between states, expected --ground-file CSV");
            return Err(Failure::usage(message).hint(GROUND));
        }
        if needs == Needs::Scenarios && self.scenarios_file.is_empty() {
            let message =
                format!("--set {name} needs other kernels, expected --scenarios-file MODEL");
            return Err(Failure::usage(message));
        }
        Ok(())
    }

    /// The set with what it is told, for a model that may have intervals.
    pub(crate) fn tell(
        &self,
        mut set: UncertaintySet,
        model: &Model,
    ) -> Result<UncertaintySet, Failure> {
        if set.distance.needs() == Needs::Intervals && !model.has_intervals() {
            let name = set.distance.name();
            let message =
                format!("--set {name} needs intervals of probabilities, and the model has none");
            return Err(Failure::usage(message).hint(
                "intervals come with the model: a column lower and one upper of .csv or .parquet, [low,high] in \
                 .tra or .drn, or those of .json, .npz and .bmdp (docs/model-format.md)",
            ));
        }
        if let Some(path) = &self.entry_weights_file {
            let weights = read_entry_weights(path, model, set.support).map_err(|e| {
                let header = matches!(e, Error::Parse { line: Some(1), .. });
                let failure = Failure::input(e);
                let hint = "weights of actions in a shared budget (state,action,weight) come with --weights-file";
                if header { failure.hint(hint) } else { failure }
            })?;
            set = set.with_entry_weights(weights);
        }
        if let Some(path) = &self.ground_file {
            let ground = read_ground(path, model).map_err(|e| {
                let header = matches!(e, Error::Parse { line: Some(1), .. });
                let failure = Failure::input(e);
                if header { failure.hint(GROUND) } else { failure }
            })?;
            set = set.with_ground(ground);
        }
        if !self.scenarios_file.is_empty() {
            let found = read_scenarios(&self.scenarios_file, model).map_err(Failure::input)?;
            let (scenarios, warnings) = found;
            output::warn(&warnings, false);
            set = set.with_scenarios(scenarios);
        }
        Ok(set)
    }
}

/// What a set was told, as results keep it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", expecting = "an object with numbers of states or transitions")]
pub(crate) enum SetData<'a> {
    /// One a next state.
    StateWeights(Cow<'a, [f64]>),
    /// One a transition that the model stores.
    TransitionWeights(Cow<'a, [f64]>),
    /// Places on a line.
    Places(Cow<'a, [f64]>),
    /// One a pair of states, row after row.
    Distances(Cow<'a, [f64]>),
    /// One array a scenario, of the transitions that the model stores.
    Scenarios(Vec<Vec<f64>>),
}

impl<'a> SetData<'a> {
    pub(crate) fn of(set: &'a UncertaintySet) -> Option<SetData<'a>> {
        let weights = set.entry_weights.as_deref().map(|weights| {
            let numbers = weights.numbers().into();
            match weights {
                EntryWeights::PerState(_) => SetData::StateWeights(numbers),
                EntryWeights::PerTransition(_) => SetData::TransitionWeights(numbers),
            }
        });
        let scenarios =
            || set.scenarios.as_deref().map(|scenarios| SetData::Scenarios(scenarios.kernels()));
        weights.or_else(scenarios).or_else(|| {
            set.ground.as_deref().map(|ground| {
                let numbers = ground.numbers().into();
                match ground {
                    Ground::Line(_) => SetData::Places(numbers),
                    Ground::Matrix(_) => SetData::Distances(numbers),
                }
            })
        })
    }

    /// The set that is told this.
    pub(crate) fn tell(&self, set: UncertaintySet) -> UncertaintySet {
        match self {
            SetData::StateWeights(w) => set.with_entry_weights(EntryWeights::PerState(w.to_vec())),
            SetData::TransitionWeights(w) => {
                set.with_entry_weights(EntryWeights::PerTransition(w.to_vec()))
            }
            SetData::Places(x) => set.with_ground(Ground::line(x.to_vec())),
            SetData::Distances(d) => set.with_ground(Ground::Matrix(d.to_vec())),
            SetData::Scenarios(kernels) => set.with_scenarios(Scenarios::from_kernels(kernels)),
        }
    }

    /// “, next states weighted”, “, states on a line”: behind other words about the set.
    pub(crate) fn in_words(&self) -> &'static str {
        match self {
            SetData::StateWeights(_) => ", next states weighted",
            SetData::TransitionWeights(_) => ", transitions weighted",
            SetData::Places(_) => ", states on a line",
            SetData::Distances(_) => ", a distance for every pair of states",
            SetData::Scenarios(_) => ", other kernels",
        }
    }
}
