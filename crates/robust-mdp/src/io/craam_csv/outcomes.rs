//! Outcomes: alternative rows of an action, among which nature mixes.

use std::collections::BTreeMap;
use std::path::Path;

use super::lines::{Transition, same_row, shared_cost};
use crate::error::Error;
use crate::io::parse_error;
use crate::model::distribution::compensated_sum;
use crate::model::{Model, SUM_TOLERANCE};

/// The outcomes of the actions of a model, each a distribution over the transitions that the model stores
/// for its action.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcomes {
    /// The first outcome of every row, and the end of the last.
    row_ptr: Vec<usize>,
    ids: Vec<u32>,
    /// The first entry of every outcome, and the end of the last.
    entry_ptr: Vec<usize>,
    /// (Transition within its row, probability), in the order of transitions.
    entries: Vec<(u32, f64)>,
}

impl Outcomes {
    /// The outcomes of row `r`: its number in the file, and the probabilities of transitions, by their
    /// position within the row. Others have probability 0.
    pub fn of_row(&self, r: usize) -> impl Iterator<Item = (u32, &[(u32, f64)])> + Clone {
        (self.row_ptr[r]..self.row_ptr[r + 1])
            .map(|k| (self.ids[k], &self.entries[self.entry_ptr[k]..self.entry_ptr[k + 1]]))
    }

    /// Those of the lines that `model` was made of, sorted by state and action.
    pub(super) fn aligned(
        model: &Model,
        lines: &[Transition],
        outcome: impl Fn(&Transition) -> u32,
    ) -> Outcomes {
        let mut found = Outcomes { row_ptr: vec![0], entry_ptr: vec![0], ..Outcomes::default() };
        let sign = model.objective().sign();
        for (r, lines) in lines.chunk_by(same_row).enumerate() {
            let (row, shared) = (model.row(r), shared_cost(lines));
            let stored: Vec<(usize, f64)> = row.entries().map(|(to, _, more)| (to, more)).collect();
            for (id, lines) in by_outcome(lines, &outcome) {
                let start = found.entries.len();
                for t in lines {
                    let further = if shared.is_some() { 0.0 } else { sign * t.cost + 0.0 };
                    let (to, start) =
                        (t.to as usize, stored.partition_point(|e| e.0 < t.to as usize));
                    let same = |e: &&(usize, f64)| e.0 == to;
                    let ways = stored[start..].iter().take_while(same);
                    let place = ways.clone().position(|e| e.1 == further).map(|k| start + k);
                    // What has no probability may not be stored.
                    let place = place.filter(|_| t.prob > 0.0);
                    found.entries.extend(place.map(|k| (k as u32, t.prob)));
                }
                merge(&mut found.entries, start);
                found.ids.push(id);
                found.entry_ptr.push(found.entries.len());
            }
            found.row_ptr.push(found.ids.len());
        }
        found
    }

    /// Whether they are those of a model with such rows.
    pub(in crate::io) fn fit(&self, model: &Model) -> bool {
        let rows = self.row_ptr.len().saturating_sub(1);
        rows == model.rows()
            && (0..rows).all(|r| {
                let stored = model.row(r).entries().count();
                let last =
                    |(_, entries): (u32, &[(u32, f64)])| entries.last().map(|e| e.0 as usize);
                self.of_row(r).all(|of| last(of).is_some_and(|last| last < stored))
            })
    }

    /// What to say of a model whose nominal rows are mixtures.
    pub(super) fn warning(&self, wider: usize) -> String {
        let several = self.row_ptr.windows(2).filter(|ends| ends[1] > ends[0] + 1).count();
        let rows = self.row_ptr.len() - 1;
        let more = match wider {
            0 => "".to_owned(),
            n => format!(" (in {n} of them, other rows too)"),
        };
        format!(
            "{several} of {rows} state-action pairs have several outcomes: the nominal model mixes those \
             of a pair evenly, and its intervals hold all their mixtures{more}"
        )
    }
}

/// Adds up what comes after `start` and has the same place.
fn merge(entries: &mut Vec<(u32, f64)>, start: usize) {
    entries[start..].sort_by_key(|(place, _)| *place);
    let mut kept = start;
    for k in start + 1..entries.len() {
        match entries[k].0 == entries[kept].0 {
            true => entries[kept].1 += entries[k].1,
            false => {
                kept += 1;
                entries[kept] = entries[k];
            }
        }
    }
    entries.truncate(entries.len().min(kept + 1));
}

/// The lines of an action by their outcome, in the order of outcomes.
fn by_outcome(
    lines: &[Transition],
    outcome: impl Fn(&Transition) -> u32,
) -> Vec<(u32, Vec<Transition>)> {
    let mut numbered: Vec<(u32, Transition)> = lines.iter().map(|t| (outcome(t), *t)).collect();
    numbered.sort_by_key(|(id, _)| *id);
    let parts = numbered.chunk_by(|a, b| a.0 == b.0);
    parts.map(|part| (part[0].0, part.iter().map(|(_, t)| *t).collect())).collect()
}

/// What mixing makes of sorted lines.
#[derive(Default)]
pub(super) struct Mixed {
    pub(super) lines: Vec<Transition>,
    /// (Line, least and largest probability) of transitions with several outcomes, in the order of lines.
    pub(super) bounds: Vec<(u32, [f64; 2])>,
    /// Rows whose intervals hold more than the mixtures of outcomes.
    pub(super) wider: usize,
}

/// Makes the rows of sorted lines even mixtures of their outcomes, each of which must be a distribution, with the
/// smallest intervals that hold them all.
pub(super) fn mix(
    path: &Path,
    lines: &[Transition],
    outcome: impl Fn(&Transition) -> u32,
) -> Result<Mixed, Error> {
    let mut mixed = Mixed::default();
    for row in lines.chunk_by(same_row) {
        let parts = by_outcome(row, &outcome);
        for (id, part) in parts.iter().filter(|_| parts.len() > 1) {
            let sum = compensated_sum(&part.iter().map(|t| t.prob).collect::<Vec<f64>>());
            if (sum - 1.0).abs() > SUM_TOLERANCE {
                let (state, action) = (part[0].from, part[0].action);
                let line = part.iter().map(|t| t.line.into()).min();
                let message = format!(
                    "state {state}, action {action}, outcome {id}: probabilities sum to {sum:?}, \
                     expected 1 within {SUM_TOLERANCE:?}"
                );
                return Err(parse_error(path, line, message));
            }
        }
        // A probability that is none is found out later, with its line.
        if parts.len() == 1 || !row.iter().all(|t| t.prob >= 0.0) {
            mixed.lines.extend(row);
            continue;
        }
        mixed.add(&parts);
    }
    mixed.bounds.sort_unstable_by_key(|(line, _)| *line);
    Ok(mixed)
}

/// The probabilities of a transition in the outcomes that have it.
struct Way {
    transition: Transition,
    sum: f64,
    least: f64,
    most: f64,
    outcomes: usize,
}

impl Mixed {
    /// Adds a row.
    fn add(&mut self, parts: &[(u32, Vec<Transition>)]) {
        let mut ways: BTreeMap<(u32, u64), Way> = BTreeMap::new();
        let mut certain = true;
        for (_, part) in parts {
            let mut of_part: BTreeMap<(u32, u64), Transition> = BTreeMap::new();
            for t in part {
                let merged = of_part.entry((t.to, t.cost.to_bits()));
                merged.and_modify(|way| way.prob += t.prob).or_insert(*t);
            }
            certain &= of_part.values().filter(|t| t.prob > 0.0).count() == 1;
            for (key, transition) in of_part {
                let p = transition.prob;
                let first = Way { transition, sum: 0.0, least: p, most: p, outcomes: 0 };
                let way = ways.entry(key).or_insert(first);
                way.transition.line = way.transition.line.min(transition.line);
                way.sum += p;
                (way.least, way.most) = (way.least.min(p), way.most.max(p));
                way.outcomes += 1;
            }
        }
        let mut free = 0;
        for mut way in ways.into_values() {
            let least = if way.outcomes < parts.len() { 0.0 } else { way.least };
            free += usize::from(least < way.most);
            way.transition.prob = way.sum / parts.len() as f64;
            self.bounds.push((way.transition.line, [least, way.most]));
            self.lines.push(way.transition);
        }
        // Mixtures of outcomes that are certain are all rows; if two transitions share what is left, one says all.
        self.wider += usize::from(!certain && free > 2);
    }
}
