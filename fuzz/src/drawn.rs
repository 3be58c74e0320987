//! Random problems of every kind, one a seed: sizes 1 to 60, discounts up to 0.9999, radii from 0 to
//! vacuous, ties, terminal states, tiny probabilities, costs of all sizes and signs.

use robust_mdp::instances::Xoshiro256;
use robust_mdp::sets::{
    Distance, EntryWeights, Ground, Needs, Radius, Scenarios, Support, UncertaintySet,
};
use robust_mdp::{Model, ModelBuilder, Objective};

/// A problem and the gap to ask for.
pub struct Problem {
    /// The model.
    pub model: Model,
    /// Where nature chooses from.
    pub set: UncertaintySet,
    /// The gap to ask for: above what rounding leaves.
    pub gap: f64,
    /// Sizes and kinds, for a reader.
    pub label: String,
}

/// Draws from a list.
fn one_of<T: Copy>(list: &[T], random: &mut Xoshiro256) -> T {
    list[random.below(list.len() as u64) as usize]
}

fn chance(share: f64, random: &mut Xoshiro256) -> bool {
    random.uniform() < share
}

fn up_to(n: usize, random: &mut Xoshiro256) -> usize {
    1 + random.below(n as u64) as usize
}

/// How rows are drawn.
struct Rows {
    /// Next states of a row.
    most: usize,
    /// How far from a state they lie.
    reach: usize,
    ties: bool,
    /// Weights are uniform to this power: a large one makes tiny probabilities.
    power: f64,
    costs: f64,
    shift: f64,
    on_next: bool,
    /// Whether next states may come at two costs.
    repeats: bool,
    intervals: bool,
}

/// The problem of a seed.
pub fn problem(seed: u64) -> Problem {
    let random = &mut Xoshiro256::new(seed);
    let states = match random.below(4) {
        0 => up_to(60, random),
        _ => up_to(12, random),
    };
    let discount = one_of(&[0.0, 0.3, 0.8, 0.95, 0.99, 0.999, 0.9999], random);
    let near = chance(0.3, random);
    let distance = one_of(Distance::ALL, random);
    let rows = Rows {
        most: if chance(0.5, random) { states } else { states.min(3) },
        reach: if near { 1 + states / 8 } else { states },
        ties: chance(0.25, random),
        power: if chance(0.15, random) { 30.0 } else { 1.0 },
        costs: one_of(&[1.0, 1.0, 1.0, 10.0, 1e-8, 1e8], random),
        shift: if chance(0.2, random) { 1e3 } else { 0.0 },
        on_next: chance(0.25, random),
        repeats: distance.needs() != Needs::Ground,
        intervals: distance.needs() == Needs::Intervals,
    };
    let terminal = if chance(0.3, random) { 0.2 } else { 0.0 };
    let model = model(states, discount, &rows, terminal, random);
    let set = set(distance, &model, random);
    // Values of size c/(1 − λ) have roundings of a few 1e-16 of that, which grow by 1/(1 − λ) again.
    let gap = 1e-6 * model.largest_cost().max(1e-12);
    let label = format!(
        "{states} states, {} rows, discount {discount}, costs {:e}, {:?} {:?} {:?}",
        model.rows(),
        rows.costs,
        set.distance,
        set.rectangularity,
        set.support
    );
    Problem { model, set, gap, label }
}

fn model(
    states: usize,
    discount: f64,
    rows: &Rows,
    terminal: f64,
    random: &mut Xoshiro256,
) -> Model {
    let mut builder = ModelBuilder::new(discount);
    if chance(0.3, random) {
        builder.set_objective(Objective::MaxReward);
    }
    let most_actions = one_of(&[1, 3, 6], random);
    let mut acting = false;
    for s in 0..states {
        builder.add_state(None);
        if chance(terminal, random) && (acting || s + 1 < states) {
            builder.mark_terminal();
            continue;
        }
        acting = true;
        for _ in 0..up_to(most_actions, random) {
            add_row(&mut builder, s, states, rows, random);
        }
    }
    builder.build().expect("a valid model")
}

fn add_row(
    builder: &mut ModelBuilder,
    s: usize,
    states: usize,
    rows: &Rows,
    random: &mut Xoshiro256,
) {
    let level = if rows.ties { random.below(3) as f64 } else { 2.0 * random.uniform() - 1.0 };
    builder.add_action(None, rows.costs * (level + rows.shift));
    let first = s.saturating_sub(rows.reach);
    let mut next: Vec<usize> = (first..states.min(s + rows.reach + 1)).collect();
    let count = up_to(rows.most.min(next.len()), random);
    for k in 0..count {
        let other = k + random.below((next.len() - k) as u64) as usize;
        next.swap(k, other);
    }
    let weight = |random: &mut Xoshiro256| match rows.ties {
        true => 1.0,
        false => random.uniform().powf(rows.power) + 1e-200,
    };
    let weights: Vec<f64> = (0..count).map(|_| weight(random)).collect();
    let total: f64 = weights.iter().sum();
    for (&next, weight) in next.iter().zip(&weights) {
        let further = |random: &mut Xoshiro256| match rows.on_next {
            true => rows.costs * (random.uniform() - 0.5),
            false => 0.0,
        };
        // Some next states come at two costs.
        let repeats = rows.on_next && rows.repeats && chance(0.2, random);
        let parts = if repeats { 2 } else { 1 };
        for _ in 0..parts {
            let (p, further) = (weight / total / f64::from(parts), further(random));
            match rows.intervals {
                true => builder.add_interval(next, Some(p), bounds(p, random), further),
                false => builder.add_transition(next, p, further),
            }
        }
    }
}

/// An interval around p: of no width, to an end, or anything between.
fn bounds(p: f64, random: &mut Xoshiro256) -> [f64; 2] {
    let mut way = || match random.below(4) {
        0 => 0.0,
        1 => 1.0,
        _ => random.uniform(),
    };
    [p - way() * p, p + way() * (1.0 - p).max(0.0)]
}

/// What the set is told of entries.
fn told(set: UncertaintySet, model: &Model, random: &mut Xoshiro256) -> UncertaintySet {
    let states = model.states();
    let weight = |random: &mut Xoshiro256| 10f64.powf(2.0 * random.uniform() - 1.0);
    match set.distance.needs() {
        Needs::Nothing | Needs::Intervals => set,
        Needs::Weights if chance(0.3, random) => set,
        Needs::Weights => {
            let by_transition =
                chance(0.5, random) && (model.is_dense() || set.support == Support::Nominal);
            let count = if by_transition { model.transitions() } else { states };
            let weights = (0..count).map(|_| weight(random)).collect();
            set.with_entry_weights(match by_transition {
                true => EntryWeights::PerTransition(weights),
                false => EntryWeights::PerState(weights),
            })
        }
        Needs::Ground if chance(0.6, random) => {
            // Apart, in any order.
            let place = |s: usize| (7919 * s % 1009) as f64 + 0.5 * random.uniform();
            set.with_ground(Ground::line((0..states).map(place).collect()))
        }
        Needs::Ground => {
            let mut cost = |k: usize| if k / states == k % states { 0.0 } else { weight(random) };
            set.with_ground(Ground::Matrix((0..states * states).map(&mut cost).collect()))
        }
        Needs::Scenarios => {
            let mut kernels = vec![Vec::new(); up_to(9, random)];
            for kernel in &mut kernels {
                (0..model.rows()).for_each(|r| kernel.extend(scenario(model.row(r).prob, random)));
            }
            set.with_scenarios(Scenarios::new(model, &kernels).expect("distributions"))
        }
    }
}

/// Any row, one on few next states, the nominal one or one next to it.
fn scenario(p: &[f64], random: &mut Xoshiro256) -> Vec<f64> {
    let near = one_of(&[0.0, 1.0, 1.0, 1.0, 1e-6], random);
    let few = chance(0.3, random);
    let kept = random.below(p.len() as u64) as usize;
    let share = |(j, _): (usize, &f64)| match few && j != kept && chance(0.7, random) {
        true => 0.0,
        false => 1e-9 + random.uniform(),
    };
    let any: Vec<f64> = p.iter().enumerate().map(share).collect();
    let sum: f64 = any.iter().sum();
    p.iter().zip(any).map(|(p, y)| p + near * (y / sum - p)).collect()
}

fn set(distance: Distance, model: &Model, random: &mut Xoshiro256) -> UncertaintySet {
    let radius = match random.below(4) {
        0 => one_of(&[0.0, 1e-12, 1e-6, 1e3], random),
        _ => 10f64.powf(4.0 * random.uniform() - 3.0),
    };
    let mut set = UncertaintySet::new(distance, radius);
    if set.distance == Distance::None {
        return UncertaintySet::none();
    }
    if chance(0.5, random) {
        set = set.on_nominal_support();
    }
    let set = told(set, model, random);
    let by_action = chance(0.4, random) || distance.set().is_some_and(|set| !set.adds_up());
    let set = match (by_action, chance(0.2, random)) {
        (true, _) => set.per_action(),
        (false, true) => {
            let weight = |_| 10f64.powf(4.0 * random.uniform() - 2.0);
            set.with_weights((0..model.rows()).map(weight).collect())
        }
        (false, false) => set,
    };
    let mut budget = |_| if chance(0.3, random) { 0.0 } else { radius * random.uniform() };
    match model.states() % 4 {
        0 => set.with_radius(Radius::PerState((0..model.states()).map(&mut budget).collect())),
        1 if by_action => {
            set.with_radius(Radius::PerRow((0..model.rows()).map(&mut budget).collect()))
        }
        _ => set,
    }
}
