//! The conic form of a set, for the interior-point oracle. One state's game is the program
//!
//! > max μ  such that  c_a + ⟨b_a, y_a⟩ ≥ μ,  Σ_i y_ai = 1,  y ≥ 0,  Σ_a κ_a·d(y_a, p_a) ≤ α,
//!
//! written in m = (μ − min Q)/unit and z, y_i = p_i + scale_i·z_i, so that all numbers are of the order of
//! one whatever the budget and the costs. All but the last line is the same for every set; a [`Cone`]
//! says its scales and appends the budget.

/// An entry of a row of the program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The nominal probability.
    pub p: f64,
    /// κ of its row.
    pub weight: f64,
    /// α, no larger than all rows together could spend.
    pub budget: f64,
    /// The entry's weight in a norm.
    pub norm: f64,
    /// Where its probability may lie.
    pub bounds: [f64; 2],
}

/// An entry as the program has it: y = p + scale·z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moved {
    /// The entry.
    pub entry: Entry,
    /// The scale that the set gave it.
    pub scale: f64,
    /// The variable z.
    pub variable: usize,
    /// Its row, counted from 0.
    pub row: usize,
}

/// What a set adds to the common program.
///
/// For ½‖y − p‖₂² one second-order cone in z = (y − p)/√(2α):
/// ```
/// use robust_mdp::sets::{Cone, Entry, Moved, Program};
///
/// struct Example;
///
/// impl Cone for Example {
///     fn scale(&self, entry: Entry, _: usize) -> f64 {
///         (2.0 * entry.budget / entry.weight).sqrt()
///     }
///
///     fn reach(&self, budget: f64) -> f64 {
///         (2.0 * budget).sqrt()
///     }
///
///     fn budget(&self, program: &mut Program, moved: &[Moved]) {
///         program.line(1.0, []);
///         moved.iter().for_each(|z| program.line(0.0, [(z.variable, -1.0)]));
///         program.second_order();
///     }
/// }
/// ```
pub trait Cone: Sync {
    /// How many scalings there are to try in turn, where the solver fails with those before.
    fn scalings(&self) -> usize {
        1
    }

    /// The scale > 0 of an entry in a scaling.
    fn scale(&self, entry: Entry, scaling: usize) -> f64;

    /// About the most by which a budget lets an entry of a row with κ = 1 move.
    fn reach(&self, budget: f64) -> f64;

    /// Whether y ≥ 0 must be said: `false` where the budget alone keeps the entry from falling below 0.
    fn may_vanish(&self, entry: Entry) -> bool {
        let _ = entry;
        true
    }

    /// Appends Σ κ·d(y, p) ≤ α over all entries, with further variables where it needs them.
    fn budget(&self, program: &mut Program, moved: &[Moved]);
}

/// A program max u₀ such that b − Au ∈ K under construction, one line after the other.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub(crate) variables: usize,
    /// The entries of A: their lines, columns and sizes.
    pub(crate) lines: Vec<usize>,
    pub(crate) columns: Vec<usize>,
    pub(crate) entries: Vec<f64>,
    pub(crate) bound: Vec<f64>,
    /// Each takes the lines since the one before.
    pub(crate) parts: Vec<(ConeKind, usize)>,
    taken: usize,
}

/// A cone that lines lie in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConeKind {
    Zero,
    Nonnegative,
    SecondOrder,
    Exponential,
}

impl Program {
    pub(crate) fn new(variables: usize) -> Program {
        Program { variables, ..Program::default() }
    }

    /// A further variable, of any sign.
    pub fn variable(&mut self) -> usize {
        self.variables += 1;
        self.variables - 1
    }

    /// Adds the line bound − Σ entry·u_variable to those that the next cone takes.
    pub fn line(&mut self, bound: f64, entries: impl IntoIterator<Item = (usize, f64)>) {
        for (column, entry) in entries {
            self.lines.push(self.bound.len());
            self.columns.push(column);
            self.entries.push(entry);
        }
        self.bound.push(bound);
    }

    /// The lines since the last cone are 0.
    pub fn zero(&mut self) {
        self.close(ConeKind::Zero);
    }

    /// The lines since the last cone are ≥ 0.
    pub fn nonnegative(&mut self) {
        self.close(ConeKind::Nonnegative);
    }

    /// The lines since the last cone are some (s, x) with ‖x‖₂ ≤ s.
    pub fn second_order(&mut self) {
        self.close(ConeKind::SecondOrder);
    }

    /// The three lines since the last cone are some (x, y, z) with y > 0 and y·e^{x/y} ≤ z.
    pub fn exponential(&mut self) {
        self.close(ConeKind::Exponential);
    }

    fn close(&mut self, part: ConeKind) {
        let count = self.bound.len() - self.taken;
        self.taken = self.bound.len();
        if count > 0 {
            self.parts.push((part, count));
        }
    }
}
