//! Proximal steps: optimality conditions, and a search where a row is one number.

use super::{Owned, blocks, distance};
use crate::instances::Xoshiro256;
use crate::sets::proximal::block::{Emit, Scratch, Warm};
use crate::sets::proximal::{ellipsoid, kl};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    EllipsoidEuclidean,
    EllipsoidEntropy,
    KlEuclidean,
    KlEntropy,
}

const STEPS: [Step; 4] =
    [Step::EllipsoidEuclidean, Step::EllipsoidEntropy, Step::KlEuclidean, Step::KlEntropy];

impl Step {
    fn is_kl(self) -> bool {
        matches!(self, Step::KlEuclidean | Step::KlEntropy)
    }

    fn is_entropy(self) -> bool {
        matches!(self, Step::EllipsoidEntropy | Step::KlEntropy)
    }

    /// Mirror coordinates of y and the row memory that goes with them.
    fn encode(self, block: &Owned, y: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mirror: Vec<f64> = match self {
            Step::EllipsoidEuclidean | Step::KlEuclidean => y.to_vec(),
            Step::EllipsoidEntropy => y.iter().map(|y| y.ln()).collect(),
            Step::KlEntropy => y.iter().zip(&block.nominal).map(|(y, n)| (y / n).ln()).collect(),
        };
        let mut row = vec![0.0; block.rows()];
        if self == Step::KlEntropy {
            for (k, row) in row.iter_mut().enumerate() {
                let span = block.offsets[k]..block.offsets[k + 1];
                *row = span.map(|i| y[i] * mirror[i]).sum();
            }
        }
        (mirror, row)
    }

    fn decode(self, block: &Owned, mirror: &[f64]) -> Vec<f64> {
        match self {
            Step::EllipsoidEuclidean | Step::KlEuclidean => mirror.to_vec(),
            Step::EllipsoidEntropy => mirror.iter().map(|l| l.exp()).collect(),
            Step::KlEntropy => {
                mirror.iter().zip(&block.nominal).map(|(u, n)| n * u.exp()).collect()
            }
        }
    }

    fn run(
        self,
        block: &Owned,
        sigma: f64,
        x: &[f64],
        state: &mut State,
        sum: &mut [f64],
        value: &mut [f64],
    ) {
        let mut scratch = Scratch::new(block.rows(), block.nominal.len());
        let warm = Warm { budget: &mut state.budget, row: &mut state.row };
        let emit = Emit { weight: 1.0, sum, value };
        let prox = match self {
            Step::EllipsoidEuclidean => ellipsoid::prox_euclidean,
            Step::EllipsoidEntropy => ellipsoid::prox_entropy,
            Step::KlEuclidean => kl::prox_euclidean,
            Step::KlEntropy => kl::prox_entropy,
        };
        prox(block.block(), sigma, x, &mut state.mirror, warm, emit, &mut scratch);
    }
}

struct State {
    mirror: Vec<f64>,
    row: Vec<f64>,
    budget: f64,
}

/// One step and its check: feasible, and G − μ∇D constant on each row's support, no larger off it.
fn check_step(step: Step, block: &Owned, sigma: f64, x: &[f64], state: &mut State, why: &str) {
    let (rows, n) = (block.rows(), block.nominal.len());
    let before = step.decode(block, &state.mirror);
    let mirror_before = state.mirror.clone();
    let (mut sum, mut value) = (vec![0.0; n], vec![0.0; rows]);
    step.run(block, sigma, x, state, &mut sum, &mut value);
    let y = step.decode(block, &state.mirror);
    let case = || format!("{step:?} {why} σ={sigma:e} α={:e}", block.radius);
    assert!(y.iter().all(|y| *y >= 0.0 && y.is_finite()), "{}", case());
    for k in 0..rows {
        let span = block.offsets[k]..block.offsets[k + 1];
        let total: f64 = y[span.clone()].iter().sum();
        assert!((total - 1.0).abs() < 1e-12, "{} row {k} sums to {total}", case());
        let dot: f64 = span.clone().map(|i| y[i] * block.gain[i]).sum();
        let size: f64 = span.clone().map(|i| y[i] * block.gain[i].abs()).sum();
        assert!((dot - value[k]).abs() <= 1e-13 * size, "{} value", case());
        for i in span {
            // y = eˡ is known to the last bit of l.
            let bits = if step.is_entropy() { 4e-16 * state.mirror[i].abs() } else { 0.0 };
            let error = (sum[i] - y[i]).abs();
            assert!(error <= (2e-14 + bits) * y[i] + 1e-300, "{} sum", case());
        }
    }
    let used = distance(step.is_kl(), &y, &block.nominal);
    // y is known to the last bit, and so is y − y⁰, whatever the radius.
    let bits = match step {
        Step::KlEuclidean | Step::KlEntropy => 1e-15,
        Step::EllipsoidEuclidean => 1e-15 * block.radius.sqrt(),
        Step::EllipsoidEntropy => 1e-14 * block.radius.sqrt(), // through ln y
    };
    let slack = 1e-11 * block.radius + bits + 1e-30;
    assert!(used <= block.radius + slack, "{} uses {used:e}", case());
    if block.radius == 0.0 {
        return;
    }
    let row_of = |i: usize| block.offsets.partition_point(|&o| o <= i) - 1;
    let gradient: Vec<f64> = (0..n)
        .map(|i| {
            let g = sigma * x[row_of(i)] * block.gain[i];
            let moved = match step {
                Step::EllipsoidEuclidean | Step::KlEuclidean => y[i] - before[i],
                Step::EllipsoidEntropy | Step::KlEntropy => state.mirror[i] - mirror_before[i],
            };
            g - moved
        })
        .collect();
    let normal: Vec<f64> = (0..n)
        .map(|i| match step {
            Step::EllipsoidEuclidean | Step::EllipsoidEntropy => y[i] - block.nominal[i],
            Step::KlEuclidean => (y[i] / block.nominal[i]).ln(),
            Step::KlEntropy => state.mirror[i],
        })
        .collect();
    let active: Vec<bool> = y.iter().map(|y| step.is_entropy() || *y > 1e-290).collect();
    let centred = |f: &[f64]| -> Vec<f64> {
        let mut out = f.to_vec();
        for k in 0..rows {
            let span = block.offsets[k]..block.offsets[k + 1];
            let count = span.clone().filter(|&i| active[i]).count() as f64;
            let mean = span.clone().filter(|&i| active[i]).map(|i| f[i]).sum::<f64>() / count;
            span.for_each(|i| out[i] -= mean);
        }
        out
    };
    let (g, c) = (centred(&gradient), centred(&normal));
    let on = |f: fn(f64, f64) -> f64| -> f64 {
        (0..n).filter(|&i| active[i]).map(|i| f(g[i], c[i])).sum()
    };
    let binding = used >= block.radius * (1.0 - 1e-11) - bits;
    let curvature = on(|_, c| c * c);
    let mu = if binding && curvature > 0.0 { on(|g, c| g * c) / curvature } else { 0.0 };
    let size =
        |f: &[f64]| f.iter().zip(&active).filter(|a| *a.1).fold(0.0_f64, |m, f| m.max(f.0.abs()));
    // Differences of iterates are known to the last bit of the larger of them, no better.
    let scale = size(&gradient).max(mu.abs() * size(&normal)).max(size(&state.mirror)).max(1e-3);
    assert!(mu >= -1e-9 * scale / size(&normal).max(1e-300), "{} μ = {mu:e}", case());
    let bits_y = 5e-14; // what is known of ln y, times the ball's multiplier
    for i in 0..n {
        let residual = g[i] - mu * c[i];
        if active[i] {
            assert!(
                residual.abs() <= 1e-11 * scale + bits_y * mu,
                "{} residual {residual:e} of {scale:e} mu {mu:e} used {used:e}",
                case()
            );
        } else if !step.is_kl() {
            assert!(residual <= 1e-11 * scale + bits_y * mu, "{} off-support {residual:e}", case());
        }
    }
}

#[test]
fn proximal_steps_satisfy_their_optimality_conditions() {
    let mut rng = Xoshiro256::new(11);
    for step in STEPS {
        for (block, why) in blocks(&mut rng, step.is_kl()) {
            for radius in [0.0, 1e-12, 1e-6, 1e-3, 0.05, 0.7, 3.0, 1e3] {
                let block = Owned { radius, ..block.clone() };
                let size = block.gain.iter().fold(1e-12_f64, |m, b| m.max(b.abs()));
                for sigma in [1e-3, 0.3, 30.0] {
                    let start: Vec<f64> = if step == Step::EllipsoidEntropy {
                        let width = (block.offsets[1] - block.offsets[0]) as f64;
                        block.nominal.iter().map(|p| 0.9 * p + 0.1 / width).collect()
                    } else {
                        block.nominal.clone()
                    };
                    let (mirror, row) = step.encode(&block, &start);
                    let mut state = State { mirror, row, budget: 0.0 };
                    for _ in 0..6 {
                        // Extrapolated policies have negative entries too.
                        let x: Vec<f64> =
                            (0..block.rows()).map(|_| 2.0 * rng.uniform() - 0.5).collect();
                        check_step(step, &block, sigma / size, &x, &mut state, why);
                    }
                }
            }
        }
    }
}

/// Two next states: a row is one number, and the step can be searched exhaustively.
#[test]
fn proximal_steps_beat_a_brute_force_search() {
    let mut rng = Xoshiro256::new(5);
    for step in STEPS {
        for _ in 0..20 {
            let rows = 1 + rng.below(2) as usize;
            let mut block = Owned::random(&mut rng, rows, 2, 0.0, 4.0);
            block.radius = 0.3 * rng.uniform().powi(2);
            let (mirror, row) = step.encode(&block, &block.nominal);
            let mut state = State { mirror, row, budget: 0.0 };
            let x: Vec<f64> = (0..rows).map(|_| rng.uniform()).collect();
            let (mut sum, mut value) = (vec![0.0; 2 * rows], vec![0.0; rows]);
            step.run(&block, 0.5, &x, &mut state, &mut sum, &mut value);
            let objective = |p: &[f64]| -> f64 {
                let y: Vec<f64> = p.iter().flat_map(|p| [*p, 1.0 - p]).collect();
                if distance(step.is_kl(), &y, &block.nominal) > block.radius * (1.0 + 1e-9) {
                    return f64::NEG_INFINITY;
                }
                let gain: f64 = (0..2 * rows).map(|i| 0.5 * x[i / 2] * block.gain[i] * y[i]).sum();
                gain - distance(step.is_entropy(), &y, &block.nominal)
            };
            let found: Vec<f64> = (0..rows).map(|k| sum[2 * k]).collect();
            let grid = 400_u32;
            let at = |i: u64| i as f64 / f64::from(grid);
            let mut best = f64::NEG_INFINITY;
            for i in 0..=u64::from(grid) {
                for j in 0..=(if rows == 2 { u64::from(grid) } else { 0 }) {
                    best = best.max(objective(&[at(i), at(j)][..rows]));
                }
            }
            let mine = objective(&found);
            assert!(mine >= best - 1e-12, "{step:?}: {mine} against {best}");
            // Nearby points are no better either.
            for d in [1e-3, 1e-4, 1e-5] {
                for k in 0..rows {
                    for s in [-d, d] {
                        let mut p = found.clone();
                        p[k] = (p[k] + s).clamp(0.0, 1.0);
                        assert!(objective(&p) <= mine + 1e-12, "{step:?} near");
                    }
                }
            }
        }
    }
}
