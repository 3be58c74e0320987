//! One row of the model at given values: its nominal value, its share of the dual bound, and the
//! kernel that a multiplier stands for. Every result contains the exact one.
//!
//! Objectives are w' = c(s,a,i) + λ(v_i − max v) − top ≤ 0, top the row's largest. The doubles w'
//! differ from the exact ones by at most ω, the same for all next states; as a row has mass one, so
//! does its value. The nominal row is the stored one over its exact sum.

use pulp::{Simd, WithSimd};

use super::exponential::{EXP_ERROR, Exponentials, ln};
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
    /// States by falling `w`, for rows of KL sets.
    order: Vec<u32>,
    /// Where rows may have mass on states that they do not list.
    ranking: Option<Ranking>,
}

impl Ahead {
    pub(super) fn new(model: &Model, set: &UncertaintySet, v: &[f64]) -> Ahead {
        let highest = v.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        let w: Vec<f64> = v.iter().map(|v| model.discount() * (v - highest)).collect();
        let range = w.iter().fold(0.0, |m: f64, w| m.max(-w));
        let spreads = everywhere(set) && !model.is_dense();
        let ordered = set.distance == Distance::Kl && model.is_dense();
        let mut order: Vec<u32> = if ordered { (0..w.len() as u32).collect() } else { Vec::new() };
        order.sort_by(|&a, &b| w[b as usize].total_cmp(&w[a as usize]));
        Ahead {
            order,
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

/// Whether the nominal value of row r is at least `least` beyond doubt; a plain sum often tells.
pub(super) fn is_above(model: &Model, ahead: &Ahead, r: usize, least: f64) -> bool {
    let row = model.row(r);
    if row.next.is_some() || row.transition_cost.is_some() {
        return false;
    }
    let [mass, value] = sums([row.prob, &ahead.w], |[p, w]| [p, p * w]);
    let total = ((row.cost + ahead.offset.lo) + value) - least;
    let size = row.cost.abs() + ahead.offset.magnitude() + value.abs() + least.abs() + ahead.range;
    let error = 4.0 * roundings(row.prob.len(), 16.0) * size;
    total > error + 2.0 * value.abs() * (1.0 - mass).abs() + TINY
}

/// Memory of a thread.
#[derive(Default)]
pub(super) struct Scratch {
    p: Vec<f64>,
    w: Vec<f64>,
    listed: Vec<f64>,
    exponentials: [Vec<f64>; 2],
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
    exponentials: &'a mut [Vec<f64>; 2],
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
        let Scratch { p, w, listed, exponentials } = scratch;
        let plain = row.next.is_none() && row.transition_cost.is_none();
        if plain && (anywhere || kl || row.prob.iter().all(|p| *p > 0.0)) {
            let best = ahead.order.iter().find(|&&i| row.prob[i as usize] > 0.0);
            let top = best.map_or(0.0, |&i| ahead.w[i as usize]);
            let (p, depth, outside) = (row.prob, ahead.range, None);
            let omega = ahead.omega + 4.0 * UNIT * ahead.range;
            if top == 0.0 {
                let w = &ahead.w[..];
                return Row { p, w, top, depth, omega, outside, kl, exponentials };
            }
            // States above the top have no mass.
            w.clear();
            w.extend(ahead.w.iter().map(|w| (w - top).min(0.0)));
            return Row { p, w, top, depth, omega, outside, kl, exponentials };
        }
        p.clear();
        w.clear();
        listed.clear();
        let (mut top, mut size) = (f64::NEG_INFINITY, 0.0_f64);
        for (next, y, toll) in row.entries().filter(|e| anywhere || e.1 > 0.0) {
            let objective = ahead.w[next] + toll;
            p.push(y);
            w.push(objective);
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
        Row { p, w, top, depth, omega, outside, kl, exponentials }
    }

    /// The nominal value.
    pub(super) fn nominal(&self) -> Interval {
        let [mass, value] = sums([self.p, self.w], |[p, w]| [p, p * w]);
        self.of_sum(value, 1.0) / self.of_sum(mass, 0.0)
    }

    /// For t = x/μ, at least max over y of [x⟨w', y⟩ − μ·d(y)]/μ: by weak duality with a multiplier ν
    /// for the mass (KL: the best one), or 0. That is for w'
    /// changed by at most [`extra`](Row::extra).
    pub(super) fn dual(&mut self, t: f64, nu: f64) -> f64 {
        if self.kl {
            self.exponentials(t, 0.0);
            let [m, e] = &*self.exponentials;
            let [mass, excess, left] = sums([self.p, m, e], |[p, m, e]| [p, p * m, p * e]);
            return self.log_mass(mass, excess, left).hi.min(0.0);
        }
        // φ = max over y ≥ 0 of hy − ½(y − p)²; it moves by at most |max(h, −p)| with p.
        let [mass, sum, size, slope] = sums([self.p, self.w], |[p, w]| {
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
    pub(super) fn lifted(&mut self, t: f64, nu: f64) -> Lifted {
        if self.kl {
            return self.tilted(t, nu);
        }
        let [mass, nominal, own, value, square] = sums([self.p, self.w], |[p, w]| {
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
    fn tilted(&mut self, t: f64, nu: f64) -> Lifted {
        self.exponentials(t, nu);
        let [m, e] = &*self.exponentials;
        let [mass, nominal, own, value, spent, size] =
            sums([self.p, self.w, m, e], |[p, w, m, e]| {
                let a = t * w - nu;
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

    fn exponentials(&mut self, t: f64, nu: f64) {
        let w = self.w;
        let [m, e] = &mut *self.exponentials;
        m.resize(w.len(), 0.0);
        e.resize(w.len(), 0.0);
        dispatch(Exponentials { t, nu, w, m, e });
    }
}

/// Sums of K terms over the entries of N arrays, each in eight accumulators.
pub(super) fn sums<const N: usize, const K: usize>(
    of: [&[f64]; N],
    term: impl Fn([f64; N]) -> [f64; K],
) -> [f64; K] {
    dispatch(Sums { of, term })
}

/// Plain arithmetic, compiled for the registers at hand; the results do not depend on them.
struct Sums<'a, T, const N: usize> {
    of: [&'a [f64]; N],
    term: T,
}

impl<const N: usize, const K: usize, T: Fn([f64; N]) -> [f64; K]> WithSimd for Sums<'_, T, N> {
    type Output = [f64; K];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [f64; K] {
        let mut lanes = [[0.0; 8]; K];
        let end = self.of.iter().map(|of| of.len()).min().unwrap_or(0);
        let mut at = 0;
        while at + 64 <= end {
            self.add::<64, K>(self.of.map(|of| &of[at..at + 64]), 64, &mut lanes);
            at += 64;
        }
        match end - at {
            0 => {}
            1..=16 => self.add_last::<16, K>(at, end, &mut lanes),
            _ => self.add_last::<64, K>(at, end, &mut lanes),
        }
        lanes.map(|lane| lane.iter().sum())
    }
}

impl<T, const N: usize> Sums<'_, T, N> {
    /// Terms first, sums after: compilers make whole registers of such loops.
    #[inline(always)]
    fn add<const B: usize, const K: usize>(
        &self,
        of: [&[f64]; N],
        count: usize,
        lanes: &mut [[f64; 8]; K],
    ) where
        T: Fn([f64; N]) -> [f64; K],
    {
        let mut terms = [[0.0; B]; K];
        for i in 0..B {
            let term = (self.term)(of.map(|of| of[i]));
            for k in 0..K {
                terms[k][i] = term[k];
            }
        }
        for (lane, terms) in lanes.iter_mut().zip(&mut terms) {
            terms[count..].fill(0.0);
            for eight in terms.as_chunks::<8>().0 {
                for l in 0..8 {
                    lane[l] += eight[l];
                }
            }
        }
    }

    /// What is left, filled up with zeros whose terms do not count.
    #[inline(always)]
    fn add_last<const B: usize, const K: usize>(
        &self,
        at: usize,
        end: usize,
        lanes: &mut [[f64; 8]; K],
    ) where
        T: Fn([f64; N]) -> [f64; K],
    {
        let mut padded = [[0.0; B]; N];
        for (to, of) in padded.iter_mut().zip(&self.of) {
            to[..end - at].copy_from_slice(&of[at..end]);
        }
        self.add::<B, K>(padded.each_ref().map(|of| &of[..]), end - at, lanes);
    }
}
