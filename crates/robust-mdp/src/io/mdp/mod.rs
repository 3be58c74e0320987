//! The models of the fast-robust-mdps programs, numbers between blanks:
//! `states actions discount`, then `INITIAL` with a number a state, `REWARDS` and `TRANSITIONS`, each with a
//! line of S numbers for every state and action, in the order s·A + a. Rewards are maximised. `ambiguity`
//! reads what stands in a file beside it.

mod ambiguity;
mod write;

pub use ambiguity::{Ambiguity, read_ambiguity, write_ambiguity};
pub(super) use write::{refusal, write};

use super::model_error;
use super::source::Source;
use super::words::Words;
use crate::error::{Error, ModelError};
use crate::model::{Model, ModelBuilder, Objective};

/// The rewards of a state and action.
enum Rewards {
    /// The same to all states.
    Own(f64),
    Each(Vec<f64>),
}

/// Reads a model; `discount` overrides the file's.
pub(super) fn read(
    source: Source<'_>,
    discount: Option<f64>,
) -> Result<(Model, Vec<String>), Error> {
    let mut words = Words::open(source)?;
    let states = words.count("the number of states")?;
    let actions = words.count("the number of actions")?;
    let given = words.number("the discount factor")?;
    if states == 0 || actions == 0 {
        let message =
            format!("{states} states and {actions} actions, expected at least one of both");
        return Err(words.error(message));
    }
    heading(&mut words, "INITIAL")?;
    let mut initial = Vec::new();
    for s in 0..states {
        initial.push(words.number(format_args!("the initial probability of state {s}"))?);
    }
    heading(&mut words, "REWARDS")?;
    let mut rewards = Vec::new();
    for r in 0..states * actions {
        rewards.push(read_rewards(&mut words, states, [r / actions, r % actions])?);
    }
    heading(&mut words, "TRANSITIONS")?;
    let mut builder = ModelBuilder::new(discount.unwrap_or(given)).objective(Objective::MaxReward);
    builder.set_initial(unless_uniform(initial));
    let mut lines = Vec::new();
    for (r, rewards) in rewards.iter().enumerate() {
        if r % actions == 0 {
            builder.add_state(None);
        }
        feed(&mut words, &mut builder, states, rewards, &mut lines, [r / actions, r % actions])?;
        if builder.error().is_some() {
            break;
        }
    }
    let model = builder.build().map_err(|e| {
        let at = e.place().and_then(|(s, a)| lines.get(s * actions + a.unwrap_or(0)).copied());
        let initial =
            matches!(e, ModelError::InitialProbability { .. } | ModelError::InitialSum { .. });
        model_error(source.path, at.filter(|_| !initial), e)
    })?;
    let more = words.next()?.is_some();
    match more {
        true => Err(words.unexpected("the end of the file")),
        false => Ok((model, Vec::new())),
    }
}

/// A model without an initial distribution starts uniformly.
fn unless_uniform(initial: Vec<f64>) -> Option<Vec<f64>> {
    let share = 1.0 / initial.len() as f64;
    (!initial.iter().all(|p| *p == share)).then_some(initial)
}

fn heading(words: &mut Words<'_>, name: &str) -> Result<(), Error> {
    match words.word(name)?.eq_ignore_ascii_case(name) {
        true => Ok(()),
        false => Err(words.unexpected(format_args!("{name} (or fewer numbers before it)"))),
    }
}

fn read_rewards(
    words: &mut Words<'_>,
    states: usize,
    [s, a]: [usize; 2],
) -> Result<Rewards, Error> {
    let mut each = Vec::new();
    for next in 0..states {
        let what = format_args!("state {s}, action {a}: the reward of next state {next}");
        each.push(words.number(what)?);
    }
    Ok(match each.iter().all(|reward| *reward == each[0]) {
        true => Rewards::Own(each[0]),
        false => Rewards::Each(each),
    })
}

/// Gives the next row to the builder, and notes its line.
fn feed(
    words: &mut Words<'_>,
    builder: &mut ModelBuilder,
    states: usize,
    rewards: &Rewards,
    lines: &mut Vec<u64>,
    [s, a]: [usize; 2],
) -> Result<(), Error> {
    match rewards {
        Rewards::Own(own) => builder.add_action(None, *own),
        Rewards::Each(_) => builder.add_action(None, 0.0),
    }
    for next in 0..states {
        let what = format_args!("state {s}, action {a}: the probability of next state {next}");
        let prob = words.number(what)?;
        if next == 0 {
            lines.push(words.line());
        }
        let further = match rewards {
            Rewards::Own(_) => 0.0,
            Rewards::Each(each) => each[next],
        };
        builder.add_transition(next, prob, further);
    }
    builder.finish_row();
    Ok(())
}

#[cfg(test)]
mod tests;
