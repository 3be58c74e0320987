//! Settings of FOM-VI: epochs of T_ℓ = ⌈ℓ^q⌉ steps with weights ω_t = t^p, and what is certified when.

use serde::{Deserialize, Serialize};

use crate::oracle::first_order::{Setup, StepRule};
use crate::saddle::FirstOrderMethod;

/// Which average is the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Average {
    /// Over all epochs, as published.
    All,
    /// Over the last epoch.
    Epoch,
}

/// When the output of an epoch is certified, and which output is the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Checks {
    /// Now and then, for at most a tenth of the work; the best output is the answer.
    Scheduled,
    /// After every epoch, as published; the last output is the answer.
    EveryEpoch,
}

/// Settings of FOM-VI.
#[derive(Clone, Debug, PartialEq)]
pub struct FomSettings {
    /// Geometries; `None` chooses (ℓ2,ℓ2) for the ellipsoid and (ℓ2,ℓ1) for KL.
    pub setup: Option<Setup>,
    /// p ≥ 0 in the weights ω_t = t^p.
    pub weights: f64,
    /// q ≥ 0 in the epoch lengths T_ℓ = ⌈ℓ^q⌉.
    pub epochs: f64,
    /// Step sizes.
    pub steps: StepRule,
    /// First-order method.
    pub method: FirstOrderMethod,
    /// Which average is the answer.
    pub average: Average,
    /// Whether v moves to the middle of the certified bounds after a check.
    pub jump: bool,
    /// Whether the nominal solution is certified before the first epoch.
    pub head_start: bool,
    /// When the output is certified.
    pub checks: Checks,
}

impl Default for FomSettings {
    fn default() -> Self {
        FomSettings {
            setup: None,
            weights: 2.0,
            epochs: 2.0,
            steps: StepRule::Centred,
            method: FirstOrderMethod::Pda,
            average: Average::Epoch,
            jump: true,
            head_start: true,
            checks: Checks::Scheduled,
        }
    }
}

impl FomSettings {
    /// The paper's algorithm to the letter: its steps (their misprints corrected), v¹ = 0, proximal
    /// steps from the first epoch on, the average over all epochs as output, DG after every epoch. The
    /// first iterates, "at random" in the paper, are the uniform policy and the nominal kernel (nine tenths
    /// of it and a tenth of the uniform one for the ellipsoid with the entropy, which cannot leave 0).
    pub fn paper() -> Self {
        FomSettings {
            steps: StepRule::Paper,
            average: Average::All,
            jump: false,
            head_start: false,
            checks: Checks::EveryEpoch,
            ..FomSettings::default()
        }
    }

    /// What goes with a step rule: the paper's algorithm, or the library's own form of it.
    pub fn of(steps: StepRule) -> Self {
        match steps {
            StepRule::Paper => FomSettings::paper(),
            StepRule::Centred => FomSettings::default(),
        }
    }

    /// T_ℓ.
    pub(crate) fn epoch_length(&self, epoch: u64) -> u64 {
        (epoch as f64).powf(self.epochs).ceil().clamp(1.0, 1e15) as u64
    }
}
