//! The Markov decision process: states → actions → transitions, validated once.
//!
//! A model holds the nominal kernel y⁰, the costs and the discount λ. Every state `s` owns a
//! contiguous range of *rows*, one per action; a row is a probability distribution over next
//! states with an immediate cost `c(s,a)` and, optionally, a further cost `c(s,a,s')` on each
//! stored transition. A state without rows is terminal: its value is 0.
//!
//! Rewards are negated when they enter, so that everything inside the library minimises.

mod builder;
mod costs;
pub(crate) mod distribution;
mod fingerprint;
mod row;
mod unlisted;

pub use builder::ModelBuilder;
pub(crate) use builder::check_discount;
pub use distribution::SUM_TOLERANCE;
pub(crate) use fingerprint::checksum;
pub(crate) use row::Leads;
pub use row::{Bounds, NominalRow};

use std::borrow::Cow;
use std::ops::Range;

use crate::error::ModelError;

/// What the decision maker optimises, and hence the sign in which values are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Objective {
    /// Minimise the expected discounted cost.
    #[default]
    MinCost,
    /// Maximise the expected discounted reward (stored as negative cost).
    MaxReward,
}

impl Objective {
    /// +1 for costs, −1 for rewards: internal value × sign = the user's value.
    pub fn sign(self) -> f64 {
        match self {
            Objective::MinCost => 1.0,
            Objective::MaxReward => -1.0,
        }
    }

    /// What steps are counted in.
    pub fn noun(self) -> &'static str {
        match self {
            Objective::MinCost => "cost",
            Objective::MaxReward => "reward",
        }
    }

    /// As files name it.
    pub fn name(self) -> &'static str {
        match self {
            Objective::MinCost => "min-cost",
            Objective::MaxReward => "max-reward",
        }
    }
}

/// Rows of the kernel, all dense or all sparse.
///
/// Dense rows carry no indices: entry `i` of a row is the probability of next state `i`.
/// The builder stores a model densely when at least a third of its entries are positive and no row
/// has a next state at several costs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Storage {
    Dense,
    Sparse { row_ptr: RowStarts, next: Vec<u32> },
}

/// Where sparse rows begin, in half the memory wherever that is enough.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RowStarts {
    Short(Vec<u32>),
    Long(Vec<usize>),
}

impl RowStarts {
    /// From ascending starts, the end of the last row included.
    pub(crate) fn new(starts: Vec<usize>) -> RowStarts {
        match starts.last() {
            Some(&end) if u32::try_from(end).is_err() => RowStarts::Long(starts),
            _ => RowStarts::Short(starts.iter().map(|&start| start as u32).collect()),
        }
    }

    #[inline]
    fn span(&self, r: usize) -> Range<usize> {
        match self {
            RowStarts::Short(starts) => starts[r] as usize..starts[r + 1] as usize,
            RowStarts::Long(starts) => starts[r]..starts[r + 1],
        }
    }
}

/// A validated Markov decision process. Build one with [`ModelBuilder`].
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub(crate) discount: f64,
    pub(crate) objective: Objective,
    /// Rows of state `s`: `state_ptr[s]..state_ptr[s + 1]`.
    pub(crate) state_ptr: Vec<usize>,
    pub(crate) storage: Storage,
    pub(crate) prob: Vec<f64>,
    /// One cost a row.
    pub(crate) cost: Vec<f64>,
    /// One further cost a stored transition, where the cost depends on the next state.
    pub(crate) transition_cost: Option<Vec<f64>>,
    /// Least and largest probability of each stored transition, of models with intervals.
    pub(crate) bounds: Option<[Vec<f64>; 2]>,
    pub(crate) initial: Option<Vec<f64>>,
    pub(crate) state_names: Option<Vec<String>>,
    /// One name a row.
    pub(crate) action_names: Option<Vec<String>>,
    /// What costs amount to, where they depend on the next state.
    pub(crate) facts: Option<costs::Facts>,
}

impl Model {
    /// Number of states S, terminal ones included.
    pub fn states(&self) -> usize {
        self.state_ptr.len() - 1
    }

    /// Number of state–action pairs.
    pub fn rows(&self) -> usize {
        self.cost.len()
    }

    /// Number of stored transitions (dense rows store all S of them).
    pub fn transitions(&self) -> usize {
        self.prob.len()
    }

    /// Number of transitions of positive probability.
    pub fn positive_transitions(&self) -> usize {
        self.prob.iter().filter(|&&p| p > 0.0).count()
    }

    /// The rows (one per action) of state `s`.
    pub fn rows_of(&self, s: usize) -> Range<usize> {
        self.state_ptr[s]..self.state_ptr[s + 1]
    }

    /// Row `r`: nominal probabilities, next states and costs.
    #[inline]
    pub fn row(&self, r: usize) -> NominalRow<'_> {
        let span = self.span(r);
        NominalRow {
            first: span.start,
            prob: &self.prob[span.clone()],
            next: match &self.storage {
                Storage::Dense => None,
                Storage::Sparse { next, .. } => Some(&next[span.clone()]),
            },
            cost: self.cost[r],
            transition_cost: self.transition_cost.as_ref().map(|c| &c[span.clone()]),
            bounds: self
                .bounds
                .as_ref()
                .map(|[lower, upper]| Bounds { lower: &lower[span.clone()], upper: &upper[span] }),
        }
    }

    /// Where row `r` lies in the flat arrays of transitions.
    #[inline]
    pub fn span(&self, r: usize) -> Range<usize> {
        match &self.storage {
            Storage::Dense => r * self.states()..(r + 1) * self.states(),
            Storage::Sparse { row_ptr, .. } => row_ptr.span(r),
        }
    }

    /// Entries of the widest row.
    pub(crate) fn width(&self) -> usize {
        let rows = if self.is_dense() { self.rows().min(1) } else { self.rows() };
        (0..rows).map(|r| self.span(r).len()).max().unwrap_or(0)
    }

    /// Whether rows are stored densely, without indices.
    pub fn is_dense(&self) -> bool {
        matches!(self.storage, Storage::Dense)
    }

    /// How many transitions lead to a next state that their row lists before, at another cost. Nature
    /// may move mass between the two.
    pub fn repeated_transitions(&self) -> usize {
        let Storage::Sparse { next, .. } = &self.storage else { return 0 };
        if self.transition_cost.is_none() {
            return 0;
        }
        let repeated = |r: usize| next[self.span(r)].windows(2).filter(|p| p[0] == p[1]).count();
        (0..self.rows()).map(repeated).sum()
    }

    /// Whether state `s` has no actions; its value is then 0.
    pub fn is_terminal(&self, s: usize) -> bool {
        self.rows_of(s).is_empty()
    }

    /// The farthest that a stored transition of a sparse model leads from its state, in numbers of
    /// states.
    pub(crate) fn reach(&self) -> usize {
        let farthest = |s: usize| {
            // Next states are in order: the ends tell.
            let rows = self.rows_of(s).filter_map(|r| self.row(r).next);
            let ends = rows.flat_map(|next| [next.first(), next.last()]).flatten();
            ends.map(|&i| s.abs_diff(i as usize)).max().unwrap_or(0)
        };
        (0..self.states()).map(farthest).max().unwrap_or(0)
    }

    /// Whether some cost depends on the next state.
    pub fn has_transition_costs(&self) -> bool {
        self.transition_cost.is_some()
    }

    /// Whether probabilities have intervals, within which the nominal ones lie.
    pub fn has_intervals(&self) -> bool {
        self.bounds.is_some()
    }

    /// Bounds of all stored transitions, where they have any.
    pub fn intervals(&self) -> Option<Bounds<'_>> {
        self.bounds.as_ref().map(|[lower, upper]| Bounds { lower, upper })
    }

    /// The discount factor λ in [0, 1]; at 1 costs do not lose weight over time.
    pub fn discount(&self) -> f64 {
        self.discount
    }

    /// The same model with another discount factor.
    pub fn with_discount(mut self, discount: f64) -> Result<Model, ModelError> {
        builder::check_discount(discount)?;
        self.discount = discount;
        Ok(self)
    }

    /// Every step costs 1, but in states where all is `over`.
    pub(crate) fn count_steps(&mut self, over: &[bool]) {
        for s in 0..self.states() {
            let rows = self.rows_of(s);
            self.cost[rows].fill(if over[s] { 0.0 } else { 1.0 });
        }
        self.transition_cost = None;
        self.objective = Objective::MinCost;
        self.refresh_facts();
    }

    /// Turns costs into rewards and back: every cost changes its sign, inside and outside.
    pub(crate) fn negate(&mut self) {
        let negate = |c: &mut Vec<f64>| c.iter_mut().for_each(|c| *c = 0.0 - *c);
        negate(&mut self.cost);
        self.transition_cost.iter_mut().for_each(negate);
        self.objective = match self.objective {
            Objective::MinCost => Objective::MaxReward,
            Objective::MaxReward => Objective::MinCost,
        };
        self.refresh_facts();
    }

    /// Minimise cost or maximise reward.
    pub fn objective(&self) -> Objective {
        self.objective
    }

    /// The initial distribution p₀, if the model has one; uniform is meant otherwise.
    pub fn initial(&self) -> Option<&[f64]> {
        self.initial.as_deref()
    }

    /// Expectation of `values` under p₀ (the plain mean when the model has none).
    pub fn initial_mean(&self, values: &[f64]) -> f64 {
        match &self.initial {
            // Where it never starts nothing may be known.
            Some(p) => p.iter().zip(values).filter(|(p, _)| **p > 0.0).map(|(p, v)| p * v).sum(),
            None => values.iter().sum::<f64>() / values.len() as f64,
        }
    }

    /// The state's name, or its number.
    pub fn state_name(&self, s: usize) -> Cow<'_, str> {
        match &self.state_names {
            Some(names) => Cow::Borrowed(&names[s]),
            None => Cow::Owned(s.to_string()),
        }
    }

    /// The name of the action of row `r`, or its number within its state.
    pub fn action_name(&self, s: usize, r: usize) -> Cow<'_, str> {
        match &self.action_names {
            Some(names) => Cow::Borrowed(&names[r]),
            None => Cow::Owned((r - self.state_ptr[s]).to_string()),
        }
    }

    /// “state 3, action 1” of row `r`, by name where there are names.
    pub(crate) fn place(&self, r: usize) -> String {
        let s = self.state_ptr.partition_point(|&start| start <= r) - 1;
        format!("state {}, action {}", self.state_name(s), self.action_name(s, r))
    }
}

/// Least and largest of numbers, side by side.
pub(crate) fn range(x: &[f64]) -> (f64, f64) {
    let wider = |(low, high): (f64, f64), x: f64| {
        (if x < low { x } else { low }, if x > high { x } else { high })
    };
    let (parts, rest) = x.as_chunks::<8>();
    let mut found = [(f64::INFINITY, f64::NEG_INFINITY); 8];
    for part in parts {
        found.iter_mut().zip(part).for_each(|(m, &x)| *m = wider(*m, x));
    }
    let ends = found.iter().flat_map(|&(low, high)| [low, high]);
    ends.filter(|x| x.is_finite()).chain(rest.iter().copied()).fold(found[0], wider)
}

/// The largest |x|, of numbers.
pub(crate) fn largest(x: &[f64]) -> f64 {
    let larger = |m: f64, x: f64| if x.abs() > m { x.abs() } else { m };
    let (parts, rest) = x.as_chunks::<8>();
    let mut most = [0.0; 8];
    for part in parts {
        most.iter_mut().zip(part).for_each(|(m, &x)| *m = larger(*m, x));
    }
    most.iter().chain(rest).fold(0.0, |m, &x| larger(m, x))
}
