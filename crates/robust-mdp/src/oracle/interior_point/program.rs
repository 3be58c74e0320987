//! Conic programs max u₀ such that b − Au ∈ K, and Clarabel, which solves them.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

use crate::uncertainty::Block;

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

/// The entries of some rows of a block, one row after the other.
pub(super) struct Entries {
    pub(super) nominal: Vec<f64>,
    /// Row `j` is `starts[j]..starts[j + 1]`.
    pub(super) starts: Vec<usize>,
}

impl Entries {
    pub(super) fn of(block: Block<'_>, rows: &[usize]) -> Entries {
        let mut entries = Entries { nominal: Vec::new(), starts: vec![0] };
        for &k in rows {
            entries.nominal.extend_from_slice(&block.nominal[block.span(k)]);
            entries.starts.push(entries.nominal.len());
        }
        entries
    }

    pub(super) fn len(&self) -> usize {
        self.nominal.len()
    }
}

/// Where the solver stopped: variables and the multipliers of all lines.
pub(super) struct Answer {
    pub(super) primal: Vec<f64>,
    pub(super) dual: Vec<f64>,
    pub(super) solved: bool,
}

/// A program under construction, one line of b − Au after the other.
pub(super) struct Program {
    variables: usize,
    lines: Vec<usize>,
    columns: Vec<usize>,
    entries: Vec<f64>,
    bound: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
}

impl Program {
    pub(super) fn new(variables: usize) -> Program {
        Program {
            variables,
            lines: Vec::new(),
            columns: Vec::new(),
            entries: Vec::new(),
            bound: Vec::new(),
            cones: Vec::new(),
        }
    }

    /// Adds the line bound − Σ entry·u_column to those that the next cone takes.
    pub(super) fn line(&mut self, bound: f64, entries: impl IntoIterator<Item = (usize, f64)>) {
        for (column, entry) in entries {
            self.lines.push(self.bound.len());
            self.columns.push(column);
            self.entries.push(entry);
        }
        self.bound.push(bound);
    }

    /// The lines since the last cone must lie in this one.
    pub(super) fn cone(&mut self, cone: SupportedConeT<f64>) {
        self.cones.push(cone);
    }

    /// Runs the solver; `None` if it refuses the program.
    pub(super) fn solve(self) -> Option<Answer> {
        let Program { variables, lines, columns, entries, bound, cones } = self;
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
}
