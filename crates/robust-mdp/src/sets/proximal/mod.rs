//! Proximal steps in two geometries for the first-order methods, on a [`Block`].

mod block;
pub(crate) mod ellipsoid;
pub(crate) mod kl;
mod omega;

pub use block::{Block, Emit, Enclosure, Gain, Scratch, Warm};
pub(crate) use omega::LOWEST_LOG;

#[cfg(test)]
mod tests;
