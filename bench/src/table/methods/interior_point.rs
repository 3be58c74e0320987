//! The interior-point oracle as a baseline.

use robust_mdp::error::name_of;
use robust_mdp_measure::table::Table;

use super::Source;
use super::quotient::{Quotient, shown};
use crate::record::{Record, WHOLE};
use crate::table::paper::unsolved;
use crate::table::{count, marked};

/// Value iteration with this oracle, spared the rows that cannot matter.
pub(super) fn runs<'r>(paper: &[&'r Record]) -> Vec<&'r Record> {
    let is = |r: &&&Record| r.oracle.as_deref() == Some("interior-point");
    paper.iter().filter(is).copied().collect()
}

/// The same with whole programs.
pub(super) fn whole_runs<'r>(paper: &[&'r Record]) -> Vec<&'r Record> {
    let is = |r: &&&Record| r.oracle.as_deref().is_some_and(|o| o.ends_with(WHOLE));
    paper.iter().filter(is).copied().collect()
}

pub(super) fn section(paper: &[&Record], source: &Source) -> String {
    let mut runs = [runs(paper), whole_runs(paper)].concat();
    if runs.is_empty() {
        return String::new();
    }
    // A case's two runs side by side.
    runs.sort_by_key(|run| paper.iter().position(|r| r.case == run.case));
    let mut grid = Table::new(&[
        "regime",
        "set",
        "S",
        "programs",
        "seconds",
        "÷ auto",
        "÷ vi, exact",
        "sweeps",
        "unsolved",
        "status",
    ]);
    for run in runs {
        let exact = paper.iter().find(|r| {
            r.case == run.case && r.method == "vi" && r.oracle.as_deref() == Some("exact")
        });
        let exact = exact.filter(|r| r.certified());
        grid.row([
            run.case.regime.clone(),
            name_of(&run.case.set),
            run.case.instance.states.to_string(),
            if run.oracle.as_deref() == Some("interior-point") { "pruned" } else { "whole" }.into(),
            marked(run, run.seconds),
            shown(Quotient::of(run)),
            exact.map_or_else(|| "–".into(), |r| marked(run, run.seconds / r.seconds)),
            count(run.sweeps),
            unsolved(run),
            if run.extrapolated { "extrapolated".into() } else { run.status.clone() },
        ]);
    }
    format!(
        "\n## The interior-point baseline\n\nValue iteration in which a conic interior-point solver \
         updates every state, to a certified gap of 0.1 at λ = 0.8, one thread. `≈`: the time of \
         some sweeps times the sweeps that the exact oracle needs. Pruned programs have only the \
         rows that can matter; whole ones have all, as in the paper. `unsolved`: programs of one \
         sweep at the solution that the solver gives up on; what it leaves is repaired and bounded \
         again, so that the bounds hold.\n\n{}{}",
        grid.markdown(),
        source.of("paper")
    )
}
