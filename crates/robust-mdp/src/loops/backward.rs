//! Backward induction over a finite horizon: v_T = 0, v_t = F(v_{t+1}), with a policy for every t.
//!
//! F is monotone and moves no farther than λ times what its argument does. So where v_{t+1} lies between
//! w − e and w + e', one sweep at w proves F(w) − λe ≤ v_t ≤ F_x(w) + λe', rounding aside.

use super::bounds::{Bounds, rounding, value_range};
use super::operator::Operator;
use crate::error::{Error, MEMORY};
use crate::incumbent::widest;
use crate::sets::UncertaintySet;
use crate::solution::Stage;
use crate::solve::{Criterion, Run, Status};

/// Share of the asked gap that the oracle's own width may take.
const ORACLE_SHARE: f64 = 0.5;

pub(crate) fn run(
    horizon: u32,
    mut operator: Operator<'_>,
    set: &UncertaintySet,
    run: &mut Run<'_>,
) -> Result<Status, Error> {
    let model = operator.model;
    let (states, discount) = (model.states(), model.discount());
    let stages = u64::from(horizon);
    let needed = stages * 8 * (2 * states + model.rows()) as u64;
    if needed > MEMORY {
        let what = format!("a policy for each of {horizon} steps");
        return Err(Error::Memory { what, needed, allowed: MEMORY });
    }
    let steps = Criterion::Finite { horizon }.steps(discount);
    let tolerance = if operator.is_exact() { 0.0 } else { ORACLE_SHARE * run.limits.gap / steps };
    run.begin(model);
    let (mut w, mut below, mut above) = (vec![0.0; states], 0.0, 0.0);
    let mut status = None;
    for _ in 0..horizon {
        let spent = run.work.sweeps >= run.limits.max_sweeps;
        status = run.stopped().or(spent.then_some(Status::SweepLimit));
        if status.is_some() {
            break;
        }
        operator.sweep(&w, tolerance, &run.signal);
        status = run.stopped();
        if status.is_some() {
            break; // some states may not be known
        }
        let largest = |v: &[f64]| v.iter().fold(run.largest_term, |m, v| m.max(v.abs()));
        let slack = rounding(largest(&w).max(largest(operator.upper())), 0.0, run.width);
        let (down, up) = (discount * below + slack, discount * above + slack);
        let acting = |(s, bound): (usize, f64)| if model.is_terminal(s) { 0.0 } else { bound };
        let lower = operator.lower().iter().map(|l| l - down).enumerate().map(acting);
        let upper = operator.upper().iter().map(|u| u + up).enumerate().map(acting);
        let (lower, upper): (Vec<f64>, Vec<f64>) = (lower.collect(), upper.collect());
        let middle = lower.iter().zip(&upper).map(|(l, u)| 0.5 * (l + u));
        let moved = middle.clone().zip(&w).fold(0.0_f64, |m, (v, w)| m.max((v - w).abs()));
        w = middle.collect();
        let most = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0_f64, |m, (a, b)| m.max(a - b));
        (below, above) = (most(&w, &lower), most(&upper, &w));
        run.stages.push(Stage { lower, upper, policy: operator.policy().to_vec() });
        run.work.sweeps += 1;
        run.work.oracle_calls += states as u64;
        operator.account(&mut run.work);
        run.report(moved);
    }
    // What has not been reached is bounded by costs.
    while run.stages.len() < horizon as usize {
        let left = Criterion::Finite { horizon: run.stages.len() as u32 + 1 };
        let Bounds { lower, upper } = Bounds::within(model, value_range(model, set, left));
        let policy = run.incumbent.policy.clone();
        run.stages.push(Stage { lower, upper, policy });
    }
    run.stages.reverse();
    let Stage { lower, upper, policy } = run.stages[0].clone();
    run.incumbent.replace_all(policy, lower, upper);
    let gap = run.stages.iter().fold(0.0_f64, |m, at| m.max(widest(&at.lower, &at.upper)));
    let reached = if gap <= run.limits.gap { Status::Certified } else { Status::PrecisionLimit };
    Ok(status.unwrap_or(reached))
}
