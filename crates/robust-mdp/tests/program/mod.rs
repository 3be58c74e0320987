//! Small conic programs for Clarabel, put together from affine expressions.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, SolverStatus,
    SupportedConeT::{self, ExponentialConeT, NonnegativeConeT, SecondOrderConeT, ZeroConeT},
};

/// Σ coefficient·variable + constant.
pub(crate) type Affine = (Vec<(usize, f64)>, f64);

pub(crate) struct Program {
    variables: usize,
    rows: Vec<Affine>,
    cones: Vec<SupportedConeT<f64>>,
}

impl Program {
    pub(crate) fn new() -> Program {
        Program { variables: 0, rows: Vec::new(), cones: Vec::new() }
    }

    pub(crate) fn variable(&mut self) -> usize {
        self.variables += 1;
        self.variables - 1
    }

    /// The expression is 0.
    pub(crate) fn zero(&mut self, of: Affine) {
        self.rows.push(of);
        self.cones.push(ZeroConeT(1));
    }

    /// The expression is ≥ 0.
    pub(crate) fn at_least_zero(&mut self, of: Affine) {
        self.rows.push(of);
        self.cones.push(NonnegativeConeT(1));
    }

    /// The norm of all but the first is at most the first.
    pub(crate) fn cone(&mut self, of: Vec<Affine>) {
        self.cones.push(SecondOrderConeT(of.len()));
        self.rows.extend(of);
    }

    /// y·e^(x/y) ≤ z, y ≥ 0.
    pub(crate) fn exponential(&mut self, of: [Affine; 3]) {
        self.cones.push(ExponentialConeT());
        self.rows.extend(of);
    }

    /// The largest value of a variable, if the solver finds it.
    pub(crate) fn maximum_of(&self, x: usize) -> Option<f64> {
        // Ax + s = b with s the expressions.
        let (mut at, mut to, mut numbers, mut b) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (k, (terms, constant)) in self.rows.iter().enumerate() {
            b.push(*constant);
            for (variable, coefficient) in terms {
                at.push(k);
                to.push(*variable);
                numbers.push(-coefficient);
            }
        }
        let (m, n) = (self.rows.len(), self.variables);
        let a = CscMatrix::new_from_triplets(m, n, at, to, numbers);
        let mut costs = vec![0.0; n];
        costs[x] = -1.0;
        let settings = DefaultSettings { verbose: false, ..DefaultSettings::default() };
        let none = CscMatrix::zeros((n, n));
        let mut solver = DefaultSolver::new(&none, &costs, &a, &b, &self.cones, settings).ok()?;
        solver.solve();
        let solution = &solver.solution;
        (solution.status == SolverStatus::Solved).then_some(solution.x[x])
    }
}
