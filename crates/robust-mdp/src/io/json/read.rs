//! Reading: serde visitors feed the builder action by action; the file is never held as a whole.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use super::explain;
use super::lines::Lines;
use super::value::{Keys, Single, Value, Wanted, quoted};
use super::{FORMAT, VERSION};
use crate::error::{Error, Label};
use crate::io::source::Source;
use crate::io::{model_error, parse_error};
use crate::model::{Model, ModelBuilder, Objective};

/// Reads a model; `discount` overrides the file's.
pub(in crate::io) fn read<'a>(
    source: impl Into<Source<'a>>,
    discount: Option<f64>,
) -> Result<Model, Error> {
    let source = source.into();
    let mut reading = Reading::new();
    reading.file(source).map_err(|error| match source.is_file() {
        // Read again up to the place, for its line. A pipe cannot be.
        true => Reading::for_lines(None).file(source).err().unwrap_or(error),
        false => error,
    })?;
    if let Some(discount) = discount.or(reading.discount) {
        reading.builder.set_discount(discount);
    }
    reading.builder.build().map_err(|error| {
        // Found out only at the end.
        let place = error.place().filter(|_| source.is_file());
        let line = match place.map(|_| Reading::for_lines(place).file(source)) {
            Some(Err(Error::Parse { line, .. })) => line,
            _ => None,
        };
        model_error(source.path, line, error)
    })
}

/// Bytes read at a time.
const BUFFER: usize = 1 << 16;

/// How deep in the file reading is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Model,
    State,
    Action,
}

/// What has been read so far.
struct Reading {
    builder: ModelBuilder,
    discount: Option<f64>,
    objective: Option<Objective>,
    /// What the actions' keys say the objective is, and the state of the first such key.
    meant: Option<(Objective, usize)>,
    /// What is to come next.
    wanted: Wanted,
    /// Where reading is.
    depth: Depth,
    /// (State, action) being read, and their names where they have come.
    at: (usize, usize),
    state_name: Option<String>,
    action_name: Option<String>,
    /// What is wrong is that the whole file lacks a key: there is no line to blame.
    lacking: bool,
    /// Where to stop with an error, to learn the line.
    stop_at: Option<(usize, Option<usize>)>,
    row: Vec<(u64, f64, f64)>,
    lines: Lines,
}

impl Reading {
    fn new() -> Self {
        Reading {
            builder: ModelBuilder::undiscounted(),
            discount: None,
            objective: None,
            meant: None,
            wanted: Wanted::Model,
            depth: Depth::Model,
            at: (0, 0),
            state_name: None,
            action_name: None,
            lacking: false,
            stop_at: None,
            row: Vec::new(),
            lines: Lines::default(),
        }
    }

    /// One that learns the line of an error, or else of the place given, and stops there.
    fn for_lines(stop_at: Option<(usize, Option<usize>)>) -> Self {
        Reading { stop_at, lines: Lines::counted(), ..Reading::new() }
    }

    fn file(&mut self, source: Source<'_>) -> Result<(), Error> {
        let path = source.path;
        let mut reader = BufReader::with_capacity(BUFFER, source.open()?);
        let start = reader.fill_buf().map_err(|source| Error::Io { path: path.into(), source })?;
        if start.starts_with(b"\xEF\xBB\xBF") {
            reader.consume(3);
        }
        let mut json = serde_json::Deserializer::from_reader(self.lines.count(reader, BUFFER));
        let part = Part { reading: self, wanted: Wanted::Model };
        match part.deserialize(&mut json).and_then(|()| json.end()) {
            Ok(()) => Ok(()),
            Err(e) => Err(self.explain(path, e)),
        }
    }

    fn explain(&self, path: &Path, error: serde_json::Error) -> Error {
        // An error at a line's end is one of that line, though the parser is at the next one.
        let line = error.line().saturating_sub(usize::from(error.column() == 0)) as u64;
        let noted = self.lines.noted().filter(|_| error.is_data());
        let line = Some(noted.unwrap_or(line)).filter(|&line| line > 0);
        if error.is_io() {
            return Error::Io { path: path.to_owned(), source: error.into() };
        }
        if let Some(wrong) = self.builder.error() {
            return model_error(path, line, wrong.clone());
        }
        if error.is_eof() {
            return self.ends_early(path, &error);
        }
        let message = explain::syntax(&error, self.wanted);
        match self.depth {
            Depth::Model => parse_error(path, line.filter(|_| !self.lacking), message),
            _ => parse_error(path, line, format!("{}: {message}", self.place())),
        }
    }

    fn ends_early(&self, path: &Path, error: &serde_json::Error) -> Error {
        let line = Some(error.line() as u64);
        if self.wanted == Wanted::Model && error.column() == 0 {
            return parse_error(path, None, "the file is empty, expected a model as JSON");
        }
        let message = match self.depth {
            Depth::Model => "the file ends too early, expected a closing }".to_owned(),
            _ => {
                let place = self.place();
                format!("the file ends too early, in {place}, expected a closing }}")
            }
        };
        parse_error(path, line, message)
    }

    /// “state 0 (“ok”), action 1 (“run”)”.
    fn place(&self) -> String {
        let label =
            |index, name: &Option<String>| Label { index, name: name.as_deref().map(Into::into) };
        let state = label(self.at.0, &self.state_name);
        match self.depth {
            Depth::Action => {
                let action = label(self.at.1, &self.action_name);
                format!("state {state}, action {action}")
            }
            _ => format!("state {state}"),
        }
    }

    /// Gives the action just read to the builder.
    fn finish_action(&mut self, cost: f64) -> Result<(), String> {
        self.builder.add_action(self.action_name.as_deref(), cost);
        for &(to, prob, further) in &self.row {
            self.builder.add_transition(usize::try_from(to).unwrap_or(usize::MAX), prob, further);
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
            false => {
                let (found, expected) = keys_of(objective);
                Err(format!("the key is `{found}`, expected `{expected}` ({GOES_WITH})"))
            }
        }
    }
}

const GOES_WITH: &str = "objective `min-cost` goes with `cost`, `max-reward` with `reward`";

/// The key that goes with an objective, and the one that goes with the other.
fn keys_of(objective: Objective) -> (&'static str, &'static str) {
    match objective {
        Objective::MinCost => ("cost", "reward"),
        Objective::MaxReward => ("reward", "cost"),
    }
}

/// A part of the file: an object or a list.
struct Part<'r> {
    reading: &'r mut Reading,
    wanted: Wanted,
}

impl<'de> DeserializeSeed<'de> for Part<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.reading.enter(self.wanted);
        deserializer.deserialize_any(self)
    }
}

impl Part<'_> {
    fn refuse<E: serde::de::Error>(self, found: Value) -> Result<(), E> {
        self.reading.lines.note();
        Err(self.wanted.wrong(found))
    }
}

impl<'de> Visitor<'de> for Part<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.wanted.rule())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.reading.lines.note();
        match self.wanted {
            Wanted::Model => self.reading.read_model(map),
            Wanted::State => self.reading.read_state(map),
            Wanted::Action => self.reading.read_action(map),
            wanted => Err(wanted.wrong("an object")),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Part { reading, wanted } = self;
        reading.lines.note();
        let item = match wanted {
            Wanted::States => Wanted::State,
            Wanted::Actions => Wanted::Action,
            Wanted::Next => Wanted::Transition,
            Wanted::Transition => return reading.read_transition(seq),
            Wanted::Initial => return reading.read_initial(seq),
            _ => return Err(wanted.wrong("a list")),
        };
        while seq.next_element_seed(reading.part(item))?.is_some() {}
        Ok(())
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        match self.wanted {
            Wanted::Initial => Ok(()),
            _ => self.refuse(Value::Null),
        }
    }

    fn visit_bool<E: serde::de::Error>(self, flag: bool) -> Result<(), E> {
        self.refuse(Value::Flag(flag))
    }

    fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<(), E> {
        self.refuse(Value::Whole(n))
    }

    fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<(), E> {
        self.refuse(Value::Negative(n))
    }

    fn visit_f64<E: serde::de::Error>(self, x: f64) -> Result<(), E> {
        self.refuse(Value::Number(x))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        self.refuse(Value::Text(text.to_owned()))
    }
}

impl Reading {
    fn part(&mut self, wanted: Wanted) -> Part<'_> {
        Part { reading: self, wanted }
    }

    /// Notes what comes now, for messages.
    fn enter(&mut self, wanted: Wanted) {
        self.wanted = wanted;
        match wanted {
            Wanted::State => (self.depth, self.state_name) = (Depth::State, None),
            Wanted::Action => (self.depth, self.action_name) = (Depth::Action, None),
            _ => {}
        }
    }

    /// Reads the value of a key.
    fn value<'de, A: MapAccess<'de>>(
        &mut self,
        map: &mut A,
        wanted: Wanted,
    ) -> Result<Value, A::Error> {
        self.wanted = wanted;
        let value = map.next_value_seed(Single { wanted, lines: &self.lines })?;
        self.lines.note();
        Ok(value)
    }

    /// Reads the next number of a list.
    fn entry<'de, A: SeqAccess<'de>>(
        &mut self,
        seq: &mut A,
        wanted: Wanted,
    ) -> Result<Option<Value>, A::Error> {
        self.wanted = wanted;
        let value = seq.next_element_seed(Single { wanted, lines: &self.lines })?;
        self.lines.note();
        Ok(value)
    }

    fn read_model<'de, A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        // What is missing from now on is not the whole file.
        self.wanted = Wanted::States;
        let mut keys =
            Keys::new(&["format", "version", "objective", "discount", "initial", "states"]);
        while let Some(key) = keys.next(&mut map, &self.lines)? {
            match key {
                "format" => {
                    let wanted = Wanted::Format;
                    let format = self.value(&mut map, wanted)?.text(wanted)?;
                    if format != FORMAT {
                        return Err(wanted.wrong(quoted(&format)));
                    }
                }
                "version" => {
                    let wanted = Wanted::Version;
                    let version = self.value(&mut map, wanted)?.whole(wanted)?;
                    if version != VERSION {
                        return Err(wanted.wrong(version));
                    }
                }
                "objective" => {
                    let wanted = Wanted::Objective;
                    let name = self.value(&mut map, wanted)?.text(wanted)?;
                    self.set_objective(name)?;
                }
                "discount" => {
                    let wanted = Wanted::Discount;
                    let given = self.value(&mut map, wanted)?.given();
                    self.discount = given.map(|v| v.number(wanted)).transpose()?;
                }
                "initial" => map.next_value_seed(self.part(Wanted::Initial))?,
                _ => map.next_value_seed(self.part(Wanted::States))?,
            }
        }
        self.lacking = true;
        for (key, expected) in [
            ("format", "\"format\":\"robust-mdp\""),
            ("version", "\"version\":1"),
            ("objective", "\"objective\":\"min-cost\" or \"objective\":\"max-reward\""),
            ("states", "\"states\":[ … ]"),
        ] {
            require(&keys, key, expected)?;
        }
        self.lacking = false;
        Ok(())
    }

    fn set_objective<E: serde::de::Error>(&mut self, name: String) -> Result<(), E> {
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

    fn read_initial<'de, A: SeqAccess<'de>>(&mut self, mut seq: A) -> Result<(), A::Error> {
        let wanted = Wanted::InitialEntry;
        let mut initial = Vec::new();
        while let Some(value) = self.entry(&mut seq, wanted)? {
            initial.push(value.number(wanted)?);
        }
        self.builder.set_initial(Some(initial));
        Ok(())
    }

    fn read_state<'de, A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
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
                _ => map.next_value_seed(self.part(Wanted::Actions))?,
            }
        }
        require(&keys, "actions", "\"actions\":[ … ], or [] for a terminal state")?;
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

    fn read_action<'de, A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
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
                    map.next_value_seed(self.part(Wanted::Next))?;
                    continue;
                }
                "cost" => (Objective::MinCost, Wanted::Cost),
                _ => (Objective::MaxReward, Wanted::Reward),
            };
            self.mean(objective).map_err(A::Error::custom)?;
            cost = Some(self.value(&mut map, wanted)?.number(wanted)?);
        }
        let Some(cost) = cost else {
            let expected = match self.objective.or(self.meant.map(|(meant, _)| meant)) {
                Some(objective) => format!("`{}`", keys_of(objective).0),
                None => "`cost` or `reward`".into(),
            };
            return Err(A::Error::custom(format!(
                "the key {expected} is missing, expected it with a number"
            )));
        };
        require(&keys, "next", "\"next\":[[state, probability], … ]")?;
        if self.row.is_empty() {
            return Err(A::Error::custom(
                "`next` is an empty list, expected at least one transition",
            ));
        }
        self.finish_action(cost).map_err(A::Error::custom)?;
        self.depth = Depth::State;
        self.at.1 += 1;
        Ok(())
    }

    fn read_transition<'de, A: SeqAccess<'de>>(&mut self, mut seq: A) -> Result<(), A::Error> {
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
            Some(further) => further.number(wanted)?,
            None => 0.0,
        };
        self.wanted = Wanted::Transition;
        if seq.next_element::<IgnoredAny>()?.is_some() {
            return Err(short("a list of more than 3 entries"));
        }
        self.row.push((to, prob, further));
        Ok(())
    }
}

fn require<E: serde::de::Error>(keys: &Keys, key: &str, expected: &str) -> Result<(), E> {
    match keys.had(key) {
        true => Ok(()),
        false => Err(E::custom(format!("the key `{key}` is missing, expected {expected}"))),
    }
}
