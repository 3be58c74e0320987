//! The one place where a model is checked.
//!
//! States come in order, each followed by its actions, each followed by its transitions. A row
//! is sorted by next state and cost, and its probabilities are made to sum to one. A next state
//! that is listed again at the same cost adds to its probability; at another cost it is kept apart,
//! because nature may move mass between the two. Such models are stored sparsely. A next state listed
//! with probability 0 is kept only where it carries a further cost or is one of several costs of that
//! state, which matters to sets that may leave the nominal support.
//!
//! Probabilities may have intervals l ≤ y ≤ u. Rows without nominal probabilities get l + θ(u − l), with the θ
//! at which they sum to one; other rows of such a model are intervals without width.

mod finish;
mod intervals;

use super::{Objective, distribution};
use crate::error::{Label, ModelError};

/// Builds a [`Model`](super::Model) state by state and checks it.
///
/// Costs and rewards are given in the user's own sign. The first mistake is kept and returned by
/// [`ModelBuilder::build`].
///
/// ```
/// use robust_mdp::ModelBuilder;
///
/// let model = ModelBuilder::new(0.9)
///     .state("good")
///     .action("run", 0.0, &[(0, 0.8), (1, 0.2)])
///     .state("worn")
///     .action("run", 1.0, &[(1, 0.7), (2, 0.3)])
///     .action("repair", 2.0, &[(0, 1.0)])
///     .terminal("scrapped")
///     .build()?;
/// assert_eq!((model.states(), model.rows()), (3, 3));
/// # Ok::<(), robust_mdp::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ModelBuilder {
    discount: Option<f64>,
    objective: Objective,
    initial: Option<Vec<f64>>,
    state_ptr: Vec<usize>,
    terminal: Vec<bool>,
    row_ptr: Vec<usize>,
    next: Vec<u32>,
    prob: Vec<f64>,
    cost: Vec<f64>,
    /// Made when the first nonzero further cost arrives.
    transition_cost: Option<Vec<f64>>,
    state_names: Option<Vec<String>>,
    action_names: Option<Vec<String>>,
    /// Bounds of the stored transitions; made when the first interval arrives.
    bounds: Option<[Vec<f64>; 2]>,
    /// Transitions of the latest row, in the order given.
    pending: Vec<Pending>,
    row_is_open: bool,
    /// Some row has a next state at several costs.
    repeats: bool,
    error: Option<ModelError>,
}

/// A transition as it was given.
#[derive(Clone, Copy, Debug)]
struct Pending {
    next: u32,
    /// NaN: to be chosen within its bounds.
    prob: f64,
    further: f64,
    lower: f64,
    upper: f64,
}

impl ModelBuilder {
    /// An empty model with discount factor λ.
    pub fn new(discount: f64) -> Self {
        ModelBuilder { discount: Some(discount), ..Self::undiscounted() }
    }

    /// An empty model whose discount factor is to come with [`ModelBuilder::set_discount`].
    pub fn undiscounted() -> Self {
        ModelBuilder {
            discount: None,
            objective: Objective::MinCost,
            initial: None,
            state_ptr: vec![0],
            terminal: Vec::new(),
            row_ptr: vec![0],
            next: Vec::new(),
            prob: Vec::new(),
            cost: Vec::new(),
            transition_cost: None,
            bounds: None,
            state_names: None,
            action_names: None,
            pending: Vec::new(),
            row_is_open: false,
            repeats: false,
            error: None,
        }
    }

    /// Sets what is optimised; it decides whether the numbers given are costs or rewards.
    pub fn objective(mut self, objective: Objective) -> Self {
        self.set_objective(objective);
        self
    }

    /// Sets the initial distribution p₀.
    pub fn initial(mut self, initial: Vec<f64>) -> Self {
        self.set_initial(Some(initial));
        self
    }

    /// Adds a named state.
    pub fn state(mut self, name: &str) -> Self {
        self.add_state(Some(name));
        self
    }

    /// Adds a named terminal state: no actions, value 0.
    pub fn terminal(mut self, name: &str) -> Self {
        self.add_state(Some(name));
        self.mark_terminal();
        self
    }

    /// Adds a named action with all its (next state, probability) pairs to the latest state.
    pub fn action(mut self, name: &str, cost: f64, next: &[(usize, f64)]) -> Self {
        self.add_action(Some(name), cost);
        next.iter().for_each(|&(to, p)| self.add_transition(to, p, 0.0));
        self
    }

    /// Sets the discount factor λ.
    pub fn set_discount(&mut self, discount: f64) {
        self.discount = Some(discount);
    }

    /// Sets what is optimised.
    pub fn set_objective(&mut self, objective: Objective) {
        self.objective = objective;
    }

    /// Sets or removes the initial distribution p₀.
    pub fn set_initial(&mut self, initial: Option<Vec<f64>>) {
        self.initial = initial;
    }

    /// Starts a new state and returns its number.
    pub fn add_state(&mut self, name: Option<&str>) -> usize {
        self.finish_row();
        let s = self.terminal.len();
        self.terminal.push(false);
        self.state_ptr.push(self.cost.len());
        if let Some(names) = &mut self.state_names {
            names.push(s.to_string());
        }
        if let Some(name) = name {
            self.name_state(name);
        }
        s
    }

    /// Names the latest state.
    pub fn name_state(&mut self, name: &str) {
        let states = self.terminal.len();
        let names = self.state_names.get_or_insert_with(|| numbers(states));
        if let Some(last) = names.last_mut() {
            *last = name.to_owned();
        }
    }

    /// Declares the latest state terminal: no actions, value 0.
    pub fn mark_terminal(&mut self) {
        match self.terminal.last_mut() {
            Some(terminal) => *terminal = true,
            None => self.fail(ModelError::ActionBeforeState),
        }
    }

    /// Starts a new action of the latest state.
    pub fn add_action(&mut self, name: Option<&str>, cost: f64) {
        self.finish_row();
        if self.terminal.is_empty() {
            return self.fail(ModelError::ActionBeforeState);
        }
        self.cost.push(cost + 0.0);
        *self.state_ptr.last_mut().expect("starts with one entry") = self.cost.len();
        self.name_action(name);
        self.row_is_open = true;
        if !cost.is_finite() {
            let (state, action) = self.latest();
            self.fail(ModelError::CostNotFinite { state, action, next: None, value: cost });
        }
    }

    /// Adds a transition to the latest action, with a further cost on top of the action's own.
    pub fn add_transition(&mut self, next: usize, prob: f64, further_cost: f64) {
        if !self.row_is_open {
            let s = self.terminal.len();
            return self.fail(match s {
                0 => ModelError::ActionBeforeState,
                _ => ModelError::TransitionBeforeAction { state: self.state_label(s - 1) },
            });
        }
        if let Some(error) = self.transition_error(next, prob, further_cost) {
            return self.fail(error);
        }
        self.pending.push(Pending {
            next: next as u32,
            prob: prob + 0.0,
            further: further_cost + 0.0,
            lower: prob + 0.0,
            upper: prob + 0.0,
        });
    }

    /// The first mistake so far, in what is complete.
    pub fn error(&self) -> Option<&ModelError> {
        self.error.as_ref()
    }

    /// Ends the latest action early, so that [`ModelBuilder::error`] speaks of it too.
    pub fn finish_row(&mut self) {
        if !std::mem::take(&mut self.row_is_open) {
            return;
        }
        let start = self.prob.len();
        let mut pending = std::mem::take(&mut self.pending);
        merge(&mut pending);
        self.choose_nominal(&mut pending);
        // What has neither probability nor a further cost says nothing, unless its next state has
        // another cost too: then nature may choose between the two.
        let same = |k: usize, l: usize| pending.get(l).is_some_and(|e| e.next == pending[k].next);
        for (k, entry) in pending.iter().enumerate() {
            let again = k > 0 && same(k, k - 1) || same(k, k + 1);
            self.repeats |= again;
            if entry.prob > 0.0 || entry.upper > 0.0 || entry.further != 0.0 || again {
                self.store(*entry);
            }
        }
        pending.clear();
        self.pending = pending;
        self.row_ptr.push(self.prob.len());
        if let Err(sum) = distribution::normalise(&mut self.prob[start..]) {
            let (state, action) = self.latest();
            self.fail(ModelError::RowSum { state, action, sum });
        }
        self.enclose(start);
    }

    fn transition_error(&self, next: usize, prob: f64, further: f64) -> Option<ModelError> {
        let usable = prob == 0.0 || (LEAST_PROBABILITY..f64::INFINITY).contains(&prob);
        if next < u32::MAX as usize && usable && further.is_finite() {
            return None;
        }
        let (state, action) = self.latest();
        Some(if next >= u32::MAX as usize {
            ModelError::NextOutOfRange { state, action, next, states: u32::MAX as usize }
        } else if !usable {
            ModelError::Probability { state, action, next, value: prob }
        } else {
            ModelError::CostNotFinite { state, action, next: Some(next), value: further }
        })
    }

    fn store(&mut self, Pending { next, prob, further, lower, upper }: Pending) {
        if further != 0.0 && self.transition_cost.is_none() {
            self.transition_cost = Some(vec![0.0; self.prob.len()]);
        }
        if let Some(costs) = &mut self.transition_cost {
            costs.push(further);
        }
        if let Some(bounds) = &mut self.bounds {
            bounds.iter_mut().zip([lower, upper]).for_each(|(bounds, bound)| bounds.push(bound));
        }
        self.next.push(next);
        self.prob.push(prob);
    }

    fn name_action(&mut self, name: Option<&str>) {
        if name.is_some() && self.action_names.is_none() {
            let count = |s: usize| self.state_ptr[s + 1] - self.state_ptr[s];
            let mut names: Vec<String> =
                (0..self.terminal.len()).flat_map(|s| numbers(count(s))).collect();
            names.pop();
            self.action_names = Some(names);
        }
        let s = self.terminal.len() - 1;
        let number = self.cost.len() - 1 - self.state_ptr[s];
        if let Some(names) = &mut self.action_names {
            names.push(name.map_or_else(|| number.to_string(), str::to_owned));
        }
    }

    fn fail(&mut self, error: ModelError) {
        self.error.get_or_insert(error);
    }

    fn state_label(&self, s: usize) -> Label {
        Label { index: s, name: self.state_names.as_ref().map(|names| names[s].as_str().into()) }
    }

    fn labels(&self, s: usize, r: usize) -> (Label, Label) {
        let name = self.action_names.as_ref().map(|names| names[r].as_str().into());
        (self.state_label(s), Label { index: r - self.state_ptr[s], name })
    }

    fn latest(&self) -> (Label, Label) {
        self.labels(self.terminal.len() - 1, self.cost.len() - 1)
    }
}

/// Smaller positive probabilities lose their digits to underflow, and mean nothing.
const LEAST_PROBABILITY: f64 = 1e-300;

/// Refuses a discount factor outside [0,1].
pub(crate) fn check_discount(value: f64) -> Result<(), ModelError> {
    match (0.0..=1.0).contains(&value) {
        true => Ok(()),
        false => Err(ModelError::Discount { value }),
    }
}

fn numbers(n: usize) -> Vec<String> {
    (0..n).map(|i| i.to_string()).collect()
}

/// Sorts by next state and cost, and merges what is the same in both.
fn merge(row: &mut Vec<Pending>) {
    let ascends = |pair: &[Pending]| pair[0].next < pair[1].next;
    if row.windows(2).all(ascends) {
        return;
    }
    row.sort_by(|a, b| a.next.cmp(&b.next).then(a.further.total_cmp(&b.further)));
    row.dedup_by(|again, kept| {
        let same = (again.next, again.further) == (kept.next, kept.further);
        if same {
            kept.prob += again.prob;
            kept.lower += again.lower;
            kept.upper += again.upper;
        }
        same
    });
}

#[cfg(test)]
mod tests;
