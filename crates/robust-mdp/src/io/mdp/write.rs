//! Writing: every state with as many actions, every row with as many numbers as there are states.

use std::io::{self, Write};

use crate::error::counted;
use crate::io::rows::merged;
use crate::model::Model;

/// Why a model cannot be written.
pub(in crate::io) fn refusal(model: &Model) -> Option<String> {
    let acting = |s: &usize| !model.is_terminal(*s);
    let Some(first) = (0..model.states()).find(acting) else {
        return Some("a model without actions cannot be written as .mdp, expected .json".into());
    };
    let actions = model.rows_of(first).len();
    let uneven = (0..model.states()).filter(acting).find(|&s| model.rows_of(s).len() != actions)?;
    Some(format!(
        "state {first} has {} and state {uneven} has {}: a .mdp file holds as many in every state, \
         expected .json or .npz",
        counted(actions, "action", "actions"),
        model.rows_of(uneven).len(),
    ))
}

/// Writes a model: costs as negative rewards.
pub(in crate::io) fn write(model: &Model, w: &mut dyn Write) -> io::Result<()> {
    let states = model.states();
    let actions = (0..states).map(|s| model.rows_of(s).len()).max().unwrap_or(0);
    writeln!(w, "{states} {actions} {:?}\nINITIAL", model.discount())?;
    let uniform = vec![1.0 / states as f64; states];
    write_row(w, model.initial().unwrap_or(&uniform))?;
    writeln!(w, "REWARDS")?;
    let mut row = vec![0.0; states];
    for s in 0..states {
        for a in 0..actions {
            fill(model, s, a, &mut row, Part::Rewards);
            write_row(w, &row)?;
        }
    }
    writeln!(w, "TRANSITIONS")?;
    for s in 0..states {
        for a in 0..actions {
            fill(model, s, a, &mut row, Part::Probabilities);
            write_row(w, &row)?;
        }
    }
    Ok(())
}

enum Part {
    Rewards,
    Probabilities,
}

/// One number a next state.
fn fill(model: &Model, s: usize, a: usize, out: &mut [f64], part: Part) {
    out.fill(0.0);
    if model.is_terminal(s) {
        if let Part::Probabilities = part {
            out[s] = 1.0;
        }
        return;
    }
    let row = model.row(model.rows_of(s).start + a);
    match part {
        Part::Probabilities => row.entries().for_each(|(to, p, _)| out[to] += p),
        Part::Rewards => {
            out.fill(0.0 - row.cost);
            merged(row).iter().for_each(|e| out[e.to] = 0.0 - (row.cost + e.further));
        }
    }
}

/// Numbers on a line, in the shortest form that reads back to the same bits.
pub(super) fn write_row(w: &mut dyn Write, row: &[f64]) -> io::Result<()> {
    for (k, x) in row.iter().enumerate() {
        let blank = if k == 0 { "" } else { " " };
        match x.fract() == 0.0 && x.abs() < 1e15 {
            true => write!(w, "{blank}{x}")?,
            false => write!(w, "{blank}{x:?}")?,
        }
    }
    writeln!(w)
}
