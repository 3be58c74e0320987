//! Writing. An action's reward is what it yields on average; a terminal state only stays, as the label
//! `deadlock` says.

use std::io::{self, Write};

use super::COST;
use crate::io::labels::{END, INITIAL};
use crate::io::losses::{NamesKept, initial_states};
use crate::io::rows::{Entry, possible};
use crate::model::{Model, Objective};

pub(in crate::io) fn write(model: &Model, w: &mut dyn Write) -> io::Result<()> {
    let terminal = (0..model.states()).filter(|&s| model.is_terminal(s)).count();
    let name = match model.objective() {
        Objective::MinCost => COST,
        Objective::MaxReward => "reward",
    };
    writeln!(w, "@type: MDP")?;
    if model.has_intervals() {
        writeln!(w, "@value_type: double-interval")?;
    }
    writeln!(w, "@parameters\n\n@reward_models\n{name}")?;
    writeln!(
        w,
        "@nr_states\n{}\n@nr_choices\n{}\n@model",
        model.states(),
        model.rows() + terminal
    )?;
    let (named, initial) =
        (NamesKept::of(model).actions, initial_states(model).unwrap_or_default());
    for s in 0..model.states() {
        write!(w, "state {s} [0]")?;
        if initial.get(s) == Some(&true) {
            write!(w, " {INITIAL}")?;
        }
        if model.is_terminal(s) {
            let one = if model.has_intervals() { "[1, 1]" } else { "1" };
            writeln!(w, " {END}\n\taction 0 [0]\n\t\t{s} : {one}")?;
            continue;
        }
        writeln!(w)?;
        for (number, r) in model.rows_of(s).enumerate() {
            match named {
                true => write!(w, "\taction {}", model.action_name(s, r))?,
                false => write!(w, "\taction {number}")?,
            }
            write_row(model, r, w)?;
        }
    }
    Ok(())
}

fn write_row(model: &Model, r: usize, w: &mut dyn Write) -> io::Result<()> {
    let row = model.row(r);
    let further: f64 = row.entries().map(|(_, p, further)| p * further).sum();
    let reward = model.objective().sign() * (row.cost + further) + 0.0;
    writeln!(w, " [{reward:?}]")?;
    for Entry { to, prob, bounds, .. } in possible(row) {
        match bounds {
            Some([low, high]) => writeln!(w, "\t\t{to} : [{low:?}, {high:?}]")?,
            None => writeln!(w, "\t\t{to} : {prob:?}")?,
        }
    }
    Ok(())
}
