//! The instances of the paper's experiments, and regimes of them in which the budget binds.
//!
//! The paper's radius is √(n_branch·A) for Garnet models and √(S·A) for the other two. n_branch is
//! read as a proportion (0.5 or 0.2), as the paper defines it; read as a number of successors the
//! radius would be larger still, and even the smaller one hardly ever binds.

use robust_mdp::instances::{
    Calibration, Costs, Garnet, TIGHT, healthcare, machine_replacement, published_radius,
};
use robust_mdp::sets::{Distance, UncertaintySet};
use robust_mdp::{Error, Model};
use serde::{Deserialize, Serialize};

/// Half width of the banded models.
const BAND: usize = 4;
/// Actions of the banded models, at most.
const BANDED_ACTIONS: usize = 6;

/// Where models come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Family {
    #[serde(rename = "garnet-50")]
    Garnet50,
    #[serde(rename = "garnet-20")]
    Garnet20,
    #[serde(rename = "healthcare")]
    Healthcare,
    #[serde(rename = "machine")]
    Machine,
}

impl Family {
    pub(crate) const ALL: [Family; 4] =
        [Family::Garnet50, Family::Garnet20, Family::Healthcare, Family::Machine];

    pub(crate) fn is_garnet(self) -> bool {
        matches!(self, Family::Garnet50 | Family::Garnet20)
    }

    /// The short one, in lists.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Family::Garnet50 => "Garnet 50 %",
            Family::Garnet20 => "Garnet 20 %",
            Family::Healthcare => "healthcare",
            Family::Machine => "machine",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Family::Garnet50 => "Garnet, 50 % of the states reachable",
            Family::Garnet20 => "Garnet, 20 % of the states reachable",
            Family::Healthcare => "healthcare",
            Family::Machine => "machine replacement",
        }
    }
}

/// How large the budget is, and how costs are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Regime {
    /// The paper's radius.
    Paper,
    /// A twentieth of it, independent costs.
    Tight,
    /// A twentieth of it, costs that the state drives, so that nearly all actions matter.
    Hard,
    /// Next states within ±4, costs that the state drives, a twentieth of the radius, on the
    /// nominal support: slow mixing.
    Banded,
    /// The largest distance of 60 sampled kernels.
    Calibrated,
}

impl Regime {
    pub(crate) fn title(self) -> &'static str {
        match self {
            Regime::Paper => "the paper's radius",
            Regime::Tight => "a twentieth of the radius",
            Regime::Hard => "a twentieth of the radius, costs driven by the state",
            Regime::Banded => "banded, a twentieth of the radius",
            Regime::Calibrated => "calibrated radius",
        }
    }
}

/// One instance with its uncertainty set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Problem {
    pub(crate) family: Family,
    pub(crate) regime: Regime,
    pub(crate) set: Distance,
    pub(crate) states: usize,
    pub(crate) discount: f64,
    pub(crate) seed: u64,
}

impl Problem {
    pub(crate) fn actions(&self) -> usize {
        match (self.family, self.regime) {
            (Family::Healthcare, _) => 3,
            (Family::Machine, _) => 2,
            (_, Regime::Banded) => self.states.min(BANDED_ACTIONS),
            _ => self.states,
        }
    }

    /// Whether another seed gives another instance.
    pub(crate) fn is_random(&self) -> bool {
        self.family.is_garnet() || self.regime == Regime::Calibrated
    }

    /// The number of entries of a kernel on all states, S·A·S.
    pub(crate) fn entries(&self) -> u64 {
        (self.states * self.actions() * self.states) as u64
    }

    pub(crate) fn model(&self) -> Result<Model, Error> {
        let branching = match self.family {
            Family::Healthcare => return healthcare(self.states, self.discount),
            Family::Machine => return machine_replacement(self.states, self.discount),
            Family::Garnet50 => 0.5,
            Family::Garnet20 => 0.2,
        };
        let driven = matches!(self.regime, Regime::Hard | Regime::Banded);
        Garnet {
            states: self.states,
            actions: self.actions(),
            branching,
            costs: if driven { Costs::StateDriven } else { Costs::Iid },
            band: (self.regime == Regime::Banded).then_some(BAND),
            discount: self.discount,
            seed: self.seed,
        }
        .model()
    }

    pub(crate) fn radius(&self, model: &Model) -> Result<f64, Error> {
        let literal = match self.family {
            Family::Garnet50 => published_radius(0.5, self.actions()),
            Family::Garnet20 => published_radius(0.2, self.actions()),
            _ => ((self.states * self.actions()) as f64).sqrt(),
        };
        Ok(match self.regime {
            Regime::Paper => literal,
            Regime::Tight | Regime::Hard | Regime::Banded => TIGHT * literal,
            Regime::Calibrated => {
                let (distance, seed) = (self.set, self.seed);
                Calibration { distance, seed, ..Calibration::default() }.radius(model)?
            }
        })
    }

    pub(crate) fn uncertainty(&self, radius: f64) -> UncertaintySet {
        match (self.set, self.regime) {
            (Distance::Kl, _) => UncertaintySet::kl(radius),
            (_, Regime::Banded) => UncertaintySet::ellipsoid(radius).on_nominal_support(),
            _ => UncertaintySet::ellipsoid(radius),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(family: Family, regime: Regime) -> Problem {
        let set = Distance::Ellipsoid;
        Problem { family, regime, set, states: 8, discount: 0.8, seed: 1 }
    }

    #[test]
    fn radii() {
        let radius = |family, regime| {
            let problem = problem(family, regime);
            problem.radius(&problem.model().unwrap()).unwrap()
        };
        assert_eq!(radius(Family::Garnet50, Regime::Paper), 2.0); // √(0.5·8)
        assert_eq!(radius(Family::Garnet50, Regime::Hard), 0.1);
        assert_eq!(radius(Family::Garnet20, Regime::Paper), 1.6_f64.sqrt());
        assert_eq!(radius(Family::Garnet50, Regime::Banded), 0.05 * 3.0_f64.sqrt()); // A = 6
        assert_eq!(radius(Family::Machine, Regime::Paper), 4.0); // √(8·2)
        let calibrated = radius(Family::Healthcare, Regime::Calibrated);
        assert!(calibrated > 0.0 && calibrated < 0.01, "{calibrated}");
    }
}
