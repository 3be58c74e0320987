//! States where everything is over: no cost can come any more, whatever anyone does.
//!
//! The largest set of states whose actions cost nothing and, under every kernel of the set, lead nowhere else.
//! Terminal states belong to it.

use crate::model::Model;
use crate::sets::{DataSource, UncertaintySet};

pub(crate) fn ended(model: &Model, set: &UncertaintySet) -> Vec<bool> {
    let states = model.states();
    let everywhere = set.leaves_support();
    let free = |r: usize| {
        let row = model.row(r);
        row.cost_range(set.leads(), states) == (0.0, 0.0)
    };
    let mut over: Vec<bool> = (0..states).map(|s| model.rows_of(s).all(free)).collect();
    // Rows that may lead anywhere keep to the set only if it is all there is.
    let leads_out = |s: usize| everywhere && model.rows_of(s).any(|r| set.radius_at(s, r) > 0.0);
    if !over.iter().all(|over| *over) {
        let acting = (0..states).filter(|&s| !model.is_terminal(s) && leads_out(s));
        acting.for_each(|s| over[s] = false);
    }
    let data = DataSource::new(model, set);
    let next_of = |s: usize| {
        let open = move |r: usize| {
            let row = model.row(r);
            let entries = row.entries().enumerate();
            entries
                .filter(move |(k, _)| row.is_open(*k) || data.opens(row, *k))
                .map(|(_, (next, ..))| next)
        };
        model.rows_of(s).flat_map(open)
    };
    let candidates: Vec<usize> = (0..states).filter(|&s| over[s]).collect();
    let mut before = vec![Vec::new(); states];
    let mut left: Vec<usize> = Vec::new();
    for &s in &candidates {
        for next in next_of(s) {
            before[next].push(s as u32);
        }
    }
    left.extend((0..states).filter(|&s| !over[s]));
    while let Some(gone) = left.pop() {
        for &s in &before[gone] {
            if std::mem::take(&mut over[s as usize]) {
                left.push(s as usize);
            }
        }
    }
    over
}
