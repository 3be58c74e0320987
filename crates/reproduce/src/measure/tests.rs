//! Every way of measuring gives the same values.

use super::super::cell::{Evaluator, Experiment, FORMAT, Outcome};
use super::super::problem::{Family, Problem, Regime};
use super::super::solver::{FomSetup, Geometries, Solver};
use super::*;
use robust_mdp::sets::Distance;

fn cell(task: Task, epsilon: f64) -> Cell {
    let problem = Problem {
        family: Family::Garnet50,
        regime: Regime::Tight,
        set: Distance::Ellipsoid,
        states: 6,
        discount: 0.8,
        seed: 3,
    };
    let experiment = Experiment::GapCost;
    Cell { format: FORMAT, experiment, problem, task, epsilon, limit: 1_000 }
}

fn outcome(task: Task, epsilon: f64) -> Outcome {
    run(&cell(task, epsilon), 1, &Interrupt::new()).unwrap().unwrap().outcome
}

#[test]
fn all_evaluators_enclose_the_same_gap() {
    let sharp = outcome(Task::Gap(Evaluator::Exact), 1e-8);
    for evaluator in Evaluator::ALL {
        let rough = outcome(Task::Gap(evaluator), 0.25);
        assert_eq!(rough.status, "done");
        assert!(rough.lower <= sharp.upper && sharp.lower <= rough.upper, "{rough:?}");
        assert!(rough.upper - rough.lower <= 0.51, "{rough:?}");
    }
}

#[test]
fn all_solvers_agree() {
    let sharp = outcome(Task::Solve(Solver::Auto), 1e-8);
    for solver in Solver::ALL {
        let rough = outcome(Task::Solve(solver), 0.1);
        assert_eq!(rough.status, "done", "{solver:?}");
        assert!(rough.gap <= 0.1, "{solver:?}");
        assert!(rough.lower <= sharp.upper && sharp.lower <= rough.upper, "{solver:?}");
    }
}

#[test]
fn vacuous_budgets_are_saturated() {
    let mut vacuous = cell(Task::Solve(Solver::Auto), 0.1);
    vacuous.problem.family = Family::Healthcare;
    vacuous.problem.regime = Regime::Paper;
    let record = run(&vacuous, 1, &Interrupt::new()).unwrap().unwrap();
    assert_eq!(record.outcome.saturated, Some(1.0));
    let tight = outcome(Task::Solve(Solver::Auto), 0.1);
    assert!(tight.saturated.unwrap() < 0.5, "{tight:?}");
}

#[test]
fn traces_time_their_steps_apart() {
    let course = FomSetup { setup: Geometries::L2L2, p: 1, q: 1, centred: false };
    let record = run(&cell(Task::Trace(course), 0.1), 1, &Interrupt::new()).unwrap().unwrap();
    let steps = record.seconds.own.unwrap();
    // The whole time has the gaps as well, and contains the steps.
    assert!(steps > 0.0 && steps <= record.seconds.total, "{:?}", record.seconds);
}
