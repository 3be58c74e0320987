//! What costs on next states take.

use robust_mdp_measure::table::Table;

use super::{distinct, milliseconds, number};
use crate::parts::costs::ON_NEXT;
use crate::record::Record;

pub(super) fn section(records: &[&Record]) -> String {
    let head = ["model", "S", "A", "on actions ms", "on next states ms", "ratio", "kernels read"];
    let mut grid = Table::new(&head);
    for case in distinct(records.iter().map(|r| &r.case)) {
        let on_next = format!("{}{ON_NEXT}", case.regime);
        let of = |regime: &str| records.iter().find(|r| r.case.regime == regime);
        let (Some(one), Some(other)) = (of(&case.regime), of(&on_next)) else { continue };
        let passes = |r: &Record| r.kernel_passes.map_or_else(String::new, number);
        grid.row([
            case.regime.clone(),
            case.instance.states.to_string(),
            case.instance.actions.to_string(),
            milliseconds(one),
            milliseconds(other),
            format!("{:.2}", other.seconds / one.seconds),
            format!("{} / {}", passes(one), passes(other)),
        ]);
    }
    format!("λ = 0.99, to a certified gap of 1e-6, one thread.\n\n{}", grid.markdown())
}
