//! Checks that a set is what the solver takes it for: one call, a few seconds.
//!
//! Laws of [`Set`], on seeded random and degenerate rows (ties, equal objectives, zeros in p, one state,
//! p = e_i, objectives of any size):
//! - d(p, p) = 0 ≤ d; d is convex; degree, diameter, vacuous radius and [`face`](crate::sets::Curve::face) are
//!   what they say; a row that spends too much is brought back into the set by its degree.
//! - y(t) attains ψ(t) = max_y t⟨z, y⟩ − d(y, p): no other row, among many and next to it, does better;
//!   [`at`](crate::sets::Curve::at), [`price`](crate::sets::Curve::price) and
//!   [`kernel`](crate::sets::Curve::kernel) agree; values and prices rise with t.
//! - a set that leaves the support says of a row that does not list all states what it says of the same row
//!   listed in full ([`Row::outside`](crate::sets::Row::outside)).
//! - a [`Proof`](crate::certificate::Proof), if there is one, bounds ψ(t) for right and wrong multipliers, its
//!   row costs as much as its value must, and right ones lose nothing.
//!
//! Then on small models, s- and (s,a)-rectangular, with and without row weights: the drivers agree with each
//! other and with the policy's evaluation, the worst kernel lies in the set and attains the bound, no kernel
//! drawn from the set is worse, and certificates prove the bounds.
//!
//! Of a set without a price curve Euclidean steps are checked instead: each ends in the set, at the point nearest
//! to where it aimed, as seen from all points that others have led to.

/// Ends a check unless the law holds of what `$at` checks; the rest says with which numbers it does not.
macro_rules! law {
    ($at:expr, $law:expr, $right:expr, $($about:tt)+) => {
        let right: bool = $right; // false where a number is NaN
        if !right {
            return Err($at.violation($law, format!($($about)+)));
        }
    };
}

mod draw;
mod models;
mod proofs;
mod rows;
mod steps;
mod unlisted;

use std::fmt;

use crate::sets::Set;

/// How much was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Rows on which the laws of a row hold.
    pub rows: usize,
    /// Points y(t) on them that were compared with others.
    pub points: usize,
    /// Models that were solved.
    pub solved: usize,
    /// Kernels drawn from the sets of these models.
    pub kernels: usize,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { rows, points, solved, kernels } = self;
        write!(f, "{points} points on {rows} rows, {kernels} kernels of {solved} solved models")
    }
}

/// A law that does not hold, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The law.
    pub law: &'static str,
    /// The row or model, and the numbers that break it.
    pub place: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.law, self.place)
    }
}

impl std::error::Error for Violation {}

/// Checks a set.
///
/// ```
/// use robust_mdp::conformance::check;
/// use robust_mdp::sets::Distance;
///
/// for set in Distance::ALL.iter().filter_map(|distance| distance.set()) {
///     println!("{}: {}", set.name(), check(set)?);
/// }
/// # Ok::<(), robust_mdp::conformance::Violation>(())
/// ```
///
/// # Errors
/// The first law that does not hold.
pub fn check(set: &'static dyn Set) -> Result<Report, Violation> {
    let mut report = Report::default();
    match set.curve() {
        Some(curve) => {
            rows::check(curve, &mut report)?;
            unlisted::check(curve)?;
            proofs::check(curve)?;
            models::check(set, &mut report)?;
        }
        None => steps::check(set, &mut report)?,
    }
    Ok(report)
}
