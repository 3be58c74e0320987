//! Every proximal step against its optimality conditions and a brute-force search, on random and
//! degenerate blocks.

mod proximal_steps;
mod separable;
mod support;

use super::block::{Block, Gain};
use super::omega::{EllipsoidEntropy, KlEuclidean};
use super::ray::Ray;
use super::separable::Separable;
use super::tilt::Tilted;
use super::{Emit, Mirror, Prox, Scratch, Step, Warm};
use crate::geometry::Geometry;
use crate::instances::Xoshiro256;
use crate::sets::EntryData;
use crate::sets::chi2::Chi2;
use crate::sets::ellipsoid::Ellipsoid;
use crate::sets::kl::Kl;
use crate::sets::set::Set;

/// A block that owns its arrays.
#[derive(Clone, Debug)]
struct Owned {
    offsets: Vec<usize>,
    nominal: Vec<f64>,
    gain: Vec<f64>,
    nominal_value: Vec<f64>,
    radius: f64,
    kappa: Option<Vec<f64>>,
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
        Owned { offsets, nominal, gain, nominal_value: vec![0.0; rows], radius: 0.0, kappa: None }
            .refresh()
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
            kappa: self.kappa.as_deref(),
            data: EntryData::default(),
        }
    }

    fn rows(&self) -> usize {
        self.nominal_value.len()
    }
}

/// Proximal steps under test.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    prox: &'static dyn Prox,
    set: &'static dyn Set,
    geometry: Geometry,
    /// ∂d/∂y.
    normal: fn(f64, f64) -> f64,
}

const ELLIPSOID: Case = Case {
    name: "ellipsoid l2",
    prox: &Ray,
    set: &Ellipsoid,
    geometry: Geometry::Euclidean,
    normal: |y, p| y - p,
};
const KL: Case = Case {
    name: "KL l1",
    prox: &Tilted,
    set: &Kl,
    geometry: Geometry::Entropy,
    normal: |y, p| (y / p).ln(),
};
const CASES: [Case; 7] = [
    ELLIPSOID,
    Case { name: "ellipsoid l2 by entries", prox: &Separable(Ray), ..ELLIPSOID },
    Case {
        name: "ellipsoid l1 by entries",
        prox: &Separable(EllipsoidEntropy),
        geometry: Geometry::Entropy,
        ..ELLIPSOID
    },
    KL,
    Case { name: "KL l1 by entries", prox: &Separable(Tilted), ..KL },
    Case {
        name: "KL l2 by entries",
        prox: &Separable(KlEuclidean),
        geometry: Geometry::Euclidean,
        ..KL
    },
    Case {
        name: "chi-square l2",
        prox: &Separable(Chi2),
        set: &Chi2,
        geometry: Geometry::Euclidean,
        normal: |y, p| 2.0 * (y - p) / p,
    },
];

impl Case {
    fn keeps_support(&self) -> bool {
        !self.set.leaves_support()
    }

    /// Whether the multiplier that a state keeps is s, positive where the budget binds.
    fn by_entries(&self) -> bool {
        self.name != ELLIPSOID.name && self.name != KL.name
    }

    fn decode(&self, block: &Owned, mirror: &[f64]) -> Vec<f64> {
        let point = |(m, p): (&f64, &f64)| match self.prox.mirror() {
            Mirror::Point => *m,
            Mirror::Log => m.exp(),
            Mirror::LogRatio => p * m.exp(),
        };
        mirror.iter().zip(&block.nominal).map(point).collect()
    }
}

/// Iterate and multipliers.
#[derive(Clone)]
struct State {
    mirror: Vec<f64>,
    row: Vec<f64>,
    budget: f64,
}

impl State {
    fn start(prox: &dyn Prox, block: &Owned) -> State {
        let mut mirror = vec![0.0; block.nominal.len()];
        prox.mirror().start(block.block(), &mut mirror);
        State { mirror, row: vec![0.0; block.rows()], budget: 0.0 }
    }

    /// A step; the point of the new iterate and its row values.
    fn step(&mut self, prox: &dyn Prox, block: &Owned, sigma: f64, x: &[f64]) -> [Vec<f64>; 2] {
        self.counted_step(prox, block, sigma, x).0
    }

    /// The same, and the passes over all entries that it took.
    fn counted_step(
        &mut self,
        prox: &dyn Prox,
        block: &Owned,
        sigma: f64,
        x: &[f64],
    ) -> ([Vec<f64>; 2], f64) {
        let (mut sum, mut value) = (vec![0.0; block.nominal.len()], vec![0.0; block.rows()]);
        let mut scratch = Scratch::new(block.rows(), block.nominal.len());
        let warm = Warm { budget: &mut self.budget, row: &mut self.row };
        let emit = Emit { weight: 1.0, sum: &mut sum, value: &mut value };
        prox.step(
            Step { block: block.block(), sigma, x, y: &mut self.mirror, warm, emit },
            &mut scratch,
        );
        ([sum, value], scratch.entries as f64 / block.nominal.len() as f64)
    }
}

/// Random and degenerate blocks; without zeros for sets that keep to the support.
fn blocks(rng: &mut Xoshiro256, positive: bool) -> Vec<(Owned, &'static str)> {
    let mut all = Vec::new();
    for (rows, width) in [(1, 2), (2, 2), (1, 9), (3, 5), (7, 16), (12, 33), (30, 40)] {
        for size in [1e-8, 1.0, 20.0, 1e8] {
            let zeros = if positive { 0.0 } else { 0.4 };
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
    if !positive {
        let mut vertex = Owned::random(rng, 3, 5, 0.0, 1.0);
        vertex.nominal.iter_mut().enumerate().for_each(|(i, p)| *p = f64::from(i % 5 == 2));
        all.push((vertex.refresh(), "deterministic nominal"));
    }
    all
}
