//! Where the worst-case kernel of a policy differs from the nominal one.

use std::collections::BTreeMap;

use robust_mdp::{Interrupt, Model, SparseKernel, worst_kernel_rows};

use super::Material;
use crate::failure::Failure;
use crate::page::{Block, HeatMap, Section, Table};
use crate::render::number::probability;

/// State-action pairs that the map shows.
const PAIRS: usize = 16;
/// Next states that the map shows.
const NEXT: usize = 14;
/// Transitions that the table lists.
const LISTED: usize = 15;
/// Differences below this are rounding.
const LEAST: f64 = 1e-9;

/// A row of the kernel and how the worst case changes it.
struct Change {
    state: usize,
    row: usize,
    /// Probability of its action.
    played: f64,
    /// The mass that moves, as often as the action is played.
    weight: f64,
    /// Next state, nominal and worst-case probability, where they differ.
    moves: Vec<(usize, f64, f64)>,
}

/// A transition of a row that changes.
#[derive(Clone, Copy)]
struct Move {
    state: usize,
    row: usize,
    played: f64,
    next: usize,
    nominal: f64,
    worst: f64,
}

impl Move {
    fn weight(&self) -> f64 {
        self.played * (self.worst - self.nominal).abs()
    }
}

/// What the page shows of all rows that are played and change: the largest changes, and how many there
/// are.
struct Changes {
    rows: Vec<Change>,
    changed_rows: usize,
    moves: Vec<Move>,
    changed_moves: usize,
}

impl Changes {
    fn take(&mut self, change: Change) {
        let Change { state, row, played, .. } = change;
        let of = |&(next, nominal, worst): &(usize, f64, f64)| Move {
            state,
            row,
            played,
            next,
            nominal,
            worst,
        };
        self.changed_rows += 1;
        self.changed_moves += change.moves.len();
        self.moves.extend(change.moves.iter().map(of));
        self.rows.push(change);
        if self.rows.len() >= 64 * PAIRS || self.moves.len() >= 1 << 16 {
            self.cut();
        }
    }

    /// Leaves the largest, in falling order.
    fn cut(&mut self) {
        self.rows.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.row.cmp(&b.row)));
        self.rows.truncate(PAIRS);
        let place = |m: &Move| (m.row, m.next);
        self.moves.sort_by(|a, b| b.weight().total_cmp(&a.weight()).then(place(a).cmp(&place(b))));
        self.moves.truncate(LISTED);
    }
}

pub(super) fn section(
    material: &Material<'_>,
    threads: Option<usize>,
    interrupt: &Interrupt,
) -> Result<Option<Section>, Failure> {
    let Some(source) = material.source else { return Ok(None) };
    let (pictured, told) = material.pictured();
    let mut blocks = vec![Block::Text(
        "The worst-case kernel is the one of the set that makes the policy do worst. Shown is where \
         it moves probability, beginning with the states where most of it moves."
            .into(),
    )];
    blocks.extend(told.map(Block::Text));
    for i in pictured {
        let Some(changes) = changes(material, i, &source.model, threads, interrupt)? else {
            blocks.push(Block::Text("Interrupted before all of it was computed.".into()));
            break;
        };
        if changes.rows.is_empty() {
            let of = material.of(i);
            blocks.push(Block::Text(format!("The worst case{of} is the nominal kernel itself.")));
            continue;
        }
        blocks.push(Block::HeatMap(map(material, i, &changes)));
        blocks.push(Block::Table(table(material, i, &changes)));
    }
    Ok(Some(super::section("worst-case", "Worst case against nominal transitions", blocks)))
}

/// What changes in the rows that are played; nothing if interrupted.
fn changes(
    material: &Material<'_>,
    i: usize,
    model: &Model,
    threads: Option<usize>,
    interrupt: &Interrupt,
) -> Result<Option<Changes>, Failure> {
    let result = &material.results[i];
    let (set, policy) = (result.set(model)?, result.policy());
    let worst = worst_kernel_rows(model, &set, &policy, &result.values(), threads, interrupt)
        .map_err(Failure::input)?;
    let Some(worst) = worst else { return Ok(None) };
    let mut all =
        Changes { rows: Vec::new(), changed_rows: 0, moves: Vec::new(), changed_moves: 0 };
    for state in 0..model.states() {
        if interrupt.is_raised() {
            return Ok(None);
        }
        for row in model.rows_of(state).filter(|&r| policy[r] > 0.0) {
            let moves = differences(model, &worst, row);
            if !moves.is_empty() {
                let moved: f64 = moves.iter().map(|(_, p, y)| (y - p).abs()).sum();
                let (played, weight) = (policy[row], 0.5 * policy[row] * moved);
                all.take(Change { state, row, played, weight, moves });
            }
        }
    }
    all.cut();
    Ok(Some(all))
}

/// Next states of a row whose probability changes, rising: both kernels list theirs in that order.
fn differences(model: &Model, worst: &SparseKernel, row: usize) -> Vec<(usize, f64, f64)> {
    let nominal = model.row(row);
    let mut nominal = nominal.entries().map(|(next, p, _)| (next, p)).peekable();
    let mut worst = worst.row(row).map(|(next, y)| (next as usize, y)).peekable();
    let mut moves = Vec::new();
    loop {
        let next = match (nominal.peek(), worst.peek()) {
            (Some(a), Some(b)) => a.0.min(b.0),
            (Some(a), None) | (None, Some(a)) => a.0,
            (None, None) => return moves,
        };
        let (mut p, mut y) = (0.0, 0.0);
        while let Some((_, more)) = nominal.next_if(|entry| entry.0 == next) {
            p += more;
        }
        while let Some((_, more)) = worst.next_if(|entry| entry.0 == next) {
            y += more;
        }
        if f64::abs(y - p) > LEAST {
            moves.push((next, p, y));
        }
    }
}

fn pair(material: &Material<'_>, state: usize, row: usize) -> String {
    let first = material.model().map_or(0, |m| m.rows_of(state).start);
    let action = material.action_in_words(state, row - first);
    format!("{}, {action}", material.state_in_words(state))
}

fn map(material: &Material<'_>, i: usize, changes: &Changes) -> HeatMap {
    let mut shown: Vec<&Change> = changes.rows.iter().collect();
    shown.sort_by_key(|c| c.row);
    let mut moved: BTreeMap<usize, f64> = BTreeMap::new();
    for change in &shown {
        for (next, p, y) in &change.moves {
            *moved.entry(*next).or_default() += change.played * (y - p).abs();
        }
    }
    let count = moved.len();
    let mut next: Vec<(usize, f64)> = moved.into_iter().collect();
    next.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    next.truncate(NEXT);
    let mut next: Vec<usize> = next.into_iter().map(|(s, _)| s).collect();
    next.sort_unstable();
    let mut told = String::new();
    let count_rows = changes.changed_rows;
    if count_rows > shown.len() {
        told += &format!(" Of {count_rows} pairs the {PAIRS} with most mass moved are shown.");
    }
    if count > next.len() {
        told += &format!(" Of {count} next states the {NEXT} with most mass moved are shown.");
    }
    let cell = |change: &Change, s: usize| {
        change.moves.iter().find(|(next, ..)| *next == s).map(|(_, p, y)| y - p)
    };
    HeatMap {
        id: format!("worst-case-{}", i + 1),
        title: format!("Worst case minus nominal{}", material.of(i)),
        caption: format!(
            "Change of the probability of each next state (column) from each state and action that \
             is played (row); a dot where nothing changes.{told}"
        ),
        rows: shown.iter().map(|c| pair(material, c.state, c.row)).collect(),
        columns: next.iter().map(|&s| material.state(s)).collect(),
        values: shown.iter().map(|c| next.iter().map(|&s| cell(c, s)).collect()).collect(),
    }
}

/// “+0.0125”, “−1.2e-7”.
fn changed(by: f64) -> String {
    let text = if by.abs() < 5e-5 { format!("{by:+.1e}") } else { format!("{by:+.4}") };
    text.replacen('-', "−", usize::from(by < 0.0))
}

fn table(material: &Material<'_>, i: usize, changes: &Changes) -> Table {
    let count = changes.changed_moves;
    let row = |m: &Move| {
        vec![
            pair(material, m.state, m.row),
            probability(m.played, 4),
            material.state_in_words(m.next),
            probability(m.nominal, 4),
            probability(m.worst, 4),
            changed(m.worst - m.nominal),
        ]
    };
    let shown =
        if count > LISTED { format!("The {LISTED} largest of {count}") } else { "All".into() };
    let header = ["state, action", "played", "next state", "nominal", "worst case", "change"];
    Table {
        caption: format!("{shown} changed transitions{}.", material.of(i)),
        header: header.map(str::to_owned).to_vec(),
        rows: changes.moves.iter().map(row).collect(),
    }
}
