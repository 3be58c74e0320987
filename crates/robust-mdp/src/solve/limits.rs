//! What can be asked of a model and a set: gaps, settings, sizes of numbers and of memory.

use super::{Criterion, Direction, Options, Oracle};
use crate::choice::Chosen;
use crate::error::{Error, MEMORY};
use crate::geometry::Geometry;
use crate::loops::fom_vi::FomSettings;
use crate::model::{Model, largest};
use crate::oracle::first_order::Setup;
use crate::rows::Layout;
use crate::sets::{Distance, UncertaintySet};

/// The default gap, as a share of the interval in which all values lie.
const PRECISION: f64 = 1e-7;
/// About as close as bounds get, as a share of the largest |cost| over (1 − λ)²: a value of size
/// c/(1 − λ) rounds, and what one step rounds adds up over 1/(1 − λ) steps. Enough for the models and
/// discounts of tests/asked.rs.
const ROUNDING: f64 = 1e-13;
/// No proof is closer: products of smaller numbers vanish.
const UNDERFLOW: f64 = 1e-297;

pub(crate) fn target_gap(
    model: &Model,
    set: &UncertaintySet,
    criterion: Criterion,
    gap: Option<f64>,
) -> Result<f64, Error> {
    match gap {
        None => Ok(default_gap(model, set, criterion.steps(model.discount()))),
        Some(gap) if gap.is_finite() && gap > 0.0 => Ok(gap),
        Some(gap) => Err(Error::Input(format!("the gap must be a number > 0, not {gap}"))),
    }
}

/// 1e-7·(max c − min c)·n, and no less than rounding allows; a value is worth `steps` n, discounted 1/(1 − λ).
///
/// All values lie in an interval of length (max c − min c)·n, over the costs of steps that the
/// set allows and 0 where there are terminal states. So the default asks for seven digits of it, in
/// whatever unit costs are given and whatever is added to all of them.
fn default_gap(model: &Model, set: &UncertaintySet, steps: f64) -> f64 {
    let (least, most) = model.cost_range(set.leads());
    let rounding = ROUNDING * least.abs().max(most.abs()) * steps * steps;
    match (least, most) {
        // Where all costs are 0, so are all values.
        (0.0, 0.0) => PRECISION,
        _ => (PRECISION * (most - least) * steps).max(rounding).max(UNDERFLOW),
    }
}

pub(super) fn check_fom(set: &UncertaintySet, fom: &FomSettings) -> Result<Setup, Error> {
    for (name, exponent) in [("weights", fom.weights), ("epochs", fom.epochs)] {
        if !(exponent.is_finite() && (0.0..=10.0).contains(&exponent)) {
            return Err(Error::Input(format!(
                "the exponent of the {name} must lie in [0, 10], not {exponent}"
            )));
        }
    }
    Ok(fom.setup.unwrap_or(default_setup(set)))
}

/// Whether the set has what the oracle needs of it.
pub(super) fn check_oracle(set: &UncertaintySet, oracle: Oracle) -> Result<(), Error> {
    match set.distance.set() {
        Some(found) if oracle == Oracle::InteriorPoint && found.cone().is_none() => {
            Err(Error::Input(format!(
                "the interior-point oracle needs the conic form of a set, which {} does not have: \
                 use the exact oracle",
                found.title()
            )))
        }
        _ => Ok(()),
    }
}

/// Whether what is asked for is something that a criterion and a direction can use.
pub(super) fn check_criterion(
    options: &Options,
    chosen: &Chosen,
    checkpointed: bool,
) -> Result<(), Error> {
    let Options { criterion, direction, .. } = options;
    let refuse = |message: String| Err(Error::Input(message));
    if let Criterion::Finite { horizon: 0 } = criterion {
        return refuse("a horizon of 0 steps, expected at least 1".into());
    }
    // Each step has one sweep, in which first-order steps may end far from the gap.
    if let (Criterion::Finite { .. }, Oracle::FirstOrder) = (criterion, chosen.oracle) {
        return refuse(
            "finite horizons need the exact or the interior-point oracle, not first-order".into(),
        );
    }
    // Policies of the other oracles are averages or interior points, and mix.
    let needs_exact = [
        ("total costs need", *criterion == Criterion::Total),
        ("averages need", *criterion == Criterion::Average),
        ("best cases need", *direction == Direction::Best),
        ("deterministic policies need", options.deterministic),
    ];
    let needs_exact = needs_exact.into_iter().find(|(_, needs)| *needs);
    if let (Some((what, _)), Oracle::FirstOrder | Oracle::InteriorPoint) =
        (needs_exact, chosen.oracle)
    {
        let oracle = chosen.oracle;
        return refuse(format!("{what} the exact oracle, not {oracle}"));
    }
    if *criterion == Criterion::Discounted {
        return Ok(());
    }
    let unused = [
        (checkpointed, "checkpoints are"),
        (options.published.is_some(), "the published residual is"),
        (options.start.is_some() && *criterion != Criterion::Average, "starting values are"),
        (options.bracketed && *criterion == Criterion::Total, "rows priced one by one are"),
    ];
    match unused.into_iter().find(|(given, _)| *given) {
        Some((_, what)) => {
            refuse(format!("{what} for discounted costs, but the objective is {criterion}"))
        }
        None => Ok(()),
    }
}

impl Setup {
    /// The geometries that serve a set best: the policy is best kept Euclidean with every set, the
    /// kernel in the set's own geometry (`rmdp reproduce setups`, bench/kl-geometry.sh).
    pub fn of(distance: Distance) -> Setup {
        let y = distance.set().map_or(Geometry::Euclidean, |set| set.geometry());
        Setup { x: Geometry::Euclidean, y }
    }
}

/// The geometries that serve a set best.
pub(crate) fn default_setup(set: &UncertaintySet) -> Setup {
    Setup::of(set.distance)
}

/// Values are squared on the way; they must stay far from overflow.
pub(crate) fn check_scale(model: &Model, criterion: Criterion) -> Result<(), Error> {
    const LARGEST: f64 = 1e100;
    let discount = model.discount();
    if criterion == Criterion::Discounted && discount == 1.0 {
        return Err(Error::Input(
            "costs that are not discounted have no sum over all time: expected a discount factor below 1, or \
             another objective (total, average, or a finite horizon)"
                .into(),
        ));
    }
    let value = farthest_value(model, criterion);
    if value <= LARGEST {
        return Ok(());
    }
    let size = |r: &usize| model.row(*r).largest_cost().max(model.cost[*r].abs());
    let farthest = (0..model.rows()).max_by(|a, b| size(a).total_cmp(&size(b))).unwrap_or(0);
    let (place, cost) = (model.place(farthest), size(&farthest));
    Err(Error::Input(format!(
        "{place}: a cost of size {cost:e} at discount {discount} gives values up to {value:e}; values \
         up to {LARGEST:e} can be computed: rescale the costs"
    )))
}

/// No value is farther from 0: no step costs more than the largest cost.
pub(super) fn farthest_value(model: &Model, criterion: Criterion) -> f64 {
    // Next states that a row does not list cost what the row costs.
    let cost = model.largest_cost().max(largest(&model.cost));
    criterion.sum_of(cost, model.discount())
}

/// Values to start from in the sign of costs, moved to where values can be.
pub(super) fn check_start(model: &Model, options: &Options) -> Result<Option<Vec<f64>>, Error> {
    let Some(start) = &options.start else { return Ok(None) };
    if start.len() != model.states() {
        let (found, states) = (start.len(), model.states());
        return Err(Error::Input(format!(
            "{found} starting values, expected one for each of {states} states"
        )));
    }
    if let Some(s) = start.iter().position(|v| !v.is_finite()) {
        return Err(Error::Input(format!(
            "state {s}: the starting value is {}, expected a finite number",
            start[s]
        )));
    }
    if options.published.is_some() {
        return Err(Error::Input("value iteration as published starts from 0".into()));
    }
    let (sign, far) = (model.objective().sign(), farthest_value(model, options.criterion));
    let of = |(s, v): (usize, &f64)| match model.is_terminal(s) {
        true => 0.0,
        false => (sign * v).clamp(-far, far),
    };
    Ok(Some(start.iter().enumerate().map(of).collect()))
}

/// Sets that may leave the nominal support need an entry for every state in each of the `kernels`
/// arrays that a method keeps, and a dense chain.
pub(crate) fn check_memory(model: &Model, set: &UncertaintySet, kernels: u64) -> Result<(), Error> {
    let layout = Layout::new(model, set);
    if matches!(layout, Layout::Positive(_)) {
        return Ok(());
    }
    let (entries, states) = (layout.entries(model) as u64, model.states() as u64);
    let needed = 8 * (kernels * entries + states * states);
    if needed > MEMORY && !model.is_dense() {
        return Err(Error::Memory {
            what: format!(
                "a set ({}) that may put mass on every state (--support all)",
                set.distance.title()
            ),
            needed,
            allowed: MEMORY,
        });
    }
    Ok(())
}
