//! Settings of FOM-VI and of the first-order oracle, from their flags.

use robust_mdp::geometry::Geometry;
use robust_mdp::sets::Distance;
use robust_mdp::{Average, FomSettings, Setup, StepRule, saddle};
use robust_mdp_page::number::short;

use crate::args::exponent;
use crate::choice::{Choice, default_by_set};

const ENTROPY: Geometry = Geometry::Entropy;
const EUCLIDEAN: Geometry = Geometry::Euclidean;

const SETUPS: Choice<Setup> = Choice {
    names: &[
        ("l2,l2", Setup { x: EUCLIDEAN, y: EUCLIDEAN }, "Euclidean for both"),
        ("l1,l1", Setup { x: ENTROPY, y: ENTROPY }, "entropy for both"),
        (
            "l1,l2",
            Setup { x: ENTROPY, y: EUCLIDEAN },
            "entropy for the policy, Euclidean for the kernel",
        ),
        (
            "l2,l1",
            Setup { x: EUCLIDEAN, y: ENTROPY },
            "Euclidean for the policy, entropy for the kernel",
        ),
    ],
};

const STEPS: Choice<StepRule> = Choice {
    names: &[
        ("centred", StepRule::Centred, "from the centred values, anew every epoch"),
        (
            "paper",
            StepRule::Paper,
            "FOM-VI as published: its fixed steps, its average, a gap after every epoch",
        ),
    ],
};

const FOMS: Choice<saddle::FirstOrderMethod> = Choice {
    names: &[
        ("pda", saddle::FirstOrderMethod::Pda, "primal-dual algorithm"),
        ("mirror-prox", saddle::FirstOrderMethod::MirrorProx, ""),
        ("mirror-descent", saddle::FirstOrderMethod::MirrorDescent, ""),
    ],
};

const AVERAGES: Choice<Average> = Choice {
    names: &[
        ("all", Average::All, "over all epochs"),
        ("epoch", Average::Epoch, "over the last epoch"),
    ],
};

/// Settings that have an effect only where first-order steps are taken.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "First-order steps (--method fom-vi or --oracle first-order)")]
pub(crate) struct FomArgs {
    #[arg(long, value_name = "X,Y", value_parser = SETUPS)]
    #[arg(help = format!("Geometries of policy and kernel {}", default_by_set(default_setup)))]
    setup: Option<Setup>,
    /// First-order method [default: pda]
    #[arg(long, value_name = "FOM", value_parser = FOMS)]
    fom: Option<saddle::FirstOrderMethod>,
    /// Step sizes [default: centred]
    #[arg(long, value_name = "RULE", value_parser = STEPS)]
    steps: Option<StepRule>,
    /// fom-vi: p in the weights t^p of the averages, from 0 to 10 [default: 2]
    #[arg(long, value_name = "p", value_parser = exponent, allow_hyphen_values = true)]
    weights: Option<f64>,
    /// fom-vi: q in the epoch lengths ⌈ℓ^q⌉, from 0 to 10 [default: 2]
    #[arg(long, value_name = "q", value_parser = exponent, allow_hyphen_values = true)]
    epochs: Option<f64>,
    /// fom-vi: which average is the answer [default: epoch, with --steps paper: all]
    #[arg(long, value_name = "AVERAGE", value_parser = AVERAGES)]
    average: Option<Average>,
}

fn default_setup(distance: Distance) -> &'static str {
    SETUPS.name(Setup::of(distance))
}

impl FomArgs {
    /// Flags given that set the first-order oracle, in any outer loop.
    pub(crate) fn of_oracle(&self) -> Vec<&'static str> {
        given([
            ("--setup", self.setup.is_some()),
            ("--fom", self.fom.is_some()),
            ("--steps", self.steps.is_some()),
        ])
    }

    /// Flags given that set FOM-VI alone.
    pub(crate) fn of_loop(&self) -> Vec<&'static str> {
        given([
            ("--weights", self.weights.is_some()),
            ("--epochs", self.epochs.is_some()),
            ("--average", self.average.is_some()),
        ])
    }

    /// What the flags set, if any is given.
    pub(crate) fn settings(&self) -> Option<FomSettings> {
        if self.of_oracle().is_empty() && self.of_loop().is_empty() {
            return None;
        }
        let base = FomSettings::of(self.steps.unwrap_or_default());
        Some(FomSettings {
            setup: self.setup.or(base.setup),
            weights: self.weights.unwrap_or(base.weights),
            epochs: self.epochs.unwrap_or(base.epochs),
            method: self.fom.unwrap_or(base.method),
            average: self.average.unwrap_or(base.average),
            ..base
        })
    }
}

fn given(flags: [(&'static str, bool); 3]) -> Vec<&'static str> {
    flags.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag).collect()
}

/// One line on the settings that a run used: those of the oracle, and with `whole` those of FOM-VI.
pub(crate) fn describe(fom: &FomSettings, setup: Setup, whole: bool) -> String {
    let (method, setup) = (FOMS.name(fom.method), SETUPS.name(setup));
    let oracle = format!("{method}, setup {setup}, steps {}", STEPS.name(fom.steps));
    if !whole {
        return oracle;
    }
    let (weights, epochs) = (short(fom.weights), short(fom.epochs));
    let average = AVERAGES.name(fom.average);
    format!("{oracle}, weights {weights}, epochs {epochs}, average {average}")
}
