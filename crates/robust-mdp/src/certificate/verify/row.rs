//! One row of the model at given values: its nominal value, and what multipliers (t, ν) say about it.
//!
//! Objectives are w' = c(s,a,i) + λ(v_i − max v) − top ≤ 0, top the row's largest. The doubles w'
//! differ from the exact ones by at most ω, the same for all next states; as a row has mass one, so
//! does its value. The nominal row is the stored one over its exact sum.

use pulp::{Simd, WithSimd};

use super::powers::{Near, Powers};
use super::reading::Pass;
use super::rounding::{Ball, TINY, UNIT, above};
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
    /// States by falling `w`, for plain rows of KL sets.
    order: Vec<u32>,
    /// The model lists all states, and no transition has a cost.
    plain: bool,
    /// Rows are read where they have mass only, and the sums over a row do not see to that.
    positive: bool,
    /// Rows may have mass on all states.
    everywhere: bool,
    /// Where rows may have mass on states that they do not list.
    ranking: Option<Ranking>,
    /// e^{tw}, where many rows ask for it: ν then counts from λ·max v.
    powers: Option<Powers>,
}

impl Ahead {
    pub(super) fn new(model: &Model, set: &UncertaintySet, v: &[f64], table: u32) -> Ahead {
        let highest = v.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        let lowest = v.iter().fold(f64::INFINITY, |m, v| m.min(*v));
        let w: Vec<f64> = v.iter().map(|v| model.discount() * (v - highest)).collect();
        // Values too far apart for doubles make ω infinite, or no number at discount 0.
        let (range, offset) = (model.discount() * (highest - lowest), model.discount() * highest);
        let (kl, everywhere) = (
            set.distance == Distance::Kl,
            set.distance == Distance::Ellipsoid && set.support == Support::All,
        );
        let plain = model.is_dense() && model.transition_cost.is_none();
        let ordered = kl && plain;
        let mut order: Vec<u32> = if ordered { (0..w.len() as u32).collect() } else { Vec::new() };
        order.sort_by(|&a, &b| w[b as usize].total_cmp(&w[a as usize]));
        let spreads = everywhere && !model.is_dense();
        Ahead {
            range,
            offset,
            omega: UNIT * (2.1 * range + 1.1 * offset.abs()) + TINY,
            order,
            plain,
            positive: !everywhere && !kl,
            everywhere,
            ranking: spreads.then(|| Ranking::new(&w)),
            powers: (ordered && table > 0).then(|| Powers::new(&w, range, table)),
            w,
        }
    }

    /// Where in the table eight t are.
    #[inline(always)]
    pub(super) fn near(&self, t: &[f64; 8]) -> Near {
        match &self.powers {
            Some(powers) => powers.near(t),
            None => Near::default(),
        }
    }

    /// What a row of mass one is worth at least; −∞ where transitions have costs of their own.
    pub(super) fn least(&self, model: &Model) -> Value {
        let below = if model.transition_cost.is_none() { -self.range } else { f64::NEG_INFINITY };
        Value { top: 0.0, below, off: self.omega }
    }
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
    ahead: &'a Ahead,
    p: &'a [f64],
    /// λ(v − max v), and what the transitions cost.
    w: &'a [f64],
    /// The largest w; 0 in a plain row, until someone asks.
    pub(super) top: f64,
    /// −min of w', or more.
    pub(super) depth: f64,
    pub(super) omega: f64,
    /// All states are listed, and no transition has a cost.
    plain: bool,
    /// λ(v − max v) of those listed, where others may have mass too.
    listed: &'a [f64],
}

/// The value of a row above λ·max v and its cost: top + below, give or take `off`.
#[derive(Clone, Copy)]
pub(super) struct Value {
    pub(super) top: f64,
    pub(super) below: f64,
    pub(super) off: f64,
}

impl<'a> Row<'a> {
    pub(super) fn new(
        model: &'a Model,
        ahead: &'a Ahead,
        r: usize,
        scratch: &'a mut Scratch,
    ) -> Row<'a> {
        Row::plain(model, ahead, r).unwrap_or_else(|| Row::listed(model, ahead, r, scratch))
    }

    /// A row as the model has it, if that will do.
    #[inline(always)]
    pub(super) fn plain(model: &'a Model, ahead: &'a Ahead, r: usize) -> Option<Row<'a>> {
        let p = &model.prob[model.span(r)];
        if !ahead.plain || ahead.positive && p.contains(&0.0) {
            return None;
        }
        let (w, depth) = (&ahead.w[..], ahead.range);
        let omega = ahead.omega + 1.1 * UNIT * depth;
        Some(Row { ahead, p, w, top: 0.0, depth, omega, plain: true, listed: &[] })
    }

    /// A row that lists its next states, or where some of them have no mass.
    #[inline(never)]
    pub(super) fn listed(
        model: &'a Model,
        ahead: &'a Ahead,
        r: usize,
        Scratch { p, w, listed }: &'a mut Scratch,
    ) -> Row<'a> {
        p.clear();
        w.clear();
        listed.clear();
        let (mut top, mut low) = (f64::NEG_INFINITY, f64::INFINITY);
        for (next, y, toll) in model.row(r).entries().filter(|e| ahead.everywhere || e.1 > 0.0) {
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
        Row { ahead, p, w, top, depth: top - low, omega, plain: false, listed }
    }

    /// Next states.
    #[inline(always)]
    pub(super) fn len(&self) -> f64 {
        self.p.len() as f64
    }

    /// States above the top have no mass.
    fn find_top(&mut self) {
        if self.plain {
            let best = self.ahead.order.iter().find(|&&i| self.p[i as usize] > 0.0);
            self.top = best.map_or(0.0, |&i| self.w[i as usize]);
        }
    }

    #[inline(always)]
    fn entries(&self) -> Entries<'a> {
        Entries { p: self.p, w: self.w, e: self.w }
    }

    /// `below` the top, and what the objectives may be off.
    fn value(&self, below: Ball) -> Value {
        Value { top: self.top, below: below.mid, off: above(self.omega + below.radius()) }
    }

    /// The value of a row on its top.
    pub(super) fn highest(&mut self) -> Value {
        self.find_top();
        self.value(0.0.into())
    }

    /// The value of the nominal row.
    pub(super) fn nominal<S: Simd>(&self, simd: S) -> Value {
        let [mass, value] = simd.vectorize(Average(self.entries(), self.top));
        self.value(Ball::of_sum(value, self.len()) / Ball::of_sum(mass, self.len()))
    }

    /// A pass at multipliers t and `shift`. With a table ν counts from λ·max v, i.e. from a top of 0, where a plain row's
    /// stays; by exponentials it counts from the row's largest w.
    #[inline(always)]
    pub(super) fn pass<S: Simd, const KL: bool>(
        &mut self,
        simd: S,
        t: f64,
        shift: f64,
        near: &Near,
        j: usize,
    ) -> Pass {
        // No closures around passes: they may be compiled without the wide registers.
        if !KL {
            let sums = self.entries().sums(simd, Ellipsoid { t, nu: shift, top: self.top });
            return Pass { nu: shift, sums, quick: false };
        }
        let near = match &self.ahead.powers {
            Some(powers) if shift.abs() <= 64.0 => powers.at(near, j),
            _ => None,
        };
        if let Some((e, series)) = near {
            let [mass, power, slope] = Entries { e, ..self.entries() }.sums(simd, series);
            return Pass { nu: shift, sums: [mass, power, slope, 0.0], quick: true };
        }
        self.find_top();
        let nu = if self.ahead.powers.is_some() { shift - t * self.top } else { shift };
        let sums = self.entries().sums(simd, Kl { t, nu, top: self.top });
        Pass { nu, sums, quick: false }
    }

    /// Sums over states that are not listed.
    #[inline(always)]
    pub(super) fn tail(&self, t: f64, nu: f64) -> Tail {
        match &self.ahead.ranking {
            Some(ranking) => ranking.tail(t, nu, self.top, self.listed),
            None => Tail::default(),
        }
    }
}

/// Σp and Σpw' of a row.
struct Average<'a>(Entries<'a>, f64);

impl WithSimd for Average<'_> {
    type Output = [f64; 2];
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [f64; 2] {
        self.0.sums(simd, Nominal { top: self.1 })
    }
}
