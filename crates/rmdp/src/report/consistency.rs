//! A result against itself: what must hold in it whoever wrote it, and whatever model it is of.

use robust_mdp::sets::{Distance, Rectangularity, Support};
use robust_mdp::{Criterion, Objective};

use crate::question::Question;

use super::solved::{Budget, File, ValueBounds};

/// Sums and differences that were rounded in another order may differ by this share.
const ROUNDING: f64 = 1e-9;

/// What cannot be, in words.
pub(super) fn check(file: &File) -> Result<(), String> {
    lengths(file)?;
    question(file)?;
    bounds(file)?;
    policy(&file.policy)
}

fn lengths(file: &File) -> Result<(), String> {
    let states = file.lower.len();
    if states == 0 {
        return Err("no states in “lower”, expected one bound a state".into());
    }
    if file.upper.len() != states || file.policy.len() != states {
        return Err(format!(
            "“lower” has {states} states, “upper” {} and “policy” {}; expected as many",
            file.upper.len(),
            file.policy.len()
        ));
    }
    match &file.values {
        Some(values) if values.len() != states => Err(format!(
            "“lower” has {states} states and “values” {}; expected as many",
            values.len()
        )),
        _ => Ok(()),
    }
}

/// The objective that the file names.
pub(super) fn objective(file: &File) -> Result<Objective, String> {
    let known = [Objective::MinCost, Objective::MaxReward];
    let found = &file.objective;
    let named = known.into_iter().find(|objective| objective.name() == found);
    named.ok_or_else(|| format!("objective “{found}”, expected “min-cost” or “max-reward”"))
}

/// The question that the file answers.
pub(super) fn asked(file: &File) -> Result<Question, String> {
    let criterion = Question::criterion(&file.criterion, file.horizon)?;
    let (direction, deterministic) = (file.direction, file.deterministic);
    Ok(Question { criterion, direction, deterministic })
}

/// Objective, discount and set.
fn question(file: &File) -> Result<(), String> {
    objective(file)?;
    let (criterion, discount) = (asked(file)?.criterion, file.discount);
    let (fits, expected) = match criterion {
        Criterion::Discounted => ((0.0..1.0).contains(&discount), "a number in [0, 1)"),
        Criterion::Finite { .. } => ((0.0..=1.0).contains(&discount), "a number in [0, 1]"),
        Criterion::Total | Criterion::Average => (discount == 1.0, "1"),
    };
    if !fits {
        return Err(format!("discount {discount} of {criterion} costs, expected {expected}"));
    }
    if criterion == Criterion::Average && file.bias.len() != file.lower.len() {
        let (states, found) = (file.lower.len(), file.bias.len());
        return Err(format!("“lower” has {states} states and “bias” {found}; expected as many"));
    }
    if file.seconds < 0.0 {
        return Err(format!("{} seconds, expected at least 0", file.seconds));
    }
    let radii = match &file.radius {
        Budget::Uniform(radius) => std::slice::from_ref(radius),
        Budget::Each(radii) => &radii[..],
    };
    if let Some(radius) = radii.iter().find(|r| **r < 0.0) {
        return Err(format!("radius {radius}, expected at least 0"));
    }
    let (states, rows) = (file.policy.len(), file.policy.iter().map(Vec::len).sum::<usize>());
    match (&file.radius, file.set, file.rectangular, file.support) {
        (_, Distance::None, ..) if radii.iter().any(|r| *r != 0.0) => {
            Err("set none with a radius above 0, expected 0".into())
        }
        (_, set, _, Support::All) if set.set().is_some_and(|set| !set.leaves_support()) => {
            Err(format!("set {} with support all, expected support nominal", set.name()))
        }
        (_, set, Rectangularity::State, _) if set.set().is_some_and(|set| !set.adds_up()) => {
            Err(format!("set {} with rectangular s, expected sa", set.name()))
        }
        (Budget::Each(_), _, Rectangularity::State, _) if radii.len() != states => {
            Err(format!("{} radii for {states} states, expected one a state", radii.len()))
        }
        (Budget::Each(_), _, Rectangularity::StateAction, _)
            if radii.len() != rows && radii.len() != states =>
        {
            Err(format!("{} radii for {rows} state-action pairs, expected as many", radii.len()))
        }
        _ => Ok(()),
    }
}

fn bounds(file: &File) -> Result<(), String> {
    let (mut widest, mut lowest, mut highest) = (0.0_f64, f64::INFINITY, f64::NEG_INFINITY);
    for (s, (&lower, &upper)) in file.lower.iter().zip(&file.upper).enumerate() {
        if lower > upper {
            return Err(format!("state {s}: lower bound {lower} above the upper bound {upper}"));
        }
        if let Some(values) = &file.values
            && !(lower..=upper).contains(&values[s])
        {
            let value = values[s];
            return Err(format!("state {s}: value {value} outside its bounds {lower} to {upper}"));
        }
        widest = widest.max(upper - lower);
        (lowest, highest) = (lowest.min(lower), highest.max(upper));
    }
    let slack = ROUNDING * (widest + 1e-5 * lowest.abs().max(highest.abs()));
    let gap = file.gap;
    if gap < 0.0 {
        return Err(format!("gap {gap}, expected at least 0"));
    }
    if (gap - widest).abs() > slack {
        return Err(format!(
            "gap {gap}, but the bounds of a state are up to {widest} apart; expected the same"
        ));
    }
    let ValueBounds { lower, upper } = file.value;
    if lower > upper {
        return Err(format!("“value” has a lower bound {lower} above the upper bound {upper}"));
    }
    if lower < lowest - slack || upper > highest + slack {
        return Err(format!(
            "“value” lies between {lower} and {upper}, expected an average over states, whose bounds \
             lie between {lowest} and {highest}"
        ));
    }
    if upper - lower > gap + slack {
        let apart = upper - lower;
        return Err(format!("the bounds of “value” are {apart} apart, expected at most {gap}"));
    }
    Ok(())
}

fn policy(policy: &[Vec<f64>]) -> Result<(), String> {
    let no_distribution = |x: &Vec<f64>| {
        !x.is_empty() && (x.iter().any(|p| *p < 0.0) || (x.iter().sum::<f64>() - 1.0).abs() > 1e-9)
    };
    match policy.iter().position(no_distribution) {
        Some(s) => Err(format!("state {s}: the policy is not a distribution over actions")),
        None => Ok(()),
    }
}
