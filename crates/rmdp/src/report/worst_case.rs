//! Where the worst-case kernel of a policy differs from the nominal one.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use robust_mdp::model::NominalRow;
use robust_mdp::{Interrupt, Model, SparseKernel, worst_kernel_rows};
use robust_mdp_page::number::{probability, short};
use robust_mdp_page::{Block, HeatMap, Section, Table};

use super::Material;
use crate::failure::Failure;

/// State-action pairs that the map shows.
const PAIRS: usize = 16;
/// Next states that the map shows.
const NEXT: usize = 14;
/// Transitions that the table lists.
const LISTED: usize = 15;
/// Differences below this are rounding.
const LEAST: f64 = 1e-9;

/// Where a transition leads, and at which cost or reward where its row lists the next state at several:
/// nature may move mass between these.
#[derive(Clone, Copy, Debug)]
struct Target {
    next: usize,
    cost: Option<f64>,
}

impl Ord for Target {
    fn cmp(&self, other: &Target) -> Ordering {
        let costs = match (self.cost, other.cost) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        };
        self.next.cmp(&other.next).then(costs)
    }
}

impl PartialOrd for Target {
    fn partial_cmp(&self, other: &Target) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Target {
    fn eq(&self, other: &Target) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Target {}

/// A row of the kernel and how the worst case changes it.
struct Change {
    state: usize,
    row: usize,
    /// Probability of its action.
    played: f64,
    /// The mass that moves, as often as the action is played.
    weight: f64,
    /// Nominal and worst-case probability of each target, where they differ.
    moves: Vec<(Target, f64, f64)>,
}

/// A transition of a row that changes.
#[derive(Clone, Copy)]
struct Move {
    state: usize,
    row: usize,
    played: f64,
    target: Target,
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
        let of = |&(target, nominal, worst): &(Target, f64, f64)| Move {
            state,
            row,
            played,
            target,
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
        let place = |m: &Move| (m.row, m.target);
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
    if material.results[0].answered_at().is_none() {
        return Ok(None);
    }
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
    let Some(values) = result.answered_at() else { return Ok(None) };
    let worst = worst_kernel_rows(model, &set, &policy, &values, threads, interrupt)
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

/// Transitions of a row whose probability changes, next states rising. Both kernels list theirs in that
/// order, and those to one next state at several costs in the order of the model: each is compared with
/// its own.
fn differences(model: &Model, worst: &SparseKernel, row: usize) -> Vec<(Target, f64, f64)> {
    let listed = model.row(row);
    let mut nominal = listed.entries().enumerate().peekable();
    let mut worst = worst.row(row).map(|(next, y)| (next as usize, y)).peekable();
    let mut moves = Vec::new();
    loop {
        let next = match (nominal.peek(), worst.peek()) {
            (Some((_, a)), Some(b)) => a.0.min(b.0),
            (Some((_, a)), None) => a.0,
            (None, Some(b)) => b.0,
            (None, None) => return moves,
        };
        let entry = nominal.next_if(|(_, entry)| entry.0 == next);
        let p = entry.map_or(0.0, |(_, (_, p, _))| p);
        let y = worst.next_if(|entry| entry.0 == next).map_or(0.0, |(_, y)| y);
        if f64::abs(y - p) > LEAST {
            let cost = entry.and_then(|(k, _)| cost_among_several(model, listed, k));
            moves.push((Target { next, cost }, p, y));
        }
    }
}

/// The cost or reward of entry `k` where the row lists its next state at several.
fn cost_among_several(model: &Model, row: NominalRow<'_>, k: usize) -> Option<f64> {
    let next = row.next?;
    let same = |other: Option<usize>| other.and_then(|i| next.get(i)) == Some(&next[k]);
    let further = row.transition_cost?[k];
    (same(k.checked_sub(1)) || same(k.checked_add(1)))
        .then(|| model.objective().sign() * (row.cost + further) + 0.0)
}

/// “worn”, or “worn at cost 10” where the row lists it at several costs.
fn in_words(material: &Material<'_>, name: String, target: Target) -> String {
    match (target.cost, material.model()) {
        (Some(cost), Some(model)) => {
            format!("{name} at {} {}", model.objective().noun(), short(cost))
        }
        (None, _) | (_, None) => name,
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
    let mut moved: BTreeMap<Target, f64> = BTreeMap::new();
    for change in &shown {
        for (target, p, y) in &change.moves {
            *moved.entry(*target).or_default() += change.played * (y - p).abs();
        }
    }
    let count = moved.len();
    let mut next: Vec<(Target, f64)> = moved.into_iter().collect();
    next.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    next.truncate(NEXT);
    let mut next: Vec<Target> = next.into_iter().map(|(target, _)| target).collect();
    next.sort_unstable();
    let mut told = String::new();
    if next.iter().any(|target| target.cost.is_some()) {
        told += " A next state that is listed at several costs has a column for each of them.";
    }
    let count_rows = changes.changed_rows;
    if count_rows > shown.len() {
        told += &format!(" Of {count_rows} pairs the {PAIRS} with most mass moved are shown.");
    }
    if count > next.len() {
        told += &format!(" Of {count} next states the {NEXT} with most mass moved are shown.");
    }
    let cell = |change: &Change, target: Target| {
        change.moves.iter().find(|(t, ..)| *t == target).map(|(_, p, y)| y - p)
    };
    HeatMap {
        id: format!("worst-case-{}", i + 1),
        title: format!("Worst case minus nominal{}", material.of(i)),
        caption: format!(
            "Change of the probability of each next state (column) from each state and action that \
             is played (row); a dot where nothing changes.{told}"
        ),
        rows: shown.iter().map(|c| pair(material, c.state, c.row)).collect(),
        columns: next.iter().map(|&t| in_words(material, material.state(t.next), t)).collect(),
        values: shown.iter().map(|c| next.iter().map(|&t| cell(c, t)).collect()).collect(),
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
            in_words(material, material.state_in_words(m.target.next), m.target),
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
