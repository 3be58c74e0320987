//! Radii from sampled kernels: how far may the truth be from the nominal kernel y⁰?
//!
//! Samples yᵢ = (1−θ) y⁰ + θ ỹᵢ, i = 1..N, with ỹᵢ Garnet rows of a given branching; the
//! experiments of Grand-Clément and Kroer (AAAI 2021) take θ = 0.05, branching 0.2 and N = 60. The
//! radius of a state is a quantile over i of Σₐ D(yᵢ,ₐ, y⁰ₐ), with D half the squared Euclidean
//! distance or KL(yᵢ‖y⁰). For the latter ỹᵢ is drawn on the support of y⁰, where KL is finite.

use super::Xoshiro256;
use super::garnet::{RowSampler, successors};
use crate::error::Error;
use crate::model::{Model, Row};

/// The distance in which a radius is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Divergence {
    /// ½‖y − y⁰‖₂².
    #[default]
    HalfSquaredL2,
    /// Σ y log(y/y⁰).
    Kl,
}

/// Settings of a calibration.
///
/// ```
/// use robust_mdp::instances::{Calibration, machine_replacement};
///
/// let model = machine_replacement(10, 0.8)?;
/// let radius = Calibration::default().radius(&model)?;
/// assert!(radius > 0.0 && radius < 0.01);
/// # Ok::<(), robust_mdp::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The distance.
    pub divergence: Divergence,
    /// Number of samples N.
    pub samples: usize,
    /// Fraction of the samples a radius covers, in (0,1]; 1 takes the largest.
    pub quantile: f64,
    /// Weight θ of the random row.
    pub mixing: f64,
    /// Successors of the random row as a fraction of the states (KL: of the support).
    pub branching: f64,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for Calibration {
    fn default() -> Self {
        Calibration {
            divergence: Divergence::HalfSquaredL2,
            samples: 60,
            quantile: 1.0,
            mixing: 0.05,
            branching: 0.2,
            seed: 0,
        }
    }
}

impl Calibration {
    /// One radius a state; terminal states get 0.
    pub fn radii(&self, model: &Model) -> Result<Vec<f64>, Error> {
        self.check()?;
        let mut random = Xoshiro256::new(self.seed);
        let mut rows = RowSampler::default();
        // The N-th of N sorted samples covers them all, the ⌈qN⌉-th a fraction q.
        let rank = (self.quantile * self.samples as f64).ceil() as usize;
        let rank = rank.clamp(1, self.samples) - 1;
        let mut radii = Vec::with_capacity(model.states());
        let mut distances = vec![0.0; self.samples];
        for s in 0..model.states() {
            distances.fill(0.0);
            for r in model.rows_of(s) {
                let row = model.row(r);
                for distance in &mut distances {
                    *distance += self.sample(row, model.states(), &mut rows, &mut random);
                }
            }
            distances.sort_unstable_by(f64::total_cmp);
            radii.push(distances[rank]);
        }
        Ok(radii)
    }

    /// The largest radius of a state: one budget for all.
    pub fn radius(&self, model: &Model) -> Result<f64, Error> {
        Ok(self.radii(model)?.into_iter().fold(0.0, f64::max))
    }

    /// D(yᵢ, y⁰) of one fresh sample of one row.
    fn sample(
        &self,
        row: Row<'_>,
        states: usize,
        rows: &mut RowSampler,
        random: &mut Xoshiro256,
    ) -> f64 {
        let positive = || row.entries().filter(|e| e.1 > 0.0);
        match self.divergence {
            Divergence::HalfSquaredL2 => {
                rows.draw(states, successors(self.branching, states), random);
                let nominal = positive().map(|(to, p, _)| (to, p));
                self.mixing * self.mixing * half_squared_distance(nominal, rows)
            }
            Divergence::Kl => {
                let support = positive().count();
                rows.draw(support, successors(self.branching, support), random);
                let mut random_part = vec![0.0; support];
                for (&k, &p) in rows.chosen.iter().zip(&rows.spacings) {
                    random_part[k] = p;
                }
                let kl = positive().zip(&random_part).map(|((_, p, _), &q)| {
                    let y = (1.0 - self.mixing) * p + self.mixing * q;
                    // y log(y/p) − y + p is never negative, and the added terms sum to zero.
                    y * ((y - p) / p).ln_1p() - (y - p)
                });
                kl.sum::<f64>().max(0.0)
            }
        }
    }

    fn check(&self) -> Result<(), Error> {
        let wrong = |what: String| Err(Error::Input(format!("calibration: {what}")));
        if self.samples == 0 {
            return wrong("0 samples, expected at least 1".into());
        }
        let fractions = [
            ("quantile", self.quantile, self.quantile > 0.0),
            ("branching", self.branching, self.branching > 0.0),
            ("mixing", self.mixing, (0.0..1.0).contains(&self.mixing)),
        ];
        for (name, value, in_range) in fractions {
            if !(in_range && value <= 1.0) {
                return wrong(format!("{name} {value}, expected a fraction in (0, 1]"));
            }
        }
        Ok(())
    }
}

/// ½‖ỹ − y⁰‖² over the union of both supports, each increasing.
fn half_squared_distance(nominal: impl Iterator<Item = (usize, f64)>, drawn: &RowSampler) -> f64 {
    let mut sum = 0.0;
    let mut drawn = drawn.chosen.iter().copied().zip(drawn.spacings.iter().copied()).peekable();
    for (to, p) in nominal {
        while let Some((_, q)) = drawn.next_if(|&(k, _)| k < to) {
            sum += q * q;
        }
        let q = drawn.next_if(|&(k, _)| k == to).map_or(0.0, |(_, q)| q);
        sum += (q - p) * (q - p);
    }
    0.5 * (sum + drawn.map(|(_, q)| q * q).sum::<f64>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instances::{Garnet, healthcare};
    use crate::model::ModelBuilder;

    #[test]
    fn distances() {
        let mut drawn = RowSampler::default();
        drawn.chosen.extend([0, 2, 5]);
        drawn.spacings.extend([0.25, 0.25, 0.5]);
        let nominal = [(1, 0.5), (2, 0.5)];
        // ½(0.25² + 0.5² + 0.25² + 0.5²) = 0.3125
        assert_eq!(half_squared_distance(nominal.into_iter(), &drawn), 0.3125);
    }

    #[test]
    fn radii_are_seeded_ordered_and_bounded() {
        let model = healthcare(12, 0.8).unwrap();
        for divergence in [Divergence::HalfSquaredL2, Divergence::Kl] {
            let all = Calibration { divergence, ..Calibration::default() };
            let half = Calibration { quantile: 0.5, ..all.clone() };
            let (largest, median) = (all.radii(&model).unwrap(), half.radii(&model).unwrap());
            assert_eq!(largest, all.radii(&model).unwrap());
            assert!(largest.iter().zip(&median).all(|(a, b)| a >= b && *b >= 0.0));
            assert_eq!(
                all.radius(&model).unwrap(),
                largest.iter().fold(0.0, |a: f64, &b| a.max(b))
            );
            // ½‖y − y⁰‖² ≤ θ² an action; for KL, mortality has one successor and cannot move.
            match divergence {
                Divergence::HalfSquaredL2 => assert!(largest.iter().all(|&r| r <= 3.0 * 0.0025)),
                Divergence::Kl => assert_eq!(largest[11], 0.0),
            }
        }
    }

    #[test]
    fn sparse_and_dense_models_and_terminal_states() {
        let sparse = Garnet { states: 60, branching: 0.05, ..Garnet::default() }.model().unwrap();
        assert!(Calibration::default().radii(&sparse).unwrap().iter().all(|&r| r > 0.0));
        let end = ModelBuilder::new(0.8).terminal("end").build().unwrap();
        assert_eq!(Calibration::default().radii(&end).unwrap(), [0.0]);
    }

    #[test]
    fn wrong_settings() {
        let model = healthcare(3, 0.8).unwrap();
        for calibration in [
            Calibration { samples: 0, ..Calibration::default() },
            Calibration { quantile: 0.0, ..Calibration::default() },
            Calibration { quantile: 1.1, ..Calibration::default() },
            Calibration { mixing: f64::NAN, ..Calibration::default() },
        ] {
            assert!(calibration.radii(&model).is_err(), "{calibration:?}");
        }
    }
}
