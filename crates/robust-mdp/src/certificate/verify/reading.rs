//! What passes over rows prove, eight rows at a time.
//!
//! Numbers of eight rows lie side by side, so that a compiler works on them in registers: the same
//! operations, in the same order, on each.

use pulp::{Simd, WithSimd};

use super::bundle::Bundle;
use super::duality::{Reading, ellipsoid, from_series, kl, normal, series_value};
use super::exponential::{LIMIT, exp_each};
use super::powers::Near;
use super::rounding::{Ball, UNIT, above, or_infinite, sum_above};
use super::row::{Ahead, Pass, Row};
use super::sums::{Ellipsoid, Kl, Nominal, steps};
use super::tail::Tails;
use crate::model::Model;

/// How a row is read.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// At multipliers.
    Tilted,
    Nominal,
    /// On its top.
    Highest,
}

/// A row to be read: it adds its cost and value to `from` in T_x v − v, and takes them from `back` in v less its value.
#[derive(Clone, Copy, Default)]
pub(super) struct Line {
    pub(super) row: usize,
    /// Its state, and its weight in the policy; for a nominal row of the kernel how far it goes to its lifted one.
    pub(super) state: usize,
    pub(super) x: f64,
    pub(super) cost: f64,
    pub(super) from: f64,
    pub(super) back: f64,
    /// Its multipliers, its budget and the multiplier of that.
    pub(super) t: f64,
    pub(super) shift: f64,
    pub(super) radius: f64,
    pub(super) scale: f64,
}

/// Rows to be read, those in the columns.
pub(super) struct Reads<'a> {
    pub(super) model: &'a Model,
    pub(super) ahead: &'a Ahead,
    pub(super) bundle: &'a mut Bundle,
    pub(super) columns: &'a mut Columns,
    /// Whether all rows of a state share its budget.
    pub(super) shared: bool,
}

impl Reads<'_> {
    pub(super) fn prove<S: Simd>(self, simd: S, kl: bool, kind: Kind) -> Proved {
        match kind {
            _ if self.columns.len == 0 => Proved::default(),
            Kind::Tilted if kl => simd.vectorize(Tilted::<true>(self)),
            Kind::Tilted => simd.vectorize(Tilted::<false>(self)),
            _ => simd.vectorize(Plainly(self, kind)),
        }
    }
}

/// Rows of KL sets, or of ellipsoids, at multipliers.
struct Tilted<'a, const KL: bool>(Reads<'a>);

impl<const KL: bool> WithSimd for Tilted<'_, KL> {
    type Output = Proved;
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Proved {
        let Reads { model, ahead, bundle, columns, shared } = self.0;
        if ahead.plain_rows(model, columns.rows()) {
            columns.plain(ahead);
            let near = if KL { ahead.near(&columns.t) } else { Near::default() };
            for k in 0..columns.len.min(8) {
                columns.read::<S, KL>(simd, k, ahead.row(model, columns.row[k]), &near);
            }
            columns.prove::<S, KL, true>(simd, shared)
        } else {
            bundle.fill(simd, model, ahead, columns);
            match KL {
                true => bundle.pass::<S, 4, Kl<S>>(simd, model, ahead, columns),
                false => bundle.pass::<S, 4, Ellipsoid<S>>(simd, model, ahead, columns),
            }
            columns.prove::<S, KL, false>(simd, shared)
        }
    }
}

/// Rows whose value is known without multipliers.
struct Plainly<'a>(Reads<'a>, Kind);

impl WithSimd for Plainly<'_> {
    type Output = Proved;
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Proved {
        let Plainly(Reads { model, ahead, bundle, columns, .. }, kind) = self;
        let len = columns.len.min(8);
        if kind == Kind::Nominal && model.transition_cost.is_none() {
            columns.plain(ahead);
            for k in 0..len {
                let Columns { row, sums: [mass, value, ..], steps, .. } = columns;
                ([mass[k], value[k]], steps[k]) = ahead.average(simd, model, row[k]);
            }
        } else if kind == Kind::Highest && ahead.plain_rows(model, columns.rows()) {
            columns.plain(ahead);
            for k in 0..len {
                columns.top[k] = ahead.row(model, columns.row[k]).find_top();
            }
        } else {
            bundle.fill(simd, model, ahead, columns);
            if kind == Kind::Nominal {
                bundle.pass::<S, 2, Nominal<S>>(simd, model, ahead, columns);
            }
        }
        columns.value(kind)
    }
}

/// What eight rows prove.
#[derive(Default)]
pub(super) struct Proved {
    /// At least what a row of the policy adds to T_x v − v, but for its gain if the budget is shared.
    pub(super) above: [f64; 8],
    /// That gain in units of the budget's multiplier μ: with t = x/μ, at least max over y of [x⟨w', y⟩ − μ·d(y)]/μ.
    pub(super) gain: [f64; 8],
    /// At least v less the value under the kernel y ∝ y⁰e^{tw' − ν} or (y⁰ + tw' − ν)₊, and what y takes of the budget;
    /// −∞ and 0 where the multipliers say no more than the row's top does: such a row of the kernel is nominal.
    pub(super) below: [f64; 8],
    pub(super) spent: [f64; 8],
}

/// Up to eight rows in columns.
#[derive(Default)]
pub(super) struct Columns {
    /// As in [`Line`]; ν counts from the top.
    pub(super) row: [usize; 8],
    pub(super) state: [usize; 8],
    cost: [f64; 8],
    from: [f64; 8],
    back: [f64; 8],
    pub(super) x: [f64; 8],
    pub(super) t: [f64; 8],
    pub(super) nu: [f64; 8],
    radius: [f64; 8],
    scale: [f64; 8],
    /// Of the row: entries, steps of a sum, top, roundings ω, depth (−min of w', or more).
    pub(super) n: [f64; 8],
    pub(super) steps: [f64; 8],
    pub(super) top: [f64; 8],
    pub(super) omega: [f64; 8],
    pub(super) depth: [f64; 8],
    quick: [bool; 8],
    pub(super) sums: [[f64; 8]; 4],
    pub(super) tails: Tails,
    /// So many rows.
    pub(super) len: usize,
}

impl Columns {
    /// Whether there are eight rows to be read now. Those that do not count are written too: there is nothing for the
    /// machine to guess.
    #[inline(always)]
    pub(super) fn add(&mut self, line: Line, counts: bool) -> bool {
        let Line { row, state, x, cost, from, back, t, shift, radius, scale } = line;
        let k = self.len % 8;
        (self.row[k], self.state[k], self.from[k], self.back[k]) = (row, state, from, back);
        (self.t[k], self.nu[k], self.x[k], self.cost[k]) = (t, shift, x, cost);
        (self.radius[k], self.scale[k]) = (radius, scale);
        self.len = k + usize::from(counts);
        self.len == 8
    }

    pub(super) fn rows(&self) -> &[usize] {
        &self.row[..self.len.min(8)]
    }

    /// Rows that list all states, or sums in which λ·max v is the top.
    #[inline(always)]
    fn plain(&mut self, ahead: &Ahead) {
        let n = ahead.w.len();
        (self.n, self.steps, self.top) = ([n as f64; 8], [steps(n); 8], [0.0; 8]);
        (self.omega, self.depth) = ([ahead.plain_omega(); 8], [ahead.range; 8]);
    }

    #[inline(always)]
    fn read<S: Simd, const KL: bool>(&mut self, simd: S, k: usize, mut row: Row<'_>, near: &Near) {
        let Pass { nu, sums, quick } = row.pass::<S, KL>(simd, self.t[k], self.nu[k], near, k);
        (self.nu[k], self.top[k], self.quick[k]) = (nu, row.top, quick);
        let [a, b, c, d] = &mut self.sums;
        [a[k], b[k], c[k], d[k]] = sums;
    }

    /// What the nominal rows prove, or the rows on their tops.
    #[inline(always)]
    fn value(&self, kind: Kind) -> Proved {
        let mut proved = Proved::default();
        for k in 0..8 {
            let [mass, value] = [self.sums[0][k], self.sums[1][k]];
            let below = match kind {
                Kind::Nominal => {
                    Ball::of_sum(value, self.steps[k]) / Ball::of_sum(mass, self.steps[k])
                }
                _ => 0.0.into(),
            };
            let (cost, top) = (self.cost[k], self.top[k]);
            let off = above(self.omega[k] + below.radius());
            proved.above[k] = self.x[k] * sum_above([self.from[k], cost, top, below.mid, off]);
            proved.below[k] = sum_above([self.back[k], -cost, -top, -below.mid, off]);
        }
        proved
    }

    #[inline(always)]
    fn prove<S: Simd, const KL: bool, const TABLE: bool>(&self, simd: S, shared: bool) -> Proved {
        let Columns { cost, from, back, t, nu, x, radius, scale, n, steps, top, .. } = self;
        let Columns { omega, depth, quick, sums: [a, b, c, d], tails, .. } = self;
        let factor = if KL & TABLE { exp_each(simd, nu.map(|nu| -nu)) } else { [0.0; 8] };
        let mut proved = Proved::default();
        for k in 0..8 {
            let (t, nu, depth, cost, top) = (t[k], nu[k], depth[k], cost[k], top[k]);
            let (sums, steps) = ([a[k], b[k], c[k], d[k]], steps[k]);
            let Reading { dual, below, spent } = if KL & !TABLE {
                kl(t, nu, steps, sums)
            } else if KL {
                let from_table = from_series(t, nu, sums, factor[k]);
                let found = kl(t, nu, steps, if quick[k] { from_table } else { sums });
                let value = series_value(steps, sums, depth);
                Reading { below: if quick[k] { value } else { found.below }, ..found }
            } else {
                ellipsoid(t, nu, n[k], steps, sums, tails.at(k))
            };
            // How far computed t·w' − ν may be from exact, in units of w' (but for unlisted states beyond 2|ν|/t, which
            // have no mass either way).
            let inverse = 1.0 / t;
            let extra = 4.0 * UNIT * (depth + 1.01 * nu.abs() * inverse);
            // a = tw' − ν ≤ 700 for KL, so that bringing it to ±700 only raises it.
            let usable = (extra <= depth) & normal(t) & normal(inverse) & (!KL | (nu >= -LIMIT));
            // 0 also where it is not a number.
            let dual = if usable & (dual < 0.0) { dual } else { 0.0 };
            let own = ((Ball::from(radius[k]) + dual) * scale[k]).hi();
            let own = if !shared & (own < 0.0) { own } else { 0.0 };
            let extra = Ball { mid: own, rad: if usable { extra } else { 0.0 } };
            let off = above(omega[k] + extra.radius());
            proved.above[k] = x[k] * sum_above([from[k], cost, top, own, off]);
            proved.gain[k] = dual;
            let off = above(omega[k] + below.radius());
            let below = or_infinite(sum_above([back[k], -cost, -top, -below.mid, off]));
            let usable = usable & !spent.is_nan();
            proved.below[k] = if usable { below } else { f64::NEG_INFINITY };
            proved.spent[k] = if usable { spent } else { 0.0 };
        }
        proved
    }
}
