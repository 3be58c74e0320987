//! Dense kernels `P[S,A,S]`, read state by state.
//!
//! An action whose row is all zeros does not exist in its state; a state without any is
//! terminal.

use super::{Archive, CostArray, array_error};
use crate::error::Error;
use crate::io::rounded;
use crate::model::{ModelBuilder, Objective};

/// Gives all states to the builder; returns the terminal ones.
pub(super) fn feed(
    archive: &mut Archive<'_>,
    objective: Objective,
    single: bool,
    builder: &mut ModelBuilder,
) -> Result<Vec<usize>, Error> {
    let shape = archive.shape("P")?;
    let (states, actions) = match shape[..] {
        [s, a, next] if s == next && s > 0 && a > 0 => (s, a),
        _ => {
            return Err(archive.wrong(format!(
                "`P` has shape {shape:?}, expected [S, A, S] for S states and A actions"
            )));
        }
    };
    let costs = archive.costs(objective, &[states, actions], &shape)?;
    let bounds = archive.bounds(["P_lower", "P_upper"], &shape)?;
    let path = archive.path;
    let wrong = |w| array_error(path, "P", w);
    let len = archive.array("P")?.len().map_err(wrong)?;
    // In the order of Fortran no state is whole before the end.
    let fortran = archive.array("P")?.header.fortran;
    let held = fortran.then(|| archive.floats("P")).transpose()?;
    // Zeros that are streamed take no room; a small archive must not hold many other numbers.
    let mut room = (len > archive.room).then_some(archive.room);
    let mut array = archive.array("P")?;
    // Both fit: the rewards or costs of all rows have been read.
    let (states, actions) = (states as usize, actions as usize);
    let size = actions * states;
    let mut block = Vec::new();
    let mut terminal = Vec::new();
    for s in 0..states {
        block.clear();
        match &held {
            Some(all) => block.extend_from_slice(&all[s * size..(s + 1) * size]),
            None => array.floats(size as u64, &mut block).map_err(wrong)?,
        }
        if builder.error().is_some() {
            // Of what a damaged file says, the damage is what to tell: it is read to its end.
            continue;
        }
        if single {
            block.chunks_exact_mut(states).for_each(|row| {
                rounded::rescale(row);
            });
        }
        if let Some(room) = &mut room {
            let stored = block.iter().filter(|p| **p != 0.0).count() as u64;
            *room = room.checked_sub(stored).ok_or_else(|| super::no_room(path, "P", len))?;
        }
        builder.add_state(None);
        if feed_state(builder, &costs, &bounds, s, actions, &block) == 0 {
            builder.mark_terminal();
            terminal.push(s);
        }
    }
    if held.is_none() {
        array.finish().map_err(wrong)?;
    }
    Ok(terminal)
}

/// Returns how many actions state `s` has.
fn feed_state(
    builder: &mut ModelBuilder,
    costs: &CostArray,
    bounds: &Option<[Vec<f64>; 2]>,
    s: usize,
    actions: usize,
    block: &[f64],
) -> usize {
    let states = block.len() / actions;
    let mut exist = 0;
    for (a, row) in block.chunks_exact(states).enumerate() {
        if row.iter().all(|&p| p == 0.0) {
            continue;
        }
        let r = s * actions + a;
        let start = r * states;
        let (cost, further) = costs.of_row(r, start..start + states);
        let name = (a != exist).then(|| a.to_string());
        builder.add_action(name.as_deref(), cost);
        for (to, &p) in row.iter().enumerate() {
            let c = if further { costs.further(start + to) } else { 0.0 };
            match bounds {
                Some([l, u]) if u[start + to] != 0.0 => {
                    builder.add_interval(to, Some(p), [l[start + to], u[start + to]], c);
                }
                _ if p != 0.0 || c != 0.0 => builder.add_transition(to, p, c),
                _ => {}
            }
        }
        exist += 1;
    }
    exist
}
