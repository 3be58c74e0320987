//! The uncertainty set of a command, from its flags.

use std::path::{Path, PathBuf};

use robust_mdp::instances::Calibration;
use robust_mdp::io::{RadiusTable, read_ambiguity, read_radii, read_weights};
use robust_mdp::sets::{
    Distance, EntryWeights, Needs, Radius, Rectangularity, Support, UncertaintySet,
};
use robust_mdp::{Error, Model};
use robust_mdp_page::number::short;

use crate::args::{level, non_negative};
use crate::choice::{self, Choice, in_a_row};
use crate::failure::Failure;
use crate::model::calibrated;
use crate::set_data::{DataArgs, SetData};

const RECTANGULAR: Choice<Rectangularity> = Choice {
    names: &[
        ("s", Rectangularity::State, "one budget a state, shared by its actions"),
        ("sa", Rectangularity::StateAction, "one budget a state and action"),
    ],
};

const SUPPORT: Choice<Support> = Choice {
    names: &[
        ("nominal", Support::Nominal, "next states of positive nominal probability"),
        ("all", Support::All, "every state"),
    ],
};

/// Which kernels nature may choose.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Uncertainty set")]
pub(crate) struct SetArgs {
    #[arg(long, value_name = "SET", value_parser = choice::sets())]
    #[arg(help = format!(
        "Uncertainty set around the nominal kernel y⁰, by its distance d(y, y⁰) [default: {}]",
        Distance::default().name()
    ))]
    set: Option<Distance>,
    #[arg(long, value_name = "R", value_parser = non_negative, allow_hyphen_values = true)]
    #[arg(help = format!(
        "One budget ≥ 0 for every state, Σ d ≤ R over its actions; a MODEL needs this or --radius-file{}",
        usual_radii()
    ))]
    radius: Option<f64>,
    /// Budgets from a table state,radius or state,action,radius, or the budget of the set and its weights of next
    /// states from an .amb file of fast-robust-mdps
    #[arg(long, value_name = "CSV", conflicts_with = "radius")]
    pub(crate) radius_file: Option<PathBuf>,
    #[arg(long, value_name = "β", value_parser = level, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["radius", "radius_file"])]
    #[arg(help = format!(
        "Level of risk in place of the radius β/(1 − β): actions are worth the mean of their worst share \
         1 − β (--set {})",
        in_a_row(&sets_with_levels(), "or")
    ))]
    level: Option<f64>,
    /// Weights κ of the actions in a shared budget, Σ κ·d ≤ radius, from a table state,action,weight
    #[arg(long, value_name = "CSV")]
    pub(crate) weights_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[arg(long, value_name = "KIND", value_parser = RECTANGULAR)]
    #[arg(help = format!("Who owns a budget {}", choice::default_by_set(default_owner)))]
    rectangular: Option<Rectangularity>,
    #[arg(long, value_name = "WHERE", value_parser = SUPPORT)]
    #[arg(help = format!("Where a kernel may put mass {}", choice::default_by_set(default_support)))]
    support: Option<Support>,
}

fn default_support(distance: Distance) -> &'static str {
    SUPPORT.name(UncertaintySet::new(distance, 0.0).support)
}

fn default_owner(distance: Distance) -> &'static str {
    RECTANGULAR.name(owner(distance))
}

/// Who owns the budgets of a set, unless said.
fn owner(distance: Distance) -> Rectangularity {
    distance.set().map_or(Rectangularity::State, |set| set.rectangularity())
}

/// “, but interval has 1 by default”.
fn usual_radii() -> String {
    let usual = Distance::ALL.iter().filter_map(|d| Some((d.name(), d.set()?.usual_radius()?)));
    usual
        .map(|(name, (radius, _))| format!(", but {name} has {} by default", short(radius)))
        .collect()
}

fn sets_with_levels() -> Vec<&'static str> {
    let known =
        Distance::ALL.iter().filter(|d| d.set().is_some_and(|s| s.radius_of_level(0.0).is_some()));
    known.map(|d| d.name()).collect()
}

/// A set and how the output speaks of its radius.
#[derive(Debug)]
pub(crate) struct ChosenSet {
    pub(crate) set: UncertaintySet,
    radius: String,
}

impl SetArgs {
    fn distance(&self) -> Distance {
        self.set.unwrap_or_default()
    }

    fn rectangularity(&self) -> Rectangularity {
        self.rectangular.unwrap_or_else(|| owner(self.distance()))
    }

    /// Whether a radius is given, in one way or another.
    fn has_radius(&self) -> bool {
        self.radius.is_some() || self.radius_file.is_some() || self.level.is_some()
    }

    /// The radius that the set has without one.
    fn usual_radius(&self) -> Option<(f64, &'static str)> {
        let set = self.distance().set()?;
        set.usual_radius().filter(|_| self.rectangularity() == set.rectangularity())
    }

    /// Whether the nominal kernel is all there is.
    pub(crate) fn is_certain(&self) -> bool {
        self.distance() == Distance::None
    }

    /// What needs no model to be checked.
    pub(crate) fn check(&self, embedded: bool) -> Result<(), Failure> {
        let given = self.has_radius();
        // The embedded example comes with kernels to find a radius from.
        let brings = embedded && Calibration::knows(self.distance());
        if self.distance() == Distance::None {
            let not_one = |flags: &str| {
                let message =
                    format!("--set none is the nominal kernel alone, expected no {flags}");
                Err(Failure::usage(message))
            };
            if self.level.is_some() {
                return not_one("--level");
            }
            if given || self.support.is_some() || self.rectangular.is_some() {
                return not_one("--radius, --radius-file, --rectangular or --support");
            }
            if self.weights_file.is_some() {
                return not_one("--weights-file");
            }
        } else if !(given || brings || self.usual_radius().is_some()) {
            let who = match embedded {
                false => "a MODEL".to_owned(),
                true => format!("--set {}", self.distance().name()),
            };
            return Err(Failure::usage(format!(
                "{who} needs a radius: give --radius R or --radius-file CSV, \
                 or --set none for the nominal problem"
            ))
            .hint("`rmdp info MODEL` says from which radius on every kernel is allowed"));
        }
        let (name, set) = (self.distance().name(), self.distance().set());
        if let Some(level) = self.level
            && set.and_then(|set| set.radius_of_level(level)).is_none()
        {
            let sets = in_a_row(&sets_with_levels(), "or");
            return Err(Failure::usage(format!(
                "--level is for --set {sets}, expected --radius with --set {name}"
            )));
        }
        let shared = self.rectangularity() == Rectangularity::State;
        if set.is_some_and(|set| shared && !set.adds_up()) {
            return Err(Failure::usage(format!(
                "actions cannot share a budget of --set {name}, expected --rectangular sa"
            )));
        }
        if self.weights_file.is_some() && !shared {
            let message =
                "--weights-file is for budgets that actions share, expected --rectangular s";
            return Err(Failure::usage(message));
        }
        self.data.check(self.distance())
    }

    /// The set for `model`, if the flags name one; a part of one is an error.
    pub(crate) fn if_given(&self, model: &Model) -> Result<Option<UncertaintySet>, Failure> {
        let usual = self.set.is_some() && self.usual_radius().is_some();
        if self.has_radius() || usual || self.distance() == Distance::None {
            self.check(false)?;
            return Ok(Some(self.build(model)?.set));
        }
        let parts = self.rectangular.is_some() || self.support.is_some() || self.data.is_given();
        if self.set.is_some() || parts || self.weights_file.is_some() {
            return Err(Failure::usage(
                "--set, --weights-file, --entry-weights-file, --ground-file, --scenarios-file, --rectangular and --support \
                 are parts of a set, expected --radius or --radius-file with them",
            ));
        }
        Ok(None)
    }

    /// The set for `model`; the embedded example brings its own radius.
    pub(crate) fn build(&self, model: &Model) -> Result<ChosenSet, Failure> {
        let ambiguity = self.ambiguity(model)?;
        let (radius, spoken) = match &ambiguity {
            Some((radius, _)) => {
                (Radius::Uniform(*radius), spoken(self.distance(), self.rectangularity(), *radius))
            }
            None => self.radii(model)?,
        };
        let weights = self.weights_file.as_ref().map(|path| read_weights(path, model));
        let weights = weights.transpose().map_err(|e| {
            let header = matches!(e, Error::Parse { line: Some(1), .. });
            let failure = Failure::input(e);
            let hint = "weights of next states in a norm come with --entry-weights-file";
            if header { failure.hint(hint) } else { failure }
        })?;
        let base = UncertaintySet::new(self.distance(), 0.0);
        let set = UncertaintySet {
            rectangularity: self.rectangularity(),
            support: self.support.unwrap_or(base.support),
            weights,
            ..base.with_radius(radius)
        };
        let set = match ambiguity.and_then(|(_, weights)| weights) {
            Some(weights) => set.with_entry_weights(weights),
            None => set,
        };
        let set = self.data.tell(set, model)?;
        set.validate(model).map_err(Failure::input)?;
        Ok(ChosenSet { set, radius: spoken })
    }

    /// The budget and weights of an .amb file, if that is what the radius comes from.
    fn ambiguity(&self, model: &Model) -> Result<Option<(f64, Option<EntryWeights>)>, Failure> {
        let Some(path) = self.radius_file.as_ref().filter(|path| is_ambiguity(path)) else {
            return Ok(None);
        };
        let found = read_ambiguity(path, model).map_err(Failure::input)?;
        match found.of(self.distance(), model) {
            Some(found) => Ok(Some(found)),
            None => Err(Failure::usage(format!(
                "{}: no budget of the set {}, expected one (.amb files have those of l1, l2, kl and burg)",
                path.display(),
                self.distance().name()
            ))),
        }
    }

    fn radii(&self, model: &Model) -> Result<(Radius, String), Failure> {
        if self.distance() == Distance::None {
            return Ok((Radius::Uniform(0.0), String::new()));
        }
        if let Some(path) = &self.radius_file {
            let shared = self.rectangularity() == Rectangularity::State;
            let (radius, unit) = match read_radii(path, model).map_err(Failure::input)? {
                RadiusTable::PerState(radii) => (Radius::PerState(radii), "state"),
                RadiusTable::PerRow(_) if shared => {
                    let path = path.display();
                    return Err(Failure::usage(format!(
                        "{path}: one radius for each state and action, expected one a state: \
                         the set is s-rectangular"
                    ))
                    .hint("--rectangular sa takes a radius for each state and action"));
                }
                RadiusTable::PerRow(radii) => (Radius::PerRow(radii), "state and action"),
            };
            let spoken = format!("{}, one a {unit}", range(&radius));
            return Ok((radius, spoken));
        }
        let set = self.distance().set();
        let of_level = self.level.and_then(|level| set?.radius_of_level(level));
        match (self.radius.or(of_level), self.usual_radius()) {
            (Some(radius), _) => Ok((
                Radius::Uniform(radius),
                spoken(self.distance(), self.rectangularity(), radius),
            )),
            (None, Some((radius, _))) => Ok((
                Radius::Uniform(radius),
                spoken(self.distance(), self.rectangularity(), radius),
            )),
            (None, None) => {
                let radii = calibrated(model, self.distance(), 0)?;
                let radius = radii.into_iter().fold(0.0, f64::max);
                Ok((
                    Radius::Uniform(radius),
                    format!("{} (calibrated from 60 sampled kernels)", short(radius)),
                ))
            }
        }
    }
}

/// Whether a file is fast-robust-mdps' by its ending, packed or not.
fn is_ambiguity(path: &Path) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    name.strip_suffix(".gz").unwrap_or(&name).ends_with(".amb")
}

/// “9 (level 0.9)”: a radius, with what it stands for where that has a name.
pub(crate) fn spoken(distance: Distance, owner: Rectangularity, radius: f64) -> String {
    let number = short(radius);
    let Some(set) = distance.set() else { return number };
    let usual = set.usual_radius().filter(|_| set.rectangularity() == owner);
    match (set.level_of_radius(radius), usual) {
        (Some(level), _) => format!("{number} (level {})", short(level)),
        (None, Some((usual, meaning))) if usual == radius => format!("{number} ({meaning})"),
        (None, _) if set.needs() == Needs::Ground => format!("{number} (mass × distance)"),
        (None, _) => number,
    }
}

/// “0.1” or “0.1 to 0.3”.
fn range(radius: &Radius) -> String {
    let (Radius::PerState(radii) | Radius::PerRow(radii)) = radius else {
        return String::new();
    };
    let low = radii.iter().copied().fold(f64::INFINITY, f64::min);
    let high = radii.iter().copied().fold(0.0, f64::max);
    match low < high {
        true => format!("{} to {}", short(low), short(high)),
        false => short(high),
    }
}

impl From<UncertaintySet> for ChosenSet {
    fn from(set: UncertaintySet) -> ChosenSet {
        let radius = match &set.radius {
            Radius::Uniform(radius) => spoken(set.distance, set.rectangularity, *radius),
            radius @ Radius::PerState(_) => format!("{}, one a state", range(radius)),
            radius @ Radius::PerRow(_) => format!("{}, one a state and action", range(radius)),
        };
        ChosenSet { set, radius }
    }
}

impl ChosenSet {
    /// One line for the header.
    pub(crate) fn describe(&self) -> String {
        let Some(name) = self.set.distance.set().map(|set| set.title()) else {
            return "none: the nominal kernel".into();
        };
        let owner = match self.set.rectangularity {
            Rectangularity::State => "s-rectangular",
            Rectangularity::StateAction => "(s,a)-rectangular",
        };
        let weighted = if self.set.weights.is_some() { ", actions weighted" } else { "" };
        let told = SetData::of(&self.set).map_or("", |data| data.in_words());
        let support = support_in_words(self.set.distance, self.set.support);
        format!("{name}, radius {}, {owner}{support}{weighted}{told}", self.radius)
    }
}

/// “, support all”: where kernels may have mass, which intervals say themselves.
pub(crate) fn support_in_words(distance: Distance, support: Support) -> &'static str {
    match (distance.needs(), support) {
        (Needs::Intervals | Needs::Scenarios, _) => "",
        (Needs::Nothing | Needs::Weights | Needs::Ground, Support::Nominal) => ", support nominal",
        (Needs::Nothing | Needs::Weights | Needs::Ground, Support::All) => ", support all",
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_the_librarys() {
        crate::choice::sets().assert_names_are_the_librarys();
        super::RECTANGULAR.assert_names_are_the_librarys();
        super::SUPPORT.assert_names_are_the_librarys();
    }
}
