//! The path of a row in the KL set: y(t) = y⁰e^{tw}/S, S = Σy⁰e^{tw}, w = b − max b ≤ 0.
//!
//! The distance to the maximum G = −Σy w keeps its relative precision up to saturation; its slope in
//! t is −Σy(w + G)². With e_i = ln(y_i/y⁰_i) = tw_i − ln S the budget is
//! KL = Σy⁰(e·eᵉ − (eᵉ − 1)), whose terms are nonnegative and which an error in ln S changes by
//! KL times that error only. An error η of a term costs the value η/t, a rounding of the spread.

use std::cell::Cell;

use super::{Path, Point};

pub(super) struct Tilts {
    nominal: Vec<f64>,
    w: Vec<f64>,
    maximum: f64,
    nominal_value: f64,
    spread: f64,
    end: f64,
    /// The latest multiplier: where the next search starts.
    latest: Cell<f64>,
}

/// ln S, G and the variance of w at y(t).
struct Tilt {
    log: f64,
    gap: f64,
    variance: f64,
}

impl Tilts {
    /// The path of a row with entries (y⁰ > 0, b).
    pub(super) fn new(entries: Vec<(f64, f64)>) -> Tilts {
        let maximum = entries.iter().map(|e| e.1).fold(f64::NEG_INFINITY, f64::max);
        let w: Vec<f64> = entries.iter().map(|e| e.1 - maximum).collect();
        let spread = w.iter().fold(0.0, |m: f64, w| m.max(-w));
        let mass = |at_maximum: bool| -> f64 {
            entries.iter().filter(|e| (e.1 == maximum) == at_maximum).map(|e| e.0).sum()
        };
        let (on, off) = (mass(true), mass(false));
        Tilts {
            maximum,
            nominal_value: maximum + entries.iter().zip(&w).map(|(e, w)| e.0 * w).sum::<f64>(),
            spread,
            end: if off < 0.5 { -(-off).ln_1p() } else { -on.ln() },
            latest: Cell::new(1.0 / spread),
            nominal: entries.into_iter().map(|e| e.0).collect(),
            w,
        }
    }

    fn tilt(&self, t: f64) -> Tilt {
        let (mut s0, mut s1, mut s2) = (0.0, 0.0, 0.0);
        for (p, w) in self.nominal.iter().zip(&self.w) {
            let y = p * (t * w).exp();
            (s0, s1, s2) = (s0 + y, s1 - y * w, s2 + y * w * w);
        }
        let gap = s1 / s0;
        Tilt { log: s0.ln(), gap, variance: s2 / s0 - gap * gap }
    }

    fn spent(&self, t: f64, log: f64) -> f64 {
        let term = |(p, w): (&f64, &f64)| {
            let e = (t * w - log).max(-800.0);
            let m = e.exp_m1();
            p * (e * (m + 1.0) - m)
        };
        self.nominal.iter().zip(&self.w).map(term).sum()
    }
}

impl Path for Tilts {
    fn nominal_value(&self) -> f64 {
        self.nominal_value
    }

    fn maximum(&self) -> f64 {
        self.maximum
    }

    fn end(&self) -> f64 {
        self.end
    }

    fn at(&self, t: f64) -> Point {
        let Tilt { log, gap, .. } = self.tilt(t);
        Point { value: self.maximum - gap, spent: self.spent(t, log) }
    }

    /// Newton's method on ln G(t) = ln(max b − level), kept inside a bracket; every eighth step
    /// is a bisection.
    fn inside(&self, level: f64) -> f64 {
        let goal = self.maximum - level;
        let (mut low, mut high) = (0.0, f64::INFINITY);
        let mut t = self.latest.get();
        let mut log = 0.0;
        for k in 1..400 {
            let Tilt { log: ln_s, gap, variance } = self.tilt(t);
            log = ln_s;
            if (gap - goal).abs() <= 1e-16 * self.spread {
                break;
            }
            *(if gap > goal { &mut low } else { &mut high }) = t;
            let newton = t + gap / variance * (gap / goal).ln();
            let next = if low < newton && newton < high && k % 8 != 0 {
                newton
            } else if high == f64::INFINITY {
                4.0 * t
            } else {
                0.5 * (low + high)
            };
            if (next - t).abs() <= 1e-15 * t {
                break;
            }
            t = next;
        }
        self.latest.set(t);
        self.spent(t, log)
    }
}
