use super::*;
use crate::instances::{Costs, Garnet, TIGHT, published_radius};
use crate::{Options, Stop, solve};

/// The less is asked for, the farther moments of KL rows serve: bounds must allow for that.
#[test]
fn wide_answers_enclose_narrow_ones() {
    for (costs, radius) in [(Costs::Iid, 3.0), (Costs::StateDriven, 12.0)] {
        let (states, actions, discount) = (24, 20, 0.9);
        let garnet =
            Garnet { states, actions, branching: 0.5, costs, band: None, discount, seed: 5 };
        let (model, set) = (garnet.model().unwrap(), UncertaintySet::kl(radius));
        let values: Vec<f64> = (0..24).map(|s| (s * 7919 % 1009) as f64 / 100.0).collect();
        let sweep = |tolerance: f64| {
            let mut bellman = Bellman::new(&model, &set);
            bellman.sweep(&values, Player::Both, tolerance);
            (bellman.lower, bellman.upper)
        };
        let (lower, upper) = sweep(0.0);
        for tolerance in [1.0, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10] {
            let wide = sweep(tolerance);
            for s in 0..states {
                let (low, high) = (wide.0[s], wide.1[s]);
                assert!(low <= upper[s] + 1e-12 && high >= lower[s] - 1e-12, "state {s}");
                assert!(high - low <= tolerance + 1e-12, "state {s}: {low} to {high}");
            }
        }
    }
}

#[test]
fn nature_spends_a_budget_to_the_last_digits_where_all_are_asked_for() {
    let garnet = Garnet {
        states: 100,
        actions: 100,
        branching: 0.5,
        costs: Costs::StateDriven,
        discount: 0.999,
        ..Garnet::default()
    };
    let model = garnet.model().expect("a model");
    let radius = TIGHT * published_radius(0.5, 100);
    let set = UncertaintySet::ellipsoid(radius);
    let stop = Stop::at_gap(1e-6);
    let options = Options { stop, ..Options::default() };
    let solution = solve(&model, &set, &options).expect("a solution");
    let v = &solution.values;
    let mut bellman = Bellman::new(&model, &set);
    // The bounds of nature's sweep meet where that of both players ended.
    bellman.sweep(v, Player::Both, 0.0);
    bellman.sweep(v, Player::Nature(&solution.policy), 0.0);
    let top = v.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
    let mut spent = bellman.collect(0..model.states(), &|s, memory, _, out| {
        let mut spent = 0.0;
        for (k, r) in model.rows_of(s).enumerate().filter(|(k, _)| memory.t[*k] > 0.0) {
            for (i, p) in model.row(r).prob.iter().enumerate() {
                let tilted = memory.t[k] * model.discount() * (v[i] - top) - memory.nu[k];
                spent += 0.5 * (tilted.max(-p)).powi(2);
            }
        }
        out.push((spent / radius - 1.0).abs());
    });
    spent.sort_by(f64::total_cmp);
    // Bounds alone leave 1e-12.
    assert!(spent[90] < 5e-14, "{spent:?}");
}
