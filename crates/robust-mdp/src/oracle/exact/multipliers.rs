//! The kernel of a lower bound, row by row, as multipliers.

use super::active::RowMemory;
use super::problem::StateProblem;
use super::{Exact, ExactScratch, State};
use crate::rows::SweepValues;
use crate::sets::Rectangularity;
use crate::sets::set::{Priced, RowKind};

/// Halvings of a factor of multipliers, and of what lies between two such.
const HALVINGS: usize = 100;
const BISECTIONS: usize = 50;

/// What the rows of a state are to be worth.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    /// About the lower bound of the update, this one: its multipliers serve as they are.
    Near(f64),
    /// As `Near`, where a row is on its maximum or rows have budgets of their own; nothing elsewhere.
    Maxima(f64),
    /// This level, below the lower bound of the update, to rounding.
    Level(f64),
}

/// A row with its multipliers: (action, t, ν), ν counted above t·max w.
pub(crate) type RowMultipliers = (usize, f64, f64);

impl Exact<'_> {
    /// Shows the multipliers of the rows that must be raised to the goal; t = ∞ is a row's maximum. An update has
    /// left the multipliers near which to look.
    pub(crate) fn multipliers(
        &self,
        s: usize,
        values: &SweepValues,
        goal: Goal,
        memory: RowMemory<'_>,
        worker: &mut ExactScratch,
        visit: impl FnOnce(&[RowMultipliers], Points<'_, '_>),
    ) {
        let shared = self.uncertainty.rectangularity == Rectangularity::State;
        let first = self.model.rows_of(s).start;
        let radii: Vec<f64> =
            self.model.rows_of(s).map(|r| self.uncertainty.radius_at(s, r)).collect();
        let Some(set) = self.curve() else { return };
        if memory.t.is_empty() || shared && self.uncertainty.radius_at(s, first) == 0.0 {
            return;
        }
        // Where a row is on its maximum, others have the multipliers of their prices.
        let on_maximum = shared && memory.t.contains(&f64::INFINITY);
        let (near, level) = match goal {
            Goal::Maxima(_) if shared && !on_maximum => return,
            Goal::Near(level) | Goal::Maxima(level) => (!on_maximum, level),
            Goal::Level(level) => (false, level),
        };
        let mut state = self.state(set, s, values, 0.0, memory, worker);
        let task = Raised { level, shared, radii: &radii };
        let as_left = near.then(|| task.as_left(&mut state.problem, &state.memory)).flatten();
        let multipliers =
            as_left.unwrap_or_else(|| task.to_level(&mut state.problem, &state.memory));
        visit(&multipliers, Points(&mut state.problem));
        state.count();
    }

    /// Puts points of their curves in place in rows of positive weight, at the multipliers that a sweep of
    /// nature's has left; lower ones, all by one factor, where these are steeper than digits tell.
    pub(crate) fn second_numbers(
        &self,
        s: usize,
        values: &SweepValues,
        x: &[f64],
        memory: &mut RowMemory<'_>,
        worker: &mut ExactScratch,
    ) {
        let (Some(set), false) = (self.curve(), x.is_empty()) else { return };
        let RowMemory { t, nu, screen } = memory;
        let memory = RowMemory { t, nu, screen };
        let mut state = self.state(set, s, values, 0.0, memory, worker);
        let shared = self.uncertainty.rectangularity == Rectangularity::State;
        if state.problem.has_peaks() {
            state.leave_peaks(x, shared);
        }
        let points: Vec<(usize, Priced)> = (0..x.len())
            .filter(|&k| x[k] > 0.0)
            .filter_map(|k| Some((k, state.memory.point(k)?)))
            .collect();
        let blunter = |state: &mut State<'_>, (k, at): &(usize, Priced)| {
            let radius = state.radius(*k);
            (steepest(&mut state.problem, *k, radius) / at.t).min(1.0)
        };
        let all = points.iter().map(|row| blunter(&mut state, row)).fold(1.0, f64::min);
        for row in &points {
            let share = if shared { all } else { blunter(&mut state, row) };
            let (k, Priced { t, nu, .. }) = *row;
            state.memory.t[k] = share * t;
            state.memory.nu[k] = point(&mut state.problem, k, share * t, nu).nu;
        }
        state.count();
    }
}

impl State<'_> {
    /// Gives rows of positive weight on their peaks multipliers next to these, since certificates know the maxima
    /// of objectives alone.
    fn leave_peaks(&mut self, x: &[f64], shared: bool) {
        let infinite = |t: f64| t == f64::INFINITY;
        let on_peak: Vec<usize> =
            (0..x.len()).filter(|&k| x[k] > 0.0 && infinite(self.memory.t[k])).collect();
        let weights = |state: &mut Self, k: usize| {
            let radius = state.radius(k);
            let kappa = state.problem.kappa(k);
            if radius > 0.0 {
                steepest(&mut state.problem, k, radius) * kappa / x[k]
            } else {
                f64::INFINITY
            }
        };
        let scales: Vec<f64> = on_peak.iter().map(|&k| weights(self, k)).collect();
        let least = scales.iter().copied().fold(f64::INFINITY, f64::min);
        for (&k, scale) in on_peak.iter().zip(scales) {
            let scale = if shared { least } else { scale };
            self.memory.t[k] = x[k] * scale / self.problem.kappa(k);
        }
    }
}

/// A multiplier beyond which lower bounds do not rise. With d the least of α/κ and the diameter of the set,
/// stopping at t costs d/t at most, and the rounding of ν, one of t·z, its square over t: they balance at
/// √d/(ε·range), where entries are wrong by √d (of quadratic rows; near enough for others). A quarter of it
/// costs little, and leaves rows their mass. Smooth rows within intervals get their mass anew wherever they are read,
/// and upper bounds with them need a multiplier on peaks too, where stopping costs the whole budget over t.
pub(super) fn steepest(problem: &mut StateProblem<'_>, k: usize, radius: f64) -> f64 {
    let budget = radius / problem.kappa(k);
    let stop = 0.25 * budget.min(problem.diameter()).sqrt();
    let least = if problem.has_peaks() && !has_edges(problem) { budget } else { 0.0 };
    stop.max(least) / (f64::EPSILON * problem.rows.look_at(k).range)
}

/// The point of row k at t: y(t), or where y(t) is an edge what `nu` says of it.
fn point(problem: &mut StateProblem<'_>, k: usize, t: f64, nu: f64) -> Priced {
    let [from, to] = problem.ends(k, problem.kappa(k) * t, None).map(|end| end.at);
    match from.nu == to.nu {
        true => from,
        false => from.towards(to, ((nu - from.nu) / (to.nu - from.nu)).clamp(0.0, 1.0)),
    }
}

fn has_edges(problem: &StateProblem<'_>) -> bool {
    matches!(problem.set.kind(), RowKind::PiecewiseLinear)
}

/// Points of the price curves of a state's rows.
pub(crate) struct Points<'p, 'a>(&'p mut StateProblem<'a>);

impl Points<'_, '_> {
    /// The second number of row k at t, near `nu` if there is a choice, and what it takes of the budget.
    pub(crate) fn at(&mut self, k: usize, t: f64, nu: f64) -> (f64, f64) {
        let found = point(self.0, k, t, nu);
        (found.nu, self.0.kappa(k) * found.price)
    }

    /// The steepest multiplier of row k that says more than any lower one, of a budget.
    pub(crate) fn steepest(&mut self, k: usize, radius: f64) -> f64 {
        steepest(self.0, k, radius)
    }
}

/// The largest common factor < 1 of multipliers at which a budget suffices, and one larger by a rounding at
/// which it does not.
pub(crate) fn largest_factor(mut suffices: impl FnMut(f64) -> bool) -> (f64, f64) {
    let (mut low, mut high) = (0.5, 1.0);
    for _ in 0..HALVINGS {
        if suffices(low) {
            break;
        }
        (low, high) = (0.5 * low, low);
    }
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        (low, high) = if suffices(middle) { (middle, high) } else { (low, middle) };
    }
    (low, high)
}

/// Every row raised to a level that the budget allows.
struct Raised<'a> {
    level: f64,
    /// One budget for all, and screening bounds are those of nominal values.
    shared: bool,
    radii: &'a [f64],
}

impl Raised<'_> {
    /// The multipliers of the update; `None` if a row that needs one has none.
    fn as_left(
        &self,
        problem: &mut StateProblem<'_>,
        memory: &RowMemory<'_>,
    ) -> Option<Vec<RowMultipliers>> {
        let mut out = Vec::new();
        for k in (0..problem.rows.len()).filter(|&k| self.radii[k] > 0.0) {
            let t = memory.t[k];
            // Rows with budgets of their own have a multiplier whether they need one or not.
            let needed = if self.shared { t > 0.0 } else { problem.nominal(k) < self.level };
            if needed && (t.is_nan() || t <= 0.0 || t.is_infinite() && has_edges(problem)) {
                return None;
            }
            if needed {
                let least = t.min(steepest(problem, k, self.radii[k]));
                let at = memory.point(k).map(|at| point(problem, k, least, at.nu));
                out.push(at.map_or((k, t, 0.0), |at| (k, least, at.nu)));
            }
        }
        Some(out)
    }

    fn to_level(
        &self,
        problem: &mut StateProblem<'_>,
        memory: &RowMemory<'_>,
    ) -> Vec<RowMultipliers> {
        let Raised { level, shared, radii } = *self;
        let edges = has_edges(problem);
        let (slack, fall) = (problem.noise(level) / 64.0, problem.values().fall);
        let mut below = Vec::new();
        for k in (0..problem.rows.len()).filter(|&k| radii[k] > 0.0) {
            let out_of_question = shared && memory.screen[k] + fall >= level;
            if !out_of_question && problem.nominal(k) < level {
                below.push((k, problem.largest(k), problem.face(k)));
            }
        }
        let total: f64 = below.iter().map(|(.., face)| face).sum();
        let mut out = Vec::with_capacity(below.len());
        for (k, largest, face) in below {
            // The maximum is exact; but near ties make it dearer than coming close to it.
            // Where curves have edges, the last one leads there.
            if !edges && if shared { total } else { face } <= radii[k] {
                out.push((k, f64::INFINITY, 0.0));
                continue;
            }
            let goal = level.min(largest - slack);
            let priced = problem.price(k, goal, slack, memory.point(k));
            let steepest = steepest(problem, k, radii[k]);
            let Priced { t, nu, .. } = match priced.at.t > steepest {
                true => point(problem, k, steepest, priced.at.nu),
                false => priced.at,
            };
            out.push((k, t, nu));
        }
        out
    }
}
