//! Policies x(a|s) as a table `state,action,probability`. Actions left out have probability 0.

use std::io::{self, Write};
use std::path::Path;

use super::names::Names;
use super::numbers::{NumberColumn, Range};
use super::source::Source;
use super::table::quoted;
use crate::error::Error;
use crate::model::distribution;
use crate::model::{Model, SUM_TOLERANCE};

/// Reads a policy: one probability a row of the model, summing to one in each state.
pub fn read_policy<'a>(source: impl Into<Source<'a>>, model: &Model) -> Result<Vec<f64>, Error> {
    let source = source.into();
    let (path, names) = (source.path, Names::new(model));
    let columns = &["probability"];
    let what =
        NumberColumn { columns, noun: "probability", range: Range::AtLeastZero, actions: true };
    let (mut policy, _) = what.read(source, model)?;
    check_complete(path, model, &names, &policy)?;
    policy.iter_mut().filter(|p| p.is_nan()).for_each(|p| *p = 0.0);
    for s in (0..model.states()).filter(|&s| !model.is_terminal(s)) {
        distribution::normalise(&mut policy[model.rows_of(s)]).map_err(|sum| {
            let state = names.place(s, None);
            let message = format!(
                "{state}: probabilities sum to {sum:?}, expected 1 within {SUM_TOLERANCE:?}"
            );
            super::parse_error(path, None, message)
        })?;
    }
    Ok(policy)
}

/// Every state with actions has a line.
fn check_complete(
    path: &Path,
    model: &Model,
    names: &Names<'_>,
    policy: &[f64],
) -> Result<(), Error> {
    let missing = |s: &usize| {
        let given = &policy[model.rows_of(*s)];
        !model.is_terminal(*s) && given.iter().all(|p| p.is_nan())
    };
    match (0..model.states()).find(missing) {
        None => Ok(()),
        Some(s) => {
            let state = names.place(s, None);
            let message =
                format!("{state} is missing, expected the probability of at least one action");
            Err(super::parse_error(path, None, message))
        }
    }
}

/// Writes a policy: every action of every state, those of probability 0 too.
pub fn write_policy(path: &Path, model: &Model, policy: &[f64]) -> Result<(), Error> {
    check_length(model, policy)?;
    super::write_atomically(path, |w| {
        w.write_all(b"state,action,probability\n")?;
        write_lines(w, model, policy, "")
    })
}

/// Writes a policy for each step of a finite horizon, with a column `step`, from 0.
pub fn write_staged_policy<'p>(
    path: &Path,
    model: &Model,
    stages: impl Iterator<Item = &'p [f64]> + Clone,
) -> Result<(), Error> {
    stages.clone().try_for_each(|policy| check_length(model, policy))?;
    super::write_atomically(path, |w| {
        w.write_all(b"step,state,action,probability\n")?;
        let write = |(t, policy)| write_lines(&mut *w, model, policy, &format!("{t},"));
        stages.enumerate().try_for_each(write)
    })
}

fn check_length(model: &Model, policy: &[f64]) -> Result<(), Error> {
    match (policy.len(), model.rows()) {
        (n, rows) if n != rows => {
            Err(Error::Input(format!("a policy of {n} entries, expected {rows}")))
        }
        _ => Ok(()),
    }
}

/// One line a state and action, each after `before`.
fn write_lines(
    w: &mut (impl Write + ?Sized),
    model: &Model,
    policy: &[f64],
    before: &str,
) -> io::Result<()> {
    let names = Names::new(model);
    for s in 0..model.states() {
        let state = names.state_text(s);
        for r in model.rows_of(s) {
            let action = names.action_text(s, r);
            writeln!(w, "{before}{},{},{:?}", quoted(&state), quoted(&action), policy[r])?;
        }
    }
    Ok(())
}
