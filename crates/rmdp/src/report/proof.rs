//! Certificates of the results, verified for the page: what alone it calls proved.

use std::path::PathBuf;

use robust_mdp::{Certificate, Verified, verify};

use super::solved::Solved;
use crate::failure::Failure;
use crate::model::NamedModel;
use crate::question::Question;
use crate::verify::unread;

/// Weights of a policy that differ by less are the same.
const ROUNDING: f64 = 1e-12;

/// Whether each result's bounds are proved by one of the certificates, each of which must prove those of
/// one.
pub(super) fn of_all(
    paths: &[PathBuf],
    results: &[Solved],
    source: &NamedModel,
    threads: Option<usize>,
) -> Result<Vec<bool>, Failure> {
    let mut proved = vec![false; results.len()];
    for path in paths {
        let certificate = Certificate::read(path, &source.model).map_err(unread)?;
        let verified = verify(&source.model, &certificate, threads)
            .map_err(|rejection| Failure::rejected(&rejection))?;
        let mut found = false;
        for (result, proved) in results.iter().zip(&mut proved) {
            if proves(&certificate, &verified, result, source)? {
                (*proved, found) = (true, true);
            }
        }
        if !found {
            return Err(Failure::usage(format!(
                "{}: holds, but proves none of the results: another set or policy, or wider bounds",
                path.display()
            ))
            .hint("--json and --certificate of the same `rmdp solve` belong together"));
        }
    }
    Ok(proved)
}

/// Whether the certificate is about the result's set and policy and proves all bounds that the page shows:
/// of every state, at the initial distribution, and of the gap.
fn proves(
    certificate: &Certificate,
    verified: &Verified,
    result: &Solved,
    source: &NamedModel,
) -> Result<bool, Failure> {
    let file = &result.file;
    let set = result.set(&source.model)?;
    let mut weights = result.policy();
    certificate.policy.iter().for_each(|x| weights[x.row as usize] -= x.probability);
    Ok(certificate.expect_set(&set).is_ok()
        && Question::of(certificate) == result.question
        && weights.iter().all(|x| x.abs() <= ROUNDING)
        && verified.lower.iter().zip(&file.lower).all(|(proved, said)| proved >= said)
        && verified.upper.iter().zip(&file.upper).all(|(proved, said)| proved <= said)
        && verified.initial.0 >= file.value.lower
        && verified.initial.1 <= file.value.upper
        && verified.gap <= file.gap)
}
