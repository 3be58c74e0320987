//! The command line: subcommands, and the parsers of numbers that they share. Each subcommand has
//! its own flags in its own file.

use clap::{Parser, Subcommand};

use crate::{completions, convert, evaluate, generate, info, report, reproduce, solve, verify};

/// Robust Markov decision processes: a policy, the worst-case kernel and a certified gap.
#[derive(Debug, Parser)]
#[command(name = "rmdp", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  rmdp solve                                  # the embedded machine-replacement example
  rmdp generate garnet --states 50 -o g.json  # make a model
  rmdp info g.json                            # say what is in it
  rmdp solve g.json --radius 0.01             # solve it against an ellipsoid of that radius

Exit codes: 0 solved to the asked gap; 2 bad usage or bad input; 3 stopped early with a
certified answer; 4 a certificate that does not hold; 1 anything else.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find a policy whose worst case over the uncertainty set is best, with certified bounds.
    Solve(Box<solve::Args>),
    /// Bound the worst-case and the nominal value of a given policy.
    Evaluate(evaluate::Args),
    /// Check a certificate of `rmdp solve --certificate` against a model.
    Verify(verify::Args),
    /// Make a model: random (garnet), healthcare or machine replacement.
    Generate(generate::Args),
    /// Say what is in a model.
    Info(info::Args),
    /// Write a model in another format.
    Convert(convert::Args),
    /// Make a page of figures and tables from results of `rmdp solve --json`.
    Report(report::Args),
    /// Run the paper's experiments again, with today's methods beside them, and make a page.
    Reproduce(reproduce::Args),
    /// Print a completion script for a shell.
    Completions(completions::Args),
}

/// What `--quiet` means, whatever the command.
pub(crate) const QUIET: &str =
    "Only the answer and errors: no warnings, no progress, no word on what was written";

fn number(text: &str, expected: &str, right: impl Fn(f64) -> bool) -> Result<f64, String> {
    match text.trim().parse() {
        Ok(value) if right(value) => Ok(value),
        _ => Err(format!("expected {expected}")),
    }
}

/// A number above zero.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    number(text, "a finite number > 0", |x| x.is_finite() && x > 0.0)
}

/// Any number.
pub(crate) fn finite(text: &str) -> Result<f64, String> {
    number(text, "a finite number", f64::is_finite).map(|x| x + 0.0)
}

/// A number of at least zero; −0 becomes 0.
pub(crate) fn non_negative(text: &str) -> Result<f64, String> {
    let right = |x: f64| x.is_finite() && x >= 0.0;
    number(text, "a finite number ≥ 0", right).map(|x| x + 0.0)
}

/// A discount factor.
pub(crate) fn discount(text: &str) -> Result<f64, String> {
    number(text, "a number in [0, 1]", |x| (0.0..=1.0).contains(&x)).map(|x| x + 0.0)
}

/// A share of a whole.
pub(crate) fn fraction(text: &str) -> Result<f64, String> {
    number(text, "a number in (0, 1]", |x| x > 0.0 && x <= 1.0)
}

/// A level of risk.
pub(crate) fn level(text: &str) -> Result<f64, String> {
    number(text, "a number in [0, 1)", |x| (0.0..1.0).contains(&x)).map(|x| x + 0.0)
}

/// The exponent of a schedule.
pub(crate) fn exponent(text: &str) -> Result<f64, String> {
    number(text, "a number from 0 to 10", |x| (0.0..=10.0).contains(&x)).map(|x| x + 0.0)
}

/// A whole number of at least one.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    match text.trim().parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err("expected a whole number ≥ 1".into()),
    }
}

/// A number of steps.
pub(crate) fn horizon(text: &str) -> Result<u32, String> {
    match text.trim().parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(format!("expected a whole number from 1 to {}", u32::MAX)),
    }
}

/// A number of states or actions, which must fit in 32 bits.
pub(crate) fn size(text: &str) -> Result<usize, String> {
    let top = u32::MAX - 1;
    match text.trim().parse() {
        Ok(n) if (1..=top).contains(&n) => Ok(n as usize),
        _ => Err(format!("expected a whole number from 1 to {top}")),
    }
}

/// A number of threads.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(n) if (1..=1024).contains(&n) => Ok(n),
        _ => Err("expected a whole number from 1 to 1024".into()),
    }
}

/// The memory of Anderson's method.
pub(crate) fn memory(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(n) if (1..=100).contains(&n) => Ok(n),
        _ => Err("expected a whole number from 1 to 100".into()),
    }
}

/// The seed of random numbers.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    let parsed = text.trim().parse();
    parsed.map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn numbers_at_their_borders() {
        assert!(positive("0").is_err() && positive("1e400").is_err() && positive("nan").is_err());
        assert_eq!(non_negative("-0").map(f64::is_sign_positive), Ok(true));
        assert!(
            discount("1.1").is_err()
                && discount("1").is_ok()
                && discount("0").is_ok()
                && discount("-0.1").is_err()
        );
        assert!(fraction("0").is_err() && fraction("1").is_ok());
        assert!(exponent("10").is_ok() && exponent("11").is_err() && exponent("-1").is_err());
        assert!(count("0").is_err() && count("1.5").is_err() && threads("1025").is_err());
        assert!(
            horizon("0").is_err()
                && horizon("4294967295").is_ok()
                && horizon("4294967296").is_err()
        );
        assert!(memory("0").is_err() && memory("100").is_ok() && memory("101").is_err());
        assert!(size("4294967295").is_err() && size("4294967294").is_ok());
    }
}
