//! Rulings on made-up records.

mod tally;
mod time;

use robust_mdp_page::Ruling;

use super::contests::{both, look};
use super::tally::Tally;
use super::*;
use crate::cell::{Cell, Counts, Evaluator, FORMAT, Outcome, Seconds, TracePoint};
use crate::solver::{FomSetup, Geometries};
use robust_mdp::sets::Distance;

fn record(experiment: Experiment, regime: Regime, states: usize, task: Task) -> Record {
    let problem = Problem {
        family: Family::Garnet50,
        regime,
        set: Distance::Ellipsoid,
        states,
        discount: 0.8,
        seed: 1,
    };
    let outcome = Outcome {
        status: "done".into(),
        radius: 1.0,
        gap: 0.05,
        lower: 1.0,
        upper: 1.05,
        ..Outcome::default()
    };
    let cell = Cell { format: FORMAT, experiment, problem, task, epsilon: 0.1, limit: 100 };
    Record { cell, outcome, seconds: Seconds::default() }
}

/// A run that took so many seconds, or was stopped after one.
fn timed(solver: Solver, states: usize, seconds: Option<f64>) -> Record {
    let mut record = record(Experiment::Time, Regime::Paper, states, Task::Solve(solver));
    let total = seconds.unwrap_or(1.0);
    record.seconds = Seconds { own: seconds, certified: seconds, total };
    record.outcome.own = seconds.map(|_| Counts { sweeps: 4, ..Counts::default() });
    record.outcome.certified = record.outcome.own;
    record
}

fn traced(regime: Regime, seed: u64, setup: Geometries, dg: f64) -> Vec<Record> {
    [(1, 1), (2, 2)]
        .map(|(p, q)| {
            let course = FomSetup { setup, p, q, centred: false };
            let mut record = record(Experiment::Setups, regime, 30, Task::Trace(course));
            record.cell.problem.seed = seed;
            record.outcome.trace = vec![
                TracePoint { steps: 1, dg: 9.0, gap: 9.0 },
                TracePoint { steps: 100, dg, gap: dg },
            ];
            record
        })
        .to_vec()
}

#[test]
fn traces_are_compared_where_the_first_ended_an_epoch() {
    let trace = |steps: &[u64]| -> Vec<TracePoint> {
        steps.iter().map(|&steps| TracePoint { steps, dg: 1.0, gap: 1.0 }).collect()
    };
    let squares = trace(&[1, 5, 14, 30, 55, 91, 140]);
    let ones = trace(&[1, 10, 50, 91, 100]);
    assert_eq!(look(&squares, &ones, 1.0), Some(91));
    assert_eq!(look(&squares, &ones, 0.1), Some(5));
    assert_eq!(look(&squares, &[], 1.0), None);
}

#[test]
fn alike_is_a_part_of_better() {
    assert_eq!(both(Ruling::Holds, Ruling::Holds), Ruling::Holds);
    assert_eq!(both(Ruling::Holds, Ruling::Fails), Ruling::Partly);
    assert_eq!(both(Ruling::Fails, Ruling::Fails), Ruling::Fails);
    let open = Ruling::Open("a run");
    assert_eq!(both(open, open), open);
}

/// The verdict on the first claim of the records' experiment.
fn rule(records: &[Record]) -> Verdict {
    let records = Records { all: records.iter().collect() };
    verdicts(&records).remove(0)
}

/// The verdict on the claim that has these words.
fn ruled(records: &[Record], words: &str) -> Verdict {
    let records = Records { all: records.iter().collect() };
    let mut all = verdicts(&records).into_iter().filter(|v| v.claim.contains(words));
    all.next().unwrap_or_else(|| panic!("no claim “{words}”"))
}

#[track_caller]
fn assert_open(verdict: &Verdict, by: &str) {
    let Ruling::Open(missing) = verdict.ruling else { panic!("{verdict:?}") };
    assert!(missing.contains(by), "{missing}");
}

#[test]
fn smaller_gaps_win() {
    let l2 = |regime, seed, dg| traced(regime, seed, Geometries::L2L2, dg);
    let l1 = |regime, seed, dg| traced(regime, seed, Geometries::L1L1, dg);
    let better = [l2(Regime::Paper, 1, 0.1), l1(Regime::Paper, 1, 0.4)].concat();
    let verdict = rule(&better);
    assert_eq!(verdict.ruling, Ruling::Holds);
    assert!(verdict.measured.contains("2 of 2 pairs, median factor 4.00"), "{verdict:?}");
    let worse = [l2(Regime::Paper, 1, 0.4), l1(Regime::Paper, 1, 0.1)].concat();
    assert_eq!(rule(&worse).ruling, Ruling::Fails);
    // Two thirds of the pairs are not nine tenths.
    let mixed = [
        better.clone(),
        [l2(Regime::Paper, 2, 0.1), l1(Regime::Paper, 2, 0.2)].concat(),
        [l2(Regime::Paper, 3, 0.2), l1(Regime::Paper, 3, 0.1)].concat(),
    ]
    .concat();
    assert_eq!(rule(&mixed).ruling, Ruling::Partly);
    // The paper's setting agrees and another does not.
    let against = [l2(Regime::Tight, 1, 0.4), l1(Regime::Tight, 1, 0.1)].concat();
    assert_eq!(rule(&[better, against].concat()).ruling, Ruling::Partly);
    // Nothing to compare.
    assert_open(&rule(&l2(Regime::Paper, 1, 0.1)), "rmdp reproduce setups");
}

#[test]
fn equal_gaps_are_no_win_but_no_worse() {
    assert_eq!(Tally::of(&[1.0, 1.0], 1.0 + 1e-9).ruling(""), Ruling::Fails);
    assert_eq!(Tally::of(&[1.0, 0.95], 1.0 / SLACK).ruling(""), Ruling::Holds);
}

fn kl_run(family: Family, states: usize, seconds: Option<f64>) -> Record {
    let mut record = timed(Solver::FomPaper, states, seconds);
    record.cell.experiment = Experiment::Kl;
    record.cell.problem.set = Distance::Kl;
    record.cell.problem.family = family;
    record
}

#[test]
fn kl_stays_below_a_hundred_seconds_up_to_fifty_states() {
    let claim = "below 100 s up to S = 50";
    let runs = |machine: Option<f64>| {
        vec![
            kl_run(Family::Healthcare, 20, Some(2.0)),
            kl_run(Family::Healthcare, 50, Some(99.0)),
            kl_run(Family::Machine, 50, machine),
        ]
    };
    let fine = ruled(&runs(Some(3.0)), claim);
    assert_eq!(fine.ruling, Ruling::Holds);
    assert_eq!(fine.short, "The longest takes 99.0 s.");
    assert_eq!(ruled(&runs(Some(101.0)), claim).ruling, Ruling::Fails);
    // Stopped by its limit after a second, or not run with 50 states.
    assert_open(&ruled(&runs(None), claim), "50 states of both families");
    assert_open(&ruled(&runs(Some(3.0))[..2], claim), "50 states of both families");
    // Garnet models may take longer.
    let garnet = [runs(Some(3.0)), vec![kl_run(Family::Garnet50, 50, Some(500.0))]].concat();
    assert_eq!(ruled(&garnet, claim).ruling, Ruling::Holds);
}

#[test]
fn a_day_against_minutes_is_a_factor_of_a_hundred() {
    // The gaps take ten seconds in either.
    let traces = |l1: f64| {
        let mut records = [
            traced(Regime::Paper, 1, Geometries::L2L2, 0.1),
            traced(Regime::Paper, 1, Geometries::L1L1, 0.4),
        ]
        .concat();
        for record in &mut records {
            let Task::Trace(course) = record.cell.task else { unreachable!() };
            let slow = course.setup == Geometries::L1L1;
            let steps = if slow { l1 } else { 0.1 };
            record.seconds = Seconds { own: Some(steps), total: 10.0 + steps, certified: None };
        }
        records
    };
    let verdict = ruled(&traces(15.0), "almost a day");
    assert_eq!(verdict.ruling, Ruling::Holds);
    assert_eq!(verdict.short, "The steps take 150 times as long.");
    assert!(verdict.why.contains("side by side on the cores"), "{}", verdict.why);
    assert_eq!(ruled(&traces(0.6), "almost a day").ruling, Ruling::Fails);
    // Older records have whole times only.
    let mut older = traces(15.0);
    older.iter_mut().for_each(|r| r.seconds = Seconds { own: None, ..r.seconds });
    assert_open(&ruled(&older, "almost a day"), "the time of the steps alone");
    let l2 = traced(Regime::Paper, 1, Geometries::L2L2, 0.1);
    assert_open(&ruled(&l2, "almost a day"), "rmdp reproduce setups");
}

/// Traces of three setups whose gap falls as T^(−k(setup, q)).
fn falling(k: impl Fn(Geometries, u32) -> f64) -> Vec<Record> {
    falling_at(Experiment::Rate, Regime::Paper, k)
}

fn falling_at(
    experiment: Experiment,
    regime: Regime,
    k: impl Fn(Geometries, u32) -> f64,
) -> Vec<Record> {
    let mut records = Vec::new();
    for setup in Geometries::ALL {
        for q in [1, 2] {
            let course = FomSetup { setup, p: 1, q, centred: false };
            let mut record = record(experiment, regime, 10, Task::Trace(course));
            let at = |steps: u64| {
                let dg = (steps as f64).powf(-k(setup, q));
                TracePoint { steps, dg, gap: dg }
            };
            record.outcome.trace = [1, 10, 100, 300, 1000].map(at).to_vec();
            records.push(record);
        }
    }
    records
}

#[test]
fn rates_are_fitted_over_the_last_decade() {
    let promised = |_, q| f64::from(q) / f64::from(q + 1);
    let verdict = rule(&falling(|s, q| promised(s, q) + 0.1));
    assert_eq!(verdict.ruling, Ruling::Holds);
    let exponents = "0.600 to 0.600 for q = 1 (0.5 promised) and 0.767 to 0.767 for q = 2";
    assert!(verdict.measured.contains(exponents), "{}", verdict.measured);
    let consistent = "Consistent with the bound for all setups at S = A = 10";
    assert!(verdict.short.starts_with(consistent), "{}", verdict.short);
    assert!(verdict.claim.contains("one Bellman update at the optimal values"));
    assert!(verdict.measured.starts_with("Exponents of DG at p₀"), "{}", verdict.measured);
    // Slower over some steps refutes nothing, since the bound has a constant.
    assert_open(&rule(&falling(|s, q| promised(s, q) - 0.1)), "Longer traces");
    let mixed = rule(&falling(|s, q| match s {
        Geometries::L1L1 => 0.3,
        _ => promised(s, q) + 0.1,
    }));
    assert_eq!(mixed.ruling, Ruling::Partly);
    assert!(mixed.measured.contains("(ℓ1,ℓ1) 0 of 2, (ℓ1,ℓ2) 2 of 2"), "{}", mixed.measured);
    // What fell to the floor of rounding has no rate.
    assert_eq!(super::rate::fitted(&[TracePoint { steps: 100, dg: 1e-9, gap: 1e-9 }; 5]), None);
}

#[test]
fn rates_are_asked_of_nine_tenths_also_where_the_budget_binds() {
    let fast = |_, q: u32| f64::from(q) / f64::from(q + 1) + 0.1;
    let slow_l1 = |s, q| if s == Geometries::L1L1 { 0.3 } else { fast(s, q) };
    // At a radius that binds (ℓ1,ℓ1) is slower in two of six traces: more than a tenth, less than half.
    let mut records = falling(fast);
    for (regime, seed) in [(Regime::Tight, 1), (Regime::Tight, 2), (Regime::Hard, 1)] {
        let slow = (regime, seed) == (Regime::Hard, 1);
        let of = |s, q| if slow { slow_l1(s, q) } else { fast(s, q) };
        let mut more = falling_at(Experiment::Rate, regime, of);
        more.iter_mut().for_each(|r| r.cell.problem.seed = seed);
        records.extend(more);
    }
    let verdict = rule(&records);
    assert_eq!(verdict.ruling, Ruling::Partly);
    let consistent = "Consistent with the bound for (ℓ1,ℓ2), (ℓ2,ℓ2) at";
    assert!(verdict.short.starts_with(consistent), "{}", verdict.short);
    // Larger models are told of, and not ruled on.
    let larger = falling_at(Experiment::Setups, Regime::Paper, slow_l1);
    let both = [falling(fast), larger].concat();
    let verdict = ruled(&both, "one Bellman update");
    assert_eq!(verdict.ruling, Ruling::Holds);
    assert!(verdict.short.ends_with("Not yet at S = A = 30: (ℓ1,ℓ1)."), "{verdict:?}");
}

#[test]
fn numbers_have_three_digits() {
    let shown = [1084.0, 0.98, 12.345, 4.0, 59_083.0, 0.000_123_4, 99.95].map(digits);
    let expected = ["1080", "0.980", "12.3", "4.00", "59100", "0.000123", "100"];
    assert_eq!(shown, expected);
    assert_eq!([3.0, 2.5, 1302.0].map(count), ["3", "2.50", "1300"]);
    assert_eq!([1.0, 0.489].map(percent), ["100 %", "48.9 %"]);
    assert_eq!(digits(f64::NAN), "?");
}

/// VI and AVI at two sizes and two discounts; `entries` of a size and a seed.
fn evaluated(entries: impl Fn(usize, u64) -> u64, sweeps: [u64; 2]) -> Vec<Record> {
    let mut records = Vec::new();
    for evaluator in [Evaluator::Vi, Evaluator::Avi] {
        for (discount, sweeps) in [0.6, 0.8].into_iter().zip(sweeps) {
            for (states, seed) in [(10, 1), (10, 2), (10, 3), (20, 1), (20, 2), (20, 3)] {
                let task = Task::Gap(evaluator);
                let mut record = record(Experiment::GapCost, Regime::Paper, states, task);
                record.cell.problem.discount = discount;
                record.cell.problem.seed = seed;
                let entries = entries(states, seed);
                record.outcome.own = Some(Counts { sweeps, entries, ..Counts::default() });
                record.seconds.own = Some(entries as f64);
                records.push(record);
            }
        }
    }
    records
}

#[test]
fn the_gaps_cost_grows_with_both() {
    let cubic = |states: usize, _| states.pow(3) as u64;
    assert_eq!(rule(&evaluated(cubic, [10, 30])).ruling, Ruling::Holds);
    assert_eq!(rule(&evaluated(cubic, [30, 30])).ruling, Ruling::Partly);
    assert_eq!(rule(&evaluated(|_, _| 5, [30, 30])).ruling, Ruling::Fails);
    // Growth alone is not quick: entries as S^1.5, or two fifths more sweeps.
    let slowly = |states: usize, _| (1e3 * (states as f64).powf(1.5)) as u64;
    assert_eq!(rule(&evaluated(slowly, [10, 15])).ruling, Ruling::Partly);
    assert_eq!(rule(&evaluated(cubic, [10, 15])).ruling, Ruling::Holds);
    assert_eq!(rule(&evaluated(cubic, [10, 14])).ruling, Ruling::Partly);
    assert_eq!(rule(&evaluated(slowly, [10, 14])).ruling, Ruling::Fails);
    assert_open(&rule(&evaluated(cubic, [10, 30])[..3]), "rmdp reproduce gap-cost");
    // One slow pair of three counts, as in an average.
    let slow = |states, seed| if (states, seed) == (20, 3) { 900 } else { 7 };
    assert_eq!(rule(&evaluated(slow, [10, 30])).ruling, Ruling::Holds);
}
