//! Single values and keys of the file, and what each must be.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

use super::lines::Lines;

/// What is to come next in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Model,
    Format,
    Version,
    Objective,
    Discount,
    Initial,
    InitialEntry,
    States,
    State,
    Name,
    Actions,
    Action,
    Cost,
    Reward,
    Next,
    Transition,
    NextState,
    Probability,
    FurtherCost,
    Bound,
}

impl Wanted {
    /// What it must be.
    pub(super) fn rule(self) -> &'static str {
        use Wanted::*;
        match self {
            Model => "a model must be an object with the keys `format`, `version`, `objective`, …",
            Format => "`format` must be \"robust-mdp\"",
            Version => "`version` must be 1",
            Objective => "`objective` must be \"min-cost\" or \"max-reward\"",
            Discount => "`discount` must be a number in [0, 1]",
            Initial => "`initial` must be a list of one probability for each state, or null",
            InitialEntry => "`initial` must be a list of numbers",
            States => "`states` must be a list of states",
            State => "a state must be an object with the keys `name` and `actions`",
            Name => "`name` must be a text in double quotes",
            Actions => "`actions` must be a list of actions",
            Action => {
                "an action must be an object with the keys `name`, `cost` or `reward`, and `next`"
            }
            Cost => "`cost` must be a number",
            Reward => "`reward` must be a number",
            Next => "`next` must be a list of transitions",
            Transition => {
                "a transition of `next` must be [state, probability], [state, probability, cost] or \
                 [state, probability, cost, lower, upper]"
            }
            NextState => "the next state must be a whole number of at least 0",
            Probability => "the probability of a next state must be a number",
            FurtherCost => "the cost or reward of a transition must be a number",
            Bound => "the bounds of a probability must be numbers",
        }
    }

    /// Whether it is one number.
    pub(super) fn is_number(self) -> bool {
        use Wanted::*;
        matches!(
            self,
            Discount | InitialEntry | Cost | Reward | NextState | Probability | FurtherCost | Bound
        )
    }

    /// Whether it is an object or a list.
    pub(super) fn is_part(self) -> bool {
        use Wanted::*;
        matches!(self, Model | Initial | States | State | Actions | Action | Next | Transition)
    }

    /// That something else was found.
    pub(super) fn wrong<E: Error>(self, found: impl fmt::Display) -> E {
        E::custom(format!("{}, found {found}", self.rule()))
    }
}

/// A value that is no list and no object.
pub(super) enum Value {
    Null,
    Flag(bool),
    Whole(u64),
    Negative(i64),
    Number(f64),
    Text(String),
}

impl Value {
    pub(super) fn number<E: Error>(self, wanted: Wanted) -> Result<f64, E> {
        match self {
            Value::Whole(n) => Ok(n as f64),
            Value::Negative(n) => Ok(n as f64),
            Value::Number(x) => Ok(x),
            other => Err(wanted.wrong(other)),
        }
    }

    pub(super) fn whole<E: Error>(self, wanted: Wanted) -> Result<u64, E> {
        match self {
            Value::Whole(n) => Ok(n),
            Value::Number(x) if x.fract() == 0.0 && (0.0..1e15).contains(&x) => {
                let plain = "write it without a point or an exponent";
                Err(wanted.wrong(format!("{x:?} ({plain})")))
            }
            other => Err(wanted.wrong(other)),
        }
    }

    pub(super) fn text<E: Error>(self, wanted: Wanted) -> Result<String, E> {
        match self {
            Value::Text(text) => Ok(text),
            other => Err(wanted.wrong(other)),
        }
    }

    /// Nothing where there is `null`.
    pub(super) fn given(self) -> Option<Value> {
        match self {
            Value::Null => None,
            other => Some(other),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Flag(flag) => write!(f, "{flag}"),
            Value::Whole(n) => write!(f, "{n}"),
            Value::Negative(n) => write!(f, "{n}"),
            Value::Number(x) => write!(f, "{x:?}"),
            Value::Text(text) => write!(f, "the text {}", quoted(text)),
        }
    }
}

/// A text in quotes, shortened.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", shortened(text))
}

/// A text on one line, of no more than some forty characters.
fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().nth(40).is_some() {
        short.push('…');
    }
    short
}

/// The keys of an object: which it may have and which it had.
pub(super) struct Keys {
    allowed: &'static [&'static str],
    seen: u8,
}

impl Keys {
    pub(super) fn new(allowed: &'static [&'static str]) -> Self {
        Keys { allowed, seen: 0 }
    }

    /// The next key, which must be allowed and new. Its line is noted, or that of the object's end.
    pub(super) fn next<'de, A: MapAccess<'de>>(
        &mut self,
        map: &mut A,
        lines: &Lines,
    ) -> Result<Option<&'static str>, A::Error> {
        let Some(k) = map.next_key_seed(Key { allowed: self.allowed, lines })? else {
            lines.note();
            return Ok(None);
        };
        if self.seen & (1 << k) != 0 {
            let key = self.allowed[k];
            return Err(A::Error::custom(format!("the key `{key}` comes twice, expected once")));
        }
        self.seen |= 1 << k;
        Ok(Some(self.allowed[k]))
    }

    /// An error unless the key was there.
    pub(super) fn require<E: Error>(&self, key: &str, expected: &str) -> Result<(), E> {
        match self.had(key) {
            true => Ok(()),
            false => Err(E::custom(format!("the key `{key}` is missing, expected {expected}"))),
        }
    }

    fn had(&self, key: &str) -> bool {
        let at = self.allowed.iter().position(|k| *k == key);
        at.is_some_and(|k| self.seen & (1 << k) != 0)
    }
}

/// One of some keys, by its position.
struct Key<'l> {
    allowed: &'static [&'static str],
    lines: &'l Lines,
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one of the keys `{}`", self.allowed.join("`, `"))
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<usize, E> {
        self.lines.note();
        let known = self.allowed.iter().position(|k| *k == key);
        known.ok_or_else(|| {
            let (key, known) = (shortened(key), self.allowed.join("`, `"));
            E::custom(format!("unknown key `{key}`, expected one of `{known}`"))
        })
    }
}
