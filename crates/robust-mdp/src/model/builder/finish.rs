//! The end of building: what can only be checked when all states are known, and the layout.

use super::{ModelBuilder, check_discount};
use crate::error::ModelError;
use crate::model::{Model, Objective, RowStarts, Storage, distribution};

impl ModelBuilder {
    /// Checks what can only be checked at the end and returns the model.
    pub fn build(mut self) -> Result<Model, ModelError> {
        self.finish_row();
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let discount = self.discount.ok_or(ModelError::MissingDiscount)?;
        check_discount(discount)?;
        self.check_states()?;
        self.check_next()?;
        self.check_initial()?;
        if self.objective == Objective::MaxReward {
            // 0 − c rather than −c: no negative zeros.
            self.cost.iter_mut().for_each(|c| *c = 0.0 - *c);
            self.transition_cost.iter_mut().flatten().for_each(|c| *c = 0.0 - *c);
        }
        let states = self.terminal.len();
        let full = 3 * self.prob.len() as u128 >= self.cost.len() as u128 * states as u128;
        // A dense row has one entry a state.
        if full && !self.repeats {
            self.spread(states);
            return Ok(self.into_model(discount, Storage::Dense));
        }
        let storage = Storage::Sparse {
            row_ptr: RowStarts::new(shrunk(std::mem::take(&mut self.row_ptr))),
            next: shrunk(std::mem::take(&mut self.next)),
        };
        Ok(self.into_model(discount, storage))
    }

    fn into_model(self, discount: f64, storage: Storage) -> Model {
        let model = Model {
            discount,
            objective: self.objective,
            state_ptr: shrunk(self.state_ptr),
            storage,
            prob: shrunk(self.prob),
            cost: shrunk(self.cost),
            transition_cost: self.transition_cost.map(shrunk),
            bounds: self.bounds.map(|bounds| bounds.map(shrunk)),
            initial: self.initial,
            state_names: self.state_names,
            action_names: self.action_names,
            facts: None,
        };
        model.with_facts()
    }

    fn check_states(&self) -> Result<(), ModelError> {
        let states = self.terminal.len();
        if states == 0 {
            return Err(ModelError::Empty);
        }
        if states > u32::MAX as usize {
            return Err(ModelError::TooManyStates { states });
        }
        for s in 0..states {
            let empty = self.state_ptr[s] == self.state_ptr[s + 1];
            if empty && !self.terminal[s] {
                return Err(ModelError::NoActions { state: self.state_label(s) });
            }
            if !empty && self.terminal[s] {
                return Err(ModelError::TerminalWithActions { state: self.state_label(s) });
            }
        }
        Ok(())
    }

    /// Rows are sorted, so that the last entry of each decides.
    fn check_next(&self) -> Result<(), ModelError> {
        let states = self.terminal.len();
        for s in 0..states {
            for r in self.state_ptr[s]..self.state_ptr[s + 1] {
                let row = &self.next[self.row_ptr[r]..self.row_ptr[r + 1]];
                let outside = row.partition_point(|&n| (n as usize) < states);
                if let Some(&next) = row.get(outside) {
                    let (state, action) = self.labels(s, r);
                    let next = next as usize;
                    return Err(ModelError::NextOutOfRange { state, action, next, states });
                }
            }
        }
        Ok(())
    }

    fn check_initial(&mut self) -> Result<(), ModelError> {
        let states = self.terminal.len();
        let Some(mut initial) = self.initial.take() else {
            return Ok(());
        };
        if initial.len() != states {
            return Err(ModelError::InitialLength { length: initial.len(), states });
        }
        for (s, p) in initial.iter_mut().enumerate() {
            if !p.is_finite() || *p < 0.0 {
                let state = self.state_label(s);
                return Err(ModelError::InitialProbability { state, value: *p });
            }
            *p += 0.0;
        }
        distribution::normalise(&mut initial).map_err(|sum| ModelError::InitialSum { sum })?;
        self.initial = Some(initial);
        Ok(())
    }

    /// Turns the stored rows into dense ones.
    fn spread(&mut self, states: usize) {
        let spread_one = |values: &[f64]| {
            let mut dense = vec![0.0; self.cost.len() * states];
            for r in 0..self.cost.len() {
                for k in self.row_ptr[r]..self.row_ptr[r + 1] {
                    dense[r * states + self.next[k] as usize] = values[k];
                }
            }
            dense
        };
        let prob = spread_one(&self.prob);
        let transition_cost = self.transition_cost.as_deref().map(spread_one);
        let bounds = self.bounds.as_ref().map(|bounds| bounds.each_ref().map(|b| spread_one(b)));
        (self.prob, self.transition_cost, self.bounds) = (prob, transition_cost, bounds);
    }
}

fn shrunk<T>(mut values: Vec<T>) -> Vec<T> {
    values.shrink_to_fit();
    values
}
