use super::operator::Operator;
use crate::error::Error;
use crate::solve::{Problem, Run, Status};
pub(crate) fn run(
    _problem: &Problem<'_>,
    _operator: Operator<'_>,
    _run: &mut Run<'_>,
) -> Result<Status, Error> {
    Err(Error::Input("total".into()))
}
