//! Evaluation of a policy that the user brings: its worst case over the set, and the kernel that
//! attains it.

use std::time::Instant;

use crate::algorithm::evaluation::Evaluation;
use crate::error::Error;
use crate::incumbent::widest;
use crate::model::Model;
use crate::pool::in_pool;
use crate::solution::Evaluated;
use crate::solve::{Interrupt, Status, Work, check_memory, check_scale, target_gap};
use crate::uncertainty::UncertaintySet;

/// Worst-case and nominal cost of a given policy (flat over rows), with bounds.
pub fn evaluate(
    model: &Model,
    set: &UncertaintySet,
    policy: &[f64],
    gap: Option<f64>,
    threads: Option<usize>,
    interrupt: &Interrupt,
) -> Result<Evaluated, Error> {
    set.validate(model)?;
    check_scale(model)?;
    let policy = &normalised(model, policy)?;
    check_memory(model, set, 0)?;
    let gap = target_gap(model, set, gap)?;
    let started = Instant::now();
    let signal = interrupt.signal();
    let bound = |set: &UncertaintySet| {
        let mut values = vec![0.0; model.states()];
        let mut evaluation = Evaluation::new(model, set);
        let bounds = evaluation.run(policy, &mut values, gap, &signal);
        let (sweeps, entries) = (evaluation.sweeps, evaluation.take_entries());
        let work = Work {
            sweeps,
            evaluations: sweeps,
            oracle_calls: sweeps * model.states() as u64,
            first_order_steps: 0,
            entries,
            kernel_entries: model.transitions() as u64,
        };
        (bounds, work)
    };
    let ((worst, work), (nominal, _)) =
        in_pool(threads, || (bound(set), bound(&UncertaintySet::none())))?;
    let status = match signal.status() {
        Some(status) => status,
        None if widest(&worst.lower, &worst.upper) <= gap => Status::Certified,
        None => Status::PrecisionLimit,
    };
    let seconds = started.elapsed().as_secs_f64();
    Ok(Evaluated::new(model, status, gap, worst, nominal, work, seconds))
}

/// The kernel of the set that is worst for `policy`, row by row: `visit(row, next, probability)`
/// for every entry of positive probability, and for all of a next state that the model lists at several
/// costs, in its order. `values` is the policy's worst-case value, in the
/// model's own sign. Same bits for any number of `threads`.
pub fn worst_kernel(
    model: &Model,
    set: &UncertaintySet,
    policy: &[f64],
    values: &[f64],
    threads: Option<usize>,
    visit: impl FnMut(usize, usize, f64) + Send,
) -> Result<(), Error> {
    set.validate(model)?;
    let policy = &normalised(model, policy)?;
    check_memory(model, set, 0)?;
    let sign = model.objective().sign();
    let costs: Vec<f64> = values.iter().map(|v| sign * v).collect();
    in_pool(threads, || Evaluation::new(model, set).worst_kernel(policy, &costs, visit))
}

/// The policy, checked and with rows that sum to one.
fn normalised(model: &Model, policy: &[f64]) -> Result<Vec<f64>, Error> {
    if policy.len() != model.rows() {
        return Err(Error::Input(format!(
            "a policy of this model has {} entries, one a state-action pair; {} were given",
            model.rows(),
            policy.len()
        )));
    }
    let mut policy = policy.to_vec();
    for s in (0..model.states()).filter(|&s| !model.is_terminal(s)) {
        let x = &mut policy[model.rows_of(s)];
        let total: f64 = x.iter().sum();
        if x.iter().any(|x| *x < 0.0 || x.is_nan()) || (total - 1.0).abs() > 1e-9 {
            return Err(Error::Input(format!(
                "state {}: the policy is not a distribution over its actions (total {total})",
                model.state_name(s)
            )));
        }
        x.iter_mut().for_each(|x| *x /= total);
    }
    Ok(policy)
}
