//! What sets know of entries beside probabilities and objectives: weights of a norm, intervals, distances
//! between states, scenarios.

use super::Distance;
use super::told::{ScenarioRows, Scenarios};
use crate::error::Error;
use crate::model::{Bounds, Model, NominalRow};

/// What a set must be told of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// Weights of its norm, which are 1 unless given ([`EntryWeights`]).
    Weights,
    /// The model's intervals ([`Model::intervals`]).
    Intervals,
    /// What it costs to move mass from one state to another ([`Ground`]).
    Ground,
    /// Other kernels ([`Scenarios`]).
    Scenarios,
}

impl Needs {
    /// Whether rows may have mass where the nominal ones have none without leaving what they list, and may be kept
    /// from the maxima of their objectives.
    pub(crate) fn open_entries(self) -> bool {
        match self {
            Needs::Intervals | Needs::Scenarios => true,
            Needs::Nothing | Needs::Weights | Needs::Ground => false,
        }
    }
}

/// What a set knows of the entries of a row.
#[derive(Clone, Copy, Debug, Default)]
pub struct EntryData<'a> {
    /// Weights of a norm; `None`: 1.
    pub weights: Option<&'a [f64]>,
    /// Where probabilities may lie.
    pub bounds: Option<Bounds<'a>>,
    /// What it costs to move mass.
    pub places: Option<Places<'a>>,
    /// Probabilities in scenarios.
    pub scenarios: Option<ScenarioRows<'a>>,
}

impl<'a> EntryData<'a> {
    /// The weight of entry j.
    pub fn weight(&self, j: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[j])
    }

    /// Of some of the entries.
    pub(crate) fn part(self, entries: std::ops::Range<usize>) -> EntryData<'a> {
        EntryData {
            weights: self.weights.map(|weights| &weights[entries.clone()]),
            bounds: self.bounds.map(|Bounds { lower, upper }| Bounds {
                lower: &lower[entries.clone()],
                upper: &upper[entries.clone()],
            }),
            places: self.places.map(|Places { ground, next }| Places {
                ground,
                next: next.map(|next| &next[entries.clone()]),
            }),
            scenarios: self.scenarios.map(|scenarios| scenarios.part(entries)),
        }
    }
}

/// Memory for the data of entries that are gathered.
#[derive(Debug, Default)]
pub(crate) struct GatheredData {
    weights: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    scenarios: Vec<f64>,
}

impl GatheredData {
    pub(crate) fn clear(&mut self) {
        let GatheredData { weights, lower, upper, scenarios } = self;
        [weights, lower, upper, scenarios].into_iter().for_each(Vec::clear);
    }

    /// Takes in an entry: its next state, and its place among the model's transitions if it is stored.
    pub(crate) fn push(&mut self, of: DataSource<'_>, next: usize, stored: Option<usize>) {
        match (of.weights, stored) {
            (Some(EntryWeights::PerState(weights)), _) => self.weights.push(weights[next]),
            (Some(EntryWeights::PerTransition(weights)), Some(at)) => {
                self.weights.push(weights[at])
            }
            (Some(EntryWeights::PerTransition(_)), None) => self.weights.push(1.0),
            (None, _) => {}
        }
        if let Some(bounds) = of.bounds {
            self.lower.push(stored.map_or(0.0, |at| bounds.lower[at]));
            self.upper.push(stored.map_or(0.0, |at| bounds.upper[at]));
        }
        match (of.scenarios, stored) {
            (Some(told), Some(at)) => self.scenarios.extend(told.of(at..at + 1).numbers),
            (Some(told), None) => self.scenarios.extend((0..told.count()).map(|_| 0.0)),
            (None, _) => {}
        }
    }

    /// What was taken in; `next` are the states of its entries, `None`: all in order.
    pub(crate) fn of<'a>(&'a self, of: DataSource<'a>, next: Option<&'a [u32]>) -> EntryData<'a> {
        EntryData {
            weights: of.weights.map(|_| &self.weights[..]),
            bounds: of.bounds.map(|_| Bounds { lower: &self.lower, upper: &self.upper }),
            places: of.ground.map(|ground| Places { ground, next }),
            scenarios: of
                .scenarios
                .map(|told| ScenarioRows { count: told.count(), numbers: &self.scenarios }),
        }
    }
}

/// The states of a row's entries and what it costs to move mass between them.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// Costs of the states of the model.
    pub ground: &'a Ground,
    /// Next states; `None`: all in order.
    pub next: Option<&'a [u32]>,
}

impl Places<'_> {
    /// The state of entry j.
    pub fn state(&self, j: usize) -> usize {
        self.next.map_or(j, |next| next[j] as usize)
    }

    /// What a unit of mass costs from entry j to entry i.
    pub fn cost(&self, j: usize, i: usize) -> f64 {
        self.ground.cost(self.state(j), self.state(i))
    }
}

/// Weights > 0 of the entries in a weighted norm.
#[derive(Clone, Debug, PartialEq)]
pub enum EntryWeights {
    /// One a next state.
    PerState(Vec<f64>),
    /// One a stored transition of the model.
    PerTransition(Vec<f64>),
}

impl EntryWeights {
    /// All of them.
    pub fn numbers(&self) -> &[f64] {
        let (EntryWeights::PerState(weights) | EntryWeights::PerTransition(weights)) = self;
        weights
    }
}

/// What a unit of mass costs from one state to another, > 0, and nothing from a state to itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Ground {
    /// |x_j − x_i|.
    Line(Line),
    /// One number a pair (from, to), row after row.
    Matrix(Vec<f64>),
}

/// Places of the states on a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    places: Vec<f64>,
    /// The states from left to right.
    pub(crate) order: Vec<u32>,
}

impl Line {
    /// x of a state.
    pub fn place(&self, s: usize) -> f64 {
        self.places[s]
    }
}

impl Ground {
    /// |x_j − x_i|, for places x of the states on a line.
    pub fn line(places: Vec<f64>) -> Ground {
        let mut order: Vec<u32> = (0..places.len() as u32).collect();
        order.sort_by(|&i, &j| places[i as usize].total_cmp(&places[j as usize]));
        Ground::Line(Line { places, order })
    }

    /// From state j to state i.
    #[inline]
    pub fn cost(&self, j: usize, i: usize) -> f64 {
        match self {
            Ground::Line(Line { places: x, .. }) => (x[j] - x[i]).abs(),
            Ground::Matrix(costs) => costs[j * costs.len().isqrt() + i],
        }
    }

    /// The largest cost.
    pub fn diameter(&self) -> f64 {
        match self {
            Ground::Line(line) => {
                let (low, high) = crate::model::range(&line.places);
                high - low
            }
            Ground::Matrix(costs) => costs.iter().copied().fold(0.0, f64::max),
        }
    }

    /// All numbers: places, or costs.
    pub fn numbers(&self) -> &[f64] {
        let (Ground::Line(Line { places: numbers, .. }) | Ground::Matrix(numbers)) = self;
        numbers
    }

    /// Two states of one place on a line.
    pub(crate) fn same_place(&self) -> Option<[usize; 2]> {
        let Ground::Line(Line { order, .. }) = self else { return None };
        let mut pairs = order.windows(2).map(|pair| [pair[0] as usize, pair[1] as usize]);
        pairs.find(|&[one, other]| self.cost(one, other) == 0.0)
    }

    pub(super) fn validate(&self, states: usize) -> Result<(), Error> {
        let (expected, what) = match self {
            Ground::Line(_) => (states, "one place a state"),
            Ground::Matrix(_) => (states * states, "one distance a pair of states"),
        };
        let numbers = self.numbers();
        if numbers.len() != expected {
            let found = numbers.len();
            return Err(Error::Input(format!("{what}: {expected} expected, {found} given")));
        }
        if let Some(bad) = numbers.iter().find(|x| !x.is_finite()) {
            return Err(Error::Input(format!("a place or a distance must be a number, not {bad}")));
        }
        match self {
            Ground::Line(_) => match self.same_place() {
                Some([one, other]) => Err(Error::Input(format!(
                    "states {one} and {other} are at the same place, expected a distance above 0: mass would \
                     move between them for nothing"
                ))),
                None => Ok(()),
            },
            Ground::Matrix(costs) => {
                let wrong = |k: &usize| match k / states == k % states {
                    true => costs[*k] != 0.0,
                    false => costs[*k] <= 0.0,
                };
                match (0..costs.len()).find(wrong) {
                    Some(k) => Err(Error::Input(format!(
                        "the distance from state {} to state {} is {}, expected 0 from a state to itself \
                         and more than that to others",
                        k / states,
                        k % states,
                        costs[k]
                    ))),
                    None => Ok(()),
                }
            }
        }
    }
}

/// Where a set's data about the entries of a model's rows comes from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DataSource<'a> {
    pub(crate) weights: Option<&'a EntryWeights>,
    pub(crate) bounds: Option<Bounds<'a>>,
    pub(crate) ground: Option<&'a Ground>,
    pub(crate) scenarios: Option<&'a Scenarios>,
}

impl<'a> DataSource<'a> {
    /// What the set reads of the model and of its own numbers.
    pub(crate) fn new(model: &'a Model, set: &'a super::UncertaintySet) -> DataSource<'a> {
        let needs = set.distance.needs();
        DataSource {
            weights: set.entry_weights.as_deref(),
            bounds: model.intervals().filter(|_| needs == Needs::Intervals),
            ground: set.ground.as_deref(),
            scenarios: set.scenarios.as_deref(),
        }
    }

    /// Whether entries without nominal probability may have some, where the set keeps to what rows list.
    pub(crate) fn opens_any(&self) -> bool {
        self.bounds.is_some() || self.scenarios.is_some()
    }

    /// Whether entry j of a row that lists it may have probability, where the set keeps to what rows list.
    #[inline(always)]
    pub(crate) fn opens(&self, row: NominalRow<'_>, j: usize) -> bool {
        row.prob[j] > 0.0
            || self.bounds.is_some() && row.is_open(j)
            || self.scenarios.is_some_and(|told| told.opens(row.first + j))
    }

    /// The same of all of them.
    pub(crate) fn is_open(&self, row: NominalRow<'_>) -> bool {
        (0..row.prob.len()).all(|j| self.opens(row, j))
    }

    /// Whether there is any.
    pub(crate) fn is_some(&self) -> bool {
        self.weights.is_some() || self.opens_any() || self.ground.is_some()
    }

    /// Of the dense row that lies there.
    pub(crate) fn of_dense(self, span: std::ops::Range<usize>) -> EntryData<'a> {
        EntryData {
            weights: self.weights.map(|weights| match weights {
                EntryWeights::PerState(weights) => &weights[..],
                EntryWeights::PerTransition(weights) => &weights[span.clone()],
            }),
            bounds: self.bounds.map(|Bounds { lower, upper }| Bounds {
                lower: &lower[span.clone()],
                upper: &upper[span.clone()],
            }),
            places: self.ground.map(|ground| Places { ground, next: None }),
            scenarios: self.scenarios.map(|told| told.of(span)),
        }
    }
}

impl Distance {
    /// What the set must be told of entries.
    pub fn needs(self) -> Needs {
        self.set().map_or(Needs::Nothing, |set| set.needs())
    }
}
