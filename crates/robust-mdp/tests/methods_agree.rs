//! Every outer loop with every oracle encloses the same values: on random and degenerate models the
//! bounds of any two runs meet in every state, however the runs ended.

mod cases;
mod ran;
mod reference;

use cases::Case;
use ran::assert_ran;
use reference::{FAMILIES, Family};
use robust_mdp::instances::{Costs, Garnet, Xoshiro256};
use robust_mdp::sets::UncertaintySet;
use robust_mdp::{
    Interrupt, Method, Model, ModelBuilder, Objective, Options, Oracle, Solution, Status, Stop,
    evaluate, solve,
};

const LOOPS: [Method; 6] =
    [Method::Newton, Method::Pi, Method::Vi, Method::GsVi, Method::Anderson, Method::Avi];

fn run(
    model: &Model,
    set: &UncertaintySet,
    method: Method,
    oracle: Option<Oracle>,
    max_sweeps: u64,
) -> Solution {
    let gap = Some(1e-7 * model.largest_cost().max(1e-3));
    let stop = Stop { gap, max_sweeps, time_limit: None };
    let options = Options { method, oracle, stop, threads: Some(1), ..Options::default() };
    let solution = solve(model, set, &options).expect("a valid case");
    assert_ran(&solution, &options);
    solution
}

/// Bounds of all runs meet; policies are distributions.
fn agree(case: &Case, runs: &[(String, Solution)]) {
    for s in 0..case.model.states() {
        let lower = runs.iter().max_by(|a, b| a.1.lower[s].total_cmp(&b.1.lower[s])).unwrap();
        let upper = runs.iter().min_by(|a, b| a.1.upper[s].total_cmp(&b.1.upper[s])).unwrap();
        assert!(
            lower.1.lower[s] <= upper.1.upper[s],
            "state {s}: {} says at least {:e}, {} says at most {:e}\nCase::new({:?}, {}) {:?}",
            lower.0,
            lower.1.lower[s],
            upper.0,
            upper.1.upper[s],
            case.family,
            case.seed,
            case.traits,
        );
        for (name, run) in runs {
            let total: f64 = run.policy_at(s).iter().sum();
            let proper = run.policy_at(s).iter().all(|x| *x >= 0.0);
            let terminal = run.policy_at(s).is_empty();
            assert!(
                terminal || proper && (total - 1.0).abs() < 1e-12,
                "{name}, state {s}: {total}"
            );
        }
    }
}

/// The upper bound is one of the policy that came with it.
fn worst_case_is_bounded(case: &Case, run: &Solution) {
    let (model, set) = (&case.model, &case.set);
    let valued = evaluate(model, set, &run.policy, None, Some(1), &Interrupt::new())
        .expect("a policy of the model");
    // In the sign of costs.
    let (worst, bound) = match model.objective() {
        Objective::MinCost => (&valued.worst.lower, &run.upper),
        Objective::MaxReward => (&run.lower, &valued.worst.upper),
    };
    for (s, (worst, bound)) in worst.iter().zip(bound).enumerate() {
        assert!(worst <= bound, "{:?} {}, state {s}: {worst:e} {bound:e}", case.family, case.seed);
    }
}

fn exact_loops(family: Family, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let case = Case::new(family, seed);
        let mut runs: Vec<(String, Solution)> = LOOPS
            .iter()
            .map(|&method| {
                let limit = if matches!(method, Method::Newton | Method::Pi) { 500 } else { 60 };
                (format!("{method:?}"), run(&case.model, &case.set, method, None, limit))
            })
            .collect();
        // Runs that are cut short prove less, but nothing wrong.
        for method in [Method::Newton, Method::Pi] {
            for limit in [1, 2, 3, 4, 6, 9] {
                let short = run(&case.model, &case.set, method, None, limit);
                worst_case_is_bounded(&case, &short);
                runs.push((format!("{method:?} for {limit} sweeps"), short));
            }
        }
        agree(&case, &runs);
        // What needs few sweeps at any discount must get there, as far as rounding lets it.
        for (name, run) in &runs[..2] {
            let ended = matches!(run.status, Status::Certified | Status::PrecisionLimit);
            assert!(
                ended,
                "{name}: {:?}, gap {:e}\nCase::new({:?}, {}) {:?}",
                run.status, run.gap, case.family, case.seed, case.traits
            );
            // The limit must be that of rounding in a fixed point of this size.
            let size = run.upper.iter().fold(case.model.largest_cost(), |m, v| m.max(v.abs()));
            let floor = 1e4 * f64::EPSILON * size / (1.0 - case.model.discount());
            let limited = run.status == Status::Certified || run.gap <= floor;
            assert!(limited, "{name}: gap {:e}, {:?} {}", run.gap, case.family, case.seed);
        }
    }
}

#[test]
fn loops_on_ellipsoids_with_mass_everywhere() {
    exact_loops(FAMILIES[0], 0..250);
}

#[test]
fn loops_on_ellipsoids_on_the_nominal_support() {
    exact_loops(FAMILIES[1], 0..250);
}

#[test]
fn loops_on_kl_sets() {
    exact_loops(FAMILIES[2], 0..250);
}

/// The other oracles under the same loops, for a few sweeps each.
#[test]
fn oracles_under_the_loops() {
    for &family in FAMILIES {
        let most = family.share(12) as usize;
        for seed in (0..).filter(|&s| Case::new(family, s).model.states() <= 6).take(most) {
            let case = Case::new(family, seed);
            let mut runs =
                vec![("exact".into(), run(&case.model, &case.set, Method::Pi, None, 200))];
            let oracles = [Oracle::InteriorPoint, Oracle::FirstOrder];
            for oracle in oracles.into_iter().filter(|oracle| family.takes(*oracle)) {
                for method in [Method::Vi, Method::GsVi, Method::Pi, Method::Newton] {
                    let name = format!("{method:?} with {oracle:?}");
                    runs.push((name, run(&case.model, &case.set, method, Some(oracle), 6)));
                }
            }
            if family.takes(Oracle::FirstOrder) {
                runs.push(("fom-vi".into(), run(&case.model, &case.set, Method::FomVi, None, 30)));
            }
            agree(&case, &runs);
        }
    }
}

/// Six actions a state, next states within ± 4, costs driven by the state: a chain that mixes slowly.
fn banded(states: usize, discount: f64) -> Model {
    let costs = Costs::StateDriven;
    let garnet = Garnet { states, actions: 6, branching: 0.5, costs, ..Garnet::default() };
    Garnet { band: Some(4), discount, seed: 1, ..garnet }.model().unwrap()
}

fn tight_sets() -> [UncertaintySet; 2] {
    let radius = 0.05 * 3.0_f64.sqrt();
    [UncertaintySet::ellipsoid(radius).on_nominal_support(), UncertaintySet::kl(radius)]
}

fn run_to(gap: f64, model: &Model, set: &UncertaintySet, method: Method, most: u64) -> Solution {
    let stop = Stop { max_sweeps: most, ..Stop::at_gap(gap) };
    let options = Options { method, stop, threads: Some(1), ..Options::default() };
    let solution = solve(model, set, &options).unwrap();
    assert_ran(&solution, &options);
    solution
}

#[test]
fn sweeps_hardly_depend_on_the_discount() {
    for (states, set) in [50, 200].into_iter().flat_map(|n| tight_sets().map(|set| (n, set))) {
        let sweeps = [0.8, 0.99, 0.999].map(|discount| {
            let model = banded(states, discount);
            let run = run_to(1e-6, &model, &set, Method::Auto, 100);
            assert_eq!(run.status, Status::Certified, "{states} states, {discount}");
            run.work.sweeps
        });
        let (least, most) = (sweeps.iter().min().unwrap(), sweeps.iter().max().unwrap());
        assert!(most <= &(3 * least), "{states} states, {:?}: {sweeps:?}", set.distance);
    }
}

/// Steps that speed value iteration up must not stop it where chains mix slowly: about 500 sweeps
/// here, 3200 without.
#[test]
fn accelerated_loops_keep_going_on_slow_chains() {
    let model = banded(50, 0.999);
    for set in tight_sets() {
        for method in [Method::Anderson, Method::Avi] {
            let run = run_to(1e-6, &model, &set, method, 2000);
            assert_eq!(run.status, Status::Certified, "{method:?}, gap {:e}", run.gap);
        }
    }
}

/// Chains in single precision must not stand in the way of discounts that they cannot resolve.
#[test]
fn few_sweeps_on_a_band_very_near_one() {
    for set in tight_sets() {
        let model = banded(300, 1.0 - 1e-6);
        let solution = run_to(1.0, &model, &set, Method::Newton, 100);
        assert_eq!(solution.status, Status::Certified, "{set:?}: gap {}", solution.gap);
    }
}

/// Seven states, some of them terminal, one to four actions, about half of the states as next ones.
fn with_terminal_states(seed: u64, discount: f64) -> Model {
    let mut random = Xoshiro256::new(seed);
    let mut model = ModelBuilder::new(discount);
    for s in 0..7 {
        model.add_state(None);
        if s > 0 && random.uniform() < 0.3 {
            model.mark_terminal();
            continue;
        }
        for _ in 0..1 + (4.0 * random.uniform()) as usize {
            model.add_action(None, 2.0 * random.uniform() - 1.0);
            let mut draw = || if random.uniform() < 0.5 { 0.0 } else { random.uniform() };
            let weights: Vec<f64> =
                (0..7).map(|to| draw() + f64::from(u8::from(to == s))).collect();
            let total: f64 = weights.iter().sum();
            for (to, weight) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
                model.add_transition(to, weight / total, 0.0);
            }
        }
    }
    model.build().unwrap()
}

/// What rounding leaves is told from slow progress: tens of sweeps, however near one λ is.
#[test]
fn few_sweeps_with_terminal_states_near_one() {
    for seed in 0..40 {
        let model = with_terminal_states(seed, [0.9999, 0.99999, 0.999999][seed as usize % 3]);
        for set in [UncertaintySet::ellipsoid(0.5), UncertaintySet::kl(0.5)] {
            for method in [Method::Pi, Method::Newton] {
                let run = run_to(1e-9, &model, &set, method, 100);
                let ended = matches!(run.status, Status::Certified | Status::PrecisionLimit);
                assert!(ended, "{method:?}, seed {seed}, {:?}: gap {:e}", set.distance, run.gap);
            }
        }
    }
}
