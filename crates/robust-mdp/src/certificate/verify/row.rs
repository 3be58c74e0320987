//! One row of the model at given values: its nominal value, and what multipliers (t, ν) say about it.
//!
//! Objectives are w' = c(s,a,i) + λ(v_i − max v) − top ≤ 0, top the row's largest. The doubles w'
//! differ from the exact ones by at most ω, the same for all next states; as a row has mass one, so
//! does its value. The nominal row is the stored one over its exact sum.

use pulp::{Scalar, Simd};

use super::exponential::{LIMIT, exp};
use super::lane::Lane;
use super::powers::Powers;
use super::reading::{Pass, UNKNOWN};
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
    /// e^{tw}, where many rows ask for it.
    powers: Option<Powers>,
}

impl Ahead {
    pub(super) fn new(model: &Model, set: &UncertaintySet, v: &[f64], table: u32) -> Ahead {
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
            powers: if ordered { Powers::new(&w, range, table) } else { None },
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
    pub(super) entries: Entries<'a>,
    /// −min of w'.
    depth: f64,
    pub(super) omega: f64,
    /// The other states, where they may have mass too, and λ(v − max v) of those listed.
    outside: Option<(&'a Ranking, &'a [f64])>,
    kl: bool,
    powers: Option<&'a Powers>,
}

/// The value of a row above λ·max v and its cost: top + below, give or take `off`.
#[derive(Clone, Copy)]
pub(super) struct Value {
    pub(super) top: f64,
    pub(super) below: f64,
    pub(super) off: f64,
}

impl Value {
    /// `below` the top, and what the objectives may be off.
    #[inline(always)]
    pub(super) fn new(top: f64, omega: f64, below: Ball) -> Value {
        Value { top, below: below.mid, off: above(omega + below.radius()) }
    }
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
        let entries = Entries { p, w: &ahead.w, e: &ahead.w, top };
        let powers = ahead.powers.as_ref();
        Row { entries, depth: ahead.range, omega, outside: None, kl, powers }
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
        let entries = Entries { p, w, e: w, top };
        Row { entries, depth: top - low, omega, outside, kl, powers: None }
    }

    /// `below` the top, and what the objectives may be off.
    #[inline(always)]
    pub(super) fn value(&self, below: Ball) -> Value {
        Value::new(self.entries.top, self.omega, below)
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
        let inverse = 1.0 / t;
        let extra = 4.0 * UNIT * (self.depth + 1.01 * nu.abs() * inverse);
        // a = tw' − ν ≤ 700 for KL, so that bringing it to ±700 only raises it.
        let in_range = t.is_normal() && inverse.is_normal() && (!self.kl || nu >= -LIMIT);
        (in_range && extra <= self.depth).then_some(extra)
    }

    /// A pass at multipliers that have an [`extra`](Row::extra).
    #[inline(always)]
    pub(super) fn pass<S: Simd>(&self, simd: S, t: f64, nu: f64) -> Pass {
        let n = self.entries.p.len() as f64;
        if self.kl {
            // No closures around passes: they may be compiled without the wide registers.
            let quick = match self.powers {
                Some(powers) => self.quick_sums(simd, powers, t, nu),
                None => None,
            };
            let (sums, tail) = match quick {
                Some(found) => found,
                None => (self.entries.sums(simd, Kl(t, nu)), UNKNOWN),
            };
            return Pass { t, nu, n, sums, tail };
        }
        let tail = self.outside.map(|(ranking, own)| ranking.tail(t, nu, self.entries.top, own));
        let sums = self.entries.sums(simd, Ellipsoid(t, nu));
        Pass { t, nu, n, sums, tail: tail.unwrap_or_default() }
    }

    /// The sums of [`Kl`] from a table: e^a = e^{tw − own}, own = ν + t·top.
    ///
    /// own is rounded: it stands for another ν, at most u|own| away. That and all that is rounded on the way come
    /// to n/8 + 132 units of (Σpe^a + Σp)(1 + |own|) + tΣpe^a|w|; what underflow takes is far less than 1e-100.
    /// Readings allow for n/8 + 30 units of the third sum, which is at least Σp|e^a − 1|. The value needs neither
    /// ν nor a division by t: both of its sums are off by n/8 + 110 units.
    #[inline(always)]
    fn quick_sums<S: Simd>(
        &self,
        simd: S,
        powers: &Powers,
        t: f64,
        nu: f64,
    ) -> Option<([f64; 4], Tail)> {
        let Entries { p, top, .. } = self.entries;
        let own = t.mul_add(top, nu);
        let (e, series) = powers.near(t).filter(|_| own.abs() <= 64.0)?;
        let [mass, power, slope] = Entries { e, top: 0.0, ..self.entries }.sums(simd, series);
        let rad = 2.0 * roundings(p.len() as f64, 112.0) * self.depth;
        let below = Ball { mid: slope / power - top, rad };
        let factor = exp(Lane { simd: Scalar::new(), x: -own }).1.x;
        let (power, slope) = (factor * power, t * (factor * slope));
        let size = (power + mass) * (1.0 + own.abs()) + slope.abs() + 1e-100;
        let sums = [mass, power - mass, 5.0 * size, slope - own * power];
        Some((sums, Tail { mass: below, ..UNKNOWN }))
    }

    fn of_sum(&self, sum: f64) -> Ball {
        Ball::of_sum(sum, self.entries.p.len() as f64)
    }
}
