//! Rulings on made-up records.

use super::contests::{SLACK, both, look};
use super::overtaking::crossing;
use super::*;
use crate::reproduce::cell::{
    Cell, Counts, Evaluator, FORMAT, Outcome, Record, Seconds, TracePoint,
};
use crate::reproduce::problem::Problem;
use crate::reproduce::solver::{Course, Geometries};
use robust_mdp::uncertainty::Distance;

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
        saturated: None,
        own: None,
        certified: None,
        work: Counts::default(),
        gap: 0.05,
        lower: 1.0,
        upper: 1.05,
        trace: Vec::new(),
        note: None,
    };
    let cell = Cell { format: FORMAT, experiment, problem, task, epsilon: 0.1, limit: 100 };
    Record { cell, outcome, seconds: Seconds::default() }
}

/// A solve by `auto` that took so many seconds.
pub(crate) fn solved(states: usize, seconds: f64) -> Record {
    timed(Solver::Auto, states, Some(seconds))
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
            let course = Course { setup, p, q, centred: false };
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
    assert_eq!(both(Ruling::Open, Ruling::Open), Ruling::Open);
}

fn rule(records: &[Record]) -> Verdict {
    let records = Records { all: records.iter().collect() };
    verdicts(&records).remove(0)
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
    assert_eq!(rule(&l2(Regime::Paper, 1, 0.1)).ruling, Ruling::Open);
}

#[test]
fn equal_gaps_are_no_win_but_no_worse() {
    assert_eq!(Tally::of(&[1.0, 1.0], 1.0 + 1e-9).ruling(), Ruling::Fails);
    assert_eq!(Tally::of(&[1.0, 0.95], 1.0 / SLACK).ruling(), Ruling::Holds);
}

#[test]
fn crossings() {
    let of = |values: &[(f64, f64, bool)]| -> Vec<(f64, Summary)> {
        let one = |&(x, value, stopped): &(f64, f64, bool)| {
            (x, summary(&[Sample { value, stopped }]).unwrap())
        };
        values.iter().map(one).collect()
    };
    let fom = of(&[(10.0, 2.0, false), (20.0, 3.0, false), (30.0, 4.0, false)]);
    let vi = of(&[(10.0, 1.0, false), (20.0, 4.0, false), (30.0, 9.0, true)]);
    assert_eq!(crossing(&fom, &vi), Some(20.0));
    assert_eq!(crossing(&vi, &fom), None);
    // Faster in the middle only is no crossing.
    let vi = of(&[(10.0, 1.0, false), (20.0, 4.0, false), (30.0, 3.0, false)]);
    assert_eq!(crossing(&fom, &vi), None);
    // A stopped run may have taken any time.
    let stopped = of(&[(10.0, 0.5, true)]);
    assert_eq!(crossing(&stopped, &vi), None);
}

#[test]
fn overtaking_counts_families() {
    let runs = |fom: [f64; 2]| {
        let mut records = Vec::new();
        for (states, fom) in [(10, fom[0]), (20, fom[1])] {
            records.push(timed(Solver::FomPaper, states, Some(fom)));
            records.push(timed(Solver::ViPrograms, states, Some(states as f64)));
            records.push(timed(Solver::GsPrograms, states, None));
        }
        records
    };
    let verdict = rule(&runs([30.0, 15.0]));
    // One of four families was run.
    assert_eq!(verdict.ruling, Ruling::Partly);
    assert!(verdict.measured.contains("from S = 20"), "{verdict:?}");
    assert_eq!(rule(&runs([30.0, 25.0])).ruling, Ruling::Fails);
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
    assert_eq!(rule(&evaluated(cubic, [10, 30])[..3]).ruling, Ruling::Open);
    // One slow pair of three counts, as in an average.
    let slow = |states, seed| if (states, seed) == (20, 3) { 900 } else { 7 };
    assert_eq!(rule(&evaluated(slow, [10, 30])).ruling, Ruling::Holds);
}
