//! Radii from sampled kernels: how far may the truth be from the nominal kernel y⁰?
//!
//! Samples yᵢ = (1−θ) y⁰ + θ ỹᵢ, i = 1..N, with ỹᵢ Garnet rows of a given branching; the
//! experiments of Grand-Clément and Kroer (AAAI 2021) take θ = 0.05, branching 0.2 and N = 60. The
//! radius of a state is a quantile over i of Σₐ d(yᵢ,ₐ, y⁰ₐ), d the distance of the set. For sets that
//! keep to the support of y⁰, ỹᵢ is drawn on it; where budgets cannot be shared, the largest d of an action
//! stands for the sum. Weights of next states are 1.

use super::Xoshiro256;
use super::garnet::{RowSampler, successors};
use crate::error::Error;
use crate::model::{Model, NominalRow};
use crate::sets::{Distance, EntryData, Needs, Set};

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
    /// The set that radii are for.
    pub distance: Distance,
    /// Number of samples N.
    pub samples: usize,
    /// Fraction of the samples a radius covers, in (0,1]; 1 takes the largest.
    pub quantile: f64,
    /// Weight θ of the random row.
    pub mixing: f64,
    /// Successors of the random row as a fraction of the states that the set may use.
    pub branching: f64,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for Calibration {
    fn default() -> Self {
        Calibration {
            distance: Distance::default(),
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
        let Some(set) = self.distance.set() else { return Ok(vec![0.0; model.states()]) };
        if !Calibration::knows(self.distance) {
            let title = set.title();
            return wrong(format!(
                "sampled kernels have no distance that {title} sets could measure"
            ));
        }
        let mut sampler = Sampler { mixing: self.mixing, ..Sampler::default() };
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
                    self.draw(set, row, model.states(), &mut sampler, &mut random);
                    let drawn = set.distance(&sampler.p, &sampler.y, EntryData::default());
                    *distance = if set.adds_up() { *distance + drawn } else { distance.max(drawn) };
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

    /// One fresh sample of one row.
    fn draw(
        &self,
        set: &dyn Set,
        row: NominalRow<'_>,
        states: usize,
        sampler: &mut Sampler,
        random: &mut Xoshiro256,
    ) {
        let positive = row.entries().filter(|e| e.1 > 0.0).map(|(to, p, _)| (to, p));
        if set.leaves_support() {
            sampler.rows.draw(states, successors(self.branching, states), random);
            sampler.mix(positive);
        } else {
            let support = positive.clone().count();
            sampler.rows.draw(support, successors(self.branching, support), random);
            sampler.mix(positive.enumerate().map(|(k, (_, p))| (k, p)));
        }
    }

    /// Whether samples of a kernel say something about radii of a set: not where it must be told of intervals or
    /// of distances between states.
    pub fn knows(distance: Distance) -> bool {
        match distance.needs() {
            Needs::Nothing | Needs::Weights => true,
            Needs::Intervals | Needs::Ground | Needs::Scenarios => false,
        }
    }

    fn check(&self) -> Result<(), Error> {
        if self.samples == 0 {
            return wrong("0 samples, expected at least 1".into());
        }
        match self.distance.needs() {
            Needs::Nothing | Needs::Weights => {}
            Needs::Intervals | Needs::Ground | Needs::Scenarios => {
                let title = self.distance.title();
                return wrong(format!(
                    "samples say nothing of what {title} sets need, expected another set"
                ));
            }
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

/// Rows y⁰ and y = (1−θ)y⁰ + θỹ on the union of the supports of y⁰ and ỹ.
#[derive(Default)]
struct Sampler {
    rows: RowSampler,
    mixing: f64,
    p: Vec<f64>,
    y: Vec<f64>,
}

impl Sampler {
    fn push(&mut self, p: f64, q: f64) {
        self.p.push(p);
        self.y.push((1.0 - self.mixing) * p + self.mixing * q);
    }

    /// Places are increasing in both rows.
    fn mix(&mut self, nominal: impl Iterator<Item = (usize, f64)>) {
        self.p.clear();
        self.y.clear();
        let mut next = 0;
        for (to, p) in nominal {
            while next < self.rows.chosen.len() && self.rows.chosen[next] < to {
                self.push(0.0, self.rows.spacings[next]);
                next += 1;
            }
            if next < self.rows.chosen.len() && self.rows.chosen[next] == to {
                self.push(p, self.rows.spacings[next]);
                next += 1;
            } else {
                self.push(p, 0.0);
            }
        }
        for k in next..self.rows.chosen.len() {
            self.push(0.0, self.rows.spacings[k]);
        }
    }
}

fn wrong<T>(what: String) -> Result<T, Error> {
    Err(Error::Input(format!("calibration: {what}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instances::{Garnet, healthcare};
    use crate::model::ModelBuilder;

    #[test]
    fn samples_lie_on_the_union_of_both_supports() {
        let mut sampler = Sampler { mixing: 0.5, ..Sampler::default() };
        sampler.rows.chosen.extend([0, 2, 5]);
        sampler.rows.spacings.extend([0.25, 0.25, 0.5]);
        sampler.mix([(1, 0.5), (2, 0.5)].into_iter());
        assert_eq!(sampler.p, [0.0, 0.5, 0.5, 0.0]);
        assert_eq!(sampler.y, [0.125, 0.25, 0.375, 0.25]);
    }

    #[test]
    fn radii_are_seeded_ordered_and_bounded() {
        let model = healthcare(12, 0.8).unwrap();
        for &distance in Distance::ALL {
            if !Calibration::knows(distance) {
                let error =
                    Calibration { distance, ..Calibration::default() }.radii(&model).unwrap_err();
                assert!(error.to_string().contains(distance.title()), "{error}");
                continue;
            }
            let all = Calibration { distance, ..Calibration::default() };
            let half = Calibration { quantile: 0.5, ..all.clone() };
            let (largest, median) = (all.radii(&model).unwrap(), half.radii(&model).unwrap());
            assert_eq!(largest, all.radii(&model).unwrap());
            assert!(largest.iter().zip(&median).all(|(a, b)| a >= b && *b >= 0.0));
            assert_eq!(
                all.radius(&model).unwrap(),
                largest.iter().fold(0.0, |a: f64, &b| a.max(b))
            );
            // ½‖y − y⁰‖² ≤ θ² an action; for KL, mortality has one successor and cannot move.
            match distance {
                Distance::Ellipsoid => assert!(largest.iter().all(|&r| r <= 3.0 * 0.0025)),
                Distance::Kl => assert_eq!(largest[11], 0.0),
                _ => assert!(largest.iter().all(|r| r.is_finite())),
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
