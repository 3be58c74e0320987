//! The kernel that the multipliers of a state stand for, entry by entry, brought into the set where
//! rounding has put it outside.

use super::active::RowMemory;
use super::chain_row::entries_beyond;
use super::multipliers::{RowMultipliers, largest_factor, steepest};
use super::problem::StateProblem;
use super::{Exact, ExactScratch};
use crate::model::NominalRow;
use crate::rows::SweepValues;
use crate::sets::Rectangularity;
use crate::sets::set::{Beyond, Curve, Priced, shrink};

/// The share of a budget by which rows may exceed it before their multipliers are lowered: what is left is
/// mixed with the nominal rows, at that share of their values.
const OVERSPENT: f64 = 1e-10;

/// A row of a kernel: next states, y and p.
#[derive(Default)]
struct Entries {
    next: Vec<usize>,
    y: Vec<f64>,
    p: Vec<f64>,
    /// d(y, p).
    price: f64,
}

/// Entries of a row whose next states it lists at several costs, with these.
fn repeated(row: NominalRow<'_>) -> impl Iterator<Item = (usize, usize)> + '_ {
    let last = row.prob.len().saturating_sub(1);
    let shared = move |k: &usize| row.is_repeated(*k) || *k < last && row.is_repeated(*k + 1);
    let next = row.next.filter(|_| row.transition_cost.is_some()).unwrap_or(&[]);
    (0..next.len()).filter(shared).map(|k| (k, next[k] as usize))
}

impl Exact<'_> {
    /// Visits nature's answer to the policy `x` in state s as (action, next state, probability), where
    /// that is positive; rows without weight stay nominal. A next state that a row lists at several
    /// costs is visited as often, in the order of the row, with probabilities that may be 0.
    pub(crate) fn kernel(
        &self,
        s: usize,
        values: &SweepValues,
        memory: RowMemory<'_>,
        x: &[f64],
        worker: &mut ExactScratch,
        mut visit: impl FnMut(usize, usize, f64),
    ) {
        let first = self.model.rows_of(s).start;
        let Some(set) = self.curve() else {
            for k in 0..x.len() {
                let row = self.model.row(first + k);
                let positive = row.entries().filter(|e| e.1 > 0.0 || row.transition_cost.is_some());
                positive.for_each(|(next, p, _)| visit(k, next, p));
            }
            return;
        };
        let together = match self.uncertainty.rectangularity {
            Rectangularity::State => x.len(),
            Rectangularity::StateAction => 1,
        };
        let mut state = self.state(set, s, values, 0.0, memory, worker);
        let mut kernel: Vec<Entries> = Vec::with_capacity(x.len());
        while kernel.len() < x.len() {
            let radius = self.uncertainty.radius_at(s, first + kernel.len());
            let at = |k: usize| {
                let moved = x[k] > 0.0 && radius > 0.0;
                (k, if moved { state.memory.t[k] } else { 0.0 }, state.memory.nu[k])
            };
            let rows: Vec<_> = (kernel.len()..kernel.len() + together).map(at).collect();
            kernel.extend(within(&mut state.problem, rows, radius));
        }
        state.count();
        for (k, row) in kernel.iter().enumerate() {
            let mut known = row.next.iter().copied().zip(row.y.iter().copied()).peekable();
            let own = self.model.row(first + k);
            for (j, next) in repeated(own) {
                // Before it, all that leads elsewhere.
                while let Some((next, y)) = known.next_if(|e| e.0 < next) {
                    if y > 0.0 {
                        visit(k, next, y);
                    }
                }
                let read = self.reads(own, j);
                let y = known.next_if(|_| read).map_or(0.0, |e| e.1);
                visit(k, next, y);
            }
            known.filter(|e| e.1 > 0.0).for_each(|(next, y)| visit(k, next, y));
        }
    }
}

/// Rows that share a budget, at their multipliers; where these spend more of it, at multipliers lower by a
/// common factor, which is nature's answer with less. Near ties a price leaps at a multiplier that no
/// value tells from others: then a part of the leap.
fn within(
    problem: &mut StateProblem<'_>,
    mut rows: Vec<RowMultipliers>,
    radius: f64,
) -> Vec<Entries> {
    let (mut kernel, mut spent) = at(problem, &rows);
    if spent > radius * (1.0 + OVERSPENT) {
        for (k, t, _) in &mut rows {
            *t = t.min(steepest(problem, *k, radius));
        }
        let mut prices = |factor: f64| {
            rows.iter().filter(|row| row.1 > 0.0).fold([0.0; 2], |[low, high], &(k, t, _)| {
                let kappa = problem.kappa(k);
                let [from, to] = problem.ends(k, kappa * factor * t, None);
                [low + kappa * from.at.price, high + kappa * to.at.price]
            })
        };
        let (low, high) = largest_factor(|factor| prices(factor)[1] <= radius);
        let [from, to] = prices(high);
        let (factor, share) = match from <= radius && radius < to {
            true => (high, (radius - from) / (to - from)),
            false => (low, 1.0),
        };
        for (k, t, nu) in rows.iter_mut().filter(|row| row.1 > 0.0) {
            *t *= factor;
            let [from, to] = problem.ends(*k, problem.kappa(*k) * *t, None).map(|end| end.at);
            *nu = from.towards(to, share).nu;
        }
        (kernel, spent) = at(problem, &rows);
    }
    let share = shrink(problem.set, spent, radius);
    if share < 1.0 {
        for row in &mut kernel {
            row.y.iter_mut().zip(&row.p).for_each(|(y, p)| *y = share * *y + (1.0 - share) * p);
        }
    }
    kernel
}

/// Rows at their multipliers, and what they spend.
fn at(problem: &mut StateProblem<'_>, rows: &[RowMultipliers]) -> (Vec<Entries>, f64) {
    let (mut kernel, mut spent) = (Vec::with_capacity(rows.len()), 0.0);
    for &(k, t, nu) in rows {
        let row = entries(problem.set, &mut problem.rows, k, Priced { t, nu, ..Priced::NOMINAL });
        spent += problem.kappa(k) * row.price;
        kernel.push(row);
    }
    (kernel, spent)
}

/// Row k at a point, with mass one; states that it does not list come last.
fn entries(set: &dyn Curve, rows: &mut crate::rows::Rows<'_>, k: usize, at: Priced) -> Entries {
    rows.look_at(k);
    let row = rows.row(k);
    let mut out = Entries { next: Vec::new(), y: row.p.to_vec(), p: row.p.to_vec(), price: 0.0 };
    let write = |at: Priced, y: &mut Vec<f64>| match at.t > 0.0 {
        true => set.kernel(row, at, y),
        false => Beyond::Nothing,
    };
    let mut beyond = write(at, &mut out.y);
    let outside = row.outside;
    let mass =
        |beyond, y: &[f64]| y.iter().sum::<f64>() + super::chain_row::mass_beyond(beyond, outside);
    let total = mass(beyond, &out.y);
    if total.is_nan() || total <= 0.0 {
        beyond = write(Priced { t: f64::INFINITY, ..at }, &mut out.y);
    }
    let next = rows.next_states(k);
    out.next = (0..out.y.len()).map(|j| next.map_or(j, |next| next[j] as usize)).collect();
    if let Some(outside) = outside {
        for (next, y) in entries_beyond(beyond, outside, next.unwrap_or(&[])) {
            out.next.push(next);
            out.y.push(y);
            out.p.push(0.0);
        }
    }
    let total: f64 = out.y.iter().sum();
    out.y.iter_mut().for_each(|y| *y /= total);
    // Rows with states outside have no data of entries.
    out.price = set.distance(&out.p, &out.y, row.data);
    out
}
