//! Nature as partner: min over policies and kernels.

use super::plain::Plain;
use super::{asked, every_set, garnet, some_sets, with_intervals};
use robust_mdp::sets::UncertaintySet;
use robust_mdp::{Criterion, Direction, Method, ModelBuilder, Options, Oracle, Status, solve};

fn best() -> Options {
    Options { direction: Direction::Best, ..Options::default() }
}

/// A tenth of the mass goes to the cheaper state, whatever else the action would do.
#[test]
fn two_states_by_hand() {
    let model = ModelBuilder::new(0.5)
        .state("cheap")
        .action("go", 0.0, &[(0, 0.5), (1, 0.5)])
        .action("dear", 5.0, &[(0, 1.0)])
        .state("dear")
        .action("go", 1.0, &[(0, 0.5), (1, 0.5)])
        .build()
        .unwrap();
    // u = ½(0.6u + 0.4(u + 1)): u = 0.4, and 1.4 in the other state.
    for set in [
        UncertaintySet::total_variation(0.1),
        UncertaintySet::total_variation(0.1).per_action(),
        // δ² = α moves δ of the mass.
        UncertaintySet::ellipsoid(0.01),
        UncertaintySet::ellipsoid(0.02).with_weights(vec![2.0, 1.0, 2.0]),
    ] {
        let found = solve(&model, &set, &best()).unwrap();
        assert_eq!((found.status, found.direction), (Status::Certified, Direction::Best));
        for (s, expected) in [0.4, 1.4].into_iter().enumerate() {
            assert!(found.lower[s] <= expected && expected <= found.upper[s], "{set:?} {found:?}");
        }
        assert_eq!(found.policy, [1.0, 0.0, 1.0]);
    }
}

#[test]
fn the_best_case_is_that_of_one_row_with_the_whole_budget() {
    for (seed, set) in some_sets().into_iter().enumerate() {
        let model = garnet(8, 3, 0.9, seed as u64);
        let best = Options { direction: Direction::Best, ..Options::default() };
        let found = solve(&model, &set, &best).unwrap();
        let worst = solve(&model, &set, &Options::default()).unwrap();
        let nominal = solve(&model, &UncertaintySet::none(), &Options::default()).unwrap();
        assert_eq!(found.status, Status::Certified);
        for s in 0..model.states() {
            assert!(found.upper[s] < nominal.lower[s] && nominal.upper[s] < worst.lower[s]);
        }
    }
}

#[test]
fn best_is_at_most_nominal_is_at_most_worst() {
    for (seed, criterion) in
        [(1, Criterion::Discounted), (2, Criterion::Finite { horizon: 5 }), (3, Criterion::Average)]
    {
        let model = with_intervals(&Plain::random(5, 3, 4, 60 + seed).tolls(seed), false);
        let nominal = solve(&model, &UncertaintySet::none(), &asked(criterion)).unwrap();
        for set in every_set(&model, 0.05) {
            let at = |direction| solve(&model, &set, &Options { direction, ..asked(criterion) });
            let (found, worst) = (at(Direction::Best).unwrap(), at(Direction::Worst).unwrap());
            assert_eq!(found.status, Status::Certified, "{set:?}");
            for s in 0..model.states() {
                assert!(found.upper[s] < nominal.lower[s], "{criterion} {set:?}");
                assert!(nominal.upper[s] < worst.lower[s], "{criterion} {set:?}");
            }
        }
    }
}

/// Rewards: the best case is the largest, and all loops agree on it.
#[test]
fn rewards_and_other_loops() {
    let plain = Plain::random(6, 3, 4, 70).tolls(1);
    let (costs, rewards) = (with_intervals(&plain, false), with_intervals(&plain, true));
    for set in some_sets() {
        let found = solve(&costs, &set, &best()).unwrap();
        let earned = solve(&rewards, &set, &best()).unwrap();
        for s in 0..6 {
            assert_eq!(earned.lower[s], -found.upper[s]);
            assert_eq!(earned.upper[s], -found.lower[s]);
        }
        for method in [Method::Vi, Method::GsVi, Method::Pi, Method::Anderson, Method::Avi] {
            let other = solve(&costs, &set, &Options { method, ..best() }).unwrap();
            assert_eq!((other.status, other.method), (Status::Certified, method));
            let meet = |s| other.lower[s] <= found.upper[s] && found.lower[s] <= other.upper[s];
            assert!((0..6).all(meet), "{method} {set:?}");
        }
        for oracle in [Oracle::FirstOrder, Oracle::InteriorPoint] {
            let options = Options { oracle: Some(oracle), ..best() };
            let text = solve(&costs, &set, &options).unwrap_err().to_string();
            assert!(text.contains("best cases need the exact oracle"), "{text}");
        }
    }
}

/// Without a budget there is one kernel.
#[test]
fn nothing_uncertain() {
    let model = garnet(6, 3, 0.9, 2);
    let nominal = solve(&model, &UncertaintySet::none(), &Options::default()).unwrap();
    for set in [UncertaintySet::none(), UncertaintySet::kl(0.0), UncertaintySet::l1(0.0)] {
        let found = solve(&model, &set, &best()).unwrap();
        assert!(
            (0..6)
                .all(|s| found.lower[s] <= nominal.upper[s] && nominal.lower[s] <= found.upper[s])
        );
    }
}
