//! `rmdp info`: what is in a model.

use std::path::PathBuf;

use robust_mdp::sets::{Distance, Needs, Rectangularity, UncertaintySet};
use robust_mdp::{Model, Objective};
use robust_mdp_page::number::{grouped, plain, short};
use serde::{Serialize, Serializer};

use crate::args;
use crate::choice::{in_a_row, sets_with};
use crate::failure::{Ending, Failure};
use crate::model::ReadArgs;
use crate::output::{self, Sink};
use crate::render::facts;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Model file; - is the standard input
    model: PathBuf,
    #[command(flatten)]
    reading: ReadArgs,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    #[arg(long, short, help = args::QUIET)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  rmdp info m.json
  rmdp info m.npz --json | jq .transitions";

/// Most letters of a list on a line.
const WIDTH: usize = 72;

/// All that is known without solving anything.
#[derive(Debug, Serialize)]
struct Info {
    #[serde(serialize_with = "by_name")]
    objective: Objective,
    discount: Option<f64>,
    states: usize,
    terminal_states: usize,
    state_action_pairs: usize,
    /// Fewest and most actions of a state that is not terminal.
    actions: [usize; 2],
    /// Those of positive probability.
    transitions: usize,
    /// Those of them to a next state that one before them in their row leads to, at another cost.
    repeated_transitions: usize,
    /// Next states of positive probability as a share of state-action pairs × states.
    density: f64,
    storage: &'static str,
    /// Least and largest cost or reward of what is listed.
    costs: [f64; 2],
    costs_on_transitions: bool,
    /// Least and largest cost or reward of next states that are not listed; none where all are.
    unlisted_costs: Option<(f64, f64)>,
    /// States of positive initial probability; none where the start is uniform by default.
    initial_states: Option<usize>,
    /// Whether probabilities have intervals.
    intervals: bool,
    /// Of the sets that need no more than the model: a larger radius changes nothing, nature may choose any kernel.
    #[serde(serialize_with = "by_set")]
    largest_useful_radius: Vec<(Distance, f64)>,
}

pub(crate) fn run(args: &Args) -> Result<Ending, Failure> {
    let (source, no_discount) = args.reading.read_or_discount(&args.model, 0.0)?;
    output::warn(&source.warnings, args.quiet);
    let info = Info::new(&source.model, no_discount);
    if args.json {
        Sink::Stdout.write_json(&info)?;
    } else {
        output::to_stdout(info.page(&source.name).as_bytes())?;
    }
    Ok(Ending::Done)
}

impl Info {
    fn new(model: &Model, no_discount: bool) -> Info {
        let playing = || (0..model.states()).map(|s| model.rows_of(s).len()).filter(|&n| n > 0);
        let transitions = model.positive_transitions();
        let repeated = repeated_transitions(model);
        let cells = model.rows() as f64 * model.states() as f64;
        let positive = model.initial().map(|p| p.iter().filter(|&&p| p > 0.0).count());
        Info {
            objective: model.objective(),
            discount: (!no_discount).then_some(model.discount()),
            states: model.states(),
            terminal_states: model.states() - playing().count(),
            state_action_pairs: model.rows(),
            actions: [playing().min().unwrap_or(0), playing().max().unwrap_or(0)],
            transitions,
            repeated_transitions: repeated,
            density: if cells > 0.0 { (transitions - repeated) as f64 / cells } else { 0.0 },
            storage: if model.is_dense() { "dense" } else { "sparse" },
            costs: cost_range(model),
            costs_on_transitions: model.has_transition_costs(),
            unlisted_costs: model.unlisted_costs(),
            initial_states: positive,
            intervals: model.has_intervals(),
            largest_useful_radius: (Distance::ALL.iter().copied())
                .filter_map(|distance| Some((distance, largest_useful_radius(model, distance)?)))
                .collect(),
        }
    }

    fn actions_in_words(&self) -> String {
        match self.actions {
            [low, high] if low == high => many(high),
            [low, high] => format!("{} to {}", many(low), many(high)),
        }
    }

    fn initial_in_words(&self) -> String {
        match self.initial_states {
            None => "uniform (the model has none)".into(),
            Some(1) => "one state".into(),
            Some(n) => format!("over {} states", many(n)),
        }
    }

    fn transitions_in_words(&self) -> String {
        let again = match self.repeated_transitions {
            0 => String::new(),
            n => format!(", {} to a next state listed before at another cost", many(n)),
        };
        let density = plain(100.0 * self.density, 3);
        format!("{} (density {density} %){again}", many(self.transitions))
    }

    fn unlisted_in_words(&self) -> String {
        match self.unlisted_costs {
            None => "none: all states are listed everywhere".into(),
            Some((low, high)) if low == high => format!("{}, the action's own", short(low)),
            Some((low, high)) => {
                format!("{} to {}, each the action's own", short(low), short(high))
            }
        }
    }

    fn page(&self, name: &str) -> String {
        let what = format!("{}s", self.objective.noun());
        let unlisted = format!("{what} if unlisted");
        let on = if self.costs_on_transitions { ", some on transitions" } else { "" };
        let discount = match self.discount {
            Some(discount) => short(discount),
            None => "none in the file: give --discount to solve".into(),
        };
        let mut all = vec![
            ("model", name.to_owned()),
            ("objective", self.objective.name().into()),
            ("discount", discount),
            ("states", format!("{} ({} terminal)", many(self.states), many(self.terminal_states))),
            ("actions a state", self.actions_in_words()),
            ("state-action pairs", many(self.state_action_pairs)),
            ("transitions", self.transitions_in_words()),
            ("storage", self.storage.into()),
            (what.as_str(), format!("{} to {}{on}", short(self.costs[0]), short(self.costs[1]))),
            (unlisted.as_str(), self.unlisted_in_words()),
            ("initial distribution", self.initial_in_words()),
        ];
        if self.intervals {
            all.push(("probabilities", "with intervals".into()));
        }
        all.extend(self.radii_in_words());
        facts(&all)
    }

    /// Some sets a line; then what others need.
    fn radii_in_words(&self) -> Vec<(&'static str, String)> {
        let radii: Vec<String> = (self.largest_useful_radius.iter())
            .map(|(set, radius)| {
                let number = if radius.is_finite() { short(*radius) } else { "∞".into() };
                let shared =
                    set.set().is_none_or(|set| set.rectangularity() == Rectangularity::State);
                let owner = if shared { "" } else { " (sa)" };
                format!("{} {number}{owner}", set.name())
            })
            .collect();
        let mut lines: Vec<(&str, String)> = Vec::new();
        for radius in radii {
            match lines.last_mut() {
                Some((_, line)) if line.chars().count() + radius.chars().count() < WIDTH => {
                    *line = format!("{line}, {radius}");
                }
                Some((_, line)) => {
                    line.push(',');
                    lines.push(("", radius));
                }
                None => lines.push(("", radius)),
            }
        }
        if let Some(first) = lines.first_mut() {
            first.0 = "largest useful radius";
        }
        if !self.intervals {
            let sets = in_a_row(&sets_with(Needs::Intervals), "and");
            lines.push(("", format!("a model with intervals would have {sets} too")));
        }
        let sets = in_a_row(&sets_with(Needs::Ground), "and");
        lines.push(("", format!("that of {sets} depends on distances between states")));
        let sets = in_a_row(&sets_with(Needs::Scenarios), "and");
        lines.push(("", format!("that of {sets} is 1 for every action, with other kernels")));
        lines
    }
}

/// None for sets that need to be told more than the model says.
fn largest_useful_radius(model: &Model, distance: Distance) -> Option<f64> {
    let set = distance.set()?;
    let told = match set.needs() {
        Needs::Nothing | Needs::Weights => true,
        Needs::Intervals => model.has_intervals(),
        Needs::Ground | Needs::Scenarios => false,
    };
    let rectangularity = set.rectangularity();
    let around = UncertaintySet { rectangularity, ..UncertaintySet::new(distance, 0.0) };
    told.then(|| around.largest_useful_radius(model))
}

fn by_name<S: Serializer>(objective: &Objective, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(objective.name())
}

fn by_set<S: Serializer>(radii: &[(Distance, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(radii.iter().map(|(set, radius)| (set.name(), radius)))
}

fn many(n: usize) -> String {
    grouped(n as u64)
}

/// Transitions of positive probability to a next state that one before them in their row leads to.
fn repeated_transitions(model: &Model) -> usize {
    let of_row = |r: usize| {
        let positive = model.row(r).entries().filter(|e| e.1 > 0.0).map(|e| e.0);
        positive.clone().zip(positive.skip(1)).filter(|(a, b)| a == b).count()
    };
    match model.repeated_transitions() {
        0 => 0,
        _ => (0..model.rows()).map(of_row).sum(),
    }
}

/// Least and largest cost of a listed transition, in the model's own sign. Those of probability 0 count:
/// sets may leave the nominal support.
fn cost_range(model: &Model) -> [f64; 2] {
    let sign = model.objective().sign();
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for r in 0..model.rows() {
        let row = model.row(r);
        for (_, _, further) in row.listed() {
            let cost = sign * (row.cost + further) + 0.0;
            (low, high) = (low.min(cost), high.max(cost));
        }
    }
    if low <= high { [low, high] } else { [0.0, 0.0] }
}
