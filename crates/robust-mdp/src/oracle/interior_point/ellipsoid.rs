//! The program of the ellipsoid in z = (y − y⁰)/ρ, ρ = √(2α), and m = (μ − min Q)/(ρβ):
//!
//! > max m  such that  m − ⟨b̂_a, z_a⟩ ≤ (Q_a − min Q)/(ρβ),  Σ_i z_ai = 0,  z ≥ −y⁰/ρ,  ‖z‖₂ ≤ 1,
//!
//! with Q_a the nominal values, b̂_a = (b_a − mean b_a)/β and β the largest |b_a − mean b_a|.
//! Everything is of the order of one whatever the budget and the costs; entries with y⁰ ≥ ρ cannot
//! become negative and need no constraint.

use clarabel::solver::SupportedConeT::{NonnegativeConeT, SecondOrderConeT, ZeroConeT};

use super::program::{Candidate, Entries, Program};
use crate::uncertainty::Block;

/// Asks for the rows `rows`, whose nominal values exceed the least one by `excess`.
pub(super) fn solve(block: Block<'_>, rows: &[usize], excess: &[f64]) -> Option<Candidate> {
    let actions = rows.len();
    // No kernel is farther than √(2A) from another.
    let rho = (2.0 * block.radius.min(actions as f64)).sqrt();
    let Centred { gain, beta } = Centred::of(block, rows);
    let unit = rho * beta;
    if !unit.is_normal() {
        return None;
    }
    let entries = Entries::of(block, rows);
    let variable = |i: usize| 1 + i;

    let mut program = Program::new(1 + entries.len());
    for row in entries.starts.windows(2) {
        program.line(0.0, (row[0]..row[1]).map(|i| (variable(i), 1.0)));
    }
    program.cone(ZeroConeT(actions));
    for (row, excess) in entries.starts.windows(2).zip(excess) {
        let lifted = (row[0]..row[1]).map(|i| (variable(i), -gain[i] / beta));
        program.line(excess / unit, std::iter::once((0, 1.0)).chain(lifted));
    }
    let mut bounded = 0;
    for (i, y0) in entries.nominal.iter().enumerate().filter(|(_, y0)| **y0 < rho) {
        program.line(y0 / rho, [(variable(i), -1.0)]);
        bounded += 1;
    }
    program.cone(NonnegativeConeT(actions + bounded));
    program.line(1.0, []);
    for i in 0..entries.len() {
        program.line(0.0, [(variable(i), -1.0)]);
    }
    program.cone(SecondOrderConeT(1 + entries.len()));

    let answer = program.solve()?;
    let moved = entries.nominal.iter().zip(&answer.primal[1..]);
    let y = moved.map(|(y0, z)| y0 + rho * z).collect();
    let x = answer.dual[actions..2 * actions].to_vec();
    Some(Candidate { x, y, solved: answer.solved })
}

/// b_a − mean b_a, row after row, and its largest size.
struct Centred {
    gain: Vec<f64>,
    beta: f64,
}

impl Centred {
    fn of(block: Block<'_>, rows: &[usize]) -> Centred {
        let mut gain = Vec::new();
        for &k in rows {
            let b = block.gain(k);
            let mean = b.iter().sum::<f64>() / b.len() as f64;
            gain.extend(b.iter().map(|b| b - mean));
        }
        let beta = gain.iter().fold(0.0_f64, |m, b| m.max(b.abs()));
        Centred { gain, beta }
    }
}
