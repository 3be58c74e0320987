//! Uncertainty sets: which kernels nature may choose around the nominal one.
//!
//! A row has nominal probabilities p and objectives w on the states that it may use, z = w − max w ≤ 0. A set
//! is a convex distance d(y, p) with d(p, p) = 0 and a budget; the solver needs of it
//!   g(u) = min{ d(y, p) : ⟨z, y⟩ ≥ u },   ψ(t) = max_y t⟨z, y⟩ − d(y, p),
//! which are conjugate, with g' = t and ψ' = ⟨z, y(t)⟩: see [`Set`].
//!
//! - `set`: what a set says of a row, the trait [`Set`]
//! - `data`: what it knows of entries beside probabilities and objectives
//! - `told`: scenarios, as sets are told of them; `mixture`: how rows lie between them
//! - `registry`: the names of all sets
//! - `offer`: what each of them offers
//! - `uncertainty_set`: a set of a model, [`UncertaintySet`]
//! - `ellipsoid`, `l2`, `kl`, `chi2`, `l1`, `linf`, `burg`, `hellinger`, `neyman`, `contamination`, `cvar`,
//!   `wasserstein`, `interval`, `scenarios`: one file a set; `balls_within`: balls within intervals; `linear_within`: L1 and the
//!   number of deviations within intervals
//! - `weighted_l1`, `cressie_read`, `gauge`, `within`, `transport`: what some of them have in common
//! - `quadratic`, `tilt`, `bracket`: the price of a row by its kind
//! - `cone`: the conic form, for the interior-point oracle
//! - `proximal`: steps of the first-order methods

mod balls_within;
mod bracket;
mod burg;
pub(crate) mod chi2;
mod cone;
mod contamination;
mod cressie_read;
mod cvar;
mod data;
pub(crate) mod ellipsoid;
pub(crate) mod exponential;
mod gauge;
mod hellinger;
mod interval;
pub(crate) mod kl;
mod l1;
mod l2;
mod linear_within;
mod linf;
mod logarithm;
mod mixture;
mod neyman;
mod offer;
mod order;
pub(crate) mod proximal;
pub(crate) mod quadratic;
mod registry;
mod scenarios;
pub(crate) mod set;
pub(crate) mod tilt;
mod told;
mod transport;
mod uncertainty_set;
pub(crate) mod unlisted;
mod wasserstein;
mod weighted_l1;
mod within;

#[doc(hidden)]
pub use crate::rows::Rows;
pub use crate::rows::{Outside, Row};
pub(crate) use cone::ConeKind;
pub use cone::{Cone, Entry, Moved, Program};
pub(crate) use data::{DataSource, GatheredData};
pub use data::{EntryData, EntryWeights, Ground, Line, Needs, Places};
pub use offer::Offer;
pub use proximal::{
    Block, Emit, Enclosure, EntrySums, Gain, Mirror, Prox, ProximalEntry, Scratch, Separable, Step,
    Warm,
};
#[doc(hidden)]
pub use quadratic::{At, Quadratic, Sums};
pub use registry::Distance;
#[doc(hidden)]
pub use set::RowKind;
pub use set::{Beyond, Curve, Priced, Set};
#[doc(hidden)]
pub use tilt::Tilt;
pub use told::{ScenarioRows, Scenarios};
pub use uncertainty_set::{Radius, Rectangularity, Support, UncertaintySet};
