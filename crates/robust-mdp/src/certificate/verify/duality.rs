//! What sums over a row prove: by weak duality about every row of the set, and about one that is in it.

use super::exponential::EXP_ERROR;
use super::rounding::{Ball, TINY, UNIT, above, roundings};
use super::tail::Tail;

/// What a pass says about a row.
pub(super) struct Reading {
    /// The gain: by weak duality with a multiplier ν for the mass.
    pub(super) dual: f64,
    /// The value under the kernel less the row's top, and at least what it takes of the budget.
    pub(super) below: Ball,
    pub(super) spent: f64,
}

/// The kernel is y ∝ pe for the computed e = e^{a + δ}, |δ| ≤ 13u (from a table, δ = 0). Σ pf(a + δ)/Σpe is at least its
/// distance, f(a) = ae^a − e^a + 1, and f(a + δ) ≤ f(a) + |δ|(|a| + |δ|)e, where |a|e ≤ |e − 1| + f(a).
#[inline(always)]
pub(super) fn kl(t: f64, nu: f64, steps: f64, sums: [f64; 4]) -> Reading {
    let [mass, excess, size, tilted] = sums;
    let spent = tilted - excess;
    // Twice this covers both sums, e and e − 1 in them, their difference and δ:
    // (k + 13) + (k + 12) + 1 + 13 ≤ 2(k + 12 + 14) for k steps.
    let kappa = roundings(steps + EXP_ERROR + 14.0);
    let (mass, error) = (Ball::of_sum(mass, steps), kappa * (size + spent.abs()));
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
/// All that is rounded on the way comes to k + 218 units of (Σpe^a + Σp)(1 + |ν|) + tΣpe^a|w|, k the steps of a sum; what
/// underflow takes is far less than 1e-100. [`kl`] allows for k + 26 units of the third sum, which is at least Σp|e^a − 1|.
#[inline(always)]
pub(super) fn from_series(t: f64, nu: f64, sums: [f64; 4], factor: f64) -> [f64; 4] {
    let [mass, power, slope, _] = sums;
    let (power, slope) = (factor * power, t * (factor * slope));
    let size = (power + mass) * (1.0 + nu.abs()) + slope.abs() + 1e-100;
    [mass, power - mass, 8.0 * size, slope - nu * power]
}

/// The value needs neither ν nor a division by t: both of its sums are off by `steps` + 203 units.
#[inline(always)]
pub(super) fn series_value(steps: f64, [_, power, slope, _]: [f64; 4], depth: f64) -> Ball {
    Ball { mid: slope / power, rad: 2.0 * roundings(steps + 209.0) * depth }
}

/// The kernel is y ∝ p − c. Where y > 0, tw' = ν − c up to a rounding of c.
#[inline(always)]
pub(super) fn ellipsoid(
    t: f64,
    nu: f64,
    n: f64,
    steps: f64,
    sums: [f64; 4],
    tail: Tail,
) -> Reading {
    let [mass, loss, linear, square] = sums;
    let Tail { mass: beyond, square: far, missed } = tail;
    let rho = roundings(steps);
    let (mass, all) = (Ball::of_sum(mass, steps), Ball::of_sum(square, steps) + far);
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

#[inline(always)]
pub(super) fn normal(x: f64) -> bool {
    (f64::MIN_POSITIVE..=f64::MAX).contains(&x)
}
