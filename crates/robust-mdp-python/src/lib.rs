//! The Rust half of the Python package `robust_mdp`: models, solves and certificates behind a small
//! module `_native`. Everything that people see is in the Python half, `python/robust_mdp`.

mod background;
mod certificate;
mod checkpoint;
mod errors;
mod evaluate;
mod instances;
mod lists;
mod model;
mod names;
mod rows;
mod set;
mod solution;
mod solve;
mod sweep;

/// The module that Python imports.
#[pyo3::pymodule]
mod _native {
    use pyo3::prelude::*;

    /// Whoever raises a `ModelError` need not know where.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let error = module.py().get_type::<ModelError>();
        error.setattr("state", None::<usize>)?;
        error.setattr("action", None::<usize>)
    }

    #[pymodule_export]
    use crate::background::after_fork;
    #[pymodule_export]
    use crate::certificate::verify;
    #[pymodule_export]
    use crate::errors::{CertificateError, ModelError};
    #[pymodule_export]
    use crate::evaluate::{best_kernel, evaluate, worst_kernel};
    #[pymodule_export]
    use crate::instances::{calibrate, garnet, healthcare, machine};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::set::{UncertaintySet, sets};
    #[pymodule_export]
    use crate::solution::Solution;
    #[pymodule_export]
    use crate::solve::{solve, time_solve};
    #[pymodule_export]
    use crate::sweep::sweep_radius;
}
