//! Certificates are honest: on small random models of every kind the bounds hold a plain
//! reference, and values obey the laws that robust values obey.

mod plain;
mod reference;

use std::time::Duration;

use plain::Plain;
use robust_mdp::sets::{Distance, Rectangularity, UncertaintySet};
use robust_mdp::{
    Interrupt, Model, Options, Solution, Status, Stop, evaluate, solve, worst_kernel,
};

fn options(gap: f64) -> Options {
    Options {
        stop: Stop { time_limit: Some(Duration::from_secs(20)), ..Stop::at_gap(gap) },
        threads: Some(1),
        ..Options::default()
    }
}

/// Every kind of set with this budget.
fn sets(radius: f64) -> Vec<UncertaintySet> {
    let (ball, kl) = (UncertaintySet::ellipsoid(radius), UncertaintySet::kl(radius));
    let near = ball.clone().on_nominal_support();
    let shared = [ball, near, kl];
    let own = shared.clone().map(UncertaintySet::per_action);
    shared.into_iter().chain(own).collect()
}

/// Solves and checks everything that must hold of any answer.
fn solved(model: &Model, set: &UncertaintySet, gap: f64) -> Solution {
    let solution = solve(model, set, &options(gap)).unwrap();
    let Solution { status, lower, upper, policy, .. } = &solution;
    assert!(matches!(status, Status::Certified | Status::PrecisionLimit), "{set:?} {solution:?}");
    let widest = lower.iter().zip(upper).map(|(l, u)| u - l).fold(0.0, f64::max);
    assert!(lower.iter().zip(upper).all(|(l, u)| l <= u), "{solution:?}");
    assert_eq!(solution.gap, widest);
    assert!(*status != Status::Certified || widest <= gap);
    assert!(policy.iter().all(|x| *x >= 0.0));
    for s in (0..model.states()).filter(|&s| !model.is_terminal(s)) {
        let total: f64 = solution.policy_at(s).iter().sum();
        assert!((total - 1.0).abs() < 1e-12, "state {s}: {total}");
    }
    solution
}

/// The bounds meet those of the reference, started from the answer to save sweeps.
fn meets_reference(model: &Model, set: &UncertaintySet, solution: &Solution) {
    let start = solution.values.clone();
    let (low, high) = reference::value_bounds(model, set, start, 0.1 * solution.gap, 60);
    for s in 0..model.states() {
        let (lower, upper) = (solution.lower[s], solution.upper[s]);
        assert!(
            lower <= high[s] && low[s] <= upper,
            "state {s}: [{lower:e}, {upper:e}] against [{:e}, {:e}]\n{set:?}\n{model:?}",
            low[s],
            high[s]
        );
    }
}

/// The policy's own worst case lies between the bounds, and the worst kernel is in the set.
fn policy_is_as_good_as_promised(
    model: &Model,
    set: &UncertaintySet,
    solution: &Solution,
    gap: f64,
) {
    let evaluated =
        evaluate(model, set, &solution.policy, Some(gap), Some(1), &Interrupt::new()).unwrap();
    for s in 0..model.states() {
        let (low, high) = (evaluated.worst.lower[s], evaluated.worst.upper[s]);
        assert!(low <= high && low <= solution.upper[s] && high >= solution.lower[s]);
        assert!(evaluated.nominal.lower[s] <= high);
    }
    let mut kernel = vec![vec![0.0; model.states()]; model.rows()];
    let values = &evaluated.worst.values;
    let keep = |r: usize, i: usize, p: f64| kernel[r][i] = p;
    worst_kernel(model, set, &solution.policy, values, Some(1), keep).unwrap();
    let visited = |threads| {
        let mut all = Vec::new();
        let keep = |r: usize, i: usize, p: f64| all.push((r, i, p.to_bits()));
        worst_kernel(model, set, &solution.policy, values, threads, keep).unwrap();
        all
    };
    assert_eq!(visited(Some(3)), visited(Some(1)), "{set:?}");
    for s in 0..model.states() {
        let rows = model.rows_of(s);
        let spent: Vec<f64> = rows.clone().map(|r| budget(model, set, r, &kernel[r])).collect();
        let radius = |r: usize| set.radius_at(s, r) * (1.0 + 1e-9) + 1e-15;
        match set.rectangularity {
            _ if rows.is_empty() => (),
            Rectangularity::State => {
                let spent = spent.iter().sum::<f64>();
                assert!(spent <= radius(rows.start), "state {s}: {spent:e}\n{set:?}\n{model:?}");
            }
            Rectangularity::StateAction => {
                assert!(rows.zip(&spent).all(|(r, used)| *used <= radius(r)), "{set:?} {spent:?}");
            }
        }
    }
}

/// What a row spends; it must be a distribution, on the nominal support where it has to be.
fn budget(model: &Model, set: &UncertaintySet, r: usize, y: &[f64]) -> f64 {
    let mut nominal = vec![0.0; y.len()];
    model.row(r).entries().for_each(|(i, p, _)| nominal[i] = p);
    let total: f64 = y.iter().sum();
    assert!((total - 1.0).abs() < 1e-12 && y.iter().all(|y| *y >= 0.0), "row {r}: {total}");
    if set.support == robust_mdp::sets::Support::Nominal {
        assert!(y.iter().zip(&nominal).all(|(y, p)| *p > 0.0 || *y == 0.0));
    }
    let on: Vec<usize> =
        (0..y.len()).filter(|&i| set.distance != Distance::Kl || nominal[i] > 0.0).collect();
    let pick = |v: &[f64]| on.iter().map(|&i| v[i]).collect::<Vec<_>>();
    reference::spent(set.distance, &pick(y), &pick(&nominal))
}

/// Everything at once, to 1e-6 of the costs' size.
fn honest(plain: &Plain, radius: f64) {
    let model = plain.model();
    // At λ near 1 rounding alone leaves about 64ε·max|c|/(1−λ)².
    let scale = model.largest_cost() * 1e-6_f64.max(1e-13 / (1.0 - plain.discount).powi(2));
    let gap = if scale > 0.0 { scale } else { 1e-9 };
    for set in sets(radius) {
        let solution = solved(&model, &set, gap);
        meets_reference(&model, &set, &solution);
        policy_is_as_good_as_promised(&model, &set, &solution, gap);
    }
}

const RADII: [f64; 6] = [0.0, 1e-12, 1e-4, 0.05, 0.6, 100.0];

#[test]
fn sparse_and_dense_models() {
    for (k, radius) in RADII.into_iter().enumerate() {
        let seed = k as u64;
        honest(&Plain::random(6, 3, 6, seed), radius);
        honest(&Plain::random(8, 4, 2, 10 + seed), radius);
        honest(&Plain::random(7, 3, 4, 20 + seed), radius);
    }
}

#[test]
fn costs_of_the_next_state() {
    for (k, radius) in RADII.into_iter().enumerate() {
        let seed = k as u64;
        honest(&Plain::random(5, 3, 5, seed).tolls(seed), radius);
        honest(&Plain::random(8, 3, 2, seed).tolls(seed), radius);
    }
}

#[test]
fn costs_of_any_sign_and_size() {
    for radius in [1e-4, 0.05] {
        let base = Plain::random(6, 3, 3, 5);
        honest(&base.clone().costs(|c| -c), radius);
        honest(&base.clone().costs(|c| c - 5.0), radius);
        honest(&base.clone().tolls(1).scaled(1e7), radius);
        honest(&base.clone().tolls(1).scaled(1e-9), radius);
        honest(&base.costs(|c| 1e8 + c), radius);
    }
}

#[test]
fn every_discount() {
    for discount in [0.0, 0.1, 0.99, 0.999, 0.9999] {
        for (seed, radius) in [(1, 0.0), (2, 1e-4), (3, 0.05), (4, 100.0)] {
            honest(&Plain::random(5, 3, 3, seed).discount(discount), radius);
        }
    }
}

#[test]
fn corners() {
    for radius in RADII {
        honest(&Plain::random(6, 1, 3, 1), radius); // one action
        honest(&Plain::random(1, 3, 1, 2), radius); // one state
        honest(&Plain::random(1, 1, 1, 3), radius);
        honest(&Plain::random(5, 3, 1, 4), radius); // deterministic
        honest(&Plain::random(5, 3, 3, 5).costs(|_| 2.0), radius); // all the same
        honest(&Plain::random(5, 3, 3, 6).costs(|_| 0.0), radius);
        let mut ends = Plain::random(6, 3, 3, 7);
        ends.states[2].clear(); // terminal
        for row in &mut ends.states[4] {
            row.next = vec![(4, 1.0, 0.0)]; // absorbing
        }
        ends.states[5].truncate(1);
        let copy = ends.states[0][0].clone();
        ends.states[0].push(copy); // a tie
        honest(&ends, radius);
    }
}

/// Bounds of v(`a`) − v(`b`) state by state must allow `expected`.
fn differ_by(a: &Solution, b: &Solution, expected: impl Fn(usize, f64) -> f64) {
    for s in 0..a.lower.len() {
        let (low, high) = (expected(s, b.lower[s]), expected(s, b.upper[s]));
        let slack = 1e-12 * low.abs().max(high.abs());
        assert!(
            a.lower[s] <= high + slack && low - slack <= a.upper[s],
            "state {s}: [{}, {}] against [{low}, {high}]",
            a.lower[s],
            a.upper[s]
        );
    }
}

#[test]
fn a_larger_budget_costs_no_less() {
    let model = Plain::random(6, 3, 4, 3).model();
    for kind in 0..6 {
        let of = |radius: f64| solved(&model, &sets(radius)[kind], 1e-6);
        let values: Vec<Solution> = [0.0, 1e-6, 1e-3, 0.02, 0.1, 0.5, 3.0].map(of).into();
        for pair in values.windows(2) {
            let (a, b) = (&pair[0], &pair[1]);
            assert!(a.lower.iter().zip(&b.upper).all(|(a, b)| *a <= b + 1e-12));
        }
    }
}

#[test]
fn a_budget_a_row_costs_no_less_than_a_shared_one() {
    let model = Plain::random(6, 3, 4, 4).model();
    for radius in [1e-3, 0.05, 0.5] {
        let sets = sets(radius);
        for (shared, own) in sets[..3].iter().zip(&sets[3..]) {
            let (a, b) = (solved(&model, shared, 1e-6), solved(&model, own, 1e-6));
            assert!(a.lower.iter().zip(&b.upper).all(|(a, b)| *a <= b + 1e-12));
        }
    }
}

#[test]
fn values_follow_shifts_scales_and_permutations() {
    let plain = Plain::random(6, 3, 3, 8).tolls(8);
    let to = [3, 0, 5, 1, 4, 2];
    for set in sets(0.05) {
        let of = |plain: &Plain, gap: f64| solved(&plain.model(), &set, gap);
        let base = of(&plain, 1e-6);
        // +7 on every cost is +7/(1 − 0.8) = +35 on every value.
        differ_by(&of(&plain.clone().costs(|c| c + 7.0), 1e-6), &base, |_, v| v + 35.0);
        differ_by(&of(&plain.clone().scaled(1e3), 1e-3), &base, |_, v| 1e3 * v);
        let permuted = of(&plain.permuted(&to), 1e-6);
        for s in 0..to.len() {
            assert!(permuted.lower[to[s]] <= base.upper[s]);
            assert!(base.lower[s] <= permuted.upper[to[s]]);
        }
    }
}

#[test]
fn values_move_no_more_than_costs_allow() {
    // |v*(c) − v*(c')| ≤ ‖c − c'‖_∞/(1 − λ), and v* grows with c.
    let plain = Plain::random(6, 3, 4, 9);
    for set in sets(0.05) {
        let mut k = 0;
        let dearer = plain.clone().costs(|c| {
            k += 1;
            c + 0.1 * (k % 4) as f64 // ‖c − c'‖_∞ = 0.3
        });
        let (a, b) = (solved(&plain.model(), &set, 1e-6), solved(&dearer.model(), &set, 1e-6));
        for s in 0..6 {
            assert!(a.lower[s] <= b.upper[s]);
            assert!(b.lower[s] - a.upper[s] <= 0.3 / 0.2);
        }
    }
}

#[test]
fn the_reference_operator_is_a_monotone_contraction() {
    let model = Plain::random(6, 3, 4, 11).tolls(3).model();
    let v = [3.0, -1.0, 4.0, 1.0, -5.0, 9.0];
    let w = [3.5, -1.0, 4.25, 2.0, -5.0, 9.75]; // v ≤ w ≤ v + 1
    for set in sets(0.05) {
        let of = |v: &[f64]| reference::bellman(&model, &set, v);
        let (at_v, at_w) = (of(&v), of(&w));
        let shifted = of(&v.map(|v| v + 2.0));
        for s in 0..6 {
            let change = at_w[s] - at_v[s];
            assert!((-1e-9..=0.8 + 1e-9).contains(&change), "{change}");
            assert!((shifted[s] - at_v[s] - 1.6).abs() < 1e-9);
        }
    }
}
