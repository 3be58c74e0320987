//! One warm sweep over all states with the best oracle that the library offers for single sweeps.

use robust_mdp::measure::first_order_seconds;
use robust_mdp::uncertainty::{Distance, UncertaintySet};
use robust_mdp::{Error, FomSettings, Model, Oracle, Setup, geometry::Geometry};

/// The oracle that [`seconds`] runs.
pub(crate) const ORACLE: Oracle = Oracle::FirstOrder;

/// Seconds of each of `repeats` warm sweeps at the values given.
pub(crate) fn seconds(
    model: &Model,
    set: &UncertaintySet,
    values: &[f64],
    repeats: usize,
    threads: usize,
) -> Result<Vec<f64>, Error> {
    let x = Geometry::Euclidean;
    let y = if set.distance == Distance::Kl { Geometry::Entropy } else { Geometry::Euclidean };
    let fom = FomSettings::default();
    first_order_seconds(model, set, Setup { x, y }, &fom, values, 1, repeats, threads)
}
