//! A model from the lines of a table of transitions, in whatever order.

use std::path::Path;

use super::outcomes::{self, Outcomes};
use crate::error::{Error, ModelError, counted};
use crate::io::table::Header;
use crate::io::{ModelFile, model_error, numbering_warning, parse_error, terminal_warning};
use crate::model::{ModelBuilder, Objective};

/// Where a table has what.
pub(in crate::io) struct Columns {
    pub(in crate::io) from: usize,
    pub(in crate::io) action: usize,
    pub(in crate::io) to: usize,
    pub(in crate::io) prob: usize,
    pub(in crate::io) cost: usize,
    pub(in crate::io) outcome: Option<usize>,
    /// Those of the least and the largest probability.
    pub(in crate::io) bounds: Option<[usize; 2]>,
    objective: Objective,
}

impl Columns {
    pub(in crate::io) fn find(header: &Header<'_>) -> Result<Columns, Error> {
        let [from, action, to] =
            ["idstatefrom", "idaction", "idstateto"].map(|name| header.require(&[name]));
        let (from, action, to) = (from?, action?, to?);
        let prob = header.require(&["probability"])?;
        let (cost, objective) = match (header.column(&["reward"])?, header.column(&["cost"])?) {
            (Some(_), Some(_)) => {
                return Err(
                    header.error("the header has “reward” and “cost”, expected one of them")
                );
            }
            (Some(column), None) => (column, Objective::MaxReward),
            (None, Some(column)) => (column, Objective::MinCost),
            (None, None) => (header.require(&["reward", "cost"])?, Objective::MinCost),
        };
        let outcome = header.column(&["idoutcome"])?;
        let bounds = match (header.column(&["lower"])?, header.column(&["upper"])?) {
            (Some(lower), Some(upper)) => Some([lower, upper]),
            (None, None) => None,
            (Some(_), None) => {
                return Err(header.error("a column “lower” without “upper”, expected both"));
            }
            (None, Some(_)) => {
                return Err(header.error("a column “upper” without “lower”, expected both"));
            }
        };
        if outcome.is_some() && bounds.is_some() {
            let message =
                "columns “idoutcome” and “lower”, expected outcomes or intervals of probabilities";
            return Err(header.error(message));
        }
        Ok(Columns { from, action, to, prob, cost, outcome, bounds, objective })
    }
}

/// One line, 32 bytes.
#[derive(Clone, Copy)]
pub(in crate::io) struct Transition {
    pub(in crate::io) from: u32,
    pub(in crate::io) action: u32,
    pub(in crate::io) to: u32,
    pub(in crate::io) line: u32,
    pub(in crate::io) prob: f64,
    pub(in crate::io) cost: f64,
}

impl Transition {
    fn line(&self) -> u64 {
        self.line.into()
    }
}

/// The lines of a table.
pub(in crate::io) struct Lines {
    objective: Objective,
    transitions: Vec<Transition>,
    /// (Line, outcome), in the order of lines, where outcomes are given.
    outcomes: Vec<(u32, u32)>,
    /// (Line, least and largest probability), in the order of lines, where intervals are given.
    bounds: Vec<(u32, [f64; 2])>,
}

impl Lines {
    pub(in crate::io) fn new(columns: &Columns) -> Lines {
        Lines {
            objective: columns.objective,
            transitions: Vec::new(),
            outcomes: Vec::new(),
            bounds: Vec::new(),
        }
    }

    /// Adds a line, behind all others in the file.
    pub(in crate::io) fn add(
        &mut self,
        transition: Transition,
        outcome: Option<u32>,
        bounds: Option<[f64; 2]>,
    ) {
        self.bounds.extend(bounds.map(|bounds| (transition.line, bounds)));
        self.outcomes.extend(outcome.map(|outcome| (transition.line, outcome)));
        self.transitions.push(transition);
    }

    /// The model that the lines describe, with the outcomes of its actions where some have several.
    pub(in crate::io) fn into_model(
        mut self,
        path: &Path,
        discount: Option<f64>,
    ) -> Result<ModelFile, Error> {
        let discount =
            discount.ok_or_else(|| model_error(path, None, ModelError::MissingDiscount))?;
        let states = self.count_states(path)?;
        let mut lines = self.transitions;
        self.outcomes.dedup_by_key(|(_, outcome)| *outcome);
        lines.sort_unstable_by_key(|t| (t.from, t.action, t.to, t.line));
        let of_line = |t: &Transition| {
            let after = self.outcomes.partition_point(|(line, _)| *line <= t.line);
            self.outcomes[after - 1].1
        };
        let several = self.outcomes.len() > 1 && {
            let rows = lines.chunk_by(same_row);
            let mixed = |row: &[Transition]| row.iter().any(|t| of_line(t) != of_line(&row[0]));
            rows.into_iter().any(mixed)
        };
        let mut given = Vec::new();
        let mut bounds = self.bounds;
        let mut wider = 0;
        if several {
            let mixed = outcomes::mix(path, &lines, of_line)?;
            given = std::mem::replace(&mut lines, mixed.lines);
            (bounds, wider) = (mixed.bounds, mixed.wider);
        }
        let mut builder = ModelBuilder::new(discount).objective(self.objective);
        let terminal = feed(&mut builder, states, &lines, &bounds);
        let model = builder.build().map_err(|e| model_error(path, line_of(&lines, &e), e))?;
        let outcomes = several.then(|| Outcomes::aligned(&model, &given, of_line));
        let numbering = numbering_warning(&model);
        let mixed = outcomes.as_ref().map(|outcomes| outcomes.warning(wider));
        let warnings = mixed.into_iter().chain(numbering).chain(terminal_warning(&terminal));
        let warnings = warnings.collect();
        Ok(ModelFile { outcomes, ..ModelFile::from((model, warnings)) })
    }

    fn count_states(&self, path: &Path) -> Result<usize, Error> {
        let lines = &self.transitions;
        let highest = |t: &Transition| t.from.max(t.to) as usize + 1;
        let states = lines.iter().map(highest).max().unwrap_or(0);
        if states > 10 * lines.len() + 1_000_000 {
            let count = counted(lines.len(), "line", "lines");
            return Err(parse_error(
                path,
                lines.iter().find(|t| highest(t) == states).map(Transition::line),
                format!(
                    "state {} among only {count}: the numbers look wrong, \
                     expected states counted from 0",
                    states - 1
                ),
            ));
        }
        Ok(states)
    }
}

pub(super) fn same_row(a: &Transition, b: &Transition) -> bool {
    (a.from, a.action) == (b.from, b.action)
}

/// The cost that all lines of an action share: it is then the action's own.
pub(super) fn shared_cost(row: &[Transition]) -> Option<f64> {
    row.iter().all(|t| t.cost == row[0].cost).then_some(row[0].cost)
}

/// Gives sorted lines to the builder; returns the states without lines.
fn feed(
    builder: &mut ModelBuilder,
    states: usize,
    lines: &[Transition],
    bounds: &[(u32, [f64; 2])],
) -> Vec<usize> {
    let bounds_of = |t: &Transition| {
        bounds.binary_search_by_key(&t.line, |(line, _)| *line).ok().map(|k| bounds[k].1)
    };
    let mut terminal = Vec::new();
    let mut rest = lines;
    for s in 0..states {
        builder.add_state(None);
        let (of_state, after) = rest.split_at(rest.partition_point(|t| t.from as usize <= s));
        rest = after;
        if of_state.is_empty() {
            builder.mark_terminal();
            terminal.push(s);
        }
        for (number, row) in of_state.chunk_by(|a, b| a.action == b.action).enumerate() {
            let id = row[0].action;
            let name = (id as usize != number).then(|| id.to_string());
            let shared = shared_cost(row);
            builder.add_action(name.as_deref(), shared.unwrap_or(0.0));
            for t in row {
                let further = if shared.is_some() { 0.0 } else { t.cost };
                let to = t.to as usize;
                match bounds_of(t) {
                    Some(bounds) => builder.add_interval(to, Some(t.prob), bounds, further),
                    None => builder.add_transition(to, t.prob, further),
                }
            }
        }
        if builder.error().is_some() {
            break;
        }
    }
    terminal
}

/// The line to blame for `error`: of the transition, or the first of the action or state.
fn line_of(lines: &[Transition], error: &ModelError) -> Option<u64> {
    let (state, action) = error.place()?;
    let of_state = lines.iter().filter(|t| t.from as usize == state);
    let of_state: Vec<&Transition> = of_state.collect();
    let row = of_state.chunk_by(|a, b| a.action == b.action).nth(action.unwrap_or(0))?;
    let at_fault = |t: &&&Transition| match error {
        ModelError::Probability { next, value, .. } => {
            (t.to as usize, t.prob.to_bits()) == (*next, value.to_bits())
        }
        ModelError::Interval { next, .. } | ModelError::OutsideInterval { next, .. } => {
            t.to as usize == *next
        }
        ModelError::CostNotFinite { .. } => !t.cost.is_finite(),
        _ => true,
    };
    row.iter().filter(at_fault).map(|t| t.line()).min()
}
