//! The exact oracle: a state's robust Bellman update to rounding, by Newton's method on the
//! multipliers of its rows.
//!
//! `update` bounds F(v)_s = min_x max_y Σ_a x_a(c_a + ⟨b_a, y_a⟩) and leaves the policy of the
//! upper bound; `respond` bounds F_x(v)_s for a policy that is given. Both can add the state's row
//! Σ_a x_a·y_a to a chain.

mod active;
mod ball;
mod centred;
mod cumulants;
mod draft;
mod driver;
mod ellipsoid;
mod emit;
mod forms;
mod kernel;
mod kl;
mod lifts;
mod look_ahead;
mod nested;
mod nominal;
pub(crate) mod outlook;
mod pilot;
mod prices;
mod rows;
mod saturation;
mod standing;
mod sums;
mod table;
mod tilt;
mod tops;
mod typical;

pub(crate) use active::RowMemory;
pub(crate) use lifts::Goal;
pub(crate) use pilot::Pilot;
pub(crate) use rows::Reading;

use self::active::Active;
use self::ball::{Ball, Outcome};
use self::cumulants::Cumulants;
use self::driver::{fixed, free};
use self::ellipsoid::Ellipsoid;
use self::kl::Kl;
use self::outlook::Outlook;
use self::rows::{Nominals, Rows, RowsMemory};
use self::sums::Sums;
use self::table::Table;
use crate::algorithm::sweep::ChainRows;
use crate::lanes::dispatch;
use crate::model::Model;
use crate::uncertainty::{Distance, Enclosure, Radius, Rectangularity, UncertaintySet};

/// The exact oracle of a model and a set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exact<'a> {
    pub(crate) model: &'a Model,
    pub(crate) set: &'a UncertaintySet,
    reading: Reading,
    /// No state has any uncertainty.
    nominal: bool,
}

/// Working memory of a thread.
#[derive(Debug, Default)]
pub(crate) struct Worker {
    rows: RowsMemory,
    scratch: Scratch,
}

#[derive(Debug, Default)]
struct Scratch {
    active: Active,
    sums: Sums,
    cumulants: Cumulants,
    table: Table,
    list: Vec<u32>,
    weight: Vec<f64>,
    value: Vec<f64>,
    /// Row entries visited so far.
    entries: u64,
}

impl Worker {
    /// Row entries visited since the last call.
    pub(crate) fn take_entries(&mut self) -> u64 {
        std::mem::take(&mut self.scratch.entries)
    }

    /// Gives back what was taken, to be counted later.
    pub(crate) fn give_entries(&mut self, entries: u64) {
        self.scratch.entries += entries;
    }
}

impl<'a> Exact<'a> {
    pub(crate) fn new(model: &'a Model, set: &'a UncertaintySet) -> Exact<'a> {
        let nominal = set.distance == Distance::None || set.radius == Radius::Uniform(0.0);
        Exact { model, set, reading: Reading::new(model, set), nominal }
    }

    /// Whether rows may put mass outside of their nominal support.
    pub(crate) fn spreads(&self) -> bool {
        self.reading == Reading::WithTail
    }

    /// The values of a sweep, for this oracle.
    pub(crate) fn outlook(&self) -> Outlook {
        let ranked = match self.reading {
            Reading::Shared => self.set.distance == Distance::Kl && !self.nominal,
            Reading::Gathered => false,
            Reading::WithTail => true,
        };
        Outlook::new(self.model.discount(), self.model.states(), self.reading, ranked)
    }

    /// Gives rows of which nothing is known the floors that their costs tell.
    fn foresee(&self, s: usize, ahead: &Outlook, memory: &mut RowMemory<'_>) {
        let unknown = memory.floor.first() == Some(&f64::NEG_INFINITY);
        if unknown && !self.model.has_transition_costs() {
            ahead.foresee(&self.model.cost[self.model.rows_of(s)], memory.floor);
        }
    }

    /// Encloses F(v)_s; `x` receives the policy of the upper bound.
    pub(crate) fn update(
        &self,
        s: usize,
        ahead: &Outlook,
        tolerance: f64,
        mut memory: RowMemory<'_>,
        x: &mut [f64],
        worker: &mut Worker,
        chain: Option<&mut ChainRows<'_>>,
    ) -> Enclosure {
        self.foresee(s, ahead, &mut memory);
        let Worker { rows, scratch } = worker;
        if self.nominal {
            let value = self.nominal_update(s, ahead, memory, x, &mut scratch.entries);
            if let Some(chain) = chain {
                self.nominal_chain_row(s, x, chain);
            }
            return value;
        }
        let rows = Rows::load(self.model, self.reading, s, ahead, rows);
        let mut state = State { oracle: self, s, rows, ahead, tolerance, memory, scratch };
        let value = match self.set.rectangularity {
            Rectangularity::State if state.radius(0) > 0.0 => state.shared(x),
            _ => state.separate(x),
        };
        if let Some(chain) = chain {
            state.emit(x, chain);
        }
        value
    }

    /// Adds Σ_a x_a·y_a to the chain, for the multipliers that an update left.
    pub(crate) fn chain_row(
        &self,
        s: usize,
        ahead: &Outlook,
        memory: RowMemory<'_>,
        x: &[f64],
        worker: &mut Worker,
        chain: &mut ChainRows<'_>,
    ) {
        if self.nominal {
            return self.nominal_chain_row(s, x, chain);
        }
        let Worker { rows, scratch } = worker;
        let rows = Rows::load(self.model, self.reading, s, ahead, rows);
        State { oracle: self, s, rows, ahead, tolerance: 0.0, memory, scratch }.emit(x, chain);
    }

    /// Encloses F_x(v)_s.
    pub(crate) fn respond(
        &self,
        s: usize,
        ahead: &Outlook,
        tolerance: f64,
        mut memory: RowMemory<'_>,
        x: &[f64],
        worker: &mut Worker,
        chain: Option<&mut ChainRows<'_>>,
    ) -> Enclosure {
        self.foresee(s, ahead, &mut memory);
        let Worker { rows, scratch } = worker;
        if self.nominal {
            let value = self.nominal_response(s, ahead, x, &mut scratch.entries);
            if let Some(chain) = chain {
                self.nominal_chain_row(s, x, chain);
            }
            return value;
        }
        let rows = Rows::load(self.model, self.reading, s, ahead, rows);
        let mut state = State { oracle: self, s, rows, ahead, tolerance, memory, scratch };
        let value = match self.set.rectangularity {
            Rectangularity::State if state.radius(0) > 0.0 => state.respond_shared(x),
            _ => state.respond_separate(x),
        };
        if let Some(chain) = chain {
            state.emit(x, chain);
        }
        value
    }
}

/// One state under work.
struct State<'a, 'w> {
    oracle: &'a Exact<'a>,
    s: usize,
    rows: Rows<'a>,
    ahead: &'a Outlook,
    tolerance: f64,
    memory: RowMemory<'w>,
    scratch: &'w mut Scratch,
}

impl State<'_, '_> {
    fn radius(&self, k: usize) -> f64 {
        self.oracle.set.radius_at(self.s, self.oracle.model.rows_of(self.s).start + k)
    }

    /// Runs a driver on the ball of the set.
    fn on_ball<T>(&mut self, radius: f64, drive: impl Drive<T>) -> T {
        let Scratch { active, sums, cumulants, table, entries, .. } = &mut *self.scratch;
        let (rows, ahead, memory) = (self.rows, self.ahead, &mut self.memory);
        if self.oracle.set.distance == Distance::Kl {
            cumulants.tops.clear(rows.len());
            let mut ball = Kl { rows, ahead, radius, active, cumulants, table, entries };
            drive.on(&mut ball, memory)
        } else {
            let mut ball = Ellipsoid { rows, ahead, radius, active, sums, entries };
            drive.on(&mut ball, memory)
        }
    }

    /// Rows that share one budget.
    fn shared(&mut self, x: &mut [f64]) -> Enclosure {
        let radius = self.radius(0);
        let tolerance = self.tolerance;
        let outcome = self.on_ball(radius, Free { tolerance });
        x.fill(0.0);
        match outcome {
            Outcome::Met(value) => {
                self.remember();
                let Active { row, t, .. } = &self.scratch.active;
                let total: f64 = t[..row.len()].iter().sum();
                for (&k, &t) in row.iter().zip(t) {
                    x[k as usize] = t / total;
                }
                value
            }
            Outcome::Peak { bounds, level } => {
                let k = self.scratch.active.row[0] as usize;
                x[k] = 1.0;
                (self.memory.t[k], self.memory.nu[k]) = (f64::INFINITY, level);
                bounds
            }
        }
    }

    /// Keeps the multipliers of the rows under work.
    fn remember(&mut self) {
        let Active { row, t, nu, .. } = &self.scratch.active;
        self.memory.t.fill(0.0);
        for ((&k, &t), &nu) in row.iter().zip(t).zip(nu) {
            (self.memory.t[k as usize], self.memory.nu[k as usize]) = (t, nu);
        }
    }

    /// Rows with budgets of their own, or none at all: the least row counts.
    fn separate(&mut self, x: &mut [f64]) -> Enclosure {
        let rows = self.rows.len();
        let best_before = (0..rows).find(|&k| self.memory.t[k] > 0.0);
        let best_before = best_before.unwrap_or_else(|| self.floors_from_nominal());
        let mut best = self.row_value(best_before);
        let mut chosen = best_before;
        let nominal = (0..rows).all(|k| self.radius(k) == 0.0);
        if nominal {
            (chosen, best) = self.least_nominal(chosen, best);
        } else {
            let mut lower = best.lower;
            for k in 0..rows {
                if k == best_before || self.memory.floor[k] + self.ahead.drift >= best.upper {
                    continue;
                }
                let value = self.row_value(k);
                lower = lower.min(value.lower);
                if value.upper < best.upper {
                    (chosen, best) = (k, value);
                }
            }
            best.lower = lower.min(best.upper);
        }
        x.fill(0.0);
        x[chosen] = 1.0;
        // The multiplier's sign tells the next sweep where to begin.
        for k in (0..rows).filter(|&k| k != chosen) {
            self.memory.t[k] = -self.memory.t[k].abs();
        }
        self.memory.t[chosen] = self.memory.t[chosen].abs();
        best
    }

    /// The worst case of row k alone.
    fn row_value(&mut self, k: usize) -> Enclosure {
        let radius = self.radius(k);
        let anchor = self.ahead.anchor;
        self.memory.t[k] = self.memory.t[k].abs();
        let value = if radius > 0.0 {
            let (list, tolerance) = ([k as u32], self.tolerance);
            let outcome = self.on_ball(radius, Fixed { rows: &list, x: &[1.0], tolerance });
            self.memory.t[k] = self.scratch.active.t[0];
            self.memory.nu[k] = self.scratch.active.nu[0];
            outcome.bounds()
        } else {
            let mut out = [0.0];
            self.scratch.entries += self.rows.span(k).len() as u64;
            dispatch(Nominals { rows: self.rows, list: &[k as u32], out: &mut out });
            self.memory.t[k] = f64::MIN_POSITIVE;
            Enclosure { lower: out[0], upper: out[0] }
        };
        let slack = 16.0 * f64::EPSILON * (value.lower.abs() + self.rows.range + anchor.abs());
        self.memory.floor[k] = value.lower - slack - anchor;
        value
    }

    /// Where no row has been solved: nature does no worse than the nominal row, which one pass tells and
    /// which leaves most rows out of the question. The least of them is where to begin. Rows that cost more
    /// than another can ever be worth are not read.
    fn floors_from_nominal(&mut self) -> usize {
        let Scratch { list, value, entries, .. } = &mut *self.scratch;
        let bar = dispatch(active::Least(self.rows.base)) - self.ahead.drift;
        list.clear();
        list.extend((0..self.rows.len() as u32).filter(|&k| self.memory.floor[k as usize] < bar));
        value.resize(list.len(), 0.0);
        *entries += list.iter().map(|&k| self.rows.span(k as usize).len() as u64).sum::<u64>();
        dispatch(Nominals { rows: self.rows, list, out: value });
        let (anchor, mut least) = (self.ahead.anchor, (f64::INFINITY, 0));
        for (&k, &value) in list.iter().zip(&*value) {
            let slack = 16.0 * f64::EPSILON * (value.abs() + self.rows.range + anchor.abs());
            let floor = &mut self.memory.floor[k as usize];
            *floor = floor.max(value - slack - anchor);
            if value < least.0 {
                least = (value, k as usize);
            }
        }
        least.1
    }

    /// The least nominal value, rows that cannot have it left unread.
    fn least_nominal(&mut self, mut chosen: usize, mut best: Enclosure) -> (usize, Enclosure) {
        let Scratch { list, value, entries, .. } = &mut *self.scratch;
        list.clear();
        let bar = best.upper - self.ahead.drift;
        list.extend((0..self.rows.len() as u32).filter(|&k| self.memory.floor[k as usize] < bar));
        value.resize(list.len(), 0.0);
        *entries += list.iter().map(|&k| self.rows.span(k as usize).len() as u64).sum::<u64>();
        dispatch(Nominals { rows: self.rows, list, out: value });
        for (&k, &value) in list.iter().zip(&*value) {
            let anchor = self.ahead.anchor;
            let slack = 16.0 * f64::EPSILON * (value.abs() + self.rows.range + anchor.abs());
            self.memory.floor[k as usize] = value - slack - anchor;
            if value < best.upper {
                (chosen, best) = (k as usize, Enclosure { lower: value, upper: value });
            }
        }
        self.memory.t[chosen] = f64::MIN_POSITIVE;
        (chosen, best)
    }

    fn respond_shared(&mut self, x: &[f64]) -> Enclosure {
        let (radius, tolerance) = (self.radius(0), self.tolerance);
        let mut rows = std::mem::take(&mut self.scratch.list);
        let mut weight = std::mem::take(&mut self.scratch.weight);
        rows.clear();
        weight.clear();
        for (k, &x) in x.iter().enumerate().filter(|(_, x)| **x > 0.0) {
            rows.push(k as u32);
            weight.push(x);
        }
        let outcome = self.on_ball(radius, Fixed { rows: &rows, x: &weight, tolerance });
        self.memory.t.fill(0.0);
        let Active { row, t, nu, .. } = &self.scratch.active;
        for ((&k, &t), &nu) in row.iter().zip(t).zip(nu) {
            (self.memory.t[k as usize], self.memory.nu[k as usize]) = (t, nu);
        }
        if let Outcome::Peak { level, .. } = outcome {
            self.memory.nu.fill(level);
        }
        (self.scratch.list, self.scratch.weight) = (rows, weight);
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

/// A driver for either ball.
trait Drive<T> {
    fn on<B: Ball>(self, ball: &mut B, memory: &mut RowMemory<'_>) -> T;
}

struct Free {
    tolerance: f64,
}

impl Drive<Outcome> for Free {
    fn on<B: Ball>(self, ball: &mut B, memory: &mut RowMemory<'_>) -> Outcome {
        free(ball, memory, self.tolerance)
    }
}

struct Fixed<'x> {
    rows: &'x [u32],
    x: &'x [f64],
    tolerance: f64,
}

impl Drive<Outcome> for Fixed<'_> {
    fn on<B: Ball>(self, ball: &mut B, memory: &mut RowMemory<'_>) -> Outcome {
        fixed(ball, memory, self.rows, self.x, self.tolerance)
    }
}
