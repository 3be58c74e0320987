//! PRISM's explicit files. `.tra` holds the transitions: a line `states choices transitions`, then
//! `source choice target probability action` a line, or `[low,high]` in place of the probability. Of a
//! Markov chain it holds `states transitions` and `source target probability`. Lines that start with #
//! are comments. Beside it, under the same name, may stand `.sta` (names of states), `.lab` (labels),
//! `.srew` and `.trew` (rewards of states and of transitions, which add up).

mod beside;
mod write;

pub(super) use write::{write, write_transitions};

use self::beside::{Beside, Rewards};
use super::explicit::{Explicit, Listed};
use super::labels::Labels;
use super::lines::{Lines, bounds_of, index};
use super::source::Source;
use super::{ReadOptions, within};
use crate::error::Error;
use crate::model::{Model, Objective};

/// Name of rewards that are costs.
const COST: &str = "cost";

/// Reads a model; the discount factor can only come from the caller.
pub(super) fn read(
    source: Source<'_>,
    options: &ReadOptions,
) -> Result<(Model, Vec<String>), Error> {
    let mut labels = Labels::new(&options.reach);
    let beside = Beside::of(source);
    let rewards = match options.reach.is_empty() {
        true => beside.rewards()?,
        false => Rewards::default(),
    };
    beside.labels(&mut labels)?;
    let mut lines = Lines::open(source)?;
    let header = Header::read(&mut lines)?;
    let mut explicit = Explicit::new();
    explicit.names = beside.names()?;
    let mut reading = Reading { explicit, rewards, choice: None };
    while reading.transition(&mut lines, &header)? {}
    let Reading { mut explicit, rewards, .. } = reading;
    header.check(&lines, &mut explicit)?;
    let objective = match rewards.name.as_deref() {
        Some(COST) => Objective::MinCost,
        _ => Objective::MaxReward,
    };
    let objective = options.objective.unwrap_or(objective);
    explicit.into_model(source.path, options.discount, objective, &labels)
}

/// What the first line says.
struct Header {
    /// Whether states have one choice, which has no number.
    chain: bool,
    /// States, choices and transitions, where they are given.
    counts: [Option<usize>; 3],
}

impl Header {
    fn read(lines: &mut Lines<'_>) -> Result<Header, Error> {
        const EXPECTED: &str = "a line of numbers, “states choices transitions” or, of a Markov \
                                chain, “states transitions”";
        let Some(line) = uncommented(lines)? else {
            return Err(lines.error(format!("the file is empty, expected {EXPECTED}")));
        };
        match line {
            "mdp" => return Ok(Header { chain: false, counts: [None; 3] }),
            "dtmc" => return Ok(Header { chain: true, counts: [None; 3] }),
            _ => {}
        }
        let counts: Option<Vec<usize>> = line.split_ascii_whitespace().map(index).collect();
        match counts.as_deref() {
            Some(&[states, transitions]) => {
                Ok(Header { chain: true, counts: [Some(states), None, Some(transitions)] })
            }
            Some(&[states, choices, transitions]) => {
                let counts = [Some(states), Some(choices), Some(transitions)];
                Ok(Header { chain: false, counts })
            }
            Some([_, _, _, _]) => Err(lines.error(
                "four numbers: partially observable models are not supported, expected three",
            )),
            _ => {
                let line = line.chars().take(60).collect::<String>();
                Err(lines.error(format!("found “{line}”, expected {EXPECTED}")))
            }
        }
    }

    /// Adds the states without transitions, and compares what was found.
    fn check(&self, lines: &Lines<'_>, explicit: &mut Explicit) -> Result<(), Error> {
        explicit
            .add_states(self.counts[0].unwrap_or(explicit.largest() + 1))
            .map_err(|wrong| lines.error(wrong))?;
        let found = [explicit.states(), explicit.rows(), explicit.transitions()];
        let names = ["states", "choices", "transitions"];
        for ((name, found), declared) in names.iter().zip(found).zip(self.counts) {
            if let Some(declared) = declared.filter(|declared| *declared != found) {
                return Err(lines.error(format!(
                    "{found} {name} to the end of the file, expected {declared}, as its first line says"
                )));
            }
        }
        Ok(())
    }
}

/// The next line that is no comment.
fn uncommented<'l>(lines: &'l mut Lines<'_>) -> Result<Option<&'l str>, Error> {
    while lines.next()?.is_some_and(|line| line.starts_with('#')) {}
    lines.latest()
}

/// What has been read.
struct Reading {
    explicit: Explicit,
    rewards: Rewards,
    /// (State, choice) of the latest line.
    choice: Option<(usize, usize)>,
}

impl Reading {
    /// Takes in a line; false at the end of the file.
    fn transition(&mut self, lines: &mut Lines<'_>, header: &Header) -> Result<bool, Error> {
        if uncommented(lines)?.is_none() {
            return Ok(false);
        }
        let parsed = lines.latest()?.and_then(|line| Parsed::of(line, header.chain));
        let Some(parsed) = parsed else {
            let expected = match header.chain {
                true => "“source target probability”",
                false => "“source choice target probability”, perhaps with an action",
            };
            let line: String = lines.latest()?.unwrap_or("").chars().take(60).collect();
            return Err(lines.error(format!("found “{line}”, expected {expected}")));
        };
        let place = (parsed.from, parsed.choice);
        if Some(place) != self.choice {
            if self.choice.is_some_and(|latest| latest > place) {
                return Err(lines.error(format!(
                    "state {}, choice {} comes after larger ones, expected them in order",
                    parsed.from, parsed.choice
                )));
            }
            self.start(lines, header, place, parsed.action)?;
        }
        let (to, (prob, upper), line) = (parsed.to, parsed.prob, lines.number());
        if let Some(states) = header.counts[0].filter(|states| parsed.from.max(to) >= *states) {
            let what = if parsed.from >= states { "source" } else { "target" };
            let state = parsed.from.max(to);
            return Err(within(
                lines.error(format!(
                    "{what} {state} does not exist, expected a number below {states}"
                )),
                &format!("state {}, choice {}", parsed.from, parsed.choice),
            ));
        }
        let reward = self.rewards.of_transition(parsed.from, parsed.choice, to);
        self.explicit.add(Listed { to, prob, upper, reward, line });
        Ok(true)
    }

    /// Begins a choice.
    fn start(
        &mut self,
        lines: &Lines<'_>,
        header: &Header,
        (from, choice): (usize, usize),
        action: Option<String>,
    ) -> Result<(), Error> {
        let missing = self.explicit.add_states(from + 1);
        missing.map_err(|wrong| lines.error(wrong))?;
        let number = self.explicit.rows_of_latest();
        // Gaps among choices keep their numbers as names.
        let name = action.or_else(|| (choice != number).then(|| choice.to_string()));
        let name = name.filter(|name| !header.chain && *name != number.to_string());
        self.explicit.add_row(name, self.rewards.of_state(from));
        self.choice = Some((from, choice));
        Ok(())
    }
}

/// A line of transitions.
struct Parsed {
    from: usize,
    choice: usize,
    to: usize,
    prob: (f64, Option<f64>),
    action: Option<String>,
}

impl Parsed {
    fn of(line: &str, chain: bool) -> Option<Parsed> {
        let mut rest = line;
        let from = index(word(&mut rest)?)?;
        let choice = if chain { 0 } else { index(word(&mut rest)?)? };
        let to = index(word(&mut rest)?)?;
        let end = match rest.starts_with('[') {
            true => rest.find(']')? + 1,
            false => rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len()),
        };
        let prob = bounds_of(&rest[..end])?;
        rest = rest[end..].trim_ascii_start();
        let action = word(&mut rest).map(str::to_owned);
        rest.is_empty().then_some(Parsed { from, choice, to, prob, action })
    }
}

/// Takes the first word off.
fn word<'l>(rest: &mut &'l str) -> Option<&'l str> {
    let end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    *rest = after.trim_ascii_start();
    (!word.is_empty()).then_some(word)
}

#[cfg(test)]
mod tests;
