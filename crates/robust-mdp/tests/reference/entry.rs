//! What a row says of a next state, as data of the tests' own.

use robust_mdp::Model;
use robust_mdp::sets::{EntryWeights, Scenarios, Support, UncertaintySet};

/// A place where a row may put mass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) p: f64,
    /// c(s,a) + c(s,a,i) + λv_i.
    pub(crate) b: f64,
    /// Its weight in a norm.
    pub(crate) weight: f64,
    /// Its interval.
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    /// In four scenarios; p, where there are fewer.
    pub(crate) scenarios: [f64; 4],
    pub(crate) state: usize,
}

/// The entries of row `r`; `opens`: whether intervals or scenarios may open some with p = 0. `scale` grows to the largest
/// |c|, |λv| and |b|.
pub(crate) fn entries(
    model: &Model,
    set: &UncertaintySet,
    r: usize,
    v: &[f64],
    opens: bool,
    scale: &mut f64,
) -> Vec<Entry> {
    let row = model.row(r);
    let before: usize = (0..r).map(|r| model.row(r).prob.len()).sum();
    let weight = |state: usize, stored: Option<usize>| match set.entry_weights.as_deref() {
        None => 1.0,
        Some(EntryWeights::PerState(weights)) => weights[state],
        Some(EntryWeights::PerTransition(weights)) => stored.map_or(1.0, |k| weights[before + k]),
    };
    let mut of = |state: usize, p: f64, toll: f64, stored: Option<usize>| {
        let later = model.discount() * v[state];
        let b = row.cost + toll + later;
        for part in [row.cost, toll, later, b] {
            *scale = scale.max(part.abs());
        }
        let bounds = row.bounds.zip(stored);
        let [lower, upper] = bounds.map_or([0.0, 1.0], |(l, k)| [l.lower[k], l.upper[k]]);
        let scenarios = set.scenarios.as_deref().zip(stored).map_or([p; 4], |(told, k)| {
            let at = (before + k) * told.count();
            std::array::from_fn(|i| if i < told.count() { told.numbers()[at + i] } else { p })
        });
        Entry { p, b, weight: weight(state, stored), lower, upper, scenarios, state }
    };
    // States that are not listed, and every entry of those that are: there may be several.
    let everywhere = set.support == Support::All;
    let mut listed = vec![false; v.len()];
    let mut found = Vec::new();
    for (k, (state, p, toll)) in row.entries().enumerate() {
        listed[state] = true;
        let told = |told: &Scenarios| {
            let at = (before + k) * told.count();
            told.numbers()[at..at + told.count()].iter().any(|y| *y > 0.0)
        };
        let open = opens
            && (row.bounds.is_some_and(|l| l.upper[k] > 0.0)
                || set.scenarios.as_deref().is_some_and(told));
        if everywhere || p > 0.0 || open {
            found.push(of(state, p, toll, Some(k)));
        }
    }
    let rest = (0..v.len()).filter(|&i| everywhere && !listed[i]);
    found.extend(rest.map(|i| of(i, 0.0, 0.0, None)));
    found
}
