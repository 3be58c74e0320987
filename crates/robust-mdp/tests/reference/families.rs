//! The shared table of sets that tests go through, and how the reference knows each, one line a set.

use robust_mdp::Oracle;
use robust_mdp::sets::{Distance, UncertaintySet};

use super::boxes::{self, Move};
use super::conjugate::Conjugate;
use super::entry::Entry;

/// What the reference knows of a distance.
#[derive(Clone, Copy)]
pub(crate) enum Known {
    /// The path of a row in closed form (`ellipsoid.rs`, `kl.rs`).
    Path,
    /// A sum over entries, by the conjugate of each.
    Sum(Conjugate),
    /// Such a sum within the model's intervals, and whether entries with p = 0 may move.
    SumWithin(Conjugate, bool),
    /// A box that grows with the price (`boxes.rs`).
    Box(fn(&Entry, f64) -> Move),
    /// Mass that moves between places.
    Transport,
    /// The share of the way to the worst of some rows.
    Hull,
}

impl Known {
    /// Whether updates take a thousand times as long as those of paths.
    pub(crate) fn is_slow(self) -> bool {
        !matches!(self, Known::Path)
    }

    /// Whether intervals or scenarios may open entries with p = 0.
    pub(crate) fn opens(self, distance: Distance) -> bool {
        self.within(distance) == Some(true) || matches!(self, Known::Hull)
    }

    /// Whether rows stay within the model's intervals; if so, whether entries with p = 0 may move.
    pub(super) fn within(self, distance: Distance) -> Option<bool> {
        match self {
            Known::SumWithin(_, opens) => Some(opens),
            Known::Box(_) => matches!(distance, Distance::Interval).then_some(true),
            Known::Path | Known::Sum(_) | Known::Transport | Known::Hull => None,
        }
    }
}

/// A set, and where it allows mass.
#[derive(Clone, Copy)]
pub(crate) struct Family {
    pub(crate) name: &'static str,
    /// Without what it is told of entries.
    pub(crate) set: fn() -> UncertaintySet,
    pub(crate) known: Known,
}

impl Family {
    /// Whether the oracle takes the set.
    pub(crate) fn takes(&self, oracle: Oracle) -> bool {
        let Some(set) = (self.set)().distance.set() else { return true };
        match oracle {
            Oracle::Exact => true,
            Oracle::FirstOrder => set.prox(set.geometry()).is_some(),
            Oracle::InteriorPoint => set.cone().is_some(),
        }
    }

    /// How many cases to try, of `most`: where the reference is slow, a sixth.
    pub(crate) fn share(&self, most: u64) -> u64 {
        if self.known.is_slow() { most.div_ceil(6) } else { most }
    }
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

const fn path(name: &'static str, set: fn() -> UncertaintySet) -> Family {
    Family { name, set, known: Known::Path }
}

/// From φ(h, p) = sup_y hy − δ(y, p) and a maximiser y.
const fn sum(
    name: &'static str,
    set: fn() -> UncertaintySet,
    value: fn(f64, &Entry) -> f64,
    argmax: fn(f64, &Entry) -> f64,
) -> Family {
    Family { name, set, known: Known::Sum(Conjugate { value, argmax }) }
}

/// From δ(y, p) and the maximiser of hy − δ(y, p) over all y.
const fn within(
    name: &'static str,
    set: fn() -> UncertaintySet,
    opens: bool,
    value: fn(f64, &Entry) -> f64,
    argmax: fn(f64, &Entry) -> f64,
) -> Family {
    Family { name, set, known: Known::SumWithin(Conjugate { value, argmax }, opens) }
}

const fn grows(
    name: &'static str,
    set: fn() -> UncertaintySet,
    of: fn(&Entry, f64) -> Move,
) -> Family {
    Family { name, set, known: Known::Box(of) }
}

fn alone(distance: Distance) -> UncertaintySet {
    UncertaintySet::new(distance, 0.0)
}

#[rustfmt::skip]
pub(crate) const FAMILIES: &[Family] = &[
    path("ellipsoid, all states", || UncertaintySet::ellipsoid(0.0)),
    path("ellipsoid", || UncertaintySet::ellipsoid(0.0).on_nominal_support()),
    path("KL", || UncertaintySet::kl(0.0)),
    sum("χ²", || UncertaintySet::chi2(0.0), |h, e| e.p * if h > -2.0 { h + 0.25 * h * h } else { -1.0 }, |h, e| e.p * (1.0 + 0.5 * h).max(0.0)),
    sum("L1, all states", || UncertaintySet::l1(0.0), |h, e| norm(h, e, e.weight, e.p * h.max(-e.weight)), |h, e| norm(h, e, e.weight, if h < -e.weight { 0.0 } else { e.p })),
    sum("total variation", || UncertaintySet::total_variation(0.0).on_nominal_support(), |h, e| norm(h, e, 0.5, e.p * h.max(-0.5)), |h, e| norm(h, e, 0.5, if h < -0.5 { 0.0 } else { e.p })),
    sum("Burg, all states", || UncertaintySet::burg(0.0), |h, e| popped(h, e, -(-h).ln_1p()), |h, e| popped(h, e, 1.0 / (1.0 - h))),
    sum("Hellinger", || UncertaintySet::hellinger(0.0), |h, e| popped(h, e, h / (1.0 - h)), |h, e| popped(h, e, (1.0 - h).powi(-2))),
    sum("Neyman", || UncertaintySet::neyman(0.0), |h, e| popped(h, e, 2.0 * h / (1.0 + (1.0 - h).sqrt())), |h, e| popped(h, e, 1.0 / (1.0 - h).sqrt())),
    sum("L2, all states", || alone(Distance::L2), |h, e| if e.p + h / e.weight > 0.0 { h * (e.p + 0.5 * h / e.weight) } else { -0.5 * e.weight * e.p * e.p }, |h, e| (e.p + h / e.weight).max(0.0)),
    grows("L∞, all states", || alone(Distance::Linf), boxes::sides),
    grows("L∞", || alone(Distance::Linf).on_nominal_support(), boxes::sides),
    grows("contamination, all states", || alone(Distance::Contamination), boxes::share),
    grows("CVaR", || alone(Distance::Cvar).per_action(), boxes::ratio),
    Family { name: "Wasserstein, all states", set: || alone(Distance::Wasserstein), known: Known::Transport },
    Family { name: "Wasserstein", set: || alone(Distance::Wasserstein).on_nominal_support(), known: Known::Transport },
    grows("intervals", || alone(Distance::Interval), boxes::way),
    within("ellipsoid within intervals", || alone(Distance::EllipsoidWithin), true, |y, e| 0.5 * (y - e.p) * (y - e.p), |h, e| e.p + h),
    within("KL within intervals", || alone(Distance::KlWithin), false, entropy, |h, e| e.p * h.exp()),
    within("χ² within intervals", || alone(Distance::Chi2Within), false, |y, e| if y == e.p { 0.0 } else { (y - e.p) * (y - e.p) / e.p }, |h, e| e.p * (1.0 + 0.5 * h)),
    within("L1 within intervals", || alone(Distance::L1Within), true, |y, e| (y - e.p).abs(), |h, e| kinked(h, e, [1.0; 2])),
    within("number of deviations within intervals", || alone(Distance::CountWithin), true, rooms_used, |h, e| kinked(h, e, rooms(e).map(|room| 1.0 / room))),
    within("Burg within intervals", || alone(Distance::BurgWithin), true, likelihood, |h, e| popping(h, e, 1.0 / (1.0 - h))),
    within("Hellinger within intervals", || alone(Distance::HellingerWithin), true, |y, e| if y == e.p { 0.0 } else { ((y - e.p) / (y.sqrt() + e.p.sqrt())).powi(2) }, |h, e| popping(h, e, (1.0 - h).powi(-2))),
    within("Neyman within intervals", || alone(Distance::NeymanWithin), true, |y, e| if y == e.p { 0.0 } else { (y - e.p) / y * (y - e.p) }, |h, e| popping(h, e, 1.0 / (1.0 - h).sqrt())),
    Family { name: "scenarios", set: || alone(Distance::Scenarios), known: Known::Hull },
];

/// p·`of` below h = 1, from where on there is no end.
fn popping(h: f64, e: &Entry, of: f64) -> f64 {
    match e.p {
        p if h < 1.0 => p * of,
        0.0 if h == 1.0 => 0.0,
        _ => f64::INFINITY,
    }
}

/// p ln(p/y) + y − p, which loses no digits near y = p.
fn likelihood(y: f64, e: &Entry) -> f64 {
    let p = e.p;
    if p == 0.0 {
        return y;
    }
    // With r = y/p − 1: p(r − ln(1 + r)) = p·r²(1/2 − r/3 + r²/4 − …).
    let r = (y - p) / p;
    match r.abs() < 1e-3 {
        true => p * r * r * (0.5 - r * (1.0 / 3.0 - r * (0.25 - r * (0.2 - r / 6.0)))),
        false if r < -0.5 => (y - p) - p * (y / p).ln(),
        false => (y - p) - p * r.ln_1p(),
    }
}

/// u − p and p − l.
fn rooms(e: &Entry) -> [f64; 2] {
    [e.upper - e.p, e.p - e.lower]
}

/// The share of the way to the end of the interval.
fn rooms_used(y: f64, e: &Entry) -> f64 {
    let [up, down] = rooms(e);
    match y - e.p {
        0.0 => 0.0,
        way if way > 0.0 => way / up,
        way => -way / down,
    }
}

/// Where moving up and down costs so much a unit of mass.
fn kinked(h: f64, e: &Entry, [up, down]: [f64; 2]) -> f64 {
    match h {
        h if h > up => f64::INFINITY,
        h if h < -down => f64::NEG_INFINITY,
        _ => e.p,
    }
}

/// `of`, where an entry takes no more than its weight.
fn norm(h: f64, _: &Entry, weight: f64, of: f64) -> f64 {
    if h > weight { f64::INFINITY } else { of }
}

/// p·`of`, where mass that pops up costs 1 a unit.
fn popped(h: f64, e: &Entry, of: f64) -> f64 {
    match e.p {
        p if h < 1.0 => p * of,
        0.0 if h == 1.0 => 0.0,
        _ => f64::INFINITY,
    }
}

/// y ln(y/p) − (y − p), which loses no digits near y = p.
pub(super) fn entropy(y: f64, e: &Entry) -> f64 {
    let p = e.p;
    if y <= 0.0 {
        return p;
    }
    // With r = y/p − 1: p((1 + r)ln(1 + r) − r) = p·r²(1/2 − r/6 + r²/12 − …).
    let r = (y - p) / p;
    match r.abs() < 1e-3 {
        true => p * r * r * (0.5 - r * (1.0 / 6.0 - r * (1.0 / 12.0 - r * (0.05 - r / 30.0)))),
        false if r < -0.5 => y * (y / p).ln() - (y - p),
        false => y * r.ln_1p() - (y - p),
    }
}

/// What the reference knows of a set's distance.
pub(crate) fn known(set: &UncertaintySet) -> Known {
    if set.distance == Distance::None {
        return Known::Path;
    }
    let same = |family: &&Family| (family.set)().distance == set.distance;
    FAMILIES.iter().find(same).expect("a line of the table for every set").known
}
