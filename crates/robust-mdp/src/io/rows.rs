//! Rows as formats hold them that list a next state once.

use crate::model::NominalRow;

/// A next state of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) to: usize,
    pub(super) prob: f64,
    /// On top of the action's own cost.
    pub(super) further: f64,
    pub(super) bounds: Option<[f64; 2]>,
}

/// What a row lists; several costs of a next state become their mean.
pub(super) fn merged(row: NominalRow<'_>) -> Vec<Entry> {
    let mut all: Vec<Entry> = Vec::with_capacity(row.prob.len());
    // How many ways lead to the latest next state, and Σ p·c and Σ c over them.
    let (mut ways, mut weighted, mut plain) = (0.0, 0.0, 0.0);
    for (k, (to, prob, further)) in row.entries().enumerate().filter(|(k, _)| row.lists(*k)) {
        let bounds = row.bounds.map(|bounds| [bounds.lower[k], bounds.upper[k]]);
        match all.last_mut().filter(|last| last.to == to) {
            None => {
                (ways, weighted, plain) = (1.0, prob * further, further);
                all.push(Entry { to, prob, further, bounds });
            }
            Some(last) => {
                (ways, weighted, plain) = (ways + 1.0, weighted + prob * further, plain + further);
                last.prob += prob;
                last.further = if last.prob > 0.0 { weighted / last.prob } else { plain / ways };
                if let (Some([low, high]), Some([l, h])) = (&mut last.bounds, bounds) {
                    (*low, *high) = (*low + l, (*high + h).min(1.0));
                }
            }
        }
    }
    all
}

/// As [`merged`], of next states that have probability or may have some.
pub(super) fn possible(row: NominalRow<'_>) -> Vec<Entry> {
    let mut all = merged(row);
    all.retain(|e| e.prob > 0.0 || e.bounds.is_some_and(|[_, high]| high > 0.0));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModelBuilder;

    #[test]
    fn ways_to_a_state_become_one() {
        let mut b = ModelBuilder::new(0.5);
        b.add_state(None);
        b.add_action(None, 1.0);
        let listed = [(0, 0.25, 4.0), (0, 0.75, 8.0), (1, 0.0, 2.0), (1, 0.0, 4.0), (2, 0.0, 3.0)];
        listed.iter().for_each(|&(to, p, further)| b.add_transition(to, p, further));
        for _ in 0..2 {
            b.add_state(None);
            b.mark_terminal();
        }
        let model = b.build().unwrap();
        let entry = |to, prob, further| Entry { to, prob, further, bounds: None };
        let expected = [entry(0, 1.0, 7.0), entry(1, 0.0, 3.0), entry(2, 0.0, 3.0)];
        assert_eq!(merged(model.row(0)), expected);
        assert_eq!(possible(model.row(0)), expected[..1]);
    }
}
