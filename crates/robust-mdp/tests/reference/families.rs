//! The shared table of sets that tests go through, one line a set.
//!
//! A set with a closed-form path of its own (`ellipsoid.rs`, `kl.rs`) has no conjugate here. Any other
//! separable distance Σ_j δ(y_j, p_j) is known to the tests by its conjugate φ(h, p) = sup_y hy − δ(y, p)
//! and a maximiser y alone: see `conjugate.rs`.

use robust_mdp::sets::UncertaintySet;

/// φ(h, p) and a maximiser.
#[derive(Clone, Copy)]
pub(crate) struct Conjugate {
    pub(crate) value: fn(f64, f64) -> f64,
    pub(crate) argmax: fn(f64, f64) -> f64,
}

/// A set, and where it allows mass.
#[derive(Clone, Copy)]
pub(crate) struct Family {
    pub(crate) name: &'static str,
    pub(crate) set: fn() -> UncertaintySet,
    pub(crate) conjugate: Option<Conjugate>,
}

impl std::fmt::Debug for Family {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.name)
    }
}

impl PartialEq for Family {
    fn eq(&self, other: &Family) -> bool {
        self.name == other.name
    }
}

const fn closed(name: &'static str, set: fn() -> UncertaintySet) -> Family {
    Family { name, set, conjugate: None }
}

const fn by_conjugate(
    name: &'static str,
    set: fn() -> UncertaintySet,
    value: fn(f64, f64) -> f64,
    argmax: fn(f64, f64) -> f64,
) -> Family {
    Family { name, set, conjugate: Some(Conjugate { value, argmax }) }
}

#[rustfmt::skip]
pub(crate) const FAMILIES: &[Family] = &[
    closed("ellipsoid, all states", || UncertaintySet::ellipsoid(0.0)),
    closed("ellipsoid", || UncertaintySet::ellipsoid(0.0).on_nominal_support()),
    closed("KL", || UncertaintySet::kl(0.0)),
    by_conjugate("χ²", || UncertaintySet::chi2(0.0), |h, p| p * if h > -2.0 { h + 0.25 * h * h } else { -1.0 }, |h, p| p * (1.0 + 0.5 * h).max(0.0)),
    by_conjugate("L1, all states", || UncertaintySet::l1(0.0), |h, p| if h > 1.0 { f64::INFINITY } else { p * h.max(-1.0) }, |h, p| if h > 1.0 { f64::INFINITY } else if h < -1.0 { 0.0 } else { p }),
    by_conjugate("total variation", || UncertaintySet::total_variation(0.0).on_nominal_support(), |h, p| if h > 0.5 { f64::INFINITY } else { p * h.max(-0.5) }, |h, p| if h > 0.5 { f64::INFINITY } else if h < -0.5 { 0.0 } else { p }),
    by_conjugate("Burg, all states", || UncertaintySet::burg(0.0), |h, p| popped(h, p, -(-h).ln_1p()), |h, p| popped(h, p, 1.0 / (1.0 - h))),
    by_conjugate("Hellinger", || UncertaintySet::hellinger(0.0), |h, p| popped(h, p, h / (1.0 - h)), |h, p| popped(h, p, (1.0 - h).powi(-2))),
    by_conjugate("Neyman", || UncertaintySet::neyman(0.0), |h, p| popped(h, p, 2.0 * h / (1.0 + (1.0 - h).sqrt())), |h, p| popped(h, p, 1.0 / (1.0 - h).sqrt())),
];

/// p·`of`, where mass that pops up costs 1 a unit.
fn popped(h: f64, p: f64, of: f64) -> f64 {
    match p {
        _ if h < 1.0 => p * of,
        0.0 if h == 1.0 => 0.0,
        _ => f64::INFINITY,
    }
}

/// The conjugate of a set's distance.
pub(crate) fn conjugate_of(set: &UncertaintySet) -> Option<Conjugate> {
    let same = |family: &&Family| (family.set)().distance == set.distance;
    FAMILIES.iter().find(same).expect("a line of the table for every set").conjugate
}
