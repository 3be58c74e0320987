//! A result of `rmdp solve --json`, read back and checked.

use std::fs;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use robust_mdp::sets::{Distance, Radius, Rectangularity, Support, UncertaintySet};
use robust_mdp::{
    Criterion, Direction, Error, Evaluated, Method, Model, Objective, Oracle, Status,
};
use robust_mdp_page::number::short;
use serde::Deserialize;

use super::consistency;
use crate::failure::{Failure, json_in_words};
use crate::model::NamedModel;
use crate::question::Question;
use crate::set::{spoken, support_in_words};
use crate::set_data::SetData;

/// One result.
#[derive(Debug)]
pub(super) struct Solved {
    /// What the page calls it.
    pub(super) name: String,
    path: PathBuf,
    pub(super) objective: Objective,
    pub(super) question: Question,
    pub(super) file: File,
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "an object with “lower” and “upper”")]
pub(super) struct ValueBounds {
    pub(super) lower: f64,
    pub(super) upper: f64,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "found a radius that is neither a number nor a list of numbers")]
pub(super) enum Budget {
    Uniform(f64),
    Each(Vec<f64>),
}

/// The fields of the file that pages need.
#[derive(Debug, Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct File {
    pub(super) status: Status,
    pub(super) objective: String,
    /// What follows is left out of results of the worst case of discounted costs by earlier versions.
    #[serde(default = "discounted")]
    pub(super) criterion: String,
    pub(super) horizon: Option<u32>,
    #[serde(default)]
    pub(super) direction: Direction,
    #[serde(default)]
    pub(super) deterministic: bool,
    #[serde(default)]
    pub(super) bias: Vec<f64>,
    pub(super) discount: f64,
    pub(super) set: Distance,
    pub(super) radius: Budget,
    pub(super) rectangular: Rectangularity,
    pub(super) weights: Option<Vec<f64>>,
    pub(super) set_data: Option<SetData<'static>>,
    pub(super) support: Support,
    pub(super) method: Method,
    pub(super) oracle: Oracle,
    pub(super) value: ValueBounds,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    pub(super) values: Option<Vec<f64>>,
    pub(super) gap: f64,
    #[serde(default)]
    pub(super) verified: bool,
    pub(super) policy: Vec<Vec<f64>>,
    pub(super) sweeps: u64,
    pub(super) seconds: f64,
    pub(super) warnings: Vec<String>,
}

fn discounted() -> String {
    Criterion::Discounted.name().into()
}

/// Reads results, which must all be of models of the same shape.
pub(super) fn read_all(paths: &[PathBuf]) -> Result<Vec<Solved>, Failure> {
    let mut results = paths.iter().map(|p| read(p)).collect::<Result<Vec<_>, _>>()?;
    let (first, others) = results.split_first().map_or((None, &[][..]), |(f, o)| (Some(f), o));
    if let Some(first) = first {
        others.iter().try_for_each(|other| other.check_alike(first))?;
    }
    let names: Vec<String> = results.iter().map(|r| r.name.clone()).collect();
    for result in &mut results {
        if names.iter().filter(|n| **n == result.name).count() > 1 {
            result.name = result.path.display().to_string();
        }
    }
    Ok(results)
}

fn read(path: &Path) -> Result<Solved, Failure> {
    let failed = |source| Failure::input(Error::Io { path: path.to_owned(), source });
    parse(path, fs::File::open(path).map_err(failed)?)
}

/// Reads as it goes, so that what is no result ends where that shows.
pub(super) fn parse(path: &Path, reader: impl Read) -> Result<Solved, Failure> {
    let wrong = |what: String| Failure::usage(format!("{}: {what}", path.display()));
    let mut text = Watched { reader, start: Vec::new() };
    let read: Result<File, _> = serde_json::from_reader(BufReader::new(&mut text));
    let file = read.map_err(|e| {
        if e.is_io() {
            return Failure::input(Error::Io { path: path.to_owned(), source: e.into() });
        }
        let what = match text.start.trim_ascii_start().first() {
            // A list would be taken for the values of the keys, in their order.
            Some(b'[') => "found a list, expected an object".into(),
            _ => format!("line {}, column {}: {}", e.line(), e.column(), json_in_words(&e)),
        };
        let failure = wrong(format!("no result of `rmdp solve --json`: {what}"));
        let worst = b"\"worst\":";
        match text.start.windows(worst.len()).any(|part| part == worst) {
            true => failure.hint("this seems to be a result of `rmdp evaluate`"),
            false => failure.hint("`rmdp solve MODEL --radius R --json FILE` writes one"),
        }
    })?;
    consistency::check(&file).map_err(wrong)?;
    let objective = consistency::objective(&file).map_err(wrong)?;
    let question = consistency::asked(&file).map_err(wrong)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Solved { name, path: path.to_owned(), objective, question, file })
}

/// A reader that remembers how the file began.
struct Watched<R> {
    reader: R,
    start: Vec<u8>,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let read = self.reader.read(out)?;
        let room = (1_usize << 20).saturating_sub(self.start.len());
        self.start.extend_from_slice(&out[..read.min(room)]);
        Ok(read)
    }
}

impl Solved {
    pub(super) fn discount(&self) -> f64 {
        self.file.discount
    }

    pub(super) fn states(&self) -> usize {
        self.file.lower.len()
    }

    /// Action probabilities, flat over states.
    pub(super) fn policy(&self) -> Vec<f64> {
        self.file.policy.concat()
    }

    /// The radius, where it is one number; the nominal problem has radius 0.
    pub(super) fn radius(&self) -> Option<f64> {
        match (&self.file.radius, self.file.set) {
            (_, Distance::None) => Some(0.0),
            (Budget::Uniform(radius), _) => Some(*radius),
            (Budget::Each(_), _) => None,
        }
    }

    /// Values at which nature answers the policy in the worst case; none where that changes from step to step, or
    /// where the case is the best.
    pub(super) fn answered_at(&self) -> Option<Vec<f64>> {
        match (self.question.direction, self.question.criterion) {
            (Direction::Best, _) | (_, Criterion::Finite { .. }) => None,
            (Direction::Worst, Criterion::Discounted | Criterion::Total) => Some(self.values()),
            (Direction::Worst, Criterion::Average) => Some(self.file.bias.clone()),
        }
    }

    /// Midpoints of the bounds.
    fn values(&self) -> Vec<f64> {
        let pairs = self.file.lower.iter().zip(&self.file.upper);
        pairs.map(|(l, u)| 0.5 * (l + u)).collect()
    }

    /// “0.1” or “0.1 to 0.3”.
    pub(super) fn radius_in_words(&self) -> String {
        match &self.file.radius {
            Budget::Uniform(radius) => spoken(self.file.set, self.file.rectangular, *radius),
            Budget::Each(radii) => {
                let low = radii.iter().copied().fold(f64::INFINITY, f64::min);
                let high = radii.iter().copied().fold(0.0, f64::max);
                format!("{} to {}", short(low), short(high))
            }
        }
    }

    /// “KL, radius 0.1, s-rectangular, support nominal”.
    pub(super) fn set_in_words(&self) -> String {
        match self.kind_in_words() {
            None => "none: the nominal kernel".into(),
            Some((name, rest)) => format!("{name}, radius {}, {rest}", self.radius_in_words()),
        }
    }

    /// The set without its radius: name, and what else there is to say.
    pub(super) fn kind_in_words(&self) -> Option<(&'static str, String)> {
        let name = self.file.set.set()?.title();
        let owner = match self.file.rectangular {
            Rectangularity::State => "s-rectangular",
            Rectangularity::StateAction => "(s,a)-rectangular",
        };
        let support = support_in_words(self.file.set, self.file.support);
        let weighted = if self.file.weights.is_some() { ", actions weighted" } else { "" };
        let told = self.file.set_data.as_ref().map_or("", SetData::in_words);
        Some((name, format!("{owner}{support}{weighted}{told}")))
    }

    /// The set of the result, for a model.
    pub(super) fn set(&self, model: &Model) -> Result<UncertaintySet, Failure> {
        let radius = match &self.file.radius {
            Budget::Uniform(radius) => Radius::Uniform(*radius),
            Budget::Each(radii) if radii.len() == model.states() => Radius::PerState(radii.clone()),
            Budget::Each(radii) => Radius::PerRow(radii.clone()),
        };
        let set = self.set_of_radius(radius);
        set.validate(model)
            .map_err(|e| Failure::usage(format!("{}: its set: {e}", self.path.display())))?;
        Ok(set)
    }

    /// The same kind of set with another radius.
    pub(super) fn set_of_radius(&self, radius: Radius) -> UncertaintySet {
        let set = UncertaintySet {
            radius,
            rectangularity: self.file.rectangular,
            support: self.file.support,
            weights: self.file.weights.clone(),
            ..UncertaintySet::new(self.file.set, 0.0)
        };
        match &self.file.set_data {
            Some(data) => data.tell(set),
            None => set,
        }
    }

    /// Whether two sets differ in their radii at most.
    pub(super) fn is_of_kind(&self, other: &Solved) -> bool {
        let kind = |of: &File| (of.set, of.rectangular, of.support);
        let told = |of: &File| (of.weights.clone(), of.set_data.clone());
        kind(&self.file) == kind(&other.file) && told(&self.file) == told(&other.file)
    }

    /// Whether two results can be of the same model.
    fn check_alike(&self, first: &Solved) -> Result<(), Failure> {
        let actions = |r: &Solved| r.file.policy.iter().map(Vec::len).collect::<Vec<_>>();
        let (here, there) = (self.path.display(), first.path.display());
        let differ = |what: &str, a: String, b: String| {
            Err(Failure::usage(format!(
                "{here}: {what} {a}, but {there} has {b}: expected results of one model"
            )))
        };
        if self.states() != first.states() {
            let of = |r: &Solved| r.states().to_string();
            return differ("number of states", of(self), of(first));
        }
        let (mine, theirs) = (actions(self), actions(first));
        if let Some(s) = (0..mine.len()).find(|&s| mine[s] != theirs[s]) {
            let what = format!("state {s}: number of actions");
            return differ(&what, mine[s].to_string(), theirs[s].to_string());
        }
        if self.objective != first.objective {
            let of = |r: &Solved| r.objective.name().to_owned();
            return differ("objective", of(self), of(first));
        }
        if self.question != first.question {
            let of = |r: &Solved| r.question.aim(r.objective, r.file.set);
            return differ("objective", of(self), of(first));
        }
        if self.discount() != first.discount() {
            return differ("discount", short(self.discount()), short(first.discount()));
        }
        Ok(())
    }

    /// Whether the result can be of the model, by its shape.
    pub(super) fn check_shape(&self, source: &NamedModel) -> Result<(), Failure> {
        let model = &source.model;
        let misfit = |what: String| {
            let path = self.path.display();
            Failure::usage(format!("{path} is no result for the model {}: {what}", source.name))
        };
        if self.states() != model.states() {
            return Err(misfit(format!(
                "number of states {}, not {}",
                self.states(),
                model.states()
            )));
        }
        for (s, x) in self.file.policy.iter().enumerate() {
            let actions = model.rows_of(s).len();
            if x.len() != actions {
                let name = model.state_name(s);
                return Err(misfit(format!(
                    "state {name}: number of actions {}, not {actions}",
                    x.len()
                )));
            }
        }
        if self.objective != model.objective() {
            let (a, b) = (self.objective.name(), model.objective().name());
            return Err(misfit(format!("objective {a}, not {b}")));
        }
        Ok(())
    }

    /// Whether the result can be of the model, by the bounds of its policy.
    pub(super) fn check_values(
        &self,
        source: &NamedModel,
        evaluated: &Evaluated,
    ) -> Result<(), Failure> {
        let worst = &evaluated.worst;
        for s in 0..self.states() {
            let (lower, upper) = (self.file.lower[s], self.file.upper[s]);
            // Rounding of two ways to the same number.
            let slack = 1e-9 * lower.abs().max(upper.abs()).max(1.0);
            if worst.lower[s] > upper + slack || worst.upper[s] < lower - slack {
                let name = source.model.state_name(s);
                return Err(Failure::usage(format!(
                    "{} is no result for the model {}: state {name}: the worst case of its policy \
                     lies {}, but the result says {}",
                    self.path.display(),
                    source.name,
                    super::between((worst.lower[s], worst.upper[s])),
                    super::between((lower, upper)),
                )));
            }
        }
        self.check_start(source)
    }

    /// Whether the result's value is that of its bounds at the model's initial distribution.
    pub(super) fn check_start(&self, source: &NamedModel) -> Result<(), Failure> {
        let (file, model) = (&self.file, &source.model);
        let said = [file.value.lower, file.value.upper];
        let (lower, upper) = (&file.lower, &file.upper);
        let found = [lower, upper].map(|bounds| model.initial_mean(bounds));
        let sizes: Vec<f64> = lower.iter().zip(upper).map(|(l, u)| l.abs().max(u.abs())).collect();
        // Rounding of two ways to the same sum.
        let slack = 1e-9 * model.initial_mean(&sizes);
        if said.iter().zip(found).all(|(said, found)| (said - found).abs() <= slack) {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "{} is no result for the model {}: “value” lies between {} and {}, but the bounds of the \
             states are between {} and {} {}",
            self.path.display(),
            source.name,
            said[0],
            said[1],
            found[0],
            found[1],
            super::overview::start(Some(model)),
        )))
    }
}
