//! Writing. There are no rewards: only a model whose reward is 1 on entering terminal states, and 0
//! elsewhere, is the same when it is read.

use std::io::{self, Write};

use crate::io::rows::{Entry, possible};
use crate::model::{Model, Objective};

/// The terminal states that are reached at a reward of 1, where that is all that there is to get.
pub(in crate::io) fn reached(model: &Model) -> Option<Vec<bool>> {
    let mut reached = vec![false; model.states()];
    let mut missed = reached.clone();
    for r in 0..model.rows() {
        let row = model.row(r);
        for Entry { to, further, .. } in possible(row) {
            match row.cost + further {
                0.0 => missed[to] = true,
                -1.0 if model.is_terminal(to) => reached[to] = true,
                _ => return None,
            }
        }
    }
    let torn = reached.iter().zip(&missed).any(|(reached, missed)| *reached && *missed);
    let rewarded = model.objective() == Objective::MaxReward && !torn;
    rewarded.then_some(reached)
}

pub(in crate::io) fn write(model: &Model, w: &mut dyn Write) -> io::Result<()> {
    let states = model.states();
    let all = || (0..states).map(|s| model.is_terminal(s)).collect();
    let goals: Vec<bool> = reached(model).unwrap_or_else(all);
    let actions = (0..states).map(|s| model.rows_of(s).len()).max().unwrap_or(0).max(1);
    let terminal: Vec<usize> = (0..states).filter(|&s| goals[s]).collect();
    writeln!(w, "{states}\n{actions}\n{}", terminal.len())?;
    for s in terminal {
        writeln!(w, "{s}")?;
    }
    for s in 0..states {
        if model.is_terminal(s) {
            writeln!(w, "{s} 0 {s} 1 1")?;
        }
        for (action, r) in model.rows_of(s).enumerate() {
            for Entry { to, prob, bounds, .. } in possible(model.row(r)) {
                let [low, high] = bounds.unwrap_or([prob, prob]);
                writeln!(w, "{s} {action} {to} {low:?} {high:?}")?;
            }
        }
    }
    Ok(())
}
