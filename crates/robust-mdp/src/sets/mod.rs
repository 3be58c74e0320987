//! Uncertainty sets: which kernels nature may choose around the nominal one.
//!
//! - [`set`]: what a set says of a row, the trait [`Set`]
//! - [`registry`]: the names of all sets
//! - [`uncertainty_set`]: a set of a model, [`UncertaintySet`]
//! - [`ellipsoid`], [`kl`]: one file a set
//! - [`quadratic`], [`tilt`], [`bracket`]: the price of a row by its kind
//! - [`proximal`]: steps of the first-order methods

mod bracket;
pub(crate) mod ellipsoid;
pub(crate) mod kl;
pub(crate) mod proximal;
pub(crate) mod quadratic;
mod registry;
pub(crate) mod set;
pub(crate) mod tilt;
mod uncertainty_set;

#[doc(hidden)]
pub use crate::rows::Rows;
pub use crate::rows::{Outside, Row};
pub use proximal::{Block, Emit, Enclosure, Entry, Gain, Mirror, Prox, Scratch, Separable, Warm};
#[doc(hidden)]
pub use quadratic::{Quadratic, Sums};
pub use registry::Distance;
#[doc(hidden)]
pub use set::Kind;
pub use set::{Beyond, Priced, Set};
#[doc(hidden)]
pub use tilt::Tilt;
pub use uncertainty_set::{Radius, Rectangularity, Support, UncertaintySet};
