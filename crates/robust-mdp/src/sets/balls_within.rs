//! The distances that may be taken [within](super::within) intervals, entry by entry.

use super::exponential::{self, EXP_ERROR};
use super::proximal::omega::KlEuclidean;
use super::proximal::{Plain, Prox, Separable};
use super::set::Set;
use super::within::{Entrywise, Within};
use super::{Distance, UncertaintySet, chi2, ellipsoid, kl, l2};
use crate::certificate::verify::lane::Lane;
use crate::certificate::{Interval, TINY, UNIT};
use crate::geometry::Geometry;

impl UncertaintySet {
    /// Σ_a ½‖y_a − y⁰_a‖₂² ≤ radius in every state, within the model's intervals.
    pub fn ellipsoid_within_intervals(radius: f64) -> Self {
        UncertaintySet::new(Distance::EllipsoidWithin, radius)
    }

    /// Σ_a KL(y_a‖y⁰_a) ≤ radius in every state, within the model's intervals.
    pub fn kl_within_intervals(radius: f64) -> Self {
        UncertaintySet::new(Distance::KlWithin, radius)
    }

    /// Σ_a Σ (y_a − y⁰_a)²/y⁰_a ≤ radius in every state, within the model's intervals.
    pub fn chi2_within_intervals(radius: f64) -> Self {
        UncertaintySet::new(Distance::Chi2Within, radius)
    }
}

pub(super) const ELLIPSOID: Within<EllipsoidEntry> = Within(EllipsoidEntry);
pub(super) const KL: Within<KlEntry> = Within(KlEntry);
pub(super) const CHI2: Within<Chi2Entry> = Within(Chi2Entry);

/// ½(y − p)².
#[derive(Clone, Copy, Debug)]
pub(crate) struct EllipsoidEntry;

impl Entrywise for EllipsoidEntry {
    const NAME: &'static str = "ellipsoid+interval";
    const TITLE: &'static str = "ellipsoid within intervals";
    const FORMULA: &'static str = "½‖y − y⁰‖₂², l ≤ y ≤ u";
    const DEGREE: i32 = 2;
    const CURVED: bool = true;
    const POPS: bool = true;

    fn ball(self) -> &'static dyn Set {
        &ellipsoid::Ellipsoid
    }

    fn best(self, h: f64, p: f64) -> (f64, f64) {
        (p + h, 1.0)
    }

    fn at(self, y: f64, p: f64) -> [f64; 2] {
        [0.5 * (y - p) * (y - p), y - p]
    }

    fn enclosed(self, y: f64, p: f64) -> [Interval; 2] {
        let apart = Interval::from(y) + -p;
        [square(apart) * 0.5, apart]
    }

    fn free(self, h: f64, p: f64, c: f64) -> f64 {
        (Interval::from(h) * p + square(h.into()) * 0.5 / c).hi()
    }

    fn prox(self, geometry: Geometry) -> Option<&'static dyn Prox> {
        match geometry {
            Geometry::Euclidean => Some(&Separable(l2::L2)),
            Geometry::Entropy => None,
        }
    }
}

/// (y − p)²/p, which keeps to p > 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chi2Entry;

impl Entrywise for Chi2Entry {
    const NAME: &'static str = "chi2+interval";
    const TITLE: &'static str = "χ² within intervals";
    const FORMULA: &'static str = "Σ (y − y⁰)²/y⁰, l ≤ y ≤ u";
    const DEGREE: i32 = 2;

    fn ball(self) -> &'static dyn Set {
        &chi2::Chi2
    }

    fn best(self, h: f64, p: f64) -> (f64, f64) {
        (p * (1.0 + 0.5 * h), 0.5 * p)
    }

    fn at(self, y: f64, p: f64) -> [f64; 2] {
        if y == p {
            return [0.0; 2];
        }
        if p > 0.0 { [(y - p) * ((y - p) / p), 2.0 * ((y - p) / p)] } else { [f64::INFINITY; 2] }
    }

    fn enclosed(self, y: f64, p: f64) -> [Interval; 2] {
        if y == p {
            return [Interval::default(); 2];
        }
        let apart = Interval::from(y) + -p;
        [square(apart) / p, apart * 2.0 / p]
    }

    fn free(self, h: f64, p: f64, _: f64) -> f64 {
        ((square(h.into()) * 0.25 + h) * p).hi()
    }

    fn prox(self, geometry: Geometry) -> Option<&'static dyn Prox> {
        match geometry {
            Geometry::Euclidean => Some(&Separable(chi2::Chi2)),
            Geometry::Entropy => None,
        }
    }
}

/// y ln(y/p) − (y − p), whose second part sums to zero; it keeps to p > 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KlEntry;

impl Entrywise for KlEntry {
    const NAME: &'static str = "kl+interval";
    const TITLE: &'static str = "KL within intervals";
    const FORMULA: &'static str = "KL(y‖y⁰), l ≤ y ≤ u";
    const DEGREE: i32 = 1;

    fn ball(self) -> &'static dyn Set {
        &kl::Kl
    }

    fn best(self, h: f64, p: f64) -> (f64, f64) {
        let y = p * h.min(exponential::LIMIT).exp();
        (y, y)
    }

    fn at(self, y: f64, p: f64) -> [f64; 2] {
        if y == p {
            return [0.0; 2];
        }
        if p <= 0.0 {
            return [f64::INFINITY; 2];
        }
        let log = if y > 0.5 * p { ((y - p) / p).ln_1p() } else { (y / p).ln() };
        [if y > 0.0 { y * log - (y - p) } else { p }, log]
    }

    /// p(e^h − 1).
    fn free(self, h: f64, p: f64, _: f64) -> f64 {
        let lane = |x: f64| Lane { simd: pulp::Scalar, x };
        let (moved, _, at) = exponential::exp(lane(p), lane(h));
        let rad = 1.01 * EXP_ERROR * UNIT * moved.x.abs() + TINY;
        if at.x == h { Interval { mid: moved.x, rad }.hi() } else { f64::INFINITY }
    }

    fn least(self, p: f64) -> f64 {
        // Far above what underflows, of tiny p too.
        if p > 0.0 { (1e-260 * p).max(1e-280) } else { 0.0 }
    }

    fn prox(self, geometry: Geometry) -> Option<&'static dyn Prox> {
        match geometry {
            Geometry::Euclidean => Some(&Separable(Plain(KlEuclidean))),
            Geometry::Entropy => None,
        }
    }

    /// With L about ln(y/p) and e = pe^L, proven: L + 1 − e/y ≤ ln(y/p) ≤ L − 1 + y/e.
    fn enclosed(self, y: f64, p: f64) -> [Interval; 2] {
        if y == p {
            return [Interval::default(); 2];
        }
        // δ is p at y = 0, and |y ln(y/p) − y| away from there.
        if y < self.least(p) {
            return [
                Interval { mid: p, rad: 1e-250 * p + 1e-270 },
                Interval { mid: f64::NEG_INFINITY, rad: 0.0 },
            ];
        }
        let [_, log] = self.at(y, p);
        let lane = |x: f64| Lane { simd: pulp::Scalar, x };
        let (moved, whole, at) = exponential::exp(lane(p), lane(log));
        if at.x != log {
            return [Interval { mid: f64::NAN, rad: f64::NAN }; 2];
        }
        // y − pe^L: of small L from y − p and pe^L − p, which keep its digits.
        let of = |x: f64| Interval { mid: x, rad: 1.01 * EXP_ERROR * UNIT * x.abs() + TINY };
        let near = (Interval::from(y) + -p) + of(moved.x) * -1.0;
        let far = of(whole.x) * -1.0 + y;
        let apart = near.size().min(far.size());
        let share = apart / (whole.x * (1.0 - 2.0 * EXP_ERROR * UNIT)).min(y);
        let slope = Interval { mid: log, rad: 1.01 * share + TINY };
        // y·ln(y/p) − (y − p), off by y times that of the logarithm.
        let price = slope * y + (Interval::from(y) + -p) * -1.0;
        [price, slope]
    }
}

fn square(x: Interval) -> Interval {
    let rad = 2.1 * x.mid.abs() * x.rad + 1.1 * x.rad * x.rad + 2.0 * UNIT * x.mid * x.mid + TINY;
    Interval { mid: x.mid * x.mid, rad }
}
