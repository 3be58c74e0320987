//! The interior-point oracle as a baseline.

use super::Source;
use super::quotient::{Quotient, shown};
use crate::record::{Record, word};
use crate::table::{Grid, count, marked};

/// Value iteration with this oracle.
pub(super) fn runs<'r>(paper: &[&'r Record]) -> Vec<&'r Record> {
    let is = |r: &&&Record| r.oracle.as_deref() == Some("interior-point");
    paper.iter().filter(is).copied().collect()
}

pub(super) fn section(paper: &[&Record], source: &Source) -> String {
    let runs = runs(paper);
    if runs.is_empty() {
        return String::new();
    }
    let head = ["regime", "set", "S", "seconds", "÷ auto", "÷ vi, exact", "sweeps", "status"];
    let mut grid = Grid::new(&head);
    for run in runs {
        let exact = paper.iter().find(|r| {
            r.case == run.case && r.method == "vi" && r.oracle.as_deref() == Some("exact")
        });
        let exact = exact.filter(|r| r.certified());
        grid.row([
            run.case.regime.clone(),
            word(&run.case.set),
            run.case.instance.states.to_string(),
            marked(run, run.seconds),
            shown(Quotient::of(run)),
            exact.map_or_else(|| "–".into(), |r| marked(run, run.seconds / r.seconds)),
            count(run.sweeps),
            if run.extrapolated { "extrapolated".into() } else { run.status.clone() },
        ]);
    }
    format!(
        "\n## The interior-point baseline\n\nValue iteration in which a conic interior-point solver \
         updates every state, to a certified gap of 0.1 at λ = 0.8, one thread. `≈`: the time of \
         some sweeps times the sweeps that the exact oracle needs.\n\n{}{}",
        grid.render(),
        source.of("paper")
    )
}
