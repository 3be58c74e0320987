//! The exact update of every set against conic programs that say no more than what the set is:
//!   F(v)_s = max u  over  ⟨b_a, y_a⟩ ≥ u,  Σ_a κ_a·D_a ≤ α (or D_a ≤ α_a),  D_a ≥ d(y_a, p_a),  y_a a row.
//! A solver meets its constraints to 1e-8 or so, and small budgets are worth roots of that: its answer must lie
//! between the exact ones of budgets that much smaller and larger.

mod cases;
mod program;
mod reference;

use cases::Case;
use program::{Affine, Program};
use reference::{Entry, FAMILIES, Family, entries, known};
use robust_mdp::Oracle;
use robust_mdp::measure::bellman;
use robust_mdp::sets::{Distance, Ground, Needs, Radius, Rectangularity, UncertaintySet};

/// Programs of every family that must be solved, and where there is time.
const FEW: usize = 400;
const MANY: usize = 10_000;
/// The share of programs that the solver must manage.
const SOLVED: f64 = 0.85;
/// How closely it meets budgets, and values of the size of the objectives' range.
const BUDGET: f64 = 1e-6;
const VALUE: f64 = 1e-6;

fn variable(x: usize) -> Affine {
    (vec![(x, 1.0)], 0.0)
}

/// scale·x + shift.
fn affine(x: usize, scale: f64, shift: f64) -> Affine {
    (vec![(x, scale)], shift)
}

fn constant(c: f64) -> Affine {
    (Vec::new(), c)
}

/// A variable D ≥ d(y, p), one line a set.
fn distance(
    of: Distance,
    program: &mut Program,
    entries: &[Entry],
    y: &[usize],
    ground: Option<&Ground>,
) -> usize {
    let d = program.variable();
    let n = entries.len();
    let row = || entries.iter().zip(y.iter().copied());
    if of.needs() == Needs::Intervals {
        inside(program, entries, y);
    }
    match of {
        Distance::None | Distance::Custom(_) => unreachable!("sets of the library alone"),
        Distance::L1 => sum_of_sides(program, d, entries, y, |e| e.weight),
        Distance::L1Within => sum_of_sides(program, d, entries, y, |_| 1.0),
        Distance::Tv => sum_of_sides(program, d, entries, y, |_| 0.5),
        // ½Σw(y − p)² ≤ D.
        Distance::Ellipsoid | Distance::EllipsoidWithin => ball(program, d, entries, y, |_| 0.5),
        Distance::L2 => ball(program, d, entries, y, |e| 0.5 * e.weight),
        Distance::Chi2 | Distance::Chi2Within => ball(program, d, entries, y, |e| 1.0 / e.p),
        Distance::Kl | Distance::KlWithin => entropy(program, d, entries, y),
        // D ≥ Σr, r(u − p) ≥ y − p, r(p − l) ≥ p − y, 0 ≤ r.
        Distance::CountWithin => {
            let mut spent = (vec![(d, 1.0)], 0.0);
            for (e, y) in row() {
                let r = program.variable();
                program.at_least_zero(variable(r));
                program.at_least_zero((vec![(r, e.upper - e.p), (y, -1.0)], e.p));
                program.at_least_zero((vec![(r, e.p - e.lower), (y, 1.0)], -e.p));
                spent.0.push((r, -1.0));
            }
            program.at_least_zero(spent);
        }
        // D ≥ ± w(y − p).
        Distance::Linf => row().for_each(|(e, y)| {
            program.at_least_zero((vec![(d, 1.0), (y, e.weight)], -e.weight * e.p));
            program.at_least_zero((vec![(d, 1.0), (y, -e.weight)], e.weight * e.p));
        }),
        // y ≥ (1 − D)p.
        Distance::Contamination => {
            row().for_each(|(e, y)| program.at_least_zero((vec![(y, 1.0), (d, e.p)], -e.p)))
        }
        // y ≤ (1 + D)p.
        Distance::Cvar => {
            row().for_each(|(e, y)| program.at_least_zero((vec![(y, -1.0), (d, e.p)], e.p)))
        }
        // p + D(l − p) ≤ y ≤ p + D(u − p), D ≤ 1.
        Distance::Interval => {
            program.at_least_zero(affine(d, -1.0, 1.0));
            for (e, y) in row() {
                program.at_least_zero((vec![(y, 1.0), (d, e.p - e.lower)], -e.p));
                program.at_least_zero((vec![(y, -1.0), (d, e.upper - e.p)], e.p));
            }
        }
        // y = p + Σw(y^k − p), D ≥ Σw, D ≤ 1.
        Distance::Scenarios => {
            program.at_least_zero(affine(d, -1.0, 1.0));
            let w: [usize; 4] = std::array::from_fn(|_| program.variable());
            w.iter().for_each(|&w| program.at_least_zero(variable(w)));
            let spent = w.iter().map(|&w| (w, -1.0)).chain([(d, 1.0)]);
            program.at_least_zero((spent.collect(), 0.0));
            for (e, y) in row() {
                let ways = w.iter().zip(e.scenarios).map(|(&w, to)| (w, e.p - to));
                program.zero((ways.chain([(y, 1.0)]).collect(), -e.p));
            }
        }
        // A plan π ≥ 0 that moves p to y.
        Distance::Wasserstein => {
            let plan: Vec<usize> = (0..n * n).map(|_| program.variable()).collect();
            let mut spent = (vec![(d, 1.0)], 0.0);
            for j in 0..n {
                let from = (0..n).map(|i| (plan[j * n + i], 1.0)).collect();
                program.zero((from, -entries[j].p));
                let to = (0..n).map(|i| (plan[i * n + j], 1.0)).chain([(y[j], -1.0)]);
                program.zero((to.collect(), 0.0));
                for i in 0..n {
                    program.at_least_zero(variable(plan[j * n + i]));
                    let cost = ground.expect("costs").cost(entries[j].state, entries[i].state);
                    spent.0.push((plan[j * n + i], -cost));
                }
            }
            program.at_least_zero(spent);
        }
        // r ≥ p ln(p/y): y ≥ p·e^(−r/p).
        Distance::Burg | Distance::BurgWithin => {
            let mut spent = (vec![(d, 1.0)], 0.0);
            for (e, y) in row().filter(|(e, _)| e.p > 0.0) {
                let r = program.variable();
                program.exponential([affine(r, -1.0, 0.0), constant(e.p), variable(y)]);
                spent.0.push((r, -1.0));
            }
            program.at_least_zero(spent);
        }
        // Σ(√y − √p)² = 2 − 2Σr, r ≤ √(py).
        Distance::Hellinger | Distance::HellingerWithin => {
            let mut spent = (vec![(d, 1.0)], -2.0);
            for (e, y) in row().filter(|(e, _)| e.p > 0.0) {
                let r = program.variable();
                program.cone(vec![affine(y, 1.0, e.p), affine(y, 1.0, -e.p), affine(r, 2.0, 0.0)]);
                spent.0.push((r, 2.0));
            }
            program.at_least_zero(spent);
        }
        // Σ(y − p)²/y = Σr − 1, r·y ≥ p²; with r = p·s and y = p·x: s·x ≥ 1.
        Distance::Neyman | Distance::NeymanWithin => {
            let mut spent = (vec![(d, 1.0)], 1.0);
            for (e, y) in row().filter(|(e, _)| e.p > 0.0) {
                let s = program.variable();
                let side = |sign: f64| (vec![(s, 1.0), (y, sign / e.p)], 0.0);
                program.cone(vec![side(1.0), side(-1.0), constant(2.0)]);
                spent.0.push((s, -e.p));
            }
            program.at_least_zero(spent);
        }
    }
    d
}

/// D ≥ Σw|y − p|.
fn sum_of_sides(
    program: &mut Program,
    d: usize,
    entries: &[Entry],
    y: &[usize],
    w: fn(&Entry) -> f64,
) {
    let mut spent = (vec![(d, 1.0)], 0.0);
    for (e, &y) in entries.iter().zip(y) {
        let r = program.variable();
        program.at_least_zero((vec![(r, 1.0), (y, 1.0)], -e.p));
        program.at_least_zero((vec![(r, 1.0), (y, -1.0)], e.p));
        spent.0.push((r, -w(e)));
    }
    program.at_least_zero(spent);
}

/// D ≥ Σw(y − p)²: ‖(2√w(y − p), D − 1)‖ ≤ D + 1.
fn ball(program: &mut Program, d: usize, entries: &[Entry], y: &[usize], w: fn(&Entry) -> f64) {
    let mut cone = vec![affine(d, 1.0, 1.0), affine(d, 1.0, -1.0)];
    let sides = entries.iter().zip(y).map(|(e, &y)| {
        let root = 2.0 * w(e).sqrt();
        affine(y, root, -root * e.p)
    });
    cone.extend(sides);
    program.cone(cone);
}

/// D ≥ Σr, r ≥ y ln(y/p): y·e^(−r/y) ≤ p.
fn entropy(program: &mut Program, d: usize, entries: &[Entry], y: &[usize]) {
    let mut spent = (vec![(d, 1.0)], 0.0);
    for (e, &y) in entries.iter().zip(y) {
        let r = program.variable();
        program.exponential([affine(r, -1.0, 0.0), variable(y), constant(e.p)]);
        spent.0.push((r, -1.0));
    }
    program.at_least_zero(spent);
}

/// l ≤ y ≤ u.
fn inside(program: &mut Program, entries: &[Entry], y: &[usize]) {
    for (e, &y) in entries.iter().zip(y) {
        program.at_least_zero(affine(y, 1.0, -e.lower));
        program.at_least_zero(affine(y, -1.0, e.upper));
    }
}

/// A state of a case: its rows, κ and budgets.
struct State {
    rows: Vec<(Vec<Entry>, f64, f64)>,
    shared: bool,
    /// The size of |b|, and of the differences between them.
    size: f64,
    range: f64,
}

impl State {
    fn new(case: &Case, s: usize) -> State {
        let Case { model, set, values, .. } = case;
        let opens = known(set).opens(set.distance);
        // Rows of dense models share λ(v − max v): their precision is that of all values.
        let mut size = values.iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
        let row = |r: usize| {
            let entries = entries(model, set, r, values, opens, &mut size);
            (entries, set.weight_at(r), set.radius_at(s, r))
        };
        let rows: Vec<_> = model.rows_of(s).map(row).collect();
        let all = || rows.iter().flat_map(|row| row.0.iter().map(|e| e.b));
        let range = all().fold(f64::MIN, f64::max) - all().fold(f64::MAX, f64::min);
        let shared = set.rectangularity == Rectangularity::State;
        State { rows, shared, size, range }
    }

    /// Numbers that a conic solver copes with: no tiny probabilities or intervals, nor large prices where there is
    /// no largest.
    fn is_tame(&self, set: &UncertaintySet) -> bool {
        let entries = || self.rows.iter().flat_map(|row| &row.0);
        let most = match set.distance {
            Distance::Burg | Distance::BurgWithin => 10.0,
            Distance::Neyman | Distance::NeymanWithin => 10.0,
            _ => 1e4,
        };
        let wide = |far: f64| far <= 0.0 || far >= 1e-4;
        let within = set.distance.needs() == Needs::Intervals;
        self.range > 1e-6 * self.size
            && (!within || entries().all(|e| wide(e.p - e.lower) && wide(e.upper - e.p)))
            && entries().count() <= 40
            && entries().all(|e| e.p == 0.0 || e.p >= 1e-4)
            && self.rows.iter().all(|row| row.2 == 0.0 || (1e-6..most).contains(&row.2))
    }

    /// F, if the solver finds it.
    fn solve(&self, set: &UncertaintySet) -> Option<f64> {
        // Objectives from 0 to 1.
        let entries = || self.rows.iter().flat_map(|row| &row.0);
        let lowest = entries().map(|e| e.b).fold(f64::MAX, f64::min);
        let mut program = Program::new();
        let u = program.variable();
        let mut spent = (Vec::new(), self.rows[0].2);
        for (entries, kappa, radius) in &self.rows {
            let y: Vec<usize> = entries.iter().map(|_| program.variable()).collect();
            y.iter().for_each(|&y| program.at_least_zero(variable(y)));
            program.zero((y.iter().map(|&y| (y, 1.0)).collect(), -1.0));
            let worth = entries.iter().zip(&y).map(|(e, &y)| (y, (e.b - lowest) / self.range));
            program.at_least_zero((worth.chain([(u, -1.0)]).collect(), 0.0));
            let d = distance(set.distance, &mut program, entries, &y, set.ground.as_deref());
            spent.0.push((d, -kappa));
            if !self.shared {
                program.at_least_zero(affine(d, -1.0, *radius));
            }
        }
        if self.shared {
            program.at_least_zero(spent);
        }
        program.maximum_of(u).map(|u| lowest + self.range * u)
    }
}

/// The same case with budgets moved by `by`, relative to α + max κ.
fn with_budgets(case: &Case, by: f64) -> UncertaintySet {
    let largest = case.set.weights.iter().flatten().copied().fold(1.0, f64::max);
    let moved = |radius: f64| (radius + by * (radius + largest)).max(0.0);
    let radius = match &case.set.radius {
        Radius::Uniform(radius) => Radius::Uniform(moved(*radius)),
        Radius::PerState(radii) => Radius::PerState(radii.iter().copied().map(moved).collect()),
        Radius::PerRow(radii) => Radius::PerRow(radii.iter().copied().map(moved).collect()),
    };
    case.set.clone().with_radius(radius)
}

fn compare(family: Family, programs: usize) {
    let start = std::time::Instant::now();
    let (mut tried, mut solved, mut sharp, mut misses) = (0, 0, 0, Vec::new());
    for seed in 0.. {
        let mut case = Case::new(family, seed);
        if case.model.states() > 24 || case.set.distance.set().is_none() {
            continue;
        }
        if seed % 3 == 0 {
            case = case.weighted().unwrap_or_else(|| Case::new(family, seed));
        }
        let update = |set: &UncertaintySet| {
            let (lower, upper, _) = bellman(&case.model, set, Oracle::Exact, &case.values).unwrap();
            [lower, upper]
        };
        let below = &update(&with_budgets(&case, -BUDGET))[0];
        let above = &update(&with_budgets(&case, BUDGET))[1];
        for s in (0..case.model.states()).filter(|&s| !case.model.is_terminal(s)) {
            let state = State::new(&case, s);
            if !state.is_tame(&case.set) {
                continue;
            }
            tried += 1;
            let Some(found) = state.solve(&case.set) else { continue };
            solved += 1;
            let slack = VALUE * state.range;
            sharp += usize::from(above[s] - below[s] <= 10.0 * slack);
            if !(below[s] - slack <= found && found <= above[s] + slack) {
                misses.push(format!(
                    "Case::new({family:?}, {seed}), state {s}: {found:e} is not in [{:e}, {:e}] of range {:e}\n  {}",
                    below[s], above[s], state.range, case.traits.join(", ")
                ));
            }
        }
        if solved >= programs {
            break;
        }
        assert!(tried < 1000 || solved > tried / 2, "{family:?}: {solved} of {tried} are solved");
    }
    println!("{family:?}: {solved} of {tried} solved, {sharp} sharply, in {:.1?}", start.elapsed());
    let shown = misses.iter().take(5).cloned().collect::<Vec<_>>().join("\n");
    assert!(misses.is_empty(), "{family:?}: {} of {solved} miss\n{shown}", misses.len());
    assert!(solved as f64 >= SOLVED * tried as f64, "{family:?}: {solved} of {tried} solved");
    assert!(sharp > solved / 2, "{family:?}: {sharp} of {solved} say much");
}

fn all(programs: usize) {
    let halves = [0, 1].map(|half| FAMILIES.iter().skip(half).step_by(2));
    std::thread::scope(|scope| {
        for half in halves {
            scope.spawn(move || half.for_each(|family| compare(*family, programs)));
        }
    });
}

#[test]
fn programs_agree() {
    all(FEW);
}

/// The same for long: `./check --full` runs it, optimised.
#[test]
#[ignore = "takes minutes"]
fn programs_agree_for_long() {
    all(MANY);
}
