//! The parts of the suite, one file each.

pub(crate) mod costs;
mod nominal;
mod paper;
pub(crate) mod scale;
mod sets;
mod solve;
mod sweep;
mod threads;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use robust_mdp_measure::journal::Journal;

use crate::Failure;
use crate::instance::{self, Case};
use crate::record::Record;
use crate::timing::Patience;

/// What to run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) quick: bool,
    pub(crate) only: Option<String>,
    pub(crate) python: Option<PathBuf>,
}

impl Plan {
    fn choose<T>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }

    fn patience(&self) -> Patience {
        self.choose(Patience { repeats: 3, seconds: 0.1 }, Patience { repeats: 30, seconds: 0.5 })
    }

    /// The longest that one run may take.
    fn limit(&self) -> Duration {
        Duration::from_secs(self.choose(2, 120))
    }

    /// Square Garnet cases at these discount factors.
    fn square(&self, discounts: &[f64]) -> Vec<Case> {
        let sizes: &[usize] = self.choose(&[10, 20], &[10, 30, 50, 100, 200]);
        product(&instance::SQUARE, sizes, discounts)
    }

    /// Banded cases at these discount factors.
    fn banded(&self, discounts: &[f64]) -> Vec<Case> {
        product(&instance::BANDED, self.choose(&[50], &[50, 200, 1000]), discounts)
    }
}

/// Every regime at every size and discount factor.
fn product(regimes: &[&str], sizes: &[usize], discounts: &[f64]) -> Vec<Case> {
    let mut cases = Vec::new();
    for regime in regimes {
        for &states in sizes {
            cases.extend(discounts.iter().map(|&d| instance::case(regime, states, d)));
        }
    }
    cases
}

/// A part: its name, its cases, and what it measures on one of them.
struct Part {
    name: &'static str,
    cases: fn(&Plan) -> Vec<Case>,
    measure: fn(&Plan, &Case) -> Result<Vec<Record>, Failure>,
}

const PARTS: [Part; 8] = [
    Part { name: "sweep", cases: sweep::cases, measure: sweep::measure },
    Part { name: "sets", cases: sets::cases, measure: sets::measure },
    Part { name: "solve", cases: solve::cases, measure: solve::measure },
    Part { name: "costs", cases: costs::cases, measure: costs::measure },
    Part { name: "paper", cases: paper::cases, measure: paper::measure },
    Part { name: "nominal", cases: nominal::cases, measure: nominal::measure },
    Part { name: "scale", cases: scale::cases, measure: scale::measure },
    Part { name: "threads", cases: threads::cases, measure: threads::measure },
];

/// The chosen cases with their names.
fn chosen(plan: &Plan) -> Vec<(String, &'static Part, Case)> {
    let all = PARTS.iter().flat_map(|part| (part.cases)(plan).into_iter().map(move |c| (part, c)));
    all.map(|(part, case)| (format!("{}/{}", part.name, case.name()), part, case))
        .filter(|(name, ..)| plan.only.as_ref().is_none_or(|text| name.contains(text)))
        .collect()
}

/// Prints the names of the chosen cases.
pub(crate) fn list(plan: &Plan) -> Result<(), Failure> {
    for (name, ..) in chosen(plan) {
        println!("{name}");
    }
    Ok(())
}

/// Measures the chosen cases one after the other.
pub(crate) fn run(plan: &Plan, journal: &mut Journal<Record>) -> Result<(), Failure> {
    let cases = chosen(plan);
    if cases.is_empty() {
        return Err("no case has this text in its name; --list shows them all".into());
    }
    for (k, (name, part, case)) in cases.iter().enumerate() {
        let started = Instant::now();
        let records = (part.measure)(plan, case)?;
        let count = records.len();
        journal.add(records)?;
        let seconds = started.elapsed().as_secs_f64();
        eprintln!("{}/{} {name}: {count} results, {seconds:.1} s", k + 1, cases.len());
    }
    Ok(())
}
