//! What costs of steps amount to. Costs on next states take a pass over all transitions to know that:
//! it is made once, when a model is built.

use super::{Leads, Model, largest, range};

/// Facts about costs that depend on the next state.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Facts {
    /// c_a + Σ p·c(s,a,s') of every row.
    expected: Vec<f64>,
    /// The largest |cost| of a step, and of its terms.
    largest: f64,
    largest_term: f64,
    /// The largest cost of a step of every row, to any state at all.
    dearest: Vec<f64>,
    /// Least and largest cost of a step: of positive probability, and to any state at all.
    likely: (f64, f64),
    everywhere: (f64, f64),
}

impl Model {
    /// The same model, with the pass over all transitions made anew.
    pub(crate) fn with_facts(mut self) -> Model {
        self.refresh_facts();
        self
    }

    /// Makes that pass again, for costs that have changed.
    pub(crate) fn refresh_facts(&mut self) {
        self.facts = self.transition_cost.as_deref().map(|further| {
            let none = (f64::INFINITY, f64::NEG_INFINITY);
            let mut facts = Facts {
                expected: Vec::with_capacity(self.rows()),
                largest: 0.0,
                largest_term: largest(&self.cost).max(largest(further)),
                dearest: Vec::with_capacity(self.rows()),
                likely: none,
                everywhere: none,
            };
            for row in (0..self.rows()).map(|r| self.row(r)) {
                let terms = row.entries().map(|(_, p, further)| p * further);
                facts.expected.push(row.cost + terms.sum::<f64>());
                facts.largest = facts.largest.max(row.largest_cost());
                facts.likely = wider(facts.likely, row.cost_range(Leads::Open, self.states()));
                let everywhere = row.cost_range(Leads::Anywhere, self.states());
                facts.dearest.push(everywhere.1);
                facts.everywhere = wider(facts.everywhere, everywhere);
            }
            facts
        });
    }

    /// c_a + Σ p·c(s,a,s') of every row.
    pub(crate) fn expected_costs(&self) -> &[f64] {
        self.facts.as_ref().map_or(&self.cost, |facts| &facts.expected)
    }

    /// The largest cost of a step of every row, to any state at all.
    pub(crate) fn dearest_costs(&self) -> &[f64] {
        self.facts.as_ref().map_or(&self.cost, |facts| &facts.dearest)
    }

    /// The largest |cost| of a row or stored transition.
    pub fn largest_cost(&self) -> f64 {
        self.facts.as_ref().map_or_else(|| largest(&self.cost), |facts| facts.largest)
    }

    /// Least and largest cost of a step to where rows may lead, in the sign of costs; 0 counts where there are
    /// terminal states.
    pub(crate) fn cost_range(&self, leads: Leads) -> (f64, f64) {
        let ends = (0..self.states()).any(|s| self.is_terminal(s));
        let start = if ends { (0.0, 0.0) } else { (f64::INFINITY, f64::NEG_INFINITY) };
        let found = match (&self.facts, leads) {
            (None, _) => range(&self.cost),
            (Some(facts), Leads::Anywhere) => facts.everywhere,
            (Some(facts), Leads::Open) => facts.likely,
            (Some(_), Leads::Listed) => {
                let rows = (0..self.rows()).map(|r| self.row(r).cost_range(leads, self.states()));
                rows.fold(start, wider)
            }
        };
        wider(start, found)
    }

    /// The largest |number| that costs of steps are computed from: sums of them may cancel, but round as
    /// much as these.
    pub(crate) fn largest_term(&self) -> f64 {
        let terms =
            self.facts.as_ref().map_or_else(|| largest(&self.cost), |facts| facts.largest_term);
        self.largest_cost().max(terms)
    }
}

fn wider((low, high): (f64, f64), (l, h): (f64, f64)) -> (f64, f64) {
    (low.min(l), high.max(h))
}
