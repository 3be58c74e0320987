//! Which loop and which oracle run: what was asked for, or what the library chooses, and why.

use crate::error::{Error, counted};
use crate::model::Model;
use crate::solve::{Method, Options, Oracle};
use crate::uncertainty::{Distance, UncertaintySet};

/// What runs, and why if the library chose it.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub(crate) method: Method,
    pub(crate) oracle: Oracle,
    pub(crate) reason: Option<String>,
}

/// What to run for these options.
pub(crate) fn choose(
    model: &Model,
    set: &UncertaintySet,
    options: &Options,
) -> Result<Chosen, Error> {
    use Oracle::{Exact, FirstOrder, InteriorPoint};
    let chosen = |method, oracle| Chosen { method, oracle, reason: None };
    match (options.method, options.oracle) {
        (Method::FomVi, Some(Exact | InteriorPoint)) => Err(Error::Input(
            "fom-vi is value iteration with the first-order oracle; with another oracle ask for vi"
                .into(),
        )),
        (Method::FomVi, _) => Ok(chosen(Method::FomVi, FirstOrder)),
        (Method::Auto, Some(FirstOrder)) => Ok(Chosen {
            reason: Some("the loop made for the first-order oracle".into()),
            ..chosen(Method::FomVi, FirstOrder)
        }),
        (Method::Auto, oracle) => Ok(automatic(model, set, oracle.unwrap_or(Exact))),
        (method, oracle) => Ok(chosen(method, oracle.unwrap_or(Exact))),
    }
}

/// The loop for an oracle that is exact or as good: Newton's method, which takes plain steps where
/// they suffice and evaluates policies where it must. How it compares with the other loops is
/// measured by the benchmark suite and told in docs/methods.md.
fn automatic(model: &Model, set: &UncertaintySet, oracle: Oracle) -> Chosen {
    let reason = if set.distance == Distance::None {
        "no uncertainty, so that it is policy iteration".to_owned()
    } else if model.is_dense() {
        let states = counted(model.states(), "state", "states");
        format!("linear systems of {states} are cheaper than further sweeps")
    } else {
        "few sweeps whatever the discount".to_owned()
    };
    Chosen { method: Method::Newton, oracle, reason: Some(reason) }
}
