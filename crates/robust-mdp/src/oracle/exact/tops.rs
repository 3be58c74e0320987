//! Largest values of KL rows.
//!
//! A row reaches base + top, top the largest w where y⁰ is positive. Where rows are dense and share w,
//! w ≤ 0, that may lie well below the base; it is soon found in the order of the values, and pays where
//! few rows matter: the lowest peak is all that a state can be worth, and Newton's steps measured by a
//! row's own peak come near it without overshooting.

use super::active::Between;
use super::kl::Kl;
use super::tilt::Top;
use crate::lanes::dispatch;

/// What was found of the rows of one state.
#[derive(Debug, Default)]
pub(super) struct Tops {
    /// By number of the row: the largest w, the mass there and the visit in which that was found.
    found: Vec<(f64, f64, u64)>,
    /// States so far.
    visit: u64,
    /// Whether steps are measured by the peaks of the rows under work.
    pub(super) used: bool,
}

impl Tops {
    /// Forgets another state, or another visit to this one, whose rows are so many.
    pub(super) fn clear(&mut self, rows: usize) {
        (self.visit, self.used) = (self.visit + 1, false);
        if self.found.len() < rows {
            self.found.resize(rows, (0.0, 0.0, 0));
        }
    }
}

impl Kl<'_> {
    /// The largest w of row k where y⁰ is positive, and the mass there.
    pub(super) fn top(&mut self, k: usize) -> (f64, f64) {
        let visit = self.cumulants.tops.visit;
        let (top, mass, when) = self.cumulants.tops.found[k];
        if when == visit {
            return (top, mass);
        }
        let (nominal, gain) = self.rows.row(k);
        let (top, mass, seen) = match &self.ahead.ranking {
            Some(ranking) if self.ranked() => ranking.top(nominal),
            _ => {
                let (top, mass) = dispatch(Top { nominal, gain });
                (top, mass, nominal.len())
            }
        };
        *self.entries += seen as u64;
        self.cumulants.tops.found[k] = (top, mass, visit);
        (top, mass)
    }

    /// Whether the order of the values serves all rows.
    fn ranked(&self) -> bool {
        self.rows.shared() && !self.ahead.in_place
    }

    /// The lowest peak, if it is soon found, and from then on steps are measured by peaks; else the
    /// `ceiling` that is known.
    pub(super) fn lowest_peak(&mut self, mut ceiling: f64, floor: &[f64]) -> f64 {
        let few = |rows: usize| 4 * rows <= self.rows.len();
        if !self.ranked() || !few(self.active.len()) {
            return ceiling;
        }
        let drift = self.ahead.drift;
        let mut list = std::mem::take(&mut self.active.pending);
        let below = ceiling - drift;
        dispatch(Between { of: floor, above: f64::NEG_INFINITY, below, out: &mut list });
        if few(list.len()) {
            self.measure_by_peaks();
            for k in list.iter().map(|&k| k as usize) {
                if floor[k] + drift < ceiling {
                    ceiling = ceiling.min(self.rows.base[k] + self.top(k).0);
                }
            }
        }
        self.active.pending = list;
        ceiling
    }

    /// Measures steps by peaks from now on, if these are soon found; whether that is new.
    pub(super) fn measure_by_peaks(&mut self) -> bool {
        let new = !self.cumulants.tops.used && self.ranked();
        if new {
            self.cumulants.tops.used = true;
            self.cumulants.resize(self.active.len());
            self.look_up_tops(0);
        }
        new
    }

    /// Looks up the tops of the rows under work from the j-th on, where steps are measured by them.
    pub(super) fn look_up_tops(&mut self, from: usize) {
        if self.cumulants.tops.used {
            for j in from..self.active.len() {
                self.cumulants.top[j] = self.top(self.active.row[j] as usize).0;
            }
        }
    }
}
