//! Warm sweeps in units of the nominal sweep.

use super::{Grid, distinct, number, percent};
use crate::record::Record;

pub(super) fn section(records: &[&Record]) -> String {
    let mut grid = Grid::new(&[
        "regime",
        "S",
        "A",
        "active",
        "nominal ms",
        "GB/s",
        "oracle",
        "sweep ms",
        "÷ nominal",
        "2 threads",
    ]);
    for case in distinct(records.iter().map(|r| &r.case).filter(|c| c.radius > 0.0)) {
        let of = |threads| {
            records.iter().find(|r| r.case == *case && r.threads == threads && r.method == "sweep")
        };
        let nominal = records.iter().find(|r| r.case == case.nominal());
        let (Some(one), Some(nominal)) = (of(1), nominal) else { continue };
        let gain =
            of(2).map_or_else(String::new, |two| format!("{:.2}x", one.seconds / two.seconds));
        grid.row([
            case.regime.clone(),
            case.instance.states.to_string(),
            case.instance.actions.to_string(),
            percent(one.active),
            number(1e3 * nominal.seconds),
            number(bytes(nominal) / nominal.seconds / 1e9),
            one.oracle.clone().unwrap_or_default(),
            number(1e3 * one.seconds),
            one.ratios.get("nominal_sweep").map_or_else(String::new, |&r| number(r)),
            gain,
        ]);
    }
    let about = "One sweep over all states at values near the fixed point, λ = 0.8, one thread. \
                 The nominal sweep reads the kernel once: its GB/s is the speed of memory where \
                 the kernel exceeds the caches.";
    format!("{about}\n\n{}", grid.render())
}

/// Bytes of the stored kernel: 8 an entry, 4 more where it is sparse.
fn bytes(record: &Record) -> f64 {
    let instance = &record.case.instance;
    let dense = (instance.states * instance.actions * instance.states) as u64;
    let each = if record.transitions == dense { 8.0 } else { 12.0 };
    each * record.transitions as f64
}
