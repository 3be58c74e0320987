//! Ambiguity sets of the fast-robust-mdps programs: budgets, one a line, as `L1 κ`, `L2 κ`, `KL κ` or
//! `BURG κ`, and the weights σ of single probabilities, `SIGMA_L1` and `SIGMA_L2`, each with a line of S
//! numbers for every state and action. The L2 budget bounds Σ σ²(y − y⁰)².

use std::path::Path;

use super::write::write_row;
use crate::error::Error;
use crate::io::source::Source;
use crate::io::words::Words;
use crate::io::write_atomically;
use crate::model::Model;
use crate::sets::{Distance, EntryWeights};

/// Budgets of a state, and weights of single probabilities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ambiguity {
    /// Of Σ σ|y − y⁰|.
    pub l1: Option<f64>,
    /// Of Σ σ²(y − y⁰)².
    pub l2: Option<f64>,
    /// Of the Kullback–Leibler divergence KL(y‖y⁰).
    pub kl: Option<f64>,
    /// Of Burg's entropy KL(y⁰‖y).
    pub burg: Option<f64>,
    /// σ of `l1`: S numbers for every state and action.
    pub l1_weights: Option<Vec<f64>>,
    /// σ of `l2`: S numbers for every state and action.
    pub l2_weights: Option<Vec<f64>>,
}

impl Ambiguity {
    /// The budget of a set and its weights of the model's transitions, as this library counts them: that of `l2` bounds
    /// ½Σ w(y − y⁰)², so that κ becomes κ/2 and w = σ². `None` where the file has no such budget.
    pub fn of(&self, set: Distance, model: &Model) -> Option<(f64, Option<EntryWeights>)> {
        let weights = |sigma: &Option<Vec<f64>>, weight: fn(f64) -> f64| {
            let sigma = sigma.as_ref()?;
            let rows = sigma.chunks(model.states()).enumerate();
            let of_row = |(r, sigma): (usize, &[f64])| {
                let next = model.row(r).entries().map(|(next, ..)| weight(sigma[next]));
                next.collect::<Vec<f64>>()
            };
            Some(EntryWeights::PerTransition(rows.flat_map(of_row).collect()))
        };
        match set.name() {
            "l1" => Some((self.l1?, weights(&self.l1_weights, |sigma| sigma))),
            "l2" => Some((0.5 * self.l2?, weights(&self.l2_weights, |sigma| sigma * sigma))),
            "kl" => Some((self.kl?, None)),
            "burg" => Some((self.burg?, None)),
            _ => None,
        }
    }
}

/// Reads an ambiguity file of a model, of which all states have actions.
pub fn read_ambiguity<'a>(
    source: impl Into<Source<'a>>,
    model: &Model,
) -> Result<Ambiguity, Error> {
    let mut words = Words::open(source.into())?;
    let mut found = Ambiguity::default();
    while let Some(name) = words.next()?.map(str::to_ascii_uppercase) {
        let twice = match name.as_str() {
            "L1" => found.l1.replace(budget(&mut words, &name)?).is_some(),
            "L2" => found.l2.replace(budget(&mut words, &name)?).is_some(),
            "KL" => found.kl.replace(budget(&mut words, &name)?).is_some(),
            "BURG" => found.burg.replace(budget(&mut words, &name)?).is_some(),
            "SIGMA_L1" => found.l1_weights.replace(weights(&mut words, &name, model)?).is_some(),
            "SIGMA_L2" => found.l2_weights.replace(weights(&mut words, &name, model)?).is_some(),
            _ => {
                return Err(words.unexpected("L1, L2, KL, BURG, SIGMA_L1 or SIGMA_L2"));
            }
        };
        if twice {
            return Err(words.error(format!("{name} comes twice, expected it once")));
        }
    }
    Ok(found)
}

fn budget(words: &mut Words<'_>, name: &str) -> Result<f64, Error> {
    let what = format_args!("the budget of {name}, a finite number of at least 0");
    let budget = words.number(what)?;
    match budget.is_finite() && budget >= 0.0 {
        true => Ok(budget + 0.0),
        false => Err(words.unexpected(what)),
    }
}

fn weights(words: &mut Words<'_>, name: &str, model: &Model) -> Result<Vec<f64>, Error> {
    let mut weights = Vec::new();
    for s in 0..model.states() {
        for a in 0..model.rows_of(s).len() {
            for next in 0..model.states() {
                let what = format_args!(
                    "{name} of state {s}, action {a}, next state {next}, a finite number of at least 0"
                );
                let weight = words.number(what)?;
                if !(weight.is_finite() && weight >= 0.0) {
                    return Err(words.unexpected(what));
                }
                weights.push(weight + 0.0);
            }
        }
    }
    Ok(weights)
}

/// Writes an ambiguity file of a model.
pub fn write_ambiguity(path: &Path, model: &Model, ambiguity: &Ambiguity) -> Result<(), Error> {
    let (states, expected) = (model.states(), model.rows() * model.states());
    let given = [("SIGMA_L1", &ambiguity.l1_weights), ("SIGMA_L2", &ambiguity.l2_weights)];
    for (name, weights) in given {
        if let Some(weights) = weights.as_ref().filter(|weights| weights.len() != expected) {
            let found = weights.len();
            return Err(Error::Input(format!("{name} has {found} numbers, expected {expected}")));
        }
    }
    write_atomically(path, |w| {
        let budgets = [
            ("L1", ambiguity.l1),
            ("L2", ambiguity.l2),
            ("KL", ambiguity.kl),
            ("BURG", ambiguity.burg),
        ];
        for (name, budget) in budgets {
            budget.map_or(Ok(()), |budget| writeln!(w, "{name} {budget:?}"))?;
        }
        for (name, weights) in given {
            let Some(weights) = weights else { continue };
            writeln!(w, "{name}")?;
            weights.chunks(states).try_for_each(|row| write_row(w, row))?;
        }
        Ok(())
    })
}
