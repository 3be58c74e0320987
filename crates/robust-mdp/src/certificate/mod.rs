//! Answers that can be checked: a certificate holds what is needed to prove, in one pass over the
//! model, that a policy x costs at most U under every kernel of the set and that no policy can do
//! better than L.
//!
//! - Values v_U with the policy and multipliers: weak duality bounds nature's best answer to x at
//!   v_U without optimising. T_x v_U ≤ v_U + δ proves v^x ≤ v_U + δ/(1 − λ).
//! - Values v_L with multipliers that a kernel of the set is rebuilt from. If no action is worth
//!   less than v_L − ε under it, v* ≥ v_L − ε/(1 − λ).
//!
//! Finite horizons, totals, averages, best cases and deterministic policies have certificates of the same numbers, from
//! which other bounds follow.
//!
//! [`certify`] makes one of any [`Solution`](crate::Solution); [`verify`] computes δ and ε with every
//! rounding counted and trusts nothing; what it needs of a set is its [`Proof`]. `docs/certificates.md` has the theorem, its proof and the
//! format of the file.
//!
//! ```
//! use robust_mdp::{Certificate, Options, certify, instances, solve, verify};
//! use robust_mdp::uncertainty::UncertaintySet;
//!
//! let model = instances::machine_replacement(10, 0.8)?;
//! let set = UncertaintySet::kl(0.01);
//! let solution = solve(&model, &set, &Options::default())?;
//! let (certificate, proved) = certify(&model, &set, &solution, None)?;
//! let file = certificate.to_bytes();
//!
//! let certificate = Certificate::from_bytes(&file, &model)?;
//! assert_eq!(verify(&model, &certificate, None)?, proved);
//! assert!(proved.gap <= 2.0 * solution.target_gap);
//! let other = model.with_discount(0.81)?;
//! assert!(verify(&other, &certificate, None).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod claim;
pub(crate) mod emit;
mod file;
mod fit;
mod narrow;
mod rejection;
mod step;
pub(crate) mod verify;

pub use claim::{Verified, verify};
pub use emit::certify;
#[doc(hidden)]
pub use file::seal_certificate;
pub use rejection::{Rejection, Shortfall};
pub use step::Step;
pub(crate) use verify::interval::or_infinite;
pub use verify::interval::{Interval, TINY, UNIT, above, roundings};
pub use verify::proof::{Proof, ProofRow, Reading};
pub use verify::tail::Unlisted;

use self::step::StepRef;
use crate::model::Objective;
use crate::sets::UncertaintySet;
use crate::solve::{Criterion, Direction, Method, Oracle};

/// A proof that lower ≤ v* ≤ v^x ≤ upper; see the [module](self). Values are costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// [Fingerprint](crate::Model::fingerprint) of the model, for a clear message; no proof rests
    /// on it.
    pub model: u128,
    /// The model's discount factor; 1 of totals and averages.
    pub discount: f64,
    /// The model's objective.
    pub objective: Objective,
    /// How costs over time count.
    pub criterion: Criterion,
    /// Which kernel of the set counts.
    pub direction: Direction,
    /// Whether the lower bound is one of deterministic policies alone.
    pub deterministic: bool,
    /// Of a total: whether the model ends under every policy, not only under this one.
    pub surely: bool,
    /// The set that the proof is about.
    pub set: UncertaintySet,
    /// What found the answer.
    pub method: Method,
    /// What solved the games of the states.
    pub oracle: Oracle,
    /// The bounds that must follow.
    pub claim: Claim,
    /// v_U, one a state.
    pub upper: Vec<f64>,
    /// v_L, one a state.
    pub lower: Vec<f64>,
    /// The policy, rows rising; rows left out have no weight.
    pub policy: Vec<Weight>,
    /// Multipliers μ ≥ 0 of the budgets at v_U, one a state, or one a [`Weight`] if the set is
    /// (s,a)-rectangular; 0: nature may put every row on its maximum.
    pub scale: Vec<f64>,
    /// Kernel rows that are not nominal, rows rising. Where v_L = v_U, rows of the policy that are not
    /// listed have t = x/(μκ) (1/μ if the set is (s,a)-rectangular) and ν as there.
    pub kernel: Vec<Multipliers>,
    /// Of a finite horizon: the steps after the first. Of a total: how many steps it takes to the end, a bound of
    /// them in v_U.
    pub further: Vec<Step>,
}

impl Certificate {
    /// The step that its own fields are.
    fn first(&self) -> StepRef<'_> {
        let Certificate { upper, lower, policy, scale, kernel, .. } = self;
        StepRef { upper, lower, policy, scale, kernel }
    }
}

/// Bounds in the model's own sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claim {
    /// A lower bound at the initial distribution.
    pub lower: f64,
    /// An upper bound at the initial distribution.
    pub upper: f64,
    /// No state's bounds are farther apart.
    pub gap: f64,
}

/// The weight of a row in the policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weight {
    /// The row of the model.
    pub row: u32,
    /// Its probability, to be divided by the sum over the state.
    pub probability: f64,
    /// The set's second number, mostly the multiplier of the row's mass, in units of μ and above the row's
    /// largest objective.
    pub nu: f64,
}

/// A kernel row, as the two numbers that its set rebuilds it from ([`Proof::read`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Multipliers {
    /// The row of the model.
    pub row: u32,
    /// t ≥ 0.
    pub t: f64,
    /// As in a [`Weight`].
    pub nu: f64,
}
