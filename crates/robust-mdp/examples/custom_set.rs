//! A set of one's own: the triangular discrimination (Vincze and Le Cam),
//!   d(y, p) = Σ (y − p)²/(y + p) = Σ p·f(y/p),  f(r) = (r − 1)²/(r + 1),
//! which is at most the total variation ‖y − p‖₁ and near p half of χ².
//!
//! For z = w − max w ≤ 0, y(t) = argmax_y t⟨z, y⟩ − d(y, p) is y = p(2/√s − 1)₊, s = η − tz, and Newton's
//! method from the left finds the η of mass one, since the mass is convex in η.

use robust_mdp::certificate::{Interval, Proof, ProofRow, Reading, UNIT};
use robust_mdp::sets::{Beyond, Curve, Distance, EntryData, Priced, Row, Set, UncertaintySet};
use robust_mdp::{Options, certify, conformance, instances, solve, verify};

/// Σ (y − p)²/(y + p), on the support of p.
#[derive(Debug)]
pub(crate) struct LeCam;

fn f(r: f64) -> f64 {
    (r - 1.0) * (r - 1.0) / (r + 1.0)
}

/// y/p of an entry.
fn ratio(s: f64) -> f64 {
    (2.0 / s.sqrt() - 1.0).max(0.0)
}

/// (p, z) of the entries that may have mass.
fn entries(row: Row<'_>) -> impl Iterator<Item = (f64, f64)> {
    let open = row.p.iter().zip(row.w).filter(|e| *e.0 > 0.0);
    open.map(move |(p, w)| (*p, w - row.maximum))
}

/// The nominal mass on the largest objectives.
fn on_maximum(row: Row<'_>) -> f64 {
    entries(row).filter(|e| e.1 == 0.0).map(|e| e.0).sum::<f64>().min(1.0)
}

impl Set for LeCam {
    fn name(&self) -> &'static str {
        "lecam"
    }

    fn distance(&self, p: &[f64], y: &[f64], _: EntryData<'_>) -> f64 {
        let pairs = p.iter().zip(y).filter(|(p, y)| **p + **y > 0.0);
        pairs.map(|(p, y)| (y - p) * (y - p) / (y + p)).sum()
    }

    fn leaves_support(&self) -> bool {
        false
    }

    fn diameter(&self) -> f64 {
        2.0
    }

    fn vacuous(&self, p: &[f64], _: bool, _: EntryData<'_>) -> f64 {
        let least = p.iter().copied().filter(|p| *p > 0.0).fold(1.0, f64::min);
        2.0 * (1.0 - least) / (1.0 + least)
    }

    fn proof(&self) -> Option<&dyn Proof> {
        Some(self)
    }

    fn curve(&self) -> Option<&dyn Curve> {
        Some(self)
    }
}

impl Curve for LeCam {
    fn face(&self, row: Row<'_>) -> f64 {
        2.0 * (1.0 - on_maximum(row)) / (1.0 + on_maximum(row))
    }

    fn at(&self, row: Row<'_>, t: f64, _: Option<Priced>) -> Priced {
        let least = (2.0 * on_maximum(row) / (1.0 + on_maximum(row))).powi(2);
        let mut eta = least.max(f64::MIN_POSITIVE); // no η is smaller than `least`
        for _ in 0..100 {
            let below = || entries(row).map(|(p, z)| (p, eta - t * z)).filter(|e| e.1 < 4.0);
            let excess = below().map(|(p, s)| p * ratio(s)).sum::<f64>() - 1.0;
            let step = excess / below().map(|(p, s)| p / (s * s.sqrt())).sum::<f64>();
            if step.is_nan() || step <= 1e-15 * eta {
                break;
            }
            eta += step;
        }
        let moved = || entries(row).map(|(p, z)| (p, z, ratio(eta - t * z)));
        let value = moved().map(|(p, z, r)| p * r * z).sum();
        Priced { t, nu: eta, value, price: moved().map(|(p, _, r)| p * f(r)).sum(), slope: None }
    }

    fn kernel(&self, row: Row<'_>, Priced { t, nu, .. }: Priced, y: &mut [f64]) -> Beyond {
        let on_face = |z: f64| f64::from(u8::from(z == 0.0));
        let of = |z: f64| if t.is_finite() { ratio(nu - t * z) } else { on_face(z) };
        for ((y, p), w) in y.iter_mut().zip(row.p).zip(row.w) {
            *y = if *p > 0.0 { p * of(w - row.maximum) } else { 0.0 };
        }
        Beyond::Nothing
    }
}

/// ψ ≤ η − 1 + Σpφ, φ = max_r (1 − s)r − f(r) = (1 − √s)(3 − √s), or −1 if s > 4. As s is a sum of numbers ≥ 0, √s is
/// off by 2u of itself, φ by twice that and three roundings of φ ≤ 3: less than 14u. The row is ŷ = pr/M for the
/// computed r; with f' in [−3, 1], d(ŷ, p/P) = Σp·f(rP/M)/P ≤ [Σp·f(r) + 3|P − M|]/P.
impl Proof for LeCam {
    fn read(&self, row: &ProofRow<'_>, t: f64, eta: f64) -> Reading {
        if eta <= 0.0 {
            return Reading::NOTHING;
        }
        let entries = || row.entries().filter(|e| e.0 > 0.0).map(|(p, z)| (p, z, eta - t * z));
        let phi = |s: f64| if s > 4.0 { -1.0 } else { (1.0 - s.sqrt()) * (3.0 - s.sqrt()) };
        let nominal = Interval::sum(entries().map(|e| e.0), 0.0);
        let mass = Interval::sum(entries().map(|(p, _, s)| p * ratio(s)), 1.0);
        let value = Interval::sum(entries().map(|(p, z, s)| p * ratio(s) * z), 2.0) / mass;
        let gain = Interval::sum(entries().map(|(p, _, s)| p * phi(s)), 1.0);
        let spent = Interval::sum(entries().map(|(p, _, s)| p * f(ratio(s))), 6.0);
        let gain = gain.wider(14.0 * UNIT * nominal.size()) / nominal;
        let spent = spent.wider(3.0 * (nominal + mass * -1.0).size()) / nominal;
        Reading { dual: (gain + eta + -1.0).hi(), value, spent: spent.hi() }
    }
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("the set conforms: {}", conformance::check(&LeCam)?);
    let model = instances::machine_replacement(10, 0.8)?;
    for radius in [0.0, 0.01, 0.1] {
        let set = UncertaintySet::new(Distance::Custom(&LeCam), radius);
        let solution = solve(&model, &set, &Options::default())?;
        let (certificate, _) = certify(&model, &set, &solution, None)?;
        let proved = verify(&model, &certificate, None)?;
        assert!(proved.gap <= 2.0 * solution.target_gap);
        println!("radius {radius}: between {:?} at the start", proved.initial);
    }
    Ok(())
}
