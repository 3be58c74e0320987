//! Labels of states, as probabilistic model checkers have them. Three mean something to a model: `init`
//! gives the initial distribution, `deadlock` marks states that can only stay because they had no choice,
//! and any may be asked for as what is to be reached. Others are told, and not kept.

use std::collections::BTreeMap;

/// Label of the initial states.
pub(super) const INITIAL: &str = "init";
/// Label of states that only stay because they had no choice.
pub(super) const END: &str = "deadlock";

/// Labels being read.
pub(super) struct Labels<'o> {
    /// Those that are to be reached.
    reach: &'o [String],
    initial: Vec<usize>,
    ends: Vec<usize>,
    goal: Vec<usize>,
    /// All that were declared or met, with the number of their states.
    met: BTreeMap<String, usize>,
}

impl<'o> Labels<'o> {
    pub(super) fn new(reach: &'o [String]) -> Labels<'o> {
        let none = Vec::new();
        Labels {
            reach,
            initial: none.clone(),
            ends: none.clone(),
            goal: none,
            met: BTreeMap::new(),
        }
    }

    /// Whether states are to be reached.
    pub(super) fn is_goal_wanted(&self) -> bool {
        !self.reach.is_empty()
    }

    /// There is such a label, perhaps on no state.
    pub(super) fn declare(&mut self, label: &str) {
        if !self.met.contains_key(label) {
            self.met.insert(label.to_owned(), 0);
        }
    }

    /// State `s` has a label.
    pub(super) fn add(&mut self, s: usize, label: &str) {
        self.declare(label);
        self.met.entry(label.to_owned()).and_modify(|count| *count += 1);
        match label {
            INITIAL => self.initial.push(s),
            END => self.ends.push(s),
            _ => {}
        }
        if self.reach.iter().any(|wanted| wanted == label) {
            self.goal.push(s);
        }
    }

    /// Which states are to be reached, if that was asked for.
    pub(super) fn goal(&self, states: usize) -> Result<Option<Vec<bool>>, String> {
        if let Some(unknown) = self.reach.iter().find(|label| !self.met.contains_key(*label)) {
            let mut known: Vec<&str> = self.met.keys().map(String::as_str).take(11).collect();
            if known.len() > 10 {
                known[10] = "…";
            }
            let expected = match known.is_empty() {
                true => "there are none".to_owned(),
                false => format!("expected one of {}", known.join(", ")),
            };
            return Err(format!("no label “{unknown}” to be reached, {expected}"));
        }
        Ok((!self.reach.is_empty()).then(|| marked(states, &self.goal)))
    }

    /// Which states only stay because they had no choice.
    pub(super) fn ends(&self, states: usize) -> Vec<bool> {
        marked(states, &self.ends)
    }

    /// Evenly over the initial states; none where there are none, or all are.
    pub(super) fn initial(&self, states: usize) -> Option<Vec<f64>> {
        let marks = marked(states, &self.initial);
        let count = marks.iter().filter(|mark| **mark).count();
        let share = |mark: &bool| if *mark { 1.0 / count as f64 } else { 0.0 };
        (count > 0 && count < states).then(|| marks.iter().map(share).collect())
    }

    /// Labels of states that the model does not keep.
    pub(super) fn warning(&self) -> Option<String> {
        let used = |label: &str| {
            [INITIAL, END].contains(&label) || self.reach.iter().any(|wanted| wanted == label)
        };
        let lost = self.met.iter().filter(|(label, count)| **count > 0 && !used(label));
        let mut names: Vec<String> = lost.map(|(label, _)| format!("“{label}”")).collect();
        if names.len() > 5 {
            names.truncate(5);
            names.push("…".into());
        }
        let many = if names.len() == 1 { "label" } else { "labels" };
        (!names.is_empty())
            .then(|| format!("{many} of states that the model does not keep: {}", names.join(", ")))
    }
}

fn marked(states: usize, which: &[usize]) -> Vec<bool> {
    let mut marks = vec![false; states];
    which.iter().filter(|s| **s < states).for_each(|&s| marks[s] = true);
    marks
}
