//! What rows need of the values, and rows that list all states.
//!
//! Objectives are w' = c(s,a,i) + λ(v_i − max v) − top ≤ 0, top the row's largest. The doubles w'
//! differ from the exact ones by at most ω, the same for all next states; as a row has mass one, so
//! does its value. The nominal row is the stored one over its exact sum.

use pulp::Simd;

use super::lane::Lane;
use super::powers::{Near, Powers};
use super::rounding::{TINY, UNIT};
use super::sums::{Ellipsoid, Entries, Kl, Multipliers, Nominal, RUN, steps, steps_of_runs};
use super::tail::Ranking;
use crate::model::{Model, Storage};
use crate::uncertainty::{Distance, Support, UncertaintySet};

/// What all rows need of the values v.
pub(super) struct Ahead {
    /// λ(v − max v), at most 0.
    pub(super) w: Vec<f64>,
    /// −min of `w`.
    pub(super) range: f64,
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
    /// Rows may have mass where they have none.
    pub(super) everywhere: bool,
    /// Where rows may have mass on states that they do not list.
    pub(super) ranking: Option<Ranking>,
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

    /// Whether rows can be read as the model has them.
    #[inline(always)]
    pub(super) fn plain_rows(&self, model: &Model, rows: &[usize]) -> bool {
        self.plain && !(self.positive && rows.iter().any(|&r| self.row(model, r).p.contains(&0.0)))
    }

    #[inline(always)]
    pub(super) fn row<'a>(&'a self, model: &'a Model, r: usize) -> Row<'a> {
        Row { ahead: self, p: &model.prob[r * self.w.len()..(r + 1) * self.w.len()], top: 0.0 }
    }

    /// Σp and Σpw where no transition has a cost, and the steps of these sums.
    #[inline(always)]
    pub(super) fn average<S: Simd>(&self, simd: S, model: &Model, r: usize) -> ([f64; 2], f64) {
        let Storage::Sparse { next, .. } = &model.storage else {
            let top = Lane::splat(simd, 0.0);
            return (self.row(model, r).entries().sums(simd, Nominal { top }), steps(self.w.len()));
        };
        let (span, w, mut sums) = (model.span(r), &self.w[..], [0.0; 2]);
        let (p, next) = (&model.prob[span.clone()], &next[span]);
        let add = |p: &[f64], next: &[u32]| {
            let [mut mass, mut value] = [0.0; 2];
            for (p, &i) in p.iter().zip(next) {
                (mass, value) = (mass + p, p.mul_add(w[i as usize], value));
            }
            [mass, value]
        };
        // Most rows are one run.
        if p.len() <= RUN {
            return (add(p, next), steps_of_runs(p.len()));
        }
        for (p, next) in p.chunks(RUN).zip(next.chunks(RUN)) {
            let run = add(p, next);
            sums = [sums[0] + run[0], sums[1] + run[1]];
        }
        (sums, steps_of_runs(p.len()))
    }

    /// How far the w' of such rows may be from exact.
    #[inline(always)]
    pub(super) fn plain_omega(&self) -> f64 {
        self.omega + 1.1 * UNIT * self.range
    }
}

/// A row that lists all states, none of whose transitions has a cost.
pub(super) struct Row<'a> {
    ahead: &'a Ahead,
    p: &'a [f64],
    /// The largest w where it has mass; 0 until someone asks.
    pub(super) top: f64,
}

/// What a pass over a row found.
pub(super) struct Pass {
    /// The multiplier ν, from the row's top as it stands.
    pub(super) nu: f64,
    pub(super) sums: [f64; 4],
    /// Whether they are those of a [`Series`](super::powers::Series).
    pub(super) quick: bool,
}

impl<'a> Row<'a> {
    /// States above the top have no mass.
    pub(super) fn find_top(&mut self) -> f64 {
        let best = self.ahead.order.iter().find(|&&i| self.p[i as usize] > 0.0);
        self.top = best.map_or(0.0, |&i| self.ahead.w[i as usize]);
        self.top
    }

    #[inline(always)]
    fn entries(&self) -> Entries<'a> {
        Entries { p: self.p, w: &self.ahead.w, e: &self.ahead.w }
    }

    /// A pass at multipliers t and `shift`. With a table ν counts from λ·max v, i.e. from a top of 0, where the row's
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
        if KL {
            let near = match &self.ahead.powers {
                Some(powers) if shift.abs() <= 64.0 => powers.at(near, j),
                _ => None,
            };
            if let Some((e, series)) = near {
                let [mass, power, slope] = Entries { e, ..self.entries() }.sums(simd, series);
                return Pass { nu: shift, sums: [mass, power, slope, 0.0], quick: true };
            }
            self.find_top();
        }
        let counted = KL && self.ahead.powers.is_some();
        let nu = if counted { shift - t * self.top } else { shift };
        let [t, own, top] = [t, nu, self.top].map(|x| Lane::splat(simd, x));
        let multipliers = Multipliers { t, nu: own, top };
        let sums = match KL {
            true => self.entries().sums(simd, Kl(multipliers)),
            false => self.entries().sums(simd, Ellipsoid(multipliers)),
        };
        Pass { nu, sums, quick: false }
    }
}
