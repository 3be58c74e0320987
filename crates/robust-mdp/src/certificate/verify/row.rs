//! One row of the model at given values: its nominal value, its share of the dual bound, and the
//! kernel that a multiplier stands for. Every result contains the exact one.
//!
//! Objectives are w' = c(s,a,i) + λ(v_i − max v) − top ≤ 0, top the row's largest. The doubles w'
//! differ from the exact ones by at most ω, the same for all next states; as a row has mass one, so
//! does its value. The nominal row is the stored one over its exact sum.

use pulp::{Simd, WithSimd};

use super::exponential::{EXP_ERROR, exp, ln};
use super::interval::{Interval, TINY, UNIT, roundings};
use super::tail::{Doubtful, Ranking};
use crate::lanes::dispatch;
use crate::model::Model;
use crate::uncertainty::{Distance, Support, UncertaintySet};

/// What all rows need of the values v.
pub(super) struct Ahead {
    /// λ(v − max v), at most 0.
    w: Vec<f64>,
    /// −min of `w`, and how far it may be from exact.
    range: f64,
    omega: f64,
    /// λ·max v.
    pub(super) offset: Interval,
    /// Where rows may have mass on states that they do not list.
    ranking: Option<Ranking>,
}

impl Ahead {
    pub(super) fn new(model: &Model, set: &UncertaintySet, v: &[f64]) -> Ahead {
        let highest = v.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        let w: Vec<f64> = v.iter().map(|v| model.discount() * (v - highest)).collect();
        let range = w.iter().fold(0.0, |m: f64, w| m.max(-w));
        let spreads = everywhere(set) && !model.is_dense();
        Ahead {
            range,
            omega: 4.0 * UNIT * range + TINY,
            offset: Interval::from(highest) * model.discount(),
            ranking: spreads.then(|| Ranking::new(&w)),
            w,
        }
    }
}

fn everywhere(set: &UncertaintySet) -> bool {
    set.distance == Distance::Ellipsoid && set.support == Support::All
}

/// Memory of a thread.
#[derive(Default)]
pub(super) struct Scratch {
    p: Vec<f64>,
    w: Vec<f64>,
    listed: Vec<f64>,
}

/// A row where it may have mass.
pub(super) struct Row<'a> {
    p: &'a [f64],
    w: &'a [f64],
    pub(super) top: f64,
    /// −min of `w`.
    depth: f64,
    pub(super) omega: f64,
    /// The other states, where they may have mass too, and λ(v − max v) of those listed.
    outside: Option<(&'a Ranking, &'a [f64])>,
    kl: bool,
}

/// A kernel row: its value and the nominal one above `top`, and its distance (ellipsoid: ‖y − y⁰‖).
#[derive(Clone, Copy)]
pub(super) struct Lifted {
    pub(super) value: Interval,
    pub(super) nominal: Interval,
    pub(super) distance: f64,
}

impl<'a> Row<'a> {
    pub(super) fn new(
        model: &'a Model,
        set: &UncertaintySet,
        ahead: &'a Ahead,
        r: usize,
        scratch: &'a mut Scratch,
    ) -> Row<'a> {
        let (row, anywhere, kl) = (model.row(r), everywhere(set), set.distance == Distance::Kl);
        let plain = row.next.is_none() && row.transition_cost.is_none();
        if plain && (anywhere || row.prob.iter().all(|p| *p > 0.0)) {
            let (p, w, depth, omega) = (row.prob, &ahead.w[..], ahead.range, ahead.omega);
            return Row { p, w, top: 0.0, depth, omega, outside: None, kl };
        }
        let Scratch { p, w, listed } = scratch;
        (p.clear(), w.clear(), listed.clear());
        let (mut top, mut size) = (f64::NEG_INFINITY, 0.0_f64);
        for (next, y, toll) in row.entries().filter(|e| anywhere || e.1 > 0.0) {
            let objective = ahead.w[next] + toll;
            (p.push(y), w.push(objective));
            (top, size) = (top.max(objective), size.max(objective.abs()));
            if ahead.ranking.is_some() {
                listed.push(ahead.w[next]);
            }
        }
        if let Some(ranking) = &ahead.ranking {
            top = ranking.highest_outside(listed).map_or(top, |w| top.max(w));
        }
        let mut depth = 0.0_f64;
        for w in w.iter_mut() {
            *w -= top;
            depth = depth.max(-*w);
        }
        let omega = ahead.omega + 4.0 * UNIT * (size + top.abs());
        let outside = ahead.ranking.as_ref().map(|ranking| (ranking, &listed[..]));
        Row { p, w, top, depth, omega, outside, kl }
    }

    /// The nominal value.
    pub(super) fn nominal(&self) -> Interval {
        let [mass, value] = self.sums(|p, w| [p, p * w]);
        self.of_sum(value, 1.0) / self.of_sum(mass, 0.0)
    }

    /// For t = x/μ, at least max over y of [x⟨w', y⟩ − μ·d(y)]/μ: by weak duality with a multiplier ν
    /// for the mass (KL: the best one), or 0. That is for w'
    /// changed by at most [`extra`](Row::extra).
    pub(super) fn dual(&self, t: f64, nu: f64) -> f64 {
        if self.kl {
            let [mass, excess, left] = self.sums(|p, w| {
                let (m, e) = exp(t * w);
                [p, p * m, p * e]
            });
            return self.log_mass(mass, excess, left).hi.min(0.0);
        }
        // φ = max over y ≥ 0 of hy − ½(y − p)²; it moves by at most |max(h, −p)| with p.
        let [mass, sum, size, slope] = self.sums(|p, w| {
            let h = t * w - nu;
            let phi = if p + h < 0.0 { -0.5 * (p * p) } else { h * (p + 0.5 * h) };
            [p, phi, phi.abs(), p * h.max(-p).abs()]
        });
        let error = roundings(self.p.len(), 4.0) * size + TINY;
        let off = (Interval::from(1.0) / self.of_sum(mass, 0.0) - 1.0).magnitude();
        let slope = self.of_sum(slope, 2.0).hi + off;
        let mut bound = Interval::around(sum, error) + Interval::from(off) * (2.0 * slope) + nu;
        if let Some((ranking, listed)) = self.outside {
            let tail = ranking.tail(t, nu, self.top, listed, Doubtful::In);
            bound = bound + tail.square * 0.5;
        }
        bound.hi.min(0.0)
    }

    /// How far computed t·w' − ν may be from exact, in units of w'.
    pub(super) fn extra(&self, t: f64, nu: f64) -> f64 {
        8.0 * UNIT * (self.depth + nu.abs() / t) + TINY
    }

    /// y ∝ y⁰e^{tw' − ν} or (y⁰ + tw' − ν)₊, brought to mass one.
    pub(super) fn lifted(&self, t: f64, nu: f64) -> Lifted {
        if self.kl {
            return self.tilted(t, nu);
        }
        let [mass, nominal, own, value, square] = self.sums(|p, w| {
            let y = (p + (t * w - nu)).max(0.0);
            let d = y - p;
            [p, p * w, y, y * w, d * d]
        });
        let mass = self.of_sum(mass, 0.0);
        let (mut own, mut value) = (self.of_sum(own, 0.0), self.of_sum(value, 1.0));
        let mut square = self.of_sum(square, 4.0);
        if let Some((ranking, listed)) = self.outside {
            let tail = ranking.tail(t, nu, self.top, listed, Doubtful::Out);
            own = own + tail.mass;
            value = value + tail.gain;
            square = square + tail.square;
        }
        // y/M − p/P = (y − p)/M + p(P − M)/(MP), and ‖p‖ ≤ P.
        let distance = (square.sqrt() + (own - mass).magnitude()) / own;
        let nominal = self.of_sum(nominal, 1.0) / mass;
        Lifted { value: value / own, nominal, distance: distance.hi }
    }

    /// With a = tw' − ν, y = y⁰e^a/M and f(a) = ae^a − e^a + 1 ≥ 0,
    /// KL(y‖y⁰) = [Σ y⁰f(a) − (M ln M − M + 1)]/M ≤ Σ y⁰f(a)/M, whatever ν is.
    fn tilted(&self, t: f64, nu: f64) -> Lifted {
        let [mass, nominal, own, value, spent, size] = self.sums(|p, w| {
            let a = t * w - nu;
            let (m, e) = exp(a);
            // 0·∞ where e vanishes.
            let ea = if e > 0.0 { e * a } else { 0.0 };
            [p, p * w, p * e, p * e * w, p * (ea - m), p * (ea.abs() + m.abs())]
        });
        let (mass, own) = (self.of_sum(mass, 0.0), self.of_sum(own, EXP_ERROR + 1.0));
        let value = self.of_sum(value, EXP_ERROR + 2.0) / own;
        let error = roundings(self.p.len(), EXP_ERROR + 4.0) * size + TINY;
        let distance = Interval::around(spent, error) / own;
        let nominal = self.of_sum(nominal, 1.0) / mass;
        Lifted { value, nominal, distance: distance.hi.max(0.0) }
    }

    /// ln Σ y⁰e^{tw'}, from Σp, Σp(e^{tw'} − 1) and Σpe^{tw'}.
    fn log_mass(&self, mass: f64, excess: f64, left: f64) -> Interval {
        let mass = self.of_sum(mass, 0.0);
        let over = |sum: f64| self.of_sum(sum, EXP_ERROR + 1.0) / mass;
        ln(over(left), over(excess))
    }

    fn of_sum(&self, sum: f64, each: f64) -> Interval {
        Interval::of_sum(sum, self.p.len(), each)
    }

    fn sums<const K: usize>(&self, term: impl Fn(f64, f64) -> [f64; K]) -> [f64; K] {
        sums(self.p, self.w, term)
    }
}

/// Sums of K terms over pairs, each in eight accumulators.
pub(super) fn sums<const K: usize>(
    a: &[f64],
    b: &[f64],
    term: impl Fn(f64, f64) -> [f64; K],
) -> [f64; K] {
    dispatch(Sums { a, b, term })
}

/// Plain arithmetic, compiled for the registers at hand; the results do not depend on them.
struct Sums<'a, T> {
    a: &'a [f64],
    b: &'a [f64],
    term: T,
}

impl<const K: usize, T: Fn(f64, f64) -> [f64; K]> WithSimd for Sums<'_, T> {
    type Output = [f64; K];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [f64; K] {
        let mut lanes = [[0.0; 8]; K];
        let ((a, last_a), (b, last_b)) = (self.a.as_chunks::<8>(), self.b.as_chunks::<8>());
        for (a, b) in a.iter().zip(b) {
            for l in 0..8 {
                let term = (self.term)(a[l], b[l]);
                for k in 0..K {
                    lanes[k][l] += term[k];
                }
            }
        }
        for (l, (&a, &b)) in last_a.iter().zip(last_b).enumerate() {
            let term = (self.term)(a, b);
            for k in 0..K {
                lanes[k][l] += term[k];
            }
        }
        lanes.map(|lane| lane.iter().sum())
    }
}
