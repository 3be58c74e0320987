//! Dense kernels `P[S,A,S]`, read state by state.
//!
//! An action whose row is all zeros does not exist in its state; a state without any is
//! terminal.

use zip::read::ZipFile;

use super::{Archive, CostArray, Packed, array_error, rescale_single};
use crate::error::Error;
use crate::io::npy::{Array, Wrong};
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
    let path = archive.path;
    let array = archive.array("P")?;
    let (len, fortran) =
        (array.len().map_err(|w| array_error(path, "P", w))?, array.header.fortran);
    drop(array);
    if fortran {
        archive.take_room("P")?;
    }
    // Zeros that are streamed take no room; a small archive must not hold many other numbers.
    let mut room = (len > archive.room).then_some(archive.room);
    let wrong = |w| array_error(path, "P", w);
    let mut kernel = DenseKernel::new(archive.array("P")?).map_err(wrong)?;
    // Both fit: the rewards or costs of all rows have been read.
    let (states, actions) = (states as usize, actions as usize);
    let mut block = Vec::new();
    let mut terminal = Vec::new();
    for s in 0..states {
        kernel.block(s, &mut block).map_err(wrong)?;
        if single {
            block.chunks_exact_mut(states).for_each(rescale_single);
        }
        if let Some(room) = &mut room {
            let stored = block.iter().filter(|p| **p != 0.0).count() as u64;
            *room = room.checked_sub(stored).ok_or_else(|| super::no_room(path, "P", len))?;
        }
        builder.add_state(None);
        if feed_state(builder, &costs, s, actions, &block) == 0 {
            builder.mark_terminal();
            terminal.push(s);
        }
        if builder.error().is_some() {
            // Of what a damaged file says, the damage is what to tell.
            (s + 1..states).try_for_each(|s| kernel.block(s, &mut block)).map_err(wrong)?;
            break;
        }
    }
    kernel.finish().map_err(wrong)?;
    Ok(terminal)
}

/// Returns how many actions state `s` has.
fn feed_state(
    builder: &mut ModelBuilder,
    costs: &CostArray,
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
            if p != 0.0 || c != 0.0 {
                builder.add_transition(to, p, c);
            }
        }
        exist += 1;
    }
    exist
}

/// The kernel, a state at a time where the file's order allows it.
enum DenseKernel<'z, 'p> {
    Stream(Array<ZipFile<'z, Packed<'p>>>, u64),
    Held(Vec<f64>, usize),
}

impl<'z, 'p> DenseKernel<'z, 'p> {
    fn new(array: Array<ZipFile<'z, Packed<'p>>>) -> Result<Self, Wrong> {
        array.len()?;
        let block = array.header.shape[1] * array.header.shape[2];
        match array.header.fortran {
            true => Ok(DenseKernel::Held(array.all_floats()?, block as usize)),
            false => Ok(DenseKernel::Stream(array, block)),
        }
    }

    /// Checks what was read against the archive's checksum.
    fn finish(&mut self) -> Result<(), Wrong> {
        match self {
            DenseKernel::Stream(array, _) => array.finish(),
            DenseKernel::Held(..) => Ok(()),
        }
    }

    fn block(&mut self, s: usize, out: &mut Vec<f64>) -> Result<(), Wrong> {
        out.clear();
        match self {
            DenseKernel::Stream(array, block) => array.floats(*block, out),
            DenseKernel::Held(values, block) => {
                out.extend_from_slice(&values[s * *block..(s + 1) * *block]);
                Ok(())
            }
        }
    }
}
