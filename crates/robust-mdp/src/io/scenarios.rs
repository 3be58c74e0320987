//! Scenarios: the kernels of other models, one a file.

use std::path::Path;

use super::source::Source;
use super::{ReadOptions, parse_error, read_model_file};
use crate::error::Error;
use crate::model::Model;
use crate::sets::Scenarios;

/// Reads models of the same states and actions, of any format, whose rows lead where those of `model` do, and takes
/// their kernels, with what the readers took for granted. Of costs and discount factors they say nothing.
pub fn read_scenarios(
    paths: &[impl AsRef<Path>],
    model: &Model,
) -> Result<(Scenarios, Vec<String>), Error> {
    let (mut kernels, mut warnings) = (Vec::new(), Vec::new());
    for path in paths.iter().map(AsRef::as_ref) {
        let options = ReadOptions { discount: Some(model.discount()), ..ReadOptions::default() };
        let file = read_model_file(Source::from(path), &options)?;
        let wrong = |message: String| parse_error(path, None, message);
        let several = [
            ("outcomes", file.outcomes.is_some()),
            ("intervals of probabilities", file.model.has_intervals()),
        ];
        if let Some((what, _)) = several.iter().find(|(_, has)| *has) {
            return Err(wrong(format!("a model with {what}, expected one kernel a scenario")));
        }
        kernels.push(Scenarios::aligned(model, &file.model).map_err(wrong)?);
        warnings.extend(file.warnings.iter().map(|text| format!("{}: {text}", path.display())));
    }
    Ok((Scenarios::new(model, &kernels)?, warnings))
}
