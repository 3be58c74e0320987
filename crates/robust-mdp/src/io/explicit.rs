//! Models of the probabilistic model checkers, whatever their files: states with labels, rows of
//! probabilities or intervals, and rewards, gathered before they become a model. Labels may say that a
//! state is to be reached, after the transitions into it have been read.

use std::path::Path;

use super::labels::Labels;
use super::{model_error, parse_error, rounded, terminal_warning};
use crate::error::{Error, ModelError};
use crate::model::{Model, ModelBuilder, Objective};

/// States, rows and transitions in order.
pub(super) struct Explicit {
    /// The first row of every state, and of every row its own reward and its name.
    states: Vec<usize>,
    rows: Vec<Row>,
    to: Vec<u32>,
    /// Probabilities, or the lower ends of their intervals.
    prob: Vec<f64>,
    /// The upper ends, from the first interval on; NaN where there is none.
    upper: Vec<f64>,
    /// Rewards of transitions, from the first that is not 0 on.
    reward: Vec<f64>,
    lines: Vec<u32>,
    /// Names of states.
    pub(super) names: Option<Vec<String>>,
}

struct Row {
    /// The first transition.
    start: usize,
    name: Option<String>,
    reward: f64,
}

/// A transition as a line gives it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed {
    pub(super) to: usize,
    /// A probability, or the lower end of its interval.
    pub(super) prob: f64,
    pub(super) upper: Option<f64>,
    pub(super) reward: f64,
    pub(super) line: u64,
}

impl Explicit {
    pub(super) fn new() -> Explicit {
        Explicit {
            states: Vec::new(),
            rows: Vec::new(),
            to: Vec::new(),
            prob: Vec::new(),
            upper: Vec::new(),
            reward: Vec::new(),
            lines: Vec::new(),
            names: None,
        }
    }

    /// How many there are.
    pub(super) fn states(&self) -> usize {
        self.states.len()
    }

    /// How many choices there are.
    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// How many there are.
    pub(super) fn transitions(&self) -> usize {
        self.to.len()
    }

    /// The largest number of a state, as far as is known.
    pub(super) fn largest(&self) -> usize {
        let next = self.to.iter().max().map_or(0, |to| *to as usize);
        next.max(self.states.len().saturating_sub(1))
    }

    /// Adds states until there are so many; refuses numbers that are out of all proportion.
    pub(super) fn add_states(&mut self, count: usize) -> Result<(), String> {
        if count > 10 * self.to.len() + 1_000_000 {
            let transitions = self.to.len();
            return Err(format!(
                "{count} states among only {transitions} transitions, expected fewer"
            ));
        }
        self.states.resize(self.states.len().max(count), self.rows.len());
        Ok(())
    }

    /// Adds a choice to the latest state.
    pub(super) fn add_row(&mut self, name: Option<String>, reward: f64) {
        self.rows.push(Row { start: self.to.len(), name, reward });
    }

    /// How many choices the latest state has.
    pub(super) fn rows_of_latest(&self) -> usize {
        self.states.last().map_or(0, |start| self.rows.len() - start)
    }

    /// Adds a transition to the latest choice.
    pub(super) fn add(&mut self, listed: Listed) {
        let count = self.to.len();
        if let Some(upper) = listed.upper {
            self.upper.resize(count, f64::NAN);
            self.upper.push(upper);
        }
        if listed.reward != 0.0 {
            self.reward.resize(count, 0.0);
            self.reward.push(listed.reward);
        }
        self.to.push(listed.to as u32);
        self.prob.push(listed.prob);
        self.lines.push(listed.line.try_into().unwrap_or(u32::MAX));
    }

    /// The model, with what it took for granted. Where labels say what is to be reached, these states are
    /// terminal, and a transition into one of them has reward 1 and all else has none.
    pub(super) fn into_model(
        mut self,
        path: &Path,
        discount: Option<f64>,
        objective: Objective,
        labels: &Labels<'_>,
    ) -> Result<(Model, Vec<String>), Error> {
        let discount =
            discount.ok_or_else(|| model_error(path, None, ModelError::MissingDiscount))?;
        let states = self.states();
        self.upper.resize(self.to.len(), f64::NAN);
        let rounded = rounded::warning(self.rescale(), self.rows.len());
        self.reward.resize(self.to.len(), 0.0);
        let goal = labels.goal(states).map_err(|wrong| parse_error(path, None, wrong))?;
        let ends = labels.ends(states);
        let goal = goal.as_deref();
        let is_goal = |s: usize| goal.is_some_and(|goal| goal[s]);
        let mut builder = ModelBuilder::new(discount).objective(objective);
        builder.set_initial(labels.initial(states));
        let mut terminal = Vec::new();
        for s in 0..states {
            builder
                .add_state(self.names.as_ref().and_then(|names| names.get(s)).map(String::as_str));
            let rows = self.states[s]..self.states.get(s + 1).copied().unwrap_or(self.rows.len());
            if rows.is_empty() && !is_goal(s) {
                terminal.push(s);
            }
            if rows.is_empty() || is_goal(s) || ends[s] && self.only_stays(s, rows.clone()) {
                builder.mark_terminal();
                continue;
            }
            for r in rows {
                self.feed(&mut builder, r, goal);
            }
            if builder.error().is_some() {
                break;
            }
        }
        let model = builder.build().map_err(|e| model_error(path, self.line_of(&e), e))?;
        let warnings = [rounded, labels.warning(), terminal_warning(&terminal)];
        Ok((model, warnings.into_iter().flatten().collect()))
    }

    /// Makes rows that were rounded to few digits sum to one; returns how many there are.
    fn rescale(&mut self) -> usize {
        let mut changed = 0;
        for r in 0..self.rows.len() {
            let span = self.span(r);
            let (prob, upper) = (&mut self.prob[span.clone()], &mut self.upper[span]);
            let plain = upper.iter().filter(|u| u.is_nan()).count();
            changed += usize::from(match plain {
                0 => rounded::widen(prob, upper),
                n if n == upper.len() => rounded::rescale(prob),
                // What stands beside intervals has no width.
                _ => false,
            });
        }
        changed
    }

    fn span(&self, r: usize) -> std::ops::Range<usize> {
        self.rows[r].start..self.rows.get(r + 1).map_or(self.to.len(), |next| next.start)
    }

    /// Whether all that a state can do is to stay, at no reward.
    fn only_stays(&self, s: usize, mut rows: std::ops::Range<usize>) -> bool {
        rows.len() == 1
            && rows.all(|r| {
                let stays = |k: usize| self.to[k] as usize == s && self.reward[k] == 0.0;
                self.rows[r].reward == 0.0 && self.span(r).len() == 1 && self.span(r).all(stays)
            })
    }

    /// Gives a row to the builder.
    fn feed(&self, builder: &mut ModelBuilder, r: usize, goal: Option<&[bool]>) {
        let (row, span) = (&self.rows[r], self.span(r));
        let rewards = &self.reward[span.clone()];
        // A reward that all transitions share is the action's own.
        let shared = rewards.first().copied().filter(|first| rewards.iter().all(|x| x == first));
        let own = match goal {
            Some(_) => 0.0,
            None => row.reward + shared.unwrap_or(0.0),
        };
        builder.add_action(row.name.as_deref(), own);
        for k in span {
            let to = self.to[k] as usize;
            let further = match (goal, shared) {
                (Some(goal), _) => f64::from(u8::from(goal.get(to) == Some(&true))),
                (None, Some(_)) => 0.0,
                (None, None) => self.reward[k],
            };
            match self.upper[k].is_nan() {
                true => builder.add_transition(to, self.prob[k], further),
                false => builder.add_interval(to, None, [self.prob[k], self.upper[k]], further),
            }
        }
        builder.finish_row();
    }

    /// The line to blame for `error`: of the transition, or the first of the action or state.
    fn line_of(&self, error: &ModelError) -> Option<u64> {
        let (state, action) = error.place()?;
        let r = self.states.get(state)? + action.unwrap_or(0);
        let mut span = if r < self.rows.len() { self.span(r) } else { return None };
        let first = span.start;
        let at_fault = |k: &usize| Some(self.to[*k] as usize) == error.next();
        let k = span.find(at_fault).unwrap_or(first);
        self.lines.get(k).map(|line| u64::from(*line))
    }
}
