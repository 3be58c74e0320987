//! Warm sweeps in units of the nominal sweep.

use robust_mdp_measure::table::Table;

use super::{distinct, number, percent};
use crate::record::Record;

pub(super) fn section(records: &[&Record]) -> String {
    let mut grid = Table::new(&[
        "regime",
        "S",
        "A",
        "active",
        "nominal ms",
        "GB/s",
        "passes",
        "sweep ms",
        "÷ nominal",
        "2 threads",
        "certify ÷ nominal",
        "verify ÷ nominal",
    ]);
    for case in distinct(records.iter().map(|r| &r.case).filter(|c| c.radius > 0.0)) {
        let of = |threads| {
            records.iter().find(|r| r.case == *case && r.threads == threads && r.method == "sweep")
        };
        let nominal = records.iter().find(|r| r.case == case.nominal());
        let (Some(one), Some(nominal)) = (of(1), nominal) else { continue };
        let gain =
            of(2).map_or_else(String::new, |two| format!("{:.2}x", one.seconds / two.seconds));
        let in_sweeps = |method: &str| {
            let found = records.iter().find(|r| r.case == *case && r.method == method);
            found
                .and_then(|r| r.ratios.get("nominal_sweep"))
                .map_or_else(String::new, |&r| number(r))
        };
        grid.row([
            case.regime.clone(),
            case.instance.states.to_string(),
            case.instance.actions.to_string(),
            percent(one.active),
            number(1e3 * nominal.seconds),
            number(8.0 * nominal.transitions as f64 / nominal.seconds / 1e9),
            one.kernel_passes.map_or_else(String::new, number),
            number(1e3 * one.seconds),
            one.ratios.get("nominal_sweep").map_or_else(String::new, |&r| number(r)),
            gain,
            in_sweeps("certify"),
            in_sweeps("verify"),
        ]);
    }
    let about = "One exact sweep over all states, to rounding, at values 1e-6 from those of the \
                 sweep before and near the fixed point; λ = 0.8, one thread. Sweeps are screened: \
                 `passes` counts the kernels that they read. The nominal sweep reads the kernel \
                 once: its GB/s is the speed of memory where the kernel exceeds the caches (probabilities \
                 alone; banded models have indices too, and rows of 9 next states). `verify` \
                 checks a certificate of a solution to 1e-6 in outward-rounded arithmetic, and \
                 `certify` makes it and checks it once, on one thread.";
    format!("{about}\n\n{}", grid.markdown())
}
