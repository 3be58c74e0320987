//! What a second thread gains.

use robust_mdp_measure::table::Table;

use super::{distinct, marked, ran};
use crate::record::Record;

pub(super) fn section(records: &[&Record]) -> String {
    let head = ["regime", "S", "A", "transitions", "1 thread s", "2 threads s", "gain", "ran"];
    let mut grid = Table::new(&head);
    for case in distinct(records.iter().map(|r| &r.case)) {
        let of = |threads| records.iter().find(|r| r.case == *case && r.threads == threads);
        let (Some(one), Some(two)) = (of(1), of(2)) else { continue };
        let both = one.certified() && two.certified();
        grid.row([
            case.regime.clone(),
            case.instance.states.to_string(),
            case.instance.actions.to_string(),
            one.transitions.to_string(),
            marked(one, one.seconds),
            marked(two, two.seconds),
            if both { format!("{:.2}x", one.seconds / two.seconds) } else { "–".into() },
            ran(one),
        ]);
    }
    format!("λ = 0.95, to a certified gap of 1e-6.\n\n{}", grid.markdown())
}
