//! Every pair of geometries, set and method certifies a gap of 0.1 on a Garnet model.

mod ran;

use std::time::Duration;

use ran::assert_ran;
use robust_mdp::geometry::Geometry::{self, Entropy, Euclidean};
use robust_mdp::instances::Garnet;
use robust_mdp::saddle::FirstOrderMethod;
use robust_mdp::sets::UncertaintySet;
use robust_mdp::{
    Average, FomSettings, Method, Model, Options, Setup, Status, StepRule, Stop, solve,
};

const PAIRS: [(Geometry, Geometry); 4] =
    [(Euclidean, Euclidean), (Entropy, Entropy), (Entropy, Euclidean), (Euclidean, Entropy)];

/// S = A = 30, half of the states as successors.
fn garnet() -> Model {
    let (states, actions) = (30, 30);
    Garnet { states, actions, branching: 0.5, discount: 0.8, seed: 1, ..Garnet::default() }
        .model()
        .unwrap()
}

/// A twentieth of the radius √(15·30) that is usual for such a model, so that it binds.
fn sets() -> [UncertaintySet; 2] {
    let radius = 0.05 * (0.5 * 30.0 * 30.0_f64).sqrt();
    [UncertaintySet::ellipsoid(radius), UncertaintySet::kl(radius)]
}

fn certifies(model: &Model, set: &UncertaintySet, fom: FomSettings) {
    let options = Options {
        method: Method::FomVi,
        stop: Stop { time_limit: Some(Duration::from_secs(60)), ..Stop::at_gap(0.1) },
        fom: Some(fom.clone()),
        ..Options::default()
    };
    let solution = solve(model, set, &options).unwrap();
    assert_eq!(solution.status, Status::Certified, "{set:?} {fom:?}");
    assert!(solution.gap <= 0.1);
    assert_ran(&solution, &options);
    // The steps of whole epochs, ⌈ℓ^q⌉ each.
    let epochs = (1..=solution.work.sweeps).map(|l| (l as f64).powf(fom.epochs).ceil() as u64);
    assert_eq!(solution.work.first_order_steps, epochs.sum::<u64>());
    assert!(solution.work.first_order_steps > 0, "no step was taken: {set:?} {fom:?}");
}

fn all_pairs(method: FirstOrderMethod, average: Average) {
    let model = garnet();
    for set in sets() {
        for (x, y) in PAIRS {
            let setup = Some(Setup { x, y });
            certifies(
                &model,
                &set,
                FomSettings { setup, method, average, ..FomSettings::default() },
            );
        }
    }
}

#[test]
fn pda_by_epoch() {
    all_pairs(FirstOrderMethod::Pda, Average::Epoch);
}

#[test]
fn pda_by_the_average_of_all() {
    all_pairs(FirstOrderMethod::Pda, Average::All);
}

#[test]
fn mirror_prox() {
    all_pairs(FirstOrderMethod::MirrorProx, Average::Epoch);
}

#[test]
fn mirror_descent() {
    all_pairs(FirstOrderMethod::MirrorDescent, Average::Epoch);
}

#[test]
fn the_papers_steps() {
    let model = garnet();
    let [ellipsoid, kl] = sets();
    for (set, y) in [(ellipsoid, Euclidean), (kl, Entropy)] {
        let setup = Some(Setup { x: y, y });
        let paper = FomSettings::paper();
        assert_eq!(paper.steps, StepRule::Paper);
        certifies(&model, &set, FomSettings { setup, ..paper });
    }
}
