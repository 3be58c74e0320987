//! The instances: Garnet families and the regimes in which a budget means something.
//!
//! With a share f of the states reachable from a row, the paper's radius is √(f·A). Regime **P**
//! takes it as it is: the ball then hardly ever binds. **T** (tight) and **H** (hard: costs that the
//! state drives, so that nearly all actions matter) take a twentieth of it. The banded families mix
//! slowly.

use robust_mdp::instances::{Costs, Garnet, TIGHT, published_radius};
use robust_mdp::sets::{Distance, Radius, Rectangularity, Support, UncertaintySet};
use robust_mdp::{Error, Model};
use serde::{Deserialize, Serialize};

/// How many times the paper's radius it takes for most actions of a KL set to matter.
const ACTIVE: f64 = 4.0;

/// The share of the states that a row of the paper's models reaches.
const PROPORTION: f64 = 0.5;

/// A seeded random model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Instance {
    pub(crate) family: String,
    pub(crate) states: usize,
    pub(crate) actions: usize,
    pub(crate) branching: f64,
    pub(crate) costs: String,
    pub(crate) band: Option<usize>,
    pub(crate) discount: f64,
    pub(crate) seed: u64,
}

impl Instance {
    /// S states, A actions, any of the states as successors, independent costs.
    pub(crate) fn garnet(states: usize, actions: usize, branching: f64, discount: f64) -> Instance {
        Instance {
            family: "garnet".into(),
            states,
            actions,
            branching,
            costs: "iid".into(),
            band: None,
            discount,
            seed: 1,
        }
    }

    /// Next states within ± `band`, costs driven by the state.
    pub(crate) fn banded(states: usize, actions: usize, band: usize, discount: f64) -> Instance {
        let costs = "state-driven".into();
        let garnet = Instance::garnet(states, actions, PROPORTION, discount);
        Instance { family: "banded".into(), costs, band: Some(band), ..garnet }
    }

    fn with_driven_costs(self) -> Instance {
        Instance { costs: "state-driven".into(), ..self }
    }

    pub(crate) fn model(&self) -> Result<Model, Error> {
        let costs = match self.costs.as_str() {
            "state-driven" => Costs::StateDriven,
            _ => Costs::Iid,
        };
        let Instance { states, actions, branching, band, discount, seed, .. } = *self;
        Garnet { states, actions, branching, costs, band, discount, seed }.model()
    }
}

/// An instance with an uncertainty set: a question that methods are compared on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Case {
    pub(crate) regime: String,
    pub(crate) instance: Instance,
    pub(crate) set: Distance,
    pub(crate) radius: f64,
    pub(crate) rectangular: Rectangularity,
    pub(crate) support: Support,
}

impl Case {
    /// The case of a regime with this set of uniform radius.
    pub(crate) fn new(regime: &str, instance: Instance, set: &UncertaintySet) -> Case {
        let Radius::Uniform(radius) = set.radius else { unreachable!("radii are uniform here") };
        Case {
            regime: regime.into(),
            instance,
            set: set.distance,
            radius,
            rectangular: set.rectangularity,
            support: set.support,
        }
    }

    /// The same instance without uncertainty.
    pub(crate) fn nominal(&self) -> Case {
        Case::new(&self.regime, self.instance.clone(), &UncertaintySet::none())
    }

    pub(crate) fn uncertainty(&self) -> UncertaintySet {
        UncertaintySet {
            rectangularity: self.rectangular,
            support: self.support,
            ..UncertaintySet::new(self.set, self.radius)
        }
    }

    /// What `--only` looks into, such as `T-100-0.99`.
    pub(crate) fn name(&self) -> String {
        format!("{}-{}-{}", self.regime, self.instance.states, self.instance.discount)
    }
}

/// The regimes of square Garnet models (S = A, half of the states as successors).
pub(crate) const SQUARE: [&str; 5] = ["P", "T", "H", "KL", "KL-active"];

/// The regimes of banded models, by half width and set.
pub(crate) const BANDED: [&str; 4] = ["band4", "band8", "band4-KL", "band8-KL"];

/// The regimes of banded models in which one sweep is measured: the nominal support, all states, and KL.
pub(crate) const SPARSE: [&str; 3] = ["band8", "band8-all", "band8-KL"];

/// A case of [`SQUARE`], [`BANDED`] or [`SPARSE`].
pub(crate) fn case(regime: &str, states: usize, discount: f64) -> Case {
    let square = Instance::garnet(states, states, PROPORTION, discount);
    let banded = |k| Instance::banded(states, states.min(6), k, discount);
    let paper = published_radius(square.branching, square.actions);
    let (instance, set) = match regime {
        "P" => (square, UncertaintySet::ellipsoid(paper)),
        "T" => (square, UncertaintySet::ellipsoid(TIGHT * paper)),
        "H" => (square.with_driven_costs(), UncertaintySet::ellipsoid(TIGHT * paper)),
        "KL" => (square, UncertaintySet::kl(paper)),
        "KL-active" => (square.with_driven_costs(), UncertaintySet::kl(ACTIVE * paper)),
        "band4" => tight(banded(4), false),
        "band8" => tight(banded(8), false),
        "band8-all" => {
            let (instance, set) = tight(banded(8), false);
            (instance, UncertaintySet { support: Support::All, ..set })
        }
        "band4-KL" => tight(banded(4), true),
        "band8-KL" => tight(banded(8), true),
        other => unreachable!("no regime {other}"),
    };
    Case::new(regime, instance, &set)
}

/// Both sets of a square model at a twentieth of the paper's radius, with the ends of their names.
pub(crate) fn square(instance: &Instance) -> [(UncertaintySet, &'static str); 2] {
    let radius = TIGHT * published_radius(instance.branching, instance.actions);
    [(UncertaintySet::ellipsoid(radius), ""), (UncertaintySet::kl(radius), "-KL")]
}

/// A twentieth of the paper's radius, on the nominal support: what keeps a sparse model sparse and
/// a slow chain slow. The proportion in it is always a half: with eight successors in a million
/// states the set would otherwise be next to nothing.
pub(crate) fn tight(instance: Instance, kl: bool) -> (Instance, UncertaintySet) {
    let radius = TIGHT * published_radius(PROPORTION, instance.actions);
    let set = match kl {
        true => UncertaintySet::kl(radius),
        false => UncertaintySet::ellipsoid(radius).on_nominal_support(),
    };
    (instance, set)
}

#[cfg(test)]
mod tests {
    use super::case;

    #[test]
    fn radii() {
        let paper = 50.0_f64.sqrt();
        let radius = |regime| case(regime, 100, 0.8).radius;
        let given = ["P", "T", "H", "KL", "KL-active"].map(radius);
        assert_eq!(given, [paper, 0.05 * paper, 0.05 * paper, paper, 4.0 * paper]);
        let banded = 0.05 * 3.0_f64.sqrt();
        assert_eq!(["band4", "band8", "band4-KL", "band8-KL"].map(radius), [banded; 4]);
    }
}
