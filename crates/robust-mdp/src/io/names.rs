//! States and actions as users write them: by name where the model has names, else by number.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::model::Model;

/// Looks states and actions up; names come before numbers.
pub(super) struct Names<'m> {
    model: &'m Model,
    /// `None` marks a name that several states share.
    states: HashMap<&'m str, Option<usize>>,
}

impl<'m> Names<'m> {
    pub(super) fn new(model: &'m Model) -> Self {
        let mut states = HashMap::new();
        for (s, name) in model.state_names.iter().flatten().enumerate() {
            states.entry(name.as_str()).and_modify(|at| *at = None).or_insert(Some(s));
        }
        Names { model, states }
    }

    pub(super) fn state(&self, text: &str) -> Result<usize, String> {
        match self.states.get(text) {
            Some(Some(s)) => return Ok(*s),
            Some(None) => return Err(format!("several states are named “{text}”, use numbers")),
            None => {}
        }
        let top = self.model.states() - 1;
        let number = text.parse().ok().filter(|&s: &usize| s <= top);
        number.ok_or_else(|| {
            let name = match self.states.is_empty() {
                true => "",
                false => "a state's name or ",
            };
            match top {
                0 => format!("no state “{text}”, expected {name}0"),
                _ => format!("no state “{text}”, expected {name}a number from 0 to {top}"),
            }
        })
    }

    /// The row of an action of state `s`.
    pub(super) fn row(&self, s: usize, text: &str) -> Result<usize, String> {
        let rows = self.model.rows_of(s);
        if let Some(names) = &self.model.action_names {
            let mut named = rows.clone().filter(|&r| names[r] == text);
            if let Some(r) = named.next() {
                return match named.next() {
                    None => Ok(r),
                    Some(_) => Err(format!("several actions are named “{text}”, use numbers")),
                };
            }
        }
        let number = text.parse().ok().filter(|&a: &usize| a < rows.len());
        number.map(|a| rows.start + a).ok_or_else(|| {
            let state = self.place(s, None);
            let expected = self.actions_in_words(s);
            format!("{state} has no action “{text}”, expected {expected}")
        })
    }

    /// “one of “run”, “wait””, naming at most five.
    fn actions_in_words(&self, s: usize) -> String {
        let rows = self.model.rows_of(s);
        let name = |r| format!("“{}”", self.model.action_name(s, r));
        let first: Vec<String> = rows.clone().take(5).map(name).collect();
        match rows.len() {
            0 => "none: the state is terminal".into(),
            1 => first.concat(),
            2..=5 => format!("one of {}", first.join(", ")),
            _ => format!("one of {}, …", first.join(", ")),
        }
    }

    /// “state “ok”, action “run””, as the user may write them.
    pub(super) fn place(&self, s: usize, row: Option<usize>) -> String {
        let state = self.state_text(s);
        match row {
            Some(r) => format!("state “{state}”, action “{}”", self.action_text(s, r)),
            None => format!("state “{state}”"),
        }
    }

    /// How to write state `s` so that it is found again.
    pub(super) fn state_text(&self, s: usize) -> Cow<'m, str> {
        let name = self.model.state_name(s);
        match self.states.get(name.as_ref()) {
            Some(None) => Cow::Owned(s.to_string()),
            _ => name,
        }
    }

    /// How to write the action of row `r` so that it is found again.
    pub(super) fn action_text(&self, s: usize, r: usize) -> Cow<'m, str> {
        let name = self.model.action_name(s, r);
        match self.row(s, &name) {
            Ok(_) => name,
            Err(_) => Cow::Owned((r - self.model.rows_of(s).start).to_string()),
        }
    }
}
