//! Pairs counted for and against a claim, where a limit of work leaves some of them bounds.

use robust_mdp_measure::statistics::{Sample, median_between};
use robust_mdp_page::Ruling;

use super::{MOST, digits};

/// The time or work of one run over that of another, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ratio {
    Exact(f64),
    AtLeast(f64),
    AtMost(f64),
    Unknown,
}

impl From<f64> for Ratio {
    fn from(ratio: f64) -> Ratio {
        Ratio::Exact(ratio)
    }
}

impl Ratio {
    /// `other` over `one`; a stopped run would have taken longer than it did.
    pub(super) fn of(one: Sample, other: Sample) -> Ratio {
        let ratio = other.value / one.value;
        match (one.stopped, other.stopped) {
            (false, false) => Ratio::Exact(ratio),
            (false, true) => Ratio::AtLeast(ratio),
            (true, false) => Ratio::AtMost(ratio),
            (true, true) => Ratio::Unknown,
        }
    }

    /// The least and the most that it can be.
    pub(super) fn ends(self) -> (f64, f64) {
        match self {
            Ratio::Exact(r) => (r, r),
            Ratio::AtLeast(r) => (r, f64::INFINITY),
            Ratio::AtMost(r) => (0.0, r),
            Ratio::Unknown => (0.0, f64::INFINITY),
        }
    }

    /// Whether it lies between these; `None` where what is known of it does not tell.
    pub(super) fn is_within(self, least: f64, most: f64) -> Option<bool> {
        let (low, high) = self.ends();
        match (least <= low && high <= most, high < least || most < low) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        }
    }

    pub(super) fn is_at_least(self, least: f64) -> Option<bool> {
        self.is_within(least, f64::INFINITY)
    }
}

/// The least and the most that a median of ratios can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Factor {
    low: f64,
    high: f64,
}

impl Factor {
    pub(super) fn of(ratios: &[Ratio]) -> Factor {
        let ends: Vec<(f64, f64)> = ratios.iter().map(|r| r.ends()).collect();
        let (low, high) = median_between(&ends).unwrap_or((f64::NAN, f64::NAN));
        Factor { low, high }
    }

    /// “3.40”, or what bounds tell of it.
    pub(super) fn text(self) -> String {
        match (self.low > 0.0, self.high.is_finite()) {
            (true, true) if self.low < self.high => {
                format!("{} to {}", digits(self.low), digits(self.high))
            }
            (true, true) => digits(self.low),
            (true, false) => format!("at least {}", digits(self.low)),
            (false, true) => format!("at most {}", digits(self.high)),
            (false, false) => "?".into(),
        }
    }
}

/// How many of some pairs agree with a claim, and the median factor between the two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tally {
    /// Pairs that speak for or against it.
    pub(super) pairs: usize,
    pub(super) agree: usize,
    /// Pairs that do neither, since a limit of work hides on which side they are.
    pub(super) undecided: usize,
    /// Of all pairs, decided or not.
    pub(super) factor: Factor,
}

impl Tally {
    /// Pairs agree where their ratio is at least `enough`.
    pub(super) fn of(ratios: &[impl Copy + Into<Ratio>], enough: f64) -> Tally {
        Tally::within(ratios, enough, f64::INFINITY)
    }

    /// Pairs agree where their ratio is between these.
    pub(super) fn within(ratios: &[impl Copy + Into<Ratio>], least: f64, most: f64) -> Tally {
        let ratios: Vec<Ratio> = ratios.iter().map(|&r| r.into()).collect();
        let count = |found| ratios.iter().filter(|r| r.is_within(least, most) == found).count();
        let (agree, against) = (count(Some(true)), count(Some(false)));
        Tally { pairs: agree + against, agree, undecided: count(None), factor: Factor::of(&ratios) }
    }

    pub(super) fn share(self) -> f64 {
        self.agree as f64 / self.pairs as f64
    }

    /// `missing` says what would decide it if there are no pairs.
    pub(super) fn ruling(self, missing: &'static str) -> Ruling {
        match self.share() {
            _ if self.pairs == 0 => Ruling::Open(missing),
            share if share >= MOST => Ruling::Holds,
            share if share <= 0.5 => Ruling::Fails,
            _ => Ruling::Partly,
        }
    }

    /// “2 of 3 pairs, median factor 4.00”.
    pub(super) fn text(self) -> String {
        match (self.pairs, self.undecided) {
            (0, 0) => "no pairs".into(),
            _ => format!(
                "{} of {} pairs, median factor {}{}",
                self.agree,
                self.pairs,
                self.factor.text(),
                self.left_out()
            ),
        }
    }

    /// “ (1 more not decided: …)”, or nothing.
    pub(super) fn left_out(self) -> String {
        match self.undecided {
            0 => String::new(),
            n => format!(" ({n} more not decided: a limit of work stopped a run)"),
        }
    }
}

/// The ruling on the paper's setting, tempered by the others.
pub(super) fn tempered(paper: Tally, others: &[Tally], missing: &'static str) -> Ruling {
    let against = others.iter().any(|t| t.pairs > 0 && t.share() <= 0.5);
    match paper.ruling(missing) {
        Ruling::Holds if against => Ruling::Partly,
        ruling => ruling,
    }
}

/// A claim of several parts. It holds where all do, fails where none does, and holds in part where some
/// do or one does in part. Where none is found to hold and some are not decided, nor is the claim.
pub(super) fn together(parts: &[Ruling], missing: &'static str) -> Ruling {
    let all = |ruling: Ruling| !parts.is_empty() && parts.iter().all(|p| *p == ruling);
    let some = parts.iter().any(|p| match p {
        Ruling::Holds | Ruling::Partly => true,
        Ruling::Fails | Ruling::Open(_) => false,
    });
    match (all(Ruling::Holds), all(Ruling::Fails), some) {
        (true, ..) => Ruling::Holds,
        (false, true, _) => Ruling::Fails,
        (false, false, true) => Ruling::Partly,
        (false, false, false) => Ruling::Open(missing),
    }
}
