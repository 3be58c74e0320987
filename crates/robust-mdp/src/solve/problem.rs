//! The problem that a question comes down to.
//!
//! Every question is one of min over policies, max over kernels, with nature as adversary or as partner:
//! - Best case, min_x min_y: with costs −c it is −max_x max_y, in which the players have the same goal. A bilinear
//!   function has its extremes on vertices, so that one row spends the whole budget of a state: rows are
//!   worth what budgets of their own allow, κ_a·d(y_a, p_a) ≤ α.
//! - Deterministic policies under a budget that a state's rows share: whatever row is chosen, nature spends
//!   the whole budget on it. So these are the policies of the same (s,a)-rectangular set, which has a best one
//!   among them, and the best is found exactly.

use std::borrow::Cow;

use super::{Criterion, Direction};
use crate::model::Model;
use crate::sets::{Distance, Radius, Rectangularity, UncertaintySet};

/// A model and a set whose worst case (`cooperative`: common best case) in costs answers a question.
pub(crate) struct Problem<'a> {
    pub(crate) model: Cow<'a, Model>,
    pub(crate) set: Cow<'a, UncertaintySet>,
    /// Policy and nature both maximise.
    pub(crate) cooperative: bool,
}

impl<'a> Problem<'a> {
    pub(crate) fn new(
        model: &'a Model,
        set: &'a UncertaintySet,
        criterion: Criterion,
        direction: Direction,
        deterministic: bool,
    ) -> Problem<'a> {
        let (model, cooperative) = model_of(model, set, criterion, direction);
        let mut set = Cow::Borrowed(set);
        if (cooperative || deterministic) && set.rectangularity == Rectangularity::State {
            set = Cow::Owned(row_by_row(&model, &set));
        }
        Problem { model, set, cooperative }
    }
}

/// The model of the problem, and whether policies and nature have the same goal there.
pub(crate) fn model_of<'a>(
    model: &'a Model,
    set: &UncertaintySet,
    criterion: Criterion,
    direction: Direction,
) -> (Cow<'a, Model>, bool) {
    // Where nothing is uncertain there is one kernel, the best and the worst.
    let cooperative = direction == Direction::Best && !is_certain(set);
    let mut model = Cow::Borrowed(model);
    let discount = criterion.discount(model.discount());
    if discount != model.discount() {
        model.to_mut().discount = discount;
    }
    if cooperative {
        model.to_mut().negate();
    }
    (model, cooperative)
}

/// Whether the nominal kernel is the only one.
fn is_certain(set: &UncertaintySet) -> bool {
    set.distance == Distance::None || set.radius == Radius::Uniform(0.0)
}

/// { y : κ_a·d(y_a, p_a) ≤ α_s }: every row that a shared budget allows, whatever the others are.
pub(crate) fn row_by_row(model: &Model, set: &UncertaintySet) -> UncertaintySet {
    if set.rectangularity == Rectangularity::StateAction {
        return set.clone();
    }
    let mut own = set.clone().per_action();
    if own.weights.take().is_some() {
        let radius = |s: usize, r: usize| set.radius_at(s, r) / set.weight_at(r);
        let radii = (0..model.states()).flat_map(|s| model.rows_of(s).map(move |r| radius(s, r)));
        own.radius = Radius::PerRow(radii.collect());
    }
    own
}
