//! What a format cannot hold of a model, and what that changes.

use super::Format;
use super::craam_csv::{action_ids, unlisted_costs_changed};
use crate::model::Model;
use crate::sets::Distance;

/// What of `model` is lost in a file of this format, to be shown as warnings.
pub fn losses(model: &Model, format: Format) -> Vec<String> {
    match format {
        Format::Json => Vec::new(),
        Format::Npz => names(model, format).collect(),
        Format::Csv => names(model, format)
            .chain(discount(model))
            .chain(initial(model))
            .chain(unlisted_costs(model))
            .collect(),
    }
}

fn names(model: &Model, format: Format) -> impl Iterator<Item = String> {
    let states = 0..model.states();
    let named = states.clone().any(|s| model.state_name(s) != s.to_string());
    // CSV keeps numbers, gaps among them included.
    let kept = |s: usize| {
        let numbers = match format {
            Format::Csv => action_ids(model, s),
            Format::Json | Format::Npz => (0..model.rows_of(s).len() as u32).collect(),
        };
        let mut numbered = model.rows_of(s).zip(numbers);
        numbered.all(|(r, number)| model.action_name(s, r) == number.to_string())
    };
    let actions_named = !states.into_iter().all(kept);
    let of_states = named.then(|| "names of states are lost: only .json keeps them".to_owned());
    let of_actions =
        actions_named.then(|| "names of actions are lost: only .json keeps them".to_owned());
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
    let lost = "the initial distribution is lost: a CSV model starts uniformly";
    model.initial().map(|_| lost.to_owned())
}

fn unlisted_costs(model: &Model) -> Option<String> {
    let (count, first, costs) = unlisted_costs_changed(model)?;
    let (rows, place) = (model.rows(), model.place(first));
    let [now, then] = costs.map(|c| model.objective().sign() * c + 0.0);
    let what = model.objective().noun();
    let leaves = |d: &&Distance| d.set().is_some_and(|set| set.leaves_support());
    let sets: Vec<&str> = Distance::ALL.iter().filter(leaves).map(|d| d.title()).collect();
    let sets = sets.join(", ");
    Some(format!(
        "the {what} of next states that are not listed changes in {count} of {rows} state-action \
         pairs ({place}: from {now:?} to {then:?}), because CSV does not keep an action's own apart \
         from those of its transitions: sets that may leave the nominal support ({sets} on \
         support all) will give other answers; .json and .npz keep it"
    ))
}
