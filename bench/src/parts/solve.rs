//! Certified solves to 1e-6 by every method, in units of the nominal solve of the same model.

use std::time::Duration;

use robust_mdp::{Method, Oracle};

use super::Plan;
use crate::Failure;
use crate::instance::Case;
use crate::record::{Choice, Record};
use crate::timing::{Until, least, solve_case};

const GAP: f64 = 1e-6;

/// A single choice is given up when it takes so many times the automatic one, and two seconds.
const HOPELESS: f64 = 100.0;

/// The longest run of a single choice, in seconds.
const LONGEST: f64 = 20.0;

/// The longest run of the automatic choice and without uncertainty, in seconds.
const LONGEST_AUTO: u64 = 60;

/// λ over which sweeps are compared.
const DISCOUNTS: [f64; 3] = [0.8, 0.99, 0.999];

/// The nominal solve is the best of these.
const NOMINAL: [Choice; 3] =
    [Choice::AUTO, Choice::of(Method::Vi, None), Choice::of(Method::Newton, None)];

const SINGLE: [Choice; 7] = [
    Choice::of(Method::Newton, Some(Oracle::Exact)),
    Choice::of(Method::Pi, Some(Oracle::Exact)),
    Choice::of(Method::Vi, Some(Oracle::Exact)),
    Choice::of(Method::Anderson, Some(Oracle::Exact)),
    Choice::of(Method::Avi, Some(Oracle::Exact)),
    Choice::of(Method::GsVi, Some(Oracle::Exact)),
    Choice::of(Method::FomVi, Some(Oracle::FirstOrder)),
];

pub(super) fn cases(plan: &Plan) -> Vec<Case> {
    [plan.square(&DISCOUNTS), plan.banded(&DISCOUNTS)].concat()
}

pub(super) fn measure(plan: &Plan, case: &Case) -> Result<Vec<Record>, Failure> {
    let model = case.instance.model()?;
    let run = |case: &Case, choice, limit| {
        let until = Until::gap(GAP, limit);
        solve_case("solve", case, &model, choice, 1, until, plan.patience())
    };
    let certified =
        |records: &[Record]| least(records.iter().filter(|r| r.certified()).map(|r| r.seconds));
    let most = plan.limit().min(Duration::from_secs(LONGEST_AUTO));
    let mut all = vec![run(&case.nominal(), NOMINAL[0], most)];
    for &choice in &NOMINAL[1..] {
        let enough = Duration::from_secs_f64((HOPELESS * all[0].seconds).clamp(0.1, LONGEST));
        all.push(run(&case.nominal(), choice, most.min(enough)));
    }
    let nominal = certified(&all);
    let auto = run(case, Choice::AUTO, most);
    let enough = (HOPELESS * auto.seconds).clamp(2.0, LONGEST);
    let limit = most.min(Duration::from_secs_f64(enough));
    // Once more what the library chose would only tell the noise of the clock.
    let others = SINGLE.iter().filter(|choice| !auto.ran_as(choice));
    let others: Vec<Record> = others.map(|&choice| run(case, choice, limit)).collect();
    let (seconds, auto_certified) = (auto.seconds, auto.certified());
    for mut record in [vec![auto], others].concat() {
        record.set_ratio("nominal_solve", nominal);
        if auto_certified {
            record.set_ratio("auto", seconds);
        }
        all.push(record);
    }
    Ok(all)
}
