//! The paper's own comparison, to a gap of 0.1: value iteration with an interior-point solver,
//! FOM-VI with the paper's steps, FOM-VI as it is here, and the automatic choice.

use std::time::Duration;

use robust_mdp::{Method, Model, Oracle};

use super::Plan;
use crate::Failure;
use crate::instance::{self, Case};
use crate::record::{Choice, Record};
use crate::timing::{Patience, Until, solve_case};

const GAP: f64 = 0.1;

/// Value iteration that would take longer than this is extrapolated.
const LONGEST: f64 = 600.0;

const ONCE: Patience = Patience { repeats: 1, seconds: 0.0 };

pub(super) fn cases(plan: &Plan) -> Vec<Case> {
    let sizes: &[usize] = plan.choose(&[10], &[30, 50]);
    let regimes = ["P", "T", "H", "KL"];
    let pairs = regimes.iter().flat_map(|regime| sizes.iter().map(move |&n| (regime, n)));
    pairs.map(|(regime, n)| instance::case(regime, n, 0.8)).collect()
}

pub(super) fn measure(plan: &Plan, case: &Case) -> Result<Vec<Record>, Failure> {
    let model = case.instance.model()?;
    let paper_steps = Choice { paper_steps: true, ..FOM };
    let run = |choice| {
        let until = Until::gap(GAP, plan.limit());
        solve_case("paper", case, &model, choice, 1, until, plan.patience())
    };
    let mut records = vec![run(Choice::AUTO), run(FOM), run(paper_steps)];
    records.push(run(Choice::of(Method::Vi, Some(Oracle::Exact))));
    let sweeps = records[3].sweeps.unwrap_or(1);
    let mut slow = interior_point(plan, case, &model, sweeps);
    if slow.extrapolated && !records[3].certified() {
        slow.note = slow.note.map(|note| note + " at least: the exact oracle was not certified");
    }
    records.push(slow);
    let (auto, fom) = (records[0].seconds, records[1].seconds);
    for record in &mut records {
        record.set_ratio("auto", auto);
        record.set_ratio("fom_vi", fom);
    }
    Ok(records)
}

const FOM: Choice = Choice::of(Method::FomVi, Some(Oracle::FirstOrder));

/// Value iteration with the interior-point oracle: in full if it can be, or else from the time of a
/// few sweeps and the number of sweeps that the same iteration takes with the exact oracle.
fn interior_point(plan: &Plan, case: &Case, model: &Model, sweeps: u64) -> Record {
    let choice = Choice::of(Method::Vi, Some(Oracle::InteriorPoint));
    let longest = plan.choose(LONGEST / 100.0, LONGEST);
    let run = |max_sweeps| {
        let until = Until { gap: GAP, limit: Duration::from_secs_f64(longest), max_sweeps };
        solve_case("paper", case, model, choice, 1, until, ONCE)
    };
    let one = run(1);
    if one.certified() || one.status == "failed" {
        return one;
    }
    if one.seconds * sweeps as f64 <= 0.9 * longest {
        let whole = run(u64::MAX);
        if whole.certified() {
            return whole;
        }
    }
    let three = run(3);
    let done = three.sweeps.unwrap_or(3).max(1);
    let each = match done {
        1 => three.seconds,
        _ => (three.seconds - one.seconds) / (done - 1) as f64,
    };
    let note = format!("{each:.3} s a sweep over {done} sweeps, {sweeps} sweeps needed");
    let seconds = one.seconds + each * sweeps.saturating_sub(1) as f64;
    Record { seconds, extrapolated: true, note: Some(note), ..three }
}
