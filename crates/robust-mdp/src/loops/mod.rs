//! Outer loops on v = F(v), each with any oracle.
//!
//! The loops:
//! - [`vi`]: value iteration, v⁺ = F(v);
//! - [`gs`]: Gauss–Seidel value iteration, state after state;
//! - [`anderson`]: Anderson's combinations of the last steps;
//! - [`avi`]: accelerated value iteration, with momentum;
//! - [`pi`]: policy iteration in the form of Hoffman and Karp;
//! - [`newton`]: Newton's method, safeguarded by it, and [`discount_continuation`], its first steps on
//!   chains that mix slowly;
//! - [`backward`]: backward induction over a finite horizon;
//! - [`average`]: relative values, for the average cost of a step;
//! - [`fom_vi`]: value iteration with first-order steps (FOM-VI), its settings, checks and best responses.
//!
//! What they share:
//! - [`course`]: a run of a loop: sweep, bounds, limits, checkpoints, the next values;
//! - [`operator`]: F and F_x at the level of sweeps, by [`bellman`] (the exact oracle) or [`games`] (the
//!   others);
//! - [`sweep`]: states in parallel, with the same bits for any number of threads;
//! - [`evaluation`]: the worst case of a policy, a [`fixed_point`] by policy iteration;
//! - [`bounds`]: what one sweep proves.

pub(crate) mod anderson;
pub(crate) mod average;
mod avi;
pub(crate) mod backward;
pub(crate) mod bellman;
pub(crate) mod bounds;
mod course;
mod discount_continuation;
pub(crate) mod evaluation;
mod fixed_point;
pub(crate) mod fom_vi;
pub(crate) mod games;
mod gs;
mod newton;
pub(crate) mod operator;
mod pi;
pub(crate) mod sweep;
mod vi;

pub(crate) use course::run;
