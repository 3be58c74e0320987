//! The paper's comparison.

use super::{Grid, count, marked, number, ran};
use crate::record::Record;

pub(super) fn section(records: &[&Record]) -> String {
    let head =
        ["regime", "S", "method", "oracle", "seconds", "÷ auto", "sweeps", "steps", "gap", "ran"];
    let mut grid = Grid::new(&head);
    for record in records {
        let ratio = record.ratios.get("auto").map_or_else(String::new, |&r| marked(record, r));
        grid.row([
            record.case.regime.clone(),
            record.case.instance.states.to_string(),
            record.method.clone(),
            record.oracle.clone().unwrap_or_default(),
            marked(record, record.seconds),
            ratio,
            count(record.sweeps),
            count(record.first_order_steps),
            record.gap.map_or_else(String::new, number),
            ran(record),
        ]);
    }
    let about = "λ = 0.8, one thread, the same stop for all: a certified gap of 0.1. `≈`: computed \
                 from some of the sweeps, because the whole run would take more than five minutes.";
    format!("{about}\n\n{}", grid.render())
}
