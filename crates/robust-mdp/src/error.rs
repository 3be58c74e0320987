//! What can be wrong with a question: with a model, with a file, with a setting.
//!
//! How a valid run ended is a status, not an error. Every message says where the trouble is and
//! what was expected instead.

use std::fmt;
use std::io;
use std::path::PathBuf;

use serde::Serialize;

/// A state or an action in a message: its number and, where it has one, its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Number, counted from 0 (actions: within their state).
    pub index: usize,
    /// The name the model gives it.
    pub name: Option<Box<str>>,
}

impl From<usize> for Label {
    fn from(index: usize) -> Self {
        Label { index, name: None }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{} (“{name}”)", self.index),
            None => write!(f, "{}", self.index),
        }
    }
}

/// Why a model is not a Markov decision process.
#[derive(thiserror::Error, Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ModelError {
    /// There is no state.
    #[error("the model has no states, expected at least one")]
    Empty,
    /// State numbers must fit in 32 bits.
    #[error("the model has {states} states, expected at most {}", u32::MAX)]
    TooManyStates {
        /// States that were added.
        states: usize,
    },
    /// Neither the model nor the caller gives a discount factor.
    #[error("the discount factor is missing: the model has none, so give one (--discount)")]
    MissingDiscount,
    /// The discount factor is no number of \[0, 1\].
    #[error("the discount factor is {value:?}, expected a number in [0, 1]")]
    Discount {
        /// What was given.
        value: f64,
    },
    /// A state has no actions and was not declared terminal.
    #[error("state {state} has no actions, expected at least one or a declared terminal state")]
    NoActions {
        /// The state.
        state: Label,
    },
    /// A state was declared terminal and has actions.
    #[error("state {state} is declared terminal, expected no actions in it")]
    TerminalWithActions {
        /// The state.
        state: Label,
    },
    /// An action or a declaration came before the first state.
    #[error("an action or a terminal mark comes before the first state, expected a state first")]
    ActionBeforeState,
    /// A transition came before the first action of its state.
    #[error("state {state}: a transition comes before the first action, expected an action first")]
    TransitionBeforeAction {
        /// The state.
        state: Label,
    },
    /// The probabilities of a row do not sum to one.
    #[error(
        "state {state}, action {action}: probabilities sum to {sum:?}, expected 1 within {:?}{}",
        crate::model::SUM_TOLERANCE,
        of_counts(*sum)
    )]
    RowSum {
        /// The state.
        state: Label,
        /// The action.
        action: Label,
        /// Their sum.
        sum: f64,
    },
    /// A probability is negative, infinite or NaN, or positive but as good as zero.
    #[error(
        "state {state}, action {action}: the probability of next state {next} is {}",
        of_probability(*value)
    )]
    Probability {
        /// The state.
        state: Label,
        /// The action.
        action: Label,
        /// The next state.
        next: usize,
        /// The probability.
        value: f64,
    },
    /// Bounds of a probability are no interval of [0, 1].
    #[error(
        "state {state}, action {action}: the interval [{:?}, {:?}] of next state {next}, expected \
         0 ≤ lower ≤ upper ≤ 1",
        bounds[0],
        bounds[1]
    )]
    Interval {
        /// The state.
        state: Label,
        /// The action.
        action: Label,
        /// The next state.
        next: usize,
        /// The least and the largest probability.
        bounds: [f64; 2],
    },
    /// A nominal probability lies outside of its interval.
    #[error(
        "state {state}, action {action}: the interval [{:?}, {:?}] of next state {next} does not contain its \
         probability {value:?}",
        bounds[0],
        bounds[1]
    )]
    OutsideInterval {
        /// The state.
        state: Label,
        /// The action.
        action: Label,
        /// The next state.
        next: usize,
        /// The probability.
        value: f64,
        /// The least and the largest probability.
        bounds: Box<[f64; 2]>,
    },
    /// No distribution lies within the intervals of a row.
    #[error(
        "state {state}, action {action}: lower bounds sum to {lower:?} and upper ones to {upper:?}, expected \
         sums of at most and at least 1"
    )]
    IntervalSums {
        /// The state.
        state: Label,
        /// The action.
        action: Label,
        /// The sum of lower bounds.
        lower: f64,
        /// The sum of upper bounds.
        upper: f64,
    },
    /// The cost or reward of an action, or of moving to a next state, is infinite or NaN.
    #[error(
        "state {state}, action {action}: the cost or reward{} is {value:?}, expected a finite number",
        next.map_or(String::new(), |next| format!(" on moving to state {next}"))
    )]
    CostNotFinite {
        /// The state.
        state: Label,
        /// The action.
        action: Label,
        /// The next state, where it is one's own.
        next: Option<usize>,
        /// The cost.
        value: f64,
    },
    /// A transition leads to a state the model does not have.
    #[error(
        "state {state}, action {action}: next state {next} does not exist, \
         expected a number below {states}{}",
        of_numbers(*next, *states)
    )]
    NextOutOfRange {
        /// The state.
        state: Label,
        /// The action.
        action: Label,
        /// The next state.
        next: usize,
        /// Number of states.
        states: usize,
    },
    /// The initial distribution has the wrong length.
    #[error(
        "the initial distribution has {}, expected {states}, one for each state",
        counted(*length, "entry", "entries")
    )]
    InitialLength {
        /// Its length.
        length: usize,
        /// Number of states.
        states: usize,
    },
    /// An initial probability is negative, infinite or NaN.
    #[error(
        "the initial probability of state {state} is {value:?}, expected a finite number of at least 0"
    )]
    InitialProbability {
        /// The state.
        state: Label,
        /// The probability.
        value: f64,
    },
    /// The initial distribution does not sum to one.
    #[error(
        "the initial probabilities sum to {sum:?}, expected 1 within {:?}",
        crate::model::SUM_TOLERANCE
    )]
    InitialSum {
        /// Their sum.
        sum: f64,
    },
}

impl ModelError {
    /// The state and, within it, the action at fault, where the error lies in one place.
    pub fn place(&self) -> Option<(usize, Option<usize>)> {
        use ModelError::*;
        match self {
            NoActions { state }
            | TerminalWithActions { state }
            | TransitionBeforeAction { state } => Some((state.index, None)),
            RowSum { state, action, .. }
            | Interval { state, action, .. }
            | OutsideInterval { state, action, .. }
            | IntervalSums { state, action, .. }
            | Probability { state, action, .. }
            | CostNotFinite { state, action, .. }
            | NextOutOfRange { state, action, .. } => Some((state.index, Some(action.index))),
            _ => None,
        }
    }

    /// The next state at fault, where the error lies on one transition.
    pub fn next(&self) -> Option<usize> {
        use ModelError::*;
        match self {
            Probability { next, .. }
            | Interval { next, .. }
            | OutsideInterval { next, .. }
            | NextOutOfRange { next, .. } => Some(*next),
            CostNotFinite { next, .. } => *next,
            _ => None,
        }
    }
}

/// Bytes that arrays of a kernel's size may take.
pub(crate) const MEMORY: u64 = 16 << 30;

/// Anything the library refuses.
#[derive(thiserror::Error, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The model is not valid.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The model in a file is not valid.
    #[error("{}{source}", place(path, line))]
    ModelAt {
        /// The file.
        path: PathBuf,
        /// Line of the file, counted from 1.
        line: Option<u64>,
        /// What is wrong with the model.
        source: ModelError,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file is not in the format it should be in.
    #[error("{}{message}", place(path, line))]
    Parse {
        /// The file.
        path: PathBuf,
        /// Line of the file, counted from 1.
        line: Option<u64>,
        /// What was found and what was expected.
        message: String,
    },
    /// The work would need more memory than it may use.
    #[error(
        "{what} needs about {:.1} GiB of memory, expected at most {:.1} GiB",
        gib(needed),
        gib(allowed)
    )]
    Memory {
        /// What needs it.
        what: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes that may be used.
        allowed: u64,
    },
    /// A checkpoint cannot be gone on from.
    #[error("the checkpoint is of no use here: {0}")]
    Checkpoint(String),
    /// A file holds no certificate, or one for something else.
    #[error("{}: {source}", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<crate::certificate::Rejection>,
    },
    /// A setting does not make sense.
    #[error("{0}")]
    Input(String),
}

/// What to do about a sum as counts of transitions have it.
fn of_counts(sum: f64) -> &'static str {
    match sum >= 2.0 && sum.fract() == 0.0 {
        true => " (if these are counts, divide each by the sum of its state and action)",
        false => "",
    }
}

/// A probability that cannot be, and what was expected.
fn of_probability(value: f64) -> String {
    if !value.is_finite() {
        format!("{value:?}, expected a finite number")
    } else if value < 0.0 {
        format!("{value:?}, expected at least 0")
    } else {
        format!("{value:e}, expected 0 or at least 1e-300")
    }
}

/// What to do about states that are numbered from 1.
fn of_numbers(next: usize, states: usize) -> &'static str {
    match next == states {
        true => " (states are numbered from 0)",
        false => "",
    }
}

fn place(path: &std::path::Path, line: &Option<u64>) -> String {
    match line {
        Some(line) => format!("{}, line {line}: ", path.display()),
        None => format!("{}: ", path.display()),
    }
}

/// The name that a choice has in files and on the command line.
#[doc(hidden)]
pub fn name_of(choice: &impl Serialize) -> String {
    match serde_json::to_value(choice) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

/// “1 line”, “2 lines”.
pub(crate) fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn gib(bytes: &u64) -> f64 {
    *bytes as f64 / (1u64 << 30) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_where_and_what() {
        let named = |index, name: &str| Label { index, name: Some(name.into()) };
        let source =
            ModelError::RowSum { state: named(3, "ok"), action: named(1, "run"), sum: 0.98 };
        let text =
            "state 3 (“ok”), action 1 (“run”): probabilities sum to 0.98, expected 1 within 1e-9";
        assert_eq!(source.to_string(), text);
        let at = Error::ModelAt { path: "a.csv".into(), line: Some(12), source };
        assert_eq!(at.to_string(), format!("a.csv, line 12: {text}"));
        let memory = Error::Memory { what: "the table".into(), needed: 3 << 30, allowed: 1 << 30 };
        assert_eq!(
            memory.to_string(),
            "the table needs about 3.0 GiB of memory, expected at most 1.0 GiB"
        );
    }

    #[test]
    fn places() {
        let (state, action) = (2.into(), 1.into());
        let error = ModelError::Probability { state, action, next: 4, value: -0.1 };
        assert_eq!((error.place(), error.next()), (Some((2, Some(1))), Some(4)));
        assert_eq!(ModelError::NoActions { state: 5.into() }.place(), Some((5, None)));
        assert_eq!(ModelError::Empty.place(), None);
    }
}
