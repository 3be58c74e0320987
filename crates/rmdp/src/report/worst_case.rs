//! Where the worst-case kernel of a policy differs from the nominal one.

use std::collections::BTreeMap;

use robust_mdp::{Interrupt, Model, worst_kernel_rows};

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
    /// Next state, nominal and worst-case probability, where they differ.
    moves: Vec<(usize, f64, f64)>,
}

impl Change {
    /// The mass that moves, as often as the action is played.
    fn weight(&self) -> f64 {
        let moved: f64 = self.moves.iter().map(|(_, p, y)| (y - p).abs()).sum();
        0.5 * self.played * moved
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
        if changes.is_empty() {
            let of = material.of(i);
            blocks.push(Block::Text(format!("The worst case{of} is the nominal kernel itself.")));
            continue;
        }
        blocks.push(Block::HeatMap(map(material, i, &changes)));
        blocks.push(Block::Table(table(material, i, &changes)));
    }
    Ok(Some(super::section("worst-case", "Worst case against nominal transitions", blocks)))
}

/// All rows that are played and change, the largest changes first; nothing if interrupted.
fn changes(
    material: &Material<'_>,
    i: usize,
    model: &Model,
    threads: Option<usize>,
    interrupt: &Interrupt,
) -> Result<Option<Vec<Change>>, Failure> {
    let result = &material.results[i];
    let (set, policy) = (result.set(model)?, result.policy());
    let worst = worst_kernel_rows(model, &set, &policy, &result.values(), threads, interrupt)
        .map_err(Failure::input)?;
    let Some(worst) = worst else { return Ok(None) };
    let mut changes = Vec::new();
    for state in 0..model.states() {
        for row in model.rows_of(state).filter(|&r| policy[r] > 0.0) {
            let mut both: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
            for (next, p, _) in model.row(row).entries() {
                both.entry(next).or_default().0 += p;
            }
            for (next, y) in worst.row(row) {
                both.entry(next as usize).or_default().1 += y;
            }
            let moves: Vec<_> = both
                .into_iter()
                .filter(|(_, (p, y))| (y - p).abs() > LEAST)
                .map(|(next, (p, y))| (next, p, y))
                .collect();
            if !moves.is_empty() {
                changes.push(Change { state, row, played: policy[row], moves });
            }
        }
    }
    changes.sort_by(|a, b| b.weight().total_cmp(&a.weight()).then(a.row.cmp(&b.row)));
    Ok(Some(changes))
}

fn pair(material: &Material<'_>, change: &Change) -> String {
    let first = material.model().map_or(0, |m| m.rows_of(change.state).start);
    let action = material.action_in_words(change.state, change.row - first);
    format!("{}, {action}", material.state_in_words(change.state))
}

fn map(material: &Material<'_>, i: usize, changes: &[Change]) -> HeatMap {
    let mut shown: Vec<&Change> = changes.iter().take(PAIRS).collect();
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
    if changes.len() > shown.len() {
        told += &format!(" Of {} pairs the {PAIRS} with most mass moved are shown.", changes.len());
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
        rows: shown.iter().map(|c| pair(material, c)).collect(),
        columns: next.iter().map(|&s| material.state(s)).collect(),
        values: shown.iter().map(|c| next.iter().map(|&s| cell(c, s)).collect()).collect(),
    }
}

/// “+0.0125”, “−1.2e-7”.
fn changed(by: f64) -> String {
    let text = if by.abs() < 5e-5 { format!("{by:+.1e}") } else { format!("{by:+.4}") };
    text.replacen('-', "−", usize::from(by < 0.0))
}

fn table(material: &Material<'_>, i: usize, changes: &[Change]) -> Table {
    let mut moves: Vec<(f64, &Change, usize, f64, f64)> = (changes.iter())
        .flat_map(|c| c.moves.iter().map(move |&(s, p, y)| (c.played * (y - p).abs(), c, s, p, y)))
        .collect();
    moves.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1.row, a.2).cmp(&(b.1.row, b.2))));
    let count = moves.len();
    let row = |(_, change, s, p, y): &(f64, &Change, usize, f64, f64)| {
        vec![
            pair(material, change),
            probability(change.played, 4),
            material.state_in_words(*s),
            probability(*p, 4),
            probability(*y, 4),
            changed(y - p),
        ]
    };
    let shown =
        if count > LISTED { format!("The {LISTED} largest of {count}") } else { "All".into() };
    let header = ["state, action", "played", "next state", "nominal", "worst case", "change"];
    Table {
        caption: format!("{shown} changed transitions{}.", material.of(i)),
        header: header.map(str::to_owned).to_vec(),
        rows: moves.iter().take(LISTED).map(row).collect(),
    }
}
