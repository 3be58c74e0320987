//! Average costs: g + h = F(h) without a discount.

use super::plain::Plain;
use super::{asked, every_set, garnet, reference, some_sets, with_intervals};
use robust_mdp::sets::UncertaintySet;
use robust_mdp::{Criterion, Method, Model, ModelBuilder, Options, Solution, Status, solve};

fn average(model: &Model, set: &UncertaintySet, method: Method) -> Solution {
    let found = solve(model, set, &Options { method, ..asked(Criterion::Average) }).unwrap();
    let ran = if method == Method::Auto { Method::Newton } else { method };
    assert_eq!((found.criterion, found.method), (Criterion::Average, ran));
    found
}

fn holds(found: &Solution, expected: f64) {
    let (low, high) = found.initial_value;
    assert!(low <= expected && expected <= high, "{low:e} to {high:e} without {expected:e}");
}

#[test]
fn the_average_is_the_limit_of_discounted_costs() {
    for (seed, set) in some_sets().into_iter().enumerate() {
        let model = garnet(12, 4, 0.9, seed as u64);
        let average = solve(&model, &set, &asked(Criterion::Average)).unwrap();
        assert_eq!(average.status, Status::Certified, "{set:?}");
        let at = |discount: f64| {
            let model = model.clone().with_discount(discount).unwrap();
            let found = solve(&model, &set, &Options::default()).unwrap();
            (1.0 - discount) * found.values[0]
        };
        // (1 − λ)v_λ = g + (1 − λ)h + o(1 − λ): extrapolated.
        let (near, nearer) = (at(1.0 - 2e-4), at(1.0 - 1e-4));
        let limit = 2.0 * nearer - near;
        let (low, high) = average.initial_value;
        assert!(
            low - 1e-5 <= limit && limit <= high + 1e-5,
            "{set:?}: {low} to {high}, limit {limit}"
        );
        assert!(high - low <= average.target_gap);
        assert!(average.lower.iter().all(|l| *l == average.lower[0]));
    }
}

/// For any h, min F(h) − h ≤ g ≤ max F(h) − h: the reference proves the average from the library's h.
#[test]
fn the_reference_proves_the_average() {
    for seed in 0..2 {
        let plain = Plain::random(5, 3, 4, 40 + seed).tolls(seed).discount(1.0);
        let model = with_intervals(&plain, false);
        for set in every_set(&model, 0.05) {
            let found = average(&model, &set, Method::Auto);
            assert_eq!(found.status, Status::Certified, "{set:?}");
            let after = reference::bellman(&model, &set, &found.bias);
            let difference = after.iter().zip(&found.bias).map(|(f, h)| f - h);
            let (low, high) = difference
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), d| (l.min(d), h.max(d)));
            assert!(high - low <= found.target_gap, "{set:?}: {low} {high}");
            assert!(found.lower[0] <= high + 1e-12 && low - 1e-12 <= found.upper[0], "{set:?}");
            let slow = average(&model, &set, Method::Vi);
            assert!(slow.lower[0] <= found.upper[0] && found.lower[0] <= slow.upper[0], "{set:?}");
        }
    }
}

/// 0 → {1, 2} → 0: after two steps it is where it was.
#[test]
fn chains_of_period_two() {
    let model = ModelBuilder::new(1.0)
        .state("0")
        .action("go", 0.0, &[(1, 0.5), (2, 0.5)])
        .state("1")
        .action("back", 2.0, &[(0, 1.0)])
        .state("2")
        .action("back", 4.0, &[(0, 1.0)])
        .build()
        .unwrap();
    let moved = UncertaintySet::total_variation(0.1).on_nominal_support();
    for method in [Method::Auto, Method::Vi] {
        for (set, expected) in [(UncertaintySet::none(), 1.5), (moved.clone(), 1.6)] {
            let found = average(&model, &set, method);
            assert_eq!(found.status, Status::Certified, "{method}");
            holds(&found, expected);
        }
    }
}

/// Which chain it is that counts depends on where the model begins: one number for all is not to be had.
#[test]
fn several_chains_leave_bounds_apart() {
    let mut model = ModelBuilder::new(0.9)
        .state("dear")
        .action("stay", 2.0, &[(0, 1.0)])
        .state("cheap")
        .action("stay", 1.0, &[(1, 1.0)])
        .state("between")
        .action("left", 0.0, &[(0, 1.0)])
        .action("right", 9.0, &[(1, 1.0)]);
    model.set_initial(Some(vec![0.0, 0.0, 1.0]));
    let model = model.build().unwrap();
    let set = UncertaintySet::kl(0.1);
    for method in [Method::Auto, Method::Vi] {
        let found = average(&model, &set, method);
        assert_eq!(found.status, Status::PrecisionLimit, "{method}");
        for (s, expected) in [2.0, 1.0, 1.0].into_iter().enumerate() {
            assert!(found.lower[s] <= expected && expected <= found.upper[s]);
            assert!((found.gap - 1.0).abs() < 1e-6, "{:e}", found.gap);
        }
    }
}

#[test]
fn one_state_costs_its_cheapest_step() {
    let model = ModelBuilder::new(0.5)
        .state("here")
        .action("dear", 3.0, &[(0, 1.0)])
        .action("cheap", -2.0, &[(0, 1.0)])
        .build()
        .unwrap();
    for set in [UncertaintySet::none(), UncertaintySet::kl(1.0), UncertaintySet::ellipsoid(1.0)] {
        let found = average(&model, &set, Method::Auto);
        assert_eq!((found.status, &found.policy[..]), (Status::Certified, &[0.0, 1.0][..]));
        holds(&found, -2.0);
    }
}

/// A model that ends costs nothing in the long run, unless it pays never to end.
#[test]
fn terminal_states() {
    let model = |stay: f64| {
        let model = ModelBuilder::new(0.9).terminal("end").state("here");
        let model = model.action("stay", stay, &[(1, 1.0)]);
        model.action("leave", 5.0, &[(0, 0.5), (1, 0.5)]).build().unwrap()
    };
    let set = UncertaintySet::kl(0.1);
    let found = average(&model(3.0), &set, Method::Auto);
    assert_eq!(found.status, Status::Certified);
    holds(&found, 0.0);
    let found = average(&model(-3.0), &set, Method::Auto);
    assert_eq!(found.status, Status::PrecisionLimit);
    assert!(found.lower[1] <= -3.0 && found.upper[1] >= -3.0);
    assert!(found.lower[0] <= 0.0 && found.upper[0] >= 0.0);
}

/// Costs of any size and of both signs: everything scales with them.
#[test]
fn costs_of_any_size() {
    let plain = Plain::random(6, 3, 4, 5).costs(|c| c - 5.0).tolls(5);
    for set in some_sets() {
        let usual = average(&plain.model(), &set, Method::Auto);
        assert_eq!(usual.status, Status::Certified);
        for size in [1e8, 1e-8] {
            let found = average(&plain.clone().scaled(size).model(), &set, Method::Auto);
            assert_eq!(found.status, Status::Certified, "{size} {set:?}");
            assert!(
                found.lower[0] / size <= usual.upper[0] && usual.lower[0] <= found.upper[0] / size
            );
            assert!(found.gap <= 1.01e-7 * 30.0 * size, "{:e}", found.gap);
        }
        let shifted = average(&plain.clone().costs(|c| c + 1e8).model(), &set, Method::Auto);
        let (low, high) = shifted.initial_value;
        assert!(low - 1e8 <= usual.upper[0] && usual.lower[0] <= high - 1e8);
        assert!(high - low < 1e-4, "{:e}", high - low);
    }
}

#[test]
fn what_averages_have_no_use_for_is_refused() {
    let (model, set) = (garnet(4, 2, 0.9, 1), UncertaintySet::kl(0.1));
    for method in [Method::Pi, Method::FomVi, Method::GsVi] {
        let options = Options { method, ..asked(Criterion::Average) };
        let text = solve(&model, &set, &options).unwrap_err().to_string();
        assert!(text.contains("the objective is average: expected auto"), "{text}");
    }
    for oracle in [robust_mdp::Oracle::FirstOrder, robust_mdp::Oracle::InteriorPoint] {
        let options = Options { oracle: Some(oracle), ..asked(Criterion::Average) };
        let text = solve(&model, &set, &options).unwrap_err().to_string();
        assert!(text.contains("averages need the exact oracle"), "{text}");
    }
}
