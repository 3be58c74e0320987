//! Storm's DRN files: a header of `@type`, `@parameters`, `@reward_models`, `@nr_states`, `@nr_choices` and
//! `@model`, then of every state a line `state 0 [reward] label …`, of every choice `action name [reward]`,
//! and of every transition `target : probability`, or `[low, high]` in place of the probability. Lines that
//! start with // are comments.

mod header;
mod list;
mod write;

pub(super) use write::write;

use self::header::Header;
use super::explicit::{Explicit, Listed};
use super::labels::Labels;
use super::lines::{Lines, bounds_of, index};
use super::source::Source;
use super::{ReadOptions, within};
use crate::error::Error;
use crate::model::{Model, Objective};

/// Name of rewards that are costs.
const COST: &str = "cost";
/// What Storm calls a choice without a name.
const NAMELESS: &str = "__NOLABEL__";

/// Reads a model; the discount factor can only come from the caller.
pub(super) fn read(
    source: Source<'_>,
    options: &ReadOptions,
) -> Result<(Model, Vec<String>), Error> {
    let mut lines = Lines::open(source)?;
    let header = Header::read(&mut lines)?;
    let (rewards, warning) = header.choose(&lines, options)?;
    let mut reading = Reading {
        explicit: Explicit::new(),
        labels: Labels::new(&options.reach),
        header: &header,
        rewards,
        of_state: 0.0,
    };
    while reading.line(&mut lines)? {}
    let Reading { explicit, labels, .. } = reading;
    header.check(&lines, &explicit)?;
    let is_cost = header.rewards.get(rewards).is_some_and(|name| name == COST);
    let named = if is_cost { Objective::MinCost } else { Objective::MaxReward };
    let objective = options.objective.unwrap_or(named);
    let read = explicit.into_model(source.path, options.discount, objective, &labels)?;
    Ok((read.0, warning.into_iter().chain(read.1).collect()))
}

/// The next line that is no comment.
fn uncommented<'l>(lines: &'l mut Lines<'_>) -> Result<Option<&'l str>, Error> {
    while lines.next()?.is_some_and(|line| line.starts_with("//")) {}
    lines.latest()
}

/// The start of a line, for messages.
fn shown(line: &str) -> String {
    line.chars().take(60).collect()
}

/// What has been read.
struct Reading<'r> {
    explicit: Explicit,
    labels: Labels<'r>,
    header: &'r Header,
    /// Which of the rewards count.
    rewards: usize,
    /// Reward of the latest state.
    of_state: f64,
}

impl Reading<'_> {
    /// Takes in a line; false at the end of the file.
    fn line(&mut self, lines: &mut Lines<'_>) -> Result<bool, Error> {
        if uncommented(lines)?.is_none() {
            return Ok(false);
        }
        let line = lines.latest()?.unwrap_or_default();
        let (first, rest) =
            line.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((line, ""));
        let taken = match first {
            "state" => self.state(rest.trim_ascii()),
            "action" => self.action(rest.trim_ascii()),
            _ => self.transition(line, lines.number()),
        };
        match taken {
            Ok(()) => Ok(true),
            Err(wrong) => {
                let error = lines.error(wrong);
                let place = match (self.explicit.states(), self.explicit.rows_of_latest()) {
                    (0, _) => return Err(error),
                    (s, 0) => format!("state {}", s - 1),
                    (s, a) => format!("state {}, action {}", s - 1, a - 1),
                };
                Err(within(error, &format!("in or after {place}")))
            }
        }
    }

    fn state(&mut self, rest: &str) -> Result<(), String> {
        let (s, mut rest) =
            rest.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((rest, ""));
        let expected = self.explicit.states();
        if index(s) != Some(expected) {
            return Err(format!("found “state {}”, expected “state {expected}”", shown(s)));
        }
        if self.header.states.is_some_and(|states| expected >= states) {
            return Err(format!("state {expected} is more than @nr_states, expected fewer"));
        }
        self.explicit.add_states(expected + 1)?;
        self.of_state = 0.0;
        loop {
            rest = rest.trim_ascii_start();
            match rest.as_bytes().first() {
                None => return Ok(()),
                Some(b'[') => {
                    let end =
                        list::closing(rest).ok_or("rewards without ], expected [reward, …]")?;
                    self.of_state = self.reward(&rest[1..end])?;
                    rest = &rest[end + 1..];
                }
                Some(b'!') => {
                    return Err("an exit rate (!), expected a model in discrete time".into());
                }
                Some(b'{') => {
                    return Err("an observation, expected a model that is fully observed".into());
                }
                Some(b'"') => {
                    let (label, after) = rest[1..]
                        .split_once('"')
                        .ok_or("a label without its second \", expected it")?;
                    self.labels.add(expected, label);
                    rest = after;
                }
                Some(_) => {
                    let end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
                    self.labels.add(expected, &rest[..end]);
                    rest = &rest[end..];
                }
            }
        }
    }

    fn action(&mut self, rest: &str) -> Result<(), String> {
        if self.explicit.states() == 0 {
            return Err("an action before the first state, expected “state 0”".into());
        }
        let (name, reward) = match list::at_end(rest) {
            Some((name, rewards)) => (name, self.reward(rewards)?),
            None => (rest, 0.0),
        };
        let number = self.explicit.rows_of_latest();
        let plain = name.is_empty() || name == NAMELESS || index(name) == Some(number);
        let name = (!plain).then(|| name.to_owned());
        let reward = if self.labels.is_goal_wanted() { 0.0 } else { self.of_state + reward };
        self.explicit.add_row(name, reward);
        Ok(())
    }

    fn transition(&mut self, line: &str, number: u64) -> Result<(), String> {
        let wrong = || {
            format!(
                "found “{}”, expected “state …”, “action …” or “target : probability”",
                shown(line)
            )
        };
        let (to, value) = line.split_once(':').ok_or_else(wrong)?;
        let to = index(to.trim_ascii()).ok_or_else(wrong)?;
        let value = value.trim_ascii();
        let value = self.header.placeholders.get(value).map_or(value, String::as_str);
        let (prob, upper) = bounds_of(value).ok_or_else(|| {
            let value = shown(value);
            format!(
                "the probability of next state {to} is “{value}”, expected a number or [low, high]"
            )
        })?;
        if self.explicit.rows_of_latest() == 0 {
            return Err(
                "a transition before the first action of its state, expected “action …”".into()
            );
        }
        self.explicit.add(Listed { to, prob, upper, reward: 0.0, line: number });
        Ok(())
    }

    /// The one that counts of a list of rewards, which may be an interval without width.
    fn reward(&self, rewards: &str) -> Result<f64, String> {
        let text = list::entry(rewards, self.rewards).unwrap_or("");
        let text = self.header.placeholders.get(text).map_or(text, String::as_str);
        match bounds_of(text) {
            Some((reward, None)) => Ok(reward),
            Some((lower, Some(upper))) if lower == upper => Ok(lower),
            Some((_, Some(_))) => {
                Err(format!("the reward is an interval, {}, expected a number", shown(text)))
            }
            None => {
                let count = self.header.rewards.len().max(1);
                Err(format!("rewards [{}], expected {count} numbers", shown(rewards)))
            }
        }
    }
}

#[cfg(test)]
mod tests;
