//! One thread against two, for a thousand states and more.

use super::Plan;
use crate::Failure;
use crate::instance::{Case, Instance, tight};
use crate::record::{Choice, Record};
use crate::timing::{Patience, Until, solve_case};

const GAP: f64 = 1e-6;

pub(super) fn cases(plan: &Plan) -> Vec<Case> {
    let (small, large) = plan.choose((200, 1000), (1000, 100_000));
    let models = [
        ("dense", Instance::garnet(small, 10, 0.5, 0.95)),
        ("sparse", Instance::garnet(large, 4, 8.0 / large as f64, 0.95)),
        ("banded", Instance::banded(large, 4, 8, 0.95)),
    ];
    let mut cases = Vec::new();
    for (name, instance) in models {
        for (kl, ending) in [(false, ""), (true, "-KL")] {
            let (instance, set) = tight(instance.clone(), kl);
            cases.push(Case::new(&format!("{name}{ending}"), instance, &set));
        }
    }
    cases
}

pub(super) fn measure(plan: &Plan, case: &Case) -> Result<Vec<Record>, Failure> {
    let model = case.instance.model()?;
    let until = Until::gap(GAP, plan.limit());
    let patience = plan.choose(plan.patience(), Patience { repeats: 10, seconds: 5.0 });
    let run = |threads| solve_case("threads", case, &model, Choice::AUTO, threads, until, patience);
    let one = run(1);
    let mut two = run(2);
    two.set_ratio("one_thread", one.seconds);
    Ok(vec![one, two])
}
