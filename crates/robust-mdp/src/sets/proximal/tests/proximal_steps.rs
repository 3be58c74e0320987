//! Proximal steps: optimality conditions, and a search where a row is one number.

use super::{CASES, Case, Owned, State, blocks};
use crate::geometry::Geometry;
use crate::instances::Xoshiro256;
use crate::sets::EntryData;
use crate::sets::ellipsoid::Ellipsoid;
use crate::sets::kl::Kl;
use crate::sets::proximal::Mirror;
use crate::sets::set::Set;

/// One step and its check: feasible, and G − μ∇D constant on each row's support, no larger off it.
fn check_step(case: &Case, block: &Owned, sigma: f64, x: &[f64], state: &mut State, why: &str) {
    let (rows, n) = (block.rows(), block.nominal.len());
    let mirror_before = state.mirror.clone();
    let [sum, value] = state.step(case.prox, block, sigma, x);
    let y = case.decode(block, &state.mirror);
    let entropy = case.geometry == Geometry::Entropy;
    let name = || format!("{} {why} σ={sigma:e} α={:e}", case.name, block.radius);
    assert!(y.iter().all(|y| *y >= 0.0 && y.is_finite()), "{}", name());
    for k in 0..rows {
        let span = block.offsets[k]..block.offsets[k + 1];
        let total: f64 = y[span.clone()].iter().sum();
        assert!((total - 1.0).abs() < 1e-12, "{} row {k} sums to {total}", name());
        let dot: f64 = span.clone().map(|i| y[i] * block.gain[i]).sum();
        let size: f64 = span.clone().map(|i| y[i] * block.gain[i].abs()).sum();
        assert!((dot - value[k]).abs() <= 1e-13 * size, "{} value", name());
        for i in span {
            // y = eˡ is known to the last bit of l.
            let bits = if entropy { 4e-16 * state.mirror[i].abs() } else { 0.0 };
            let error = (sum[i] - y[i]).abs();
            assert!(error <= (2e-14 + bits) * y[i] + 1e-300, "{} sum", name());
        }
    }
    let used = case.set.distance(&block.nominal, &y, EntryData::default());
    // y is known to the last bit, and so is y − y⁰, whatever the radius.
    let bits = match (case.keeps_support(), case.geometry) {
        (true, _) => 1e-15,
        (false, Geometry::Euclidean) => 1e-15 * block.radius.sqrt(),
        (false, Geometry::Entropy) => 1e-14 * block.radius.sqrt(), // through ln y
    };
    let slack = 1e-11 * block.radius + bits + 1e-30;
    assert!(used <= block.radius + slack, "{} uses {used:e}", name());
    if block.radius == 0.0 {
        return;
    }
    let row_of = |i: usize| block.offsets.partition_point(|&o| o <= i) - 1;
    let moved = |i: usize| state.mirror[i] - mirror_before[i];
    let gradient: Vec<f64> =
        (0..n).map(|i| sigma * x[row_of(i)] * block.gain[i] - moved(i)).collect();
    let normal = |i: usize| match case.prox.mirror() {
        Mirror::LogRatio => state.mirror[i],
        Mirror::Point | Mirror::Log => (case.normal)(y[i], block.nominal[i]),
    };
    let normal: Vec<f64> = (0..n).map(normal).collect();
    let active: Vec<bool> = y.iter().map(|y| entropy || *y > 1e-290).collect();
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
    assert!(mu >= -1e-9 * scale / size(&normal).max(1e-300), "{} μ = {mu:e}", name());
    let bits_y = 5e-14; // what is known of ln y, times the ball's multiplier
    for i in 0..n {
        let residual = g[i] - mu * c[i];
        if active[i] {
            assert!(
                residual.abs() <= 1e-11 * scale + bits_y * mu,
                "{} residual {residual:e} of {scale:e} mu {mu:e} used {used:e}",
                name()
            );
        } else if !case.keeps_support() {
            assert!(residual <= 1e-11 * scale + bits_y * mu, "{} off-support {residual:e}", name());
        }
    }
}

#[test]
fn proximal_steps_satisfy_their_optimality_conditions() {
    let mut rng = Xoshiro256::new(11);
    for case in &CASES {
        for (block, why) in blocks(&mut rng, case.keeps_support()) {
            for radius in [0.0, 1e-12, 1e-6, 1e-3, 0.05, 0.7, 3.0, 1e3] {
                let block = Owned { radius, ..block.clone() };
                let size = block.gain.iter().fold(1e-12_f64, |m, b| m.max(b.abs()));
                for sigma in [1e-3, 0.3, 30.0] {
                    let mut state = State::start(case.prox, &block);
                    for _ in 0..6 {
                        // Extrapolated policies have negative entries too.
                        let x: Vec<f64> =
                            (0..block.rows()).map(|_| 2.0 * rng.uniform() - 0.5).collect();
                        check_step(case, &block, sigma / size, &x, &mut state, why);
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
    for case in &CASES {
        for _ in 0..20 {
            let rows = 1 + rng.below(2) as usize;
            let mut block = Owned::random(&mut rng, rows, 2, 0.0, 4.0);
            block.radius = 0.3 * rng.uniform().powi(2);
            let mut state = State::start(case.prox, &block);
            let centre = case.decode(&block, &state.mirror);
            let x: Vec<f64> = (0..rows).map(|_| rng.uniform()).collect();
            let [sum, _] = state.step(case.prox, &block, 0.5, &x);
            let objective = |p: &[f64]| -> f64 {
                let y: Vec<f64> = p.iter().flat_map(|p| [*p, 1.0 - p]).collect();
                if case.set.distance(&block.nominal, &y, EntryData::default())
                    > block.radius * (1.0 + 1e-9)
                {
                    return f64::NEG_INFINITY;
                }
                let gain: f64 = (0..2 * rows).map(|i| 0.5 * x[i / 2] * block.gain[i] * y[i]).sum();
                let bregman: &dyn Set = match case.geometry {
                    Geometry::Euclidean => &Ellipsoid,
                    Geometry::Entropy => &Kl,
                };
                gain - bregman.distance(&centre, &y, EntryData::default())
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
            assert!(mine >= best - 1e-12, "{}: {mine} against {best}", case.name);
            // Nearby points are no better either.
            for d in [1e-3, 1e-4, 1e-5] {
                for k in 0..rows {
                    for s in [-d, d] {
                        let mut p = found.clone();
                        p[k] = (p[k] + s).clamp(0.0, 1.0);
                        assert!(objective(&p) <= mine + 1e-12, "{} near", case.name);
                    }
                }
            }
        }
    }
}
