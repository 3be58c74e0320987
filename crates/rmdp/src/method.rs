//! The method of a run, the oracle that it uses and the memory of Anderson's method, from their
//! flags; what may be given together.

use robust_mdp::{Method, Options, Oracle, Solution};

use crate::args::memory;
use crate::choice::{Choice, in_a_row};
use crate::failure::Failure;
use crate::fom::{self, FomArgs};

const METHODS: Choice<Method> = Choice {
    names: &[
        (
            "auto",
            Method::Auto,
            "newton, or fom-vi with the first-order oracle; the output says which ran",
        ),
        ("fom-vi", Method::FomVi, "first-order value iteration, the paper's method"),
        ("vi", Method::Vi, "value iteration"),
        ("gs-vi", Method::GsVi, "value iteration that uses new values at once (Gauss-Seidel)"),
        ("anderson", Method::Anderson, "value iteration that combines its last steps"),
        ("avi", Method::Avi, "value iteration with momentum (Nesterov)"),
        ("pi", Method::Pi, "policy iteration (Hoffman-Karp): few sweeps at any discount"),
        ("newton", Method::Newton, "Newton's method on the values: fewest sweeps"),
    ],
};

const ORACLES: Choice<Oracle> = Choice {
    names: &[
        ("exact", Oracle::Exact, "Newton's method on the multipliers, to rounding"),
        ("first-order", Oracle::FirstOrder, "first-order steps, as many as the gap needs"),
        ("interior-point", Oracle::InteriorPoint, "a conic solver: slow, for comparison"),
    ],
};

/// Differences that Anderson's method combines unless told otherwise.
const MEMORY: usize = 5;

/// What computes the answer.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct MethodArgs {
    /// Outer algorithm
    #[arg(long, value_name = "METHOD", default_value = "auto", value_parser = METHODS)]
    method: Method,
    /// What solves the game of a state [default: the best the set offers]
    #[arg(long, value_name = "ORACLE", value_parser = ORACLES)]
    oracle: Option<Oracle>,
    /// Past steps that --method anderson combines, from 1 to 100 [default: 5]
    #[arg(long, value_name = "M", value_parser = memory, allow_hyphen_values = true)]
    anderson: Option<usize>,
    #[command(flatten)]
    fom: FomArgs,
}

impl MethodArgs {
    /// Whether the flags go together: a setting without effect is a mistake.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let name = METHODS.name(self.method);
        if self.anderson.is_some() && self.method != Method::Anderson {
            let message = format!("--anderson is a setting of anderson, but the method is {name}");
            return Err(Failure::usage(message).hint(self.instead("--anderson", "anderson")));
        }
        let first_order = self.oracle == Some(Oracle::FirstOrder);
        match (self.method, self.oracle) {
            (Method::FomVi, Some(oracle)) if !first_order => {
                let oracle = ORACLES.name(oracle);
                let message =
                    "fom-vi is value iteration with the first-order oracle, but the oracle";
                return Err(Failure::usage(format!("{message} is {oracle}"))
                    .hint(format!("--method vi --oracle {oracle} is value iteration with that")));
            }
            // Auto takes fom-vi where the first-order oracle is asked for.
            (Method::FomVi, _) | (Method::Auto, Some(Oracle::FirstOrder)) => return Ok(()),
            _ => {}
        }
        let of_loop = self.fom.of_loop();
        let of_oracle = if first_order { Vec::new() } else { self.fom.of_oracle() };
        let given = [&of_oracle[..], &of_loop[..]].concat();
        if given.is_empty() {
            return Ok(());
        }
        let flags = in_a_row(&given, "and");
        let are = if given.len() == 1 { "is a setting" } else { "are settings" };
        let (message, hint) = match (self.method, self.oracle) {
            (Method::Auto, None) => (
                format!("{flags} {are} of fom-vi, but auto runs newton"),
                "add --method fom-vi".to_owned(),
            ),
            (Method::Auto, Some(oracle)) => {
                let oracle = ORACLES.name(oracle);
                (
                    format!("{flags} {are} of fom-vi, but the oracle is {oracle}"),
                    format!("use --method fom-vi in place of --oracle {oracle}"),
                )
            }
            _ if !of_loop.is_empty() => (
                format!("{flags} {are} of fom-vi, but the method is {name}"),
                self.instead(&flags, "fom-vi"),
            ),
            (_, None) => (
                format!("{flags} {are} of the first-order oracle, which was not asked for"),
                "add --oracle first-order".to_owned(),
            ),
            (_, Some(oracle)) => (
                format!(
                    "{flags} {are} of the first-order oracle, but the oracle is {}",
                    ORACLES.name(oracle)
                ),
                "use --oracle first-order".to_owned(),
            ),
        };
        Err(Failure::usage(message).hint(hint))
    }

    /// What to do about flags that belong to another method.
    fn instead(&self, flags: &str, method: &str) -> String {
        match self.method {
            Method::Auto => format!("add --method {method}"),
            _ => format!("leave out {flags}, or use --method {method}"),
        }
    }

    /// Puts the choices into `base`.
    pub(crate) fn options(&self, base: Options) -> Options {
        Options {
            method: self.method,
            oracle: self.oracle,
            fom: self.fom.settings(),
            anderson: self.anderson,
            ..base
        }
    }
}

/// The names of a method and an oracle.
pub(crate) fn names(method: Method, oracle: Oracle) -> (&'static str, &'static str) {
    (METHODS.name(method), ORACLES.name(oracle))
}

/// What ran, and by which rule if the library chose it.
pub(crate) fn describe(solution: &Solution) -> String {
    let names = spoken(solution.method, solution.oracle);
    let reason = match &solution.reason {
        Some(reason) => format!(" (chosen by auto: {reason})"),
        None => String::new(),
    };
    format!("{names}{reason}")
}

/// “newton with the exact oracle”.
pub(crate) fn spoken(method: Method, oracle: Oracle) -> String {
    format!("{} with the {} oracle", METHODS.name(method), ORACLES.name(oracle))
}

/// The settings that the run used, if it had any.
pub(crate) fn describe_settings(options: &Options, solution: &Solution) -> Option<String> {
    let mut parts = Vec::new();
    if solution.method == Method::Anderson {
        parts.push(format!("memory {}", options.anderson.unwrap_or(MEMORY)));
    }
    if solution.oracle == Oracle::FirstOrder {
        let fom = options.fom.clone().unwrap_or_default();
        parts.push(fom::describe(&fom, solution.setup, solution.method == Method::FomVi));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_the_librarys() {
        super::METHODS.assert_names_are_the_librarys();
        super::ORACLES.assert_names_are_the_librarys();
    }
}
