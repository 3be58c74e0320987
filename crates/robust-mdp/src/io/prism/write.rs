//! Writing. All files of a model are written, so that none stays from another one; the transitions last.
//! A terminal state only stays, as the label `deadlock` says.

use std::io::{self, Write};
use std::path::Path;

use super::COST;
use crate::error::Error;
use crate::io::labels::{END, INITIAL};
use crate::io::losses::{NamesKept, initial_states};
use crate::io::rows::{Entry, possible};
use crate::io::{gzip, replace_packed};
use crate::model::{Model, Objective};

/// Writes a model.
pub(in crate::io) fn write(model: &Model, path: &Path) -> Result<(), Error> {
    let beside = |ending: &str| match gzip::is_asked(path) {
        true => path.with_extension("").with_extension(format!("{ending}.gz")),
        false => path.with_extension(ending),
    };
    replace_packed(&beside("sta"), |w| write_names(model, w))?;
    replace_packed(&beside("lab"), |w| write_labels(model, w))?;
    replace_packed(&beside("srew"), |w| {
        write_structure(model, w)?;
        writeln!(w, "{} 0", model.states())
    })?;
    replace_packed(&beside("trew"), |w| write_rewards(model, w))?;
    replace_packed(path, |w| write_transitions(model, w))
}

/// States, choices and transitions, those of terminal states included.
fn counts(model: &Model) -> [usize; 3] {
    let terminal = (0..model.states()).filter(|&s| model.is_terminal(s)).count();
    let transitions: usize = (0..model.rows()).map(|r| possible(model.row(r)).len()).sum();
    [model.states(), model.rows() + terminal, transitions + terminal]
}

pub(in crate::io) fn write_transitions(model: &Model, w: &mut dyn Write) -> io::Result<()> {
    let ([states, choices, transitions], names) = (counts(model), NamesKept::of(model));
    writeln!(w, "{states} {choices} {transitions}")?;
    for s in 0..states {
        if model.is_terminal(s) {
            let stay = if model.has_intervals() { "[1,1]" } else { "1" };
            writeln!(w, "{s} 0 {s} {stay}")?;
        }
        for (choice, r) in model.rows_of(s).enumerate() {
            for Entry { to, prob, bounds, .. } in possible(model.row(r)) {
                write!(w, "{s} {choice} {to} ")?;
                match bounds {
                    Some([low, high]) => write!(w, "[{low:?},{high:?}]")?,
                    None => write!(w, "{prob:?}")?,
                }
                match names.actions {
                    true => writeln!(w, " {}", model.action_name(s, r))?,
                    false => writeln!(w)?,
                }
            }
        }
    }
    Ok(())
}

/// The name of costs.
fn write_structure(model: &Model, w: &mut dyn Write) -> io::Result<()> {
    match model.objective() {
        Objective::MinCost => writeln!(w, "# Reward structure \"{COST}\""),
        Objective::MaxReward => Ok(()),
    }
}

fn write_rewards(model: &Model, w: &mut dyn Write) -> io::Result<()> {
    let sign = model.objective().sign();
    let of_row = |r: usize| {
        let row = model.row(r);
        let entries = possible(row).into_iter();
        entries.map(move |e| (e.to, sign * (row.cost + e.further) + 0.0)).filter(|e| e.1 != 0.0)
    };
    write_structure(model, w)?;
    let count: usize = (0..model.rows()).map(|r| of_row(r).count()).sum();
    writeln!(w, "{} {} {count}", model.states(), counts(model)[1])?;
    for s in 0..model.states() {
        for (choice, r) in model.rows_of(s).enumerate() {
            for (to, reward) in of_row(r) {
                writeln!(w, "{s} {choice} {to} {reward:?}")?;
            }
        }
    }
    Ok(())
}

fn write_names(model: &Model, w: &mut dyn Write) -> io::Result<()> {
    let kept = NamesKept::of(model).lines;
    writeln!(w, "(state)")?;
    (0..model.states()).try_for_each(|s| match kept {
        true => writeln!(w, "{s}:({})", model.state_name(s)),
        false => writeln!(w, "{s}:({s})"),
    })
}

fn write_labels(model: &Model, w: &mut dyn Write) -> io::Result<()> {
    writeln!(w, "0=\"{INITIAL}\" 1=\"{END}\"")?;
    let initial = initial_states(model).unwrap_or_default();
    for s in 0..model.states() {
        match (initial.get(s) == Some(&true), model.is_terminal(s)) {
            (true, true) => writeln!(w, "{s}: 0 1")?,
            (true, false) => writeln!(w, "{s}: 0")?,
            (false, true) => writeln!(w, "{s}: 1")?,
            (false, false) => {}
        }
    }
    Ok(())
}
