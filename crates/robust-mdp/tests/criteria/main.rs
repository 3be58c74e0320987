//! What is optimised other than discounted worst cases, against calculations by hand, brute force, limits and the plain
//! reference.

#[path = "../cases/mod.rs"]
mod cases;
#[path = "../plain/mod.rs"]
#[allow(dead_code)] // other tests use more of it
mod plain;
#[path = "../reference/mod.rs"]
mod reference;

mod average;
mod best;
mod certificates;
mod deterministic;
mod finite;
mod same;
mod total;

use cases::{adds_up, told};
use plain::{Plain, Row};
use reference::FAMILIES;
use robust_mdp::instances::{Costs, Garnet, Xoshiro256};
use robust_mdp::sets::{Radius, UncertaintySet};
use robust_mdp::{Criterion, Model, ModelBuilder, Options};

fn asked(criterion: Criterion) -> Options {
    Options { criterion, ..Options::default() }
}

fn garnet(states: usize, actions: usize, discount: f64, seed: u64) -> Model {
    let costs = if seed.is_multiple_of(2) { Costs::Iid } else { Costs::StateDriven };
    let garnet = Garnet { states, actions, branching: 0.6, costs, band: None, discount, seed };
    garnet.model().expect("a model")
}

fn some_sets() -> Vec<UncertaintySet> {
    vec![
        UncertaintySet::kl(0.1),
        UncertaintySet::ellipsoid(0.05),
        UncertaintySet::l1(0.3).per_action(),
        UncertaintySet::hellinger(0.05),
        UncertaintySet::chi2(0.2).per_action(),
    ]
}

/// Every set of the registry with this budget, shared where it may be, and of every row.
fn every_set(model: &Model, radius: f64) -> Vec<UncertaintySet> {
    let of = |(line, family): (usize, &reference::Family)| {
        let set = told((family.set)(), model, &mut Xoshiro256::new(line as u64));
        let set = set.with_radius(Radius::Uniform(radius));
        match adds_up(set.distance) {
            true => vec![set.clone().per_action(), set],
            false => vec![set.per_action()],
        }
    };
    FAMILIES.iter().enumerate().flat_map(of).collect()
}

/// The model with an interval around every probability, for the sets that need them; rewards are the same
/// numbers with the other sign.
fn with_intervals(plain: &Plain, rewards: bool) -> Model {
    let mut builder = ModelBuilder::new(plain.discount);
    let sign = if rewards { -1.0 } else { 1.0 };
    if rewards {
        builder.set_objective(robust_mdp::Objective::MaxReward);
    }
    for rows in &plain.states {
        builder.add_state(None);
        if rows.is_empty() {
            builder.mark_terminal();
        }
        for Row { cost, next } in rows {
            builder.add_action(None, sign * cost);
            for &(to, p, toll) in next {
                let ends = [0.6 * p, p + 0.4 * (1.0 - p)];
                builder.add_interval(to, Some(p), ends, sign * toll);
            }
        }
    }
    builder.build().expect("a model")
}

/// A model whose every step ends it with this probability, in its last state.
fn ending(mut plain: Plain, chance: f64) -> Plain {
    let end = plain.states.len();
    for row in plain.states.iter_mut().flatten() {
        row.next.iter_mut().for_each(|e| e.1 *= 1.0 - chance);
        row.next.push((end, chance, 0.0));
    }
    plain.states.push(Vec::new());
    plain.discount(1.0)
}
