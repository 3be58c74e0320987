//! Next states that a row does not list. They have probability 0 and cost what the action costs by
//! itself, which matters to sets that may leave the nominal support.

use super::{Model, NominalRow};
use crate::error::Error;

impl NominalRow<'_> {
    /// The first of so many states that the row does not list.
    pub(crate) fn first_unlisted(self, states: usize) -> Option<usize> {
        let mut first = 0;
        for (to, ..) in self.listed() {
            if to > first {
                break;
            }
            first = to + 1;
        }
        (first < states).then_some(first)
    }
}

impl Model {
    /// Least and largest cost or reward of a next state that its row does not list, in the model's own
    /// sign: the action's own. `None` where every row lists all states.
    pub fn unlisted_costs(&self) -> Option<(f64, f64)> {
        let sign = self.objective.sign();
        let rows = (0..self.rows()).map(|r| self.row(r));
        let open = rows.filter(|row| row.first_unlisted(self.states()).is_some());
        let costs = open.map(|row| sign * row.cost + 0.0);
        costs.fold(None, |range, c| match range {
            None => Some((c, c)),
            Some((low, high)) => Some((low.min(c), high.max(c))),
        })
    }

    /// The same model with this cost or reward, in its own sign, for next states that are not listed.
    ///
    /// What listed transitions cost stays the same, up to rounding: what the action's own cost loses
    /// goes to them.
    pub fn with_unlisted_cost(mut self, cost: f64) -> Result<Model, Error> {
        if !cost.is_finite() {
            let message = format!("unlisted next states cost {cost}, expected a finite number");
            return Err(Error::Input(message));
        }
        let wanted = self.objective.sign() * cost + 0.0;
        let mut further = match &self.transition_cost {
            Some(further) => further.clone(),
            None => vec![0.0; self.prob.len()],
        };
        for r in 0..self.rows() {
            let row = self.row(r);
            if row.cost == wanted || row.first_unlisted(self.states()).is_none() {
                continue;
            }
            let (moved, of_row) = (row.cost - wanted, &mut further[self.span(r)]);
            let listed = of_row.iter_mut().enumerate().filter(|(k, _)| row.lists(*k));
            listed.for_each(|(_, further)| *further += moved);
            self.cost[r] = wanted;
        }
        if let Some(at) = further.iter().position(|f| !f.is_finite()) {
            let found = further[at];
            return Err(Error::Input(format!(
                "with unlisted next states at {cost} a transition costs {found} more than its \
                 action, expected a finite number"
            )));
        }
        self.transition_cost = further.iter().any(|f| *f != 0.0).then_some(further);
        Ok(self.with_facts())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instances::Garnet;
    use crate::model::{ModelBuilder, Objective};
    use crate::sets::UncertaintySet;
    use crate::solve::{Options, solve};

    fn mixed(objective: Objective) -> Model {
        let mut b = ModelBuilder::new(0.5).objective(objective);
        b.add_state(None);
        b.add_action(None, 5.0);
        b.add_transition(0, 0.5, 1.0);
        b.add_transition(1, 0.5, 0.0);
        b.add_action(None, 3.0);
        (0..3).for_each(|to| b.add_transition(to, if to == 0 { 1.0 } else { 0.0 }, 1.0));
        b.add_state(None);
        b.add_action(None, -1.0);
        b.add_transition(2, 1.0, 0.0);
        b.add_state(None);
        b.mark_terminal();
        b.build().unwrap()
    }

    #[test]
    fn the_cost_of_unlisted_states_is_the_actions_own() {
        for objective in [Objective::MinCost, Objective::MaxReward] {
            // The second action lists all states.
            assert_eq!(mixed(objective).unlisted_costs(), Some((-1.0, 5.0)));
        }
        let full = ModelBuilder::new(0.5).state("a").action("b", 2.0, &[(0, 1.0)]).build().unwrap();
        assert_eq!(full.unlisted_costs(), None);
    }

    #[test]
    fn it_can_be_set_without_a_change_of_the_nominal_model() {
        let model = mixed(Objective::MaxReward);
        let moved = model.clone().with_unlisted_cost(7.0).unwrap();
        assert_eq!(moved.unlisted_costs(), Some((7.0, 7.0)));
        assert_eq!(moved.row(0).cost, -7.0);
        // 5 + 1 and 5; the state that is not listed adds nothing to 7.
        assert_eq!(moved.row(0).transition_cost.unwrap(), [1.0, 2.0, 0.0]);
        assert_eq!(moved.row(1).cost, -3.0);
        assert_eq!(moved.row(2).transition_cost.unwrap(), [0.0, 0.0, 8.0]);
        assert!(model.clone().with_unlisted_cost(f64::NAN).is_err());
        assert!(model.with_unlisted_cost(f64::INFINITY).is_err());
        let sparse = Garnet { states: 30, actions: 3, branching: 0.1, ..Garnet::default() };
        let sparse = sparse.model().unwrap();
        let dear = sparse.clone().with_unlisted_cost(1e3).unwrap();
        let value = |model: &Model, set: &UncertaintySet| {
            solve(model, set, &Options::default()).unwrap().initial_value
        };
        let (same, other) = (UncertaintySet::kl(0.1), UncertaintySet::ellipsoid(0.01));
        let [(a, b), (c, d)] = [&sparse, &dear].map(|m| value(m, &same));
        assert!(a <= d + 1e-6 && c <= b + 1e-6, "{a} {b} {c} {d}");
        assert!(value(&dear, &other).0 > value(&sparse, &other).1 + 1.0);
        let back = dear.clone().with_unlisted_cost(0.0).unwrap().with_unlisted_cost(1e3).unwrap();
        assert_eq!(back.unlisted_costs(), dear.unlisted_costs());
    }
}
