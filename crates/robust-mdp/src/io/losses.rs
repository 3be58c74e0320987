//! What a format cannot hold of a model, and what that changes.

use super::Format;
use super::bmdp::reached;
use super::craam_csv::{action_ids, unlisted_costs_changed};
use super::rows::possible;
use crate::error::counted;
use crate::model::{Bounds, Model, Objective};

/// What of `model` is lost in a file of this format, to be shown as warnings.
pub fn losses(model: &Model, format: Format) -> Vec<String> {
    let lost = match format {
        Format::Json | Format::Npz => Vec::new(),
        Format::Csv => table(model, "CSV"),
        #[cfg(feature = "parquet")]
        Format::Parquet => table(model, "Parquet"),
        Format::Mdp => vec![objective(model), terminal(model), repeated(model), intervals(model)],
        Format::Prism => vec![
            discount(model),
            distribution(model),
            costs_off_transitions(model),
            repeated(model),
            nominal(model),
        ],
        Format::Drn => {
            vec![discount(model), distribution(model), averaged(model), nominal(model)]
        }
        Format::Bmdp => {
            vec![discount(model), initial(model), rewards(model), staying(model), nominal(model)]
        }
    };
    names(model, format).chain(lost.into_iter().flatten()).collect()
}

/// What craam's table loses.
fn table(model: &Model, file: &str) -> Vec<Option<String>> {
    vec![discount(model), initial(model), unlisted_costs(model, file)]
}

/// Which names a text of lines and words can hold.
pub(super) struct NamesKept {
    /// Names of states that each fit on a line.
    pub(super) lines: bool,
    /// Names of actions that are words.
    pub(super) actions: bool,
}

impl NamesKept {
    pub(super) fn of(model: &Model) -> NamesKept {
        let no_break = |name: &String| !name.contains(['\n', '\r']);
        // Brackets begin rewards, and Storm has a name for none.
        let blank = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '[' | ']');
        let word =
            |name: &String| !name.is_empty() && !name.contains(blank) && name != "__NOLABEL__";
        NamesKept {
            lines: model.state_names.as_ref().is_some_and(|names| names.iter().all(no_break)),
            actions: model.action_names.as_ref().is_some_and(|names| names.iter().all(word)),
        }
    }
}

fn names(model: &Model, format: Format) -> impl Iterator<Item = String> {
    let states = 0..model.states();
    let named = states.clone().any(|s| model.state_name(s) != s.to_string());
    let words = NamesKept::of(model);
    let of_words = matches!(format, Format::Prism | Format::Drn);
    let states_lost = match format {
        Format::Json => false,
        Format::Prism => named && !words.lines,
        _ => named,
    };
    // Tables keep numbers, gaps among them included.
    let kept = |s: usize| {
        let numbers = match format {
            _ if format.is_table() => action_ids(model, s),
            _ => (0..model.rows_of(s).len() as u32).collect(),
        };
        let mut numbered = model.rows_of(s).zip(numbers);
        numbered.all(|(r, number)| model.action_name(s, r) == number.to_string())
    };
    let actions_lost = match format {
        Format::Json => false,
        _ if of_words && words.actions => false,
        _ => !states.into_iter().all(kept),
    };
    let why =
        |holds: bool| if holds { "some do not fit on a line" } else { "only .json keeps them" };
    let of_states =
        states_lost.then(|| format!("names of states are lost: {}", why(format == Format::Prism)));
    let of_actions = actions_lost.then(|| format!("names of actions are lost: {}", why(of_words)));
    of_states.into_iter().chain(of_actions)
}

/// A discount of 0 may stand for none.
fn discount(model: &Model) -> Option<String> {
    let discount = model.discount();
    let lost = || {
        format!(
            "the discount factor is lost: give {discount:?} again to solve (--discount {discount:?})"
        )
    };
    (discount > 0.0).then(lost)
}

fn initial(model: &Model) -> Option<String> {
    let lost = "the initial distribution is lost: the model starts uniformly";
    model.initial().map(|_| lost.to_owned())
}

/// The states in which a model starts, where that is evenly in some of them.
pub(super) fn initial_states(model: &Model) -> Option<Vec<bool>> {
    let initial = model.initial()?;
    let count = initial.iter().filter(|p| **p > 0.0).count();
    let share = 1.0 / count as f64;
    let even = initial.iter().all(|p| *p == 0.0 || *p == share);
    even.then(|| initial.iter().map(|p| *p > 0.0).collect())
}

fn distribution(model: &Model) -> Option<String> {
    let lost = "the initial distribution is lost: labels say in which states a model starts evenly";
    (model.initial().is_some() && initial_states(model).is_none()).then(|| lost.to_owned())
}

fn objective(model: &Model) -> Option<String> {
    let lost = "costs become negative rewards: values change their sign";
    (model.objective() == Objective::MinCost).then(|| lost.to_owned())
}

fn terminal(model: &Model) -> Option<String> {
    let count = (0..model.states()).filter(|&s| model.is_terminal(s)).count();
    let lost = || {
        format!(
            "{} to staying at reward 0, because there are no terminal states: sets with support all will give \
             other answers",
            counted(count, "terminal state changes", "terminal states change")
        )
    };
    (count > 0).then(lost)
}

fn repeated(model: &Model) -> Option<String> {
    let count = model.repeated_transitions();
    let what = model.objective().noun();
    let lost = || {
        format!(
            "{} merged with another one to the same next state, at their mean {what}: robust answers \
             will be others",
            counted(count, "transition is", "transitions are")
        )
    };
    (count > 0).then(lost)
}

fn averaged(model: &Model) -> Option<String> {
    let what = model.objective().noun();
    let lost = format!(
        "the {what}s of transitions become their mean under nominal probabilities: robust answers will be \
         others"
    );
    model.has_transition_costs().then_some(lost)
}

fn rewards(model: &Model) -> Option<String> {
    let what = model.objective().noun();
    let lost = || {
        format!(
            "all {what}s are lost: read again, to reach a terminal state has a reward of 1, and nothing else"
        )
    };
    reached(model).is_none().then(lost)
}

/// Terminal states that are not reached at a reward.
fn staying(model: &Model) -> Option<String> {
    let goals = reached(model)?;
    let count = (0..model.states()).filter(|&s| model.is_terminal(s) && !goals[s]).count();
    let lost = || {
        let changes = counted(
            count,
            "terminal state without a reward changes",
            "terminal states without a reward change",
        );
        format!("{changes} to staying")
    };
    (count > 0).then(lost)
}

fn intervals(model: &Model) -> Option<String> {
    let lost = "the intervals of probabilities are lost: nominal ones are written";
    model.has_intervals().then(|| lost.to_owned())
}

/// A reader of intervals alone chooses the nominal probabilities itself.
fn nominal(model: &Model) -> Option<String> {
    let differs = |r: usize| {
        let row = model.row(r);
        let Some(Bounds { lower, upper }) = row.bounds else { return false };
        let sums = [lower, upper].map(|bounds| bounds.iter().sum::<f64>());
        let share = ((1.0 - sums[0]) / (sums[1] - sums[0])).clamp(0.0, 1.0);
        let share = if share.is_nan() { 0.0 } else { share };
        let chosen = lower.iter().zip(upper).map(|(l, u)| l + share * (u - l));
        chosen.zip(row.prob).any(|(chosen, p)| (chosen - p).abs() > 1e-12)
    };
    let lost = "nominal probabilities are lost: readers choose them within the intervals";
    (0..model.rows()).any(differs).then(|| lost.to_owned())
}

fn unlisted_costs(model: &Model, file: &str) -> Option<String> {
    let (count, first, costs) = unlisted_costs_changed(model)?;
    let (rows, place) = (model.rows(), model.place(first));
    let [now, then] = costs.map(|c| model.objective().sign() * c + 0.0);
    let what = model.objective().noun();
    Some(format!(
        "the {what} of next states that are not listed changes in {count} of {rows} state-action \
         pairs ({place}: from {now:?} to {then:?}), because {file} does not keep an action's own apart \
         from those of its transitions: sets with support all will give other answers; .json and .npz keep it"
    ))
}

/// Where only transitions that may happen have costs, what others cost is found from these: their common
/// cost, or 0.
fn costs_off_transitions(model: &Model) -> Option<String> {
    let changes = |r: usize| {
        let row = model.row(r);
        let kept = possible(row);
        let first = kept.first().map_or(0.0, |e| e.further);
        let own = match kept.iter().all(|e| e.further == first) {
            true => row.cost + first,
            false => 0.0,
        };
        let lists_less = row.listed().count() > kept.len();
        lists_less || own != row.cost && row.first_unlisted(model.states()).is_some()
    };
    let count = (0..model.rows()).filter(|r| changes(*r)).count();
    let (what, rows) = (model.objective().noun(), model.rows());
    let lost = || {
        format!(
            "the {what} of next states of probability 0 changes in {count} of {rows} state-action pairs: \
             sets with support all will give other answers"
        )
    };
    (count > 0).then(lost)
}
