//! Next states that a row lists at several costs: nature may move mass between them.
//!
//! Answers are compared with those of models in which such a next state is several states, with the
//! plain reference, and with the value of the kernel that is said to be the worst.

mod reference;

use std::path::Path;

use robust_mdp::instances::Xoshiro256;
use robust_mdp::io::{Format, Source, read_model, write_kernel, write_model};
use robust_mdp::sets::{Distance, Support, UncertaintySet};
use robust_mdp::{
    Certificate, Interrupt, Method, Model, ModelBuilder, Objective, Options, Oracle, Solution,
    Status, Stop, certify, evaluate, solve, verify, worst_kernel,
};

/// Rows of a model: own cost and (next state, probability, further cost).
type Rows = Vec<Vec<(f64, Vec<(usize, f64, f64)>)>>;

fn build(rows: &Rows, discount: f64) -> Model {
    let mut b = ModelBuilder::new(discount);
    for actions in rows {
        b.add_state(None);
        if actions.is_empty() {
            b.mark_terminal();
        }
        for (cost, row) in actions {
            b.add_action(None, *cost);
            row.iter().for_each(|&(to, p, c)| b.add_transition(to, p, c));
        }
    }
    b.build().unwrap()
}

fn rows_of(model: &Model) -> Rows {
    let of = |r: usize| (model.row(r).cost, model.row(r).entries().collect());
    (0..model.states()).map(|s| model.rows_of(s).map(of).collect()).collect()
}

/// A random model with repeats in most rows, some of them of probability 0.
fn random_model(random: &mut Xoshiro256) -> Model {
    let states = 2 + random.below(12) as usize;
    let mut rows: Rows = Vec::new();
    for s in 0..states {
        let count = if s == 1 { random.below(3) } else { 1 + random.below(3) };
        rows.push((0..count).map(|_| random_row(states, random)).collect());
    }
    build(&rows, [0.5, 0.9, 0.99][random.below(3) as usize])
}

fn random_row(states: usize, random: &mut Xoshiro256) -> (f64, Vec<(usize, f64, f64)>) {
    let own = (3.0 * random.uniform()).floor();
    let next: Vec<usize> =
        (0..1 + random.below(4)).map(|_| random.below(states as u64) as usize).collect();
    let mut row = Vec::new();
    // Whole costs of both signs meet 0, and each other, in every way.
    let mut cost = || match random.below(2) {
        0 => random.below(6) as f64 - 2.0,
        _ => 10.0 * random.uniform(),
    };
    let costs: Vec<f64> = (0..16).map(|_| cost()).collect();
    for &to in &next {
        for _ in 0..1 + random.below(3) {
            let p = if random.below(4) == 0 { 0.0 } else { random.uniform() };
            row.push((to, p, costs[row.len()]));
        }
    }
    // One that has another cost, whatever the others are.
    row.push((next[0], 0.5, 20.0 + 10.0 * random.uniform()));
    row.push((next[0], 0.0, costs[15]));
    let sum: f64 = row.iter().map(|e| e.1).sum();
    row.iter_mut().for_each(|e| e.1 /= sum);
    (own, row)
}

/// The same with as many copies of every state as some row lists it: each entry has its own.
fn split(model: &Model) -> (Model, usize) {
    let rows = rows_of(model);
    let mut copies = 1;
    let mut apart: Rows = rows.clone();
    for (_, row) in apart.iter_mut().flatten() {
        let mut seen = std::collections::BTreeMap::new();
        for entry in row.iter_mut() {
            let count = seen.entry(entry.0).or_insert(0);
            *count += 1;
            copies = copies.max(*count);
            // The copy in place of the next state, for now.
            entry.0 += model.states() * (*count - 1);
        }
    }
    let all: Rows = (0..copies).flat_map(|_| apart.clone()).collect();
    (build(&all, model.discount()), copies)
}

fn sets() -> Vec<UncertaintySet> {
    let mut sets = Vec::new();
    for radius in [0.003, 0.2, 5.0] {
        for set in [
            UncertaintySet::kl(radius),
            UncertaintySet::ellipsoid(radius).on_nominal_support(),
            UncertaintySet::ellipsoid(radius),
        ] {
            sets.extend([set.clone(), set.per_action()]);
        }
    }
    sets
}

fn solved(model: &Model, set: &UncertaintySet, oracle: Option<Oracle>, gap: f64) -> Solution {
    let method = if oracle.is_some() { Method::Vi } else { Method::Auto };
    let options = Options { method, oracle, stop: Stop::at_gap(gap), ..Options::default() };
    let solution = solve(model, set, &options).unwrap();
    assert_eq!(solution.status, Status::Certified, "{set:?}");
    solution
}

#[track_caller]
fn overlap(a: &Solution, lower: &[f64], upper: &[f64], what: &str) {
    for s in 0..a.lower.len() {
        let fits = a.lower[s] <= upper[s] + 1e-9 && lower[s] <= a.upper[s] + 1e-9;
        let (low, high) = (a.lower[s], a.upper[s]);
        assert!(fits, "{what}: state {s}: {low} to {high}, {} to {}", lower[s], upper[s]);
    }
}

/// One step, λ = 0: half of the mass costs 0 and half of it 10, on the same way to the same end.
#[test]
fn nature_moves_mass_from_one_cost_to_the_other() {
    let rows: Rows = vec![vec![(1.0, vec![(1, 0.5, 0.0), (1, 0.5, 10.0)])], vec![]];
    let model = build(&rows, 0.0);
    assert_eq!(model.repeated_transitions(), 1);
    let kl = |q: f64| q * (2.0 * q).ln() + (1.0 - q) * (2.0 * (1.0 - q)).ln();
    for (set, expected) in [
        (UncertaintySet::none(), 6.0),
        (UncertaintySet::kl(kl(0.8)), 9.0),
        (UncertaintySet::ellipsoid(0.3 * 0.3).on_nominal_support(), 9.0),
        // At 0.1 of the mass a state: the way to state 0 costs 1, that to the end 1 or 11.
        (UncertaintySet::ellipsoid(0.01), 7.0),
        (UncertaintySet::kl(100.0), 11.0),
    ] {
        let value = solved(&model, &set, None, 1e-9).values[0];
        assert!((value - expected).abs() < 1e-8, "{set:?}: {value}, expected {expected}");
    }
}

#[test]
fn copies_of_a_state_give_the_same_answer() {
    let mut random = Xoshiro256::new(11);
    for case in 0..40 {
        let model = random_model(&mut random);
        assert!(model.repeated_transitions() > 0 && !model.is_dense());
        let (apart, copies) = split(&model);
        assert_eq!(apart.repeated_transitions(), 0);
        // Copies that are not listed are more places for the mass of a set on all states.
        for set in sets().into_iter().filter(|set| set.support == Support::Nominal) {
            let (one, many) = (solved(&model, &set, None, 1e-8), solved(&apart, &set, None, 1e-8));
            for copy in 0..copies {
                let span = copy * model.states()..(copy + 1) * model.states();
                let what = format!("case {case}, {set:?}");
                overlap(&one, &many.lower[span.clone()], &many.upper[span], &what);
            }
        }
    }
}

#[test]
fn the_plain_reference_and_the_other_oracles_agree() {
    let mut random = Xoshiro256::new(12);
    for case in 0..12 {
        let model = random_model(&mut random);
        for set in sets() {
            let exact = solved(&model, &set, None, 1e-8);
            let start = exact.values.clone();
            let (lower, upper) = reference::value_bounds(&model, &set, start, 1e-8, 4000);
            overlap(&exact, &lower, &upper, &format!("case {case}, {set:?}, reference"));
            for oracle in [Oracle::InteriorPoint, Oracle::FirstOrder] {
                if case % 4 == 0 {
                    let other = solved(&model, &set, Some(oracle), 0.3);
                    let what = format!("case {case}, {set:?}, {oracle:?}");
                    overlap(&exact, &other.lower, &other.upper, &what);
                }
            }
        }
    }
}

#[test]
fn certificates_are_proved_and_their_bounds_are_true() {
    let mut random = Xoshiro256::new(13);
    for case in 0..40 {
        let model = random_model(&mut random);
        for set in sets() {
            let solution = solved(&model, &set, None, 1e-6);
            let (certificate, _) = certify(&model, &set, &solution, Some(1)).unwrap();
            let read = Certificate::from_bytes(&certificate.to_bytes(), &model).unwrap();
            let proved = verify(&model, &read, Some(1)).unwrap();
            assert!(proved.gap <= 1e-5, "case {case}, {set:?}: {}", proved.gap);
            let fine = solved(&model, &set, None, 1e-8);
            overlap(&fine, &proved.lower, &proved.upper, &format!("case {case}, {set:?}"));
        }
    }
}

/// The kernel, entry by entry: a repeated next state comes as often as the model lists it, in order.
fn kernel_of(model: &Model, set: &UncertaintySet, solution: &Solution) -> Vec<Vec<(usize, f64)>> {
    let mut rows = vec![Vec::new(); model.rows()];
    let keep = |row: usize, next: usize, p: f64| rows[row].push((next, p));
    worst_kernel(model, set, &solution.policy, &solution.values, Some(1), keep).unwrap();
    rows
}

/// The model under another kernel: every entry costs what the model says of it.
fn under(model: &Model, kernel: &[Vec<(usize, f64)>]) -> Model {
    let mut rows = rows_of(model);
    for ((_, row), of_kernel) in rows.iter_mut().flatten().zip(kernel) {
        let mut next = Vec::new();
        for &(to, p) in of_kernel {
            let listed: Vec<f64> = row.iter().filter(|e| e.0 == to).map(|e| e.2).collect();
            let before = next.iter().filter(|e: &&(usize, f64, f64)| e.0 == to).count();
            let in_kernel = of_kernel.iter().filter(|e| e.0 == to).count();
            assert!(listed.len() <= 1 || listed.len() == in_kernel, "{row:?} {of_kernel:?}");
            next.push((to, p, listed.get(before).copied().unwrap_or(0.0)));
        }
        *row = next;
    }
    build(&rows, model.discount())
}

#[test]
fn worst_kernels_have_the_value_of_the_worst_case() {
    let mut random = Xoshiro256::new(14);
    for case in 0..30 {
        let model = random_model(&mut random);
        for set in sets() {
            let solution = solved(&model, &set, None, 1e-8);
            let kernel = kernel_of(&model, &set, &solution);
            let worst = under(&model, &kernel);
            let none = UncertaintySet::none();
            let gap = Some(1e-8);
            let found =
                evaluate(&worst, &none, &solution.policy, gap, Some(1), &Interrupt::new()).unwrap();
            for s in 0..model.states() {
                let (a, b) = (found.nominal.values[s], solution.values[s]);
                // The kernel is worst at values that are off by the gap.
                assert!((a - b).abs() < 1e-4, "case {case}, {set:?}, state {s}: {a}, {b}");
            }
        }
    }
}

#[test]
fn files_keep_them_apart() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Xoshiro256::new(15);
    for _ in 0..20 {
        let model = random_model(&mut random);
        for (name, format) in [("m.json", Format::Json), ("m.npz", Format::Npz)] {
            let path = folder.path().join(name);
            assert!(write_model(&model, &path, None).unwrap().is_empty());
            let bytes = std::fs::read(&path).unwrap();
            let (again, _) =
                read_model(Source::in_memory(Path::new(name), &bytes), Some(format), None).unwrap();
            assert_eq!(again, model);
            assert_eq!(again.fingerprint(), model.fingerprint());
        }
        let path = folder.path().join("m.csv");
        let losses = write_model(&model, &path, None).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let discount = Some(model.discount());
        let (again, _) =
            read_model(Source::in_memory(&path, &bytes), Some(Format::Csv), discount).unwrap();
        assert_eq!(again.repeated_transitions(), model.repeated_transitions());
        // Sets that keep to the nominal support have the same answer; what others lose is warned of.
        let set = UncertaintySet::kl(0.2);
        let (one, other) = (solved(&model, &set, None, 1e-8), solved(&again, &set, None, 1e-8));
        overlap(&one, &other.lower, &other.upper, "CSV");
        let set = UncertaintySet::ellipsoid(0.2);
        if !losses.iter().any(|loss| loss.contains("not listed")) {
            let (one, other) = (solved(&model, &set, None, 1e-8), solved(&again, &set, None, 1e-8));
            overlap(&one, &other.lower, &other.upper, &format!("CSV: {losses:?}"));
        }
    }
}

/// Whatever unlisted next states cost, what is listed stays, also at a further cost of 0.
#[test]
fn other_costs_of_unlisted_states_leave_the_listed_ones() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Xoshiro256::new(16);
    for case in 0..60 {
        let model = random_model(&mut random);
        let wanted = random.below(8) as f64 - 2.0;
        let moved = model.clone().with_unlisted_cost(wanted).unwrap();
        let totals = |model: &Model| -> Vec<(usize, f64, f64)> {
            let of = |r: usize| {
                let row = model.row(r);
                row.listed().map(move |(to, p, c)| (to, p, ((row.cost + c) * 1e9).round()))
            };
            // What costs as much as an unlisted state, at probability 0, may be one.
            let tells = |e: &(usize, f64, f64)| e.1 > 0.0 || e.2 != wanted * 1e9;
            (0..model.rows()).flat_map(of).filter(tells).collect()
        };
        assert!(totals(&moved) == totals(&model), "case {case}");
        let set = UncertaintySet::ellipsoid(0.1);
        let exact = solved(&moved, &set, None, 1e-8);
        let start = exact.values.clone();
        let (lower, upper) = reference::value_bounds(&moved, &set, start, 1e-8, 4000);
        overlap(&exact, &lower, &upper, &format!("case {case}, reference"));
        for (name, format) in [("m.json", Format::Json), ("m.npz", Format::Npz)] {
            let path = folder.path().join(name);
            write_model(&moved, &path, None).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            let (again, _) =
                read_model(Source::in_memory(Path::new(name), &bytes), Some(format), None).unwrap();
            assert!(totals(&again) == totals(&moved), "case {case}, {name}");
            let other = solved(&again, &set, None, 1e-8);
            overlap(&exact, &other.lower, &other.upper, &format!("case {case}, {name}"));
        }
    }
}

/// Rows of far more entries than states round more than a row of all states does.
#[test]
fn long_rows_of_few_states_allow_for_their_rounding() {
    let entries = 100_003_u32;
    let mut b = ModelBuilder::new(0.0);
    b.add_state(None);
    b.add_action(None, 0.0);
    let cost = |k: u32| 1.0 + f64::from(k) / 7.0;
    let total: f64 = (0..entries).map(|k| 1.0 / cost(k)).sum();
    (0..entries).for_each(|k| b.add_transition(0, 1.0 / cost(k) / total, cost(k)));
    let model = b.build().unwrap();
    let value = |set: &UncertaintySet| {
        let gap = Some(1e-6);
        evaluate(&model, set, &[1.0], gap, Some(1), &Interrupt::new()).unwrap().worst
    };
    let (all, nominal) = (UncertaintySet::ellipsoid(0.0), UncertaintySet::none());
    let (all, nominal) = (value(&all), value(&nominal));
    let allowed = |v: &robust_mdp::PolicyValue| v.upper[0] - v.lower[0];
    assert!(allowed(&all) >= 0.5 * allowed(&nominal), "{} {}", allowed(&all), allowed(&nominal));
}

/// A kernel says what every entry gets and costs; as compressed rows it is a model of its own.
#[test]
fn files_of_kernels_say_what_entries_cost() {
    let folder = tempfile::tempdir().unwrap();
    let mut b = ModelBuilder::new(0.5).objective(Objective::MaxReward);
    b.add_state(None);
    b.add_action(None, 1.0);
    b.add_transition(1, 0.5, 4.0);
    b.add_transition(1, 0.5, 2.0);
    b.add_state(None);
    b.add_action(None, 3.0);
    b.add_transition(0, 1.0, 0.0);
    let model = b.build().unwrap();
    // So large a set puts all on the worse reward; the other is there with nothing.
    let set = UncertaintySet::kl(10.0);
    assert_eq!(set.distance, Distance::Kl);
    let solution = solved(&model, &set, None, 1e-9);
    let kernel = kernel_of(&model, &set, &solution);
    let mut row = |r: usize, out: &mut Vec<(u32, f64)>| {
        out.extend(kernel[r].iter().map(|&(to, p)| (to as u32, p)));
    };
    let path = folder.path().join("k.csv");
    write_kernel(&path, &model, &mut row).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let expected =
        "state,action,next,probability,reward\n0,0,1,1.0,3.0\n0,0,1,0.0,5.0\n1,0,0,1.0,3.0\n";
    assert_eq!(text, expected);
    let path = folder.path().join("k.npz");
    write_kernel(&path, &model, &mut row).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let (worst, _) =
        read_model(Source::in_memory(&path, &bytes), Some(Format::Npz), Some(0.5)).unwrap();
    let value = solved(&worst, &UncertaintySet::none(), None, 1e-9).values[0];
    assert!((value - solution.values[0]).abs() < 1e-6, "{value} {}", solution.values[0]);
}
