//! What must be right about a certificate before it can be checked.

use super::rejection::Rejection;
use super::step::{StepRef, Terms};
use super::{Certificate, Multipliers, Weight};
use crate::error::{counted, name_of};
use crate::model::Model;
use crate::sets::{Radius, Rectangularity, Set, UncertaintySet};
use crate::solve::Criterion;

impl Certificate {
    /// Whether the certificate is about this set.
    pub fn expect_set(&self, set: &UncertaintySet) -> Result<(), Rejection> {
        let parts = |set: &UncertaintySet| {
            [
                ("set", name_of(&set.distance)),
                ("rectangularity", name_of(&set.rectangularity)),
                ("support", name_of(&set.support)),
                ("radius", radius_text(&set.radius)),
                (
                    "weights",
                    if set.weights.is_some() { "one for each action" } else { "none" }.into(),
                ),
            ]
        };
        for ((what, found), (_, expected)) in parts(&self.set).into_iter().zip(parts(set)) {
            if found != expected {
                return Err(Rejection::Other { what, found, expected });
            }
        }
        if self.set.radius != set.radius {
            return other("radius", radius_text(&set.radius), "others".into());
        }
        if self.set.weights != set.weights {
            return other("weights", "one for each action".into(), "others".into());
        }
        for (what, same) in [
            ("set of weights of next states", self.set.entry_weights == set.entry_weights),
            ("set of distances between states", self.set.ground == set.ground),
            ("set of scenarios", self.set.scenarios == set.scenarios),
        ] {
            if !same {
                return other(what, "one".into(), "another".into());
            }
        }
        Ok(())
    }
}

fn radius_text(radius: &Radius) -> String {
    match radius {
        Radius::Uniform(radius) => radius.to_string(),
        Radius::PerState(_) => "one for each state".into(),
        Radius::PerRow(_) => "one for each action".into(),
    }
}

/// Whether the certificate is about this kind of model.
pub(super) fn alike(model: &Model, certificate: &Certificate) -> Result<(), Rejection> {
    let Certificate { discount, objective, criterion, .. } = certificate;
    let expected = criterion.discount(model.discount());
    if discount.to_bits() != expected.to_bits() {
        return other("discount factor", discount.to_string(), expected.to_string());
    }
    if *objective != model.objective() {
        let [found, expected] = [*objective, model.objective()].map(|o| o.name().to_owned());
        return other("objective", found, expected);
    }
    Ok(())
}

/// Whether the certificate is about the model with this fingerprint.
pub(super) fn same(certificate: &Certificate, fingerprint: u128) -> Result<(), Rejection> {
    if certificate.model != fingerprint {
        let hex = |x: u128| format!("fingerprint {x:032x}");
        return other("model", hex(certificate.model), hex(fingerprint));
    }
    Ok(())
}

fn other(what: &'static str, found: String, expected: String) -> Result<(), Rejection> {
    Err(Rejection::Other { what, found, expected })
}

/// Why there are no certificates for a set.
pub(super) fn no_proof(set: &dyn Set) -> String {
    format!(
        "there are no certificates for {} sets, expected a set that offers a proof",
        set.title()
    )
}

/// Whether it says all that a proof needs, of states and rows that there are.
pub(super) fn complete(
    model: &Model,
    certificate: &Certificate,
    terms: Terms,
) -> Result<(), Rejection> {
    let Certificate { set, further, criterion, surely, .. } = certificate;
    set.validate(model).map_err(|e| Rejection::Malformed(format!("the certificate's set: {e}")))?;
    if let Some(unproved) = set.distance.set().filter(|set| set.proof().is_none()) {
        return Err(Rejection::Input(no_proof(unproved)));
    }
    let expected = match criterion {
        Criterion::Discounted | Criterion::Average => 0,
        Criterion::Finite { horizon } => (*horizon as usize).saturating_sub(1),
        Criterion::Total => 1,
    };
    if further.len() != expected {
        let found = counted(further.len(), "further step", "further steps");
        return Err(Rejection::Malformed(format!("{found}, expected {expected}")));
    }
    if let Criterion::Finite { horizon: 0 } = criterion {
        return Err(Rejection::Malformed("a horizon of 0 steps, expected at least 1".into()));
    }
    if *criterion == Criterion::Discounted && model.discount() == 1.0 {
        return Err(Rejection::Malformed("discounted costs at a discount of 1".into()));
    }
    complete_step(model, set, certificate.first(), terms)?;
    let of_further = match criterion {
        Criterion::Total => terms.of_end(*surely),
        Criterion::Discounted | Criterion::Average | Criterion::Finite { .. } => terms,
    };
    further.iter().try_for_each(|step| complete_step(model, set, step.as_ref(), of_further))
}

fn complete_step(
    model: &Model,
    set: &UncertaintySet,
    step: StepRef<'_>,
    terms: Terms,
) -> Result<(), Rejection> {
    let StepRef { upper, lower, policy, scale, kernel } = step;
    let malformed = |message: String| Err(Rejection::Malformed(message));
    let states = model.states();
    for (v, what) in [(upper, "upper"), (lower, "lower")] {
        if v.len() != states {
            let found = counted(v.len(), "value", "values");
            return malformed(format!("{found} for {what} bounds, expected {states}, one a state"));
        }
        let wrong = (0..states).find(|&s| !v[s].is_finite() || model.is_terminal(s) && v[s] != 0.0);
        if let Some(s) = wrong {
            let expected = if model.is_terminal(s) { "0: it is terminal" } else { "a number" };
            let name = model.state_name(s);
            return malformed(format!("state {name}: {what} value {}, expected {expected}", v[s]));
        }
    }
    let shared = set.rectangularity == Rectangularity::State && !terms.alone;
    let expected = if shared { states } else { policy.len() };
    if scale.len() != expected {
        let found = counted(scale.len(), "budget multiplier", "budget multipliers");
        return malformed(format!("{found}, expected {expected}"));
    }
    rising(model, policy.iter().map(|w| w.row), "policy")?;
    rising(model, kernel.iter().map(|k| k.row), "kernel")?;
    if let Some(k) = scale.iter().position(|mu| !(mu.is_finite() && *mu >= 0.0)) {
        let place = match shared {
            true => format!("state {}", model.state_name(k)),
            false => model.place(policy[k].row as usize),
        };
        let found = scale[k];
        return malformed(format!(
            "{place}: budget multiplier {found:e}, expected a number of at least 0"
        ));
    }
    for &Weight { row, probability: x, nu } in policy {
        // Where policies maximise too, rows that they leave alone have multipliers too.
        let is_weight = x > 0.0 || terms.cooperative && x == 0.0;
        if !(is_weight && nu.is_finite()) {
            return malformed(format!(
                "policy, {}: probability {x:e} with shift {nu:e}, expected a positive number and \
                 a finite one",
                model.place(row as usize)
            ));
        }
    }
    let mut weights = policy.iter().peekable();
    for s in (0..states).filter(|&s| !model.is_terminal(s)) {
        let (mut total, mut rows) = (0.0, 0);
        while let Some(w) = weights.next_if(|w| (w.row as usize) < model.rows_of(s).end) {
            total += w.probability;
            rows += usize::from(w.probability > 0.0);
        }
        if terms.alone && rows > 1 {
            let name = model.state_name(s);
            return malformed(format!("state {name}: the policy has {rows} actions, expected one"));
        }
        if total.is_nan() || (total - 1.0_f64).abs() > 1e-9 {
            let name = model.state_name(s);
            return malformed(format!("state {name}: the policy sums to {total}, expected 1"));
        }
    }
    for &Multipliers { row, t, nu } in kernel {
        if !(t.is_finite() && t >= 0.0 && nu.is_finite()) {
            return malformed(format!(
                "kernel, {}: tilt {t:e}, shift {nu:e}, expected finite numbers and tilt ≥ 0",
                model.place(row as usize)
            ));
        }
    }
    Ok(())
}

/// Rows must exist and rise.
fn rising(model: &Model, rows: impl Iterator<Item = u32>, what: &str) -> Result<(), Rejection> {
    let mut last = None;
    for row in rows {
        if row as usize >= model.rows() || last.is_some_and(|last| row <= last) {
            let after = last.map_or(String::new(), |last| format!(" after row {last}"));
            return Err(Rejection::Malformed(format!(
                "{what}: row {row}{after}, expected rising rows below {}",
                model.rows()
            )));
        }
        last = Some(row);
    }
    Ok(())
}
