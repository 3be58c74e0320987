//! The path of a row in the ellipsoid: y(t) = (y⁰ + t·w − ν)₊ with Σy = 1, w = b − max b.
//!
//! Just after t = 0 the entries of positive y⁰ are active, and those of zero y⁰ whose w exceeds
//! the mean of the active ones. An active entry moves at w_i − mean; those below the mean shrink
//! and leave for good, which raises the mean, so that nothing comes back. Between two leavings,
//! with n active entries of mean m and Δ = Σ(w − m)², and r = Σy⁰ over those that left,
//!   y_i = y⁰_i + t(w_i − m) + r/n,
//!   ⟨b, y − y⁰⟩ = tΔ + Σ_left y⁰(m − w),   ½‖y − y⁰‖² = ½(t²Δ + r²/n + Σ_left (y⁰)²),
//! sums of nonnegative terms. Entry i leaves at t = (y⁰_i + r/n)/(m − w_i).

use super::{Path, Point};

/// A stretch of the path on which no entry leaves.
struct Segment {
    /// Where it starts: multiplier and value above the nominal one.
    from: f64,
    rise: f64,
    /// Δ, Σ_left y⁰(m − w) and ½(r²/n + Σ_left (y⁰)²).
    delta: f64,
    carried: f64,
    sunk: f64,
}

impl Segment {
    fn spent(&self, t: f64) -> f64 {
        self.sunk + 0.5 * t * t * self.delta
    }

    fn rise(&self, t: f64) -> f64 {
        self.carried + t * self.delta
    }
}

/// All segments that start within the budget.
pub(super) struct Projections {
    maximum: f64,
    nominal: f64,
    segments: Vec<Segment>,
    /// The multiplier and the rise up to which the segments reach.
    until: (f64, f64),
    end: f64,
}

impl Projections {
    /// The path of a row with entries (y⁰, b) as far as `radius` can lead.
    pub(super) fn new(entries: Vec<(f64, f64)>, radius: f64) -> Projections {
        let maximum = entries.iter().map(|e| e.1).fold(f64::NEG_INFINITY, f64::max);
        let nominal = maximum + entries.iter().map(|(p, b)| p * (b - maximum)).sum::<f64>();
        let mut path = Projections {
            maximum,
            nominal,
            segments: Vec::new(),
            until: (f64::INFINITY, f64::INFINITY),
            end: f64::INFINITY,
        };
        path.walk(at_start(entries.into_iter().map(|(p, b)| (p, b - maximum)).collect()), radius);
        path
    }

    fn walk(&mut self, mut active: Vec<(f64, f64)>, radius: f64) {
        let mut left: Vec<(f64, f64)> = Vec::new();
        let mut from = 0.0;
        loop {
            let n = active.len() as f64;
            let mean = active.iter().map(|e| e.1).sum::<f64>() / n;
            let delta = active.iter().map(|(_, w)| (w - mean) * (w - mean)).sum();
            let r = left.iter().map(|e| e.0).sum::<f64>();
            let carried = left.iter().map(|(p, w)| p * (mean - w)).sum();
            let sunk = 0.5 * (r * r / n + left.iter().map(|(p, _)| p * p).sum::<f64>());
            let mut segment = Segment { from, rise: 0.0, delta, carried, sunk };
            segment.rise = segment.rise(from);
            if segment.spent(from) > radius {
                self.until = (from, segment.rise);
                return;
            }
            self.segments.push(segment);
            let leaves = |(p, w): (f64, f64)| match w < mean {
                true => ((p + r / n) / (mean - w)).max(from),
                false => f64::INFINITY,
            };
            let next = active.iter().map(|e| leaves(*e)).fold(f64::INFINITY, f64::min);
            if next == f64::INFINITY {
                // Only entries of the largest b are left.
                self.end = sunk;
                return;
            }
            left.extend(active.iter().filter(|e| leaves(**e) <= next));
            active.retain(|e| leaves(*e) > next);
            from = next;
        }
    }
}

/// The entries (y⁰, w) that are active just after t = 0.
fn at_start(entries: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let (mut active, mut zero): (Vec<_>, Vec<_>) = entries.into_iter().partition(|e| e.0 > 0.0);
    zero.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut total: f64 = active.iter().map(|e| e.1).sum();
    for entry in zero {
        if entry.1 * active.len() as f64 <= total {
            break;
        }
        total += entry.1;
        active.push(entry);
    }
    active
}

impl Path for Projections {
    fn nominal_value(&self) -> f64 {
        self.nominal
    }

    fn maximum(&self) -> f64 {
        self.maximum
    }

    fn end(&self) -> f64 {
        self.end
    }

    fn at(&self, t: f64) -> Point {
        if t >= self.until.0 {
            return Point { value: self.maximum, spent: f64::INFINITY };
        }
        let k = self.segments.partition_point(|s| s.from <= t).max(1) - 1;
        let segment = &self.segments[k];
        let rise = segment.rise(t).min(self.maximum - self.nominal);
        Point { value: self.nominal + rise, spent: segment.spent(t) }
    }

    fn inside(&self, level: f64) -> f64 {
        let rise = level - self.nominal;
        if rise >= self.until.1 {
            return f64::INFINITY;
        }
        let k = self.segments.partition_point(|s| s.rise <= rise).max(1) - 1;
        let segment = &self.segments[k];
        if segment.delta == 0.0 {
            return segment.sunk;
        }
        segment.spent(((rise - segment.carried) / segment.delta).max(segment.from))
    }
}
