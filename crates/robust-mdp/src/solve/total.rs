//! The total cost until the model ends in a terminal state, by proofs that it ends.
//!
//! A vector τ ≥ 1 with τ ≥ 1 + ⟨y, τ⟩ for every row of the set bounds the mean number of steps to the end, whatever
//! anyone does; with P of the rows of one policy alone, if that policy is followed. It weighs what a sweep proves:
//! where |F(v) − v| ≤ δ,
//!   v − δτ ≤ v* ≤ v^x ≤ v + δτ,
//! because F(v + δτ) ≤ F(v) + δ(τ − 1) ≤ v + δτ, and values that rise no further bound all later sums.
//!
//! - First τ for every policy and kernel: the values of a step that costs 1, at a discount λ' next to 1, where both
//!   players prolong. If they are far below 1/(1 − λ'), a little more of them satisfies the inequality without a
//!   discount, which is checked.
//! - Then v: the values at λ', and Newton's steps without a discount from there.
//! - Where some policy may never end, only the one found must: its τ proves the upper bounds. Lower ones
//!   hold if every step costs something, since those who never end pay without end:
//!   F(v) ≥ v − δ gives F(v − ηv) ≥ v − ηv for η = δ/min c.

use super::potential::Potential;
use super::{Limits, Problem, Run, Status, ended};
use crate::checkpoint::Checkpoints;
use crate::error::Error;
use crate::incumbent::Incumbent;
use crate::loops;
use crate::loops::bounds::{Bounds, rounding, value_range};
use crate::loops::evaluation::Evaluation;
use crate::loops::operator::Operator;
use crate::model::Model;
use crate::sets::{Rectangularity, UncertaintySet};
use crate::signal::Interrupt;
use crate::solution::Ending;
use crate::solve::problem::row_by_row;
use crate::solve::{Criterion, Method};

/// λ'. A model that takes more than about 1/(1 − λ') steps cannot be told from one that never ends.
const NEAR: f64 = 1.0 - 1e-7;
/// The part of 1/(1 − λ') that values of steps must stay below.
const SHORT: f64 = 0.5;
/// What a step is worth more than 1 in τ, so that roundings do not matter.
const MARGIN: f64 = 0.01;
/// Discount of linear systems, next to 1: chains of policies that end surely need none.
const NEWTON: f64 = 1.0 - 1e-10;
/// Residual of linear systems against that of the sweep.
const LINEAR: f64 = 1e-4;
/// Rounds of policy iteration, from the best policy at λ'.
const IMPROVEMENTS: usize = 100;
/// Choices must be better by more than so many roundings.
const BETTER: f64 = 32.0;
/// Sweeps that do not make bounds narrower before they are taken to be as narrow as they get.
const PATIENCE: u32 = 5;

/// How bounds are proved on the side that speaks of all policies.
enum Outer {
    /// All end surely.
    Ending,
    /// Every step costs at least this much.
    Costly(f64),
    /// No step costs anything, and those that would never end bring nothing.
    Free(Potential),
}

pub(super) fn run(
    problem: &Problem<'_>,
    interrupt: &Interrupt,
    run: &mut Run<'_>,
) -> Result<Status, Error> {
    let (model, cooperative) = (&*problem.model, problem.cooperative);
    let states = model.states();
    run.begin(model);
    let over = ended(model, &problem.set);
    if over.iter().all(|over| !over) {
        return Err(endless("there are no terminal states, nor others where all is over"));
    }
    let mut operator = Operator::exact(model, &problem.set, false).cooperative(cooperative);
    let Some(Start { mut v, x, ending, outer }) = start(problem, &over, interrupt, run)? else {
        return Ok(run.stopped().unwrap_or(Status::SweepLimit));
    };
    let mut step = vec![0.0; states];
    let (mut least, mut stalled) = (f64::INFINITY, 0);
    loop {
        let spent = run.work.sweeps >= run.limits.max_sweeps;
        if let Some(status) = run.stopped().or(spent.then_some(Status::SweepLimit)) {
            return Ok(status);
        }
        let slack = {
            let scale = v.iter().fold(run.largest_term, |m, v| m.max(v.abs()));
            rounding(scale, 0.0, run.width)
        };
        // How far F(v) lies below v, and above.
        let excess = |operator: &Operator<'_>, v: &[f64]| {
            [(v, operator.lower()), (operator.upper(), v)].map(|(a, b)| most(a, b) + slack)
        };
        // Values that bounds over all policies are counted from.
        let base = match &outer {
            Outer::Free(potential) => &potential.base,
            Outer::Ending | Outer::Costly(_) => &v,
        };
        operator.sweep(base, 0.0, &run.signal);
        let [mut below, mut above] = excess(&operator, base);
        match outer {
            Outer::Ending => operator.freeze(&v, &run.signal),
            Outer::Costly(_) | Outer::Free(_) => {
                operator.adopt(&x);
                operator.respond(&v, 0.0, &run.signal);
                let own = excess(&operator, &v);
                *(if cooperative { &mut below } else { &mut above }) =
                    own[usize::from(!cooperative)];
            }
        }
        if let Some(status) = run.stopped() {
            return Ok(status);
        }
        let own = |s: usize, excess: f64| excess * ending.steps[s];
        let of_all = |s: usize, excess: f64| match &outer {
            Outer::Ending => own(s, excess),
            Outer::Costly(cost) => excess / cost * v[s].abs(),
            Outer::Free(potential) => potential.far(s, excess),
        };
        let acting = |s: usize, bound: f64| if over[s] { 0.0 } else { bound };
        let lower = |s: usize| match cooperative {
            true => v[s] - own(s, below),
            false => base[s] - of_all(s, below),
        };
        let upper = |s: usize| match cooperative {
            true => base[s] + of_all(s, above),
            false => v[s] + own(s, above),
        };
        let lower = (0..states).map(|s| acting(s, lower(s)));
        let upper = (0..states).map(|s| acting(s, upper(s)));
        let found = Incumbent {
            policy: operator.policy().to_vec(),
            lower: lower.collect(),
            upper: upper.collect(),
        };
        run.work.sweeps += 1;
        run.work.oracle_calls += states as u64;
        operator.account(&mut run.work);
        let gap = found.gap();
        stalled = if gap < 0.9 * least { 0 } else { stalled + 1 };
        if gap < least {
            least = gap;
            run.incumbent = found;
            run.ending = Some(ending.clone());
        }
        run.report(below.max(above));
        if gap <= run.limits.gap {
            return Ok(Status::Certified);
        }
        if stalled > PATIENCE {
            return Ok(Status::PrecisionLimit);
        }
        operator.correct(&v, &mut step, 0.0, NEWTON, LINEAR * below.max(above), &run.signal);
        v.iter_mut().zip(&step).enumerate().for_each(|(s, (v, step))| *v = acting(s, *v + step));
    }
}

/// Values and a policy to start from, and why bounds follow.
struct Start {
    v: Vec<f64>,
    x: Vec<f64>,
    ending: Ending,
    outer: Outer,
}

fn start(
    problem: &Problem<'_>,
    over: &[bool],
    interrupt: &Interrupt,
    run: &mut Run<'_>,
) -> Result<Option<Start>, Error> {
    let (model, set) = (&*problem.model, &*problem.set);
    let mut steps = model.clone();
    steps.count_steps(over);
    let alone;
    let any = match set.rectangularity {
        Rectangularity::State => {
            alone = row_by_row(model, set);
            &alone
        }
        Rectangularity::StateAction => set,
    };
    let mut inner = Inner { interrupt, run };
    let longest = inner.at_discount(&steps, any, true, 1.0)?;
    let surely = proper(over, &longest.upper, |tau| {
        let mut operator = Operator::exact(&steps, any, false).cooperative(true);
        operator.sweep(tau, 0.0, &inner.run.signal);
        operator.upper().to_vec()
    });
    // As near as rounding allows: to go on without end costs a policy 1 − λ' of its value at most.
    let gap = inner.run.limits.gap * (1.0 - NEAR);
    let Incumbent { policy: mut x, lower, upper } =
        inner.at_discount(model, set, problem.cooperative, gap)?;
    let run = inner.run;
    if run.stopped().is_some() || run.work.sweeps >= run.limits.max_sweeps {
        return Ok(None);
    }
    let mut v: Vec<f64> = lower.iter().zip(&upper).map(|(l, u)| 0.5 * (l + u)).collect();
    // Where one only stays, any value would be its own image.
    v.iter_mut().zip(over).filter(|(_, over)| **over).for_each(|(v, _)| *v = 0.0);
    if let Some(steps) = surely {
        let ending = Ending { surely: true, steps };
        return Ok(Some(Start { v, x, ending, outer: Outer::Ending }));
    }
    let (least, most) = match acting_costs(model, set, over) {
        (low, high) if problem.cooperative => (-high, -low),
        range => range,
    };
    polish(problem, over, &mut x, &mut v, run);
    let near = Model { discount: NEAR, ..steps.clone() };
    let Bounds { upper, .. } =
        Evaluation::new(&near, set).run(&x, &mut vec![0.0; model.states()], 1.0, &run.signal);
    let own = proper(over, &upper, |tau| Evaluation::new(&steps, set).image_of(&x, tau));
    if run.stopped().is_some() {
        return Ok(None);
    }
    let Some(steps) = own else {
        return Err(endless("the policy found may go on for millions of steps, or without end"));
    };
    let ending = Ending { surely: false, steps };
    if least > 0.0 {
        return Ok(Some(Start { v, x, ending, outer: Outer::Costly(least) }));
    }
    let mut inner = Inner { interrupt, run };
    let potential = match most <= 0.0 {
        true => Potential::new(model, set, over, problem.cooperative, &v, &mut inner)?,
        false => None,
    };
    match potential {
        _ if inner.run.stopped().is_some() => Ok(None),
        Some(potential) => Ok(Some(Start { v, x, ending, outer: Outer::Free(potential) })),
        None => Err(endless(
            "some policies may go on without end; bounds over all policies are known where every step costs something, \
             or none does and it pays to end",
        )),
    }
}

/// Brings v to the worst case of a policy that ends, without a discount, and the policy to the best of
/// its kind by policy iteration: choices that are better by more than rounding keep it ending, others may not.
fn polish(problem: &Problem<'_>, over: &[bool], x: &mut [f64], v: &mut [f64], run: &Run<'_>) {
    let model = &*problem.model;
    let mut operator = Operator::exact(model, &problem.set, false).cooperative(problem.cooperative);
    for _ in 0..IMPROVEMENTS {
        let left = evaluate(&mut operator, over, x, v, run);
        let own = [operator.lower(), operator.upper()].map(<[f64]>::to_vec);
        let scale = v.iter().fold(run.largest_term, |m, v| m.max(v.abs()));
        // What is left of v − F_x(v), and roundings of values that should be the same, make rows seem better that lead
        // nowhere.
        let slack = BETTER * rounding(scale, 0.0, run.width) + 2.0 * left;
        operator.sweep(v, 0.0, &run.signal);
        if run.signal.raised() {
            return;
        }
        let better = |s: &usize| match problem.cooperative {
            true => operator.lower()[*s] > own[1][*s] + slack,
            false => operator.upper()[*s] < own[0][*s] - slack,
        };
        let changed: Vec<usize> = (0..v.len()).filter(|s| !over[*s]).filter(better).collect();
        for &s in &changed {
            let rows = model.rows_of(s);
            x[rows.clone()].copy_from_slice(&operator.policy()[rows]);
        }
        if changed.is_empty() {
            return;
        }
    }
}

/// Brings v to F_x(v), as near as rounding allows, and says how near; leaves a sweep there.
fn evaluate(
    operator: &mut Operator<'_>,
    over: &[bool],
    x: &[f64],
    v: &mut [f64],
    run: &Run<'_>,
) -> f64 {
    let mut step = vec![0.0; v.len()];
    let (mut least, mut stalled) = (f64::INFINITY, 0);
    loop {
        operator.adopt(x);
        operator.respond(v, 0.0, &run.signal);
        let excess = most(v, operator.lower()).max(most(operator.upper(), v));
        stalled = if excess < 0.5 * least { 0 } else { stalled + 1 };
        if stalled > PATIENCE || run.signal.raised() {
            return excess;
        }
        least = least.min(excess);
        operator.correct(v, &mut step, 0.0, NEWTON, LINEAR * excess, &run.signal);
        let acting = v.iter_mut().zip(&step).zip(over).filter(|(_, over)| !**over);
        acting.for_each(|((v, step), _)| *v += step);
    }
}

/// Runs on the way to the answer, for the account of the run that needs them.
pub(super) struct Inner<'i, 'r> {
    pub(super) interrupt: &'i Interrupt,
    pub(super) run: &'i mut Run<'r>,
}

impl Inner<'_, '_> {
    /// The answer at discount λ'.
    pub(super) fn at_discount(
        &mut self,
        model: &Model,
        set: &UncertaintySet,
        cooperative: bool,
        gap: f64,
    ) -> Result<Incumbent, Error> {
        let outer = &mut *self.run;
        let near = &Model { discount: NEAR, ..model.clone() };
        let limits = Limits {
            gap,
            values: value_range(near, set, Criterion::Discounted),
            max_sweeps: outer.limits.max_sweeps.saturating_sub(outer.work.sweeps),
            cooperative,
            published: None,
        };
        let (left, observer) = (outer.time_left(), &mut ());
        let checkpoints = Checkpoints::none();
        let mut run = Run::new(near, limits, left, self.interrupt, checkpoints, None, observer);
        run.width = outer.width;
        let operator = Operator::exact(near, set, false).cooperative(cooperative);
        loops::run(Method::Newton, None, operator, &mut run)?;
        outer.work.add(&run.work);
        Ok(run.incumbent)
    }
}

/// τ with τ ≥ 1 + Pτ by the image of it under T = 1 + P, made of bounds of the values at λ'.
pub(super) fn proper(
    over: &[bool],
    near: &[f64],
    image: impl FnOnce(&[f64]) -> Vec<f64>,
) -> Option<Vec<f64>> {
    let longest = near.iter().fold(0.0_f64, |m, t| m.max(*t));
    // P τ ≤ (τ − 1)/λ', so that k·τ − 1 − kPτ ≥ k/λ' − k·τ(1/λ' − 1) − 1.
    let rest = 1.0 / NEAR - longest * (1.0 / NEAR - 1.0);
    if rest.is_nan() || rest < 1.0 - SHORT {
        return None;
    }
    let scaled = near.iter().map(|t| (1.0 + MARGIN) / rest * t);
    let tau: Vec<f64> = scaled.zip(over).map(|(t, over)| if *over { 0.0 } else { t }).collect();
    let image = image(&tau);
    let slack = rounding(longest, 0.0, over.len());
    let holds = |s: usize| over[s] || image[s] + slack <= tau[s];
    (0..tau.len()).all(holds).then_some(tau)
}

/// Least and largest cost of a step that is taken.
fn acting_costs(model: &Model, set: &UncertaintySet, over: &[bool]) -> (f64, f64) {
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    let acting = (0..model.states()).filter(|&s| !over[s]);
    let rows = acting
        .flat_map(|s| model.rows_of(s))
        .map(|r| model.row(r).cost_range(set.leads(), model.states()));
    rows.fold(none, |(low, high), (l, h)| (low.min(l), high.max(h)))
}

fn endless(why: &str) -> Error {
    Error::Input(format!(
        "the total cost may have no bounds, because the model may not end: {why}; expected a model that ends in a \
         terminal state, or another objective (discounted, average, or a finite horizon)"
    ))
}

/// max(a − b), at least 0.
fn most(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0_f64, |m, (a, b)| m.max(a - b))
}
