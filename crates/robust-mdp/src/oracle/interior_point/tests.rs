//! The kernel of the lower bound lies in the set and has the value that is claimed.

use super::*;
use crate::instances::{Costs, Garnet, Xoshiro256};
use crate::rows::{ExplicitMemory, Layout};
use crate::sets::ellipsoid::Ellipsoid;
use crate::sets::kl::Kl;

/// What an update leaves in one state.
struct Updated {
    value: Enclosure,
    x: Vec<f64>,
    y: Vec<f64>,
}

/// Updates every state of a random model and checks the answer against the game.
fn visit(set: &UncertaintySet, mut check: impl FnMut(&ExplicitRows<'_>, &Updated)) {
    let (states, actions) = (12, 6);
    let garnet = Garnet { states, actions, costs: Costs::StateDriven, ..Garnet::default() };
    let model = garnet.model().unwrap();
    let layout = Layout::new(&model, set);
    let mut random = Xoshiro256::new(3);
    let values: Vec<f64> = (0..states).map(|_| 10.0 * random.uniform()).collect();
    let (rows, entries) = layout.largest_state(&model);
    let (mut memory, mut programs) = (ExplicitMemory::new(rows, entries), Programs::default());
    let mut nature = Nature::new(&model, set);
    nature.set_values(&values);
    for s in 0..states {
        let game =
            &ExplicitRows::load(&model, &layout, s, &nature.values, nature.data(), &mut memory);
        let (mut x, mut y) = (vec![f64::NAN; actions], vec![f64::NAN; game.nominal().len()]);
        let first_row = model.rows_of(s).start;
        for whole in [false, true] {
            let state = ConicState { set, nature: &nature, s, first_row, game, whole };
            let value = state.update(&mut x, &mut y, &mut programs);
            check(game, &Updated { value, x: x.clone(), y: y.clone() });
        }
    }
}

#[test]
fn the_kernel_of_the_lower_bound_is_in_the_set() {
    for radius in [0.0, 1e-9, 0.05, 0.5, 3.0, 50.0] {
        for shared in [UncertaintySet::ellipsoid(radius), UncertaintySet::kl(radius)] {
            for set in [shared.clone(), shared.clone().per_action()] {
                visit(&set, |game, Updated { value, x, y }| {
                    let block = game.block(radius);
                    // Rounding of the entries, 1e-16 against steps of √radius.
                    let allowed = radius * (1.0 + 1e-9);
                    let row = |k: usize| {
                        let distance = set.distance.set().expect("a set");
                        distance.distance(block.nominal(k), &y[block.span(k)], block.data(k))
                    };
                    let used: Vec<f64> = (0..block.rows()).map(row).collect();
                    if shares_budget(&set) {
                        assert!(used.iter().sum::<f64>() <= allowed, "{set:?} {used:?}");
                    } else {
                        assert!(used.iter().all(|used| *used <= allowed), "{set:?} {used:?}");
                    }
                    for k in 0..block.rows() {
                        let total: f64 = y[block.span(k)].iter().sum();
                        assert!((total - 1.0).abs() < 1e-12);
                    }
                    assert!(y.iter().all(|y| *y >= 0.0));
                    assert!(x.iter().all(|x| *x >= 0.0));
                    let attained = least_value(block, game.base, y);
                    assert!((attained - value.lower).abs() <= 1e-12 * attained.abs());
                });
            }
        }
    }
}

#[test]
fn repair_takes_anything() {
    let set = UncertaintySet::kl(0.1);
    visit(&set, |game, _| {
        let block = game.block(0.1);
        for bad in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300] {
            let mut y = game.nominal().to_vec();
            y[0] = bad;
            y[block.span(1)].fill(bad);
            block.bring_within(&Kl, &mut y);
            assert!(block.spent(&Kl, &y) <= 0.1 * (1.0 + 1e-12));
        }
    });
}

#[test]
fn candidates_that_are_no_policy_are_ignored() {
    let set = UncertaintySet::ellipsoid(0.1);
    visit(&set, |game, _| {
        let block = game.block(0.1);
        for bad in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
            let (mut x, mut y) = (vec![0.0; block.rows()], game.nominal().to_vec());
            x[2] = 1.0;
            let width = block.span(1).len();
            let candidate = Candidate { x: vec![bad], y: vec![bad; width], solved: false };
            take(candidate, block, &[1], &mut x, &mut y);
            assert_eq!(x[2], 1.0);
            block.bring_within(&Ellipsoid, &mut y);
            assert_eq!(y, game.nominal());
        }
    });
}

#[test]
fn only_whole_programs_are_solved_where_the_budget_does_not_bind() {
    let (states, actions) = (12, 6);
    let model = Garnet { states, actions, ..Garnet::default() }.model().unwrap();
    let values: Vec<f64> = (0..states).map(|s| s as f64).collect();
    for set in [UncertaintySet::ellipsoid(50.0), UncertaintySet::kl(500.0)] {
        let programs = |whole| crate::measure::programs(&model, &set, &values, whole).unwrap();
        assert_eq!(programs(false), [0, 0]);
        let [asked, failed] = programs(true);
        assert!(asked == states as u64 && failed <= asked, "{asked} {failed}");
    }
}
