//! Rows of any separable distance, from conjugates alone: with z = b − max b,
//!   ψ(t) = min_ν ν + Σ_j φ(t·z_j − ν, p_j),   g(u) = max_t t·u − ψ(t).
//! By weak duality F = min_t [α + Σψ_a(t_a)]/Σt_a, reached by Newton's method on u with t_a the maximiser
//! of g_a(u); a policy has t_a = r·x_a and one r. Minima are found by bisection and golden sections: their
//! errors count to second order only.

use super::families::Conjugate;

pub(super) struct DualRow {
    entries: Vec<(f64, f64)>,
    pub(super) maximum: f64,
    spread: f64,
    /// Σpz.
    nominal: f64,
    of: Conjugate,
    /// The distance counts so often.
    kappa: f64,
}

const GOLDEN: f64 = 0.618_033_988_749_894_9;

impl DualRow {
    /// The row with entries (p, b).
    pub(super) fn new(mut entries: Vec<(f64, f64)>, of: Conjugate, kappa: f64) -> DualRow {
        let maximum = entries.iter().map(|e| e.1).fold(f64::NEG_INFINITY, f64::max);
        entries.iter_mut().for_each(|e| e.1 -= maximum);
        let spread = entries.iter().fold(0.0, |m: f64, e| m.max(-e.1));
        let nominal = entries.iter().map(|e| e.0 * e.1).sum();
        DualRow { entries, maximum, spread, nominal, of, kappa }
    }

    pub(super) fn nominal_value(&self) -> f64 {
        self.maximum + self.nominal
    }

    /// κψ(t/κ), above t·max b.
    pub(super) fn gain(&self, t: f64) -> f64 {
        let t = t / self.kappa;
        let mass = |nu: f64| -> f64 {
            self.entries.iter().map(|&(p, z)| (self.of.argmax)(t * z - nu, p)).sum()
        };
        let (mut low, mut high) = (-1.0, 0.0);
        while mass(low) < 1.0 && low > -1e60 {
            low *= 4.0;
        }
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            *(if mass(middle) > 1.0 { &mut low } else { &mut high }) = middle;
        }
        let value = |nu: f64| -> f64 {
            nu + self.entries.iter().map(|&(p, z)| (self.of.value)(t * z - nu, p)).sum::<f64>()
        };
        self.kappa * value(low).min(value(high))
    }

    /// The multiplier of the value `below` under the maximum.
    fn multiplier(&self, below: f64) -> f64 {
        let unit = 1.0 / self.spread;
        let ends = ((1e-18 * unit).ln(), (1e22 * unit).ln());
        golden(ends, &|t: f64| self.gain(t.exp()) + t.exp() * below).exp()
    }
}

/// The minimiser of a unimodal function.
fn golden((mut low, mut high): (f64, f64), of: &dyn Fn(f64) -> f64) -> f64 {
    let (mut a, mut b) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut at_a, mut at_b) = (of(a), of(b));
    for _ in 0..80 {
        if at_a < at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - GOLDEN * (high - low);
            at_a = of(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + GOLDEN * (high - low);
            at_b = of(b);
        }
    }
    0.5 * (low + high)
}

/// F for rows that share a budget.
pub(super) fn update(rows: &[DualRow], radius: f64) -> f64 {
    let least = |of: &dyn Fn(&DualRow) -> f64| rows.iter().map(of).fold(f64::INFINITY, f64::min);
    let (nominal, level) = (least(&|row| row.nominal_value()), least(&|row| row.maximum));
    if radius == 0.0 {
        return nominal;
    }
    let (mut low, mut high, mut best) = (nominal, level, level);
    let mut u = 0.5 * (nominal + level);
    for _ in 0..200 {
        let moved = rows.iter().filter(|row| row.nominal_value() < u && row.spread > 0.0);
        let (mut weight, mut worth) = (0.0, 0.0);
        for row in moved {
            let t = row.multiplier(row.maximum - u);
            weight += t;
            worth += t * (row.maximum - u) + row.gain(t);
        }
        let upper = u + (radius + worth) / weight;
        best = best.min(upper);
        *(if -worth <= radius { &mut low } else { &mut high }) = u;
        let next = if low < upper && upper < high { upper } else { 0.5 * (low + high) };
        if next <= low || next >= high || (next - u).abs() <= 1e-16 * (level - nominal) {
            break;
        }
        u = next;
    }
    best
}

/// max Σ_a x_a⟨b_a, y_a⟩ over kernels that spend no more than the radius.
pub(super) fn worst(rows: &[(f64, &DualRow)], radius: f64) -> f64 {
    let total =
        |of: &dyn Fn(&DualRow) -> f64| -> f64 { rows.iter().map(|(x, row)| x * of(row)).sum() };
    let (maximum, nominal) = (total(&|row| row.maximum), total(&|row| row.nominal_value()));
    let spread = rows.iter().map(|(x, row)| x * row.spread).fold(0.0, f64::max);
    if radius == 0.0 || spread == 0.0 {
        return nominal;
    }
    let bound = |r: f64| {
        let gains = rows.iter().filter(|(x, _)| *x > 0.0).map(|(x, row)| row.gain(r * x));
        (radius + gains.sum::<f64>()) / r
    };
    let ends = ((1e-18 / spread).ln(), (1e22 / spread).ln());
    let r = golden(ends, &|r: f64| bound(r.exp())).exp();
    maximum + bound(r).min(0.0)
}
