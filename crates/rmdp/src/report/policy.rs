//! The policy as a heat map of states and actions, and the bounds of every state.

use robust_mdp_page::number::{probability, rounded_down, rounded_up};
use robust_mdp_page::{Block, HeatMap, Section, Table};

use super::Material;
use crate::render::solution::table_decimals;

/// States that a map shows.
const STATES: usize = 40;
/// Different actions that a map shows.
const ACTIONS: usize = 20;
/// States that a table lists.
const LISTED: usize = 40;

pub(super) fn section(material: &Material<'_>) -> Section {
    let (pictured, told) = material.pictured();
    let mut blocks: Vec<Block> = told.into_iter().map(Block::Text).collect();
    for i in pictured {
        blocks.push(Block::HeatMap(map(material, i)));
        blocks.push(Block::Table(values(material, i)));
    }
    super::section("policy", "Policy and values", blocks)
}

/// The states to show, in the model's order: all, or those where the policy is most mixed.
fn states(policy: &[Vec<f64>]) -> (Vec<usize>, Option<String>) {
    let playing: Vec<usize> = (0..policy.len()).filter(|&s| !policy[s].is_empty()).collect();
    if playing.len() <= STATES {
        return (playing, None);
    }
    let largest = |s: usize| policy[s].iter().copied().fold(0.0, f64::max);
    let count = playing.len();
    let mut chosen = playing;
    chosen.sort_by(|&a, &b| largest(a).total_cmp(&largest(b)).then(a.cmp(&b)));
    chosen.truncate(STATES);
    chosen.sort_unstable();
    let told =
        format!(" Of {count} states those {STATES} are shown where the policy is most mixed.");
    (chosen, Some(told))
}

fn map(material: &Material<'_>, i: usize) -> HeatMap {
    let policy = &material.results[i].file.policy;
    let (shown, few_states) = states(policy);
    // Columns: the names of actions, in the order of their first use.
    let mut columns: Vec<String> = Vec::new();
    for &s in &shown {
        for a in 0..policy[s].len() {
            let name = material.action(s, a);
            if !columns.contains(&name) {
                columns.push(name);
            }
        }
    }
    let mut told = few_states.unwrap_or_default();
    if columns.len() > ACTIONS {
        let weight = |name: &String| -> f64 {
            let of = |s: &usize| -> f64 {
                (0..policy[*s].len())
                    .filter(|&a| material.action(*s, a) == *name)
                    .map(|a| policy[*s][a])
                    .sum()
            };
            shown.iter().map(of).sum()
        };
        let count = columns.len();
        let mut ranked: Vec<(f64, usize)> =
            columns.iter().enumerate().map(|(k, name)| (weight(name), k)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut kept: Vec<usize> = ranked.into_iter().take(ACTIONS).map(|(_, k)| k).collect();
        kept.sort_unstable();
        columns = kept.into_iter().map(|k| columns[k].clone()).collect();
        told += &format!(" Of {count} actions the {ACTIONS} most used are shown.");
    }
    let cell = |s: usize, name: &String| {
        let same = (0..policy[s].len()).filter(|&a| material.action(s, a) == *name);
        same.map(|a| policy[s][a]).reduce(|a, b| a + b)
    };
    HeatMap {
        id: format!("policy-{}", i + 1),
        title: format!("Policy{}", material.of(i)),
        caption: format!(
            "Probability of each action (column) in each state (row); a dot where a state does not \
             have the action.{told}"
        ),
        rows: shown.iter().map(|&s| material.state_in_words(s)).collect(),
        values: shown.iter().map(|&s| columns.iter().map(|c| cell(s, c)).collect()).collect(),
        columns,
    }
}

fn values(material: &Material<'_>, i: usize) -> Table {
    let file = &material.results[i].file;
    let count = file.lower.len();
    let shown = count.min(LISTED);
    let digits = table_decimals(file.gap, &[&file.lower, &file.upper]);
    let nominal = material.evaluated.get(i).map(|e| &e.nominal);
    let mut header = vec!["state", "likeliest action", "worst case, lower", "worst case, upper"];
    if nominal.is_some() {
        header.extend(["nominal, lower", "nominal, upper"]);
    }
    let row = |s: usize| {
        let mut cells = vec![
            material.state_in_words(s),
            likeliest(material, i, s),
            rounded_down(file.lower[s], digits),
            rounded_up(file.upper[s], digits),
        ];
        if let Some(nominal) = nominal {
            cells.push(rounded_down(nominal.lower[s], digits));
            cells.push(rounded_up(nominal.upper[s], digits));
        }
        cells
    };
    let rest = match count - shown {
        0 => String::new(),
        _ => format!(" The first {shown} of {count} states; the result file has all."),
    };
    Table {
        caption: format!("Bounds of the policy's value{}.{rest}", material.of(i)),
        header: header.into_iter().map(str::to_owned).collect(),
        rows: (0..shown).map(row).collect(),
    }
}

/// “repair (0.688)”.
fn likeliest(material: &Material<'_>, i: usize, s: usize) -> String {
    let policy = &material.results[i].file.policy[s];
    let best = (0..policy.len()).reduce(|a, b| if policy[b] > policy[a] { b } else { a });
    match best {
        None => "—".into(),
        Some(a) if policy[a] > 1.0 - 1e-9 => material.action_in_words(s, a),
        Some(a) => format!("{} ({})", material.action_in_words(s, a), probability(policy[a], 3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_states_the_mixed_ones_are_shown() {
        let mut policy = vec![vec![1.0, 0.0]; 100];
        policy[70] = vec![0.5, 0.5];
        policy[99] = vec![];
        let (shown, told) = states(&policy);
        assert_eq!(shown.len(), STATES);
        assert!(shown.contains(&70) && !shown.contains(&99) && shown.is_sorted());
        assert_eq!(
            told.as_deref(),
            Some(" Of 99 states those 40 are shown where the policy is most mixed.")
        );
        assert_eq!(states(&policy[..3]), (vec![0, 1, 2], None));
    }
}
