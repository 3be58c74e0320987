//! What excesses prove, by the criterion. e⁺ ≥ T_x v_U − v_U and e⁻ ≥ v_L − F(v_L), state by state; where policies
//! maximise too, e⁺ ≥ F(v_U) − v_U and e⁻ ≥ v_L − T v_L for the policy and the kernel at hand.

use super::interval::{Interval, or_infinite};
use super::state::{Check, Excess};
use crate::certificate::Certificate;
use crate::certificate::step::{StepRef, Terms};
use crate::loops::bounds::Bounds;
use crate::model::Model;
use crate::solve::ended;

/// v_U + max e⁺/(1 − λ) and v_L − max e⁻/(1 − λ).
pub(super) fn discounted(model: &Model, step: StepRef<'_>, excesses: &[Excess]) -> Bounds {
    let rest = (1.0 - model.discount()).next_down();
    let wider = |x: f64| if x > 0.0 { (x / rest).next_up() } else { 0.0 };
    let up = wider(largest(excesses, |x| x.above));
    let down = wider(largest(excesses, |x| x.below));
    widened(model, step, |_| up, |_| down)
}

/// max e⁺ and −max e⁻, of the average: T h ≤ h + g.
pub(super) fn average(excesses: &[Excess]) -> Bounds {
    let up = largest(excesses, |x| x.above);
    let down = largest(excesses, |x| x.below);
    Bounds { lower: vec![-down; excesses.len()], upper: vec![up; excesses.len()] }
}

/// One step back: T_x v ≤ T_x v_U + λe where v ≤ v_U + e, and so below; `next` bounds v.
pub(super) fn step_back(
    model: &Model,
    step: StepRef<'_>,
    excesses: &[Excess],
    next: &Bounds,
) -> Bounds {
    let far = |a: &[f64], b: &[f64]| {
        let apart = a.iter().zip(b).map(|(a, b)| (a - b).next_up());
        let far = apart.fold(f64::NEG_INFINITY, |far, x| far.max(or_infinite(x)));
        // Terminal states stay at 0, so that bounds of all others cannot be moved inwards alike.
        (model.discount() * far.max(0.0)).next_up()
    };
    let (up, down) = (far(&next.upper, step.upper), far(step.lower, &next.lower));
    let above = |s: usize| (excesses[s].above + up).next_up();
    let below = |s: usize| (excesses[s].below + down).next_up();
    widened(model, step, above, below)
}

/// A total cost; `None` with what is missing.
pub(super) fn total(
    model: &Model,
    certificate: &Certificate,
    terms: Terms,
    excesses: &[Excess],
    steps: &[f64],
) -> Result<Bounds, &'static str> {
    let step = certificate.first();
    let set = &certificate.set;
    let up = largest(excesses, |x| x.above).max(0.0);
    let down = largest(excesses, |x| x.below).max(0.0);
    let weighted = |by: f64| move |s: usize| (by * steps[s]).next_up();
    if certificate.surely {
        return Ok(widened(model, step, weighted(up), weighted(down)));
    }
    let over = ended(model, set);
    let acting = (0..model.states()).filter(|&s| !over[s]).flat_map(|s| model.rows_of(s));
    let leads = set.leads();
    let costs = acting.map(|r| model.row(r).cost_range(leads, model.states()));
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    let (least, most) = costs.fold(none, |(low, high), (l, h)| (low.min(l), high.max(h)));
    // In the sign of the side that speaks of all policies.
    let (least, most, v, excess) = match terms.cooperative {
        true => (-most, -least, step.upper, up),
        false => (least, most, step.lower, down),
    };
    let sign = if terms.cooperative { -1.0 } else { 1.0 };
    // Sums of two costs are off by a rounding.
    let least = least.next_down();
    let far: Box<dyn Fn(usize) -> f64> = if least > 0.0 && v.iter().all(|v| sign * v >= 0.0) {
        let share = (excess / least).next_up();
        Box::new(move |s| (share * v[s].abs()).next_up())
    } else if most <= 0.0 && v.iter().all(|v| sign * v <= 0.0) {
        if excess > 0.0 {
            return Err("bounds over policies that may never end must hold as they are");
        }
        Box::new(|_| 0.0)
    } else {
        return Err("some policies may never end, and costs do not rule them out");
    };
    Ok(match terms.cooperative {
        true => widened(model, step, far, weighted(down)),
        false => widened(model, step, weighted(up), far),
    })
}

/// Whether `steps` bounds the number of steps to the end: at least 1 + the mean of it after a step, but 0 where all is
/// over.
pub(super) fn ends(
    model: &Model,
    certificate: &Certificate,
    terms: Terms,
    threads: Option<usize>,
) -> bool {
    let Some(step) = certificate.further.first().map(|step| step.as_ref()) else { return false };
    let over = ended(model, &certificate.set);
    let steps = step.upper;
    let mut unit = model.clone();
    unit.count_steps(&over);
    if !certificate.surely
        && step.policy.iter().map(|w| (w.row, w.probability)).ne(certificate
            .policy
            .iter()
            .filter(|w| w.probability > 0.0)
            .map(|w| (w.row, w.probability)))
    {
        return false;
    }
    let check = Check::new(&unit, &certificate.set, step, terms.of_end(certificate.surely));
    let Ok((excesses, _)) = crate::pool::in_pool(threads, || check.excesses(None)) else {
        return false;
    };
    (0..steps.len()).all(|s| match over[s] {
        true => steps[s] == 0.0 && certificate.upper[s] == 0.0 && certificate.lower[s] == 0.0,
        false => steps[s] > 0.0 && excesses[s].above <= 0.0,
    })
}

fn largest(excesses: &[Excess], of: fn(&Excess) -> f64) -> f64 {
    excesses.iter().fold(f64::NEG_INFINITY, |most, x| most.max(or_infinite(of(x))))
}

/// v_U + `up` and v_L − `down`, in all states but terminal ones.
fn widened(
    model: &Model,
    step: StepRef<'_>,
    up: impl Fn(usize) -> f64,
    down: impl Fn(usize) -> f64,
) -> Bounds {
    let acting = |s: usize, x: f64| if model.is_terminal(s) { 0.0 } else { x };
    let states = 0..model.states();
    let upper = states.clone().map(|s| acting(s, (step.upper[s] + up(s)).next_up()));
    let lower = states.map(|s| acting(s, (step.lower[s] - down(s)).next_down()));
    Bounds { upper: upper.collect(), lower: lower.collect() }
}

/// At least the mean under the initial distribution over its exact sum.
pub(super) fn mean_above(model: &Model, v: &[f64]) -> f64 {
    let p = |s: usize| model.initial().map_or(1.0, |p| p[s]);
    let mass = Interval::sum((0..v.len()).map(p), 0.0);
    or_infinite((Interval::sum((0..v.len()).map(|s| p(s) * v[s]), 1.0) / mass).hi())
}
