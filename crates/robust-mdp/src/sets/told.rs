//! Scenarios of a kernel: K rows y¹, …, y^K a state–action pair, on the transitions that a model stores.

use std::collections::BTreeMap;

use crate::error::{Error, counted};
use crate::model::distribution::{compensated_sum, normalise};
use crate::model::{Model, NominalRow, SUM_TOLERANCE};

/// What normalising may leave of a row's sum.
const ROUNDING: f64 = 1e-14;

/// K kernels, on the transitions that a model stores.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenarios {
    count: usize,
    /// Of one transition after the other, those of all scenarios.
    numbers: Vec<f64>,
}

/// Probabilities of the entries of a row in the scenarios.
#[derive(Clone, Copy, Debug)]
pub struct ScenarioRows<'a> {
    /// K.
    pub count: usize,
    /// Of one entry after the other, those of all scenarios.
    pub numbers: &'a [f64],
}

impl<'a> ScenarioRows<'a> {
    /// Those of entry j.
    pub fn of_entry(&self, j: usize) -> &'a [f64] {
        &self.numbers[j * self.count..(j + 1) * self.count]
    }

    /// y^k of entry j.
    pub fn prob(&self, k: usize, j: usize) -> f64 {
        self.numbers[j * self.count + k]
    }

    /// Of some of the entries.
    pub(crate) fn part(self, entries: std::ops::Range<usize>) -> ScenarioRows<'a> {
        let numbers = &self.numbers[entries.start * self.count..entries.end * self.count];
        ScenarioRows { numbers, ..self }
    }
}

impl Scenarios {
    /// From one array a scenario, with a probability for each transition that the model stores; rows are made to
    /// sum to one where they are nearly there.
    pub fn new(model: &Model, kernels: &[Vec<f64>]) -> Result<Scenarios, Error> {
        let mut kernels = kernels.to_vec();
        for (k, kernel) in kernels.iter_mut().enumerate() {
            check_length(k, kernel.len(), model)?;
            for r in 0..model.rows() {
                let row = &mut kernel[model.span(r)];
                check_numbers(model, k, r, |j| row[j])?;
                normalise(row).map_err(|sum| off(model, k, r, sum))?;
            }
        }
        let scenarios = Scenarios::from_kernels(&kernels);
        scenarios.validate(model)?;
        Ok(scenarios)
    }

    /// The kernels of other models of the same states and actions, which lead where rows of `model` do; of costs
    /// they say nothing.
    pub fn of_models(model: &Model, others: &[Model]) -> Result<Scenarios, Error> {
        let kernel = |(k, other): (usize, &Model)| {
            let found = Scenarios::aligned(model, other);
            found.map_err(|message| Error::Input(format!("scenario {}: {message}", k + 1)))
        };
        let kernels: Result<Vec<_>, Error> = others.iter().enumerate().map(kernel).collect();
        Scenarios::new(model, &kernels?)
    }

    /// The probabilities of another model in the order of this one's transitions, or what does not fit.
    pub fn aligned(model: &Model, other: &Model) -> Result<Vec<f64>, String> {
        if other.states() != model.states() {
            let (found, expected) = (other.states(), model.states());
            let found = counted(found, "state", "states");
            return Err(format!("{found}, expected {expected}, those of the model"));
        }
        let named = other.state_names.is_some() && model.state_names.is_some();
        let mut kernel = vec![0.0; model.transitions()];
        for s in 0..model.states() {
            let (found, name) = (other.state_name(s), model.state_name(s));
            if named && found != name {
                return Err(format!("state {s} is {found}, expected {name} as in the model"));
            }
            let (theirs, own) = (other.rows_of(s), model.rows_of(s));
            // What comes after the end is nobody's business.
            if !own.is_empty() && theirs.len() != own.len() {
                let (found, expected) = (theirs.len(), own.len());
                let found = counted(found, "action", "actions");
                return Err(format!("state {name}: {found}, expected {expected}"));
            }
            for (theirs, r) in theirs.zip(own) {
                let (found, expected) = (other.action_name(s, theirs), model.action_name(s, r));
                let named = other.action_names.is_some() && model.action_names.is_some();
                if named && found != expected {
                    let place = model.place(r);
                    return Err(format!("{place} is {found}, expected {expected} as in the model"));
                }
                let to = &mut kernel[model.span(r)];
                align(model, model.row(r), other.row(theirs), to)
                    .map_err(|message| format!("{}: {message}", model.place(r)))?;
            }
        }
        Ok(kernel)
    }

    /// From one array a scenario, as they are: sets are checked with their models.
    pub fn from_kernels(kernels: &[Vec<f64>]) -> Scenarios {
        let transitions = kernels.iter().map(Vec::len).max().unwrap_or(0);
        // What is missing is no probability.
        let number = |kernel: &Vec<f64>, j: usize| kernel.get(j).copied().unwrap_or(f64::NAN);
        let of = |j: usize| kernels.iter().map(move |kernel| number(kernel, j));
        Scenarios { count: kernels.len(), numbers: (0..transitions).flat_map(of).collect() }
    }

    /// From the numbers of one transition after the other.
    pub(crate) fn from_numbers(count: usize, numbers: Vec<f64>) -> Scenarios {
        Scenarios { count, numbers }
    }

    /// K.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Of one transition after the other, those of all scenarios.
    pub fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// One array a scenario.
    pub fn kernels(&self) -> Vec<Vec<f64>> {
        let of = |k: usize| self.numbers.iter().skip(k).step_by(self.count).copied().collect();
        (0..self.count).map(of).collect()
    }

    /// Of the transitions that lie there.
    pub(crate) fn of(&self, span: std::ops::Range<usize>) -> ScenarioRows<'_> {
        ScenarioRows { count: self.count, numbers: &self.numbers }.part(span)
    }

    /// Whether some scenario has this transition.
    pub(crate) fn opens(&self, stored: usize) -> bool {
        self.of(stored..stored + 1).numbers.iter().any(|y| *y > 0.0)
    }

    pub(super) fn validate(&self, model: &Model) -> Result<(), Error> {
        if self.count == 0 {
            return Err(Error::Input("no scenario, expected at least one".into()));
        }
        check_length(0, self.numbers.len() / self.count, model)?;
        let mut row = Vec::new();
        for r in 0..model.rows() {
            let rows = self.of(model.span(r));
            let entries = model.span(r).len();
            for k in 0..self.count {
                check_numbers(model, k, r, |j| rows.prob(k, j))?;
                row.clear();
                row.extend((0..entries).map(|j| rows.prob(k, j)));
                let sum = compensated_sum(&row);
                if (sum - 1.0).abs() > ROUNDING {
                    return Err(off(model, k, r, sum));
                }
            }
        }
        Ok(())
    }
}

fn check_length(k: usize, found: usize, model: &Model) -> Result<(), Error> {
    let expected = model.transitions();
    match found == expected {
        true => Ok(()),
        false => Err(Error::Input(format!(
            "scenario {}: {found} probabilities, expected {expected}, one a transition that the model stores",
            k + 1
        ))),
    }
}

fn check_numbers(
    model: &Model,
    k: usize,
    r: usize,
    of: impl Fn(usize) -> f64,
) -> Result<(), Error> {
    let entries = model.span(r).len();
    let wrong = |j: &usize| !(0.0..=1.0 + SUM_TOLERANCE).contains(&of(*j));
    match (0..entries).find(wrong) {
        Some(j) => Err(Error::Input(format!(
            "scenario {}, {}: probability {} of next state {}, expected a number from 0 to 1",
            k + 1,
            model.place(r),
            of(j),
            model.state_name(next_of(model.row(r), j))
        ))),
        None => Ok(()),
    }
}

fn next_of(row: NominalRow<'_>, j: usize) -> usize {
    row.next.map_or(j, |next| next[j] as usize)
}

fn off(model: &Model, k: usize, r: usize, sum: f64) -> Error {
    Error::Input(format!(
        "scenario {}, {}: probabilities sum to {sum}, expected 1",
        k + 1,
        model.place(r)
    ))
}

/// Where the model leads to a next state at several costs, the one of the same cost is meant.
fn align(
    model: &Model,
    own: NominalRow<'_>,
    other: NominalRow<'_>,
    to: &mut [f64],
) -> Result<(), String> {
    let mut places: BTreeMap<usize, Vec<(usize, f64)>> = BTreeMap::new();
    for (j, (next, _, further)) in own.entries().enumerate() {
        places.entry(next).or_default().push((j, own.cost + further));
    }
    for (next, prob, further) in other.entries().filter(|e| e.1 > 0.0) {
        let (name, cost) = (model.state_name(next), other.cost + further);
        let found = match places.get(&next).map(Vec::as_slice) {
            Some(&[(j, _)]) => Some(j),
            Some(several) => several.iter().find(|e| e.1 == cost).map(|e| e.0),
            None => {
                return Err(format!(
                    "next state {name} has probability {prob}, but the model does not list it there, expected one \
                     that it lists (perhaps with probability 0 and an interval)"
                ));
            }
        };
        let Some(j) = found else {
            return Err(format!(
                "next state {name} at the cost {cost}, expected one of the several costs that the model has there"
            ));
        };
        to[j] += prob;
    }
    Ok(())
}
