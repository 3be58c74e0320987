//! Outer loops, and the evaluations that certify them.

pub(crate) mod bellman;
pub(crate) mod bounds;
mod certification;
pub(crate) mod evaluation;
mod fixed_point;
pub(crate) mod fom_vi;
pub(crate) mod games;
pub(crate) mod gap_trace;
pub(crate) mod linear;
pub(crate) mod operator;
pub(crate) mod outer;
pub(crate) mod response;
mod row_store;
pub(crate) mod sweep;
