//! Scenarios: the kernels of other models, one a file.

use std::path::Path;

use super::source::Source;
use super::{ReadOptions, parse_error, read_model_file};
use crate::error::Error;
use crate::model::Model;
use crate::sets::Scenarios;

/// Reads models of the same states and actions, of any format, whose rows lead where those of `model` do, and takes
/// their kernels. Of costs and discount factors they say nothing.
pub fn read_scenarios(paths: &[impl AsRef<Path>], model: &Model) -> Result<Scenarios, Error> {
    let mut kernels = Vec::new();
    for path in paths.iter().map(AsRef::as_ref) {
        let options = ReadOptions { discount: Some(model.discount()), ..ReadOptions::default() };
        let other = read_model_file(Source::from(path), &options)?.model;
        let kernel = Scenarios::aligned(model, &other);
        kernels.push(kernel.map_err(|message| parse_error(path, None, message))?);
    }
    Scenarios::new(model, &kernels)
}
