//! What a set offers, as its file says: the support table of the README is made of this.

use super::{Distance, Needs, Rectangularity, Support};
use crate::geometry::Geometry;
use crate::solve::Oracle;

/// What can be asked of a set.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// Who may own budgets; the first one does unless said.
    pub rectangularities: Vec<Rectangularity>,
    /// Where mass may go; the first one holds unless said.
    pub supports: Vec<Support>,
    /// What solves the game of a state.
    pub oracles: Vec<Oracle>,
    /// Geometries of first-order steps of the kernel, the default first.
    pub geometries: Vec<Geometry>,
    /// What it is told of entries.
    pub needs: Needs,
    /// Whether its solutions have certificates.
    pub certificate: bool,
}

impl Distance {
    /// What the set offers; `None`: the nominal model.
    pub fn offer(self) -> Option<Offer> {
        let set = self.set()?;
        let rectangularities = [Rectangularity::State, Rectangularity::StateAction].into_iter();
        let mut rectangularities: Vec<_> = rectangularities
            .filter(|&owner| owner == Rectangularity::StateAction || set.adds_up())
            .collect();
        rectangularities.sort_by_key(|&owner| owner != set.rectangularity());
        let mut geometries = vec![Geometry::Euclidean, Geometry::Entropy];
        geometries.retain(|&geometry| set.prox(geometry).is_some());
        geometries.sort_by_key(|&geometry| geometry != set.geometry());
        let oracles = [
            (Oracle::Exact, true),
            (Oracle::FirstOrder, !geometries.is_empty()),
            (Oracle::InteriorPoint, set.cone().is_some()),
        ];
        Some(Offer {
            rectangularities,
            supports: match set.leaves_support() {
                true => vec![Support::All, Support::Nominal],
                false => vec![Support::Nominal],
            },
            oracles: oracles
                .into_iter()
                .filter(|(_, has)| *has)
                .map(|(oracle, _)| oracle)
                .collect(),
            geometries,
            needs: set.needs(),
            certificate: set.proof().is_some(),
        })
    }
}
