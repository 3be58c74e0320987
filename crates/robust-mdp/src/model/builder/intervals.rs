//! Intervals of probabilities: their check, and the nominal row within them.

use super::{LEAST_PROBABILITY, ModelBuilder, Pending};
use crate::error::ModelError;
use crate::model::SUM_TOLERANCE;

impl ModelBuilder {
    /// Adds a transition whose probability may lie within an interval, with a further cost on top of the
    /// action's own. Without a nominal probability in any of them, rows get l + θ(u − l).
    ///
    /// ```
    /// use robust_mdp::ModelBuilder;
    ///
    /// let mut builder = ModelBuilder::new(0.9);
    /// builder.add_state(Some("start"));
    /// builder.add_action(Some("go"), 1.0);
    /// builder.add_interval(0, None, [0.125, 0.375], 0.0);
    /// builder.add_interval(1, None, [0.5, 1.0], 0.0);
    /// builder.add_state(Some("end"));
    /// builder.mark_terminal();
    /// let model = builder.build()?;
    /// assert_eq!(model.row(0).prob, [0.25, 0.75]); // the middle of each
    /// # Ok::<(), robust_mdp::ModelError>(())
    /// ```
    pub fn add_interval(
        &mut self,
        next: usize,
        nominal: Option<f64>,
        [lower, upper]: [f64; 2],
        further_cost: f64,
    ) {
        let within = |p: f64| (lower - SUM_TOLERANCE..=upper + SUM_TOLERANCE).contains(&p);
        let bounds = 0.0 <= lower && lower <= upper && upper <= 1.0 + SUM_TOLERANCE;
        if self.row_is_open && !(bounds && nominal.is_none_or(within)) {
            let ((state, action), found) = (self.latest(), [lower, upper]);
            return self.fail(match nominal.filter(|_| bounds) {
                None => ModelError::Interval { state, action, next, bounds: found },
                Some(value) => {
                    let bounds = Box::new(found);
                    ModelError::OutsideInterval { state, action, next, value, bounds }
                }
            });
        }
        let before = self.pending.len();
        self.add_transition(next, nominal.unwrap_or(0.0), further_cost);
        if self.pending.len() > before {
            self.bounds.get_or_insert_with(|| [self.prob.clone(), self.prob.clone()]);
            let last = self.pending.last_mut().expect("was added");
            *last = Pending { prob: nominal.unwrap_or(f64::NAN), lower, upper, ..*last };
        }
    }

    /// Probabilities of a row with intervals, where some were not given.
    pub(super) fn choose_nominal(&mut self, row: &mut [Pending]) {
        if self.bounds.is_none() {
            return;
        }
        let sum = |of: fn(&Pending) -> f64| row.iter().map(of).sum::<f64>();
        let (lower, upper) = (sum(|e| e.lower), sum(|e| e.upper));
        if !(lower <= 1.0 + SUM_TOLERANCE && upper >= 1.0 - SUM_TOLERANCE) {
            let (state, action) = self.latest();
            self.fail(ModelError::IntervalSums { state, action, lower, upper });
        }
        if row.iter().any(|e| e.prob.is_nan()) {
            let share = ((1.0 - lower) / (upper - lower)).clamp(0.0, 1.0);
            // Intervals without width leave no choice.
            let share = if share.is_nan() { 0.0 } else { share };
            for entry in row {
                let p = entry.lower + share * (entry.upper - entry.lower);
                entry.prob = if p < LEAST_PROBABILITY { 0.0 } else { p };
            }
        }
    }

    /// Bounds of the row that starts there hold what normalising has made of its probabilities.
    pub(super) fn enclose(&mut self, start: usize) {
        let Some([lower, upper]) = &mut self.bounds else { return };
        let bounds = lower[start..].iter_mut().zip(&mut upper[start..]);
        for ((lower, upper), &p) in bounds.zip(&self.prob[start..]) {
            (*lower, *upper) = (lower.min(p), upper.min(1.0).max(p));
        }
    }
}
