//! The files of bmdp-tool, numbers between blanks: the numbers of states, of actions and of terminal
//! states, the terminal states, then `source action target low high` of every transition. What is asked is
//! how likely a terminal state is reached: a transition into one has reward 1.

mod write;

pub(super) use write::{reached, write};

use super::explicit::{Explicit, Listed};
use super::labels::Labels;
use super::source::Source;
use super::words::Words;
use crate::error::Error;
use crate::model::{Model, Objective};

/// A transition as a line gives it.
struct Transition {
    from: usize,
    action: usize,
    listed: Listed,
}

/// Reads a model; the discount factor can only come from the caller.
pub(super) fn read(
    source: Source<'_>,
    discount: Option<f64>,
) -> Result<(Model, Vec<String>), Error> {
    let mut words = Words::open(source)?;
    let states = words.count("the number of states")?;
    let actions = words.count("the number of actions")?;
    let count = words.count("the number of terminal states")?;
    let reach = ["terminal".to_owned()];
    let mut labels = Labels::new(&reach);
    labels.declare(&reach[0]);
    for _ in 0..count {
        let s = below(&mut words, states, "a terminal state")?;
        labels.add(s, &reach[0]);
    }
    let mut transitions = Vec::new();
    while words.next()?.is_some() {
        transitions.push(read_transition(&mut words, states, actions)?);
    }
    let key = |t: &Transition| (t.from, t.action, t.listed.to, t.listed.line);
    transitions.sort_unstable_by_key(key);
    let mut explicit = Explicit::new();
    let mut latest = None;
    for t in &transitions {
        if latest != Some((t.from, t.action)) {
            explicit.add_states(t.from + 1).map_err(|wrong| words.error(wrong))?;
            // Gaps among actions keep their numbers as names.
            let number = explicit.rows_of_latest();
            explicit.add_row((t.action != number).then(|| t.action.to_string()), 0.0);
            latest = Some((t.from, t.action));
        }
        explicit.add(t.listed);
    }
    explicit.add_states(states).map_err(|wrong| words.error(wrong))?;
    let (model, mut warnings) =
        explicit.into_model(source.path, discount, Objective::MaxReward, &labels)?;
    if count == 0 {
        warnings
            .push("no terminal states: there is nothing to reach, and all rewards are 0".into());
    }
    Ok((model, warnings))
}

/// The transition that begins with the latest word.
fn read_transition(
    words: &mut Words<'_>,
    states: usize,
    actions: usize,
) -> Result<Transition, Error> {
    let line = words.line();
    let from = latest_below(words, states, "a source state")?;
    let action = below(words, actions, format_args!("state {from}: an action"))?;
    let to = below(words, states, format_args!("state {from}, action {action}: a target state"))?;
    let place = format_args!("state {from}, action {action}, next state {to}");
    let low = words.number(format_args!("{place}: the lower probability"))?;
    let high = words.number(format_args!("{place}: the upper probability"))?;
    let listed = Listed { to, prob: low, upper: Some(high), reward: 0.0, line };
    Ok(Transition { from, action, listed })
}

fn below(
    words: &mut Words<'_>,
    count: usize,
    what: impl std::fmt::Display,
) -> Result<usize, Error> {
    words.word(&what)?;
    latest_below(words, count, what)
}

/// The latest word as a number below `count`.
fn latest_below(
    words: &Words<'_>,
    count: usize,
    what: impl std::fmt::Display,
) -> Result<usize, Error> {
    let found = words.latest().parse().ok().filter(|n: &usize| *n < count);
    found.ok_or_else(|| words.unexpected(format_args!("{what}, a number below {count}")))
}

#[cfg(test)]
mod tests;
