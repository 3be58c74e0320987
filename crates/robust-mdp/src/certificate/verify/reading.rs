//! What passes over rows prove, eight rows at a time.
//!
//! Numbers of eight rows lie side by side, so that a compiler works on them in registers: the same
//! operations, in the same order, on each.

use pulp::{Simd, WithSimd};

use super::exponential::{EXP_ERROR, LIMIT, exp_each};
use super::powers::Near;
use super::rounding::{Ball, TINY, UNIT, above, roundings, sum_above};
use super::row::{Ahead, Row, Scratch};
use super::tail::Tail;
use crate::model::Model;

/// What a pass over a row found.
pub(super) struct Pass {
    /// The multiplier ν, from the row's top as it stands.
    pub(super) nu: f64,
    pub(super) sums: [f64; 4],
    /// Whether they are those of a [`Series`](super::powers::Series).
    pub(super) quick: bool,
}

/// Multipliers of a row, and for one of the policy its weight, its budget and the multiplier of that.
#[derive(Clone, Copy, Default)]
pub(super) struct Line {
    pub(super) row: usize,
    pub(super) t: f64,
    pub(super) shift: f64,
    pub(super) x: f64,
    pub(super) radius: f64,
    pub(super) scale: f64,
}

/// Up to eight rows of a state, to be read: a row adds its cost and value to `from` in T_x v − v, and takes them from
/// `back` in v less its value.
pub(super) struct Reads<'a> {
    pub(super) model: &'a Model,
    pub(super) ahead: &'a Ahead,
    pub(super) scratch: &'a mut Scratch,
    pub(super) columns: &'a mut Columns,
    pub(super) lines: &'a [Line],
    pub(super) shared: bool,
    pub(super) from: f64,
    pub(super) back: f64,
}

impl Reads<'_> {
    pub(super) fn prove<S: Simd>(self, simd: S, kl: bool) -> Proved {
        if kl { simd.vectorize(Of::<true>(self)) } else { simd.vectorize(Of::<false>(self)) }
    }
}

/// For KL sets, or ellipsoids.
struct Of<'a, const KL: bool>(Reads<'a>);

impl<const KL: bool> WithSimd for Of<'_, KL> {
    type Output = Proved;
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Proved {
        let Reads { model, ahead, scratch, columns, lines, shared, from, back } = self.0;
        let mut t = [0.0; 8];
        t.iter_mut().zip(lines).for_each(|(t, line)| *t = line.t);
        let near = if KL { ahead.near(&t) } else { Near::default() };
        for (k, line) in lines.iter().enumerate().take(8) {
            let cost = model.cost[line.row];
            // Two calls: a plain row then needs no place in memory.
            match Row::plain(model, ahead, line.row) {
                Some(row) => columns.read::<S, KL>(simd, k, row, cost, line, &near),
                None => {
                    let row = Row::listed(model, ahead, line.row, scratch);
                    columns.read::<S, KL>(simd, k, row, cost, line, &near);
                }
            }
        }
        columns.prove::<S, KL>(simd, shared, from, back)
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
    /// no number where the multipliers say no more than the row's top does.
    pub(super) below: [f64; 8],
    pub(super) spent: [f64; 8],
}

/// What a pass says about a row.
struct Reading {
    /// The gain: by weak duality with a multiplier ν for the mass.
    dual: f64,
    /// The value under the kernel less the row's top, and at least what it takes of the budget.
    below: Ball,
    spent: f64,
}

/// Eight rows in columns.
#[derive(Default)]
pub(super) struct Columns {
    /// As in [`Line`]; ν counts from the top.
    cost: [f64; 8],
    t: [f64; 8],
    nu: [f64; 8],
    x: [f64; 8],
    radius: [f64; 8],
    scale: [f64; 8],
    /// Of the row: entries, top, roundings ω, depth.
    n: [f64; 8],
    top: [f64; 8],
    omega: [f64; 8],
    depth: [f64; 8],
    quick: [bool; 8],
    sums: [[f64; 8]; 4],
    tail: [[f64; 8]; 5],
}

impl Columns {
    #[inline(always)]
    fn read<S: Simd, const KL: bool>(
        &mut self,
        simd: S,
        k: usize,
        mut row: Row<'_>,
        cost: f64,
        line: &Line,
        near: &Near,
    ) {
        let &Line { t, shift, x, radius, scale, .. } = line;
        let Pass { nu, sums, quick } = row.pass::<S, KL>(simd, t, shift, near, k);
        (self.cost[k], self.t[k], self.nu[k], self.x[k]) = (cost, t, nu, x);
        (self.radius[k], self.scale[k], self.n[k]) = (radius, scale, row.len());
        (self.top[k], self.omega[k], self.depth[k]) = (row.top, row.omega, row.depth);
        let [a, b, c, d] = &mut self.sums;
        [a[k], b[k], c[k], d[k]] = sums;
        self.quick[k] = quick;
        if !KL {
            let Tail { mass, square, missed } = row.tail(t, nu);
            let [m0, m1, s0, s1, m] = &mut self.tail;
            (m0[k], m1[k], s0[k], s1[k], m[k]) =
                (mass.mid, mass.rad, square.mid, square.rad, missed);
        }
    }

    #[inline(always)]
    fn prove<S: Simd, const KL: bool>(
        &self,
        simd: S,
        shared: bool,
        from: f64,
        back: f64,
    ) -> Proved {
        let Columns { cost, t, nu, x, radius, scale, n, top, omega, depth, quick, .. } = self;
        let ([a, b, c, d], [m0, m1, s0, s1, missed]) = (&self.sums, &self.tail);
        let factor = if KL { exp_each(simd, nu.map(|nu| -nu)) } else { [0.0; 8] };
        let mut proved = Proved::default();
        for k in 0..8 {
            let (t, nu, n, depth, cost, top) = (t[k], nu[k], n[k], depth[k], cost[k], top[k]);
            let sums = [a[k], b[k], c[k], d[k]];
            let Reading { dual, below, spent } = if KL {
                let from_table = from_series(t, nu, sums, factor[k]);
                let found = kl(t, nu, n, if quick[k] { from_table } else { sums });
                let value = series_value(n, sums, depth);
                Reading { below: if quick[k] { value } else { found.below }, ..found }
            } else {
                let (mass, square) =
                    (Ball { mid: m0[k], rad: m1[k] }, Ball { mid: s0[k], rad: s1[k] });
                ellipsoid(t, nu, n, sums, Tail { mass, square, missed: missed[k] })
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
            proved.above[k] = x[k] * sum_above([from, cost, top, own, off]);
            proved.gain[k] = dual;
            let off = above(omega[k] + below.radius());
            proved.below[k] = sum_above([back, -cost, -top, -below.mid, off]);
            proved.spent[k] = if usable { spent } else { f64::NAN };
        }
        proved
    }
}

#[inline(always)]
fn normal(x: f64) -> bool {
    (f64::MIN_POSITIVE..=f64::MAX).contains(&x)
}

/// The kernel is y ∝ pe for the computed e = e^{a + δ}, |δ| ≤ 13u (from a table, δ = 0). Σ pf(a + δ)/Σpe is at least its
/// distance, f(a) = ae^a − e^a + 1, and f(a + δ) ≤ f(a) + |δ|(|a| + |δ|)e, where |a|e ≤ |e − 1| + f(a).
#[inline(always)]
fn kl(t: f64, nu: f64, n: f64, sums: [f64; 4]) -> Reading {
    let [mass, excess, size, tilted] = sums;
    let spent = tilted - excess;
    // Twice this covers both sums, e and e − 1 in them, their difference and δ:
    // (n/8 + 17) + (n/8 + 16) + 1 + 13 ≤ 2(n/8 + 4 + 12 + 14).
    let kappa = roundings(n, EXP_ERROR + 14.0);
    let (mass, error) = (Ball::of_sum(mass, n), kappa * (size + spent.abs()));
    let excess = Ball { mid: excess, rad: kappa * size + TINY };
    // ln z ≤ z − 1.
    let dual = (excess / mass + nu).hi();
    let mut own = mass + excess;
    own.rad += 14.0 * UNIT * own.mid.abs();
    let squares = 200.0 * UNIT * UNIT * own.mid;
    let spent = (Ball { mid: spent, rad: 2.0 * error + squares + TINY } / own).hi();
    // tw' = a + ν, but where a was brought to −700: that has 1e-304 of the mass, and ω more room than that.
    let tilted = Ball { mid: tilted, rad: error + TINY };
    let below = (tilted / own + nu) / Ball::from(t);
    Reading { dual, below, spent }
}

/// From Σp, Σpe^{tw} and Σpe^{tw}w of a [`Series`](super::powers::Series) what [`kl`] asks for: a = tw − ν, top being 0,
/// and `factor` is e^{−ν}.
///
/// All that is rounded on the way comes to n/8 + 222 units of (Σpe^a + Σp)(1 + |ν|) + tΣpe^a|w|; what underflow
/// takes is far less than 1e-100. [`kl`] allows for n/8 + 30 units of the third sum, which is at least Σp|e^a − 1|.
#[inline(always)]
pub(super) fn from_series(t: f64, nu: f64, sums: [f64; 4], factor: f64) -> [f64; 4] {
    let [mass, power, slope, _] = sums;
    let (power, slope) = (factor * power, t * (factor * slope));
    let size = (power + mass) * (1.0 + nu.abs()) + slope.abs() + 1e-100;
    [mass, power - mass, 8.0 * size, slope - nu * power]
}

/// The value needs neither ν nor a division by t: both of its sums are off by n/8 + 207 units.
#[inline(always)]
pub(super) fn series_value(n: f64, [_, power, slope, _]: [f64; 4], depth: f64) -> Ball {
    Ball { mid: slope / power, rad: 2.0 * roundings(n, 209.0) * depth }
}

/// The kernel is y ∝ p − c. Where y > 0, tw' = ν − c up to a rounding of c.
#[inline(always)]
fn ellipsoid(t: f64, nu: f64, n: f64, sums: [f64; 4], tail: Tail) -> Reading {
    let [mass, loss, linear, square] = sums;
    let Tail { mass: beyond, square: far, missed } = tail;
    let rho = roundings(n, 0.0);
    let (mass, all) = (Ball::of_sum(mass, n), Ball::of_sum(square, n) + far);
    // ‖y − p‖, and by Cauchy and Schwarz Σ|c| and Σp|c|.
    let size = above(all.hi().sqrt());
    let (sum, slope) = (size * n.sqrt(), mass.hi() * size);
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
    // y/M − p/P = (y − p)/M + p(P − M)/(MP), and ‖p‖ ≤ P.
    let way = Ball { mid: apart.mid.abs(), ..apart } + size;
    let below = ((linear + all) / own + nu) / Ball::from(t);
    let distance = (way / own).hi();
    Reading { dual, below, spent: above(0.5 * (distance * distance)) }
}
