//! Rows known by ψ alone: with z = b − max b,
//!   ψ(t) = max_y t⟨z, y⟩ − d(y, p),   g(u) = max_t t·u − ψ(t),
//! where for a sum over entries ψ(t) = min_ν ν + Σ_j φ(t·z_j − ν, p_j).
//! By weak duality F = min_t [α + Σψ_a(t_a)]/Σt_a, reached by Newton's method on u with t_a the maximiser
//! of g_a(u); a policy has t_a = r·x_a and one r. Minima are found by bisection and golden sections: their
//! errors count to second order only.

use robust_mdp::sets::{Distance, UncertaintySet};

use super::boxes;
use super::entry::Entry;
use super::families::Known;

/// φ(h, p) and a maximiser; within intervals δ(y, p) and the maximiser over all y.
#[derive(Clone, Copy)]
pub(crate) struct Conjugate {
    pub(crate) value: fn(f64, &Entry) -> f64,
    pub(crate) argmax: fn(f64, &Entry) -> f64,
}

pub(super) struct DualRow {
    /// By falling objectives z, which stand in place of b.
    entries: Vec<Entry>,
    pub(super) maximum: f64,
    /// The largest ⟨z, y⟩.
    peak: f64,
    spread: f64,
    /// Σpz.
    nominal: f64,
    known: Known,
    /// C from each entry to each.
    moves: Vec<f64>,
    /// The distance counts so often.
    kappa: f64,
}

const GOLDEN: f64 = 0.618_033_988_749_894_9;

impl DualRow {
    /// The row with these entries.
    pub(super) fn new(
        mut entries: Vec<Entry>,
        known: Known,
        set: &UncertaintySet,
        kappa: f64,
    ) -> DualRow {
        entries.sort_by(|a, b| b.b.total_cmp(&a.b));
        let maximum = entries[0].b;
        entries.iter_mut().for_each(|e| e.b -= maximum);
        let spread = entries.iter().fold(0.0, |m: f64, e| m.max(-e.b));
        let nominal: f64 = entries.iter().map(|e| e.p * e.b).sum();
        let peak = match (known, known.within(set.distance)) {
            (Known::Hull, _) => hull(&entries).max(nominal).min(0.0),
            (_, Some(_)) => (nominal + boxes::peak(&entries, boxes::way)).min(0.0),
            (_, None) => 0.0,
        };
        let ground = set.ground.iter().filter(|_| set.distance == Distance::Wasserstein);
        let cost = |ground: &robust_mdp::sets::Ground| -> Vec<f64> {
            let to =
                |from: &Entry| entries.iter().map(|to| ground.cost(from.state, to.state)).collect();
            entries.iter().flat_map::<Vec<f64>, _>(to).collect()
        };
        let moves = ground.flat_map(|ground| cost(ground)).collect();
        DualRow { maximum, peak, spread, nominal, known, moves, kappa, entries }
    }

    pub(super) fn nominal_value(&self) -> f64 {
        self.maximum + self.nominal
    }

    /// The largest ⟨b, y⟩.
    pub(super) fn largest(&self) -> f64 {
        self.maximum + self.peak
    }

    /// κψ(t/κ), above t·max b.
    pub(super) fn gain(&self, t: f64) -> f64 {
        let t = t / self.kappa;
        self.kappa
            * match self.known {
                Known::Path => unreachable!("paths are known without duals"),
                Known::Sum(of) => self.least(t, of.value, of.argmax),
                Known::SumWithin(of, _) => {
                    let at = |h: f64, e: &Entry| (of.argmax)(h, e).max(e.lower).min(e.upper);
                    let value = |h: f64, e: &Entry| h * at(h, e) - (of.value)(at(h, e), e);
                    self.least(t, value, at)
                }
                Known::Box(of) => t * self.nominal + boxes::gain(&self.entries, of, t),
                Known::Transport => self.moved(t),
                Known::Hull => (t * self.nominal).max(t * self.peak - 1.0),
            }
    }

    /// min_ν ν + Σφ(tz − ν).
    fn least(
        &self,
        t: f64,
        value: impl Fn(f64, &Entry) -> f64,
        argmax: impl Fn(f64, &Entry) -> f64,
    ) -> f64 {
        let mass = |nu: f64| -> f64 { self.entries.iter().map(|e| argmax(t * e.b - nu, e)).sum() };
        // Within intervals there may be no more mass than 1 anywhere.
        let full = |nu: f64| self.entries.iter().all(|e| argmax(t * e.b - nu, e) >= e.upper);
        let (mut low, mut high) = (-1.0, 0.0);
        while mass(low) < 1.0 && low > -1e60 && !full(low) {
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
            nu + self.entries.iter().map(|e| value(t * e.b - nu, e)).sum::<f64>()
        };
        value(low).min(value(high))
    }

    /// Σ_j p_j·max_i (tz_i − C_ji).
    fn moved(&self, t: f64) -> f64 {
        let best = |costs: &[f64]| {
            let worth = self.entries.iter().zip(costs).map(|(to, cost)| t * to.b - cost);
            worth.fold(f64::NEG_INFINITY, f64::max)
        };
        let rows = self.moves.chunks(self.entries.len());
        self.entries.iter().zip(rows).map(|(from, costs)| from.p * best(costs)).sum()
    }

    /// The multiplier of the value `below` under the maximum.
    fn multiplier(&self, below: f64) -> f64 {
        let unit = 1.0 / self.spread;
        let ends = ((1e-18 * unit).ln(), (1e22 * unit).ln());
        golden(ends, &|t: f64| self.gain(t.exp()) + t.exp() * below).exp()
    }
}

/// max_k ⟨z, y^k⟩.
fn hull(entries: &[Entry]) -> f64 {
    let value = |k: usize| entries.iter().map(|e| e.scenarios[k] * e.b).sum::<f64>();
    (0..4).map(value).fold(f64::NEG_INFINITY, f64::max)
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
    let (nominal, level) = (least(&|row| row.nominal_value()), least(&|row| row.largest()));
    if radius == 0.0 || nominal >= level {
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
    let peak = total(&|row| row.peak);
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
    maximum + bound(r).min(peak)
}
