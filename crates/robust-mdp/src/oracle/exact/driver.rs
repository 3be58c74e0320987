//! One state's update: which rows matter, when the budget is saturated, when the bounds have met.
//!
//! F = max{ u : Σ_a κ_a·g_a(u) ≤ α } (see [`crate::sets::set`]). Hence
//! - rows with nominal value ≥ F do not matter: an old nominal value and the fall of v since bound it
//!   from below, so that most rows of a warm sweep are not even read (screening);
//! - F ≤ min_a max b_a, attained if the budget suffices to raise every row there ([`super::saturation`]).
//!
//! A [`Joint`] driver moves the multipliers of all active rows at once; where it does not settle, and for
//! sets that have none, [`super::bracketed`] does.

use super::active::{Active, RowMemory, least};
use super::bracketed;
use super::joint::{Joint, Stepped};
use super::problem::{StateOutcome, StateProblem};
use super::saturation::{saturated, saturated_fixed, saturated_unread};
use crate::rows::SweepValues;
use crate::sets::Enclosure;

/// Joint steps before the bracketed driver takes over.
const JOINT_STEPS: usize = 16;
/// Steps that aim beyond the saturation level before saturation is tested.
const STRIKES: usize = 3;
/// A step that changes multipliers by no more than this share is a small one.
const SMALL: f64 = 1e-6;

/// What settles the active rows, by their kind.
pub(super) enum Driver<'a> {
    /// All rows at once.
    Joint(&'a mut dyn Joint),
    /// Row by row.
    Bracketed,
}

/// min over policies, max over the set: F(v)_s.
pub(super) fn free(
    problem: &mut StateProblem<'_>,
    driver: Driver<'_>,
    memory: &mut RowMemory<'_>,
    tolerance: f64,
) -> StateOutcome {
    let mut level = least(problem.rows.bases());
    if memory.saturated().is_some() {
        if let Some(outcome) = saturated_unread(problem, memory, level) {
            return outcome;
        }
        match saturated(problem, memory, level) {
            Ok(outcome) => return outcome,
            Err(lowest) => level = lowest,
        }
    }
    let StateProblem { active, rows, kappa, .. } = &mut *problem;
    active.resume(memory, rows, *kappa);
    if problem.active.len() == 0
        && let Some(outcome) = saturated_unread(problem, memory, level)
    {
        return outcome;
    }
    let joint = match driver {
        Driver::Joint(joint) => joint,
        Driver::Bracketed => return bracketed::free(problem, memory, tolerance, level),
    };
    if problem.active.len() > 0 {
        joint.begin(problem);
        let outcome = step(problem, joint, memory, tolerance, level, f64::NEG_INFINITY);
        joint.finish(problem);
        if let Some(outcome) = outcome {
            return outcome;
        }
        // Multipliers of other values may be worse than none.
        problem.active.clear(memory.screen);
    }
    joint.begin(problem);
    let outcome = match begin(problem, joint, memory, level) {
        Begun::At(known) => step(problem, joint, memory, tolerance, level, known),
        Begun::Saturated(outcome) => return outcome,
        Begun::Stuck => None,
    };
    joint.finish(problem);
    if let Some(outcome) = outcome {
        return outcome;
    }
    match saturated(problem, memory, level) {
        Ok(outcome) => outcome,
        Err(lowest) => bracketed::free(problem, memory, tolerance, lowest),
    }
}

enum Begun {
    /// Multipliers are set; no nominal value is lower than this.
    At(f64),
    Saturated(StateOutcome),
    Stuck,
}

/// Multipliers for a state that has none.
fn begin(
    problem: &mut StateProblem<'_>,
    joint: &mut dyn Joint,
    memory: &mut RowMemory<'_>,
    level: f64,
) -> Begun {
    if admit_below(problem, memory, level) {
        joint.admit(problem, 0);
    }
    let known = least(memory.screen) + problem.values().fall;
    if let Some(outcome) = saturated_unread(problem, memory, level) {
        return Begun::Saturated(outcome);
    }
    for _ in 0..JOINT_STEPS {
        if problem.active.len() == 0 {
            break;
        }
        let level = level.min(joint.level(problem));
        let mu = joint.assess(problem, false).mu;
        // Without a reading the rows may seem to reach beyond their maxima.
        let mu = if mu < level { mu } else { 0.5 * (known + level) };
        match joint.raise(problem, mu) {
            Stepped::All => return Begun::At(known),
            Stepped::Dropped => {}
            Stepped::Stuck => break,
        }
    }
    Begun::Stuck
}

/// Joint steps until the bounds meet; `None` if they do not.
fn step(
    problem: &mut StateProblem<'_>,
    joint: &mut dyn Joint,
    memory: &mut RowMemory<'_>,
    tolerance: f64,
    mut level: f64,
    mut known: f64,
) -> Option<StateOutcome> {
    let (mut strikes, mut highest) = (0, level);
    for _ in 0..JOINT_STEPS {
        level = level.min(joint.level(problem));
        joint.read(problem);
        let mut at = joint.assess(problem, false);
        let upper = at.bounds.upper;
        highest = highest.min(upper).min(level);
        // The active rows alone: a bound once all others are known to lie above it.
        let lower = at.bounds.lower.max(known);
        let enough = tolerance.max(problem.noise(upper));
        if lower - upper > enough {
            return None; // digits are lost
        }
        if upper.is_finite() && upper - lower <= enough {
            let lower = lower.min(upper);
            let from = problem.active.len();
            if !admit_below(problem, memory, lower) {
                return Some(StateOutcome::Met(Enclosure { lower, upper }));
            }
            joint.admit(problem, from);
            known = known.max(least(memory.screen) + problem.values().fall);
            at = joint.assess(problem, false);
        }
        let mut moved = false;
        for _ in 0..JOINT_STEPS {
            let mut mu = at.mu;
            if mu.is_nan() || mu >= level {
                mu = lower + joint.stride(mu - lower, highest - lower) * (highest - lower);
                // An upper bound below the level rules saturation out.
                strikes += usize::from(highest == level);
            }
            if strikes == STRIKES {
                strikes += 1;
                match saturated(problem, memory, level) {
                    Ok(outcome) => return Some(outcome),
                    Err(lowest) => level = lowest,
                }
            }
            if !mu.is_finite() {
                return None;
            }
            let from = problem.active.len();
            if admit_below(problem, memory, mu) {
                joint.admit(problem, from);
                at = joint.assess(problem, false);
                continue;
            }
            match joint.raise(problem, mu) {
                Stepped::All => moved = true,
                Stepped::Dropped => at = joint.assess(problem, false),
                Stepped::Stuck => return None,
            }
            if moved {
                break;
            }
        }
        if !moved {
            return None;
        }
    }
    None
}

/// Makes every row active whose nominal value lies below μ; whether there were any.
pub(super) fn admit_below(
    problem: &mut StateProblem<'_>,
    memory: &mut RowMemory<'_>,
    mu: f64,
) -> bool {
    let SweepValues { fall, fall_before, .. } = *problem.values();
    problem.active.list_below(mu - fall);
    if problem.active.pending.is_empty() {
        return false;
    }
    let pending = std::mem::take(&mut problem.active.pending);
    let mut value = std::mem::take(&mut problem.active.value);
    value.resize(pending.len(), 0.0);
    problem.rows.nominals(&pending, &mut value);
    let before = problem.active.len();
    for (&k, &nominal) in pending.iter().zip(&value) {
        let k = k as usize;
        memory.screen[k] = nominal - problem.slack(k, nominal) - fall_before;
        problem.active.set_screen(k, memory.screen[k]);
        // The rounding of that fall belongs to what is remembered, not to what was just read.
        if nominal < mu - 16.0 * f64::EPSILON * (nominal.abs() + problem.rows.range) {
            problem.rows.make(k);
            let (base, kappa) = (problem.rows.base(k), problem.kappa(k));
            problem.active.push(k, base, kappa, 0.0, 0.0);
            let j = problem.active.len() - 1;
            problem.active.nominal[j] = Some(nominal);
        }
    }
    (problem.active.pending, problem.active.value) = (pending, value);
    problem.active.len() > before
}

/// max over the set for a fixed policy: `rows` of positive weight `x` share the budget.
pub(super) fn fixed(
    problem: &mut StateProblem<'_>,
    driver: Driver<'_>,
    memory: &mut RowMemory<'_>,
    rows: &[u32],
    x: &[f64],
    tolerance: f64,
) -> StateOutcome {
    problem.active.clear(memory.screen);
    let points = || rows.iter().map(|&k| memory.point(k as usize));
    let warm = points().all(|point| point.is_some());
    let weights = rows.iter().map(|&k| memory.t[k as usize] * problem.kappa(k as usize));
    let scale = if warm { weights.sum::<f64>() / x.iter().sum::<f64>() } else { 0.0 };
    for (&k, &x) in rows.iter().zip(x) {
        let k = k as usize;
        problem.rows.make(k);
        let (base, kappa) = (problem.rows.base(k), problem.kappa(k));
        let t = scale * x / kappa;
        let nu = if warm { memory.nu[k] * (t / memory.t[k]) } else { 0.0 };
        problem.active.push(k, base, kappa, t, nu);
        // Rows with budgets of their own remember worst cases in place of nominal values.
        let j = problem.active.len() - 1;
        problem.active.bound[j] = base - problem.rows.range - problem.values().fall;
    }
    if !warm && let Some(outcome) = saturated_fixed(problem, rows, x) {
        return outcome;
    }
    let joint = match driver {
        Driver::Joint(joint) => joint,
        Driver::Bracketed => return bracketed::fixed(problem, rows, x, tolerance),
    };
    joint.begin(problem);
    if !warm {
        joint.admit(problem, 0);
        joint.assess(problem, true);
    }
    let (mut moving, mut known) = (warm || joint.scale(problem, x), f64::NEG_INFINITY);
    for _ in 0..JOINT_STEPS {
        if !moving {
            break;
        }
        joint.read(problem);
        let at = joint.assess(problem, true).bounds;
        known = known.max(at.lower);
        let enough = tolerance.max(problem.noise(at.upper));
        if known - at.upper > enough {
            break; // digits are lost
        }
        if at.upper.is_finite() && at.upper - known <= enough {
            if tolerance == 0.0 {
                last_digits(problem, joint, x);
            }
            joint.finish(problem);
            return StateOutcome::Met(Enclosure { lower: known.min(at.upper), upper: at.upper });
        }
        moving = joint.scale(problem, x);
    }
    joint.finish(problem);
    saturated_fixed(problem, rows, x)
        .unwrap_or_else(|| bracketed::fixed(problem, rows, x, tolerance))
}

/// Bounds meet where the budget is spent to half of the digits only. One more step, if it is a small
/// one, spends it to the last.
fn last_digits(problem: &mut StateProblem<'_>, joint: &mut dyn Joint, x: &[f64]) {
    let rows = problem.active.len();
    let Active { t, nu, fresh, fresh_nu, .. } = &mut *problem.active;
    fresh[..rows].copy_from_slice(&t[..rows]);
    fresh_nu[..rows].copy_from_slice(&nu[..rows]);
    let moved = joint.scale(problem, x);
    let Active { t, nu, fresh, fresh_nu, .. } = &mut *problem.active;
    let small = |(t, before): (&f64, &f64)| (t - before).abs() <= SMALL * before;
    if !(moved && t[..rows].iter().zip(&*fresh).all(small)) {
        t[..rows].copy_from_slice(&fresh[..rows]);
        nu[..rows].copy_from_slice(&fresh_nu[..rows]);
    }
}
