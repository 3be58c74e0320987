//! Garnet: random models with a chosen number of successors (Archibald, McKinnon and Thomas,
//! *On the generation of Markov decision processes*, 1995).
//!
//! Each row has n = max(1, round(f·W)) successors, drawn without replacement from a window of W
//! states (all of them, or those within ±k of s), with probabilities the n spacings of [0,1] cut
//! at n − 1 uniform points. Costs are 10u, or 8uₛ + 2uₛₐ when the state drives them (u uniform).

use super::{DEFAULT_DISCOUNT, Xoshiro256, check_states};
use crate::error::Error;
use crate::model::{Model, ModelBuilder};

/// How the costs of a [`Garnet`] are drawn, all between 0 and 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Costs {
    /// Independently for every state and action.
    #[default]
    Iid,
    /// Eight parts from the state, two from the action.
    StateDriven,
}

/// Settings of a random model.
///
/// ```
/// use robust_mdp::instances::Garnet;
///
/// let model = Garnet { states: 20, actions: 3, branching: 0.2, ..Garnet::default() }.model()?;
/// assert_eq!(model.positive_transitions(), 20 * 3 * 4);
/// # Ok::<(), robust_mdp::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Garnet {
    /// Number of states S.
    pub states: usize,
    /// Actions a state.
    pub actions: usize,
    /// Successors as a fraction of the window, in (0,1].
    pub branching: f64,
    /// How costs are drawn.
    pub costs: Costs,
    /// Next states lie within ± this of the state; `None` lets them lie anywhere.
    pub band: Option<usize>,
    /// Discount factor λ.
    pub discount: f64,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for Garnet {
    fn default() -> Self {
        Garnet {
            states: 50,
            actions: 10,
            branching: 0.5,
            costs: Costs::Iid,
            band: None,
            discount: DEFAULT_DISCOUNT,
            seed: 0,
        }
    }
}

impl Garnet {
    /// Draws the model, in time and memory proportional to its transitions.
    pub fn model(&self) -> Result<Model, Error> {
        self.check()?;
        let mut random = Xoshiro256::new(self.seed);
        let mut rows = RowSampler::default();
        let mut builder = ModelBuilder::new(self.discount);
        for s in 0..self.states {
            builder.add_state(None);
            let level = match self.costs {
                Costs::Iid => 0.0,
                Costs::StateDriven => 8.0 * random.uniform(),
            };
            let (first, last) = self.window(s);
            let width = last - first + 1;
            let successors = successors(self.branching, width);
            for _ in 0..self.actions {
                let cost = match self.costs {
                    Costs::Iid => 10.0 * random.uniform(),
                    Costs::StateDriven => level + 2.0 * random.uniform(),
                };
                builder.add_action(None, cost);
                rows.draw(width, successors, &mut random);
                for (&to, &p) in rows.chosen.iter().zip(&rows.spacings) {
                    builder.add_transition(first + to, p, 0.0);
                }
            }
        }
        Ok(builder.build()?)
    }

    /// First and last state that `s` may lead to.
    fn window(&self, s: usize) -> (usize, usize) {
        let top = self.states - 1;
        match self.band {
            Some(k) => (s.saturating_sub(k), s.saturating_add(k).min(top)),
            None => (0, top),
        }
    }

    fn check(&self) -> Result<(), Error> {
        let wrong = |what: String| Err(Error::Input(format!("garnet: {what}")));
        check_states("garnet", self.states, 1)?;
        if self.actions == 0 {
            return wrong("0 actions, expected at least 1".into());
        }
        if !(self.branching > 0.0 && self.branching <= 1.0) {
            return wrong(format!("branching {}, expected a fraction in (0, 1]", self.branching));
        }
        Ok(crate::model::check_discount(self.discount)?)
    }
}

/// max(1, round(f·W)), at most W.
pub(super) fn successors(fraction: f64, window: usize) -> usize {
    ((fraction * window as f64).round() as usize).clamp(1, window)
}

/// Draws Garnet rows: increasing successors and their probabilities.
#[derive(Default)]
pub(super) struct RowSampler {
    /// Which draw last took each state: marks need no clearing between rows.
    taken_in: Vec<u64>,
    draws: u64,
    pub(super) chosen: Vec<usize>,
    pub(super) spacings: Vec<f64>,
}

impl RowSampler {
    /// Draws `n` of `0..window` (Floyd's sampling, Bentley and Floyd 1987) and their spacings.
    pub(super) fn draw(&mut self, window: usize, n: usize, random: &mut Xoshiro256) {
        self.draws += 1;
        if self.taken_in.len() < window {
            self.taken_in.resize(window, 0);
        }
        self.chosen.clear();
        for top in window - n..window {
            let drawn = random.below(top as u64 + 1) as usize;
            let pick = if self.taken_in[drawn] == self.draws { top } else { drawn };
            self.taken_in[pick] = self.draws;
            self.chosen.push(pick);
        }
        self.chosen.sort_unstable();
        self.spacings.clear();
        self.spacings.extend((1..n).map(|_| random.uniform()));
        self.spacings.sort_unstable_by(f64::total_cmp);
        self.spacings.push(1.0);
        for k in (1..n).rev() {
            self.spacings[k] -= self.spacings[k - 1];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Garnet {
        Garnet { states: 40, actions: 3, branching: 0.2, seed: 5, ..Garnet::default() }
    }

    #[test]
    fn counts_costs_and_sums() {
        for costs in [Costs::Iid, Costs::StateDriven] {
            let model = Garnet { costs, ..small() }.model().unwrap();
            assert_eq!((model.states(), model.rows(), model.transitions()), (40, 120, 960));
            for r in 0..model.rows() {
                let row = model.row(r);
                assert!((row.prob.iter().sum::<f64>() - 1.0).abs() < 1e-15);
                assert!((0.0..=10.0).contains(&row.cost));
                assert!(row.next.unwrap().is_sorted_by(|a, b| a < b));
            }
        }
        assert!(Garnet { branching: 1.0, ..small() }.model().unwrap().is_dense());
    }

    #[test]
    fn state_driven_costs_are_close_within_a_state() {
        let model = Garnet { costs: Costs::StateDriven, ..small() }.model().unwrap();
        for s in 0..40 {
            let costs = &model.cost[model.rows_of(s)];
            assert!(costs.iter().all(|c| (c - costs[0]).abs() <= 2.0));
        }
    }

    #[test]
    fn bands_are_respected() {
        let model = Garnet { band: Some(3), branching: 0.5, ..small() }.model().unwrap();
        for s in 0..40usize {
            for r in model.rows_of(s) {
                let row = model.row(r);
                assert!(row.entries().all(|(to, _, _)| to.abs_diff(s) <= 3));
                // Windows of 7 away from the borders: round(3.5) = 4 successors.
                assert!(!(3..37).contains(&s) || row.prob.len() == 4);
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_model() {
        let model = small().model().unwrap();
        assert_eq!(model, small().model().unwrap());
        assert_ne!(model, Garnet { seed: 6, ..small() }.model().unwrap());
        let first = model.row(0);
        assert_eq!(first.next.unwrap(), PINNED_NEXT);
        assert_eq!((first.cost, first.prob[0]), PINNED_COST_AND_PROBABILITY);
    }

    #[test]
    fn long_rows_and_single_successors() {
        let one = Garnet { branching: 1e-9, ..small() }.model().unwrap();
        assert_eq!(one.transitions(), 120);
        let big = Garnet { states: 200_000, actions: 1, branching: 4e-5, ..small() };
        assert_eq!(big.model().unwrap().transitions(), 200_000 * 8);
    }

    #[test]
    fn wrong_settings() {
        for garnet in [
            Garnet { states: 0, ..small() },
            Garnet { actions: 0, ..small() },
            Garnet { branching: f64::NAN, ..small() },
            Garnet { branching: 1.5, ..small() },
            Garnet { discount: 1.5, ..small() },
        ] {
            assert!(garnet.model().is_err(), "{garnet:?}");
        }
    }

    const PINNED_NEXT: [u32; 8] = [2, 3, 17, 18, 20, 26, 35, 38];
    const PINNED_COST_AND_PROBABILITY: (f64, f64) = (2.920228715404675, 0.4387728344842621);
}
