//! The nominal solve against other tools.

use robust_mdp_measure::table::Table;

use super::{count, milliseconds, number, ran};
use crate::record::Record;

pub(super) fn section(records: &[&Record]) -> String {
    let head =
        ["S", "A", "λ", "method", "ran", "ms", "÷ auto", "sweeps", "kernel passes", "gap", "value"];
    let mut grid = Table::new(&head);
    for record in records {
        let instance = &record.case.instance;
        let detail = match record.ran.as_ref().and_then(|r| r.reason.clone()) {
            Some(reason) if record.method != "auto" => reason,
            _ => ran(record),
        };
        grid.row([
            instance.states.to_string(),
            instance.actions.to_string(),
            instance.discount.to_string(),
            record.method.clone(),
            detail,
            milliseconds(record),
            record.ratios.get("auto").map_or_else(String::new, |&r| number(r)),
            count(record.sweeps),
            record.kernel_passes.map_or_else(String::new, number),
            record.gap.map_or_else(String::new, number),
            record.value.map_or_else(String::new, |v| format!("{v:.7}")),
        ]);
    }
    let about = "One thread, to a certified gap of 1e-6, compiling and building left out.";
    format!("{about}\n\n{}", grid.markdown())
}
