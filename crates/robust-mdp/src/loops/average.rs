//! The average cost of a step, by relative values: g + h = F(h) at discount 1.
//!
//! For any h at all, with d = F(h) − h,
//!   min_s d_s ≤ g* ≤ g^x ≤ max_s (F_x(h) − h)_s
//! for the average from whatever state: T_x h ≤ h + ḡ for every kernel of the set, summed over T steps, is
//! Σc ≤ Tḡ + h − h_T, and so from below, where nature answers h. So the bounds need no condition on chains; that they meet
//! proves that the average does not depend on where the model begins. Where it does, they do not meet.
//!
//! Steps are Newton's: freeze both players, (I − λ'P)Δ = d − (max d + min d)/2 with λ' next to 1. A step
//! leaves (1 − λ')PΔ of the span, so that λ' matters no more than the digits of a chain that takes 1/(1 − λ')
//! steps to forget where it began. Where the span does not fall, relative value iteration takes over for a while,
//! h + ½d, half of it so that periodic chains settle too.

use super::bounds::rounding;
use super::course::extent;
use super::operator::Operator;
use crate::error::Error;
use crate::solve::{Method, Run, Status};

/// λ' of Newton's steps.
const NEAR: f64 = 1.0 - 1e-7;
/// Newton's steps must leave less than this of the span.
const PROGRESS: f64 = 0.5;
/// Plain steps after one of Newton's that failed, the first time.
const PLAIN: u32 = 4;
/// Residual of linear systems against the span of the sweep.
const LINEAR: f64 = 1e-4;
/// Steps that do not make the bounds narrower before they are taken to be as narrow as they get.
const PATIENCE: u32 = 2000;

pub(crate) fn run(
    method: Method,
    mut operator: Operator<'_>,
    run: &mut Run<'_>,
) -> Result<Status, Error> {
    let model = operator.model;
    let states = model.states();
    // Terminal states cost nothing for ever: where there are some, the average can only be 0.
    let ends = (0..states).any(|s| model.is_terminal(s));
    run.begin(model);
    let mut h = run.start.take().unwrap_or_else(|| vec![0.0; states]);
    let mut step = vec![0.0; states];
    run.bias.clone_from(&h);
    let (mut least, mut stalled) = (f64::INFINITY, 0_u32);
    // Whether the last step was Newton's; plain steps before the next of these, and after one that fails.
    let (mut on_trial, mut plain, mut next_plain) = (false, 0_u32, PLAIN);
    loop {
        let spent = run.work.sweeps >= run.limits.max_sweeps;
        if let Some(status) = run.stopped().or(spent.then_some(Status::SweepLimit)) {
            return Ok(status);
        }
        operator.sweep(&h, 0.0, &run.signal);
        if let Some(status) = run.stopped() {
            return Ok(status); // some states may not be known
        }
        let (low, _) = extent(operator.lower().iter().zip(&h).map(|(f, h)| f - h));
        let (_, high) = extent(operator.upper().iter().zip(&h).map(|(f, h)| f - h));
        let scale = h.iter().fold(run.largest_term, |m, h| m.max(h.abs()));
        let slack = rounding(scale, 0.0, run.width);
        run.work.sweeps += 1;
        run.work.oracle_calls += states as u64;
        operator.account(&mut run.work);
        let span = high - low;
        let before = least;
        stalled = if span < 0.999 * least { 0 } else { stalled + 1 };
        if span < least {
            least = span;
            run.bias.clone_from(&h);
            let (low, high) = (vec![low - slack; states], vec![high + slack; states]);
            run.incumbent.replace_all(operator.policy().to_vec(), low, high);
        }
        run.report(span);
        if run.incumbent.gap() <= run.limits.gap {
            return Ok(Status::Certified);
        }
        if least <= slack || stalled > PATIENCE {
            return Ok(Status::PrecisionLimit);
        }
        if on_trial && span >= PROGRESS * before {
            (on_trial, plain) = (false, next_plain);
            next_plain = next_plain.saturating_mul(2);
            h.clone_from(&run.bias);
            continue;
        }
        let middle = if ends { 0.0 } else { 0.5 * (low + high) };
        on_trial = method != Method::Vi && plain == 0;
        if on_trial {
            operator.freeze(&h, &run.signal);
            operator.correct(&h, &mut step, middle, NEAR, LINEAR * span, &run.signal);
        } else {
            plain = plain.saturating_sub(1);
            let half = |(u, h): (&f64, &f64)| 0.5 * (u - h - middle);
            step.clear();
            step.extend(operator.upper().iter().zip(&h).map(half));
        }
        let anchor = if ends { 0.0 } else { h[0] + step[0] };
        for (s, (h, step)) in h.iter_mut().zip(&step).enumerate() {
            *h = if model.is_terminal(s) { 0.0 } else { *h + step - anchor };
        }
    }
}
