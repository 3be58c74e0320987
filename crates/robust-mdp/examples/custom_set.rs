//! A set of one's own: the triangular discrimination (Vincze and Le Cam),
//!   d(y, p) = Σ (y − p)²/(y + p),
//! which is at most the total variation ‖y − p‖₁ and near p half of χ².
//!
//! For z = w − max w ≤ 0, y(t) = argmax_y t⟨z, y⟩ − d(y, p) is y = p(2/√s − 1)₊, s = η − tz, and Newton's
//! method from the left finds the η of mass one, since the mass is convex in η.

use robust_mdp::conformance::check;
use robust_mdp::sets::{Beyond, Distance, Priced, Row, Set, UncertaintySet};
use robust_mdp::{Options, instances, solve};

/// Σ (y − p)²/(y + p), on the support of p.
#[derive(Debug)]
pub(crate) struct LeCam;

/// P, the nominal mass on the largest objectives.
fn on_maximum(row: Row<'_>) -> f64 {
    entries(row).filter(|e| e.1 == 0.0).map(|e| e.0).sum::<f64>().min(1.0)
}

/// (p, z) of the entries that may have mass.
fn entries(row: Row<'_>) -> impl Iterator<Item = (f64, f64)> {
    let open = row.p.iter().zip(row.w).filter(|e| *e.0 > 0.0);
    open.map(move |(p, w)| (*p, w - row.maximum))
}

/// y/p of an entry.
fn ratio(s: f64) -> f64 {
    (2.0 / s.sqrt() - 1.0).max(0.0)
}

/// The η at which y(t) has mass one.
fn shift(row: Row<'_>, t: f64) -> f64 {
    let mass = on_maximum(row);
    // P(2/√η − 1) = 1: no η is smaller.
    let mut eta = (2.0 * mass / (1.0 + mass)).powi(2);
    for _ in 0..100 {
        let (mut excess, mut slope) = (-1.0, 0.0);
        for (p, s) in entries(row).map(|(p, z)| (p, eta - t * z)).filter(|e| e.1 < 4.0) {
            excess += p * ratio(s);
            slope += p / (s * s.sqrt());
        }
        let next = eta + excess / slope;
        if next.is_nan() || next <= eta * (1.0 + 1e-15) {
            break;
        }
        eta = next;
    }
    eta
}

impl Set for LeCam {
    fn name(&self) -> &'static str {
        "lecam"
    }

    fn title(&self) -> &'static str {
        "Le Cam"
    }

    fn distance(&self, p: &[f64], y: &[f64]) -> f64 {
        let pairs = p.iter().zip(y).filter(|(p, y)| **p + **y > 0.0);
        pairs.map(|(p, y)| (y - p) * (y - p) / (y + p)).sum()
    }

    fn leaves_support(&self) -> bool {
        false
    }

    fn diameter(&self) -> f64 {
        2.0
    }

    /// d(e_i, p) = 2(1 − p_i)/(1 + p_i).
    fn vacuous(&self, p: &[f64], _: bool) -> f64 {
        let least = p.iter().copied().filter(|p| *p > 0.0).fold(1.0, f64::min);
        2.0 * (1.0 - least) / (1.0 + least)
    }

    fn at(&self, row: Row<'_>, t: f64, _: Option<Priced>) -> Priced {
        let eta = shift(row, t);
        let mut at = Priced { t, nu: eta, value: 0.0, price: 0.0 };
        for (p, z) in entries(row) {
            let y = p * ratio(eta - t * z);
            at.value += y * z;
            at.price += (y - p) * (y - p) / (y + p);
        }
        at
    }

    /// y = p/P on the maxima.
    fn face(&self, row: Row<'_>) -> f64 {
        let mass = on_maximum(row);
        2.0 * (1.0 - mass) / (1.0 + mass)
    }

    fn kernel(&self, row: Row<'_>, at: Priced, y: &mut [f64]) -> Beyond {
        for ((y, &p), &w) in y.iter_mut().zip(row.p).zip(row.w) {
            *y = match at.t.is_finite() && p > 0.0 {
                true => p * ratio(at.nu - at.t * (w - row.maximum)),
                false if w == row.maximum => p,
                false => 0.0,
            };
        }
        Beyond::Nothing
    }
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("the set conforms: {}", check(&LeCam)?);
    let model = instances::machine_replacement(10, 0.8)?;
    for radius in [0.0, 0.01, 0.1] {
        let set = UncertaintySet::new(Distance::Custom(&LeCam), radius);
        let solution = solve(&model, &set, &Options::default())?;
        assert!(solution.gap <= solution.target_gap);
        println!("radius {radius}: {:?} at the start", solution.initial_value);
    }
    Ok(())
}
