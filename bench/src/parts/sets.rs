//! One warm sweep of every set, in units of a nominal sweep and of KL's, at budgets of about one size.

use std::time::Instant;

use robust_mdp::error::name_of;
use robust_mdp::instances::Xoshiro256;
use robust_mdp::measure::exact_sweep_seconds;
use robust_mdp::model::Bounds;
use robust_mdp::sets::{
    Distance, EntryData, Ground, Needs, Places, Rectangularity, Scenarios, UncertaintySet,
};
use robust_mdp::{Model, ModelBuilder, Options, Oracle, Stop, solve};

use super::Plan;
use super::sweep::{SHIFT, nominal_seconds};
use crate::Failure;
use crate::instance::{Case, Instance};
use crate::record::{Record, active_share};
use crate::timing::least;

/// By which share δ of themselves entries move.
const SHARES: [(&str, f64); 2] = [("tight", 0.08), ("wide", 0.4)];
/// No more repeats than fit in so many seconds.
const SECONDS: f64 = 1.0;

/// A dense and a sparse model, whose rows have so many next states.
fn instances(plan: &Plan) -> [(&'static str, Instance, usize); 2] {
    let dense = plan.choose(20, 100);
    let states = plan.choose(200, 100_000);
    let driven = |instance| Instance { costs: "state-driven".into(), ..instance };
    [
        ("dense", driven(Instance::garnet(dense, dense, 1.0, 0.8)), dense),
        ("sparse", driven(Instance::garnet(states, 4, 8.0 / states as f64, 0.8)), 8),
    ]
}

pub(super) fn cases(plan: &Plan) -> Vec<Case> {
    let mut cases = Vec::new();
    for (shape, instance, width) in instances(plan) {
        for (size, share) in SHARES {
            for &distance in Distance::ALL {
                let Some(offer) = distance.offer() else { continue };
                for owner in offer.rectangularities {
                    let radius = radius(distance, owner, share, instance.actions, width);
                    let set = UncertaintySet::new(distance, radius).on_nominal_support();
                    let (set, owner) = match owner {
                        Rectangularity::State => (set, "s"),
                        Rectangularity::StateAction => (set.per_action(), "sa"),
                    };
                    let regime = format!("{shape}-{size}-{}-{owner}", distance.name());
                    cases.push(Case::new(&regime, instance.clone(), &set));
                }
            }
        }
    }
    cases
}

/// What a row of n equal entries spends that moves one half of them up and the other down by a share δ of
/// themselves, once a row or once for all rows of a state.
fn radius(distance: Distance, owner: Rectangularity, delta: f64, actions: usize, n: usize) -> f64 {
    let p = vec![1.0 / n as f64; n];
    let sign = |j: usize| if 2 * j < n { -1.0 } else { 1.0 };
    let y: Vec<f64> = (0..n).map(|j| p[j] * (1.0 + sign(j) * delta)).collect();
    let [lower, upper] = [0.5, 2.0].map(|share| p.iter().map(|p| share * p).collect::<Vec<f64>>());
    let ground = line(n);
    let data = EntryData {
        weights: None,
        bounds: Some(Bounds { lower: &lower, upper: &upper }),
        places: Some(Places { ground: &ground, next: None }),
        scenarios: None,
    };
    let row = match distance.needs() {
        // Of the way to scenarios.
        Needs::Scenarios => delta,
        Needs::Nothing | Needs::Weights | Needs::Intervals | Needs::Ground => {
            distance.set().map_or(0.0, |set| set.distance(&p, &y, data))
        }
    };
    match owner {
        Rectangularity::State => actions as f64 * row,
        Rectangularity::StateAction => row,
    }
}

/// Places of the states between 0 and 1.
fn line(states: usize) -> Ground {
    Ground::line((0..states).map(|s| s as f64 / states as f64).collect())
}

pub(super) fn measure(plan: &Plan, case: &Case) -> Result<Vec<Record>, Failure> {
    let (model, set) = told(case)?;
    let stop = Stop { time_limit: Some(plan.limit()), ..Stop::at_gap(1e-6) };
    let near = solve(&model, &set, &Options { stop, ..Options::default() })?;
    let most = plan.choose(10, 300);
    let sweeps = |repeats| exact_sweep_seconds(&model, &set, &near.values, SHIFT, 0.0, repeats, 1);
    let fit = (SECONDS / least(sweeps(2)?.0)).clamp(4.0, most as f64);
    let started = Instant::now();
    let (mut seconds, mut passes, mut repeats) = (f64::INFINITY, 0.0, 0);
    let mut nominal = f64::INFINITY;
    // Both by turns, so that they see the same machine.
    while repeats == 0 || started.elapsed().as_secs_f64() < SECONDS {
        nominal = nominal.min(nominal_seconds(&model, &near.values, fit as usize));
        let (times, read) = sweeps((fit / 4.0).max(4.0) as usize)?;
        (repeats, passes) = (repeats + times.len(), read);
        seconds = seconds.min(least(times));
    }
    let mut record = Record::new("sets", case, model.transitions(), "sweep");
    record.oracle = Some(name_of(&Oracle::Exact));
    (record.repeats, record.seconds) = (repeats, seconds);
    record.active = Some(active_share(&near.policy));
    record.kernel_passes = Some(passes);
    record.set_ratio("nominal_sweep", nominal);
    Ok(vec![record])
}

/// The model and the set of a case, with what the set must be told: intervals of half to twice of every
/// probability, places of the states on a line.
fn told(case: &Case) -> Result<(Model, UncertaintySet), Failure> {
    let (model, set) = (case.instance.model()?, case.uncertainty());
    Ok(match case.set.needs() {
        Needs::Nothing | Needs::Weights => (model, set),
        Needs::Intervals => (with_intervals(&model)?, set),
        Needs::Scenarios => {
            let set = set.with_scenarios(scenarios(&model)?);
            (model, set)
        }
        Needs::Ground => {
            let ground = line(model.states());
            (model, set.with_ground(ground))
        }
    })
}

/// Four kernels whose probabilities are between half and three halves of the nominal ones, but for their sums.
fn scenarios(model: &Model) -> Result<Scenarios, Failure> {
    let mut random = Xoshiro256::new(2);
    let mut kernel = || {
        let mut kernel = Vec::with_capacity(model.transitions());
        for r in 0..model.rows() {
            let start = kernel.len();
            kernel.extend(model.row(r).entries().map(|(_, p, _)| p * (0.5 + random.uniform())));
            let total: f64 = kernel[start..].iter().sum();
            kernel[start..].iter_mut().for_each(|y| *y /= total);
        }
        kernel
    };
    let kernels: Vec<Vec<f64>> = (0..4).map(|_| kernel()).collect();
    Ok(Scenarios::new(model, &kernels)?)
}

fn with_intervals(model: &Model) -> Result<Model, Failure> {
    let mut builder = ModelBuilder::new(model.discount());
    for s in 0..model.states() {
        builder.add_state(None);
        for r in model.rows_of(s) {
            let row = model.row(r);
            builder.add_action(None, row.cost);
            for (next, p, _) in row.entries() {
                builder.add_interval(next, Some(p), [0.5 * p, (2.0 * p).min(1.0)], 0.0);
            }
        }
    }
    Ok(builder.build()?)
}
