//! One row of the model at given values: its nominal value, and what multipliers (t, ν) say about it.
//!
//! Objectives are w' = c(s,a,i) + λ(v_i − max v) − top ≤ 0, top the row's largest. The doubles w'
//! differ from the exact ones by at most ω, the same for all next states; as a row has mass one, so
//! does its value. The nominal row is the stored one over its exact sum.

use pulp::Simd;

use super::exponential::{EXP_ERROR, LIMIT};
use super::rounding::{Ball, TINY, UNIT, above, roundings};
use super::sums::{Ellipsoid, Entries, Kl, Nominal};
use super::tail::{Ranking, Tail};
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

    /// What a row of mass one is worth at least; −∞ where transitions have costs of their own.
    pub(super) fn least(&self, model: &Model) -> Value {
        let below = if model.transition_cost.is_none() { -self.range } else { f64::NEG_INFINITY };
        Value { top: 0.0, below, off: self.omega }
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
    depth: f64,
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

/// What multipliers say about a row.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    /// For t = x/μ, at least max over y of [x⟨w', y⟩ − μ·d(y)]/μ: by weak duality with a multiplier ν for
    /// the mass, or 0. That is for w' changed by at most [`extra`](Row::extra).
    pub(super) dual: f64,
    /// The value of the kernel y ∝ y⁰e^{tw' − ν} or (y⁰ + tw' − ν)₊, brought to mass one; and at least its
    /// distance (ellipsoid: ‖y − y⁰‖).
    pub(super) value: Value,
    pub(super) distance: f64,
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
        self.value(self.of_sum(value) / self.of_sum(mass))
    }

    /// How far computed t·w' − ν may be from exact, in units of w' (but for unlisted states beyond 2|ν|/t, which
    /// have no mass either way); `None` if the multipliers say no more than the row's top does.
    #[inline(always)]
    pub(super) fn extra(&self, t: f64, nu: f64) -> Option<f64> {
        let extra = 4.0 * UNIT * (self.depth + nu.abs() / t);
        // a = tw' − ν ≤ 700 for KL, so that bringing it to ±700 only raises it.
        let in_range = t.is_normal() && (1.0 / t).is_normal() && (!self.kl || nu >= -LIMIT);
        (in_range && extra <= self.depth).then_some(extra)
    }

    /// What multipliers say, where they have an [`extra`](Row::extra).
    #[inline(always)]
    pub(super) fn at<S: Simd>(&self, simd: S, t: f64, nu: f64) -> Reading {
        let found = match self.kl {
            true => self.kl_at(simd, t, nu),
            false => self.ellipsoid_at(simd, t, nu),
        };
        // Also where it is not a number.
        Reading { dual: if found.dual < 0.0 { found.dual } else { 0.0 }, ..found }
    }

    /// The kernel is y ∝ pe for the computed e = e^{a + δ}, |δ| ≤ 13u. Σ pf(a + δ)/Σpe is at least its
    /// distance, f(a) = ae^a − e^a + 1, and f(a + δ) ≤ f(a) + |δ|(|a| + |δ|)e, where |a|e ≤ |e − 1| + f(a).
    #[inline(always)]
    fn kl_at<S: Simd>(&self, simd: S, t: f64, nu: f64) -> Reading {
        let [mass, excess, size, tilted] = self.entries.sums(simd, Kl(t, nu));
        let spent = tilted - excess;
        // Twice this covers both sums, e and e − 1 in them, their difference and δ:
        // (n/8 + 17) + (n/8 + 16) + 1 + 13 ≤ 2(n/8 + 4 + 12 + 14).
        let kappa = roundings(self.entries.p.len(), EXP_ERROR + 14.0);
        let (mass, error) = (self.of_sum(mass), kappa * (size + spent.abs()));
        let excess = Ball { mid: excess, rad: kappa * size + TINY };
        // ln z ≤ z − 1.
        let dual = (excess / mass + nu).hi();
        let mut own = mass + excess;
        own.rad += 14.0 * UNIT * own.mid.abs();
        let squares = 200.0 * UNIT * UNIT * own.mid;
        let distance = (Ball { mid: spent, rad: 2.0 * error + squares + TINY } / own).hi();
        // tw' = a + ν, but where a was brought to −700: that has 1e-304 of the mass, and ω more room than that.
        let tilted = Ball { mid: tilted, rad: error + TINY };
        let value = self.value((tilted / own + nu) / Ball::from(t));
        Reading { dual, value, distance }
    }

    /// The kernel is y ∝ p − c. Where y > 0, tw' = ν − c up to a rounding of c.
    #[inline(always)]
    fn ellipsoid_at<S: Simd>(&self, simd: S, t: f64, nu: f64) -> Reading {
        let [mass, loss, linear, square] = self.entries.sums(simd, Ellipsoid(t, nu));
        let n = self.entries.p.len();
        let rho = roundings(n, 0.0);
        let tail = self.outside.map(|(ranking, own)| ranking.tail(t, nu, self.entries.top, own));
        let Tail { mass: beyond, square: far, missed } = tail.unwrap_or_default();
        let (mass, all) = (self.of_sum(mass), self.of_sum(square) + far);
        // ‖y − p‖, and by Cauchy and Schwarz Σ|c| and Σp|c|.
        let size = above(all.hi().sqrt());
        let (sum, slope) = (size * (n as f64).sqrt(), mass.hi() * size);
        let loss = Ball { mid: -loss, rad: rho * sum + TINY };
        // And what the roundings of c are worth in Σytw'.
        let rounding = 1.1 * UNIT * (slope + square);
        let linear = Ball { mid: -linear, rad: rho * slope + rounding + TINY };
        // p/Σp in place of p, at most κp away: φ = c(c/2 − p) moves by at most |c| with p.
        let kappa = 1.02 * ((1.0 - mass.mid).abs() + 2.0 * rho);
        let near = (1.0 - mass.mid).abs() < 0.01;
        let other = if near { 2.0 * kappa * (slope + kappa) } else { f64::NAN };
        let dual = (linear + all * 0.5 + nu + (other + missed)).hi();
        let apart = loss + beyond;
        let own = mass + apart;
        let value = self.value(((linear + all) / own + nu) / Ball::from(t));
        // y/M − p/P = (y − p)/M + p(P − M)/(MP), and ‖p‖ ≤ P.
        let way = Ball { mid: apart.mid.abs(), ..apart } + size;
        Reading { dual, value, distance: (way / own).hi() }
    }

    fn of_sum(&self, sum: f64) -> Ball {
        Ball::of_sum(sum, self.entries.p.len())
    }
}
