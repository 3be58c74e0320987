//! Uncertainty sets: which kernels nature may choose around the nominal one.
//!
//! A row has nominal probabilities p and objectives w on the states that it may use, z = w − max w ≤ 0. A set
//! is a convex distance d(y, p) with d(p, p) = 0 and a budget; the solver needs of it
//!   g(u) = min{ d(y, p) : ⟨z, y⟩ ≥ u },   ψ(t) = max_y t⟨z, y⟩ − d(y, p),
//! which are conjugate, with g' = t and ψ' = ⟨z, y(t)⟩: see [`Set`].
//!
//! - `set`: what a set says of a row, the trait [`Set`]
//! - `registry`: the names of all sets
//! - `uncertainty_set`: a set of a model, [`UncertaintySet`]
//! - `ellipsoid`, `kl`, `chi2`, `l1`, `burg`, `hellinger`, `neyman`: one file a set
//! - `cressie_read`: what the last three have in common
//! - `quadratic`, `tilt`, `bracket`: the price of a row by its kind
//! - `cone`: the conic form, for the interior-point oracle
//! - `proximal`: steps of the first-order methods

mod bracket;
mod burg;
mod chi2;
mod cone;
mod cressie_read;
pub(crate) mod ellipsoid;
pub(crate) mod exponential;
mod hellinger;
pub(crate) mod kl;
mod l1;
mod logarithm;
mod neyman;
pub(crate) mod proximal;
pub(crate) mod quadratic;
mod registry;
pub(crate) mod set;
pub(crate) mod tilt;
mod uncertainty_set;
pub(crate) mod unlisted;

#[doc(hidden)]
pub use crate::rows::Rows;
pub use crate::rows::{Outside, Row};
pub(crate) use cone::ConeKind;
pub use cone::{Cone, Entry, Moved, Program};
pub use proximal::{
    Block, Emit, Enclosure, EntrySums, Gain, Mirror, Prox, ProximalEntry, Scratch, Separable, Step,
    Warm,
};
#[doc(hidden)]
pub use quadratic::{At, Quadratic, Sums};
pub use registry::Distance;
#[doc(hidden)]
pub use set::RowKind;
pub use set::{Beyond, Priced, Set};
#[doc(hidden)]
pub use tilt::Tilt;
pub use uncertainty_set::{Radius, Rectangularity, Support, UncertaintySet};
