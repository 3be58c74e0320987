//! What comes next in the file: objects and lists are handed on by what is wanted at their place.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::value::{Value, Wanted};
use super::{Depth, JsonReader};

/// Something of the file. Objects and lists are read on the way and leave `null`.
pub(super) struct Part<'r> {
    reading: &'r mut JsonReader,
    wanted: Wanted,
}

impl<'de> DeserializeSeed<'de> for Part<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.reading.enter(self.wanted);
        deserializer.deserialize_any(self)
    }
}

impl Part<'_> {
    fn single<E: Error>(self, found: Value) -> Result<Value, E> {
        match (self.wanted, &found) {
            (Wanted::Initial, Value::Null) => Ok(found),
            (wanted, _) if wanted.is_part() => {
                self.reading.lines.note();
                Err(wanted.wrong(found))
            }
            _ => Ok(found),
        }
    }
}

impl<'de> Visitor<'de> for Part<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.wanted.rule())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Value, A::Error> {
        self.reading.lines.note();
        match self.wanted {
            Wanted::Model => self.reading.read_model(map),
            Wanted::State => self.reading.read_state(map),
            Wanted::Action => self.reading.read_action(map),
            wanted => Err(wanted.wrong("an object")),
        }?;
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let Part { reading, wanted } = self;
        reading.lines.note();
        let item = match wanted {
            Wanted::States => Wanted::State,
            Wanted::Actions => Wanted::Action,
            Wanted::Next => Wanted::Transition,
            Wanted::Transition => return reading.read_transition(seq).map(|()| Value::Null),
            Wanted::Initial => return reading.read_initial(seq).map(|()| Value::Null),
            _ => return Err(wanted.wrong("a list")),
        };
        while seq.next_element_seed(reading.part(item))?.is_some() {}
        Ok(Value::Null)
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.single(Value::Null)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Value, E> {
        self.single(Value::Flag(flag))
    }

    fn visit_u64<E: Error>(self, n: u64) -> Result<Value, E> {
        self.single(Value::Whole(n))
    }

    fn visit_i64<E: Error>(self, n: i64) -> Result<Value, E> {
        self.single(Value::Negative(n))
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<Value, E> {
        self.single(Value::Number(x))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.single(Value::Text(text.to_owned()))
    }
}

impl JsonReader {
    pub(super) fn part(&mut self, wanted: Wanted) -> Part<'_> {
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

    /// Reads the value of a key; objects and lists leave `null`.
    pub(super) fn value<'de, A: MapAccess<'de>>(
        &mut self,
        map: &mut A,
        wanted: Wanted,
    ) -> Result<Value, A::Error> {
        let value = map.next_value_seed(self.part(wanted))?;
        self.lines.note();
        Ok(value)
    }

    /// Reads the next number of a list.
    pub(super) fn entry<'de, A: SeqAccess<'de>>(
        &mut self,
        seq: &mut A,
        wanted: Wanted,
    ) -> Result<Option<Value>, A::Error> {
        let value = seq.next_element_seed(self.part(wanted))?;
        self.lines.note();
        Ok(value)
    }
}
