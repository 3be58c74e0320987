//! Certified solves to 1e-6 by every method, in units of the nominal solve of the same model.

use std::time::Duration;

use robust_mdp::{Method, Oracle};

use super::Plan;
use crate::Failure;
use crate::instance::Case;
use crate::record::{Choice, Record};
use crate::timing::{Until, least, solve_case};

const GAP: f64 = 1e-6;

/// A single choice is given up when it takes so many times the automatic one.
const HOPELESS: f64 = 50.0;

const SINGLE: [Choice; 7] = [
    Choice::of(Method::Vi, Some(Oracle::Exact)),
    Choice::of(Method::GsVi, Some(Oracle::Exact)),
    Choice::of(Method::Anderson, Some(Oracle::Exact)),
    Choice::of(Method::Avi, Some(Oracle::Exact)),
    Choice::of(Method::Pi, Some(Oracle::Exact)),
    Choice::of(Method::Newton, Some(Oracle::Exact)),
    Choice::of(Method::FomVi, Some(Oracle::FirstOrder)),
];

pub(super) fn cases(plan: &Plan) -> Vec<Case> {
    plan.cases(plan.discounts())
}

pub(super) fn measure(plan: &Plan, case: &Case) -> Result<Vec<Record>, Failure> {
    let model = case.instance.model()?;
    let run = |case: &Case, choice, limit| {
        let until = Until::gap(GAP, limit);
        solve_case("solve", case, &model, choice, 1, until, plan.patience())
    };
    let nominal = run(&case.nominal(), Choice::AUTO, plan.limit());
    let auto = run(case, Choice::AUTO, plan.limit());
    let enough = (HOPELESS * auto.seconds).max(2.0);
    let limit = plan.limit().min(Duration::from_secs_f64(enough));
    let mut records = vec![auto];
    records.extend(SINGLE.iter().map(|&choice| run(case, choice, limit)));
    if nominal.certified() {
        records.iter_mut().for_each(|r| r.set_ratio("nominal_solve", nominal.seconds));
    }
    let best = least(records[1..].iter().filter(|r| r.certified()).map(|r| r.seconds));
    if records[0].certified() {
        records[0].set_ratio("best_single", best);
    }
    records.insert(0, nominal);
    Ok(records)
}
