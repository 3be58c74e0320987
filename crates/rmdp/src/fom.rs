//! The method of a run and the settings of FOM-VI, from their flags.

use robust_mdp::geometry::Geometry;
use robust_mdp::{Average, FomSettings, Method, Setup, StepRule, saddle};

use crate::args::exponent;
use crate::choice::Choice;
use crate::render::number::short;

const METHODS: Choice<Method> = Choice {
    names: &[
        ("auto", Method::Auto, "the best this version has for the set: fom-vi"),
        ("fom-vi", Method::FomVi, "first-order value iteration"),
    ],
    later: &["vi", "gs-vi", "anderson", "avi", "pi", "newton"],
};

const ORACLES: Choice<()> = Choice {
    names: &[("first-order", (), "first-order steps on the game of each state")],
    later: &["exact", "interior-point"],
};

const L1: Geometry = Geometry::Entropy;
const L2: Geometry = Geometry::Euclidean;

const SETUPS: Choice<Setup> = Choice {
    names: &[
        ("l2,l2", Setup { x: L2, y: L2 }, "Euclidean for both"),
        ("l1,l1", Setup { x: L1, y: L1 }, "entropy for both"),
        ("l1,l2", Setup { x: L1, y: L2 }, "entropy for the policy, Euclidean for the kernel"),
        ("l2,l1", Setup { x: L2, y: L1 }, "Euclidean for the policy, entropy for the kernel"),
    ],
    later: &[],
};

const STEPS: Choice<StepRule> = Choice {
    names: &[
        ("centred", StepRule::Centred, "from the centred values, anew every epoch"),
        ("paper", StepRule::Paper, "FOM-VI as published: its fixed steps and its average"),
    ],
    later: &[],
};

const FOMS: Choice<saddle::Method> = Choice {
    names: &[
        ("pda", saddle::Method::Pda, "primal-dual algorithm"),
        ("mirror-prox", saddle::Method::MirrorProx, ""),
        ("mirror-descent", saddle::Method::MirrorDescent, ""),
    ],
    later: &[],
};

const AVERAGES: Choice<Average> = Choice {
    names: &[
        ("all", Average::All, "over all epochs"),
        ("epoch", Average::Epoch, "over the last epoch"),
    ],
    later: &[],
};

/// What computes the answer.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct MethodArgs {
    /// Outer algorithm
    #[arg(long, value_name = "METHOD", default_value = "auto", value_parser = METHODS)]
    pub(crate) method: Method,
    /// What solves the game of a state [default: the best the set offers]
    #[arg(long, value_name = "ORACLE", value_parser = ORACLES)]
    oracle: Option<()>,
    /// Geometries of policy and kernel [default: l2,l2 for ellipsoid, l2,l1 for kl]
    #[arg(long, value_name = "X,Y", value_parser = SETUPS)]
    setup: Option<Setup>,
    /// p in the weights t^p of the averages, from 0 to 10 [default: 2]
    #[arg(long, value_name = "p", value_parser = exponent, allow_hyphen_values = true)]
    weights: Option<f64>,
    /// q in the epoch lengths ⌈ℓ^q⌉, from 0 to 10 [default: 2]
    #[arg(long, value_name = "q", value_parser = exponent, allow_hyphen_values = true)]
    epochs: Option<f64>,
    /// Step sizes
    #[arg(long, value_name = "RULE", default_value = "centred", value_parser = STEPS)]
    steps: StepRule,
    /// First-order method [default: pda]
    #[arg(long, value_name = "FOM", value_parser = FOMS)]
    fom: Option<saddle::Method>,
    /// Which average is the answer [default: epoch, with --steps paper: all]
    #[arg(long, value_name = "AVERAGE", value_parser = AVERAGES)]
    average: Option<Average>,
}

impl MethodArgs {
    pub(crate) fn settings(&self) -> FomSettings {
        let base = match self.steps {
            StepRule::Centred => FomSettings::default(),
            StepRule::Paper => FomSettings::paper(),
        };
        FomSettings {
            setup: self.setup.or(base.setup),
            weights: self.weights.unwrap_or(base.weights),
            epochs: self.epochs.unwrap_or(base.epochs),
            method: self.fom.unwrap_or(base.method),
            average: self.average.unwrap_or(base.average),
            ..base
        }
    }

    /// One line for the header: what was chosen.
    pub(crate) fn describe(&self) -> &'static str {
        match self.method {
            Method::Auto => "fom-vi with the first-order oracle (chosen by auto)",
            _ => "fom-vi with the first-order oracle",
        }
    }
}

/// One line on the settings that a run used.
pub(crate) fn describe(fom: &FomSettings, setup: Setup) -> String {
    let norm = |g| match g {
        Geometry::Euclidean => "l2",
        Geometry::Entropy => "l1",
    };
    let steps = match fom.steps {
        StepRule::Centred => "centred",
        StepRule::Paper => "paper",
    };
    let method = match fom.method {
        saddle::Method::Pda => "pda",
        saddle::Method::MirrorProx => "mirror-prox",
        saddle::Method::MirrorDescent => "mirror-descent",
    };
    let average = match fom.average {
        Average::All => "all",
        Average::Epoch => "epoch",
    };
    format!(
        "{method}, setup {},{}, steps {steps}, weights {}, epochs {}, average {average}",
        norm(setup.x),
        norm(setup.y),
        short(fom.weights),
        short(fom.epochs)
    )
}
