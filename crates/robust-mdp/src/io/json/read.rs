//! Reading: serde visitors feed the builder action by action; the file is never held as a whole.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use super::{FORMAT, VERSION};
use crate::error::Error;
use crate::io::{model_error, open, parse_error};
use crate::model::{Model, ModelBuilder, Objective};

/// Reads a model; `discount` overrides the file's.
pub(in crate::io) fn read(path: &Path, discount: Option<f64>) -> Result<Model, Error> {
    let mut reading = Reading::new();
    reading.file(path)?;
    if let Some(discount) = discount.or(reading.discount) {
        reading.builder.set_discount(discount);
    }
    reading.builder.build().map_err(|error| {
        // Found out only at the end: read again up to the place, for its line.
        let mut again = Reading {
            stop_at: error.place(),
            ..Reading::new()
        };
        let line = match again.stop_at.map(|_| again.file(path)) {
            Some(Err(Error::Parse { line, .. })) => line,
            _ => None,
        };
        model_error(path, line, error)
    })
}

/// What has been read so far.
struct Reading {
    builder: ModelBuilder,
    discount: Option<f64>,
    objective: Option<Objective>,
    /// What the actions' keys say the objective is, and the state of the first such key.
    meant: Option<(Objective, usize)>,
    /// (State, action) being read.
    at: (usize, usize),
    /// Where to stop with an error, to learn the line.
    stop_at: Option<(usize, Option<usize>)>,
    row: Vec<(u64, f64, f64)>,
}

impl Reading {
    fn new() -> Self {
        Reading {
            builder: ModelBuilder::undiscounted(),
            discount: None,
            objective: None,
            meant: None,
            at: (0, 0),
            stop_at: None,
            row: Vec::new(),
        }
    }

    fn file(&mut self, path: &Path) -> Result<(), Error> {
        let mut reader = BufReader::with_capacity(1 << 16, open(path)?);
        let start = reader.fill_buf().map_err(|source| Error::Io {
            path: path.into(),
            source,
        })?;
        if start.starts_with(b"\xEF\xBB\xBF") {
            reader.consume(3);
        }
        let mut json = serde_json::Deserializer::from_reader(reader);
        let part = Part {
            reading: self,
            kind: Kind::Model,
        };
        match part.deserialize(&mut json).and_then(|()| json.end()) {
            Ok(()) => Ok(()),
            Err(e) => Err(self.explain(path, e)),
        }
    }

    fn explain(&self, path: &Path, error: serde_json::Error) -> Error {
        let line = (error.line() > 0).then_some(error.line() as u64);
        if error.is_io() {
            return Error::Io {
                path: path.to_owned(),
                source: error.into(),
            };
        }
        if let Some(wrong) = self.builder.error() {
            return model_error(path, line, wrong.clone());
        }
        let text = error.to_string();
        let suffix = format!(" at line {} column {}", error.line(), error.column());
        parse_error(path, line, text.strip_suffix(&suffix).unwrap_or(&text))
    }

    /// Gives the action just read to the builder.
    fn finish_action(&mut self, name: Option<&str>, cost: f64) -> Result<(), String> {
        self.builder.add_action(name, cost);
        for &(to, prob, further) in &self.row {
            self.builder
                .add_transition(usize::try_from(to).unwrap_or(usize::MAX), prob, further);
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

    /// Records that an action has the key of `objective`.
    fn mean(&mut self, objective: Objective) -> Result<(), String> {
        let (meant, _) = *self.meant.get_or_insert((objective, self.at.0));
        match self.objective.unwrap_or(meant) == objective && meant == objective {
            true => Ok(()),
            false => Err(self.mismatch(self.at.0, objective)),
        }
    }

    fn mismatch(&self, state: usize, key: Objective) -> String {
        let (found, expected) = match key {
            Objective::MinCost => ("cost", "reward"),
            Objective::MaxReward => ("reward", "cost"),
        };
        format!(
            "state {state}: an action has the key `{found}`, expected `{expected}` \
             (objective `min-cost` goes with `cost`, `max-reward` with `reward`)"
        )
    }
}

/// A part of the file.
#[derive(Clone, Copy)]
enum Kind {
    Model,
    States,
    State,
    Actions,
    Action,
    Next,
    Transition,
}

struct Part<'r> {
    reading: &'r mut Reading,
    kind: Kind,
}

#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[serde(field_identifier, rename_all = "lowercase")]
enum ModelKey {
    Format,
    Version,
    Objective,
    Discount,
    Initial,
    States,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum StateKey {
    Name,
    Actions,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum ActionKey {
    Name,
    Cost,
    Reward,
    Next,
}

impl<'de> DeserializeSeed<'de> for Part<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Part<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            Kind::Model => "a model: an object with `format`, `version`, `objective`, …",
            Kind::States => "a list of states",
            Kind::State => "a state: an object with `name` and `actions`",
            Kind::Actions => "a list of actions",
            Kind::Action => "an action: an object with `name`, `cost` or `reward`, and `next`",
            Kind::Next => "a list of transitions",
            Kind::Transition => "[state, probability] or [state, probability, cost]",
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        match self.kind {
            Kind::Model => self.reading.read_model(map),
            Kind::State => self.reading.read_state(map),
            Kind::Action => self.reading.read_action(map),
            _ => Err(A::Error::invalid_type(serde::de::Unexpected::Map, &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Part { reading, kind } = self;
        let item = match kind {
            Kind::States => Kind::State,
            Kind::Actions => Kind::Action,
            Kind::Next => Kind::Transition,
            Kind::Transition => return reading.read_transition(seq),
            _ => {
                let part = Part { reading, kind };
                return Err(A::Error::invalid_type(serde::de::Unexpected::Seq, &part));
            }
        };
        while seq
            .next_element_seed(Part {
                reading: &mut *reading,
                kind: item,
            })?
            .is_some()
        {}
        Ok(())
    }
}

impl Reading {
    fn part(&mut self, kind: Kind) -> Part<'_> {
        Part {
            reading: self,
            kind,
        }
    }

    fn read_model<'de, A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        use ModelKey::*;
        let mut seen: Vec<ModelKey> = Vec::new();
        while let Some(key) = map.next_key::<ModelKey>()? {
            let name = format!("{key:?}").to_lowercase();
            if seen.contains(&key) {
                return Err(A::Error::custom(format!("the key `{name}` comes twice")));
            }
            seen.push(key);
            match key {
                Format => expect("format", map.next_value::<String>()?, FORMAT.to_owned())?,
                Version => expect("version", map.next_value::<u64>()?, VERSION)?,
                Objective => self.set_objective(&map.next_value::<String>()?)?,
                Discount => self.discount = map.next_value()?,
                Initial => self.builder.set_initial(map.next_value()?),
                States => map.next_value_seed(self.part(Kind::States))?,
            }
        }
        for (key, name) in [
            (Format, "format"),
            (Version, "version"),
            (Objective, "objective"),
            (States, "states"),
        ] {
            if !seen.contains(&key) {
                return Err(A::Error::missing_field(name));
            }
        }
        Ok(())
    }

    fn set_objective<E: serde::de::Error>(&mut self, name: &str) -> Result<(), E> {
        let objective = match name {
            "min-cost" => Objective::MinCost,
            "max-reward" => Objective::MaxReward,
            _ => return Err(E::unknown_variant(name, &["min-cost", "max-reward"])),
        };
        self.objective = Some(objective);
        self.builder.set_objective(objective);
        match self.meant {
            Some((meant, state)) if meant != objective => {
                Err(E::custom(self.mismatch(state, meant)))
            }
            _ => Ok(()),
        }
    }

    fn read_state<'de, A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        self.at = (self.builder.add_state(None), 0);
        let (mut named, mut has_actions) = (false, false);
        while let Some(key) = map.next_key::<StateKey>()? {
            match key {
                StateKey::Name if named => return Err(A::Error::duplicate_field("name")),
                StateKey::Name => {
                    named = true;
                    if let Some(name) = map.next_value::<Option<String>>()? {
                        self.builder.name_state(&name);
                    }
                }
                StateKey::Actions if has_actions => {
                    return Err(A::Error::duplicate_field("actions"));
                }
                StateKey::Actions => {
                    has_actions = true;
                    map.next_value_seed(self.part(Kind::Actions))?;
                }
            }
        }
        if !has_actions {
            return Err(A::Error::missing_field("actions"));
        }
        if self.at.1 == 0 {
            self.builder.mark_terminal();
        }
        Ok(())
    }

    fn read_action<'de, A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        let mut name: Option<Option<String>> = None;
        let mut cost: Option<f64> = None;
        let mut has_next = false;
        self.row.clear();
        while let Some(key) = map.next_key::<ActionKey>()? {
            match key {
                ActionKey::Name if name.is_some() => return Err(A::Error::duplicate_field("name")),
                ActionKey::Name => name = Some(map.next_value()?),
                ActionKey::Cost | ActionKey::Reward => {
                    self.mean(match key {
                        ActionKey::Cost => Objective::MinCost,
                        _ => Objective::MaxReward,
                    })
                    .map_err(A::Error::custom)?;
                    if cost.replace(map.next_value()?).is_some() {
                        return Err(A::Error::custom("the key `cost` or `reward` comes twice"));
                    }
                }
                ActionKey::Next if has_next => return Err(A::Error::duplicate_field("next")),
                ActionKey::Next => {
                    has_next = true;
                    map.next_value_seed(self.part(Kind::Next))?;
                }
            }
        }
        let cost = cost.ok_or_else(|| A::Error::custom("an action has no `cost` or `reward`"))?;
        if !has_next {
            return Err(A::Error::missing_field("next"));
        }
        self.finish_action(name.flatten().as_deref(), cost)
            .map_err(A::Error::custom)?;
        self.at.1 += 1;
        Ok(())
    }

    fn read_transition<'de, A: SeqAccess<'de>>(&mut self, mut seq: A) -> Result<(), A::Error> {
        let part = Kind::Transition;
        let Some(to) = seq.next_element()? else {
            return Err(A::Error::invalid_length(0, &self.part(part)));
        };
        let Some(prob) = seq.next_element()? else {
            return Err(A::Error::invalid_length(1, &self.part(part)));
        };
        let further = seq.next_element()?.unwrap_or(0.0);
        if seq.next_element::<IgnoredAny>()?.is_some() {
            return Err(A::Error::invalid_length(4, &self.part(part)));
        }
        self.row.push((to, prob, further));
        Ok(())
    }
}

fn expect<T: PartialEq + fmt::Debug, E: serde::de::Error>(
    key: &str,
    found: T,
    expected: T,
) -> Result<(), E> {
    match found == expected {
        true => Ok(()),
        false => Err(E::custom(format!(
            "`{key}` is {found:?}, expected {expected:?}"
        ))),
    }
}
