//! Seeded model generators: the families of Grand-Clément and Kroer, *Scalable First-Order
//! Methods for Robust MDPs* (AAAI 2021), and radii calibrated from sampled kernels.
//!
//! The same settings give the same model on every platform.

mod calibration;
mod garnet;
mod healthcare;
mod machine;
mod rng;

pub use calibration::Calibration;
pub use garnet::{Costs, Garnet};
pub use healthcare::healthcare;
pub use machine::machine_replacement;
pub use rng::Xoshiro256;

use crate::error::Error;

/// Refuses numbers of states that a family does not have.
fn check_states(family: &str, states: usize, least: usize) -> Result<(), Error> {
    let most = u32::MAX as usize - 1;
    match (least..=most).contains(&states) {
        true => Ok(()),
        false => {
            Err(Error::Input(format!("{family}: {states} states, expected {least} to {most}")))
        }
    }
}

/// √(f·A), the radius of the paper's experiments with Garnet models whose rows reach a share f of
/// the states. With independent costs it hardly ever binds.
pub fn published_radius(proportion: f64, actions: usize) -> f64 {
    (proportion * actions as f64).sqrt()
}

/// A share of [`published_radius`] at which the budget binds.
pub const TIGHT: f64 = 0.05;

/// Discount factor of the families unless another is asked for.
pub const DEFAULT_DISCOUNT: f64 = 0.8;
