//! Which loop and which oracle run: what was asked for, or what the library chooses, and by which rule.

use crate::error::Error;
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
pub(crate) fn choose(options: &Options) -> Result<Chosen, Error> {
    use Oracle::{Exact, FirstOrder, InteriorPoint};
    let chosen = |method, oracle| Chosen { method, oracle, reason: None };
    let automatic = |method, oracle, reason: &str| Chosen {
        reason: Some(reason.to_owned()),
        ..chosen(method, oracle)
    };
    let exact = options.oracle.unwrap_or(Exact);
    match (options.criterion, options.method) {
        (Criterion::Discounted, _) => {}
        (Criterion::Finite { .. }, Method::Auto) => {
            return Ok(automatic(Method::Vi, exact, "backward induction"));
        }
        (Criterion::Average | Criterion::Total, Method::Auto) => {
            return Ok(automatic(Method::Newton, exact, "the same for every model and set"));
        }
        (Criterion::Finite { .. }, Method::Vi)
        | (Criterion::Average, Method::Vi | Method::Newton)
        | (Criterion::Total, Method::Newton) => return Ok(chosen(options.method, exact)),
        (criterion, method) => {
            return Err(Error::Input(format!(
                "{method} is a method for discounted costs, but the objective is {criterion}: expected auto"
            )));
        }
    }
    match (options.method, options.oracle) {
        (Method::FomVi, Some(Exact | InteriorPoint)) => Err(Error::Input(
            "fom-vi is value iteration with the first-order oracle; with another oracle ask for vi"
                .into(),
        )),
        (Method::FomVi, _) => Ok(chosen(Method::FomVi, FirstOrder)),
        (Method::Auto, Some(FirstOrder)) => {
            Ok(automatic(Method::FomVi, FirstOrder, "the loop made for the first-order oracle"))
        }
        (Method::Auto, oracle) => Ok(automatic(
            Method::Newton,
            oracle.unwrap_or(Exact),
            "the same for every model and set",
        )),
        (method, oracle) => Ok(chosen(method, oracle.unwrap_or(Exact))),
    }
}
