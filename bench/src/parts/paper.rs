//! The paper's own comparison, to a gap of 0.1: value iteration with an interior-point solver,
//! FOM-VI with the paper's steps, FOM-VI as it is here, and the automatic choice.

use std::time::Duration;

use robust_mdp::{Method, Model, Options, Oracle, Stop, measure, solve};

use super::{Plan, product};
use crate::Failure;
use crate::instance::{self, Case};
use crate::record::{Choice, Record};
use crate::timing::{Patience, Until, solve_case};

const GAP: f64 = 0.1;

/// Value iteration by interior points that would take longer, in seconds, is extrapolated …
const LONGEST: f64 = 300.0;

/// … from the sweeps that fit in so many seconds.
const SAMPLE: f64 = 120.0;

/// The longest run with the paper's steps on the regime T, and elsewhere.
const PAPER_STEPS: (f64, f64) = (120.0, 20.0);

const ONCE: Patience = Patience { repeats: 1, seconds: 0.0 };

const FOM: Choice = Choice::of(Method::FomVi, Some(Oracle::FirstOrder));
const INTERIOR_POINT: Choice = Choice::of(Method::Vi, Some(Oracle::InteriorPoint));

pub(super) fn cases(plan: &Plan) -> Vec<Case> {
    let square = product(&instance::SQUARE, plan.choose(&[10], &[30, 50, 100]), &[0.8]);
    let banded = product(&instance::BANDED, plan.choose(&[50], &[200]), &[0.8]);
    [square, banded].concat()
}

pub(super) fn measure(plan: &Plan, case: &Case) -> Result<Vec<Record>, Failure> {
    let model = case.instance.model()?;
    let run = |choice, limit, patience| {
        let until = Until::gap(GAP, limit);
        solve_case("paper", case, &model, choice, 1, until, patience)
    };
    let auto = run(Choice::AUTO, plan.limit(), plan.patience());
    let exact = Choice::of(Method::Vi, Some(Oracle::Exact));
    let exact = run(exact, plan.limit(), plan.patience());
    let fom = run(FOM, plan.limit(), plan.patience());
    let (auto_seconds, fom_seconds) = (auto.seconds, fom.seconds);
    let comparable = (auto.certified(), fom.certified());
    let sweeps = exact.certified_sweeps();
    let mut records = vec![auto, exact, fom];
    let (square, states) = (case.instance.band.is_none(), case.instance.states);
    if square && (states >= 50 || plan.quick) {
        let seconds = if case.regime == "T" { PAPER_STEPS.0 } else { PAPER_STEPS.1 };
        let limit = plan.limit().min(Duration::from_secs_f64(seconds));
        records.push(run(Choice { paper_steps: true, ..FOM }, limit, ONCE));
    }
    if !square || states <= 50 {
        records.push(interior_point(plan, case, &model, sweeps, INTERIOR_POINT)?);
    }
    if square && states <= 50 {
        let whole = Choice { whole_programs: true, ..INTERIOR_POINT };
        records.push(interior_point(plan, case, &model, sweeps, whole)?);
    }
    for record in &mut records {
        if comparable.0 {
            record.set_ratio("auto", auto_seconds);
        }
        if comparable.1 {
            record.set_ratio("fom_vi", fom_seconds);
        }
    }
    Ok(records)
}

/// Value iteration with the interior-point oracle, and the programs of one sweep at the solution that
/// its solver gives up on.
fn interior_point(
    plan: &Plan,
    case: &Case,
    model: &Model,
    sweeps: Option<u64>,
    choice: Choice,
) -> Result<Record, Failure> {
    let mut record = timed(plan, case, model, sweeps, choice);
    let set = case.uncertainty();
    let options = Options { stop: Stop::at_gap(GAP), threads: Some(1), ..Options::default() };
    let values = solve(model, &set, &options)?.values;
    let [programs, unsolved] = measure::programs(model, &set, &values, choice.whole_programs)?;
    (record.programs, record.unsolved_programs) = (Some(programs), Some(unsolved));
    if unsolved > 0 {
        let gave_up =
            format!("the solver gives up on {unsolved} of {programs} programs of a sweep");
        record.note =
            Some(record.note.map_or(gave_up.clone(), |note| format!("{note}; {gave_up}")));
    }
    Ok(record)
}

/// In full if it can be, or else from the time of some sweeps and the number of sweeps that the same
/// iteration takes with the exact oracle.
fn timed(plan: &Plan, case: &Case, model: &Model, sweeps: Option<u64>, choice: Choice) -> Record {
    let (longest, sample) = plan.choose((2.0, 1.0), (LONGEST, SAMPLE));
    let run = |max_sweeps, seconds: f64| {
        let until = Until { gap: GAP, limit: Duration::from_secs_f64(seconds), max_sweeps };
        solve_case("paper", case, model, choice, 1, until, ONCE)
    };
    let one = run(1, sample);
    if one.status != "sweep-limit" {
        return one; // certified, failed, or not even a sweep in time
    }
    let Some(sweeps) = sweeps else { return run(u64::MAX, longest) };
    if one.seconds * sweeps as f64 <= longest {
        return run(u64::MAX, 2.0 * longest);
    }
    let some = run(((sample / one.seconds) as u64).max(1), 2.0 * sample);
    let done = some.sweeps.unwrap_or(1).max(1);
    let each = some.seconds / done as f64;
    let note = format!("{each:.3} s a sweep over {done} sweeps, {sweeps} sweeps needed");
    if some.status != "sweep-limit" {
        return Record { note: Some(note), ..some };
    }
    Record { seconds: each * sweeps as f64, extrapolated: true, note: Some(note), ..some }
}
