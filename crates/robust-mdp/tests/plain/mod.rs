//! Random models as plain data, so that a test can shift, scale and permute them.

use robust_mdp::instances::Xoshiro256;
use robust_mdp::{Model, ModelBuilder};

/// One action: its cost and (next state, probability, further cost).
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) cost: f64,
    pub(crate) next: Vec<(usize, f64, f64)>,
}

/// A model: the rows of every state.
#[derive(Clone, Debug)]
pub(crate) struct Plain {
    pub(crate) discount: f64,
    pub(crate) states: Vec<Vec<Row>>,
}

impl Plain {
    /// Costs uniform in [0, 10), each row on `successors` random states.
    pub(crate) fn random(states: usize, actions: usize, successors: usize, seed: u64) -> Plain {
        let mut random = Xoshiro256::new(seed);
        let mut row = || {
            let cost = 10.0 * random.uniform();
            let mut to: Vec<usize> = (0..states).collect();
            for k in 0..successors {
                to.swap(k, k + random.below((states - k) as u64) as usize);
            }
            let weights: Vec<f64> =
                to[..successors].iter().map(|_| 0.05 + random.uniform()).collect();
            let total: f64 = weights.iter().sum();
            let next = to.iter().zip(weights).map(|(&i, w)| (i, w / total, 0.0)).collect();
            Row { cost, next }
        };
        let states = (0..states).map(|_| (0..actions).map(|_| row()).collect()).collect();
        Plain { discount: 0.8, states }
    }

    pub(crate) fn discount(mut self, discount: f64) -> Plain {
        self.discount = discount;
        self
    }

    /// The same model with other costs: `f` sees (cost, further cost = 0).
    pub(crate) fn costs(mut self, mut f: impl FnMut(f64) -> f64) -> Plain {
        self.rows().for_each(|row| row.cost = f(row.cost));
        self
    }

    /// The same model with a further cost in [−5, 5) on every transition.
    pub(crate) fn tolls(mut self, seed: u64) -> Plain {
        let mut random = Xoshiro256::new(seed);
        for row in self.rows() {
            row.next.iter_mut().for_each(|e| e.2 = 10.0 * random.uniform() - 5.0);
        }
        self
    }

    /// The same model with every number of money multiplied.
    pub(crate) fn scaled(mut self, by: f64) -> Plain {
        for row in self.rows() {
            row.cost *= by;
            row.next.iter_mut().for_each(|e| e.2 *= by);
        }
        self
    }

    /// State `s` becomes state `to[s]`.
    pub(crate) fn permuted(&self, to: &[usize]) -> Plain {
        let mut states = vec![Vec::new(); to.len()];
        for (s, rows) in self.states.iter().enumerate() {
            states[to[s]] = rows.clone();
        }
        let mut plain = Plain { discount: self.discount, states };
        plain.rows().for_each(|row| row.next.iter_mut().for_each(|e| e.0 = to[e.0]));
        plain
    }

    fn rows(&mut self) -> impl Iterator<Item = &mut Row> {
        self.states.iter_mut().flatten()
    }

    /// The library's model; a state without rows is terminal.
    pub(crate) fn model(&self) -> Model {
        let mut builder = ModelBuilder::new(self.discount);
        for rows in &self.states {
            builder.add_state(None);
            if rows.is_empty() {
                builder.mark_terminal();
            }
            for row in rows {
                builder.add_action(None, row.cost);
                for &(to, p, toll) in &row.next {
                    builder.add_transition(to, p, toll);
                }
            }
        }
        builder.build().unwrap()
    }
}
