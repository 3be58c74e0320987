//! The program of one state's rows (see [`Cone`]), and Clarabel, which solves it.

use clarabel::algebra::CscMatrix;
use clarabel::solver::SupportedConeT::{
    self, ExponentialConeT, NonnegativeConeT, SecondOrderConeT, ZeroConeT,
};
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus};

use crate::sets::{Block, Cone, ConeKind, Entry, Moved, Program};

/// Gaps and residuals to reach, in units in which the programs here are of the order of one.
const TOLERANCE: f64 = 1e-9;

/// Steps after which the solver has failed; it takes 10 to 60 where it succeeds.
const MAX_STEPS: u32 = 200;

/// What the solver returned, whatever its status: multipliers of the rows and, row after row, their
/// distributions. Neither need be feasible or even finite.
pub(super) struct Candidate {
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
    /// Whether the solver is content with it.
    pub(super) solved: bool,
}

/// The rows of a block that a program is about.
pub(super) struct Asked<'a> {
    pub(super) block: Block<'a>,
    pub(super) rows: &'a [usize],
    /// By how much their nominal values exceed the least one.
    pub(super) excess: &'a [f64],
    /// κ of all rows of the block.
    pub(super) weights: &'a [f64],
    /// α, no larger than all rows together could spend.
    pub(super) budget: f64,
}

impl Asked<'_> {
    /// By one scaling after the other until the solver is content.
    pub(super) fn solve(&self, cone: &dyn Cone) -> Option<Candidate> {
        let mut first = None;
        for scaling in 0..cone.scalings() {
            let candidate = self.solve_scaled(cone, scaling);
            if candidate.as_ref().is_some_and(|c| c.solved) {
                return candidate;
            }
            first = first.or(candidate);
        }
        first
    }

    /// In m = (μ − min Q)/unit and z:
    ///
    /// > max m  such that  m − ⟨b̂_a, z_a⟩ ≤ (Q_a − min Q)/unit,  ⟨scale_a, z_a⟩ = 0,  p + scale·z ≥ 0,
    ///
    /// and the budget, with Q_a the nominal values, b̂_a = scale·(b_a − centre)/unit orthogonal to the
    /// scales, and unit the largest |b_a − centre| times the reach.
    fn solve_scaled(&self, cone: &dyn Cone, scaling: usize) -> Option<Candidate> {
        let (moved, starts) = self.entries(cone, scaling);
        let (gain, largest) = self.centred(&moved, &starts);
        let least = self.rows.iter().fold(f64::INFINITY, |least, &k| least.min(self.weights[k]));
        let unit = largest * cone.reach(self.budget / least);
        if !unit.is_normal() {
            return None;
        }
        let actions = self.rows.len();
        let spans = || starts.windows(2).map(|row| row[0]..row[1]);
        let mut program = Program::new(1 + moved.len());
        for span in spans() {
            program.line(0.0, moved[span].iter().map(|z| (z.variable, z.scale)));
        }
        program.zero();
        for (span, excess) in spans().zip(self.excess) {
            let moves = moved[span.clone()].iter().zip(&gain[span]);
            let moves = moves.map(|(z, b)| (z.variable, -b * (z.scale / unit)));
            program.line(excess / unit, std::iter::once((0, 1.0)).chain(moves));
        }
        for z in moved.iter().filter(|z| cone.may_vanish(z.entry)) {
            program.line((z.entry.p - z.entry.bounds[0]) / z.scale, [(z.variable, -1.0)]);
        }
        for z in moved.iter().filter(|z| z.entry.bounds[1] < 1.0) {
            program.line((z.entry.bounds[1] - z.entry.p) / z.scale, [(z.variable, 1.0)]);
        }
        program.nonnegative();
        cone.budget(&mut program, &moved);

        let answer = solve(program)?;
        let y = moved.iter().map(|z| z.entry.p + z.scale * answer.primal[z.variable]).collect();
        let x = answer.dual[actions..2 * actions].to_vec();
        Some(Candidate { x, y, solved: answer.solved })
    }

    /// The entries, one row after the other, and where rows begin.
    fn entries(&self, cone: &dyn Cone, scaling: usize) -> (Vec<Moved>, Vec<usize>) {
        let (mut moved, mut starts) = (Vec::new(), vec![0]);
        for (row, &k) in self.rows.iter().enumerate() {
            let data = self.block.data(k);
            for (j, &p) in self.block.nominal(k).iter().enumerate() {
                let entry = Entry {
                    p,
                    weight: self.weights[k],
                    budget: self.budget,
                    norm: data.weight(j),
                    bounds: data.bounds.map_or([0.0, 1.0], |b| [b.lower[j], b.upper[j]]),
                };
                let (scale, variable) = (cone.scale(entry, scaling), 1 + moved.len());
                moved.push(Moved { entry, scale, variable, row });
            }
            starts.push(moved.len());
        }
        (moved, starts)
    }

    /// b − ⟨scale², b⟩/⟨scale², 1⟩ of every row, and the largest size of that.
    fn centred(&self, moved: &[Moved], starts: &[usize]) -> (Vec<f64>, f64) {
        let mut gain = Vec::with_capacity(moved.len());
        for (&k, row) in self.rows.iter().zip(starts.windows(2)) {
            let (b, moved) = (self.block.gain(k), &moved[row[0]..row[1]]);
            // Squares of scales as shares of the largest, which may be tiny.
            let most = moved.iter().fold(f64::MIN_POSITIVE, |m, z| m.max(z.scale));
            let (mut total, mut mean) = (0.0, 0.0);
            for (b, z) in b.iter().zip(moved) {
                let share = (z.scale / most) * (z.scale / most);
                (total, mean) = (total + share, mean + share * b);
            }
            gain.extend(b.iter().map(|b| b - mean / total));
        }
        let largest = gain.iter().fold(0.0_f64, |m, b| m.max(b.abs()));
        (gain, largest)
    }
}

/// Where the solver stopped: variables and the multipliers of all lines.
struct Answer {
    primal: Vec<f64>,
    dual: Vec<f64>,
    solved: bool,
}

/// Runs the solver; `None` if it refuses the program.
fn solve(program: Program) -> Option<Answer> {
    let Program { variables, lines, columns, entries, bound, parts, .. } = program;
    let cones: Vec<SupportedConeT<f64>> = parts
        .into_iter()
        .map(|(part, lines)| match part {
            ConeKind::Zero => ZeroConeT(lines),
            ConeKind::Nonnegative => NonnegativeConeT(lines),
            ConeKind::SecondOrder => SecondOrderConeT(lines),
            ConeKind::Exponential => ExponentialConeT(),
        })
        .collect();
    let matrix = CscMatrix::new_from_triplets(bound.len(), variables, lines, columns, entries);
    let quadratic = CscMatrix::zeros((variables, variables));
    let mut objective = vec![0.0; variables];
    objective[0] = -1.0;
    let settings = DefaultSettings {
        verbose: false,
        max_iter: MAX_STEPS,
        max_threads: 1,
        tol_gap_abs: TOLERANCE,
        tol_gap_rel: TOLERANCE,
        tol_feas: TOLERANCE,
        ..DefaultSettings::default()
    };
    let solver = DefaultSolver::new(&quadratic, &objective, &matrix, &bound, &cones, settings);
    let mut solver = solver.ok()?;
    solver.solve();
    let solution = solver.solution;
    let solved = matches!(solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved);
    Some(Answer { primal: solution.x, dual: solution.z, solved })
}
