//! What the best policy that randomises would reach, where only deterministic ones were asked for.

use std::time::Duration;

use robust_mdp::sets::UncertaintySet;
use robust_mdp::{
    Error, Interrupt, Model, Objective, Options, Solution, Status, Stop, solve_observed,
};

use crate::question::Question;

/// The best policy of all; none where it cannot be better, or where there was no time left to find it.
pub(crate) fn solve(
    model: &Model,
    set: &UncertaintySet,
    options: &Options,
    question: Question,
    found: &Solution,
    interrupt: &Interrupt,
) -> Option<Result<Solution, Error>> {
    let stopped = matches!(found.status, Status::Interrupted | Status::TimeLimit);
    if stopped || !question.may_gain_by_randomising(set) {
        return None;
    }
    let taken = Duration::try_from_secs_f64(found.seconds).unwrap_or_default();
    let time_limit = options.stop.time_limit.map(|limit| limit.saturating_sub(taken));
    let stop = Stop { time_limit, gap: Some(found.target_gap), ..options.stop.clone() };
    let options = Options { deterministic: false, stop, ..options.clone() };
    Some(solve_observed(model, set, &options, &mut (), interrupt))
}

/// What it saves at the initial distribution, at most.
pub(crate) fn saved(model: &Model, found: &Solution, randomised: &Solution) -> f64 {
    let ((low, high), (least, most)) = (found.initial_value, randomised.initial_value);
    let saved = match model.objective() {
        Objective::MinCost => high - least,
        Objective::MaxReward => most - low,
    };
    saved.max(0.0)
}
