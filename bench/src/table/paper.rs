//! The paper's comparison.

use robust_mdp_measure::table::Table;

use super::{count, marked, number, ran};
use crate::record::{Record, WHOLE};

pub(super) fn section(records: &[&Record]) -> String {
    let mut grid = Table::new(&[
        "regime", "S", "method", "oracle", "seconds", "÷ auto", "sweeps", "steps", "gap",
        "unsolved", "ran",
    ]);
    // Results of one case side by side, even if some were added later.
    let mut sorted = records.to_vec();
    sorted.sort_by_key(|record| records.iter().position(|r| r.case == record.case));
    for record in sorted {
        let ratio = record.ratios.get("auto").map_or_else(String::new, |&r| marked(record, r));
        grid.row([
            record.case.regime.clone(),
            record.case.instance.states.to_string(),
            record.method.clone(),
            shown_oracle(record),
            marked(record, record.seconds),
            ratio,
            count(record.sweeps),
            count(record.first_order_steps),
            record.gap.map_or_else(String::new, number),
            unsolved(record),
            ran(record),
        ]);
    }
    let about = "λ = 0.8, one thread, the same stop for all: a certified gap of 0.1. `≈`: computed \
                 from some of the sweeps, because the whole run would take more than five minutes. \
                 `interior-point` hands its solver only the rows that can matter, \
                 `interior-point, whole` all rows of every state, as the paper does; `unsolved`: \
                 programs of one sweep at the solution that the solver gives up on (what it \
                 leaves is repaired and bounded again).";
    format!("{about}\n\n{}", grid.markdown())
}

/// The oracle asked for; `, whole` where its programs were whole.
pub(super) fn shown_oracle(record: &Record) -> String {
    let oracle = record.oracle.as_deref().unwrap_or_default();
    match oracle.strip_suffix(WHOLE) {
        Some(oracle) => format!("{oracle}, whole"),
        None => oracle.into(),
    }
}

/// Programs that the interior-point solver gives up on.
pub(super) fn unsolved(record: &Record) -> String {
    match (record.unsolved_programs, record.programs) {
        (Some(unsolved), Some(programs)) => format!("{unsolved} of {programs}"),
        _ => String::new(),
    }
}
