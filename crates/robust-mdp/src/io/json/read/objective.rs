//! The objective: said once, and meant by the key of every action.

use serde::de::Error;

use super::JsonReader;
use super::value::{Wanted, quoted};
use crate::model::Objective;

impl JsonReader {
    pub(super) fn set_objective<E: Error>(&mut self, name: &str) -> Result<(), E> {
        let objective = match name {
            "min-cost" => Objective::MinCost,
            "max-reward" => Objective::MaxReward,
            _ => return Err(Wanted::Objective.wrong(quoted(name))),
        };
        self.objective = Some(objective);
        self.builder.set_objective(objective);
        match self.meant {
            Some((meant, state)) if meant != objective => Err(E::custom(format!(
                "`objective` is \"{name}\" and state {state} has an action with the key `{}`, \
                 expected `{}` ({GOES_WITH})",
                meant.noun(),
                objective.noun()
            ))),
            _ => Ok(()),
        }
    }

    /// Records that an action has the key of `objective`.
    pub(super) fn mean(&mut self, objective: Objective) -> Result<(), String> {
        let (meant, _) = *self.meant.get_or_insert((objective, self.at.0));
        let expected = self.objective.unwrap_or(meant);
        match expected == objective {
            true => Ok(()),
            false => {
                let (found, expected) = (objective.noun(), expected.noun());
                Err(format!("the key is `{found}`, expected `{expected}` ({GOES_WITH})"))
            }
        }
    }
}

const GOES_WITH: &str = "objective `min-cost` goes with `cost`, `max-reward` with `reward`";
