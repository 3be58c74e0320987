//! Every proximal step against its optimality conditions and a brute-force search, on random and
//! degenerate blocks.

mod proximal_steps;

use super::block::{Block, Gain};
use crate::instances::Xoshiro256;

/// A block that owns its arrays.
#[derive(Clone, Debug)]
struct Owned {
    offsets: Vec<usize>,
    nominal: Vec<f64>,
    gain: Vec<f64>,
    nominal_value: Vec<f64>,
    radius: f64,
}

impl Owned {
    fn random(rng: &mut Xoshiro256, rows: usize, width: usize, zeros: f64, size: f64) -> Owned {
        let (mut nominal, mut gain, mut offsets) = (Vec::new(), Vec::new(), vec![0]);
        for _ in 0..rows {
            let mut row: Vec<f64> = (0..width)
                .map(|_| if rng.uniform() < zeros { 0.0 } else { rng.uniform().powi(3) + 1e-9 })
                .collect();
            row[rng.below(width as u64) as usize] += 0.1;
            let total: f64 = row.iter().sum();
            nominal.extend(row.iter().map(|p| p / total));
            gain.extend((0..width).map(|_| size * (rng.uniform() - 0.5)));
            offsets.push(nominal.len());
        }
        Owned { offsets, nominal, gain, nominal_value: vec![0.0; rows], radius: 0.0 }.refresh()
    }

    fn refresh(mut self) -> Owned {
        for k in 0..self.nominal_value.len() {
            let span = self.offsets[k]..self.offsets[k + 1];
            self.nominal_value[k] = span.map(|i| self.nominal[i] * self.gain[i]).sum();
        }
        self
    }

    fn block(&self) -> Block<'_> {
        Block {
            offsets: &self.offsets,
            nominal: &self.nominal,
            gain: Gain::PerRow(&self.gain),
            nominal_value: &self.nominal_value,
            radius: self.radius,
            kappa: None,
        }
    }

    fn rows(&self) -> usize {
        self.nominal_value.len()
    }
}

/// What y spends of the budget.
fn distance(kl: bool, y: &[f64], nominal: &[f64]) -> f64 {
    let terms = y.iter().zip(nominal);
    if kl {
        terms.map(|(y, n)| if *y > 0.0 { y * (y / n).ln() - y + n } else { *n }).sum()
    } else {
        terms.map(|(y, n)| 0.5 * (y - n) * (y - n)).sum()
    }
}

/// Random and degenerate blocks; those for KL have no zeros.
fn blocks(rng: &mut Xoshiro256, kl: bool) -> Vec<(Owned, &'static str)> {
    let mut all = Vec::new();
    for (rows, width) in [(1, 2), (2, 2), (1, 9), (3, 5), (7, 16), (12, 33), (30, 40)] {
        for size in [1e-8, 1.0, 20.0, 1e8] {
            let zeros = if kl { 0.0 } else { 0.4 };
            all.push((Owned::random(rng, rows, width, zeros, size), "random"));
        }
    }
    let mut constant = Owned::random(rng, 3, 6, 0.0, 1.0);
    constant.gain.fill(0.7);
    all.push((constant.refresh(), "constant objective"));
    let mut tied = Owned::random(rng, 3, 6, 0.0, 1.0);
    tied.gain.iter_mut().enumerate().for_each(|(i, b)| *b = f64::from(i as u32 % 2));
    all.push((tied.refresh(), "ties"));
    let mut uniform = Owned::random(rng, 4, 8, 0.0, 1.0);
    uniform.nominal.fill(1.0 / 8.0);
    all.push((uniform.refresh(), "uniform nominal"));
    let mut lopsided = Owned::random(rng, 2, 4, 0.0, 3.0);
    for row in lopsided.nominal.chunks_mut(4) {
        row.copy_from_slice(&[1.0 - 3e-14, 1e-14, 1e-14, 1e-14]);
    }
    all.push((lopsided.refresh(), "probabilities of 1e-14"));
    if !kl {
        let mut vertex = Owned::random(rng, 3, 5, 0.0, 1.0);
        vertex.nominal.iter_mut().enumerate().for_each(|(i, p)| *p = f64::from(i % 5 == 2));
        all.push((vertex.refresh(), "deterministic nominal"));
    }
    all
}
