//! The program of the KL set in u = (y − y⁰)/w, its share τ of the divergence and
//! m = (μ − min Q)/(δβ), δ = min(1, √(2α)):
//!
//! > max m  such that  m − ⟨b̂_a, w_a u_a⟩ ≤ (Q_a − min Q)/(δβ),  ⟨w_a, u_a⟩ = 0,  ⟨w, τ⟩ ≤ α,
//! > r ln(r/r⁰) ≤ τ  with  r = r⁰ + u,  r⁰ = y⁰/w,
//!
//! with Q_a the nominal values, b̂_a = (b_a − ⟨b_a, y⁰_a⟩)/(δβ) and β the largest |b|. The last line
//! is the exponential cone r e^{−τ/r} ≤ r⁰, one an entry.
//!
//! The weights are w = 1 and, where the solver fails with them, w = y⁰ and w = √y⁰. On Garnet models
//! of 50 states and actions each leaves up to one update in ten unsolved, but rarely the same one.

use clarabel::solver::SupportedConeT::{ExponentialConeT, NonnegativeConeT, ZeroConeT};

use super::program::{Candidate, Entries, Program};
use crate::uncertainty::Block;

/// Asks for the rows `rows`, whose nominal values exceed the least one by `excess`.
pub(super) fn solve(block: Block<'_>, rows: &[usize], excess: &[f64]) -> Option<Candidate> {
    let entries = Entries::of(block, rows);
    let root: Vec<f64> = entries.nominal.iter().map(|p| p.sqrt()).collect();
    let even = vec![1.0; entries.len()];
    let mut first = None;
    for weight in [&even, &entries.nominal, &root] {
        let candidate = solve_weighted(block, rows, excess, &entries, weight);
        if candidate.as_ref().is_some_and(|c| c.solved) {
            return candidate;
        }
        first = first.or(candidate);
    }
    first
}

fn solve_weighted(
    block: Block<'_>,
    rows: &[usize],
    excess: &[f64],
    entries: &Entries,
    weight: &[f64],
) -> Option<Candidate> {
    let (actions, n) = (rows.len(), entries.len());
    let spread = |&k: &usize| -block.gain(k).iter().copied().fold(0.0, f64::min);
    let unit = rows.iter().map(spread).fold(0.0, f64::max) * (2.0 * block.radius).sqrt().min(1.0);
    if !unit.is_normal() {
        return None;
    }
    let (moved, share) = (|i: usize| 1 + i, |i: usize| 1 + n + i);

    let mut program = Program::new(1 + 2 * n);
    for row in entries.starts.windows(2) {
        program.line(0.0, (row[0]..row[1]).map(|i| (moved(i), weight[i])));
    }
    program.cone(ZeroConeT(actions));
    for ((row, excess), &k) in entries.starts.windows(2).zip(excess).zip(rows) {
        let mean = block.nominal_value[k];
        let lifted = (row[0]..row[1]).zip(block.gain(k));
        let lifted = lifted.map(|(i, b)| (moved(i), weight[i] * (mean - b) / unit));
        program.line(excess / unit, std::iter::once((0, 1.0)).chain(lifted));
    }
    program.line(1.0, (0..n).map(|i| (share(i), weight[i] / block.radius)));
    program.cone(NonnegativeConeT(actions + 1));
    for i in 0..n {
        let from = entries.nominal[i] / weight[i];
        program.line(0.0, [(share(i), 1.0)]);
        program.line(from, [(moved(i), -1.0)]);
        program.line(from, []);
        program.cone(ExponentialConeT());
    }

    let answer = program.solve()?;
    let y = (0..n).map(|i| entries.nominal[i] + weight[i] * answer.primal[moved(i)]).collect();
    let x = answer.dual[actions..2 * actions].to_vec();
    Some(Candidate { x, y, solved: answer.solved })
}
