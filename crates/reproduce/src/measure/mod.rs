//! Runs one cell: `solve` for times, `trace` for gaps step by step, `duality_gap` for what a gap costs.

mod duality_gap;
mod random_pair;
mod solve;
#[cfg(test)]
mod tests;
mod trace;

use robust_mdp::sets::UncertaintySet;
use robust_mdp::{Error, Interrupt, Model};

use super::cell::{Cell, Record, Seconds, Task};

/// Short runs are repeated, and the shortest time counts …
const REPEATS: usize = 3;
/// … unless they have taken so many seconds already.
const ENOUGH: f64 = 0.1;

/// `None` where it was interrupted.
pub(crate) fn run(
    cell: &Cell,
    threads: usize,
    interrupt: &Interrupt,
) -> Result<Option<Record>, Error> {
    let model = cell.problem.model()?;
    let radius = cell.problem.radius(&model)?;
    let at = At { cell, model, radius, set: cell.problem.uncertainty(radius), threads, interrupt };
    match cell.task {
        Task::Solve(solver) => at.solve(solver),
        Task::Gap(evaluator) => at.gap(evaluator),
        Task::Trace(course) => at.trace(course),
    }
}

/// A cell with its model.
struct At<'a> {
    cell: &'a Cell,
    model: Model,
    radius: f64,
    set: UncertaintySet,
    threads: usize,
    interrupt: &'a Interrupt,
}

impl Seconds {
    fn least(self, other: Seconds) -> Seconds {
        let least = |a: Option<f64>, b: Option<f64>| Some(a?.min(b?));
        Seconds {
            own: least(self.own, other.own),
            certified: least(self.certified, other.certified),
            total: self.total.min(other.total),
        }
    }
}
