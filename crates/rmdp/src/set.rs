//! The uncertainty set of a command, from its flags.

use std::path::PathBuf;

use robust_mdp::Model;
use robust_mdp::io::{RadiusTable, read_radii, read_weights};
use robust_mdp::sets::{Distance, Radius, Rectangularity, Support, UncertaintySet};
use robust_mdp_page::number::short;

use crate::args::non_negative;
use crate::choice::{self, Choice};
use crate::failure::Failure;
use crate::model::calibrated;

const RECTANGULAR: Choice<Rectangularity> = Choice {
    names: &[
        ("s", Rectangularity::State, "one budget a state, shared by its actions"),
        ("sa", Rectangularity::StateAction, "one budget a state and action"),
    ],
    later: &[],
};

const SUPPORT: Choice<Support> = Choice {
    names: &[
        ("nominal", Support::Nominal, "next states of positive nominal probability"),
        ("all", Support::All, "every state"),
    ],
    later: &[],
};

/// Which kernels nature may choose.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Uncertainty set")]
pub(crate) struct SetArgs {
    #[arg(long, value_name = "SET", value_parser = choice::sets())]
    #[arg(help = format!(
        "Uncertainty set around the nominal kernel y⁰ [default: {}]",
        Distance::default().name()
    ))]
    set: Option<Distance>,
    /// One budget ≥ 0 for every state; a MODEL needs this or --radius-file
    #[arg(long, value_name = "R", value_parser = non_negative, allow_hyphen_values = true)]
    radius: Option<f64>,
    /// Budgets from a table state,radius or state,action,radius
    #[arg(long, value_name = "CSV", conflicts_with = "radius")]
    pub(crate) radius_file: Option<PathBuf>,
    /// Weights κ of the actions in a shared budget, Σ κ·d ≤ radius, from a table state,action,weight
    #[arg(long, value_name = "CSV")]
    pub(crate) weights_file: Option<PathBuf>,
    /// Who owns a budget [default: s]
    #[arg(long, value_name = "KIND", value_parser = RECTANGULAR)]
    rectangular: Option<Rectangularity>,
    #[arg(long, value_name = "WHERE", value_parser = SUPPORT)]
    #[arg(help = format!("Where a kernel may put mass {}", choice::default_by_set(default_support)))]
    support: Option<Support>,
}

fn default_support(distance: Distance) -> &'static str {
    SUPPORT.name(UncertaintySet::new(distance, 0.0).support)
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
        self.rectangular.unwrap_or(Rectangularity::State)
    }

    /// What needs no model to be checked.
    pub(crate) fn check(&self, embedded: bool) -> Result<(), Failure> {
        let given = self.radius.is_some() || self.radius_file.is_some();
        if self.distance() == Distance::None {
            if given || self.support.is_some() || self.rectangular.is_some() {
                return Err(Failure::usage(
                    "--set none is the nominal kernel alone, expected no --radius, --radius-file, \
                     --rectangular or --support",
                ));
            }
            if self.weights_file.is_some() {
                return Err(Failure::usage(
                    "--set none is the nominal kernel alone, expected no --weights-file",
                ));
            }
        } else if !given && !embedded {
            return Err(Failure::usage(
                "a MODEL needs a radius: give --radius R or --radius-file CSV, \
                 or --set none for the nominal problem",
            )
            .hint("`rmdp info MODEL` says from which radius on every kernel is allowed"));
        }
        if self.weights_file.is_some() && self.rectangularity() != Rectangularity::State {
            return Err(Failure::usage(
                "--weights-file is for budgets that actions share, expected --rectangular s",
            ));
        }
        Ok(())
    }

    /// The set for `model`, if the flags name one; a part of one is an error.
    pub(crate) fn if_given(&self, model: &Model) -> Result<Option<UncertaintySet>, Failure> {
        let radius = self.radius.is_some() || self.radius_file.is_some();
        if radius || self.distance() == Distance::None {
            self.check(false)?;
            return Ok(Some(self.build(model)?.set));
        }
        let parts = self.rectangular.is_some() || self.support.is_some();
        if self.set.is_some() || parts || self.weights_file.is_some() {
            return Err(Failure::usage(
                "--set, --weights-file, --rectangular and --support are parts of a set, expected --radius or \
                 --radius-file with them",
            ));
        }
        Ok(None)
    }

    /// The set for `model`; the embedded example brings its own radius.
    pub(crate) fn build(&self, model: &Model) -> Result<ChosenSet, Failure> {
        let (radius, spoken) = self.radii(model)?;
        let weights = self.weights_file.as_ref().map(|path| read_weights(path, model));
        let weights = weights.transpose().map_err(Failure::input)?;
        let base = UncertaintySet::new(self.distance(), 0.0);
        let set = UncertaintySet {
            rectangularity: self.rectangularity(),
            support: self.support.unwrap_or(base.support),
            weights,
            ..base.with_radius(radius)
        };
        set.validate(model).map_err(Failure::input)?;
        Ok(ChosenSet { set, radius: spoken })
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
        match self.radius {
            Some(radius) => Ok((Radius::Uniform(radius), short(radius))),
            None => {
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
            Radius::Uniform(radius) => short(*radius),
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
        let support = match self.set.support {
            Support::Nominal => "support nominal",
            Support::All => "support all",
        };
        let weighted = if self.set.weights.is_some() { ", actions weighted" } else { "" };
        format!("{name}, radius {}, {owner}, {support}{weighted}", self.radius)
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
