//! Large sparse models.

use robust_mdp::error::name_of;
use robust_mdp_measure::table::Table;

use super::Source;
use super::quotient::{Quotient, shown};
use crate::record::Record;
use crate::table::scale::mebibytes;
use crate::table::solve::sweep_count;
use crate::table::{marked, number, ran};

pub(super) fn section(records: &[&Record], source: &Source) -> String {
    if records.is_empty() {
        return String::new();
    }
    let mut grid = Table::new(&[
        "model",
        "set",
        "states",
        "transitions",
        "method",
        "ran",
        "seconds",
        "÷ auto",
        "sweeps",
        "MiB",
        "bytes a transition",
    ]);
    for record in records {
        grid.row([
            record.case.instance.family.clone(),
            name_of(&record.case.set),
            record.case.instance.states.to_string(),
            record.transitions.to_string(),
            record.method.clone(),
            ran(record),
            marked(record, record.seconds),
            shown(Quotient::of(record)),
            sweep_count(Some(record)),
            mebibytes(record.peak_bytes),
            record.bytes_per_transition.map_or_else(|| "–".into(), number),
        ]);
    }
    format!(
        "\n## Large models and memory\n\nTo a certified gap of 1e-4 at λ = 0.95, two threads, each \
         run in a process of its own. Memory is the largest resident size of the whole process, \
         the model and its making included.\n\n{}{}",
        grid.markdown(),
        source.of("scale")
    )
}
