//! Evaluation of a policy that the user brings: its worst and its best case over the set, and the
//! kernels that attain them.
//!
//! Neither needs an entry for every pair of states, even where nature may put mass on every state:
//! her rows have few entries then, and chains keep the rest as tails.

use std::ops::ControlFlow;
use std::time::Instant;

use crate::error::{Error, MEMORY};
use crate::incumbent::widest;
use crate::loops::evaluation::Evaluation;
use crate::model::Model;
use crate::pool::in_pool;
use crate::sets::UncertaintySet;
use crate::signal::Interrupt;
use crate::solution::{BestCase, Evaluated, PolicyValue};
use crate::solve::{Criterion, Status, Work, check_scale, target_gap};

/// Worst-case and nominal cost of a given policy (flat over rows), with bounds. An interrupt ends it
/// with the bounds proved so far; costs alone bound what has not been swept.
pub fn evaluate(
    model: &Model,
    set: &UncertaintySet,
    policy: &[f64],
    gap: Option<f64>,
    threads: Option<usize>,
    interrupt: &Interrupt,
) -> Result<Evaluated, Error> {
    set.validate(model)?;
    set.expect_exact_updates("the evaluation of a policy")?;
    check_scale(model, Criterion::Discounted)?;
    let policy = &normalised(model, policy)?;
    let gap = target_gap(model, set, Criterion::Discounted, gap)?;
    let started = Instant::now();
    let signal = interrupt.signal();
    let bound = |set: &UncertaintySet| {
        let mut values = vec![0.0; model.states()];
        let mut evaluation = Evaluation::new(model, set);
        let bounds = evaluation.run(policy, &mut values, gap, &signal);
        let (sweeps, entries) = evaluation.take_work();
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
    let status = match signal.reason() {
        Some(reason) => reason.into(),
        None if widest(&worst.lower, &worst.upper) <= gap => Status::Certified,
        None => Status::PrecisionLimit,
    };
    let [worst, nominal] = [worst, nominal].map(|bounds| PolicyValue::new(model, bounds));
    let seconds = started.elapsed().as_secs_f64();
    Ok(Evaluated { status, target_gap: gap, worst, nominal, work, seconds })
}

/// Best-case and nominal cost of a given policy, with bounds: min_y c^x(y) = −max_y (−c)^x(y), so that it is
/// the worst case of costs that are read as rewards.
pub fn evaluate_best(
    model: &Model,
    set: &UncertaintySet,
    policy: &[f64],
    gap: Option<f64>,
    threads: Option<usize>,
    interrupt: &Interrupt,
) -> Result<BestCase, Error> {
    let found = evaluate(&turned(model), set, policy, gap, threads, interrupt)?;
    let Evaluated { status, target_gap, worst: best, nominal, work, seconds } = found;
    Ok(BestCase { status, target_gap, best, nominal, work, seconds })
}

/// Costs as rewards of the same size, rewards as costs: what was best is worst.
fn turned(model: &Model) -> Model {
    let mut turned = model.clone();
    turned.negate();
    turned
}

/// The kernel of the set that is worst for `policy`, row by row: `visit(row, next, probability)`
/// for every entry of positive probability, row after row, and for all of a next state that the model
/// lists at several costs, in its order. `values` is the policy's worst-case value, one a state, in the
/// model's own sign. Same bits for any number of `threads`.
pub fn worst_kernel(
    model: &Model,
    set: &UncertaintySet,
    policy: &[f64],
    values: &[f64],
    threads: Option<usize>,
    mut visit: impl FnMut(usize, usize, f64) + Send,
) -> Result<(), Error> {
    let visit = |row: usize, next: usize, p: f64| {
        visit(row, next, p);
        ControlFlow::Continue(())
    };
    walk_worst_kernel(model, set, policy, values, threads, &Interrupt::new(), visit).map(drop)
}

fn walk_worst_kernel(
    model: &Model,
    set: &UncertaintySet,
    policy: &[f64],
    values: &[f64],
    threads: Option<usize>,
    interrupt: &Interrupt,
    visit: impl FnMut(usize, usize, f64) -> ControlFlow<()> + Send,
) -> Result<ControlFlow<()>, Error> {
    set.validate(model)?;
    set.expect_exact_updates("a policy's worst kernel")?;
    check_scale(model, Criterion::Average)?;
    let policy = &normalised(model, policy)?;
    let costs = &as_costs(model, values)?;
    let signal = interrupt.signal();
    in_pool(threads, || Evaluation::new(model, set).worst_kernel(policy, costs, &signal, visit))
}

/// A kernel as compressed rows: row r leads to `next[k]` with probability `prob[k]`, for k in
/// `starts[r]..starts[r + 1]`, next states in rising order.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseKernel {
    /// Where each row begins, and where the last one ends.
    pub starts: Vec<usize>,
    /// Next states.
    pub next: Vec<u32>,
    /// Their probabilities: positive, or 0 for some of a next state that the model lists at several costs.
    pub prob: Vec<f64>,
}

impl SparseKernel {
    /// Next states and probabilities of row `r`.
    pub fn row(&self, r: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let span = self.starts[r]..self.starts[r + 1];
        self.next[span.clone()].iter().copied().zip(self.prob[span].iter().copied())
    }

    /// Takes a row over, in order of next states.
    fn push(&mut self, row: &mut Vec<(u32, f64)>) {
        row.sort_by_key(|entry| entry.0);
        self.next.extend(row.iter().map(|entry| entry.0));
        self.prob.extend(row.drain(..).map(|entry| entry.1));
        self.starts.push(self.prob.len());
    }
}

/// [`worst_kernel`], held in memory; nothing if it was interrupted. Nature spreads over more states the
/// closer their values are; only a kernel that would not fit is refused.
pub fn worst_kernel_rows(
    model: &Model,
    set: &UncertaintySet,
    policy: &[f64],
    values: &[f64],
    threads: Option<usize>,
    interrupt: &Interrupt,
) -> Result<Option<SparseKernel>, Error> {
    const ENTRY: u64 = (size_of::<u32>() + size_of::<f64>()) as u64;
    let mut rows = SparseKernel { starts: vec![0], next: Vec::new(), prob: Vec::new() };
    let mut entries: Vec<(u32, f64)> = Vec::new();
    let keep = |row: usize, next: usize, p: f64| {
        while rows.starts.len() <= row {
            rows.push(&mut entries);
        }
        entries.push((next as u32, p));
        match rows.prob.len() as u64 * ENTRY > MEMORY {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let walked = walk_worst_kernel(model, set, policy, values, threads, interrupt, keep)?;
    if interrupt.is_raised() {
        return Ok(None);
    }
    if walked.is_break() {
        let done = rows.starts.len() as u64;
        return Err(Error::Memory {
            what: "the worst-case kernel".into(),
            needed: MEMORY / done * model.rows() as u64,
            allowed: MEMORY,
        });
    }
    while rows.starts.len() <= model.rows() {
        rows.push(&mut entries);
    }
    Ok(Some(rows))
}

/// The kernel of the set that is best for `policy`, as [`worst_kernel_rows`] gives the worst one; `values` is
/// the policy's best-case value.
pub fn best_kernel_rows(
    model: &Model,
    set: &UncertaintySet,
    policy: &[f64],
    values: &[f64],
    threads: Option<usize>,
    interrupt: &Interrupt,
) -> Result<Option<SparseKernel>, Error> {
    worst_kernel_rows(&turned(model), set, policy, values, threads, interrupt)
}

/// The values, checked, in the sign of costs.
fn as_costs(model: &Model, values: &[f64]) -> Result<Vec<f64>, Error> {
    if values.len() != model.states() {
        return Err(Error::Input(format!(
            "{} values, expected one for each of {} states",
            values.len(),
            model.states()
        )));
    }
    if let Some(s) = values.iter().position(|v| !v.is_finite()) {
        let (name, value) = (model.state_name(s), values[s]);
        return Err(Error::Input(format!(
            "state {name}: the value is {value}, expected a finite number"
        )));
    }
    let sign = model.objective().sign();
    Ok(values.iter().map(|v| sign * v).collect())
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
