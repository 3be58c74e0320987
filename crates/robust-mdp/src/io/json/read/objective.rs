//! The objective: said once, and meant by the key of every action.

use serde::de::Error;

use super::JsonReader;
use super::value::{Wanted, quoted};
use crate::model::Objective;

impl JsonReader {
    pub(super) fn set_objective<E: Error>(&mut self, name: String) -> Result<(), E> {
        let objective = match name.as_str() {
            "min-cost" => Objective::MinCost,
            "max-reward" => Objective::MaxReward,
            _ => return Err(Wanted::Objective.wrong(quoted(&name))),
        };
        self.objective = Some(objective);
        self.builder.set_objective(objective);
        match self.meant {
            Some((meant, state)) if meant != objective => {
                let (found, expected) = keys_of(meant);
                Err(E::custom(format!(
                    "`objective` is \"{name}\" and state {state} has an action with the key \
                     `{found}`, expected `{expected}` ({GOES_WITH})"
                )))
            }
            _ => Ok(()),
        }
    }

    /// Records that an action has the key of `objective`.
    pub(super) fn mean(&mut self, objective: Objective) -> Result<(), String> {
        let (meant, _) = *self.meant.get_or_insert((objective, self.at.0));
        match self.objective.unwrap_or(meant) == objective && meant == objective {
            true => Ok(()),
            false => {
                let (found, expected) = keys_of(objective);
                Err(format!("the key is `{found}`, expected `{expected}` ({GOES_WITH})"))
            }
        }
    }
}

const GOES_WITH: &str = "objective `min-cost` goes with `cost`, `max-reward` with `reward`";

/// The key that goes with an objective, and the one that goes with the other.
pub(super) fn keys_of(objective: Objective) -> (&'static str, &'static str) {
    match objective {
        Objective::MinCost => ("cost", "reward"),
        Objective::MaxReward => ("reward", "cost"),
    }
}
