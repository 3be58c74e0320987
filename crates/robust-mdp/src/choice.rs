//! Which loop and which oracle run: what was asked for, or what the library chooses, and by which rule.

use crate::error::Error;
use crate::sets::UncertaintySet;
use crate::solve::{Criterion, Method, Options, Oracle};

/// What runs, and by which rule if the library chose it.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub(crate) method: Method,
    pub(crate) oracle: Oracle,
    pub(crate) reason: Option<String>,
}

/// What to run for these options.
///
/// The automatic choice looks at the oracle alone: Newton's method, which takes plain steps where they
/// suffice and evaluates policies where it must, or FOM-VI for first-order steps. How it compares with
/// the other loops is measured by the benchmark suite and told in docs/methods.md; a reason says no
/// more than the rule.
///
/// Sets without exact updates have the first-order oracle, and loops that neither evaluate policies nor freeze
/// their choices.
pub(crate) fn choose(options: &Options, set: &UncertaintySet) -> Result<Chosen, Error> {
    match set.has_exact_updates() {
        true => choose_from(options, Oracle::Exact),
        false => {
            let chosen = choose_from(options, Oracle::FirstOrder)?;
            refuse_exact(options.criterion, &chosen, set)?;
            Ok(chosen)
        }
    }
}

/// Refuses what needs exact updates.
fn refuse_exact(criterion: Criterion, chosen: &Chosen, set: &UncertaintySet) -> Result<(), Error> {
    match (chosen.oracle, chosen.method) {
        _ if matches!(criterion, Criterion::Average | Criterion::Total) => {
            set.expect_exact_updates(&format!("the objective {criterion}"))
        }
        (Oracle::Exact, _) => set.expect_exact_updates("the exact oracle"),
        (_, method @ (Method::Newton | Method::Pi)) => {
            set.expect_exact_updates(&format!("the method {method}"))
        }
        (Oracle::FirstOrder | Oracle::InteriorPoint, _) => Ok(()),
    }
}

/// The same, with the oracle that runs unless said.
fn choose_from(options: &Options, usual: Oracle) -> Result<Chosen, Error> {
    use Oracle::{Exact, FirstOrder, InteriorPoint};
    let chosen = |method, oracle| Chosen { method, oracle, reason: None };
    let automatic = |method, oracle, reason: &str| Chosen {
        reason: Some(reason.to_owned()),
        ..chosen(method, oracle)
    };
    let oracle = options.oracle.unwrap_or(usual);
    match (options.criterion, options.method) {
        (Criterion::Discounted, _) => {}
        (Criterion::Finite { .. }, Method::Auto) => {
            return Ok(automatic(Method::Vi, oracle, "backward induction"));
        }
        (Criterion::Average | Criterion::Total, Method::Auto) => {
            return Ok(automatic(Method::Newton, oracle, "the same for every model and set"));
        }
        (Criterion::Finite { .. }, Method::Vi)
        | (Criterion::Average, Method::Vi | Method::Newton)
        | (Criterion::Total, Method::Newton) => return Ok(chosen(options.method, oracle)),
        (criterion, method) => {
            return Err(Error::Input(format!(
                "{method} is a method for discounted costs, but the objective is {criterion}: expected auto"
            )));
        }
    }
    match (options.method, oracle) {
        (Method::FomVi, _) => match options.oracle {
            Some(Exact | InteriorPoint) => Err(Error::Input(
                "fom-vi is value iteration with the first-order oracle; with another oracle ask for vi"
                    .into(),
            )),
            Some(FirstOrder) | None => Ok(chosen(Method::FomVi, FirstOrder)),
        },
        (Method::Auto, FirstOrder) => {
            Ok(automatic(Method::FomVi, FirstOrder, "the loop made for the first-order oracle"))
        }
        // Policies are not evaluated without exact updates.
        (Method::Auto, InteriorPoint) if usual != Exact => {
            Ok(automatic(Method::Vi, InteriorPoint, "a loop that needs no exact updates"))
        }
        (Method::Auto, oracle) => {
            Ok(automatic(Method::Newton, oracle, "the same for every model and set"))
        }
        (method, oracle) => Ok(chosen(method, oracle)),
    }
}
