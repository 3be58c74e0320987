//! Burg, Hellinger and Neyman [within](crate::sets::within) intervals, as sums over entries with δ(p, p) = δ'(p, p) = 0:
//!   p ln(p/y) + y − p,  (√y − √p)²,  (y − p)²/y,   y = p/s, p/s², p/√s  with s = 1 − h.
//! An entry with p = 0 pays 1 a unit of mass: it has none below h = 1, and as much as there is room for above.

use crate::certificate::verify::lane::Lane;
use crate::certificate::{Interval, TINY, UNIT};
use crate::geometry::Geometry;
use crate::sets::proximal::{Prox, Separable};
use crate::sets::set::Set;
use crate::sets::within::{Entrywise, Within};
use crate::sets::{Distance, UncertaintySet, burg, hellinger, logarithm, neyman};

impl UncertaintySet {
    /// Σ_a Σy⁰_a ln(y⁰_a/y_a) ≤ radius in every state, within the model's intervals.
    pub fn burg_within_intervals(radius: f64) -> Self {
        UncertaintySet::new(Distance::BurgWithin, radius)
    }

    /// Σ_a Σ(√y_a − √y⁰_a)² ≤ radius in every state, within the model's intervals.
    pub fn hellinger_within_intervals(radius: f64) -> Self {
        UncertaintySet::new(Distance::HellingerWithin, radius)
    }

    /// Σ_a Σ(y_a − y⁰_a)²/y_a ≤ radius in every state, within the model's intervals.
    pub fn neyman_within_intervals(radius: f64) -> Self {
        UncertaintySet::new(Distance::NeymanWithin, radius)
    }
}

pub(in crate::sets) const BURG: Within<BurgEntry> = Within(BurgEntry);
pub(in crate::sets) const HELLINGER: Within<HellingerEntry> = Within(HellingerEntry);
pub(in crate::sets) const NEYMAN: Within<NeymanEntry> = Within(NeymanEntry);

/// The maximiser where p = 0.
fn popped(h: f64) -> (f64, f64) {
    (if h > 1.0 { f64::INFINITY } else { 0.0 }, 0.0)
}

/// φ(h) of the free entry is no number from h = 1 on; `of` has p > 0 and 1 − h > 0, rounded once.
fn below_one(h: f64, p: f64, of: impl Fn(Interval) -> Interval) -> f64 {
    let s = Interval::from(1.0) + -h;
    match p > 0.0 {
        true if s.lo() > TINY => of(s).hi(),
        false if h <= 1.0 => 0.0,
        _ => f64::INFINITY,
    }
}

/// δ and δ' = 1 of an entry with p = 0.
fn paid(y: f64) -> [Interval; 2] {
    [y.into(), 1.0.into()]
}

/// p ln(p/y) + y − p.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BurgEntry;

/// ln(1 + r) of an enclosed r > −1.
fn ln_1p(r: Interval) -> Interval {
    let lane = |x: f64| Lane { simd: pulp::Scalar::new(), x };
    let s = 1.0 + r.mid;
    let log = logarithm::ln_1p(lane(r.mid), lane(s)).x;
    // 1 + r is a rounding off where it is not near 1, and the slope is 1 over the lower end at most.
    let astray = r.rad + if r.mid.abs() < 0.25 { 0.0 } else { UNIT * s };
    let least = s - 2.0 * astray;
    let least = if least > f64::MIN_POSITIVE { least } else { f64::NAN };
    Interval { mid: log, rad: 1.01 * (11.0 * UNIT * log.abs() + astray / least) + TINY }
}

impl Entrywise for BurgEntry {
    const NAME: &'static str = "burg+interval";
    const TITLE: &'static str = "Burg within intervals";
    const FORMULA: &'static str = "Σ y⁰ ln(y⁰/y), l ≤ y ≤ u";
    const DEGREE: i32 = 1;
    const POPS: bool = true;
    const LEAPS: bool = true;

    fn ball(self) -> &'static dyn Set {
        &burg::Burg
    }

    fn best(self, h: f64, p: f64) -> (f64, f64) {
        let s = 1.0 - h;
        match p > 0.0 {
            true if s > 0.0 => (p / s, p / s / s),
            true => (f64::INFINITY, 0.0),
            false => popped(h),
        }
    }

    fn at(self, y: f64, p: f64) -> [f64; 2] {
        match p > 0.0 {
            true if y == p => [0.0; 2],
            true if y <= 0.0 => [f64::INFINITY, f64::NEG_INFINITY],
            true => {
                let near = 0.5 * p < y && y < 2.0 * p;
                let log = if near { ((y - p) / p).ln_1p() } else { (y / p).ln() };
                [(y - p) - p * log, (y - p) / y]
            }
            false => [y, 1.0],
        }
    }

    /// −p ln(1 − h).
    fn free(self, h: f64, p: f64, _: f64) -> f64 {
        below_one(h, p, |_| ln_1p((-h).into()) * -p)
    }

    fn least(self, p: f64) -> f64 {
        1e-260 * p
    }

    fn prox(self, geometry: Geometry) -> Option<&'static dyn Prox> {
        match geometry {
            Geometry::Euclidean => Some(&Separable(burg::Burg)),
            Geometry::Entropy => None,
        }
    }

    fn enclosed(self, y: f64, p: f64) -> [Interval; 2] {
        if p <= 0.0 {
            return paid(y);
        }
        if y == p {
            return [Interval::default(); 2];
        }
        let way = Interval::from(y) + -p;
        // r = (y − p)/p where that is above −½, else the logarithm of p/y.
        let log = match y > 0.5 * p {
            true => ln_1p(way / p),
            false => ln_1p(way * -1.0 / y) * -1.0,
        };
        [log * -p + way, way / y]
    }
}

/// (√y − √p)².
#[derive(Clone, Copy, Debug)]
pub(crate) struct HellingerEntry;

impl Entrywise for HellingerEntry {
    const NAME: &'static str = "hellinger+interval";
    const TITLE: &'static str = "Hellinger within intervals";
    const FORMULA: &'static str = "Σ (√y − √y⁰)², l ≤ y ≤ u";
    const DEGREE: i32 = 1;
    const POPS: bool = true;
    const LEAPS: bool = true;

    fn ball(self) -> &'static dyn Set {
        &hellinger::Hellinger
    }

    fn best(self, h: f64, p: f64) -> (f64, f64) {
        let s = 1.0 - h;
        match p > 0.0 {
            true if s > 0.0 => (p / s / s, 2.0 * (p / s / s / s)),
            true => (f64::INFINITY, 0.0),
            false => popped(h),
        }
    }

    fn at(self, y: f64, p: f64) -> [f64; 2] {
        match p > 0.0 {
            true if y == p => [0.0; 2],
            true => {
                let root = (y - p) / (y.sqrt() + p.sqrt());
                [root * root, if y > 0.0 { root / y.sqrt() } else { f64::NEG_INFINITY }]
            }
            false => [y, 1.0],
        }
    }

    /// ph/(1 − h).
    fn free(self, h: f64, p: f64, _: f64) -> f64 {
        below_one(h, p, |s| Interval::from(h) * p / s)
    }

    fn least(self, p: f64) -> f64 {
        1e-260 * p
    }

    fn prox(self, geometry: Geometry) -> Option<&'static dyn Prox> {
        match geometry {
            Geometry::Euclidean => Some(&Separable(hellinger::Hellinger)),
            Geometry::Entropy => None,
        }
    }

    /// √y − √p = (y − p)/(√y + √p), the roots and their sum off by a rounding each.
    fn enclosed(self, y: f64, p: f64) -> [Interval; 2] {
        if p <= 0.0 {
            return paid(y);
        }
        if y == p {
            return [Interval::default(); 2];
        }
        let sum = y.sqrt() + p.sqrt();
        let apart = (Interval::from(y) + -p) / Interval { mid: sum, rad: 2.1 * UNIT * sum };
        let root = Interval { mid: y.sqrt(), rad: 1.1 * UNIT * y.sqrt() };
        let price = apart.mid * apart.mid;
        let rad = 2.1 * apart.mid.abs() * apart.rad + 1.1 * apart.rad * apart.rad;
        let price = Interval { mid: price, rad: rad + 2.0 * UNIT * price + TINY };
        match y > 0.0 {
            true => [price, apart / root],
            false => [price, Interval { mid: f64::NEG_INFINITY, rad: 0.0 }],
        }
    }
}

/// (y − p)²/y.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NeymanEntry;

impl Entrywise for NeymanEntry {
    const NAME: &'static str = "neyman+interval";
    const TITLE: &'static str = "Neyman within intervals";
    const FORMULA: &'static str = "Σ (y − y⁰)²/y, l ≤ y ≤ u";
    const DEGREE: i32 = 1;
    const POPS: bool = true;
    const LEAPS: bool = true;

    fn ball(self) -> &'static dyn Set {
        &neyman::Neyman
    }

    fn best(self, h: f64, p: f64) -> (f64, f64) {
        let s = 1.0 - h;
        match p > 0.0 {
            true if s > 0.0 => (p / s.sqrt(), 0.5 * (p / s.sqrt() / s)),
            true => (f64::INFINITY, 0.0),
            false => popped(h),
        }
    }

    fn at(self, y: f64, p: f64) -> [f64; 2] {
        match p > 0.0 {
            true if y == p => [0.0; 2],
            true if y <= 0.0 => [f64::INFINITY, f64::NEG_INFINITY],
            true => {
                let way = (y - p) / y;
                [(y - p) * way, way * (1.0 + p / y)]
            }
            false => [y, 1.0],
        }
    }

    /// 2ph/(1 + √(1 − h)).
    fn free(self, h: f64, p: f64, _: f64) -> f64 {
        below_one(h, p, |s| {
            let root = s.mid.sqrt();
            let sum = Interval { mid: 1.0 + root, rad: 4.0 * UNIT * (1.0 + root) };
            Interval::from(h) * p * 2.0 / sum
        })
    }

    fn least(self, p: f64) -> f64 {
        1e-140 * p
    }

    fn prox(self, geometry: Geometry) -> Option<&'static dyn Prox> {
        match geometry {
            Geometry::Euclidean => Some(&Separable(neyman::Neyman)),
            Geometry::Entropy => None,
        }
    }

    fn enclosed(self, y: f64, p: f64) -> [Interval; 2] {
        if p <= 0.0 {
            return paid(y);
        }
        if y == p {
            return [Interval::default(); 2];
        }
        let apart = Interval::from(y) + -p;
        let share = apart / y;
        // (y − p)·(y − p)/y, and (1 + p/y)(y − p)/y.
        let times = |x: Interval| {
            let rad = share.size() * x.rad + share.rad * x.size();
            Interval {
                mid: share.mid * x.mid,
                rad: 1.01 * (rad + UNIT * (share.mid * x.mid).abs()) + TINY,
            }
        };
        [times(apart), times(Interval::from(p) / y + 1.0)]
    }
}
