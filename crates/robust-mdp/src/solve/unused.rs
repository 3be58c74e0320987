//! Settings that the chosen method and oracle would not use: whoever gives one means it, so that it is
//! refused rather than ignored.

use super::{Method, Options, Oracle};
use crate::choice::Chosen;
use crate::error::Error;
use crate::loops::fom_vi::FomSettings;

pub(super) fn refuse_unused(options: &Options, chosen: &Chosen) -> Result<(), Error> {
    let Chosen { method, oracle, .. } = chosen;
    let of_loop =
        |what: &str, other: &str| format!("{what} of {other}, but the method is {method}");
    let of_oracle =
        |what: &str, other: &str| format!("{what} of {other}, but the oracle is {oracle}");
    let unused = match (&options.fom, method, oracle) {
        (None, _, _) | (Some(_), Method::FomVi, _) => None,
        (Some(fom), _, Oracle::FirstOrder) => {
            of_the_loop(fom).map(|name| of_loop(&format!("{name} is a setting"), "fom-vi"))
        }
        (Some(_), _, Oracle::Exact | Oracle::InteriorPoint) => Some(of_oracle(
            "first-order settings (fom) were given, which are",
            "fom-vi or the first-order oracle",
        )),
    };
    let unused = unused
        .or_else(|| {
            let given = options.anderson.is_some() && *method != Method::Anderson;
            given.then(|| of_loop("the number of differences is a setting", "anderson"))
        })
        .or_else(|| {
            let given = options.published.is_some() && *method == Method::FomVi;
            given.then(|| {
                of_loop("the published residual is a rule", "value iteration and its relatives")
            })
        })
        .or_else(|| {
            let given = options.whole_programs && *oracle != Oracle::InteriorPoint;
            given.then(|| of_oracle("whole programs are a setting", "interior-point"))
        })
        .or_else(|| {
            let given = options.bracketed && *oracle != Oracle::Exact;
            given.then(|| of_oracle("rows priced one by one are a setting", "exact"))
        });
    unused.map_or(Ok(()), |unused| Err(Error::Input(unused)))
}

/// A setting of FOM-VI as a loop that is not what its step rule brings.
fn of_the_loop(fom: &FomSettings) -> Option<&'static str> {
    let usual = FomSettings::of(fom.steps);
    let FomSettings {
        setup: _,
        steps: _,
        method: _,
        weights,
        epochs,
        average,
        jump,
        head_start,
        checks,
    } = usual;
    [
        ("weights", fom.weights == weights),
        ("epochs", fom.epochs == epochs),
        ("average", fom.average == average),
        ("jump", fom.jump == jump),
        ("head_start", fom.head_start == head_start),
        ("checks", fom.checks == checks),
    ]
    .into_iter()
    .find_map(|(name, same)| (!same).then_some(name))
}
