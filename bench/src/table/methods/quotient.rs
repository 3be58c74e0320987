//! Times relative to the automatic choice; of a run that ended early only a lower bound is known.

use robust_mdp_measure::statistics::median_between;

use crate::record::Record;
use crate::table::number;

/// Seconds of a result ÷ those of the automatic choice on the same case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quotient {
    pub(super) x: f64,
    /// The true one is larger.
    pub(super) open: bool,
}

impl Quotient {
    pub(super) fn of(record: &Record) -> Option<Quotient> {
        let x = *record.ratios.get("auto")?;
        Some(match record.status.as_str() {
            _ if record.certified() || record.extrapolated => Quotient { x, open: false },
            "time-limit" | "sweep-limit" => Quotient { x, open: true },
            _ => Quotient { x: f64::INFINITY, open: true }, // it never gets there
        })
    }

    pub(super) fn show(self) -> String {
        match (self.x.is_finite(), self.open) {
            (false, _) => "–".into(),
            (true, true) => format!("> {}", number(self.x)),
            (true, false) => number(self.x),
        }
    }
}

/// The quotients of some results.
pub(super) struct Quotients(Vec<Quotient>);

impl Quotients {
    pub(super) fn of<'r>(records: impl IntoIterator<Item = &'r Record>) -> Quotients {
        let mut all: Vec<Quotient> = records.into_iter().filter_map(Quotient::of).collect();
        all.sort_by(|a, b| a.x.total_cmp(&b.x));
        Quotients(all)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn below(&self, x: f64) -> usize {
        self.0.iter().filter(|q| !q.open && q.x < x).count()
    }

    /// A lower bound where it could be larger.
    pub(super) fn median(&self) -> Option<Quotient> {
        let bounds = |q: &Quotient| (q.x, if q.open { f64::INFINITY } else { q.x });
        let (x, most) = median_between(&self.0.iter().map(bounds).collect::<Vec<_>>())?;
        Some(Quotient { x, open: x < most || x.is_infinite() })
    }

    pub(super) fn least(&self) -> Option<Quotient> {
        let open = self.0.iter().all(|q| q.open);
        self.0.iter().find(|q| open || !q.open).map(|q| Quotient { x: q.x, open })
    }

    pub(super) fn largest(&self) -> Option<Quotient> {
        let open = self.0.iter().any(|q| q.open);
        let finite = self.0.iter().rev().find(|q| q.x.is_finite());
        finite.map(|q| Quotient { x: q.x, open })
    }

    /// `1.2 (0.9 to 3.4)`, or nothing.
    pub(super) fn summary(&self) -> String {
        let (Some(least), Some(median), Some(largest)) =
            (self.least(), self.median(), self.largest())
        else {
            return "–".into();
        };
        format!("{} ({} to {})", median.show(), least.show(), largest.show())
    }
}

pub(super) fn shown(quotient: Option<Quotient>) -> String {
    quotient.map_or_else(|| "–".into(), Quotient::show)
}

#[cfg(test)]
mod tests {
    use super::{Quotient, Quotients};

    fn of(list: &[(f64, bool)]) -> Quotients {
        Quotients(list.iter().map(|&(x, open)| Quotient { x, open }).collect())
    }

    #[test]
    fn medians_with_lower_bounds() {
        assert_eq!(of(&[]).median(), None);
        assert_eq!(of(&[(1.0, false), (3.0, false)]).median().unwrap().show(), "2.00");
        assert_eq!(of(&[(1.0, false), (2.0, false), (9.0, true)]).median().unwrap().show(), "2.00");
        assert_eq!(
            of(&[(1.0, true), (2.0, false), (9.0, false)]).median().unwrap().show(),
            "> 2.00"
        );
        let never = f64::INFINITY;
        assert_eq!(of(&[(1.0, false), (never, true)]).median().unwrap().show(), "–");
        assert_eq!(of(&[(1.0, false), (never, true)]).largest().unwrap().show(), "> 1.00");
    }
}
