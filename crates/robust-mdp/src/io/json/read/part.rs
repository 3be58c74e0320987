//! Objects and lists: each is handed on by what is wanted at its place.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::value::{Single, Value, Wanted};
use super::{Depth, Reading};

/// A part of the file: an object or a list.
pub(super) struct Part<'r> {
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
    fn refuse<E: Error>(self, found: Value) -> Result<(), E> {
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

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        match self.wanted {
            Wanted::Initial => Ok(()),
            _ => self.refuse(Value::Null),
        }
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<(), E> {
        self.refuse(Value::Flag(flag))
    }

    fn visit_u64<E: Error>(self, n: u64) -> Result<(), E> {
        self.refuse(Value::Whole(n))
    }

    fn visit_i64<E: Error>(self, n: i64) -> Result<(), E> {
        self.refuse(Value::Negative(n))
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<(), E> {
        self.refuse(Value::Number(x))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.refuse(Value::Text(text.to_owned()))
    }
}

impl Reading {
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

    /// Reads the value of a key.
    pub(super) fn value<'de, A: MapAccess<'de>>(
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
    pub(super) fn entry<'de, A: SeqAccess<'de>>(
        &mut self,
        seq: &mut A,
        wanted: Wanted,
    ) -> Result<Option<Value>, A::Error> {
        self.wanted = wanted;
        let value = seq.next_element_seed(Single { wanted, lines: &self.lines })?;
        self.lines.note();
        Ok(value)
    }
}
