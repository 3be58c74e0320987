//! Value iteration: v⁺ = F(v).

use super::course::{Course, Loop};
use crate::codec::{Codec, Snapshot};

pub(super) struct ValueIteration;

impl Loop for ValueIteration {
    fn advance(&mut self, course: &mut Course<'_, '_, '_>) {
        course.step();
    }
}

impl Snapshot for ValueIteration {
    fn visit_fields(&mut self, _: &mut Codec<'_>) {}
}
