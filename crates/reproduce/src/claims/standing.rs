//! How one method stands against another as the size grows.
//!
//! “Overtakes” is said of two courses only: slower at first and faster from some size on, or faster by
//! a factor that grows. A method that is faster by much the same factor at every size is faster, which
//! is another statement.

use robust_mdp_measure::statistics::{Fit, Summary, fit};

use super::tally::{Factor, Ratio};
use super::{SLACK, digits, sample};

/// An advantage grows where its fit S^k has at least this k: half as much again from S = 5 to S = 25.
pub(super) const GROWS: f64 = 0.25;

/// Seconds by size.
pub(super) type BySize = Vec<(f64, Summary)>;

/// The course of `one` against `other` over all sizes that both have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Standing {
    /// Not faster at the smallest size, faster at this one and all larger ones.
    Crosses { least: f64, from: f64 },
    /// Faster at every size.
    Faster(Advantage),
    /// Not faster at the largest size.
    Behind { most: f64 },
    /// Faster at the smallest and the largest size, but not at one between.
    Wavers { at: f64 },
    /// Fewer than two sizes, or a limit of work hides which was faster.
    Unknown,
}

/// The time of the other over that of the one, at the ends, and the fit S^k.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Advantage {
    pub(super) least: (f64, Ratio),
    pub(super) most: (f64, Ratio),
    /// Unknown where too few sizes have times that no limit cut off.
    pub(super) fit: Option<Fit>,
}

/// Whether `one` is faster by more than a tenth, where it is known: a stopped run is known to have
/// taken longer than its time.
fn is_faster(one: &Summary, other: &Summary) -> Option<bool> {
    Ratio::of(sample(one), sample(other)).is_at_least(SLACK)
}

impl Standing {
    pub(super) fn of(one: &BySize, other: &BySize) -> Standing {
        let common: Vec<(f64, &Summary, &Summary)> = (one.iter())
            .filter_map(|(size, a)| {
                let (_, b) = other.iter().find(|(s, _)| s == size)?;
                Some((*size, a, b))
            })
            .collect();
        let known: Option<Vec<(f64, bool)>> =
            common.iter().map(|(size, a, b)| Some((*size, is_faster(a, b)?))).collect();
        let Some(known) = known.filter(|k| k.len() > 1) else { return Standing::Unknown };
        let (least, most) = (known[0].0, known[known.len() - 1].0);
        match known.iter().rposition(|(_, faster)| !faster) {
            None => Standing::Faster(Advantage::of(&common)),
            Some(last) if last + 1 == known.len() => Standing::Behind { most },
            Some(last) if known[0].1 => Standing::Wavers { at: known[last].0 },
            Some(last) => Standing::Crosses { least, from: known[last + 1].0 },
        }
    }

    /// A crossing or a growing advantage; `None` where that is unknown.
    pub(super) fn overtakes(self) -> Option<bool> {
        match self {
            Standing::Crosses { .. } => Some(true),
            Standing::Faster(advantage) => advantage.grows(),
            Standing::Behind { .. } | Standing::Wavers { .. } => Some(false),
            Standing::Unknown => None,
        }
    }

    pub(super) fn text(self) -> String {
        match self {
            Standing::Crosses { least, from } => {
                format!("not faster at S = {least}, faster from S = {from} on")
            }
            Standing::Faster(advantage) => advantage.text(),
            Standing::Behind { most } => format!("not faster at S = {most}"),
            Standing::Wavers { at } => format!("faster at the ends, but not at S = {at}"),
            Standing::Unknown => "not decided".into(),
        }
    }
}

impl Advantage {
    fn of(common: &[(f64, &Summary, &Summary)]) -> Advantage {
        let all: Vec<(f64, Ratio)> =
            common.iter().map(|(size, a, b)| (*size, Ratio::of(sample(a), sample(b)))).collect();
        // Times that a limit cut off are bounds: nothing is fitted to them.
        let whole: Vec<(f64, f64)> = (all.iter())
            .filter_map(|(size, ratio)| match ratio {
                Ratio::Exact(r) => Some((*size, *r)),
                Ratio::AtLeast(_) | Ratio::AtMost(_) | Ratio::Unknown => None,
            })
            .collect();
        Advantage { least: all[0], most: all[all.len() - 1], fit: fit(&whole) }
    }

    /// Whether it grows as S^[`GROWS`] at least, as far as two standard errors of the fit tell.
    fn grows(self) -> Option<bool> {
        let Fit { exponent, error } = self.fit?;
        let margin = 2.0 * error?;
        match (exponent >= GROWS && exponent > margin, exponent + margin < GROWS) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        }
    }

    fn text(self) -> String {
        let fitted = match self.fit {
            Some(Fit { exponent, error: Some(error) }) => {
                format!("(S^{} ± {})", digits(exponent), digits(2.0 * error))
            }
            Some(Fit { error: None, .. }) | None => {
                "(fewer than three sizes without a limit of work)".into()
            }
        };
        let grows = match self.grows() {
            Some(true) => "grows",
            Some(false) => "does not grow",
            None => "may or may not grow",
        };
        let ((least, first), (most, last)) = (self.least, self.most);
        let [first, last] = [first, last].map(|ratio| Factor::of(&[ratio]).text());
        format!(
            "{first} times as fast at S = {least}, {last} times at S = {most}, which {grows} {fitted}"
        )
    }
}

/// The least time of several methods at every size. If it is that of a stopped run, the true least one
/// is only known to be longer.
pub(super) fn fastest(all: &[BySize]) -> BySize {
    let mut best: BySize = Vec::new();
    for (size, summary) in all.iter().flatten() {
        let rank = |s: &Summary| (s.median, s.stopped);
        match best.iter_mut().find(|(s, _)| s == size) {
            Some((_, least)) if rank(summary) < rank(least) => *least = *summary,
            Some(_) => {}
            None => best.push((*size, *summary)),
        }
    }
    best.sort_by(|a, b| a.0.total_cmp(&b.0));
    best
}
