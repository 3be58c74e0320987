//! Costs on next states against the same model with costs on actions alone.

use robust_mdp::instances::Xoshiro256;
use robust_mdp::sets::UncertaintySet;
use robust_mdp::{Error, Model, ModelBuilder};

use super::Plan;
use crate::Failure;
use crate::instance::{Case, Instance, square, tight};
use crate::record::{Choice, Record};
use crate::timing::{Until, solve_case};

const GAP: f64 = 1e-6;
/// Costs of transitions differ from those of their actions by up to this share.
const SPREAD: f64 = 0.5;
/// The seed of these differences.
const SEED: u64 = 2;
/// Ends the name of a model where costs are on next states.
pub(crate) const ON_NEXT: &str = "-next";

pub(super) fn cases(plan: &Plan) -> Vec<Case> {
    let (small, large) = plan.choose((20, 200), (100, 1000));
    let mut cases = Vec::new();
    for (name, branching) in [("dense", 1.0), ("thirty", 0.3)] {
        let instance = Instance::garnet(small, small, branching, 0.99);
        for (set, ending) in square(&instance) {
            cases.push(Case::new(&format!("{name}{ending}"), instance.clone(), &set));
        }
    }
    for (kl, ending) in [(false, ""), (true, "-KL")] {
        let (instance, set) = tight(Instance::banded(large, 6, 8, 0.99), kl);
        cases.push(Case::new(&format!("banded{ending}"), instance.clone(), &set));
        if !kl {
            let everywhere = UncertaintySet::new(set.distance, 0.0).with_radius(set.radius.clone());
            cases.push(Case::new("banded-all", instance, &everywhere));
        }
    }
    cases
}

pub(super) fn measure(plan: &Plan, case: &Case) -> Result<Vec<Record>, Failure> {
    let (plain, until) = (case.instance.model()?, Until::gap(GAP, plan.limit()));
    let dear = on_next_states(&plain)?;
    let run =
        |model: &Model| solve_case("costs", case, model, Choice::AUTO, 1, until, plan.patience());
    let one = run(&plain);
    let mut other = run(&dear);
    other.case.regime += ON_NEXT;
    other.set_ratio("on_actions", one.seconds);
    Ok(vec![one, other])
}

/// The same model, with a further cost on every transition.
fn on_next_states(model: &Model) -> Result<Model, Error> {
    let mut random = Xoshiro256::new(SEED);
    let mut builder = ModelBuilder::new(model.discount());
    for s in 0..model.states() {
        builder.add_state(None);
        for row in model.rows_of(s).map(|r| model.row(r)) {
            builder.add_action(None, row.cost);
            for (next, p, _) in row.entries() {
                let further = SPREAD * row.cost * (2.0 * random.uniform() - 1.0);
                builder.add_transition(next, p, further);
            }
        }
    }
    Ok(builder.build()?)
}
