//! States, actions and transitions.

use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess};

use super::value::{Keys, Wanted};
use super::{Depth, JsonReader, Listed};
use crate::model::Objective;

impl JsonReader {
    pub(super) fn read_state<'de, A: MapAccess<'de>>(
        &mut self,
        mut map: A,
    ) -> Result<(), A::Error> {
        self.at = (self.builder.add_state(None), 0);
        let mut keys = Keys::new(&["name", "actions"]);
        while let Some(key) = keys.next(&mut map, &self.lines)? {
            match key {
                "name" => {
                    self.state_name = self.read_name(&mut map)?;
                    if let Some(name) = &self.state_name {
                        self.builder.name_state(name);
                    }
                }
                _ => drop(self.value(&mut map, Wanted::Actions)?),
            }
        }
        keys.require("actions", "\"actions\":[ … ], or [] for a terminal state")?;
        if self.at.1 == 0 {
            self.builder.mark_terminal();
        }
        self.depth = Depth::Model;
        self.at = (self.at.0 + 1, 0);
        Ok(())
    }

    fn read_name<'de, A: MapAccess<'de>>(
        &mut self,
        map: &mut A,
    ) -> Result<Option<String>, A::Error> {
        let wanted = Wanted::Name;
        let given = self.value(map, wanted)?.given();
        given.map(|v| v.text(wanted)).transpose()
    }

    pub(super) fn read_action<'de, A: MapAccess<'de>>(
        &mut self,
        mut map: A,
    ) -> Result<(), A::Error> {
        let mut keys = Keys::new(&["name", "cost", "reward", "next"]);
        let mut cost: Option<f64> = None;
        self.row.clear();
        while let Some(key) = keys.next(&mut map, &self.lines)? {
            let (objective, wanted) = match key {
                "name" => {
                    self.action_name = self.read_name(&mut map)?;
                    continue;
                }
                "next" => {
                    self.value(&mut map, Wanted::Next)?;
                    continue;
                }
                "cost" => (Objective::MinCost, Wanted::Cost),
                _ => (Objective::MaxReward, Wanted::Reward),
            };
            self.mean(objective).map_err(A::Error::custom)?;
            cost = Some(self.value(&mut map, wanted)?.number(wanted)?);
        }
        keys.require("next", "\"next\":[[state, probability], … ]")?;
        if self.row.is_empty() {
            return Err(A::Error::custom(
                "`next` is an empty list, expected at least one transition",
            ));
        }
        let cost = match cost {
            Some(cost) => cost,
            None => self.cost_of_transitions().map_err(A::Error::custom)?,
        };
        self.finish_action(cost).map_err(A::Error::custom)?;
        self.depth = Depth::State;
        self.at.1 += 1;
        Ok(())
    }

    /// The own cost of an action that gives none: 0 if all of its transitions have one.
    fn cost_of_transitions(&self) -> Result<f64, String> {
        let Some(without) = self.row.iter().find(|e| e.further.is_none()) else { return Ok(0.0) };
        let key = match self.objective.or(self.meant.map(|(meant, _)| meant)) {
            Some(objective) => format!("`{}`", objective.noun()),
            None => "`cost` or `reward`".into(),
        };
        let Listed { to, prob, .. } = without;
        Err(format!(
            "the key {key} is missing, expected it with a number (it may be left out where every \
             transition has its own; [{to}, {prob:?}] has none)"
        ))
    }

    pub(super) fn read_transition<'de, A: SeqAccess<'de>>(
        &mut self,
        mut seq: A,
    ) -> Result<(), A::Error> {
        let short = |n: &str| Wanted::Transition.wrong::<A::Error>(n);
        let wanted = Wanted::NextState;
        let Some(to) = self.entry(&mut seq, wanted)? else {
            return Err(short("an empty list"));
        };
        let to = to.whole(wanted)?;
        let wanted = Wanted::Probability;
        let Some(prob) = self.entry(&mut seq, wanted)? else {
            return Err(short("a list of 1 entry"));
        };
        let prob = prob.number(wanted)?;
        let wanted = Wanted::FurtherCost;
        let further = match self.entry(&mut seq, wanted)? {
            Some(further) => Some(further.number(wanted)?),
            None => None,
        };
        let wanted = Wanted::Bound;
        let bounds = match self.entry(&mut seq, wanted)? {
            Some(lower) => {
                let lower = lower.number(wanted)?;
                let Some(upper) = self.entry(&mut seq, wanted)? else {
                    return Err(short("a list of 4 entries"));
                };
                Some([lower, upper.number(wanted)?])
            }
            None => None,
        };
        self.wanted = Wanted::Transition;
        if seq.next_element::<IgnoredAny>()?.is_some() {
            return Err(short("a list of more than 5 entries"));
        }
        self.row.push(Listed { to, prob, further, bounds });
        Ok(())
    }

    /// Gives the action just read to the builder.
    fn finish_action(&mut self, cost: f64) -> Result<(), String> {
        self.builder.add_action(self.action_name.as_deref(), cost);
        for &Listed { to, prob, further, bounds } in &self.row {
            let (to, further) = (usize::try_from(to).unwrap_or(usize::MAX), further.unwrap_or(0.0));
            match bounds {
                Some(bounds) => self.builder.add_interval(to, Some(prob), bounds, further),
                None => self.builder.add_transition(to, prob, further),
            }
        }
        self.builder.finish_row();
        if let Some(error) = self.builder.error() {
            return Err(error.to_string());
        }
        match self.stop_at {
            Some((s, a)) if (s, a.unwrap_or(0)) == self.at => Err("here".into()),
            _ => Ok(()),
        }
    }
}
