//! The exact oracle: a state's robust Bellman update to rounding, from the price of its rows
//! ([`crate::sets::set`]).
//!
//! `update` bounds F(v)_s = min_x max_y Σ_a x_a(c_a + ⟨b_a, y_a⟩) and leaves the policy of the
//! upper bound; `respond` bounds F_x(v)_s for a policy that is given. Both can add the state's row
//! Σ_a x_a·y_a to a chain.
//!
//! - [`driver`]: screening, saturation, joint steps, and when bounds have met
//! - [`joint`]: what a driver of a kind of rows does; [`quadratic`], [`tilt`] (with [`table`])
//! - [`bracketed`], below them: row by row, for every set
//! - [`saturation`]: budgets that do not bind
//! - [`problem`], [`active`]: one state, its active rows, what rows remember
//! - [`chain_row`], [`kernel`], [`multipliers`]: nature's rows, for chains, answers and certificates
//! - [`nominal`]: states without uncertainty

mod active;
mod bracketed;
mod chain_row;
mod driver;
mod joint;
mod kernel;
mod multipliers;
mod nominal;
mod problem;
mod quadratic;
mod saturation;
mod table;
mod tilt;

pub(crate) use active::RowMemory;
pub(crate) use multipliers::{Goal, Points, largest_factor};

use self::active::{Active, least};
use self::driver::{Driver, fixed, free};
use self::problem::{StateOutcome, StateProblem};
use self::quadratic::{Forms, QuadraticRows};
use self::table::MomentTable;
use self::tilt::{Cumulants, TiltedRows};
use crate::chain::ChainRows;

use crate::model::{Model, NominalRow};
use crate::rows::{RowForm, RowSource, Rows, RowsMemory, SweepValues};
use crate::sets::set::{Curve, RowKind, Set};
use crate::sets::{DataSource, Enclosure, Radius, Rectangularity, UncertaintySet};

/// The exact oracle of a model and a set.
#[derive(Clone, Debug)]
pub(crate) struct Exact<'a> {
    pub(crate) model: &'a Model,
    pub(crate) uncertainty: &'a UncertaintySet,
    /// `None`: no state has any uncertainty.
    set: Option<&'static dyn Set>,
    reading: RowForm,
    pub(super) data: DataSource<'a>,
    /// c_a + Σ p·c(s,a,s'), and the largest cost of a step, of every row.
    expected: &'a [f64],
    dearest: &'a [f64],
    /// What costs are computed from is no larger.
    largest: f64,
    /// Whether rows are priced one by one, whatever their kind.
    pub(crate) bracketed: bool,
    /// Whether policies maximise too; rows have budgets of their own then.
    pub(crate) cooperative: bool,
}

/// Working memory of a thread.
#[derive(Debug, Default)]
pub(crate) struct ExactScratch {
    rows: RowsMemory,
    active: Active,
    forms: Forms,
    cumulants: Cumulants,
    table: MomentTable,
    list: Vec<u32>,
    weight: Vec<f64>,
    value: Vec<f64>,
    /// Row entries visited so far.
    entries: u64,
}

impl ExactScratch {
    /// Row entries visited since the last call.
    pub(crate) fn take_entries(&mut self) -> u64 {
        std::mem::take(&mut self.entries)
    }

    /// Gives back what was taken, to be counted later.
    pub(crate) fn give_entries(&mut self, entries: u64) {
        self.entries += entries;
    }
}

impl<'a> Exact<'a> {
    pub(crate) fn new(model: &'a Model, uncertainty: &'a UncertaintySet) -> Exact<'a> {
        let set = uncertainty.distance.set();
        let set = set.filter(|_| uncertainty.radius != Radius::Uniform(0.0));
        let reading = RowForm::new(model, uncertainty, set);
        let data = DataSource::new(model, uncertainty);
        let (expected, dearest) = (model.expected_costs(), model.dearest_costs());
        let largest = model.largest_term();
        Exact {
            model,
            uncertainty,
            set,
            reading,
            data,
            expected,
            dearest,
            largest,
            bracketed: false,
            cooperative: false,
        }
    }

    /// The set's price curve. Whoever sweeps has asked before whether there is one.
    fn curve(&self) -> Option<&'static dyn Curve> {
        self.set.map(|set| set.curve().expect("a set with exact updates"))
    }

    /// Whether rows may put mass on states that they do not list.
    pub(crate) fn spreads(&self) -> bool {
        self.reading == RowForm::Outside && self.set.is_some()
    }

    /// Whether entry j of a row is among those read.
    fn reads(&self, row: NominalRow<'_>, j: usize) -> bool {
        self.reading != RowForm::Positive || self.data.opens(row, j)
    }

    /// Entries that a row of the chain may get from row r: one more for a maximum outside of its support.
    pub(crate) fn chain_entries(&self, r: usize) -> usize {
        let listed = self.model.span(r).len();
        match self.reading {
            _ if self.set.is_none() => listed,
            RowForm::Shared | RowForm::Own | RowForm::Positive => listed,
            RowForm::Outside => listed + 1,
            RowForm::Every => self.model.states() + listed,
        }
    }

    /// Whether rows lead farther than they list.
    pub(crate) fn reaches_out(&self) -> bool {
        matches!(self.reading, RowForm::Outside | RowForm::Every) && self.set.is_some()
    }

    /// The values of a sweep, for this oracle.
    pub(crate) fn values(&self) -> SweepValues {
        let (discount, states) = (self.model.discount(), self.model.states());
        let asked = self.set.is_some_and(|set| {
            !set.leaves_support() || set.curve().is_some_and(|curve| curve.sorts())
        });
        let ranked = self.reading == RowForm::Shared && asked;
        SweepValues::new(discount, states, self.model.is_dense(), ranked, self.spreads())
    }

    fn source(&self) -> RowSource<'_> {
        RowSource {
            model: self.model,
            reading: self.reading,
            data: self.data,
            everywhere: self.uncertainty.leaves_support(),
            expected: self.expected,
            dearest: self.dearest,
        }
    }

    /// Gives rows of which nothing is known the screening bounds that their costs tell.
    fn screen(&self, s: usize, values: &SweepValues, memory: &mut RowMemory<'_>) {
        if memory.screen.first() == Some(&f64::NEG_INFINITY) {
            let expected = &self.expected[self.model.rows_of(s)];
            values.bound_by_costs(expected, self.largest, memory.screen);
        }
    }

    fn state<'w>(
        &'w self,
        set: &'static dyn Curve,
        s: usize,
        values: &'w SweepValues,
        tolerance: f64,
        memory: RowMemory<'w>,
        worker: &'w mut ExactScratch,
    ) -> State<'w> {
        let ExactScratch { rows, active, forms, cumulants, table, list, weight, value, entries } =
            worker;
        let rows = Rows::new(self.source(), s, values, rows);
        let weights = self.uncertainty.weights.as_ref();
        let kappa = weights.map(|weights| &weights[self.model.rows_of(s)]);
        let problem = StateProblem { set, rows, radius: 0.0, kappa, active };
        let kind = if self.bracketed { RowKind::Bracketed } else { set.kind() };
        State {
            oracle: self,
            s,
            kind,
            tolerance,
            memory,
            problem,
            forms,
            cumulants,
            table,
            list,
            weight,
            value,
            entries,
        }
    }

    /// Encloses F(v)_s; `x` receives the policy of the upper bound.
    pub(crate) fn update(
        &self,
        s: usize,
        values: &SweepValues,
        tolerance: f64,
        mut memory: RowMemory<'_>,
        x: &mut [f64],
        worker: &mut ExactScratch,
    ) -> Enclosure {
        self.screen(s, values, &mut memory);
        let Some(set) = self.curve() else {
            return self.nominal_update(s, values, memory, x, &mut worker.entries);
        };
        let mut state = self.state(set, s, values, tolerance, memory, worker);
        let shares = self.uncertainty.rectangularity == Rectangularity::State;
        let value = match self.cooperative {
            true => state.greatest(x),
            false if shares && state.radius(0) > 0.0 => state.shared(x),
            false => state.separate(x),
        };
        state.count();
        value
    }

    /// Adds Σ_a x_a·y_a to the chain, for the multipliers that an update or a response left.
    pub(crate) fn chain_row(
        &self,
        s: usize,
        values: &SweepValues,
        memory: RowMemory<'_>,
        x: &[f64],
        worker: &mut ExactScratch,
        chain: &mut ChainRows<'_>,
    ) {
        let Some(set) = self.curve() else { return self.nominal_chain_row(s, x, chain) };
        let mut state = self.state(set, s, values, 0.0, memory, worker);
        state.add_to_chain(x, chain);
        state.count();
    }

    /// Encloses F_x(v)_s.
    pub(crate) fn respond(
        &self,
        s: usize,
        values: &SweepValues,
        tolerance: f64,
        mut memory: RowMemory<'_>,
        x: &[f64],
        worker: &mut ExactScratch,
    ) -> Enclosure {
        self.screen(s, values, &mut memory);
        let Some(set) = self.curve() else {
            return self.nominal_response(s, values, x, &mut worker.entries);
        };
        let mut state = self.state(set, s, values, tolerance, memory, worker);
        let value = state.respond(x, self.uncertainty.rectangularity);
        state.count();
        value
    }
}

/// One state that is being solved.
struct State<'w> {
    oracle: &'w Exact<'w>,
    s: usize,
    kind: RowKind<'w>,
    tolerance: f64,
    memory: RowMemory<'w>,
    problem: StateProblem<'w>,
    forms: &'w mut Forms,
    cumulants: &'w mut Cumulants,
    table: &'w mut MomentTable,
    list: &'w mut Vec<u32>,
    weight: &'w mut Vec<f64>,
    value: &'w mut Vec<f64>,
    entries: &'w mut u64,
}

impl State<'_> {
    fn radius(&self, k: usize) -> f64 {
        self.oracle.uncertainty.radius_at(self.s, self.oracle.model.rows_of(self.s).start + k)
    }

    fn count(&mut self) {
        *self.entries += std::mem::take(&mut self.problem.rows.visited);
    }

    /// Runs a driver of the kind of these rows.
    fn drive<T>(
        &mut self,
        drive: impl FnOnce(&mut StateProblem<'_>, Driver<'_>, &mut RowMemory<'_>) -> T,
    ) -> T {
        let State { problem, memory, forms, cumulants, table, .. } = self;
        match self.kind {
            RowKind::Bracketed | RowKind::Smooth | RowKind::PiecewiseLinear => {
                drive(problem, Driver::Bracketed, memory)
            }
            RowKind::Quadratic(set) => {
                drive(problem, Driver::Joint(&mut QuadraticRows { set, forms }), memory)
            }
            RowKind::Tilt(set) => {
                drive(problem, Driver::Joint(&mut TiltedRows { set, cumulants, table }), memory)
            }
        }
    }

    /// Rows that share one budget.
    fn shared(&mut self, x: &mut [f64]) -> Enclosure {
        self.problem.radius = self.radius(0);
        let tolerance = self.tolerance;
        let outcome =
            self.drive(|problem, driver, memory| free(problem, driver, memory, tolerance));
        x.fill(0.0);
        match outcome {
            StateOutcome::Met(value) => {
                let active = &*self.problem.active;
                self.memory.keep(active);
                let weight = |j: usize| active.kappa[j] * active.t[j];
                let total: f64 = (0..active.len()).map(weight).sum();
                for (j, &k) in active.row.iter().enumerate() {
                    x[k as usize] = weight(j) / total;
                }
                value
            }
            StateOutcome::Saturated { row, bounds } => {
                x[row] = 1.0;
                bounds
            }
        }
    }

    /// Rows with budgets of their own, or none at all: the least row counts.
    fn separate(&mut self, x: &mut [f64]) -> Enclosure {
        let rows = self.problem.rows.len();
        let first = self.likely_best();
        let mut best = self.row_value(first);
        let mut chosen = first;
        let mut lower = best.lower;
        let fall = self.problem.values().fall;
        for k in 0..rows {
            if k == first || self.memory.screen[k] + fall >= best.upper {
                continue;
            }
            let value = self.row_value(k);
            lower = lower.min(value.lower);
            if value.upper < best.upper {
                (chosen, best) = (k, value);
            }
        }
        best.lower = lower.min(best.upper);
        x.fill(0.0);
        x[chosen] = 1.0;
        best
    }

    /// The row of the greatest worst case, where policies maximise too; rows whose maxima are lower are not read.
    fn greatest(&mut self, x: &mut [f64]) -> Enclosure {
        let rows = self.problem.rows.len();
        let first = x.iter().position(|x| *x > 0.0).unwrap_or(0);
        let (mut chosen, mut best) = (first, self.row_value(first));
        for k in (0..rows).filter(|k| *k != first) {
            let most = self.problem.largest(k);
            if most + self.problem.noise(most) < best.lower {
                // What its maximum says is enough.
                self.memory.t[k] = f64::INFINITY;
                continue;
            }
            let value = self.row_value(k);
            best.upper = best.upper.max(value.upper);
            if value.lower > best.lower {
                (chosen, best.lower) = (k, value.lower);
            }
        }
        x.fill(0.0);
        x[chosen] = 1.0;
        best
    }

    /// The row to look at first: the one of the lowest screening bound, of worst cases where rows have
    /// been solved. Where none has been, nominal values, which are no more, tell; rows that cost more
    /// than another can ever be worth are not read.
    fn likely_best(&mut self) -> usize {
        let State { problem, memory, list, value, .. } = self;
        let lowest = |screen: &[f64]| {
            let least = least(screen);
            screen.iter().position(|bound| *bound == least).unwrap_or(0)
        };
        if memory.t.iter().any(|t| *t > 0.0) {
            return lowest(memory.screen);
        }
        let (fall, before) = (problem.values().fall, problem.values().fall_before);
        let bar = least(problem.rows.bases()) - fall;
        list.clear();
        list.extend((0..problem.rows.len() as u32).filter(|&k| memory.screen[k as usize] < bar));
        value.resize(list.len(), 0.0);
        problem.rows.nominals(list, value);
        for (&k, &nominal) in list.iter().zip(&**value) {
            let bound = nominal - problem.slack(k as usize, nominal) - before;
            let known = &mut memory.screen[k as usize];
            *known = known.max(bound);
        }
        lowest(memory.screen)
    }

    /// The worst case of row k alone.
    fn row_value(&mut self, k: usize) -> Enclosure {
        let radius = self.radius(k);
        let value = if radius > 0.0 {
            self.problem.radius = radius;
            let tolerance = self.tolerance;
            let outcome = self.drive(|problem, driver, memory| {
                fixed(problem, driver, memory, &[k as u32], &[1.0], tolerance)
            });
            self.memory.t[k] = self.problem.active.t[0];
            self.memory.nu[k] = self.problem.active.nu[0];
            outcome.bounds()
        } else {
            let value = self.problem.nominal(k);
            Enclosure { lower: value, upper: value }
        };
        let slack = self.problem.slack(k, value.lower);
        self.memory.screen[k] = value.lower - slack - self.problem.values().fall_before;
        value
    }

    /// F_x; nothing is known without a policy.
    fn respond(&mut self, x: &[f64], rectangularity: Rectangularity) -> Enclosure {
        if !x.iter().any(|x| *x > 0.0) {
            return Enclosure { lower: f64::NEG_INFINITY, upper: f64::INFINITY };
        }
        match rectangularity {
            Rectangularity::State if self.radius(0) > 0.0 => self.respond_shared(x),
            Rectangularity::State | Rectangularity::StateAction => self.respond_separate(x),
        }
    }

    fn respond_shared(&mut self, x: &[f64]) -> Enclosure {
        self.problem.radius = self.radius(0);
        let (mut rows, mut weight) = (std::mem::take(self.list), std::mem::take(self.weight));
        rows.clear();
        weight.clear();
        for (k, &x) in x.iter().enumerate().filter(|(_, x)| **x > 0.0) {
            rows.push(k as u32);
            weight.push(x);
        }
        let tolerance = self.tolerance;
        let outcome = self.drive(|problem, driver, memory| {
            fixed(problem, driver, memory, &rows, &weight, tolerance)
        });
        self.memory.keep(self.problem.active);
        (*self.list, *self.weight) = (rows, weight);
        outcome.bounds()
    }

    fn respond_separate(&mut self, x: &[f64]) -> Enclosure {
        let mut total = Enclosure { lower: 0.0, upper: 0.0 };
        for (k, &x) in x.iter().enumerate().filter(|(_, x)| **x > 0.0) {
            let value = self.row_value(k);
            total.lower += x * value.lower;
            total.upper += x * value.upper;
        }
        total
    }
}
