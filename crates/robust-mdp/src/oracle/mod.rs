//! Oracles: what one state's game is worth at given values.

pub(crate) mod exact;
pub(crate) mod first_order;
pub(crate) mod interior_point;
pub(crate) mod nature;
