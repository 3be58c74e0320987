//! An uncertainty set of a model: a distance, its budgets, who owns them and where mass may go.
//!
//! An s-rectangular set gives every state one budget that its rows share,
//! P_s = { (y_a)_a : Σ_a κ_a·d(y_a, p_a) ≤ α_s }; an (s,a)-rectangular set gives every row its own. Radius 0
//! is the nominal model.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::data::{DataSource, EntryData, EntryWeights, GatheredData, Ground, Needs};
use super::registry::Distance;
use super::told::Scenarios;
use crate::error::Error;
use crate::geometry::Geometry;
use crate::model::{Leads, Model};

/// Who owns a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Rectangularity {
    /// One budget a state, shared by its actions.
    #[default]
    #[serde(rename = "s")]
    State,
    /// One budget a state–action pair.
    #[serde(rename = "sa")]
    StateAction,
}

/// Where a row may put probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Support {
    /// Only on next states of positive nominal probability.
    Nominal,
    /// On every state.
    All,
}

/// Budgets, all ≥ 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Radius {
    /// The same for every state (or row).
    Uniform(f64),
    /// One a state; an (s,a)-rectangular set gives it to each of the state's rows.
    PerState(Vec<f64>),
    /// One a row, for (s,a)-rectangular sets.
    PerRow(Vec<f64>),
}

/// An uncertainty set around the nominal kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct UncertaintySet {
    /// The distance that the budget bounds.
    pub distance: Distance,
    /// Budgets.
    pub radius: Radius,
    /// One budget a state or one a row.
    pub rectangularity: Rectangularity,
    /// Where rows may put mass; some distances keep to the nominal support by their definition.
    pub support: Support,
    /// κ of the rows of a shared budget, Σ_a κ_a·d(y_a, p_a) ≤ α, one a state–action pair; `None`: 1.
    pub weights: Option<Vec<f64>>,
    /// Weights of the entries, for sets of weighted norms; `None`: 1.
    pub entry_weights: Option<Arc<EntryWeights>>,
    /// What it costs to move mass, for sets of transport.
    pub ground: Option<Arc<Ground>>,
    /// Other kernels, for sets of scenarios.
    pub scenarios: Option<Arc<Scenarios>>,
}

impl UncertaintySet {
    /// Σ_a d(y_a, y⁰_a) ≤ radius in every state, mass allowed wherever the distance does.
    pub fn new(distance: Distance, radius: f64) -> Self {
        let everywhere = distance.set().is_some_and(|set| set.leaves_support());
        UncertaintySet {
            distance,
            radius: Radius::Uniform(radius),
            rectangularity: Rectangularity::State,
            support: if everywhere { Support::All } else { Support::Nominal },
            weights: None,
            entry_weights: None,
            ground: None,
            scenarios: None,
        }
    }

    /// No uncertainty.
    pub fn none() -> Self {
        UncertaintySet::new(Distance::None, 0.0)
    }

    /// The same set with one budget a state–action pair.
    pub fn per_action(mut self) -> Self {
        self.rectangularity = Rectangularity::StateAction;
        self
    }

    /// The same set with mass allowed only where the nominal kernel has some.
    pub fn on_nominal_support(mut self) -> Self {
        self.support = Support::Nominal;
        self
    }

    /// The same set with these budgets.
    pub fn with_radius(mut self, radius: Radius) -> Self {
        self.radius = radius;
        self
    }

    /// The same set with these weights κ > 0 of the rows of every shared budget.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Self {
        self.weights = Some(weights);
        self
    }

    /// The same set with these weights of the entries in its norm.
    pub fn with_entry_weights(mut self, weights: EntryWeights) -> Self {
        self.entry_weights = Some(Arc::new(weights));
        self
    }

    /// The same set with these costs of moving mass between states.
    pub fn with_ground(mut self, ground: Ground) -> Self {
        self.ground = Some(Arc::new(ground));
        self
    }

    /// The same set with these other kernels.
    pub fn with_scenarios(mut self, scenarios: Scenarios) -> Self {
        self.scenarios = Some(Arc::new(scenarios));
        self
    }

    /// κ of row `r`.
    pub fn weight_at(&self, r: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[r])
    }

    /// Whether states can be updated exactly; else the set is known by its proximal steps alone.
    pub fn has_exact_updates(&self) -> bool {
        self.distance.set().is_none_or(|set| set.curve().is_some())
    }

    /// Refuses what needs exact updates that the set does not have.
    pub(crate) fn expect_exact_updates(&self, what: &str) -> Result<(), Error> {
        match self.has_exact_updates() {
            true => Ok(()),
            false => Err(Error::Input(format!(
                "{what} needs exact updates, which the {} set does not have",
                self.distance.title()
            ))),
        }
    }

    /// Whether mass may go where the nominal kernel has none.
    pub(crate) fn leaves_support(&self) -> bool {
        self.distance.set().is_some_and(|set| set.leaves_support() && self.support == Support::All)
    }

    /// Where rows of the set may lead.
    pub(crate) fn leads(&self) -> Leads {
        match self.leaves_support() {
            true => Leads::Anywhere,
            false if self.scenarios.is_some() => Leads::Listed,
            false => Leads::Open,
        }
    }

    /// Budget of the state (s-rectangular) or of row `r` of state `s`.
    pub fn radius_at(&self, s: usize, r: usize) -> f64 {
        match (&self.distance, &self.radius) {
            (Distance::None, _) => 0.0,
            (_, Radius::Uniform(radius)) => *radius,
            (_, Radius::PerState(radii)) => radii[s],
            (_, Radius::PerRow(radii)) => radii[r],
        }
    }

    /// Checks that the set makes sense for the model.
    pub fn validate(&self, model: &Model) -> Result<(), Error> {
        let (radii, expected, what): (&[f64], usize, &str) = match &self.radius {
            Radius::Uniform(radius) => (std::slice::from_ref(radius), 1, "radius"),
            Radius::PerState(radii) => (radii, model.states(), "one radius a state"),
            Radius::PerRow(radii) => (radii, model.rows(), "one radius a state-action pair"),
        };
        if radii.len() != expected {
            let found = radii.len();
            return Err(Error::Input(format!("{what}: {expected} expected, {found} given")));
        }
        if let Some(bad) = radii.iter().find(|r| !(r.is_finite() && **r >= 0.0)) {
            return Err(Error::Input(format!("a radius must be a number ≥ 0, not {bad}")));
        }
        self.validate_none(radii)?;
        let shared = self.rectangularity == Rectangularity::State;
        if let Some(weights) = &self.weights {
            if !shared {
                return Err(Error::Input(
                    "weights are those of rows that share a budget: an (s,a)-rectangular set has none"
                        .into(),
                ));
            }
            if weights.len() != model.rows() {
                return Err(Error::Input(format!(
                    "one weight a state-action pair: {} expected, {} given",
                    model.rows(),
                    weights.len()
                )));
            }
            if let Some(bad) = weights.iter().find(|w| !(w.is_finite() && **w > 0.0)) {
                return Err(Error::Input(format!("a weight must be a number > 0, not {bad}")));
            }
        }
        if shared && matches!(self.radius, Radius::PerRow(_)) {
            return Err(Error::Input(
                "radii per state and action need an (s,a)-rectangular set (--rectangular sa); \
                 an s-rectangular set has one radius a state"
                    .into(),
            ));
        }
        let Some(set) = self.distance.set() else { return Ok(()) };
        if set.curve().is_none() && set.prox(Geometry::Euclidean).is_none() {
            return Err(Error::Input(format!(
                "the {} set offers neither exact updates nor Euclidean proximal steps, expected one of them",
                set.title()
            )));
        }
        if !set.leaves_support() && self.support == Support::All {
            let title = set.title();
            return Err(Error::Input(match set.needs() {
                Needs::Intervals => {
                    format!("the {title} set keeps to the model's intervals: use --support nominal")
                }
                Needs::Scenarios => {
                    "a set of scenarios keeps to their support: use --support nominal".into()
                }
                Needs::Nothing | Needs::Weights | Needs::Ground => format!(
                    "a {title} set keeps to the support of the nominal kernel: use --support nominal"
                ),
            }));
        }
        if shared && !set.adds_up() {
            return Err(Error::Input(format!(
                "budgets of {} sets cannot be shared, expected an (s,a)-rectangular set (--rectangular sa)",
                set.title()
            )));
        }
        self.validate_data(model, set.title(), set.needs())
    }

    /// What the set is told of entries.
    fn validate_data(&self, model: &Model, title: &str, needs: Needs) -> Result<(), Error> {
        if needs == Needs::Intervals && !model.has_intervals() {
            return Err(Error::Input(format!(
                "the {title} set needs a model whose probabilities have intervals; this one has none"
            )));
        }
        match &self.entry_weights {
            Some(_) if needs != Needs::Weights => {
                return Err(Error::Input(format!("the {title} set has no weights of next states")));
            }
            Some(weights) => self.validate_weights(model, weights)?,
            None => {}
        }
        match &self.scenarios {
            Some(_) if needs != Needs::Scenarios => {
                return Err(Error::Input(format!("the {title} set has no scenarios")));
            }
            Some(scenarios) => scenarios.validate(model)?,
            None if needs == Needs::Scenarios => {
                return Err(Error::Input(
                    "a set of scenarios needs at least one of them: other kernels of the model"
                        .into(),
                ));
            }
            None => {}
        }
        match &self.ground {
            Some(_) if needs != Needs::Ground => {
                Err(Error::Input(format!("the {title} set has no distances between states")))
            }
            Some(_) if model.repeated_transitions() > 0 => Err(Error::Input(format!(
                "the {title} set needs a model whose rows list a next state once; in this one some lead to it at \
                 several costs, between which mass would move for nothing"
            ))),
            Some(ground) => ground.validate(model.states()),
            None if needs == Needs::Ground => Err(Error::Input(format!(
                "the {title} set needs distances between states, or their places on a line"
            ))),
            None => Ok(()),
        }
    }

    fn validate_weights(&self, model: &Model, weights: &EntryWeights) -> Result<(), Error> {
        let (expected, what) = match weights {
            EntryWeights::PerState(_) => (model.states(), "one weight a next state"),
            EntryWeights::PerTransition(_) => (model.transitions(), "one weight a transition"),
        };
        let numbers = weights.numbers();
        if numbers.len() != expected {
            let found = numbers.len();
            return Err(Error::Input(format!("{what}: {expected} expected, {found} given")));
        }
        if let Some(bad) = numbers.iter().find(|w| !(w.is_finite() && **w > 0.0)) {
            return Err(Error::Input(format!("a weight must be a number > 0, not {bad}")));
        }
        let unlisted =
            || (0..model.rows()).find(|&r| model.row(r).first_unlisted(model.states()).is_some());
        match weights {
            EntryWeights::PerTransition(_) if self.leaves_support() && !model.is_dense() => {
                match unlisted() {
                    Some(r) => Err(Error::Input(format!(
                        "{}: weights of transitions do not say those of next states that are not listed, expected \
                         weights of states or --support nominal",
                        model.place(r)
                    ))),
                    None => Ok(()),
                }
            }
            EntryWeights::PerTransition(_) | EntryWeights::PerState(_) => Ok(()),
        }
    }

    /// Without a set there is nothing to set.
    fn validate_none(&self, radii: &[f64]) -> Result<(), Error> {
        let refused = [
            (radii.iter().any(|radius| *radius > 0.0), "radius"),
            (self.weights.is_some(), "weights"),
        ];
        match refused.into_iter().find(|(given, _)| *given && self.distance.set().is_none()) {
            Some((_, what)) => Err(Error::Input(format!("the set `none` has no {what}"))),
            None => Ok(()),
        }
    }

    /// Budget from which on row `r` could be any distribution at all.
    fn row_limit(&self, model: &Model, r: usize) -> f64 {
        let row = model.row(r);
        let unused = || row.prob.contains(&0.0) || row.first_unlisted(model.states()).is_some();
        let unused = self.leaves_support() && unused();
        let data = DataSource::new(model, self);
        let mut gathered = GatheredData::default();
        if data.is_some() {
            let stored = model.span(r).start;
            let entries = row.entries().enumerate();
            entries.for_each(|(j, (next, ..))| gathered.push(data, next, Some(stored + j)));
        }
        let data = gathered.of(data, row.next);
        let limit = self.distance.set().map(|set| set.vacuous(row.prob, unused, data));
        limit.map_or(f64::INFINITY, |limit| self.weight_at(r) * limit)
    }

    /// The least budget from which on nature may choose any kernel at all, in every state (or row,
    /// for (s,a)-rectangular sets); a larger one changes nothing.
    pub fn largest_useful_radius(&self, model: &Model) -> f64 {
        let limit = |s: usize| {
            let limits = model.rows_of(s).map(|r| self.row_limit(model, r));
            match self.rectangularity {
                Rectangularity::State => limits.sum(),
                Rectangularity::StateAction => limits.fold(0.0, f64::max),
            }
        };
        (0..model.states()).map(limit).fold(0.0, f64::max)
    }

    /// Whether the budget is at least the sum of the limits of `rows`, none of which is below `least`,
    /// and positive; rows are read only until the sum is decided.
    fn is_vacuous(
        &self,
        model: &Model,
        rows: std::ops::Range<usize>,
        radius: f64,
        least: f64,
    ) -> bool {
        let weights: f64 = rows.clone().map(|r| self.weight_at(r)).sum();
        if radius <= 0.0 || radius < least * weights {
            return false;
        }
        let mut limit = 0.0;
        for r in rows {
            limit += self.row_limit(model, r);
            if limit > radius {
                return false;
            }
        }
        limit > 0.0
    }

    /// Whether row `r` can only be the nominal one, whatever its budget: there is one place for all
    /// of its mass.
    fn is_rigid(&self, model: &Model, r: usize) -> bool {
        let (row, data) = (model.row(r), DataSource::new(model, self));
        match self.leaves_support() {
            true => model.states() == 1 && row.prob.len() == 1,
            false => (0..row.prob.len()).filter(|&j| data.opens(row, j)).count() == 1,
        }
    }

    /// A warning when there are positive budgets, and none that changes anything.
    fn idleness(&self, model: &Model) -> Option<String> {
        let mut budgets = false;
        for s in 0..model.states() {
            for r in model.rows_of(s).filter(|&r| self.radius_at(s, r) > 0.0) {
                if !self.is_rigid(model, r) {
                    return None;
                }
                budgets = true;
            }
        }
        let hint = match self.leaves_support() {
            true => "",
            false => " (a set with the support `all` may allow others)",
        };
        budgets.then(|| {
            format!(
                "the set changes nothing: every state and action with a positive radius has only one \
                 next state that the set allows; the answer is that of the nominal model{hint}"
            )
        })
    }

    /// A warning when some budgets are so large that nature may choose any kernel at all, or when
    /// no budget changes anything.
    pub fn vacuity(&self, model: &Model) -> Option<String> {
        if self.distance == Distance::None {
            return None;
        }
        if let Some(warning) = self.idleness(model) {
            return Some(warning);
        }
        // Within intervals, or between scenarios, nothing is said of other kernels.
        if self.distance.needs().open_entries() {
            return None;
        }
        // No row has a lower limit than one that sees all states alike.
        let alike = self.leaves_support() && self.distance.needs() == Needs::Nothing;
        let least = match self.distance.set().filter(|_| alike) {
            Some(set) => {
                let even = vec![1.0 / model.states() as f64; model.states()];
                set.vacuous(&even, false, EntryData::default())
            }
            None => 0.0,
        };
        let (mut vacuous, mut playing) = (0usize, 0usize);
        for s in (0..model.states()).filter(|&s| !model.is_terminal(s)) {
            let rows = model.rows_of(s);
            match self.rectangularity {
                Rectangularity::State => {
                    playing += 1;
                    let radius = self.radius_at(s, rows.start);
                    vacuous += usize::from(self.is_vacuous(model, rows, radius, least));
                }
                Rectangularity::StateAction => {
                    playing += rows.len();
                    let check =
                        |r: &usize| self.is_vacuous(model, *r..r + 1, self.radius_at(s, *r), least);
                    vacuous += rows.filter(check).count();
                }
            }
        }
        if vacuous == 0 {
            return None;
        }
        let useful = self.largest_useful_radius(model);
        let unit = match self.rectangularity {
            Rectangularity::State => "states",
            Rectangularity::StateAction => "state-action pairs",
        };
        Some(format!(
            "the radius is vacuous in {vacuous} of {playing} {unit}: every transition kernel is \
             allowed there; the largest useful radius of this model is {useful:.6}"
        ))
    }
}
