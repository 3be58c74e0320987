//! Seeded model generators: the families of Grand-Clément and Kroer, *Scalable First-Order
//! Methods for Robust MDPs* (AAAI 2021), and radii calibrated from sampled kernels.
//!
//! The same settings give the same model on every platform.

mod calibration;
mod garnet;
mod healthcare;
mod machine;
mod rng;

pub use calibration::{Calibration, Divergence};
pub use garnet::{Costs, Garnet};
pub use healthcare::healthcare;
pub use machine::machine_replacement;
pub use rng::Xoshiro256;

/// Discount factor of the families unless another is asked for.
pub const DEFAULT_DISCOUNT: f64 = 0.8;
