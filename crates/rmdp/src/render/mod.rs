//! Readable text: numbers, tables, and the pages of `solve` and `evaluate`.

pub(crate) mod evaluation;
pub(crate) mod policy;
pub(crate) mod solution;

use robust_mdp::Model;
use robust_mdp::sets::Distance;

use robust_mdp_page::number::{grouped, short};

use crate::question::Question;

/// States that a table shows unless all are asked for.
pub(crate) const SHOWN: usize = 20;

/// Least width of a label, so that blocks of facts line up.
const LABEL: usize = 10;

/// Lines “  label   text” with the texts aligned.
pub(crate) fn facts(pairs: &[(&str, String)]) -> String {
    let width = pairs.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0).max(LABEL);
    let line = |(label, text): &(&str, String)| format!("  {label:<width$}  {text}\n");
    pairs.iter().map(line).collect()
}

/// “10 states, 20 state-action pairs”.
pub(crate) fn sizes(model: &Model) -> String {
    let (s, r) = (model.states(), model.rows());
    format!(
        "{} state{}, {} state-action pair{}",
        grouped(s as u64),
        if s == 1 { "" } else { "s" },
        grouped(r as u64),
        if r == 1 { "" } else { "s" }
    )
}

/// “minimise the expected discounted cost, discount 0.8”.
pub(crate) fn objective(model: &Model, question: Question, set: Distance) -> String {
    let discount = question.counted(model.discount());
    let discount = discount.map(|discount| format!(", discount {}", short(discount)));
    format!("{}{}", question.aim(model.objective(), set), discount.unwrap_or_default())
}

/// What a table left out, if anything.
pub(crate) fn left_out(states: usize, shown: usize, rest_in: &str) -> String {
    match states - shown {
        0 => String::new(),
        n => format!(
            "… and {} more state{}; --all-states shows {}, {rest_in}\n",
            grouped(n as u64),
            if n == 1 { "" } else { "s" },
            if n == 1 { "it" } else { "them" }
        ),
    }
}

/// A name as a table shows it: on one line, harmless to a terminal, and not too long.
pub(crate) fn shown_name(name: &str, most: usize) -> String {
    let clean = name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c });
    match name.chars().count() <= most {
        true => clean.collect(),
        false => clean.take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::shown_name;

    #[test]
    fn names_are_made_harmless() {
        assert_eq!(shown_name("a\nb\u{1b}[1m", 20), "a\u{fffd}b\u{fffd}[1m");
        assert_eq!(shown_name("abcdef", 4), "abc…");
    }
}
