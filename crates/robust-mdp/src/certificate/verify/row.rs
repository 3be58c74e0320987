//! One row of the model at given values: its nominal value, its share of the dual bound, and the
//! kernel that a multiplier stands for.
//!
//! Objectives are w' = c(s,a,i) + λ(v_i − max v) − top ≤ 0, top the row's largest. The doubles w'
//! differ from the exact ones by at most ω, the same for all next states; as a row has mass one, so
//! does its value. The nominal row is the stored one over its exact sum.

use pulp::Simd;

use super::exponential::{EXP_ERROR, ln_above};
use super::rounding::{Ball, TINY, UNIT, above, roundings};
use super::sums::{DualEllipsoid, DualKl, Entries, LiftedEllipsoid, LiftedKl, Nominal};
use super::tail::Ranking;
use crate::model::Model;
use crate::uncertainty::{Distance, Support, UncertaintySet};

/// What all rows need of the values v.
pub(super) struct Ahead {
    /// λ(v − max v), at most 0.
    w: Vec<f64>,
    /// −min of `w`.
    range: f64,
    /// λ·max v.
    pub(super) offset: f64,
    /// How far `w` and `offset` may be from exact, together.
    pub(super) omega: f64,
    /// States by falling `w`, for dense rows of KL sets.
    order: Vec<u32>,
    /// Where rows may have mass on states that they do not list.
    ranking: Option<Ranking>,
}

impl Ahead {
    pub(super) fn new(model: &Model, set: &UncertaintySet, v: &[f64]) -> Ahead {
        let highest = v.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        let lowest = v.iter().fold(f64::INFINITY, |m, v| m.min(*v));
        let w: Vec<f64> = v.iter().map(|v| model.discount() * (v - highest)).collect();
        // Values too far apart for doubles make ω infinite, or no number at discount 0.
        let (range, offset) = (model.discount() * (highest - lowest), model.discount() * highest);
        let ordered = set.distance == Distance::Kl && model.is_dense();
        let mut order: Vec<u32> = if ordered { (0..w.len() as u32).collect() } else { Vec::new() };
        order.sort_by(|&a, &b| w[b as usize].total_cmp(&w[a as usize]));
        let spreads = everywhere(set) && !model.is_dense();
        Ahead {
            range,
            offset,
            omega: UNIT * (2.1 * range + 1.1 * offset.abs()) + TINY,
            order,
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
    entries: Entries<'a>,
    /// −min of w'.
    pub(super) depth: f64,
    omega: f64,
    /// The other states, where they may have mass too, and λ(v − max v) of those listed.
    outside: Option<(&'a Ranking, &'a [f64])>,
    kl: bool,
}

/// The value of a row above λ·max v and its cost: top + below, give or take `off`.
#[derive(Clone, Copy)]
pub(super) struct Value {
    pub(super) top: f64,
    pub(super) below: f64,
    pub(super) off: f64,
}

impl<'a> Row<'a> {
    #[inline(always)]
    pub(super) fn new(
        model: &'a Model,
        set: &UncertaintySet,
        ahead: &'a Ahead,
        r: usize,
        scratch: &'a mut Scratch,
    ) -> Row<'a> {
        let (anywhere, kl) = (everywhere(set), set.distance == Distance::Kl);
        let p = &model.prob[model.span(r)];
        let plain = model.is_dense() && model.transition_cost.is_none();
        if !plain || !anywhere && !kl && p.contains(&0.0) {
            return Row::listed(model, anywhere, kl, ahead, r, scratch);
        }
        // States above the top have no mass.
        let best = ahead.order.iter().find(|&&i| p[i as usize] > 0.0);
        let top = best.map_or(0.0, |&i| ahead.w[i as usize]);
        let omega = ahead.omega + 1.1 * UNIT * ahead.range;
        let entries = Entries { p, w: &ahead.w, top };
        Row { entries, depth: ahead.range, omega, outside: None, kl }
    }

    /// A row that lists its next states, or where some of them have no mass.
    #[inline(never)]
    fn listed(
        model: &'a Model,
        anywhere: bool,
        kl: bool,
        ahead: &'a Ahead,
        r: usize,
        Scratch { p, w, listed }: &'a mut Scratch,
    ) -> Row<'a> {
        p.clear();
        w.clear();
        listed.clear();
        let (mut top, mut low) = (f64::NEG_INFINITY, f64::INFINITY);
        for (next, y, toll) in model.row(r).entries().filter(|e| anywhere || e.1 > 0.0) {
            let objective = ahead.w[next] + toll;
            p.push(y);
            w.push(objective);
            (top, low) = (top.max(objective), low.min(objective));
            if ahead.ranking.is_some() {
                listed.push(ahead.w[next]);
            }
        }
        let size = top.abs().max(low.abs());
        if let Some(ranking) = &ahead.ranking {
            top = ranking.highest_outside(listed).map_or(top, |w| top.max(w));
        }
        let omega = ahead.omega + 1.1 * UNIT * (size + (top - low));
        let outside = ahead.ranking.as_ref().map(|ranking| (ranking, &listed[..]));
        Row { entries: Entries { p, w, top }, depth: top - low, omega, outside, kl }
    }

    /// `below` the top, and what the objectives may be off.
    pub(super) fn value(&self, below: Ball) -> Value {
        let off = above(self.omega + below.radius());
        Value { top: self.entries.top, below: below.mid, off }
    }

    /// The value of the nominal row.
    #[inline(always)]
    pub(super) fn nominal<S: Simd>(&self, simd: S) -> Value {
        let [mass, value] = self.entries.sums(simd, Nominal);
        self.value(self.of_sum(value, 0.0) / self.of_sum(mass, 0.0))
    }

    /// For t = x/μ, at least max over y of [x⟨w', y⟩ − μ·d(y)]/μ: by weak duality with a multiplier ν
    /// for the mass (KL: the best one), or 0. That is for w' changed by at most [`extra`](Row::extra).
    #[inline(always)]
    pub(super) fn dual<S: Simd>(&self, simd: S, t: f64, nu: f64) -> f64 {
        if self.kl {
            // ln Σ y⁰e^{tw'}, as a number and as what it lacks from one.
            let [mass, excess, left] = self.entries.sums(simd, DualKl(t));
            let over = |sum| (self.of_sum(sum, EXP_ERROR) / self.of_sum(mass, 0.0)).hi();
            return ln_above(simd, over(left), over(excess)).min(0.0);
        }
        let [mass, linear, slope, square] = self.entries.sums(simd, DualEllipsoid(t, nu));
        let rho = self.roundings(0.0);
        // p/Σp in place of p, at most κp away: φ = g(p + g/2) moves by at most |g| with p.
        let kappa = 1.02 * ((1.0 - mass).abs() + 2.0 * rho);
        let other = if mass > 0.99 { 2.0 * kappa * (slope + kappa) } else { f64::NAN };
        let tail = self.outside.map_or(0.0, |(ranking, listed)| {
            0.5 * ranking.tail(t, nu, self.entries.top, listed, true).square.hi()
        });
        let linear = Ball { mid: linear, rad: rho * slope + other + TINY };
        let bound = (linear + self.of_sum(square, 0.0) * 0.5 + nu + tail).hi();
        // Also where it is not a number.
        if bound < 0.0 { bound } else { 0.0 }
    }

    /// How far computed t·w' − ν may be from exact, in units of w'.
    pub(super) fn extra(&self, t: f64, nu: f64) -> f64 {
        4.0 * UNIT * (self.depth + nu.abs() / t)
    }

    /// y ∝ y⁰e^{tw' − ν} or (y⁰ + tw' − ν)₊, brought to mass one; and at least its distance (ellipsoid:
    /// ‖y − y⁰‖).
    #[inline(always)]
    pub(super) fn lifted<S: Simd>(&self, simd: S, t: f64, nu: f64) -> (Value, f64) {
        if self.kl {
            // The kernel is y ∝ pe for the computed e = e^{a + δ}, |δ| ≤ 25u, so that its value has no
            // error of theirs. Σ y⁰f(a + δ)/M is at least the distance, f(a) = ae^a − e^a + 1, and
            // f(a + δ) ≤ f(a) + |δ|(|a| + |δ|)e, where |a|e ≤ |e − 1| + f(a); see the documentation.
            let [own, value, spent, size] = self.entries.sums(simd, LiftedKl(t, nu));
            let error = self.roundings(80.0) * (size + spent.abs()) + 1000.0 * UNIT * UNIT * own;
            let own = self.of_sum(own, 1.0);
            let distance = (Ball { mid: spent, rad: error + TINY } / own).hi();
            let distance = if distance < 0.0 { 0.0 } else { distance };
            return (self.value(self.of_sum(value, 1.0) / own), distance);
        }
        let [mass, own, value, square] = self.entries.sums(simd, LiftedEllipsoid(t, nu));
        let mass = self.of_sum(mass, 0.0);
        let (mut own, mut value) = (self.of_sum(own, 1.0), self.of_sum(value, 1.0));
        let mut square = self.of_sum(square, 0.0);
        if let Some((ranking, listed)) = self.outside {
            let tail = ranking.tail(t, nu, self.entries.top, listed, false);
            own = own + tail.mass;
            value = value + tail.gain;
            square = square + tail.square;
        }
        // y/M − p/P = (y − p)/M + p(P − M)/(MP), and ‖p‖ ≤ P.
        let (moved, apart) = (above(square.hi().sqrt()), own + mass * -1.0);
        let way = (Ball { mid: apart.mid.abs(), ..apart } + moved) / own;
        (self.value(value / own), way.hi())
    }

    fn of_sum(&self, sum: f64, each: f64) -> Ball {
        Ball::of_sum(sum, self.entries.p.len(), each)
    }

    fn roundings(&self, each: f64) -> f64 {
        roundings(self.entries.p.len(), each)
    }
}
