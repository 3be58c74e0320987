//! The exact oracle agrees with the plain sort-and-bisect reference on a hundred thousand random
//! updates, degenerate ones of every kind among them; the other oracles enclose the same values.

mod cases;
mod reference;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cases::Case;
use reference::{FAMILIES, Family, State};
use robust_mdp::Oracle;
use robust_mdp::measure::{bellman, exact_in_place, exact_sweeps};
use robust_mdp::sets::{Distance, Radius, Rectangularity, UncertaintySet};

/// How closely bounds must hold the reference and each other, relative to the largest |c|, |λv|
/// and |b| of the state: the contract.
const AGREEMENT: f64 = 1e-10;
/// How far an iterative oracle's bounds may miss the value, by the same measure.
const CONTAINMENT: f64 = 1e-9;
/// Updates of every family of sets.
const UPDATES: usize = 40_000;
/// Updates of families whose reference is slow, and of each of them where there is time.
const SLOW: usize = 150;
const MANY: usize = 10_000;
/// Updates of every family for the iterative oracles.
const ENCLOSED: usize = 100;
/// The fewest updates that a trait must have taken part in.
const LEAST: usize = 200;
/// How closely a chain must reproduce a value, by the same measure: it feeds a linear system.
const CHAIN: f64 = 1e-8;
/// Cases of every family that are swept again and again.
const JOURNEYS: u64 = 200;
/// Cases with a failure that are printed in full.
const SHOWN: usize = 5;
/// Traits that are named with a failure, those that fail most often first.
const TRAITS: usize = 12;

/// What happened in many updates.
#[derive(Default)]
struct Record {
    updates: usize,
    failures: usize,
    shown: Vec<String>,
    /// The latest case with a failure.
    latest: Option<u64>,
    /// Updates and failures of every trait.
    traits: BTreeMap<String, (usize, usize)>,
    /// The largest error and width, relative to the scale.
    error: f64,
    width: f64,
}

impl Record {
    fn add(&mut self, case: &Case, trouble: Option<String>) {
        self.updates += 1;
        let failed = usize::from(trouble.is_some());
        self.failures += failed;
        for name in &case.traits {
            let counts = self.traits.entry(name.clone()).or_default();
            *counts = (counts.0 + 1, counts.1 + failed);
        }
        // The first of a case, so that a few show different ones.
        if let Some(trouble) = trouble.filter(|_| self.latest != Some(case.seed)) {
            self.latest = Some(case.seed);
            self.shown.extend(Some(trouble).filter(|_| self.shown.len() < SHOWN));
        }
    }

    /// Panics with the first failures and the traits that fail most.
    fn judge(mut self, family: Family) {
        if self.failures > 0 {
            let mut worst: Vec<_> = std::mem::take(&mut self.traits).into_iter().collect();
            worst.retain(|(_, (_, failed))| *failed > 0);
            worst.sort_by(|(_, a), (_, b)| (b.1 * a.0).cmp(&(a.1 * b.0)));
            let lines = worst.iter().take(TRAITS);
            let lines = lines.map(|(name, (all, failed))| format!("{name} {failed}/{all}"));
            panic!(
                "{family:?}: {} of {} updates fail\n{}\nby trait: {}",
                self.failures,
                self.updates,
                self.shown.join("\n"),
                lines.collect::<Vec<_>>().join(", ")
            );
        }
    }
}

/// One state's answer of an oracle.
#[derive(Debug)]
struct Answer<'a> {
    lower: f64,
    upper: f64,
    policy: &'a [f64],
}

/// The reference of a state, with the scale that the exact oracle answers for.
fn state_of(case: &Case, s: usize, values: &[f64]) -> State {
    let Case { model, set, .. } = case;
    let mut state = State::new(model, set, s, values);
    // Rows of such models share λ(v − max v): their precision is that of all values.
    if model.is_dense() && !model.has_transition_costs() {
        let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        state.scale = state.scale.max(model.discount() * largest);
    }
    state
}

/// Hands every update of a case to `check` with the state's reference and the oracle's answer.
fn visit(
    case: &Case,
    oracle: Oracle,
    record: &mut Record,
    check: &dyn Fn(&State, &Answer<'_>, &mut Record) -> Result<(), String>,
) {
    let Case { model, set, values, .. } = case;
    let answer = catch_unwind(AssertUnwindSafe(|| bellman(model, set, oracle, values)));
    let answer = match answer {
        Ok(answer) => answer.map_err(|error| error.to_string()),
        Err(_) => Err("it panics".to_owned()),
    };
    for s in 0..model.states() {
        let rows = model.rows_of(s);
        let trouble = match &answer {
            Err(error) => Err(error.clone()),
            Ok((lower, upper, policy)) => {
                let (lower, upper) = (lower[s], upper[s]);
                let answer = Answer { lower, upper, policy: &policy[rows.clone()] };
                check(&state_of(case, s, values), &answer, record)
            }
        };
        // A terminal state is checked but is no update.
        if !rows.is_empty() || trouble.is_err() {
            record.add(case, trouble.err().map(|what| describe(case, s, &what)));
        }
    }
}

/// A case in one line, with the state's rows where they are short.
fn describe(case: &Case, s: usize, what: &str) -> String {
    let Case { family, seed, model, set, values, traits, .. } = case;
    let rows = model.rows_of(s);
    let radii: Vec<f64> = rows.clone().map(|r| set.radius_at(s, r)).collect();
    let mut text = format!(
        "Case::new({family:?}, {seed}), state {s} of {}: {what}\n  {}\n  radii {radii:?}",
        model.states(),
        traits.join(", ")
    );
    for r in rows.clone() {
        let listed = |e: &(usize, f64, f64)| e.1 > 0.0 || e.2 != 0.0;
        let entries: Vec<_> = model.row(r).entries().filter(listed).collect();
        if entries.len() <= 8 && rows.len() <= 5 {
            text += &format!("\n  cost {:e}, (next, p, toll) {entries:?}", model.row(r).cost);
        }
    }
    if values.len() <= 24 {
        text += &format!("\n  values {values:?}");
    }
    text
}

fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// The contract of the exact oracle.
fn agrees(state: &State, answer: &Answer<'_>, record: &mut Record) -> Result<(), String> {
    let &Answer { lower, upper, policy } = answer;
    let expected = state.update();
    let slack = AGREEMENT * state.scale;
    let relative = |x: f64| x / state.scale;
    record.width = record.width.max(relative(upper - lower));
    record.error = record.error.max(relative((0.5 * (lower + upper) - expected).abs()));
    let off = |by: f64| format!("{:e} of the scale {:e}", relative(by), state.scale);
    // NaN fails every comparison.
    require(lower <= expected + slack, || {
        format!("lower {lower:e} > {expected:e} by {}", off(lower - expected))
    })?;
    require(upper >= expected - slack, || {
        format!("upper {upper:e} < {expected:e} by {}", off(expected - upper))
    })?;
    require(upper - lower <= slack, || {
        format!("bounds {lower:e}, {upper:e} are apart by {}", off(upper - lower))
    })?;
    if policy.is_empty() {
        return Ok(());
    }
    let total: f64 = policy.iter().sum();
    let distribution = (total - 1.0).abs() <= 1e-12 && policy.iter().all(|x| *x >= 0.0);
    require(distribution, || format!("no distribution: {policy:?}"))?;
    let worst = state.worst_case(policy);
    require(worst <= upper + slack, || {
        format!("{policy:?} costs {worst:e} > {upper:e} by {}", off(worst - upper))
    })
}

fn compare(family: Family, updates: usize) {
    let start = std::time::Instant::now();
    let mut record = Record::default();
    for seed in 0.. {
        let case = Case::new(family, seed);
        // Wide models would take most of the time.
        if case.is_slow() && seed % 8 > 0 {
            continue;
        }
        visit(&case, Oracle::Exact, &mut record, &agrees);
        if record.updates >= updates {
            break;
        }
    }
    // Fewer updates need not meet everything.
    let least = if updates < UPDATES { 0 } else { LEAST };
    for (name, (updates, _)) in &record.traits {
        assert!(*updates >= least, "{name}: {updates} updates only");
    }
    println!(
        "{family:?}: {} updates in {:.1?}, error ≤ {:.1e}, width ≤ {:.1e} of the scale",
        record.updates,
        start.elapsed(),
        record.error,
        record.width
    );
    record.judge(family);
}

#[test]
fn exact_on_ellipsoids_with_mass_everywhere() {
    compare(FAMILIES[0], UPDATES);
}

#[test]
fn exact_on_ellipsoids_on_the_nominal_support() {
    compare(FAMILIES[1], UPDATES);
}

#[test]
fn exact_on_kl_sets() {
    compare(FAMILIES[2], UPDATES);
}

/// Every set has its line in the table.
#[test]
fn every_set_is_compared() {
    for distance in Distance::ALL.iter().filter(|distance| distance.set().is_some()) {
        let found = FAMILIES.iter().any(|family| (family.set)().distance == *distance);
        assert!(found, "{distance:?} has no line in tests/reference/families.rs");
    }
}

/// All other sets, whose references are slow.
#[test]
fn exact_on_every_other_set() {
    slow(SLOW);
}

/// The same for long: `./check --full` runs it, optimised.
#[test]
#[ignore = "takes minutes"]
fn exact_on_every_other_set_for_long() {
    slow(MANY);
}

fn slow(updates: usize) {
    let families: Vec<_> = FAMILIES.iter().filter(|family| family.known.is_slow()).collect();
    std::thread::scope(|scope| {
        // Two at a time.
        let halves = [0, 1].map(|half| families.iter().skip(half).step_by(2));
        for half in halves {
            scope.spawn(move || half.for_each(|family| compare(**family, updates)));
        }
    });
}

fn journeys(family: Family) -> u64 {
    if family.known.is_slow() { JOURNEYS / 50 } else { JOURNEYS }
}

/// The most states of a case that is swept again and again.
fn longest(family: Family) -> usize {
    if family.known.is_slow() { 12 } else { 60 }
}

/// The values of several sweeps: the case's own, near ones, far ones and back again.
fn journey(case: &Case) -> Vec<Vec<f64>> {
    let moved = |by: f64| -> Vec<f64> {
        let pattern = |s: usize| ((s * 7919 + 13) % 1009) as f64 / 1009.0 - 0.5;
        let size = case.values.iter().fold(1e-9_f64, |m, v| m.max(v.abs()));
        case.values.iter().enumerate().map(|(s, v)| v + by * size * pattern(s)).collect()
    };
    [0.0, 1e-9, 1e-3, 2.0, -1.0, -1.001, 0.0, 1e-6].into_iter().map(moved).collect()
}

/// A chain row is a distribution that reproduces the value, where costs do not depend on the next
/// state.
fn reproduces(case: &Case, s: usize, values: &[f64], value: f64, x: &[f64], chain: &[f64]) -> bool {
    let Case { model, .. } = case;
    let row = &chain[s * model.states()..(s + 1) * model.states()];
    let mass: f64 = row.iter().sum();
    let cost: f64 = model.rows_of(s).map(|r| x[r] * model.row(r).cost).sum();
    let later: f64 = row.iter().zip(values).map(|(p, v)| p * v).sum();
    let scale = state_of(case, s, values).scale;
    let precise = (cost + model.discount() * later - value).abs() <= CHAIN * scale;
    (mass - 1.0).abs() <= CHAIN
        && row.iter().all(|p| *p >= 0.0)
        && (precise || model.has_transition_costs())
}

/// Sweeps with the memory of those before, for both players and for fixed policies, agree like
/// first ones, and their chains stand for their values.
#[test]
fn exact_sweeps_agree_after_others() {
    sweeps_agree_after_others(false);
}

/// The same of the driver that needs no more of a set than the price of a row.
#[test]
fn bracketed_sweeps_agree_after_others() {
    sweeps_agree_after_others(true);
}

fn sweeps_agree_after_others(bracketed: bool) {
    let mut failures = Vec::new();
    for family in FAMILIES.iter().copied() {
        for seed in 0..journeys(family) {
            let case = Case::new(family, seed);
            if case.model.states() > longest(family) {
                continue;
            }
            let mut record = Record::default();
            let mut sweeps: Vec<_> = journey(&case).into_iter().map(|v| (v, None)).collect();
            let policies = exact_sweeps(&case.model, &case.set, &sweeps, bracketed).unwrap();
            for i in [2, 5] {
                // Against the policy of another sweep.
                let (values, policy) = (sweeps[i].0.clone(), policies[i - 1].policy.clone());
                sweeps.insert(i, (values, Some(policy)));
            }
            let answers = exact_sweeps(&case.model, &case.set, &sweeps, bracketed).unwrap();
            for (i, ((values, fixed), answer)) in sweeps.iter().zip(&answers).enumerate() {
                for s in (0..case.model.states()).filter(|&s| !case.model.is_terminal(s)) {
                    let state = state_of(&case, s, values);
                    let rows = case.model.rows_of(s);
                    let (lower, upper) = (answer.lower[s], answer.upper[s]);
                    let policy = &answer.policy[rows];
                    let trouble = if fixed.is_some() {
                        responds(&state, policy, lower, upper)
                    } else {
                        agrees(&state, &Answer { lower, upper, policy }, &mut record)
                    };
                    let chain = &answer.chain;
                    let trouble = trouble.and_then(|()| {
                        let good = reproduces(&case, s, values, upper, &answer.policy, chain);
                        require(good, || format!("the chain misses {upper:e}"))
                    });
                    if let Err(what) = trouble {
                        failures.push(format!("sweep {i}: {}", describe(&case, s, &what)));
                    }
                }
            }
        }
    }
    let shown = failures.iter().take(SHOWN).cloned().collect::<Vec<_>>();
    assert!(failures.is_empty(), "{} fail\n{}", failures.len(), shown.join("\n"));
}

/// The worst case of a fixed policy.
fn responds(state: &State, policy: &[f64], lower: f64, upper: f64) -> Result<(), String> {
    let (expected, slack) = (state.worst_case(policy), AGREEMENT * state.scale);
    let holds = lower <= expected + slack && upper >= expected - slack && upper - lower <= slack;
    require(holds, || format!("[{lower:e}, {upper:e}] for {expected:e} against {policy:?}"))
}

/// The same when every value is replaced at once.
#[test]
fn exact_in_place_sweeps_agree() {
    let mut failures = Vec::new();
    for family in FAMILIES.iter().copied() {
        for seed in 0..journeys(family) {
            let case = Case::new(family, seed);
            if case.model.states() > longest(family) {
                continue;
            }
            let mut record = Record::default();
            let mut visit = |s: usize, values: &[f64], lower: f64, upper: f64| {
                if !case.model.is_terminal(s) {
                    let answer = Answer { lower, upper, policy: &[] };
                    if let Err(what) = agrees(&state_of(&case, s, values), &answer, &mut record) {
                        failures.push(describe(&case, s, &what));
                    }
                }
            };
            exact_in_place(&case.model, &case.set, &case.values, 3, &mut visit).unwrap();
        }
    }
    let shown = failures.iter().take(SHOWN).cloned().collect::<Vec<_>>();
    assert!(failures.is_empty(), "{} fail\n{}", failures.len(), shown.join("\n"));
}

/// lower ≤ F(v) ≤ upper, however wide.
fn encloses(state: &State, answer: &Answer<'_>, _: &mut Record) -> Result<(), String> {
    let &Answer { lower, upper, .. } = answer;
    let expected = state.update();
    let slack = CONTAINMENT * state.scale;
    require(lower <= expected + slack && expected - slack <= upper, || {
        format!("[{lower:e}, {upper:e}] misses {expected:e}")
    })
}

/// The iterative oracles need not be close, but their bounds must be bounds. They are slow: a few
/// hundred of the same updates, on models of a few states for the sake of variety.
fn enclose(oracle: Oracle) {
    for family in FAMILIES.iter().copied().filter(|family| family.takes(oracle)) {
        let mut record = Record::default();
        let small = |case: &Case| case.model.states() <= 8;
        for case in (0..).map(|seed| Case::new(family, seed)).filter(small) {
            visit(&case, oracle, &mut record, &encloses);
            if record.updates >= ENCLOSED {
                break;
            }
        }
        record.judge(family);
    }
}

#[test]
fn first_order_bounds_hold_the_same_values() {
    enclose(Oracle::FirstOrder);
}

#[test]
fn interior_point_bounds_hold_the_same_values() {
    enclose(Oracle::InteriorPoint);
}

/// κ of the rows of a shared budget: one κ for all is a smaller budget, and iterative oracles enclose what
/// the exact one finds for κ of every size.
#[test]
fn weighted_budgets_agree() {
    for family in FAMILIES.iter().copied() {
        let fits = |case: &Case| {
            case.set.rectangularity == Rectangularity::State
                && case.set.distance.set().is_some()
                && case.model.states() <= 8
        };
        for case in (0..family.share(60)).map(|seed| Case::new(family, seed)).filter(fits) {
            let Case { model, set, values, .. } = &case;
            let exact = |set: &UncertaintySet| bellman(model, set, Oracle::Exact, values).unwrap();
            let scale = |s: usize| CONTAINMENT * state_of(&case, s, values).scale;
            let radii =
                Radius::PerState((0..model.states()).map(|s| 0.25 * set.radius_at(s, 0)).collect());
            let small = exact(&set.clone().with_radius(radii));
            let heavy = exact(&set.clone().with_weights(vec![4.0; model.rows()]));
            let kappa = (0..model.rows()).map(|r| [1.0, 0.03, 20.0, 3.0][(7 * r + r / 3) % 4]);
            let weighted = set.clone().with_weights(kappa.collect());
            let found = exact(&weighted);
            let oracles = [Oracle::FirstOrder, Oracle::InteriorPoint];
            for oracle in oracles.into_iter().filter(|oracle| family.takes(*oracle)) {
                let (lower, upper, _) = bellman(model, &weighted, oracle, values).unwrap();
                for s in 0..model.states() {
                    let enclosed =
                        lower[s] <= found.1[s] + scale(s) && found.0[s] - scale(s) <= upper[s];
                    let what = format!(
                        "{oracle:?} [{:e}, {:e}] misses [{:e}, {:e}]",
                        lower[s], upper[s], found.0[s], found.1[s]
                    );
                    assert!(enclosed, "{}", describe(&case, s, &what));
                }
            }
            for s in 0..model.states() {
                let apart = (small.0[s] - heavy.0[s]).abs();
                assert!(apart <= scale(s), "{}", describe(&case, s, &format!("{apart:e}")));
            }
        }
    }
}
