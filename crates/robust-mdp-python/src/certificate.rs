//! Certificates, which Python holds as bytes.

use numpy::PyArray1;
use pyo3::prelude::*;
use robust_mdp::Certificate;

use crate::background::{self, run_quietly};
use crate::errors::rejected;
use crate::model::Model;

type Array<'py> = Bound<'py, PyArray1<f64>>;

/// Lower and upper bounds that the certificate proves, those at p₀, and the gap.
#[pyfunction]
#[pyo3(signature = (model, certificate, threads))]
pub(crate) fn verify<'py>(
    py: Python<'py>,
    model: &Model,
    certificate: &[u8],
    threads: Option<usize>,
) -> PyResult<(Array<'py>, Array<'py>, (f64, f64), f64)> {
    let (model, threads) = (model.model.clone(), background::threads(threads));
    let bytes = certificate.to_vec();
    let job = move || {
        let certificate = Certificate::from_bytes(&bytes, &model)?;
        robust_mdp::verify(&model, &certificate, threads)
    };
    let proved = run_quietly(py, job)?.map_err(rejected)?;
    let (lower, upper) =
        (PyArray1::from_vec(py, proved.lower), PyArray1::from_vec(py, proved.upper));
    Ok((lower, upper, proved.initial, proved.gap))
}
