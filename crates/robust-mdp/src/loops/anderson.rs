//! Anderson's method (type II) on v = F(v): with residuals f_i = F(v_i) − v_i of the last m + 1
//! sweeps, v⁺ = Σ γ_i F(v_i) for the affine combination that minimises ‖Σ γ_i f_i‖₂.
//!
//! F is not smooth: a combination is kept only if the span of the residual has fallen there, else
//! plain steps follow from the best point until the memory, which starts anew, is full again. Plain
//! steps leave at most λ of the span, so that it converges as value iteration does. Without terminal
//! states constants do not matter: they are taken out of the residuals.

use super::course::{Course, Loop};
use crate::codec::{Codec, Snapshot};

/// Differences that are combined, unless told otherwise.
pub(crate) const MEMORY: usize = 5;

pub(super) struct Anderson {
    memory: usize,
    /// Differences of residuals and of images, oldest first.
    residual_steps: Vec<Vec<f64>>,
    image_steps: Vec<Vec<f64>>,
    last_residual: Vec<f64>,
    last_image: Vec<f64>,
    /// Residual of the last point that was kept, and its image to return to.
    best: f64,
    best_image: Vec<f64>,
    /// Plain steps still to take.
    plain: usize,
}

impl Anderson {
    pub(super) fn new(states: usize, memory: usize) -> Anderson {
        Anderson {
            memory: memory.min(states),
            residual_steps: Vec::new(),
            image_steps: Vec::new(),
            last_residual: Vec::new(),
            last_image: Vec::new(),
            best: f64::INFINITY,
            best_image: Vec::new(),
            plain: 1,
        }
    }

    fn forget(&mut self) {
        self.residual_steps.clear();
        self.image_steps.clear();
        self.last_residual.clear();
        self.last_image.clear();
    }

    /// Adds the differences to the last point, dropping the oldest beyond the memory.
    fn remember(&mut self, residual: &[f64], image: &[f64]) {
        let difference = |new: &[f64], old: &[f64], mut reuse: Vec<f64>| {
            reuse.clear();
            reuse.extend(new.iter().zip(old).map(|(n, o)| n - o));
            reuse
        };
        if !self.last_residual.is_empty() {
            let full = self.residual_steps.len() == self.memory;
            let take = |list: &mut Vec<Vec<f64>>| {
                if full { list.remove(0) } else { Vec::new() }
            };
            let (a, b) = (take(&mut self.residual_steps), take(&mut self.image_steps));
            self.residual_steps.push(difference(residual, &self.last_residual, a));
            self.image_steps.push(difference(image, &self.last_image, b));
        }
        residual.clone_into(&mut self.last_residual);
        image.clone_into(&mut self.last_image);
    }

    /// Coefficients θ that minimise ‖f − Σ θ_j Δf_j‖₂, from the normal equations with a little
    /// regularisation; `None` if they are useless.
    fn coefficients(&self, residual: &[f64]) -> Option<Vec<f64>> {
        let n = self.residual_steps.len();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut matrix = vec![vec![0.0; n + 1]; n];
        for i in 0..n {
            for j in 0..n {
                matrix[i][j] = dot(&self.residual_steps[i], &self.residual_steps[j]);
            }
            matrix[i][n] = dot(&self.residual_steps[i], residual);
        }
        let size = (0..n).map(|i| matrix[i][i]).fold(0.0, f64::max);
        for (i, row) in matrix.iter_mut().enumerate() {
            row[i] += 1e-14 * size;
        }
        eliminate(matrix)
    }
}

/// Solves a small symmetric system given with its right-hand side as the last column.
fn eliminate(mut a: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = a.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))?;
        a.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..=n {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k][j] * x[j]).sum();
        x[k] = (a[k][n] - known) / a[k][k];
    }
    x.iter().all(|x| x.is_finite()).then_some(x)
}

impl Loop for Anderson {
    fn advance(&mut self, course: &mut Course<'_, '_, '_>) {
        if self.memory == 0 {
            return course.step();
        }
        let image = course.operator.upper();
        let merit = course.merit();
        if merit > self.best && self.plain == 0 {
            // Back to the best point; its image is a plain step of value iteration.
            self.forget();
            self.plain = self.memory + 1;
            course.v.copy_from_slice(&self.best_image);
            return;
        }
        self.best = merit;
        image.clone_into(&mut self.best_image);
        let mut residual: Vec<f64> = image.iter().zip(&course.v).map(|(f, v)| f - v).collect();
        if !course.has_terminal_states {
            let mean = residual.iter().sum::<f64>() / residual.len() as f64;
            residual.iter_mut().for_each(|d| *d -= mean);
        }
        self.remember(&residual, image);
        course.v.copy_from_slice(image);
        if self.plain > 0 {
            self.plain -= 1;
            return;
        }
        if let Some(theta) = self.coefficients(&residual) {
            for (theta, step) in theta.iter().zip(&self.image_steps) {
                for (v, step) in course.v.iter_mut().zip(step) {
                    *v -= theta * step;
                }
            }
        }
    }
}

impl Snapshot for Anderson {
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        let (states, memory) = (codec.states, self.memory);
        codec.vectors(&mut self.residual_steps, memory, states);
        codec.vectors(&mut self.image_steps, memory, states);
        codec.all_or_none(&mut self.last_residual, states);
        codec.all_or_none(&mut self.last_image, states);
        codec.number(&mut self.best);
        codec.all_or_none(&mut self.best_image, states);
        codec.size(&mut self.plain, memory + 1);
        let paired = self.residual_steps.len() == self.image_steps.len()
            && self.last_residual.len() == self.last_image.len();
        if !paired || self.best != f64::INFINITY && self.best_image.is_empty() {
            codec.refuse();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::eliminate;

    #[test]
    fn small_systems() {
        // 2x + y = 5, x + 3y = 10 → x = 1, y = 3.
        let x = eliminate(vec![vec![2.0, 1.0, 5.0], vec![1.0, 3.0, 10.0]]).expect("regular");
        assert!((x[0] - 1.0).abs() < 1e-15 && (x[1] - 3.0).abs() < 1e-15);
        assert!(eliminate(vec![vec![0.0, 1.0]]).is_none());
        assert_eq!(eliminate(Vec::new()), Some(Vec::new()));
    }
}
