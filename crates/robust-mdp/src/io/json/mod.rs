//! The native format, version 1: everything a model holds.
//!
//! ```json
//! {"format":"robust-mdp","version":1,"objective":"min-cost","discount":0.95,"initial":null,
//!  "states":[{"name":"ok","actions":[{"name":"run","cost":0.0,"next":[[0,0.2],[1,0.8]]}]}]}
//! ```

mod read;
mod write;

pub(super) use read::read;
pub use write::write_json;

/// Value of the key `format`.
const FORMAT: &str = "robust-mdp";
/// Value of the key `version`.
const VERSION: u64 = 1;

#[cfg(test)]
mod tests;
