//! Writing: one state a line, numbers in the shortest form that reads back to the same bits.

use std::io::{self, Write};

use super::{FORMAT, VERSION};
use crate::model::{Bounds, Model};

/// Writes a model in the native format to any sink, such as the standard output.
pub fn write_json(model: &Model, w: &mut dyn Write) -> io::Result<()> {
    let objective = model.objective().name();
    write!(w, "{{\"format\":\"{FORMAT}\",\"version\":{VERSION},\"objective\":\"{objective}\",")?;
    w.write_all(b"\n\"discount\":")?;
    serde_json::to_writer(&mut *w, &model.discount())?;
    w.write_all(b",\"initial\":")?;
    serde_json::to_writer(&mut *w, &model.initial())?;
    w.write_all(b",\n\"states\":[\n")?;
    for s in 0..model.states() {
        write_state(model, s, w)?;
        w.write_all(if s + 1 < model.states() { b",\n" } else { b"\n" })?;
    }
    w.write_all(b"]}\n")
}

fn write_state(model: &Model, s: usize, w: &mut dyn Write) -> io::Result<()> {
    w.write_all(b"{")?;
    if let Some(names) = &model.state_names {
        w.write_all(b"\"name\":")?;
        serde_json::to_writer(&mut *w, &names[s])?;
        w.write_all(b",")?;
    }
    w.write_all(b"\"actions\":[")?;
    for r in model.rows_of(s) {
        if r > model.rows_of(s).start {
            w.write_all(b",")?;
        }
        write_action(model, r, w)?;
    }
    w.write_all(b"]}")
}

fn write_action(model: &Model, r: usize, w: &mut dyn Write) -> io::Result<()> {
    let row = model.row(r);
    w.write_all(b"{")?;
    if let Some(names) = &model.action_names {
        w.write_all(b"\"name\":")?;
        serde_json::to_writer(&mut *w, &names[r])?;
        w.write_all(b",")?;
    }
    // Adding 0 turns a negative zero into a plain one.
    let user = |cost: f64| model.objective().sign() * cost + 0.0;
    write!(w, "\"{}\":", model.objective().noun())?;
    serde_json::to_writer(&mut *w, &user(row.cost))?;
    w.write_all(b",\"next\":[")?;
    let mut first = true;
    for (k, (to, p, further)) in row.entries().enumerate().filter(|(k, _)| row.lists(*k)) {
        if !std::mem::take(&mut first) {
            w.write_all(b",")?;
        }
        match (row.bounds, further == 0.0) {
            (Some(Bounds { lower, upper }), _) => {
                serde_json::to_writer(&mut *w, &(to, p, user(further), lower[k], upper[k]))?;
            }
            (None, true) => serde_json::to_writer(&mut *w, &(to, p))?,
            (None, false) => serde_json::to_writer(&mut *w, &(to, p, user(further)))?,
        }
    }
    w.write_all(b"]}")
}
