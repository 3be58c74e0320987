//! One state's exact update, whatever the ball: which rows matter, when the budget is saturated,
//! when the bounds have met.
//!
//! F(v)_s = max{ μ : Σ_a d_a(μ) ≤ α }, d_a(μ) the least budget that lifts row a to the value μ:
//! none if its nominal value Q_a is there already, infinite above its largest value. Hence
//! - rows with Q_a ≥ μ do not matter; an old Q_a and the fall of v since bound it from below, so
//!   that most rows of a warm sweep are not even read;
//! - μ ≤ min_a max b_a, attained if the budget suffices to lift every row there (saturation, see
//!   [`super::saturation`]).
//!
//! A [`Ball`] moves the multipliers of the rows under work jointly, and reads a row again only
//! when its last reading does not hold there; where that does not settle, [`super::nested`] does.

use super::active::{Active, Least, RowMemory};
use super::ball::{Ball, Moved, Outcome, noise, slack};
use super::nested::{nested, nested_fixed};
use super::saturation::{at_peak, cheaply_saturated, saturated, saturated_fixed};
use super::standing::still_saturated;
use crate::lanes::dispatch;
use crate::uncertainty::Enclosure;

/// Joint steps before the nested search takes over.
const JOINT_STEPS: usize = 16;
/// Steps that aim beyond the ceiling before saturation is tested.
const STRIKES: usize = 3;
/// Bounds further apart than this share of the range are far apart.
const FAR: f64 = 1.0 / 64.0;

/// A step that changes multipliers by no more than this share is a small one.
const SMALL: f64 = 1e-6;

/// min over policies, max over the set: F(v)_s.
pub(super) fn free<B: Ball>(ball: &mut B, memory: &mut RowMemory<'_>, tolerance: f64) -> Outcome {
    let peaked = memory.peaked();
    if let Some(outcome) = peaked.and_then(|before| still_saturated(ball, memory, before)) {
        return outcome;
    }
    ball.begin();
    let mut ceiling = dispatch(Least(ball.rows().base));
    let mut active = std::mem::take(ball.active());
    active.resume(memory, ball.rows().base);
    *ball.active() = active;
    ball.move_along();
    let mut known = f64::NEG_INFINITY;
    if ball.active().len() == 0 {
        if let Some(k) = peaked {
            match saturated(ball, memory, ceiling) {
                Ok(outcome) => return outcome,
                Err(lowest) => ceiling = lowest,
            }
            // Without a level it was not saturated, but so nearly that joint steps led nowhere.
            if memory.nu[k] == f64::NEG_INFINITY && !ball.steepen() {
                return nested(ball, memory, tolerance, true);
            }
        }
        // Rows that were read on the way are where to go on.
        if ball.active().len() == 0 {
            match begin(ball, memory, tolerance, ceiling) {
                Begun::At(lowest, highest) => (known, ceiling) = (lowest, highest),
                Begun::Done(outcome) => return outcome,
            }
        }
    }
    for _ in 0..2 {
        if let Some(outcome) = joint(ball, memory, tolerance, ceiling, known) {
            return outcome;
        }
        match saturated(ball, memory, ceiling) {
            Ok(outcome) => return outcome,
            Err(lowest) => ceiling = lowest,
        }
        if !ball.steepen() {
            break;
        }
    }
    nested(ball, memory, tolerance, false)
}

enum Begun {
    /// Multipliers are set; no nominal value is lower than the first, no row can be lifted above the second.
    At(f64, f64),
    Done(Outcome),
}

/// Multipliers for a state that has none.
fn begin<B: Ball>(ball: &mut B, memory: &mut RowMemory<'_>, tolerance: f64, ceiling: f64) -> Begun {
    let drift = ball.drift().0;
    let ceiling = ball.ceiling(ceiling, memory.floor);
    // What is known of rows in advance may do; what their nominal values tell is more.
    if let Some(outcome) = cheaply_saturated(ball, memory, ceiling) {
        return Begun::Done(outcome);
    }
    if ball.guess(ceiling) {
        return Begun::At(dispatch(Least(memory.floor)) + drift, ceiling);
    }
    admit_below(ball, memory, ceiling);
    let known = dispatch(Least(memory.floor)) + drift;
    if let Some(outcome) = cheaply_saturated(ball, memory, ceiling) {
        return Begun::Done(outcome);
    }
    for _ in 0..JOINT_STEPS {
        if ball.active().len() == 0 {
            break;
        }
        let mu = ball.assess(false).mu;
        // Without a reading the rows may seem to reach beyond their peaks.
        let mu = if mu < ceiling { mu } else { 0.5 * (known + ceiling) };
        match ball.raise(mu) {
            Moved::All => return Begun::At(known, ceiling),
            Moved::Dropped => {}
            Moved::Stuck => break,
        }
    }
    let outcome = saturated(ball, memory, ceiling);
    Begun::Done(outcome.unwrap_or_else(|_| nested(ball, memory, tolerance, false)))
}

/// Joint steps until the bounds meet; `None` if they do not.
fn joint<B: Ball>(
    ball: &mut B,
    memory: &mut RowMemory<'_>,
    tolerance: f64,
    mut ceiling: f64,
    mut known: f64,
) -> Option<Outcome> {
    let (mut strikes, mut highest) = (0, ceiling);
    let mut looked = false;
    for _ in 0..JOINT_STEPS {
        ball.read();
        let mut at = ball.assess(false);
        let upper = at.bounds.upper;
        highest = highest.min(upper);
        // The rows under work alone: a bound once all others are known to lie above it.
        let lower = at.bounds.lower;
        if upper.is_finite() && upper - lower.max(known) <= tolerance.max(noise(ball, upper)) {
            let lower = lower.max(known).min(upper);
            if !admit_below(ball, memory, lower) {
                return Some(Outcome::Met(Enclosure { lower, upper }));
            }
            known = known.max(dispatch(Least(memory.floor)) + ball.drift().0);
            at = ball.assess(false);
        }
        let far = upper.is_nan() || upper - lower > FAR * ball.range();
        if far && !looked {
            looked = true;
            ceiling = ball.ceiling(ceiling, memory.floor);
            highest = highest.min(ceiling);
        }
        let mut moved = false;
        for _ in 0..JOINT_STEPS {
            let mut mu = at.mu;
            if mu.is_nan() || mu >= ceiling {
                let from = lower.max(known);
                mu = from + ball.stride(mu - from, highest - from) * (highest - from);
                // An upper bound below the ceiling rules saturation out.
                strikes += usize::from(highest == ceiling);
            }
            if strikes == STRIKES {
                strikes += 1;
                match saturated(ball, memory, ceiling) {
                    Ok(outcome) => return Some(outcome),
                    Err(lowest) => ceiling = lowest,
                }
            }
            if !mu.is_finite() {
                return None;
            }
            if admit_below(ball, memory, mu) {
                at = ball.assess(false);
                continue;
            }
            match ball.raise(mu) {
                Moved::All => moved = true,
                Moved::Dropped => at = ball.assess(false),
                Moved::Stuck => return None,
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

/// Puts every row to work whose nominal value lies below μ; whether there were any.
pub(super) fn admit_below<B: Ball>(ball: &mut B, memory: &mut RowMemory<'_>, mu: f64) -> bool {
    let (drift, anchor) = ball.drift();
    ball.active().list_below(mu - drift);
    if ball.active().pending.is_empty() {
        return false;
    }
    let pending = std::mem::take(&mut ball.active().pending);
    let mut value = std::mem::take(&mut ball.active().value);
    value.resize(pending.len(), 0.0);
    ball.nominals(&pending, &mut value);
    let before = ball.active().len();
    for (&k, &nominal) in pending.iter().zip(&value) {
        let k = k as usize;
        let slack = slack(ball, nominal);
        memory.floor[k] = nominal - slack - anchor;
        ball.active().set_screen(k, memory.floor[k]);
        // The anchor's rounding belongs to what is remembered, not to what was just read.
        if nominal < mu - 16.0 * f64::EPSILON * (nominal.abs() + ball.range()) {
            let base = ball.rows().base[k];
            ball.active().push(k, base, 0.0, 0.0);
            let j = ball.active().len() - 1;
            ball.active().nominal[j] = nominal;
        }
    }
    (ball.active().pending, ball.active().value) = (pending, value);
    let grown = ball.active().len() > before;
    if grown {
        ball.admit(before);
    }
    grown
}

/// max over the set for a fixed policy: `rows` of positive weight `x` share the budget.
pub(super) fn fixed<B: Ball>(
    ball: &mut B,
    memory: &mut RowMemory<'_>,
    rows: &[u32],
    x: &[f64],
    tolerance: f64,
) -> Outcome {
    ball.begin();
    ball.active().clear(memory.floor);
    let resumed = |k: u32| Some(memory.t[k as usize]).filter(|t| *t > 0.0 && t.is_finite());
    let warm: f64 = rows.iter().filter_map(|&k| resumed(k)).sum();
    let all_warm = warm > 0.0 && rows.iter().all(|&k| resumed(k).is_some());
    let total: f64 = x.iter().sum();
    for (&k, &x) in rows.iter().zip(x) {
        let (k, base) = (k as usize, ball.rows().base[k as usize]);
        let t = if all_warm { warm * x / total } else { 0.0 };
        ball.active().push(k, base, t, memory.nu[k]);
        // Rows with budgets of their own remember other floors than nominal values.
        let j = ball.active().len() - 1;
        ball.active().floor[j] = base - ball.range() - ball.drift().0;
    }
    let mut moving = true;
    if !all_warm {
        if let Some(outcome) = saturated_fixed(ball, rows, x) {
            return outcome;
        }
        for (j, &k) in rows.iter().enumerate() {
            let nominal = ball.nominal(k as usize);
            memory.floor[k as usize] = nominal - slack(ball, nominal) - ball.drift().1;
            ball.active().nominal[j] = nominal;
            ball.active().nu[j] = 0.0;
        }
        ball.admit(0);
        ball.assess(true);
        moving = ball.scale(x);
    }
    let mut known = f64::NEG_INFINITY;
    for _ in 0..JOINT_STEPS {
        if !moving {
            break;
        }
        ball.read();
        let at = ball.assess(true).bounds;
        known = known.max(at.lower);
        if at.upper.is_finite() && at.upper - known <= tolerance.max(noise(ball, at.upper)) {
            if tolerance == 0.0 {
                last_digits(ball, x);
            }
            return Outcome::Met(Enclosure { lower: known.min(at.upper), upper: at.upper });
        }
        moving = ball.scale(x);
    }
    saturated_fixed(ball, rows, x).unwrap_or_else(|| nested_fixed(ball, rows, x))
}

/// Bounds meet where the budget is spent to half of the digits only. One more step, if it is a small one, spends
/// it to the last.
fn last_digits<B: Ball>(ball: &mut B, x: &[f64]) {
    let rows = ball.active().len();
    let Active { t, nu, fresh, fresh_nu, .. } = ball.active();
    fresh[..rows].copy_from_slice(&t[..rows]);
    fresh_nu[..rows].copy_from_slice(&nu[..rows]);
    let moved = ball.scale(x);
    let Active { t, nu, fresh, fresh_nu, .. } = ball.active();
    let small = |(t, before): (&f64, &f64)| (t - before).abs() <= SMALL * before;
    if !(moved && t[..rows].iter().zip(&*fresh).all(small)) {
        t[..rows].copy_from_slice(&fresh[..rows]);
        nu[..rows].copy_from_slice(&fresh_nu[..rows]);
    }
}

/// Row `k` alone, at its peak, without a promise for the next sweep.
pub(super) fn peak_only<B: Ball>(ball: &mut B, k: usize, bounds: Enclosure) -> Outcome {
    at_peak(ball, k);
    Outcome::Peak { bounds, level: f64::NEG_INFINITY }
}

#[cfg(test)]
mod tests {
    use crate::algorithm::bellman::{Bellman, Player};
    use crate::instances::{Costs, Garnet, TIGHT, published_radius};
    use crate::uncertainty::UncertaintySet;
    use crate::{Options, Stop, solve};

    #[test]
    fn nature_spends_a_budget_to_the_last_digits_where_all_are_asked_for() {
        let garnet = Garnet {
            states: 100,
            actions: 100,
            branching: 0.5,
            costs: Costs::StateDriven,
            discount: 0.999,
            ..Garnet::default()
        };
        let model = garnet.model().expect("a model");
        let radius = TIGHT * published_radius(0.5, 100);
        let set = UncertaintySet::ellipsoid(radius);
        let stop = Stop::at_gap(1e-6);
        let options = Options { stop, ..Options::default() };
        let solution = solve(&model, &set, &options).expect("a solution");
        let v = &solution.values;
        let mut bellman = Bellman::new(&model, &set);
        // The bounds of nature's sweep meet where that of both players ended.
        bellman.sweep(v, Player::Both, 0.0, None);
        bellman.sweep(v, Player::Nature(&solution.policy), 0.0, None);
        let top = v.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        let mut spent = bellman.collect(0..model.states(), &|s, memory, _, out| {
            let mut spent = 0.0;
            for (k, r) in model.rows_of(s).enumerate().filter(|(k, _)| memory.t[*k] > 0.0) {
                for (i, p) in model.row(r).prob.iter().enumerate() {
                    let tilted = memory.t[k] * model.discount() * (v[i] - top) - memory.nu[k];
                    spent += 0.5 * (tilted.max(-p)).powi(2);
                }
            }
            out.push((spent / radius - 1.0).abs());
        });
        spent.sort_by(f64::total_cmp);
        // Bounds alone leave 1e-12.
        assert!(spent[90] < 5e-14, "{spent:?}");
    }
}
