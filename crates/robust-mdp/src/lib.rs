//! Robust Markov decision processes: a policy, the worst-case kernel and a proof of how good they
//! are.
//!
//! The problem: min over policies x, max over kernels y in an uncertainty set P around the nominal
//! kernel y⁰, of the expected discounted cost. P is rectangular, so that the value is the fixed
//! point of
//!
//! > F(v)_s = min_{x ∈ Δ(A)} max_{y ∈ P_s} Σ_a x_a (c_sa + λ⟨y_a, v⟩).
//!
//! Rooms, in the order data walks through them: [`model`] (with [`io`] and [`instances`]) →
//! [`sets`] → chains, oracles and outer loops → [`solve`](fn@solve) → [`Solution`] →
//! [`certificate`]. The first-order methods in [`saddle`] and [`geometry`] know nothing of Markov
//! decision processes.
//!
//! ```
//! use robust_mdp::{ModelBuilder, Options, solve, sets::UncertaintySet};
//!
//! let model = ModelBuilder::new(0.9)
//!     .state("good")
//!     .action("run", 0.0, &[(0, 0.7), (1, 0.3)])
//!     .action("service", 1.0, &[(0, 0.95), (1, 0.05)])
//!     .state("worn")
//!     .action("run", 2.0, &[(1, 0.6), (2, 0.4)])
//!     .action("repair", 5.0, &[(0, 1.0)])
//!     .state("broken")
//!     .action("replace", 15.0, &[(0, 1.0)])
//!     .build()?;
//! let solution = solve(&model, &UncertaintySet::kl(0.05), &Options::default())?;
//! assert!(solution.gap <= solution.target_gap);
//! println!("{:?} in {:?}", solution.policy_at(0), solution.initial_value);
//! # Ok::<(), robust_mdp::Error>(())
//! ```
//!
//! Throughout, \[GCK21\] is J. Grand-Clément and C. Kroer, *Scalable first-order methods for robust
//! MDPs*, AAAI 2021.

pub mod certificate;
pub mod conformance;
pub mod error;
pub mod geometry;
pub mod instances;
pub mod io;
pub mod lanes;
pub mod model;
pub mod saddle;
pub mod sets;
/// The sets, by the name that they once had.
pub use sets as uncertainty;

mod chain;
mod checkpoint;
mod choice;
mod codec;
mod evaluate;
mod incumbent;
mod loops;
#[doc(hidden)]
pub mod measure;
mod oracle;
mod pool;
mod radii;
mod rows;
mod signal;
mod solution;
mod solve;

pub use certificate::{Certificate, Rejection, Verified, certify, verify};
#[doc(hidden)]
pub use checkpoint::seal_checkpoint;
pub use checkpoint::{Checkpointer, is_checkpoint};
pub use error::{Error, ModelError};
pub use evaluate::{SparseKernel, evaluate, worst_kernel, worst_kernel_rows};
pub use loops::fom_vi::{Average, Checks, FomSettings};
pub use model::{Model, ModelBuilder, Objective};
pub use oracle::first_order::{Setup, StepRule};
pub use radii::sweep_radius;
pub use signal::Interrupt;
pub use solution::{Ending, Evaluated, PolicyValue, Solution, Stage};
#[doc(hidden)]
pub use solve::Published;
pub use solve::{
    Criterion, Direction, DualityGap, Method, Observer, Options, Oracle, Progress, Status, Stop,
    Work, solve, solve_checkpointed, solve_observed,
};

/// Runs the code of the project's README as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
