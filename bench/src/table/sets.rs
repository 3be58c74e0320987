//! Warm sweeps of every set, in units of the nominal sweep and of KL's.

use robust_mdp::sets::{Distance, Rectangularity};
use robust_mdp_measure::table::Table;

use super::{number, percent};
use crate::record::Record;

/// What a sweep of a set may cost in sweeps of KL's.
const MOST: f64 = 3.0;

pub(super) fn section(records: &[&Record]) -> String {
    let mut grid = Table::new(&[
        "regime",
        "rectangular",
        "set",
        "radius",
        "active",
        "passes",
        "sweep ms",
        "÷ nominal",
        "÷ KL",
    ]);
    let (mut most, mut over) = (0.0_f64, 0);
    for record in records {
        let (regime, owner) = place(record);
        let kl = records.iter().find(|other| {
            other.case.set == Distance::Kl && place(other) == (regime.clone(), owner)
        });
        let in_sweeps = |record: &Record| record.ratios.get("nominal_sweep").copied();
        // Each is in units of the nominal sweep beside it.
        let ratio = kl.and_then(|kl| Some(in_sweeps(record)? / in_sweeps(kl)?));
        if let Some(ratio) = ratio {
            most = most.max(ratio);
            over += usize::from(ratio > MOST);
        }
        grid.row([
            regime,
            owner.into(),
            record.case.set.name().into(),
            number(record.case.radius),
            percent(record.active),
            record.kernel_passes.map_or_else(String::new, number),
            number(1e3 * record.seconds),
            in_sweeps(record).map_or_else(String::new, number),
            ratio.map_or_else(String::new, number),
        ]);
    }
    format!(
        "One exact sweep over all states, to rounding, at values 1e-6 from those of the sweep before and near the \
         fixed point; λ = 0.8, one thread, costs that the state drives. Dense models have S = A = 100, sparse ones \
         10⁵ states, 4 actions and 8 next states. Budgets are of one size: what rows spend that move one half \
         of their entries up and the other down by 8 % (tight) or 40 % (wide) of themselves. `÷ KL`: of the same regime and \
         owner of budgets, {} at most, more than {} in {over} of {}. Wasserstein: places of the states on a line. \
         Intervals: half to twice of every probability. Four scenarios.\n\n{}",
        number(most),
        number(MOST),
        records.len(),
        grid.markdown()
    )
}

/// Shape and size of the budgets, and who owns them.
fn place(record: &Record) -> (String, &'static str) {
    let mut parts = record.case.regime.splitn(3, '-');
    let regime = format!("{} {}", parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    let owner = match record.case.rectangular {
        Rectangularity::State => "s",
        Rectangularity::StateAction => "(s,a)",
    };
    (regime, owner)
}
