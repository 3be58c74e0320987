//! What a certificate claims, beside what it proves.

use super::rejection::{Rejection, Shortfall};
use super::verify::{Proved, prove};
use super::{Certificate, check};
use crate::error::Label;
use crate::model::Model;

/// What a certificate proves: lower ≤ v* ≤ v^x ≤ upper, in the model's own sign (for rewards, the
/// policy's worst case is at least `lower` and no policy's is above `upper`).
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// Lower bounds, one a state.
    pub lower: Vec<f64>,
    /// Upper bounds, one a state.
    pub upper: Vec<f64>,
    /// Bounds at the initial distribution: (lower, upper).
    pub initial: (f64, f64),
    /// At least the largest upper − lower over states, and over the steps of a finite horizon.
    pub gap: f64,
    /// (lower, upper) of the steps of a finite horizon after the first.
    pub stages: Vec<(Vec<f64>, Vec<f64>)>,
}

/// Checks a certificate against a model; the answer does not depend on the number of `threads`.
///
/// Nothing that the certificate says is trusted: the bounds are computed again from its values and
/// multipliers, with every rounding counted, and those it claims must not be narrower.
pub fn verify(
    model: &Model,
    certificate: &Certificate,
    threads: Option<usize>,
) -> Result<Verified, Rejection> {
    check::alike(model, certificate)?;
    match prove(model, certificate, threads, true) {
        Ok((proved, fingerprint)) => {
            check::same(certificate, fingerprint)?;
            proved.claimed(model, certificate)
        }
        // About another model it would say little.
        Err(rejection) => {
            let fingerprint = model.fingerprint_at(certificate.discount);
            check::same(certificate, fingerprint).and(Err(rejection))
        }
    }
}

impl Proved {
    /// The bounds, if they are as narrow as the certificate claims.
    fn claimed(self, model: &Model, certificate: &Certificate) -> Result<Verified, Rejection> {
        let Proved { verified, above, below, .. } = self;
        let claim = &certificate.claim;
        let ((low, high), gap) = (verified.initial, verified.gap);
        // Comparisons that fail on NaN.
        if low >= claim.lower && high <= claim.upper && gap <= claim.gap {
            return Ok(verified);
        }
        Err(Rejection::Claim(Box::new(Shortfall {
            claimed: (claim.lower, claim.upper, claim.gap),
            proved: (low, high, gap),
            above: above.map(|(s, x)| (x.above, label(model, s))),
            below: below
                .map(|(s, x)| (x.below, label(model, s), model.action_name(s, x.row).into())),
        })))
    }
}

pub(super) fn label(model: &Model, s: usize) -> Label {
    let name = model.state_names.as_ref().map(|names| names[s].as_str().into());
    Label { index: s, name }
}
