//! Writing. A line has the cost of its transition, own and further together; what the action costs
//! by itself, which is what next states cost that are not listed, is found again by the rule of the
//! reader or, where that can say it, by one more line of probability 0.

use std::io::{self, Write};

use super::Outcomes;
use crate::model::{Model, NominalRow};

/// Why a model cannot be written.
pub(in crate::io) fn refusal(model: &Model) -> Option<String> {
    let message = "a model without actions has no lines to write as CSV, expected .json";
    (model.rows() == 0).then(|| message.into())
}

/// Writes a model, without names, discount factor and initial distribution; in place of its rows their outcomes,
/// where there are any.
pub(in crate::io) fn write(
    model: &Model,
    outcomes: Option<&Outcomes>,
    w: &mut dyn Write,
) -> io::Result<()> {
    let name = model.objective().noun();
    let bounds = if outcomes.is_none() && model.has_intervals() { ",lower,upper" } else { "" };
    let outcome = if outcomes.is_some() { "idoutcome," } else { "" };
    writeln!(w, "idstatefrom,idaction,{outcome}idstateto,probability,{name}{bounds}")?;
    each_line(model, outcomes, |Line { ids: [s, action, to], outcome, prob, cost, bounds }| {
        write!(w, "{s},{action},")?;
        if let Some(outcome) = outcome {
            write!(w, "{outcome},")?;
        }
        match prob {
            0.0 => write!(w, "{to},0,{cost:?}"),
            _ => write!(w, "{to},{prob:?},{cost:?}"),
        }?;
        match bounds {
            Some([lower, upper]) => writeln!(w, ",{lower:?},{upper:?}"),
            None => writeln!(w),
        }
    })
}

/// What a line says.
pub(in crate::io) struct Line {
    /// State, action and next state.
    pub(in crate::io) ids: [usize; 3],
    pub(in crate::io) outcome: Option<u32>,
    pub(in crate::io) prob: f64,
    /// In the sign of the objective.
    pub(in crate::io) cost: f64,
    /// Of models with intervals, unless outcomes say more.
    pub(in crate::io) bounds: Option<[f64; 2]>,
}

/// Hands over all lines.
pub(in crate::io) fn each_line(
    model: &Model,
    outcomes: Option<&Outcomes>,
    mut line: impl FnMut(Line) -> io::Result<()>,
) -> io::Result<()> {
    let sign = model.objective().sign();
    let mut missing = unreached_end(model);
    for s in 0..model.states() {
        for (r, id) in model.rows_of(s).zip(action_ids(model, s)) {
            let (row, id) = (model.row(r), id as usize);
            let mut of_way = |outcome, k: usize, prob, (to, further): (usize, f64)| {
                let bounds = row.bounds.filter(|_| outcomes.is_none());
                let bounds = bounds.map(|bounds| [bounds.lower[k], bounds.upper[k]]);
                let cost = sign * (row.cost + further) + 0.0;
                line(Line { ids: [s, id, to], outcome, prob, cost, bounds })
            };
            let ways = row.entries().enumerate().filter(|(k, _)| row.lists(*k));
            let mut first = None;
            match outcomes {
                None => {
                    for (k, (to, prob, further)) in ways {
                        of_way(None, k, prob, (to, further))?;
                    }
                }
                Some(outcomes) => {
                    first = outcomes.of_row(r).next().map(|(id, _)| id);
                    let stored: Vec<_> = row.entries().map(|(to, _, more)| (to, more)).collect();
                    for (id, entries) in outcomes.of_row(r) {
                        for &(k, p) in entries {
                            of_way(Some(id), k as usize, p, stored[k as usize])?;
                        }
                    }
                    for (k, (to, _, further)) in ways.filter(|(_, (_, prob, _))| *prob == 0.0) {
                        of_way(first, k, 0.0, (to, further))?;
                    }
                }
            }
            let reading = RowCosts::of(row);
            let free = missing.take().or_else(|| reading.needs_line(row, model.states()));
            if let Some(to) = free {
                let cost = sign * reading.cost_of_nothing() + 0.0;
                let bounds = row.bounds.filter(|_| outcomes.is_none()).map(|_| [0.0, 0.0]);
                line(Line { ids: [s, id, to], outcome: first, prob: 0.0, cost, bounds })?;
            }
        }
    }
    Ok(())
}

/// The last state, if nothing tells of it: it has no actions and no transition leads to it.
fn unreached_end(model: &Model) -> Option<usize> {
    let last = model.states() - 1;
    let listed = |r: usize| model.row(r).listed().any(|(to, ..)| to == last);
    (model.is_terminal(last) && !(0..model.rows()).any(listed)).then_some(last)
}

/// What the reader makes of the costs of a row.
struct RowCosts {
    own: f64,
    /// The cost that all lines have, if they have one.
    shared: Option<f64>,
}

impl RowCosts {
    fn of(row: NominalRow<'_>) -> RowCosts {
        let mut costs = row.listed().map(|(.., further)| row.cost + further);
        let first = costs.next();
        RowCosts { own: row.cost, shared: first.filter(|first| costs.all(|c| c == *first)) }
    }

    /// The own cost that it would find in the lines of transitions alone.
    fn found(&self) -> f64 {
        self.shared.unwrap_or(0.0)
    }

    /// A next state for one more line, where that lets it find an own cost of 0.
    fn needs_line(&self, row: NominalRow<'_>, states: usize) -> Option<usize> {
        let misread = self.own == 0.0 && self.found() != 0.0;
        misread.then(|| row.first_unlisted(states)).flatten()
    }

    /// The cost of a line of probability 0 that says nothing of its own.
    fn cost_of_nothing(&self) -> f64 {
        if self.own == 0.0 { 0.0 } else { self.found() }
    }
}

/// Rows whose unlisted next states cost something else when they are read back, and for the first of
/// them what they cost now and then, in the sign of costs.
pub(in crate::io) fn unlisted_costs_changed(model: &Model) -> Option<(usize, usize, [f64; 2])> {
    let changed = (0..model.rows()).filter_map(|r| {
        let row = model.row(r);
        let reading = RowCosts::of(row);
        let differs = reading.own != 0.0 && reading.found() != reading.own;
        (differs && row.first_unlisted(model.states()).is_some())
            .then_some((r, [reading.own, reading.found()]))
    });
    let mut changed = changed.peekable();
    let &(first, costs) = changed.peek()?;
    Some((changed.count(), first, costs))
}

/// The names of a state's actions where they are increasing numbers, else their positions.
pub(in crate::io) fn action_ids(model: &Model, s: usize) -> Vec<u32> {
    let rows = model.rows_of(s);
    let positions = 0..rows.len() as u32;
    let names: Option<Vec<u32>> = rows.map(|r| model.action_name(s, r).parse().ok()).collect();
    names.filter(|ids| ids.is_sorted_by(|a, b| a < b)).unwrap_or_else(|| positions.collect())
}
