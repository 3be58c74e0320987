//! Large sparse models: time and memory.

use robust_mdp_measure::table::Table;

use super::{count, marked, number, ran};
use crate::record::Record;

pub(super) fn section(records: &[&Record]) -> String {
    let mut grid = Table::new(&[
        "regime",
        "states",
        "transitions",
        "method",
        "build s",
        "solve s",
        "sweeps",
        "nature's",
        "gap",
        "build MiB",
        "solve MiB",
        "bytes a transition",
        "ran",
    ]);
    for record in records {
        grid.row([
            record.case.regime.clone(),
            record.case.instance.states.to_string(),
            record.transitions.to_string(),
            record.method.clone(),
            record.build_seconds.map_or_else(String::new, number),
            marked(record, record.seconds),
            count(record.sweeps),
            count(record.evaluations),
            record.gap.map_or_else(String::new, number),
            mebibytes(record.build_peak_bytes),
            mebibytes(record.solve_peak_bytes),
            record.bytes_per_transition.map_or_else(String::new, number),
            ran(record),
        ]);
    }
    let about = "λ = 0.95, 4 actions, 8 successors, nominal support, gap 1e-4, 2 threads, each \
                 case in a process of its own. Peaks are of resident memory: while building, and \
                 while solving with the model in memory; bytes a transition are of the larger \
                 one, i.e. of all that the process ever needed.";
    format!("{about}\n\n{}", grid.markdown())
}

pub(super) fn mebibytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(String::new, |b| format!("{:.0}", b as f64 / (1u64 << 20) as f64))
}
