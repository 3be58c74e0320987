//! An uncertainty set of a model: a distance, its budgets, who owns them and where mass may go.
//!
//! An s-rectangular set gives every state one budget that its rows share,
//! P_s = { (y_a)_a : Σ_a κ_a·d(y_a, p_a) ≤ α_s }; an (s,a)-rectangular set gives every row its own. Radius 0
//! is the nominal model.

use serde::{Deserialize, Serialize};

use super::registry::Distance;
use crate::error::Error;
use crate::model::Model;

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

    /// κ of row `r`.
    pub fn weight_at(&self, r: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[r])
    }

    /// Whether mass may go where the nominal kernel has none.
    pub(crate) fn leaves_support(&self) -> bool {
        self.distance.set().is_some_and(|set| set.leaves_support() && self.support == Support::All)
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
        if let Some(set) = self.distance.set()
            && !set.leaves_support()
            && self.support == Support::All
        {
            return Err(Error::Input(format!(
                "a {} set keeps to the support of the nominal kernel: use --support nominal",
                set.title()
            )));
        }
        Ok(())
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
        let limit = self.distance.set().map(|set| set.vacuous(row.prob, unused));
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
        let prob = model.row(r).prob;
        match self.leaves_support() {
            true => model.states() == 1 && prob.len() == 1,
            false => prob.iter().filter(|&&p| p > 0.0).count() == 1,
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
        // No row has a lower limit than one that sees all states alike.
        let least = match self.distance.set().filter(|_| self.leaves_support()) {
            Some(set) => set.vacuous(&vec![1.0 / model.states() as f64; model.states()], false),
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
